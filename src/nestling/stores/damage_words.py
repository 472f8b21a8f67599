"""Whether the index of words says what its table holds: each place of each word, in one pass over the index.

FTS5's own check is a command that needs to write, so it cannot be asked of a nest that is only read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nestling.stores.sqlite_errors import READING, is_damage
from nestling.view import Damage

Sums = NDArray[np.uint64]
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)


def found(db: sqlite3.Connection) -> Iterator[Damage]:
    """A damage where words are missing from the index, stray in it, or stand elsewhere than in the table."""
    try:
        rows, wanted = _table(db)
        held, stray = _index(db, rows)
    except READING as error:
        if not is_damage(error):
            raise
        yield Damage(f"the index of words cannot be read: {error}", "mend")
        return
    if stray is not None:
        yield Damage(f"the index holds words of child row {stray}, which does not exist", "mend")
    wrong = rows[wanted != held]
    if len(wrong):
        name = _name(db, int(wrong[0]))
        more = f" and of {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
        yield Damage(f"the index of words is not that of child {name}{more}", "mend")


def _table(db: sqlite3.Connection) -> tuple[NDArray[np.int64], Sums]:
    rows, sums = [], []
    for row, terms in db.execute("SELECT rowid, terms FROM words ORDER BY rowid"):
        words = terms.split(" ") if terms else []
        hashes = np.fromiter(map(hash, words), np.int64, len(words)).view(np.uint64)
        rows.append(row)
        sums.append(int(mixed(hashes, np.arange(len(words), dtype=np.uint64)).sum()))
    return np.array(rows, np.int64), np.array(sums, np.uint64)


def _index(db: sqlite3.Connection, rows: NDArray[np.int64]) -> tuple[Sums, int | None]:
    """The sum of each row by the index, and a row that is in the index only."""
    sums, stray = np.zeros(len(rows), np.uint64), None
    query = "SELECT term, json_group_array(doc), json_group_array(offset) FROM postings GROUP BY term"
    for term, documents, offsets in db.execute(query):
        found = np.array(json.loads(documents), np.int64)
        at = np.minimum(np.searchsorted(rows, found), max(len(rows) - 1, 0))
        known = rows[at] == found if len(rows) else np.zeros(len(found), bool)
        if not known.all():
            stray = int(found[~known][0])
        places = np.array(json.loads(offsets), np.uint64)[known]
        word = np.array([hash(term)], np.int64).view(np.uint64)
        np.add.at(sums, at[known], mixed(word, places))
    return sums, stray


def mixed(hashes: Sums, places: Sums) -> Sums:
    """A number for each word at its place, whose sum over a row tells rows apart, in whatever order it is taken."""
    mixed = hashes ^ ((places + np.uint64(1)) * _ODD)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * _ODD
    result: Sums = mixed ^ (mixed >> np.uint64(29))
    return result


def _name(db: sqlite3.Connection, row: int) -> str:
    query = "SELECT p.id FROM children c JOIN parents p ON p.row = c.parent WHERE c.row = ?"
    found = db.execute(query, (row,)).fetchone()
    return f"row {row}" if found is None else f"row {row} of {found[0]}"
