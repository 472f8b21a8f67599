"""Documents out of a file that may be damaged: one that cannot be read does not keep back the others."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

from nestling.stores.sqlite_errors import READING, is_damage
from nestling.types import Document, Failure


def stored(db: sqlite3.Connection, ids: Sequence[str] | None) -> Iterator[Document | Failure]:
    """Every document whole, by id, or those given; a failure in the place of one that cannot be read."""
    query = "SELECT id, text, title, metadata, source FROM documents WHERE row = ?"
    for row, id in rows(db) if ids is None else _rows_of(db, ids):
        try:
            name, text, title, metadata, source = db.execute(query, (row,)).fetchone()
            if not all(isinstance(value, str) for value in (name, text, title, metadata)):
                raise TypeError("it is no text")
            yield Document(name, text, title, json.loads(metadata), source)
        except (*READING, ValueError, TypeError) as error:
            # TypeError: there is no such row
            if isinstance(error, sqlite3.Error) and not is_damage(error):
                raise
            reason = f"it cannot be read ({error}); restore a backup, or remove it and add it again"
            yield Failure(id, reason)


def rows(db: sqlite3.Connection) -> list[tuple[int, str]]:
    """Row number and id of every document, by id; from the index or, where that is damaged, from the table."""
    try:
        return db.execute("SELECT row, id FROM documents ORDER BY id").fetchall()
    except READING as error:
        if not is_damage(error):
            raise
    return sorted(db.execute("SELECT row, id FROM documents NOT INDEXED"), key=lambda found: found[1])


def _rows_of(db: sqlite3.Connection, ids: Sequence[str]) -> Iterator[tuple[int, str]]:
    for id in ids:
        yield from db.execute("SELECT row, id FROM documents WHERE id = ?", (id,)).fetchall()
