"""Rows of the nest's file read into segments: all SQL of catching up is here."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from nestling.stores.layout import Layout
from nestling.stores.segment import Segment
from nestling.stores.segment_making import ChildRow, DocumentRow, ParentRow, segment
from nestling.view import Rows

# Children read at once, and no more than fit: a document's stay together.
CHUNK = 16_384


@dataclass(frozen=True, slots=True)
class Since:
    """What a layout lacks.

    Attributes:
        change: The number of the last change that is seen.
        gone: Row numbers of documents that were removed since; None where everything must be read anew.
    """

    change: int
    gone: Rows | None


def current_change(db: sqlite3.Connection) -> int:
    """The number of the last committed change; 0 in an empty nest."""
    row = db.execute("SELECT max(change) FROM changes").fetchone()
    return row[0] or 0


def since(db: sqlite3.Connection, layout: Layout) -> Since:
    """What changed in the state that ``db`` sees since a layout was read."""
    change = current_change(db)
    if change < layout.change:
        return Since(change, None)
    (first,) = db.execute("SELECT min(change) FROM changes WHERE change > ?", (layout.change,)).fetchone()
    if first == layout.change + 1:
        query = "SELECT json_group_array(document) FROM changes WHERE change > ? AND NOT added"
        removed = numbers(db, query, (layout.change,))
    elif first is None:
        removed = np.zeros(0, np.int64)
    else:
        removed = _missing(db, layout)
    return Since(change, removed)


def _missing(db: sqlite3.Connection, layout: Layout) -> Rows:
    """Documents of a layout that are not there any more, where the log does not go back so far."""
    there = numbers(db, "SELECT json_group_array(row) FROM documents", ())
    held = [each.arrays["document.row"] for each in layout.segments]
    return np.setdiff1d(np.concatenate(held), there) if held else there[:0]


def numbers(db: sqlite3.Connection, query: str, values: tuple[object, ...]) -> Rows:
    """Whole numbers that a query gives as one JSON list: a row for each would take longer than all the rest."""
    return np.array(json.loads(db.execute(query, values).fetchone()[0]), np.int64)


def newer(db: sqlite3.Connection, parent: int, child: int, exact: bool) -> Iterator[Segment]:
    """Segments of the rows after these row numbers, in order.

    Args:
        db: A connection, reading.
        parent: The last row number of a parent that is known.
        child: Of a child.
        exact: Whether the float16 vectors are read too.
    """
    children: list[ChildRow] = []
    for of_one in _children(db, child, exact):
        children += of_one
        if len(children) >= CHUNK:
            found = _segment(db, parent, children, exact)
            parent, children = max(row.parent for row in children), []
            yield from found
    if children:
        yield from _segment(db, parent, children, exact)


def _children(db: sqlite3.Connection, after: int, exact: bool) -> Iterator[list[ChildRow]]:
    """The children of each document."""
    rows = db.execute(
        f"SELECT c.document, c.row, c.parent, c.start, c.stop, v.scale, v.codes, {_exact(exact)}, w.terms"
        " FROM children c JOIN child_vectors v ON v.row = c.row JOIN words w ON w.rowid = c.row"
        " WHERE c.row > ? ORDER BY c.row",
        (after,),
    )
    for _, group in groupby(rows, key=lambda row: row[0]):
        yield [ChildRow(*row[1:]) for row in group]


def _segment(db: sqlite3.Connection, after: int, children: list[ChildRow], exact: bool) -> Iterator[Segment]:
    span = (after, children[-1].parent)
    parents = db.execute(
        f"SELECT p.row, p.document, v.scale, v.codes, {_exact(exact)} FROM parents p"
        " JOIN parent_vectors v ON v.row = p.row WHERE p.row > ? AND p.row <= ? ORDER BY p.row",
        span,
    ).fetchall()
    documents = db.execute(
        f"SELECT d.row, d.id, v.scale, v.codes, {_exact(exact)} FROM documents d"
        " JOIN document_vectors v ON v.row = d.row"
        " WHERE d.row IN (SELECT document FROM parents WHERE row > ? AND row <= ?) ORDER BY d.row",
        span,
    ).fetchall()
    # in a damaged nest some may be without their owner; `check` tells
    whole = {row[0] for row in documents}
    parents = [row for row in parents if row[1] in whole]
    known = {row[0] for row in parents}
    children = [row for row in children if row.parent in known]
    if children:
        yield segment([DocumentRow(*row) for row in documents], [ParentRow(*row) for row in parents], children)


def _exact(wanted: bool) -> str:
    return "v.exact" if wanted else "NULL"
