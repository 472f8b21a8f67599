"""Which file each document was read from, in the table ``files``: what a sync may remove."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from nestling.stores.base import Place

_ALL = "SELECT d.id, f.path FROM files f JOIN documents d ON d.row = f.document"


def read_files(db: sqlite3.Connection, ids: Sequence[str] | None) -> dict[str, str]:
    """The file of each of these documents, or of all; documents without one are left out."""
    if ids is None:
        return dict(db.execute(_ALL).fetchall())
    found = (db.execute(f"{_ALL} WHERE d.id = ?", (id,)).fetchone() for id in ids)
    return dict(row for row in found if row)


def still_from(db: sqlite3.Connection, files: Mapping[str, str]) -> list[str]:
    """Those of these ids whose document was read from the file that is given with it."""
    stored = read_files(db, list(files))
    return [id for id, path in files.items() if stored.get(id) == path]


def write_place(db: sqlite3.Connection, place: Place) -> None:
    """Note file and source of a document that has still this digest."""
    query = "UPDATE documents SET source = ? WHERE id = ? AND digest = ?"
    if db.execute(query, (place.source, place.id, place.digest)).rowcount:
        query = "INSERT OR REPLACE INTO files SELECT row, ? FROM documents WHERE id = ?"
        db.execute(query, (place.file, place.id))
