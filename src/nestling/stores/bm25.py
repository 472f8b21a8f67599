"""BM25 over three levels from one reading of the postings: a parent's terms are its children's, and so on up.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the IDF of
Lucene, ``ln(1 + (N - n + 0.5) / (n + 0.5))``, which is never negative.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nestling.stores.layout import Layout, Mask
from nestling.stores.scan import DECIMALS, best_at_least
from nestling.stores.segment import Array, Positions, Segment
from nestling.types import LEVELS, Level
from nestling.view import Scores

# The customary values; every pair in 0.9–1.5 × 0.4–0.9 stayed within .007 of them in the fused ranking.
K1 = 1.2
B = 0.75
# Where so small a share of a level's rows is met, they are sorted; where more, scores are kept for all rows.
SPARSE = 0.1


@dataclass(frozen=True, eq=False)
class Word:
    """Where one query word occurs in a layout.

    Attributes:
        layout: The rows.
        found: For each segment that holds it: its number, the children, ascending, and how often each does.
        holding: How many rows of each level of the whole layout hold it.
    """

    layout: Layout
    found: Sequence[tuple[int, Array, Array]]
    holding: Mapping[Level, int]

    @classmethod
    def read(cls, layout: Layout, forms: tuple[str, ...], within: Mask | None = None) -> Word:
        """A word in all its forms together; with ``within``, only at these children, who are whole documents'."""
        found, holding = [], Counter[Level]()
        kept = layout.alive["child"] if layout.alive is not None else None
        if within is not None:
            kept = within if kept is None else kept & within
        for at, segment in enumerate(layout.segments):
            begin, end = layout.begins["child"][at : at + 2]
            gone = None if layout.alive is None else ~layout.alive["child"][begin:end]
            child, count = _postings(segment, forms, gone, holding)
            if kept is not None and len(child):
                some = kept[begin:end][child]
                child, count = child[some], count[some]
            if len(child):
                found.append((at, child, count))
        return cls(layout, found, holding)

    @cached_property
    def levels(self) -> dict[Level, list[tuple[int, Array, Array]]]:
        """What was found of it, for the rows of each level."""
        every: dict[Level, list[tuple[int, Array, Array]]] = {level: [] for level in LEVELS}
        for at, child, count in self.found:
            segment = self.layout.segments[at]
            parents = _above(segment, "child.parent", child, count)
            every["child"].append((at, child, count))
            every["parent"].append((at, *parents))
            every["document"].append((at, *_above(segment, "parent.document", *parents)))
        return every

    def idf(self, level: Level) -> float:
        """Its weight by how many rows of a level hold it; above 0."""
        total, holding = self.layout.counts[level], self.holding[level]
        return math.log(1 + (total - holding + 0.5) / (holding + 0.5))

    def parents_among(self, positions: Positions) -> Mask:
        """Which of these parents hold it."""
        held = np.zeros(len(positions), bool)
        for at, own, _ in self.levels["parent"]:
            begin, end = self.layout.begins["parent"][at : at + 2]
            inside = np.flatnonzero((positions >= begin) & (positions < end))
            wanted = positions[inside] - begin
            place = np.minimum(np.searchsorted(own, wanted), len(own) - 1)
            held[inside] = own[place] == wanted
        return held


def _above(segment: Segment, owners: str, own: Array, count: Array) -> tuple[Array, Array]:
    """The owners of rows that hold a word, and how often each does."""
    owner = segment.arrays[owners][own]
    if not len(owner):
        return owner, count
    first = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1])))
    return owner[first], np.add.reduceat(count, first, dtype=np.int64)


def _postings(
    segment: Segment, forms: tuple[str, ...], gone: Mask | None, holding: Counter[Level]
) -> tuple[Array, Array]:
    """The postings of all forms together; the rows that hold any and are not gone are counted."""
    numbers = [number for form in dict.fromkeys(forms) if (number := segment.word(form)) is not None]
    if not numbers:
        return np.zeros(0, np.uint32), np.zeros(0, np.uint8)
    if len(numbers) == 1:
        child, count = segment.postings(numbers[0])
        holding["child"] += len(child)
        holding["parent"] += int(segment.arrays["word.parents"][numbers[0]])
        holding["document"] += int(segment.arrays["word.documents"][numbers[0]])
        if gone is not None:
            _count(segment, child[gone[child]], holding, -1)
        return child, count
    several = [segment.postings(number) for number in numbers]
    child, inverse = np.unique(np.concatenate([child for child, _ in several]), return_inverse=True)
    count = np.bincount(inverse, np.concatenate([count for _, count in several]), len(child)).astype(np.int64)
    _count(segment, child if gone is None else child[~gone[child]], holding, 1)
    return child, count


def _count(segment: Segment, child: Array, holding: Counter[Level], sign: int) -> None:
    parent = segment.arrays["child.parent"][child]
    document = segment.arrays["parent.document"][parent]
    holding["child"] += sign * len(child)
    holding["parent"] += sign * _different(parent)
    holding["document"] += sign * _different(document)


def _different(owner: Array) -> int:
    """How many different ones there are, where equal ones stand together."""
    return int(np.count_nonzero(owner[1:] != owner[:-1])) + min(len(owner), 1)


def bm25(
    layout: Layout, level: Level, words: Sequence[Word], n: int, allowed: Mask | None
) -> tuple[Positions, Scores]:
    """The BM25 of rows of a level that hold any of the words.

    Args:
        layout: The rows.
        level: Of which level.
        words: As they were read.
        n: The length of the list that is made of them; at least 1.
        allowed: For each row whether it may be in it; all may where None.

    Returns:
        Positions, ascending, and scores, of at least those that can belong to the list.
    """
    hits = [_weighed(layout, level, word, allowed) for word in words]
    met = sum(len(positions) for positions, _ in hits)
    if met <= SPARSE * layout.size(level):
        positions, inverse = np.unique(
            _joined([positions for positions, _ in hits], np.intp), return_inverse=True
        )
        weights = _joined([weighed for _, weighed in hits], np.float64)
        return positions, np.bincount(inverse, weights, len(positions)).astype(np.float64)
    scores = np.zeros(layout.size(level))
    for positions, weighed in hits:
        scores[positions] += weighed
    # a little less, since what is rounded alike is tied
    least = best_at_least(scores, n) - 10.0**-DECIMALS
    positions = np.flatnonzero(scores >= least) if least > 0 else np.flatnonzero(scores)
    return positions, scores[positions]


def _joined(arrays: Sequence[Array], kind: type) -> Array:
    return np.concatenate([np.zeros(0, kind), *arrays])


def _weighed(layout: Layout, level: Level, word: Word, allowed: Mask | None) -> tuple[Positions, Scores]:
    factor, places, weights = word.idf(level) * (K1 + 1), [], []
    for at, own, count in word.levels[level]:
        begin, end = layout.begins[level][at : at + 2]
        if allowed is not None:
            kept = allowed[begin:end][own]
            own, count = own[kept], count[kept]
        saturation = K1 * (1 - B) + K1 * B * layout.lengths[level][at][own]
        places.append(own + np.intp(begin))
        weights.append(factor * count / (count + saturation))
    return _joined(places, np.intp), _joined(weights, np.float64)
