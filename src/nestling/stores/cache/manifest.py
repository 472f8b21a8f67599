"""The manifest of a cache: of which nest and state it is, and which files make it up."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import uuid4

from xxhash import xxh3_64_hexdigest

from nestling.stores.segment import CacheDamagedError

NAME = "manifest"
# Of the files and of this: what has another number is made anew.
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a cache holds.

    Attributes:
        nest: Of which nest and edition it is.
        change: The number of the last change it knows.
        mark: That change's mark in the nest: what was restored from a backup has other ones.
        segments: Names of its files, in row order.
        sizes: Of these, in bytes.
        gone: Row numbers of documents in the files that were removed since.
        format: Of the files.
    """

    nest: str
    change: int
    mark: str
    segments: list[str]
    sizes: list[int]
    gone: list[int]
    format: int = FORMAT


def read(folder: Path) -> Manifest:
    """Read the manifest of a folder.

    Raises:
        CacheDamagedError: It is not as it was written, or of another format.
        OSError: It cannot be read, or is not there.
    """
    text, _, digest = (folder / NAME).read_bytes().partition(b"\n")
    if xxh3_64_hexdigest(text).encode() != digest:
        raise CacheDamagedError(f"the manifest in {folder} is damaged")
    values = json.loads(text)
    if values.get("format") != FORMAT:
        raise CacheDamagedError(f"{folder} has another format")
    return Manifest(**values)


def publish(folder: Path, manifest: Manifest) -> None:
    """Put a manifest in place of the one that is there, at once.

    Raises:
        OSError: It cannot be written.
    """
    text = json.dumps(asdict(manifest)).encode()
    draft = folder / f"{NAME}.{uuid4().hex}.tmp"
    draft.write_bytes(text + b"\n" + xxh3_64_hexdigest(text).encode())
    draft.replace(folder / NAME)
