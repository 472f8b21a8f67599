"""The documents in a file that somebody sent: a name and its bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from nestling.ingest.load import read
from nestling.types import Document, Failure

# Where nobody can have meant a path: what is no name of a file in a folder.
_NO_PARTS = ("", ".", "..")


def read_file(name: str, content: bytes) -> Sequence[Document | Failure]:
    """The documents that adding a file of this name would store.

    Args:
        name: Of the file, or its path in a folder, with ``/``; it gives the id, and says what kind it is.
        content: Its bytes.

    Returns:
        Documents whose ``source`` is the name; failures in the places of those that could not be read, or one
        where the name is none.
    """
    if "\0" in name or any(part in _NO_PARTS for part in name.split("/")):
        return [Failure(name, "this is no name of a file; give one such as guides/dosage.md")]
    with TemporaryDirectory(prefix="nestling-") as folder:
        path = Path(folder, *PurePosixPath(name).parts)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            return [Failure(name, f"this cannot name a file ({reason}); give a shorter name")]
        return [_renamed(each, str(path), name) for each in read(path, Path(folder))]


def _renamed(found: Document | Failure, path: str, name: str) -> Document | Failure:
    """With the name in place of where the file was for a moment."""
    if isinstance(found, Failure):
        return replace(found, name=found.name.replace(path, name))
    return replace(found, source=name) if found.source == path else found
