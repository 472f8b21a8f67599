"""From a layout to the next: rows that were added since as a few more segments, removed documents as gone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

import numpy as np

from nestling.stores.layout import Layout, with_gone
from nestling.stores.reading import newer, since
from nestling.stores.segment import Segment
from nestling.stores.segment_merging import Part, joined

# A new segment is joined with the one before while that is less than so many times as large: so there are few.
RATIO = 4
NOTHING = Layout(0, (), ())


def catch_up(db: sqlite3.Connection, known: Layout) -> Layout:
    """The layout of the state that ``db`` sees; what is added to ``known`` is in memory."""
    there = since(db, known)
    if there.gone is None:
        known, gone = NOTHING, np.zeros(0, np.int64)
    else:
        gone = there.gone
    if there.change == known.change:
        return known
    last = known.segments[-1] if known.segments else None
    parent, child = (last.last("parent"), last.last("child")) if last else (0, 0)
    segments = _grown(known.segments, newer(db, parent, child, exact=True))
    dead = [s.arrays["document.row"][at] for s, at in zip(known.segments, known.gone, strict=True)]
    return Layout(there.change, segments, with_gone(segments, np.concatenate([gone, *dead])))


def _grown(known: Sequence[Segment], added: Iterable[Segment]) -> tuple[Segment, ...]:
    """Segments with others after them, those in memory joined where they are small."""
    segments = list(known)
    for segment in added:
        segments.append(segment)
        while len(segments) > 1 and not segments[-2].name and _small(segments[-2], segments[-1]):
            segments[-2:] = [joined([Part(segments[-2]), Part(segments[-1])])]
    return tuple(segments)


def _small(before: Segment, segment: Segment) -> bool:
    return before.count("child") < RATIO * segment.count("child")
