"""What a scan needs, in memory: row numbers, who belongs to whom, and int8 vectors, of one committed state.

A layout is never changed: catching up makes a new one from the change log, so that readers can share it.
Rows are in row order, hence each document's are together and in text order.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nestling.types import LEVELS, Level
from nestling.view import Rows, Scores, Vectors

Codes = NDArray[np.int8]
# Children scanned at once: their float32 copy stays in the processor's cache.
BLOCK = 512
# After this many changes a fresh read of everything is cheaper than following the log.
CATCH_UP = 2000


@dataclass(frozen=True)
class LevelRows:
    """The rows of one level: ``document`` and ``parent`` hold row numbers; codes are ``(n, dimension)``."""

    row: Rows
    document: Rows
    parent: Rows
    start: Rows
    stop: Rows
    terms: Rows
    scale: NDArray[np.float32]
    codes: Codes

    def keep(self, mask: NDArray[np.bool_]) -> LevelRows:
        """The rows where ``mask`` is true."""
        return LevelRows(*(getattr(self, name)[mask] for name in self.__dataclass_fields__))

    def plus(self, other: LevelRows) -> LevelRows:
        """These rows, then the others."""
        if not len(other.row):
            return self
        if not len(self.row):
            return other
        return LevelRows(
            *(
                np.concatenate((getattr(self, name), getattr(other, name)))
                for name in self.__dataclass_fields__
            )
        )

    def positions(self, rows: Rows) -> NDArray[np.intp]:
        """Where each of these row numbers stands; unknown ones are left out."""
        if not len(self.row):
            return np.zeros(0, np.intp)
        found: NDArray[np.intp] = np.minimum(np.searchsorted(self.row, rows), len(self.row) - 1)
        known: NDArray[np.intp] = found[self.row[found] == rows]
        return known

    def scan(self, vector: Vectors, where: NDArray[np.intp] | None) -> Scores:
        """Approximate cosines to a unit vector, of all rows or of those at the positions ``where``."""
        codes = self.codes if where is None else self.codes[where]
        scale = self.scale if where is None else self.scale[where]
        products = np.empty(len(codes), np.float32)
        buffer = np.empty((BLOCK, codes.shape[1]), np.float32)
        for begin in range(0, len(codes), BLOCK):
            block = codes[begin : begin + BLOCK]
            part = buffer[: len(block)]
            part[:] = block
            np.dot(part, vector, out=products[begin : begin + len(block)])
        return (products * scale).astype(np.float64)


@dataclass(frozen=True)
class Layout:
    """All levels of one committed state, and the documents' ids in row order."""

    change: int
    document: LevelRows
    parent: LevelRows
    child: LevelRows
    ids: NDArray[np.object_]

    def level(self, level: Level) -> LevelRows:
        """The rows of a level."""
        rows: LevelRows = getattr(self, level)
        return rows

    @cached_property
    def document_rank(self) -> Rows:
        """For each document, its place when all are sorted by id: the order of ties."""
        rank = np.empty(len(self.ids), np.int64)
        rank[np.argsort(self.ids, kind="stable")] = np.arange(len(self.ids))
        return rank

    @cached_property
    def parent_document(self) -> NDArray[np.intp]:
        """For each parent, the position of its document."""
        return np.searchsorted(self.document.row, self.parent.document)

    @cached_property
    def child_parent(self) -> NDArray[np.intp]:
        """For each child, the position of its parent."""
        return np.searchsorted(self.parent.row, self.child.parent)

    @cached_property
    def child_document(self) -> NDArray[np.intp]:
        """For each child, the position of its document."""
        return np.searchsorted(self.document.row, self.child.document)

    def owner(self, level: Level) -> NDArray[np.intp]:
        """For each row of a level, the position of its document."""
        if level == "document":
            return np.arange(len(self.ids))
        return self.parent_document if level == "parent" else self.child_document

    @cached_property
    def terms(self) -> dict[Level, NDArray[np.float64]]:
        """How many terms each row of each level holds: a parent's and a document's are its children's."""
        own = self.child.terms.astype(np.float64)
        return {
            "child": own,
            "parent": np.bincount(self.child_parent, own, len(self.parent.row)).astype(np.float64),
            "document": np.bincount(self.child_document, own, len(self.document.row)).astype(np.float64),
        }

    def best(self, level: Level, positions: NDArray[np.intp], scores: Scores, n: int) -> NDArray[np.intp]:
        """The indices into ``positions`` of the ``n`` best scores, ties by document id, then text order."""
        kept = np.arange(len(scores))
        if len(scores) > n:
            if n <= 0:
                return kept[:0]
            kept = np.flatnonzero(scores >= np.partition(scores, len(scores) - n)[len(scores) - n])
        at = positions[kept]
        rank = self.document_rank[self.owner(level)[at]]
        return kept[np.lexsort((at, rank, -scores[kept]))][:n]


_COLUMNS: dict[Level, str] = {
    "document": "v.row, v.row, 0, 0, 0, 0",
    "parent": "o.row, o.document, o.row, o.start, o.stop, 0",
    "child": "o.row, o.document, o.parent, o.start, o.stop, o.terms",
}
# the rows of one edition that have a vector
_TABLES: dict[Level, str] = {
    "document": "document_vectors v WHERE v.edition = ? AND v.row > ? ORDER BY v.row",
    "parent": "parents o JOIN parent_vectors v ON v.row = o.row WHERE o.edition = ? AND o.row > ? ORDER BY o.row",
    "child": "children o JOIN child_vectors v ON v.row = o.row WHERE o.edition = ? AND o.row > ? ORDER BY o.row",
}


def _read_level(db: sqlite3.Connection, level: Level, edition: int, after: int) -> LevelRows:
    rows = db.execute(
        f"SELECT {_COLUMNS[level]}, v.scale, v.codes FROM {_TABLES[level]}", (edition, after)
    ).fetchall()
    numbers = np.array([row[:6] for row in rows], np.int64).reshape(-1, 6)
    codes = np.frombuffer(b"".join(row[7] for row in rows), np.int8)
    columns = [np.ascontiguousarray(numbers[:, column]) for column in range(6)]
    return LevelRows(
        row=columns[0],
        document=columns[1],
        parent=columns[2],
        start=columns[3],
        stop=columns[4],
        terms=columns[5],
        scale=np.array([row[6] for row in rows], np.float32),
        codes=codes.reshape(len(rows), -1) if rows else np.zeros((0, 0), np.int8),
    )


def current_change(db: sqlite3.Connection) -> int:
    """The number of the last committed change; 0 in an empty nest."""
    row = db.execute("SELECT max(change) FROM changes").fetchone()
    return row[0] or 0


def read_layout(db: sqlite3.Connection, edition: int, known: Layout | None) -> Layout:
    """The layout of an edition in the state that ``db`` sees, from ``known`` and the log where that suffices.

    Args:
        db: A connection, reading.
        edition: Its number.
        known: A layout of the same edition, or None.
    """
    change = current_change(db)
    if known is not None and known.change == change:
        return known
    if known is not None and known.change < change:
        log = db.execute(
            "SELECT change, document, added, edition FROM changes WHERE change > ? ORDER BY change LIMIT ?",
            (known.change, CATCH_UP + 1),
        ).fetchall()
        whole = bool(log) and log[0][0] == known.change + 1 and len(log) <= CATCH_UP
        # an edition that was given rows of documents that were there before has them in the middle
        if whole and not any(alone == edition for _, _, _, alone in log):
            return _caught_up(db, edition, known, change, [row for _, row, added, _ in log if not added])
    levels = {level: _read_level(db, level, edition, 0) for level in LEVELS}
    return Layout(change, **levels, ids=_ids(db, edition, 0))


def _ids(db: sqlite3.Connection, edition: int, after: int) -> NDArray[np.object_]:
    rows = db.execute(
        "SELECT d.id FROM document_vectors v JOIN documents d ON d.row = v.row"
        " WHERE v.edition = ? AND v.row > ? ORDER BY v.row",
        (edition, after),
    )
    return np.array([row[0] for row in rows], object)


def _caught_up(
    db: sqlite3.Connection, edition: int, known: Layout, change: int, removed: list[int]
) -> Layout:
    gone = np.array(removed, np.int64)
    levels: dict[Level, LevelRows] = {}
    for level in LEVELS:
        old = known.level(level)
        new = _read_level(db, level, edition, int(old.row[-1]) if len(old.row) else 0)
        kept = old.keep(~np.isin(old.document, gone)) if np.isin(old.document, gone).any() else old
        levels[level] = kept.plus(new)
    old_documents = known.document.row
    ids = known.ids[~np.isin(old_documents, gone)]
    new_ids = _ids(db, edition, int(old_documents[-1]) if len(old_documents) else 0)
    return Layout(change, **levels, ids=np.concatenate((ids, new_ids)))
