"""One document with all its rows as they are, read to be checked: nothing is taken for granted."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from nestling.stores.damage_vectors import Packed
from nestling.stores.sqlite_errors import READING, is_damage
from nestling.view import Damage


class OtherTypeError(Exception):
    """A column holds a value of another type than it must."""


class ChildRow(NamedTuple):
    """A row of ``children``, with its words (None: there are none) and its vector."""

    row: int
    parent: int
    start: int
    stop: int
    terms: int
    digest: bytes
    lead: str
    words: str | None
    vector: Packed


class ParentRow(NamedTuple):
    """A row of ``parents``, with its vector and its children."""

    row: int
    id: str
    start: int
    stop: int
    heading: str
    metadata: str
    vector: Packed
    children: list[ChildRow]


class Held(NamedTuple):
    """What an edition holds of a document."""

    edition: int
    parents: list[ParentRow]
    vector: Packed

    @property
    def children(self) -> list[ChildRow]:
        """Of all parents."""
        return [child for parent in self.parents for child in parent.children]


class Stored(NamedTuple):
    """One document with all its rows as they are; ``text`` has been read without error."""

    row: int
    id: str
    title: str
    source: str | None
    metadata: str
    language: str
    digest: bytes
    characters: int
    text: str
    held: list[Held]
    fields: Counter[tuple[Any, ...]]


def read(db: sqlite3.Connection, row: int, id: str) -> Stored | Damage:
    """Read a document, or say that its own text cannot be read.

    Raises:
        OtherTypeError: A row that hangs on it holds a value of another type.
        sqlite3.DatabaseError: A row that hangs on it cannot be read.
    """
    query = (
        "SELECT row, id, title, source, metadata, language, digest, characters, text FROM documents"
        " WHERE row = ?"
    )
    try:
        own = _typed(
            db.execute(query, (row,)).fetchone() or (row, *[None] * 8),
            int,
            str,
            str,
            object,
            str,
            str,
            bytes,
            int,
            str,
        )
    except (*READING, OtherTypeError) as error:
        if isinstance(error, sqlite3.Error) and not is_damage(error):
            raise
        return Damage(f"{id}: its text cannot be read: {error}", "none", id)
    query = "SELECT edition FROM indexed WHERE document = ? ORDER BY edition"
    held = [_read_held(db, row, edition) for (edition,) in db.execute(query, (row,)).fetchall()]
    query = "SELECT path, kind, value, element, parent FROM fields WHERE document = ?"
    return Stored._make((*own, held, Counter(db.execute(query, (row,)))))


def _read_held(db: sqlite3.Connection, document: int, edition: int) -> Held:
    query = "SELECT scale, codes, exact FROM document_vectors WHERE row = ? AND edition = ?"
    vector = Packed(*(db.execute(query, (document, edition)).fetchone() or (None, None, None)))
    return Held(edition, _read_parents(db, document, edition), vector)


def _read_parents(db: sqlite3.Connection, document: int, edition: int) -> list[ParentRow]:
    children: dict[int, list[ChildRow]] = {}
    query = (
        "SELECT c.row, c.parent, c.start, c.stop, c.terms, c.digest, c.lead, w.terms, v.scale, v.codes, v.exact"
        " FROM children c LEFT JOIN words w ON w.row = c.row LEFT JOIN child_vectors v ON v.row = c.row"
        " WHERE c.document = ? AND c.edition = ? ORDER BY c.row"
    )
    for values in db.execute(query, (document, edition)):
        row = _typed(values[:7], int, int, int, int, int, bytes, str)
        child = ChildRow._make((*row, values[7], Packed(*values[8:])))
        children.setdefault(child.parent, []).append(child)
    query = (
        "SELECT p.row, p.id, p.start, p.stop, p.heading, p.metadata, v.scale, v.codes, v.exact FROM parents p"
        " LEFT JOIN parent_vectors v ON v.row = p.row WHERE p.document = ? AND p.edition = ?"
        " ORDER BY p.row"
    )
    return [
        ParentRow._make(
            (
                *_typed(values[:6], int, str, int, int, str, str),
                Packed(*values[6:]),
                children.get(values[0], []),
            )
        )
        for values in db.execute(query, (document, edition))
    ]


def _typed(values: Sequence[Any], *types: type) -> Sequence[Any]:
    # SQLite keeps values of any type in any column
    for value, type in zip(values, types, strict=True):
        if not isinstance(value, type):
            raise OtherTypeError(f"row {values[0]} holds {value!r:.20} where {type.__name__} belongs")
    return values
