"""The rows of a document, written and deleted: always inside the transaction of `nestling.stores.sqlite`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from nestling.stores.base import Entry, Indexed, mean_vectors
from nestling.stores.quantize import pack
from nestling.types import Child
from nestling.view import Vectors
from nestling.where import fields

# Changes that are kept in the log; what is further behind starts anew. Some 30 bytes each.
LOGGED = 100_000

_HANGING = (
    *(
        f"DELETE FROM {level}_vectors WHERE row IN (SELECT row FROM {table} WHERE document = :row)"
        for level, table in (("child", "children"), ("parent", "parents"))
    ),
    "DELETE FROM document_vectors WHERE row = :row",
    "DELETE FROM words WHERE row IN (SELECT row FROM children WHERE document = :row)",
    "DELETE FROM children WHERE document = :row",
    "DELETE FROM parents WHERE document = :row",
    "DELETE FROM indexed WHERE document = :row",
    "DELETE FROM fields WHERE document = :row",
    "DELETE FROM files WHERE document = :row",
    "DELETE FROM documents WHERE row = :row",
    "INSERT INTO changes (document, added) VALUES (:row, 0)",
)
# the same for one edition: what hangs on parents goes before them
_HANGING_IN_EDITION = (
    *(
        f"DELETE FROM {table} WHERE {key} IN"
        f" (SELECT row FROM {level} WHERE document = :row AND edition = :edition)"
        for table, key, level in (
            ("child_vectors", "row", "children"),
            ("parent_vectors", "row", "parents"),
            ("words", "row", "children"),
        )
    ),
    "DELETE FROM document_vectors WHERE row = :row AND edition = :edition",
    "DELETE FROM fields WHERE document = :row AND parent IN"
    " (SELECT row FROM parents WHERE document = :row AND edition = :edition)",
    "DELETE FROM children WHERE document = :row AND edition = :edition",
    "DELETE FROM parents WHERE document = :row AND edition = :edition",
    "DELETE FROM indexed WHERE document = :row AND edition = :edition",
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
    """Insert a document and all that hangs on it, in each edition that there are rows for."""
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
    if entry.file is not None:
        db.execute("INSERT INTO files VALUES (?, ?)", (row, entry.file))
    _insert_fields(db, row, 0, document.metadata)
    for edition, indexed in sorted(entry.rows.items()):
        insert_indexed(db, edition, row, indexed)
    log_change(db, row, True)


def insert_indexed(db: sqlite3.Connection, edition: int, document: int, indexed: Indexed) -> None:
    """Insert what an edition holds of a document."""
    db.execute("INSERT INTO indexed VALUES (?, ?)", (document, edition))
    first = _insert_parents(db, edition, document, indexed)
    children = [(n, child) for n, parent in enumerate(indexed.parents, first) for child in parent.children]
    _insert_children(db, edition, document, indexed, children)
    if len(indexed.vectors):
        counts = [len(parent.children) for parent in indexed.parents]
        _insert_vectors(db, "parent", first, mean_vectors(indexed.vectors, counts))
        (packed,) = pack(mean_vectors(indexed.vectors, [len(indexed.vectors)]))
        db.execute("INSERT INTO document_vectors VALUES (?, ?, ?, ?, ?)", (document, edition, *packed))


def delete_indexed(db: sqlite3.Connection, edition: int, document: int) -> None:
    """Delete what an edition holds of a document."""
    for statement in _HANGING_IN_EDITION:
        db.execute(statement, {"row": document, "edition": edition})


def log_change(db: sqlite3.Connection, document: int, added: bool, edition: int = 0) -> None:
    """Write into the log of changes, and shorten it."""
    db.execute(
        "INSERT INTO changes (document, added, edition) VALUES (?, ?, ?)", (document, int(added), edition)
    )
    db.execute("DELETE FROM changes WHERE change <= (SELECT max(change) FROM changes) - ?", (LOGGED,))


def _insert_fields(db: sqlite3.Connection, document: int, parent: int, metadata: Mapping[str, Any]) -> None:
    rows = [
        (path, value.kind, value.value, element, document, parent)
        for path, value, element in fields(metadata)
    ]
    db.executemany("INSERT INTO fields VALUES (?, ?, ?, ?, ?, ?)", rows)


def _insert_parents(db: sqlite3.Connection, edition: int, document: int, indexed: Indexed) -> int:
    first = _next_row(db, "parents")
    rows = []
    for n, parent in enumerate(indexed.parents, first):
        heading = json.dumps(parent.heading, ensure_ascii=False)
        own = json.dumps(dict(parent.metadata), ensure_ascii=False)
        rows.append((n, edition, parent.id, document, parent.start, parent.end, heading, own))
        if parent.metadata:
            _insert_fields(db, document, n, parent.metadata)
    db.executemany("INSERT INTO parents VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    return first


def _insert_children(
    db: sqlite3.Connection,
    edition: int,
    document: int,
    indexed: Indexed,
    children: list[tuple[int, Child]],
) -> None:
    first = _next_row(db, "children")
    together = zip(children, indexed.terms, indexed.child_digests, strict=True)
    db.executemany(
        "INSERT INTO children VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (n, edition, parent, document, child.start, child.end, len(terms), digest, child.lead)
            for n, ((parent, child), terms, digest) in enumerate(together, first)
        ],
    )
    words = [(n, " ".join(terms)) for n, terms in enumerate(indexed.terms, first)]
    db.executemany("INSERT INTO words VALUES (?, ?)", words)
    if len(indexed.vectors):
        _insert_vectors(db, "child", first, indexed.vectors)


def _insert_vectors(db: sqlite3.Connection, level: str, first: int, vectors: Vectors) -> None:
    rows = [(n, *packed) for n, packed in enumerate(pack(vectors), first)]
    db.executemany(f"INSERT INTO {level}_vectors VALUES (?, ?, ?, ?)", rows)


def _next_row(db: sqlite3.Connection, table: str) -> int:
    used = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return (used[0] if used else 0) + 1
