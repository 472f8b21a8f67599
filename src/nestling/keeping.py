"""Keeping a nest: out to a file of lines, and what is damaged found and mended."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import BinaryIO

from nestling.new_file import new_file
from nestling.results import Exported
from nestling.stores.base import Store
from nestling.types import Document, Failure

# JSON leaves these as they are; some programs end a line there, and some terminals obey
_NOT_PLAIN = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def export(store: Store, to: str | os.PathLike[str] | BinaryIO) -> Exported:
    """Write every document as a card, one a line; it is `nestling.nest.Nest.export`."""
    if not isinstance(to, str | os.PathLike):
        return _write(store, to)
    with new_file(Path(to).absolute()) as draft, draft.open("xb") as file:
        return _write(store, file)


def card(document: Document) -> str:
    """A document as a line of JSON, which `nestling.ingest.cards` reads back without loss."""
    names = ("id", "title", "text", "metadata", "source")
    text = json.dumps({name: getattr(document, name) for name in names}, ensure_ascii=False, allow_nan=False)
    return _NOT_PLAIN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _write(store: Store, file: BinaryIO) -> Exported:
    written, failed = 0, list[Failure]()
    broken: OSError | None = None
    with store.view() as view:
        for found in view.stored():
            if isinstance(found, Failure):
                failed.append(found)
                continue
            try:
                file.write(card(found).encode() + b"\n")
            except OSError as error:
                # inside the view it would be taken for an error of the nest's file
                broken = error
                break
            written += 1
    if broken is not None:
        raise broken
    return Exported(written, failed)


def backup(store: Store, to: str | os.PathLike[str]) -> None:
    """Copy a nest to a new file; it is `nestling.nest.Nest.backup`."""
    store.backup(Path(to).absolute())
