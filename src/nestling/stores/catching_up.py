"""From a layout to the next: rows that were added since as a few more segments, removed documents as gone."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np

from nestling.stores.layout import Layout, with_gone
from nestling.stores.reading import current_change, segments, since
from nestling.stores.segment import Segment
from nestling.stores.segment_merging import Part, joined

# New segments are joined with the one before while it is less than so many times as large: so they stay few.
RATIO = 4
NOTHING = Layout(0, (), ())


def catch_up(db: sqlite3.Connection, edition: int, known: Layout) -> Layout:
    """The layout of an edition in the state that ``db`` sees; what is added to ``known`` is in memory."""
    there = since(db, edition, known.change) if known.change else None
    if there is None:
        read = grown((), list(segments(db, edition, None, exact=True)))
        return Layout(current_change(db), read, with_gone(read, np.zeros(0, np.int64)))
    if there.change == known.change:
        return known
    added = [] if there.added is None else list(segments(db, edition, there.added, exact=True))
    found = grown(known.segments, added)
    return Layout(there.change, found, with_gone(found, np.concatenate([there.gone, gone_rows(known)])))


def gone_rows(layout: Layout) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Row numbers of the documents of a layout that were removed."""
    rows = [s.arrays["document.row"][at] for s, at in zip(layout.segments, layout.gone, strict=True)]
    return np.concatenate([np.zeros(0, np.int64), *rows])


def grown(known: Sequence[Segment], added: Sequence[Segment]) -> tuple[Segment, ...]:
    """Segments with others after them; those in memory are joined where they are small."""
    if not added:
        return tuple(known)
    together, kept = list(added), list(known)
    size = sum(segment.count("child") for segment in added)
    while kept and not kept[-1].name and kept[-1].count("child") < RATIO * size:
        together.insert(0, kept.pop())
        size += together[0].count("child")
    whole = joined([Part(segment) for segment in together]) if len(together) > 1 else together[0]
    return (*kept, whole)
