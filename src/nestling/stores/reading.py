"""Rows of the nest's file read into segments: all SQL of catching up is here."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from nestling.stores.segment import Segment
from nestling.stores.segment_making import ChildRow, DocumentRow, ParentRow, segment
from nestling.view import Rows

# Children read at once, and no more than fit: a document's stay together.
CHUNK = 16_384


@dataclass(frozen=True, slots=True)
class Since:
    """What rows lack that were read earlier.

    Attributes:
        change: The number of the last change that is seen now.
        anew: Whether they must be read anew, all of them.
        gone: Row numbers of documents that were removed since.
        added: The lowest row number of a document that was added since, or None where none was.
        children: How many children these documents have.
    """

    change: int
    anew: bool
    gone: Rows
    added: int | None
    children: int


def current_change(db: sqlite3.Connection) -> int:
    """The number of the last committed change; 0 in an empty nest."""
    row = db.execute("SELECT max(change) FROM changes").fetchone()
    return row[0] or 0


def mark_of(db: sqlite3.Connection, change: int) -> str | None:
    """What tells a change from the one of the same number in a copy of the nest; None where the log lacks it."""
    row = db.execute("SELECT hex(mark) FROM changes WHERE change = ?", (change,)).fetchone()
    return row[0] if row else None


def since(db: sqlite3.Connection, edition: int, change: int) -> Since:
    """What an edition's rows lack that were read after a change (0: never), in the state that ``db`` sees.

    They must be read anew where the state is an earlier one, the log does not go back so far, or rows of documents
    that were there before were given to the edition or taken from it.
    """
    last = current_change(db)
    if last == change:
        return Since(last, not change, np.zeros(0, np.int64), None, 0)
    first, alone, added = db.execute(
        "SELECT min(change), total(edition = ?), min(document) FILTER (WHERE added AND document AND NOT edition)"
        " FROM changes WHERE change > ?",
        (edition, change),
    ).fetchone()
    if not change or first != change + 1 or alone:
        return Since(last, True, np.zeros(0, np.int64), 0, _children_from(db, edition, 0))
    query = "SELECT json_group_array(document) FROM changes WHERE change > ? AND NOT added AND NOT edition"
    gone = numbers(db, query, (change,))
    return Since(last, False, gone, added, 0 if added is None else _children_from(db, edition, added))


def _children_from(db: sqlite3.Connection, edition: int, document: int) -> int:
    query = "SELECT count(*) FROM children WHERE document >= ? AND edition = ?"
    found: int = db.execute(query, (document, edition)).fetchone()[0]
    return found


def numbers(db: sqlite3.Connection, query: str, values: tuple[object, ...]) -> Rows:
    """Whole numbers that a query gives as one JSON list: a row for each would take longer than all the rest."""
    return np.array(json.loads(db.execute(query, values).fetchone()[0]), np.int64)


def segments(db: sqlite3.Connection, edition: int, there: Since, exact: bool) -> Iterator[Segment]:
    """The rows of an edition that are lacking, in order.

    Args:
        db: A connection, reading.
        edition: Its number.
        there: What is lacking.
        exact: Whether the float16 vectors are read too.
    """
    if there.added is None:
        return
    children: list[ChildRow] = []
    for of_one in _children(db, edition, there, exact):
        children += of_one
        if len(children) >= CHUNK:
            yield from _segment(db, edition, children, exact)
            children = []
    if children:
        yield from _segment(db, edition, children, exact)


def _children(db: sqlite3.Connection, edition: int, there: Since, exact: bool) -> Iterator[list[ChildRow]]:
    """The children of each document."""
    which = "c.edition = :edition ORDER BY c.row"
    if not there.anew:
        # by the index of documents, since other editions may have got any number of rows meanwhile
        which = "c.document >= :added AND c.edition = :edition ORDER BY c.document, c.row"
    rows = db.execute(
        f"SELECT c.document, c.row, c.parent, c.start, c.stop, v.scale, v.codes, {_exact(exact)}, w.terms"
        " FROM children c JOIN child_vectors v ON v.row = c.row JOIN words w ON w.row = c.row"
        f" WHERE {which}",
        {"edition": edition, "added": there.added},
    )
    for _, group in groupby(rows, key=lambda row: row[0]):
        yield [ChildRow(*row[1:]) for row in group]


def _segment(
    db: sqlite3.Connection, edition: int, children: list[ChildRow], exact: bool
) -> Iterator[Segment]:
    # the plus keeps SQLite from going through all parents of the edition
    parents = db.execute(
        f"SELECT p.row, p.document, {_exact(exact)} FROM parents p JOIN parent_vectors v ON v.row = p.row"
        " WHERE +p.edition = ? AND p.row BETWEEN ? AND ? ORDER BY p.row",
        (edition, children[0].parent, children[-1].parent),
    ).fetchall()
    documents = db.execute(
        f"SELECT d.row, d.id, {_exact(exact)} FROM json_each(?) j CROSS JOIN documents d ON d.row = j.value"
        " CROSS JOIN document_vectors v ON v.row = d.row AND v.edition = ? ORDER BY j.key",
        (json.dumps(sorted({row[1] for row in parents})), edition),
    ).fetchall()
    # in a damaged nest some may be without their owner; `check` tells
    whole = {row[0] for row in documents}
    parents = [row for row in parents if row[1] in whole]
    known = {row[0] for row in parents}
    children = [row for row in children if row.parent in known]
    if children:
        yield segment(
            [DocumentRow(*row) for row in documents], [ParentRow(*row) for row in parents], children
        )


def _exact(wanted: bool) -> str:
    return "v.exact" if wanted else "NULL"
