"""BM25 over three levels from one reading of the postings: a parent's terms are its children's, and so on up.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the IDF of
Lucene, ``ln(1 + (N - n + 0.5) / (n + 0.5))``, which is never negative.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


# For each segment that holds a word: its number, the rows that do, ascending, and how often each does.
Hits = list[tuple[int, Array, Array]]


@dataclass(frozen=True, eq=False)
class Word:
    """Where one query word occurs in a layout.

    Attributes:
        layout: The rows.
        children: The children that hold it, those that are gone too.
        holding: How many rows of each level hold it that are not gone.
    """

    layout: Layout
    children: Hits
    holding: Mapping[Level, int]

    @classmethod
    def read(cls, layout: Layout, forms: tuple[str, ...]) -> Word:
        """A word in all its forms together."""
        children, holding = [], Counter[Level]()
        for at, segment in enumerate(layout.segments):
            begin, end = layout.begins["child"][at : at + 2]
            gone = None if layout.alive is None else ~layout.alive["child"][begin:end]
            child, count = _postings(segment, forms, gone, holding)
            if len(child):
                children.append((at, child, count))
        return cls(layout, children, holding)

    def hits(self, within: Mask | None) -> dict[Level, Hits]:
        """Rows of each level that hold it; with ``within``, only of these children, who are whole documents'."""
        every: dict[Level, Hits] = {level: [] for level in LEVELS}
        for at, child, count in self.children:
            if within is not None:
                begin, end = self.layout.begins["child"][at : at + 2]
                kept = within[begin:end].take(child)
                child, count = child[kept], count[kept]
            if len(child):
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

    def among(self, parents: Positions) -> Mask:
        """Which of these parents hold it."""
        held = np.zeros(len(parents), bool)
        found = {at: child for at, child, _ in self.children}
        for at, segment, chosen, own in self.layout.split("parent", parents):
            if at in found:
                first, last = np.searchsorted(found[at], np.stack(segment.below("parent", own)))
                held[chosen] = last > first
        return held


@dataclass(frozen=True, eq=False)
class Matched:
    """The words of a question, and where they are found under a filter."""

    words: Sequence[Word]
    hits: Sequence[Mapping[Level, Hits]]

    @classmethod
    def of(cls, words: Sequence[Word], within: Mask | None) -> Matched:
        """The words, only in these children, which are whole documents'; in all that are not gone where None."""
        return cls(words, [word.hits(within) for word in words])


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
    layout: Layout, level: Level, matched: Matched, n: int, allowed: Mask | None
) -> tuple[Positions, Scores]:
    """The BM25 of rows of a level that hold any of the words.

    Args:
        layout: The rows.
        level: Of which level.
        matched: The words.
        n: The length of the list that is made of them; at least 1.
        allowed: For each row whether it may be in it; all may where None.

    Returns:
        Positions, ascending, and scores, of at least those that can belong to the list.
    """
    found = [
        _weighed(layout, level, word.idf(level), hits[level], allowed)
        for word, hits in zip(matched.words, matched.hits, strict=True)
    ]
    if sum(len(positions) for positions, _ in found) <= SPARSE * layout.size(level):
        every = _joined([positions for positions, _ in found], np.intp)
        positions, inverse = np.unique(every, return_inverse=True)
        weights = _joined([weights for _, weights in found], np.float64)
        return positions, np.bincount(inverse, weights, len(positions)).astype(np.float64)
    scores = np.zeros(layout.size(level))
    for positions, weights in found:
        scores[positions] += weights
    # a little less, since what is rounded alike is tied
    least = max(best_at_least(scores, n) - 10.0**-DECIMALS, np.finfo(np.float64).tiny)
    positions = np.flatnonzero(scores >= least).astype(np.intp)
    return positions, scores[positions]


def _joined(arrays: Sequence[Array], kind: type) -> Array:
    return np.concatenate([np.zeros(0, kind), *arrays])


def _weighed(
    layout: Layout, level: Level, idf: float, hits: Hits, allowed: Mask | None
) -> tuple[Positions, Scores]:
    places, weights = [], []
    for at, own, count in hits:
        begin, end = layout.begins[level][at : at + 2]
        if allowed is not None:
            kept = allowed[begin:end].take(own)
            own, count = own[kept], count[kept]
        saturation = K1 * (1 - B) + K1 * B * layout.lengths[level][at].take(own)
        places.append(own + np.intp(begin))
        weights.append(idf * (K1 + 1) * count / (count + saturation))
    return _joined(places, np.intp), _joined(weights, np.float64)
