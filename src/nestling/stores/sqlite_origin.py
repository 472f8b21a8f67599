"""Which file each document was read from, in the table ``files``: what a sync may remove."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from nestling.stores.base import Place

_TABLE = (
    "CREATE TABLE IF NOT EXISTS files"
    " (document INTEGER PRIMARY KEY REFERENCES documents (row) ON DELETE CASCADE, path TEXT NOT NULL)"
)
_ALL = "SELECT d.id, f.path FROM files f JOIN documents d ON d.row = f.document"


def read_files(db: sqlite3.Connection, ids: Sequence[str] | None) -> dict[str, str]:
    """The file of each of these documents, or of all; documents without one are left out."""
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'files'").fetchone():
        return {}  # made before there was this table, and not written since
    if ids is None:
        return dict(db.execute(_ALL).fetchall())
    found = (db.execute(f"{_ALL} WHERE d.id = ?", (id,)).fetchone() for id in ids)
    return dict(row for row in found if row)


def still_from(db: sqlite3.Connection, files: Mapping[str, str]) -> list[str]:
    """Those of these ids whose document was read from the file that is given with it."""
    stored = read_files(db, list(files))
    return [id for id, path in files.items() if stored.get(id) == path]


def write_file(db: sqlite3.Connection, id: str, path: str) -> None:
    """Note the file of a document."""
    db.execute(_TABLE)
    db.execute("INSERT OR REPLACE INTO files SELECT row, ? FROM documents WHERE id = ?", (path, id))


def write_place(db: sqlite3.Connection, place: Place) -> None:
    """Note file and source of a document that has still this digest."""
    query = "UPDATE documents SET source = ? WHERE id = ? AND digest = ?"
    if db.execute(query, (place.source, place.id, place.digest)).rowcount:
        write_file(db, place.id, place.file)
