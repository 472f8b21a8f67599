"""What is kept in memory of a nest, held to its file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import numpy as np

from nestling.stores.layout import Layout
from nestling.types import LEVELS, Level
from nestling.view import Damage

# Rows compared at once.
TOGETHER = 4096
_TABLES: dict[Level, str] = {
    "document": "SELECT o.row, o.row, 0, 0, 0, 0, v.scale, v.codes FROM documents o",
    "parent": "SELECT o.row, o.document, o.row, o.start, o.stop, 0, v.scale, v.codes FROM parents o",
    "child": "SELECT o.row, o.document, o.parent, o.start, o.stop, o.terms, v.scale, v.codes FROM children o",
}


def differences(db: sqlite3.Connection, layout: Layout) -> Iterator[Damage]:
    """A damage for each level whose rows in memory are not those of the file."""
    for level in LEVELS:
        if not _same(db, layout, level):
            yield Damage(f"the {level} rows kept in memory are not those of the file", "mend")


def _same(db: sqlite3.Connection, layout: Layout, level: Level) -> bool:
    kept, at = layout.level(level), 0
    columns = (kept.row, kept.document, kept.parent, kept.start, kept.stop, kept.terms)
    cursor = db.execute(f"{_TABLES[level]} JOIN {level}_vectors v ON v.row = o.row ORDER BY o.row")
    while rows := cursor.fetchmany(TOGETHER):
        part = slice(at, at + len(rows))
        at += len(rows)
        numbers = np.array([row[:6] for row in rows], np.int64)
        if at > len(kept.row) or any(
            not np.array_equal(column[part], numbers[:, n]) for n, column in enumerate(columns)
        ):
            return False
        scales = np.array([row[6] for row in rows], np.float32)
        if not np.array_equal(kept.scale[part], scales, equal_nan=True):
            return False
        if kept.codes[part].tobytes() != b"".join(row[7] for row in rows):
            return False
    return at == len(kept.row)
