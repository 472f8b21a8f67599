"""What is kept of a nest for searching, in memory and in files beside it, held to the nest's file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nestling.stores.layout import Layout
from nestling.stores.reading import segments, since
from nestling.stores.segment import Positions, Segment
from nestling.types import LEVELS, Level
from nestling.view import Damage

Sums = NDArray[np.uint64]
_ODD = np.uint64(0x9E3779B97F4A7C15)
# Postings looked at together.
TOGETHER = 1 << 20


def differences(db: sqlite3.Connection, edition: int, layout: Layout) -> Iterator[Damage]:
    """A damage for each level whose rows are not those of the file.

    Raises:
        CacheDamagedError: Files of the layout do not hold what was written.
    """
    seen = dict.fromkeys(LEVELS, 0)
    words = np.concatenate([np.zeros(0, np.uint64), *map(_words, layout.segments)])
    wrong: set[Level] = set()
    for fresh in segments(db, edition, since(db, edition, 0), True):
        for level in LEVELS:
            seen[level] += fresh.count(level)
            if level not in wrong and not _same(layout, words, fresh, level):
                wrong.add(level)
    for level in LEVELS:
        if level in wrong or seen[level] != layout.counts[level]:
            yield Damage(f"the {level} rows kept for searching are not those of the file", "mend")


def _same(layout: Layout, words: Sums, fresh: Segment, level: Level) -> bool:
    positions = layout.positions(level, fresh.arrays[f"{level}.row"])
    if len(positions) != fresh.count(level):
        return False
    own = ("terms", "scale", *(("codes", "start", "stop") if level == "child" else ("weight",)))
    if not all(
        np.array_equal(layout.take(level, name, positions), fresh.arrays[f"{level}.{name}"]) for name in own
    ):
        return False
    if level == "document":
        same = layout.ids(positions) == fresh.ids(np.arange(len(positions)))
    else:
        same = _same_owners(layout, positions, fresh, level)
    if level == "child":
        same = same and np.array_equal(words[positions], _words(fresh))
    return same and _same_exact(layout, positions, fresh, level)


def _same_owners(layout: Layout, positions: Positions, fresh: Segment, level: Level) -> bool:
    above: Level = "parent" if level == "child" else "document"
    owners = layout.rows(above, layout.owners(level, positions, above))
    return np.array_equal(owners, fresh.arrays[f"{above}.row"][fresh.arrays[f"{level}.{above}"]])


def _same_exact(layout: Layout, positions: Positions, fresh: Segment, level: Level) -> bool:
    wanted = fresh.arrays[f"{level}.exact"]
    for _, segment, chosen, own in layout.split(level, positions):
        held = segment.exact(level, own)
        if held is not None and not np.array_equal(held, wanted[chosen]):
            return False
    return True


def _words(segment: Segment) -> Sums:
    """A number for each child, from which words it holds and how often."""
    text, at = segment.arrays["word.text"].data, segment.arrays["word.text_at"].tolist()
    hashes = np.fromiter(
        (hash(bytes(text[begin:end])) for begin, end in pairwise(at)), np.int64, len(at) - 1
    ).view(np.uint64)
    first, child = segment.arrays["word.first"], segment.arrays["posting.child"]
    count = segment.arrays["posting.count"]
    sums = np.zeros(segment.count("child"), np.uint64)
    for begin in range(0, len(child), TOGETHER):
        part = slice(begin, min(begin + TOGETHER, len(child)))
        word = np.searchsorted(first, np.arange(part.start, part.stop), "right") - 1
        np.add.at(sums, child[part], _mixed(hashes[word], count[part].astype(np.uint64)))
    return sums


def _mixed(hashes: Sums, counts: Sums) -> Sums:
    """A number for each word and how often it stands, whose sum over a child tells children apart."""
    mixed = hashes ^ ((counts + np.uint64(1)) * _ODD)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * _ODD
    result: Sums = mixed ^ (mixed >> np.uint64(29))
    return result
