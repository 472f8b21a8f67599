"""The nearest rows of a layout: a scan of codes, then exact scores of all that can belong to the list."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nestling.stores.layout import Layout
from nestling.stores.scan import DECIMALS, Question, Rough, best_at_least
from nestling.stores.segment import Positions
from nestling.types import Level
from nestling.view import Scores, Vectors

# Up to this share of a level's rows, codes are gathered from where they stand; above it all are scanned.
GATHERED = 0.3


def candidates(
    layout: Layout, level: Level, question: Question, n: int, allowed: Positions | None
) -> Positions:
    """Positions of all rows that can be among the ``n`` nearest.

    Args:
        layout: The rows.
        level: Of which level.
        question: What they are compared with.
        n: The length of the list; at least 1.
        allowed: The positions to choose from, ascending; all that are not removed where None.
    """
    size = layout.size(level)
    if allowed is not None and len(allowed) <= n:
        return allowed
    if allowed is not None and len(allowed) <= GATHERED * size:
        rough, scale = _of_some(layout, level, question, allowed)
        return allowed[_possible(rough, scale, question, n)]
    alive = layout.alive[level] if layout.alive is not None else None
    if allowed is not None:
        alive = np.zeros(size, bool)
        alive[allowed] = True
    rough = _of_all(layout, level, question)
    if alive is not None:
        rough[~alive] = -np.inf
    largest = max((float(s.arrays[f"{level}.scale"].max()) for s in layout.segments), default=0.0)
    # twice the error of the least exact row, first: so only few rows are looked at closely
    margin = 2 * question.error(np.array([largest], np.float32))[0]
    near = np.flatnonzero(rough >= best_at_least(rough, n) - margin)
    near = near[np.isfinite(rough[near])]
    return near[_possible(rough[near], layout.take(level, "scale", near), question, n)]


def _of_all(layout: Layout, level: Level, question: Question) -> Rough:
    rough = np.empty(layout.size(level), np.float32)
    begins = layout.begins[level]
    for segment, begin, end in zip(layout.segments, begins, begins[1:], strict=False):
        arrays = segment.arrays
        question.compare(arrays[f"{level}.codes"], arrays[f"{level}.scale"], rough[begin:end])
    return rough


def _of_some(layout: Layout, level: Level, question: Question, at: Positions) -> tuple[Rough, Rough]:
    scale = layout.take(level, "scale", at)
    rough = np.empty(len(at), np.float32)
    question.compare(layout.take(level, "codes", at), scale, rough)
    return rough, scale


def _possible(rough: Rough, scale: Rough, question: Question, n: int) -> Positions:
    """Which of these rows can be among the ``n`` best, given how far off each can be."""
    if len(rough) <= n:
        return np.arange(len(rough))
    error = question.error(scale)
    lowest = rough - error
    return np.flatnonzero(rough + error >= np.partition(lowest, len(rough) - n)[len(rough) - n])


def cosines(
    layout: Layout, level: Level, vector: Vectors, positions: Positions, ask: Callable[[Positions], Vectors]
) -> Scores:
    """The cosine of each row, by its float16 vector.

    Args:
        layout: The rows.
        level: Of which level.
        vector: A unit vector.
        positions: Of the rows.
        ask: Gives vectors that a segment does not hold.
    """
    scores = np.empty(len(positions))
    exact = vector.astype(np.float64)
    for _, segment, chosen, own in layout.split(level, positions):
        held = segment.exact(level, own)
        rows = ask(positions[chosen]) if held is None else held
        # einsum sums every row in the same order, so that equal rows score equal wherever they stand
        scores[chosen] = np.einsum("ij,j->i", rows.astype(np.float64), exact)
    return np.round(scores, DECIMALS)
