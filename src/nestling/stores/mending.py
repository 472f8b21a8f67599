"""What a store can put right by itself: nothing here needs a document's text to be understood."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

from nestling.stores.sqlite_file import schema

_OWNERLESS = (
    "DELETE FROM {} WHERE row NOT IN (SELECT c.row FROM children c JOIN parents p ON p.row = c.parent"
    " AND p.document = c.document AND p.edition = c.edition JOIN documents d ON d.row = c.document"
    " JOIN editions e ON e.edition = c.edition)"
)
_LOST = "document NOT IN (SELECT row FROM documents)"
# what refers to others before these
_ORPHANS = (
    _OWNERLESS.format("child_vectors"),
    _OWNERLESS.format("words"),
    _OWNERLESS.format("children"),
    "DELETE FROM parent_vectors WHERE row NOT IN (SELECT p.row FROM parents p"
    " JOIN documents d ON d.row = p.document JOIN editions e ON e.edition = p.edition)",
    f"DELETE FROM parents WHERE {_LOST} OR edition NOT IN (SELECT edition FROM editions)",
    "DELETE FROM document_vectors WHERE NOT EXISTS (SELECT 1 FROM parents p"
    " WHERE p.document = document_vectors.row AND p.edition = document_vectors.edition)",
    f"DELETE FROM fields WHERE {_LOST} OR parent <> 0 AND parent NOT IN (SELECT row FROM parents)",
    f"DELETE FROM files WHERE {_LOST}",
    f"DELETE FROM indexed WHERE {_LOST} OR edition NOT IN (SELECT edition FROM editions)",
    # an edition holds what it has parents of; whether all of them, the next check tells
    "INSERT OR IGNORE INTO indexed SELECT document, edition FROM parents",
)


def _live(db: sqlite3.Connection) -> None:
    # of several, the one that was switched to last
    db.execute(
        "UPDATE editions SET state = 'retired' WHERE state = 'live' AND edition <> (SELECT edition FROM editions"
        " WHERE state = 'live' ORDER BY turn DESC, edition DESC LIMIT 1)"
    )


def _tables(db: sqlite3.Connection) -> None:
    here = {row[0] for row in db.execute("SELECT name FROM sqlite_schema")}
    for name, _, statement in schema():
        if name not in here and name not in ("documents", "meta"):
            db.execute(statement)


def _indexes(db: sqlite3.Connection) -> None:
    db.execute("REINDEX")


def _orphans(db: sqlite3.Connection) -> None:
    for statement in _ORPHANS:
        db.execute(statement)


def _books(db: sqlite3.Connection) -> None:
    """Row numbers go on behind the highest used one; the log begins anew, behind where any reader can be.

    A nest that lost its id gets another.
    """
    for table in ("documents", "parents", "children"):
        _go_on(db, table, db.execute(f"SELECT max(row) FROM {table}").fetchone()[0] or 0)
    _go_on(db, "editions", db.execute("SELECT max(edition) FROM editions").fetchone()[0] or 0)
    last = db.execute("SELECT max(change) FROM changes").fetchone()[0] or 0
    # a gap of one makes every reader start anew
    change = max(last, _used(db, "changes")) + 2
    db.execute("DELETE FROM changes")
    db.execute("INSERT INTO changes (change, document, added) VALUES (?, 0, 0)", (change,))
    db.execute("INSERT OR IGNORE INTO meta VALUES ('nest', json_quote(lower(hex(randomblob(16)))))")


def _go_on(db: sqlite3.Connection, table: str, highest: int) -> None:
    used = _used(db, table)
    if highest > used:
        db.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, highest))


def _used(db: sqlite3.Connection, table: str) -> int:
    found = db.execute("SELECT max(seq) FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return found[0] or 0


# Each in a transaction of its own, in this order.
STEPS: Final[tuple[Callable[[sqlite3.Connection], None], ...]] = (
    _live,
    _tables,
    _indexes,
    _orphans,
    _books,
)


def compact(db: sqlite3.Connection) -> None:
    """Write the whole file anew where SQLite still finds it inconsistent: lists of free pages, say."""
    if db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
        db.execute("VACUUM")
