"""The rows of a document, written and deleted: always inside the transaction of `nestling.stores.sqlite`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from nestling.stores.base import Entry, mean_vectors
from nestling.stores.layout import CATCH_UP
from nestling.stores.quantize import pack
from nestling.types import Child
from nestling.view import Vectors
from nestling.where import fields

_HANGING = (
    *(
        f"DELETE FROM {level}_vectors WHERE row IN (SELECT row FROM {table} WHERE document = :row)"
        for level, table in (("child", "children"), ("parent", "parents"))
    ),
    "DELETE FROM document_vectors WHERE row = :row",
    "DELETE FROM words WHERE rowid IN (SELECT row FROM children WHERE document = :row)",
    "DELETE FROM children WHERE document = :row",
    "DELETE FROM parents WHERE document = :row",
    "DELETE FROM fields WHERE document = :row",
    "DELETE FROM documents WHERE row = :row",
    "INSERT INTO changes (document, added) VALUES (:row, 0)",
)


def delete(db: sqlite3.Connection, ids: list[str]) -> set[str]:
    """Delete documents and all that hangs on them; returns the ids that existed."""
    existing = set()
    for id in ids:
        found = db.execute("SELECT row FROM documents WHERE id = ?", (id,)).fetchone()
        if found:
            existing.add(id)
            for statement in _HANGING:
                db.execute(statement, {"row": found[0]})
    return existing


def holds(db: sqlite3.Connection, entry: Entry) -> bool:
    """Whether a document of the same id and digest is stored."""
    wanted = (entry.document.id, entry.digest)
    return db.execute("SELECT 1 FROM documents WHERE id = ? AND digest = ?", wanted).fetchone() is not None


def insert(db: sqlite3.Connection, entry: Entry) -> None:
    """Insert a document and all that hangs on it."""
    document = entry.document
    row = db.execute(
        "INSERT INTO documents (id, title, source, metadata, language, digest, characters, text)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document.id,
            document.title,
            document.source,
            json.dumps(document.metadata, ensure_ascii=False),
            entry.language,
            entry.digest,
            len(document.text),
            document.text,
        ),
    ).lastrowid
    assert row is not None
    _insert_fields(db, row, 0, document.metadata)
    first = _insert_parents(db, row, entry)
    children = [(n, child) for n, parent in enumerate(entry.parents, first) for child in parent.children]
    _insert_children(db, row, entry, children)
    if len(entry.vectors):
        counts = [len(parent.children) for parent in entry.parents]
        _insert_vectors(db, "parent", first, mean_vectors(entry.vectors, counts))
        _insert_vectors(db, "document", row, mean_vectors(entry.vectors, [len(entry.vectors)]))
    db.execute("INSERT INTO changes (document, added) VALUES (?, 1)", (row,))
    db.execute("DELETE FROM changes WHERE change <= (SELECT max(change) FROM changes) - ?", (2 * CATCH_UP,))


def _insert_fields(db: sqlite3.Connection, document: int, parent: int, metadata: Mapping[str, Any]) -> None:
    rows = [
        (path, value.kind, value.value, element, document, parent)
        for path, value, element in fields(metadata)
    ]
    db.executemany("INSERT INTO fields VALUES (?, ?, ?, ?, ?, ?)", rows)


def _insert_parents(db: sqlite3.Connection, document: int, entry: Entry) -> int:
    first = _next_row(db, "parents")
    rows = []
    for n, parent in enumerate(entry.parents, first):
        heading = json.dumps(parent.heading, ensure_ascii=False)
        own = json.dumps(dict(parent.metadata), ensure_ascii=False)
        rows.append((n, parent.id, document, parent.start, parent.end, heading, own))
        if parent.metadata:
            _insert_fields(db, document, n, parent.metadata)
    db.executemany("INSERT INTO parents VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    return first


def _insert_children(
    db: sqlite3.Connection, document: int, entry: Entry, children: list[tuple[int, Child]]
) -> None:
    first = _next_row(db, "children")
    together = zip(children, entry.terms, entry.child_digests, strict=True)
    db.executemany(
        "INSERT INTO children VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (n, parent, document, child.start, child.end, len(terms), digest, child.lead)
            for n, ((parent, child), terms, digest) in enumerate(together, first)
        ],
    )
    words = [(n, " ".join(terms)) for n, terms in enumerate(entry.terms, first)]
    db.executemany("INSERT INTO words (rowid, terms) VALUES (?, ?)", words)
    if len(entry.vectors):
        _insert_vectors(db, "child", first, entry.vectors)


def _insert_vectors(db: sqlite3.Connection, level: str, first: int, vectors: Vectors) -> None:
    rows = [(n, *packed) for n, packed in enumerate(pack(vectors), first)]
    db.executemany(f"INSERT INTO {level}_vectors VALUES (?, ?, ?, ?)", rows)


def _next_row(db: sqlite3.Connection, table: str) -> int:
    used = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return (used[0] if used else 0) + 1
