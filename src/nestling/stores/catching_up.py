"""From a layout to the next, in memory: what was added since as a few more segments, removed documents as gone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from nestling.stores.layout import Layout, with_gone
from nestling.stores.reading import Since, segments
from nestling.stores.segment import Segment
from nestling.stores.segment_merging import Part, joined
from nestling.view import Rows

# Segments are joined with the one before while it holds less than so many times as many children: so they stay few.
RATIO = 4
# A segment is made anew once so large a share of its documents is gone.
HOLLOW = 0.25
NOTHING = Layout(0, (), ())


def catch_up(db: sqlite3.Connection, edition: int, known: Layout, there: Since, exact: bool = True) -> Layout:
    """The layout of the state that ``db`` sees; what is added to ``known`` is in memory.

    Args:
        db: A connection, reading.
        edition: Of which edition.
        known: An earlier layout of it, or `NOTHING`.
        there: What it lacks.
        exact: Whether float16 vectors are held too, or asked of the nest.
    """
    if there.anew:
        known = NOTHING
    added = segments(db, edition, there, exact)
    gone = np.concatenate((gone_rows(known), there.gone))
    held = parts_of(known.segments, gone)
    parts = [*held, *map(Part, added)]
    first = joinable(parts, len(held), lambda part: not part.segment.name)
    return layout_of(there.change, [*parts[:first], *together(parts[first:])], gone)


def together(parts: Sequence[Part]) -> list[Part]:
    """The parts as one in memory, or none where nothing is left of them."""
    if len(parts) == 1 and parts[0].alive is None:
        return list(parts)
    return [Part(joined(parts))] if any(len(part.documents) for part in parts) else []


def layout_of(change: int, parts: Iterable[Part], gone: Rows) -> Layout:
    """A layout of the parts' segments, without those that nothing is left of."""
    left = tuple(part.segment for part in parts if len(part.documents))
    return Layout(change, left, with_gone(left, gone))


def gone_rows(layout: Layout) -> Rows:
    """Row numbers of the documents of a layout that were removed."""
    rows = [s.arrays["document.row"][at] for s, at in zip(layout.segments, layout.gone, strict=True)]
    return np.concatenate([np.zeros(0, np.int64), *rows])


def parts_of(held: Iterable[Segment], gone: Rows) -> list[Part]:
    """Segments with which of their documents are left."""
    parts = []
    for segment in held:
        at = segment.positions("document", gone)[1]
        alive = np.ones(segment.count("document"), bool)
        alive[at] = False
        parts.append(Part(segment, alive if len(at) else None))
    return parts


def joinable(parts: Sequence[Part], new: int, free: Callable[[Part], bool]) -> int:
    """From which on parts should be made one, so that they stay few and hold little that is gone.

    Args:
        parts: In row order.
        new: From which on they are new: these are made one in any case.
        free: Whether an older part may be made anew.
    """
    sizes = [part.segment.count("child") for part in parts]
    first = new
    for at in reversed(range(new)):
        if not free(parts[at]):
            break
        hollow = len(parts[at].documents) < (1 - HOLLOW) * parts[at].segment.count("document")
        if hollow or sizes[at] < RATIO * sum(sizes[first:]):
            first = at
    return first
