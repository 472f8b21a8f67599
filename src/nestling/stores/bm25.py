"""BM25 over three levels from one reading of the postings: a parent's terms are its children's, and so on up.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the IDF of
Lucene, ``ln(1 + (N - n + 0.5) / (n + 0.5))``, which is never negative.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nestling.stores.layout import Layout, Mask
from nestling.stores.scan import DECIMALS, best_at_least
from nestling.stores.segment import Array, Positions, Segment
from nestling.types import Level
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
        children: By number of a segment, the children that hold it, ascending, also those that are gone, and how
            often each does.
        holding: How many rows of each level hold it that are not gone.
    """

    layout: Layout
    children: Mapping[int, tuple[Array, Array]]
    holding: Mapping[Level, int]

    @classmethod
    def read(cls, layout: Layout, forms: tuple[str, ...]) -> Word:
        """A word in all its forms together."""
        children, holding = {}, Counter[Level]()
        for at, segment in enumerate(layout.segments):
            begin, end = layout.begins["child"][at : at + 2]
            gone = None if layout.alive is None else ~layout.alive["child"][begin:end]
            child, count = _postings(segment, forms, gone, holding)
            if len(child):
                children[at] = child, count
        return cls(layout, children, holding)

    def idf(self, level: Level) -> float:
        """Its weight by how many rows of a level hold it; above 0."""
        total, holding = self.layout.counts[level], self.holding[level]
        return math.log(1 + (total - holding + 0.5) / (holding + 0.5))

    def among(self, parents: Positions) -> Mask:
        """Which of these parents hold it."""
        held = np.zeros(len(parents), bool)
        for at, segment, chosen, own in self.layout.split("parent", parents):
            if at in self.children:
                first, last = np.searchsorted(self.children[at][0], np.stack(segment.below("parent", own)))
                held[chosen] = last > first
        return held


class Hits(NamedTuple):
    """Rows of one level and segment that hold a word, word after word: positions, how often, and which word."""

    own: Array
    often: Array
    word: Array

    def some(self, chosen: Array) -> Hits:
        """Some of them."""
        return Hits(self.own[chosen], self.often[chosen], self.word[chosen])

    def above(self, owners: Array) -> Hits:
        """Their owners, who hold what these hold together."""
        owner = owners.take(self.own)
        new = np.ones(len(owner), bool)
        new[1:] = (owner[1:] != owner[:-1]) | (self.word[1:] != self.word[:-1])
        first = np.flatnonzero(new)
        return Hits(owner[first], np.add.reduceat(self.often, first, dtype=np.int64), self.word[first])


@dataclass(frozen=True, eq=False)
class Matched:
    """The words of a question, and by number of a segment the rows of each level that hold them under a filter."""

    words: Sequence[Word]
    hits: Mapping[int, Mapping[Level, Hits]]

    @classmethod
    def of(cls, layout: Layout, words: Sequence[Word], within: Mask | None) -> Matched:
        """The words, only in these children, which are whole documents'; in all that are not gone where None."""
        found: dict[int, Mapping[Level, Hits]] = {}
        for at, segment in enumerate(layout.segments):
            held = [(n, *word.children[at]) for n, word in enumerate(words) if at in word.children]
            if not held:
                continue
            lengths = [len(child) for _, child, _ in held]
            child = Hits(
                np.concatenate([child for _, child, _ in held]),
                np.concatenate([count for _, _, count in held]),
                np.repeat(np.array([n for n, _, _ in held], np.uint16), lengths),
            )
            if within is not None:
                begin, end = layout.begins["child"][at : at + 2]
                child = child.some(within[begin:end].take(child.own))
            if len(child.own):
                parent = child.above(segment.arrays["child.parent"])
                document = parent.above(segment.arrays["parent.document"])
                found[at] = {"child": child, "parent": parent, "document": document}
        return cls(words, found)


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
    mean = layout.mean_terms(level)
    factors = np.array([word.idf(level) * (K1 + 1) for word in matched.words])
    places, weights = [np.zeros(0, np.intp)], [np.zeros(0)]
    for at, levels in matched.hits.items():
        begin, end = layout.begins[level][at : at + 2]
        hits = (
            levels[level]
            if allowed is None
            else levels[level].some(allowed[begin:end].take(levels[level].own))
        )
        terms = layout.segments[at].arrays[f"{level}.terms"].take(hits.own)
        saturation = K1 * (1 - B) + K1 * B / mean * terms
        places.append(hits.own + np.intp(begin))
        weights.append(factors.take(hits.word) * hits.often / (hits.often + saturation))
    # sums are made in the order of words
    met, weight = np.concatenate(places), np.concatenate(weights)
    if len(met) <= SPARSE * layout.size(level):
        positions, inverse = np.unique(met, return_inverse=True)
        return positions, np.bincount(inverse, weight, len(positions)).astype(np.float64)
    scores = np.bincount(met, weight, layout.size(level)).astype(np.float64)
    # a little less, since what is rounded alike is tied
    least = max(best_at_least(scores, n) - 10.0**-DECIMALS, np.finfo(np.float64).tiny)
    positions = np.flatnonzero(scores >= least).astype(np.intp)
    return positions, scores[positions]
