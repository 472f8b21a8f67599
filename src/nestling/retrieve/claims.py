"""Finding in passages what a sentence states: its content words near each other, its numbers, its negations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nestling.answers import Support
from nestling.retrieve.analysis import Analysis, Forms
from nestling.retrieve.negation import negated
from nestling.retrieve.sources import Source
from nestling.retrieve.statement import Statement, with_digits

# The share of a sentence's weighted content words that must stand near each other in a passage. Measured by
# benchmarks/verify.py.
ENOUGH = 0.85
# Sentences of a passage that are read together.
TOGETHER = 3
# What a name counts, beside a word.
NAME = 2.0
# Fewest content words of a half of a stitched sentence.
LEAST_HALF = 3

_DENIES = "one denies"
_SEMICOLON = re.compile(r";\s+")

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence of a source: its terms, and the words that each of its negations denies, in order."""

    source: int
    start: int
    end: int
    terms: frozenset[str]
    denied: tuple[tuple[Forms, ...], ...]
    asserted: frozenset[str]

    def has(self, said: Statement) -> frozenset[int]:
        """Which of a statement's words stand in it."""
        return frozenset(i for i, forms in enumerate(said.words) if not self.terms.isdisjoint(forms))

    def asserts(self, said: Statement) -> frozenset[int]:
        """Which of them it does not deny."""
        return frozenset(i for i, forms in enumerate(said.words) if not self.asserted.isdisjoint(forms))

    def denies(self, said: Statement) -> list[tuple[int, ...]]:
        """For each of its negations, which of them it denies: the first word denied among them, or two others."""
        groups = []
        for group in self.denied:
            hit = [
                i for word in group for i, forms in enumerate(said.words) if not set(word).isdisjoint(forms)
            ]
            first = group and any(not set(group[0]).isdisjoint(said.words[i]) for i in hit)
            if first or len(set(hit)) > 1:
                groups.append(tuple(dict.fromkeys(hit)))
        return groups


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement, or half of it, was looked for.

    Attributes:
        support: The sentences of a passage.
        share: The part of the weighted words that stands there.
        reason: What is missing or turned, or "".
    """

    support: Support
    share: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a statement stands.

    Attributes:
        whole: The best place in each passage that holds it, best first.
        halves: Where no passage holds it, two places in different ones that hold half of it each.
        at_border: Whether these halves meet where a clause ends.
        nearest: The best place, where none holds it.
    """

    whole: tuple[Place, ...] = ()
    halves: tuple[Place, ...] = ()
    at_border: bool = False
    nearest: Place | None = None


class Grounds:
    """The sentences of passages, ready for statements to be looked for in them.

    Args:
        sources: Each once.
        analysis: How the nest reads text.
        before: What was read of the first of these sources already.
    """

    def __init__(self, sources: Sequence[Source], analysis: Analysis, before: Grounds | None = None) -> None:
        self._sources: tuple[Source, ...] = tuple(sources)
        known = before._sources if before else ()
        self._units: list[_Unit] = list(before._units) if before else []
        for i, source in enumerate(sources[len(known) :], len(known)):
            self._units += _units(i, source, analysis)
        self._heads = [analysis.terms(with_digits(" ".join((s.title, *s.heading)))) for s in sources]
        owner = [unit.source for unit in self._units]
        self._windows = [
            (first, first + size)
            for size in range(1, TOGETHER + 1)
            for first in range(len(owner) - size + 1)
            if owner[first] == owner[first + size - 1]
        ]

    def find(self, said: Statement, preferred: Collection[str] = ()) -> Found:
        """Look for a statement.

        Args:
            said: What is looked for.
            preferred: Ids of passages that are named first where several hold a half.
        """
        if not said.words or not self._windows:
            return Found()
        unit_has = np.array([[not u.terms.isdisjoint(forms) for forms in said.words] for u in self._units])
        weight = _weights(unit_has, said)
        covered = self._covered(unit_has, said)
        whole, nearest = self._holding(said, covered, weight)
        if whole:
            return Found(tuple(whole))
        if nearest and nearest.share >= ENOUGH:
            # one passage has all the words, and contradicts them
            return Found(nearest=nearest)
        halves, at_border = self._halves(said, covered, weight, preferred)
        return Found((), halves, at_border, nearest)

    def _holding(
        self, said: Statement, covered: Flags, weight: NDArray[np.float64]
    ) -> tuple[list[Place], Place | None]:
        """The best place in each passage that holds a statement, best first; and the best place of all."""
        shares = covered @ weight / weight.sum()
        held: dict[str, Place] = {}
        nearest = None
        turned: list[tuple[int, int]] = []
        # of equal shares the shortest first
        for window in np.argsort(-shares, kind="stable").tolist():
            first, last = self._windows[window]
            if any(first <= inner and end <= last for inner, end in turned):
                continue  # what stands around a contradiction does not mend it
            place = self._place(said, window, covered[window], float(shares[window]))
            nearest = nearest or place
            if shares[window] < ENOUGH:
                break
            if place.reason.startswith(_DENIES):
                turned.append((first, last))
            elif not place.reason:
                held.setdefault(place.support.id, place)
        return list(held.values()), nearest

    def _covered(self, unit_has: Flags, said: Statement) -> Flags:
        """For each window, which of the words stand in it, or in the title or headings of its passage."""
        heads = np.array([[not head.isdisjoint(forms) for forms in said.words] for head in self._heads], bool)
        rows = [
            unit_has[first:last].any(0) | heads[self._units[first].source] for first, last in self._windows
        ]
        return np.array(rows)

    def _place(self, said: Statement, window: int, covered: Flags, share: float) -> Place:
        first, last = self._windows[window]
        units = self._units[first:last]
        source = self._sources[units[0].source]
        support = Support(
            source.id, source.document_id, source.start + units[0].start, source.start + units[-1].end
        )
        missing = [said.shown[i] for i in range(len(said.words)) if not covered[i]]
        lacking = [said.shown[i] for i in sorted(said.required) if not covered[i]]
        if lacking:
            return Place(support, share, f"not there: {', '.join(lacking)}")
        if share < ENOUGH:
            return Place(support, share, f"not there: {', '.join(missing)}")
        if turned := _turned(said, units):
            return Place(support, share, f"{_DENIES} {turned!r}, the other does not")
        return Place(support, share)

    def _halves(
        self,
        said: Statement,
        covered: Flags,
        weight: NDArray[np.float64],
        preferred: Collection[str],
    ) -> tuple[tuple[Place, ...], bool]:
        """Two places of different passages that hold a beginning and the rest."""
        count = len(said.words)
        splits = range(LEAST_HALF, count - LEAST_HALF + 1)
        for split in sorted(splits, key=lambda i: (i not in said.borders, abs(2 * i - count))):
            head = self._half(said, covered, weight, 0, split, preferred)
            tail = self._half(said, covered, weight, split, count, preferred)
            for one in head[:TOGETHER]:
                for other in tail[:TOGETHER]:
                    if one.support.id != other.support.id:
                        return (one, other), split in said.borders
        return (), False

    def _half(
        self,
        said: Statement,
        covered: Flags,
        weight: NDArray[np.float64],
        first: int,
        last: int,
        preferred: Collection[str],
    ) -> list[Place]:
        """The best place in each passage that holds a part of the words, those in preferred passages first."""
        held, _ = self._holding(said.part(first, last), covered[:, first:last], weight[first:last])
        return sorted(held, key=lambda place: place.support.id not in preferred)


def _units(number: int, source: Source, analysis: Analysis) -> list[_Unit]:
    units = []
    for start, end in _clauses(source.text, analysis):
        text = with_digits(source.text[start:end])
        spans = negated(text)
        asserted, last = [], 0
        for first, stop in spans:
            asserted.append(text[last:first])
            last = max(last, stop)
        asserted.append(text[last:])
        denied = tuple(tuple(analysis.content(text[first:stop])) for first, stop in spans)
        units.append(
            _Unit(number, start, end, analysis.terms(text), denied, analysis.terms(" ".join(asserted)))
        )
    return units


def _clauses(text: str, analysis: Analysis) -> Iterator[tuple[int, int]]:
    """Sentences, cut at semicolons: what is denied on one side is not denied on the other."""
    for first, last in analysis.sentences(text):
        start = first
        for found in _SEMICOLON.finditer(text, first, last):
            yield start, found.start()
            start = found.end()
        yield start, last


def _weights(unit_has: Flags, said: Statement) -> NDArray[np.float64]:
    """Rare words of these passages weigh more, as in BM25; names double."""
    count, holding = len(unit_has), unit_has.sum(0)
    weight: NDArray[np.float64] = np.log(1 + (count - holding + 0.5) / (holding + 0.5))
    weight[sorted(said.names)] *= NAME
    return weight


def _turned(said: Statement, units: Sequence[_Unit]) -> str:
    """A word that one side denies and the other asserts, or ""."""
    ours = frozenset[int]().union(*said.denied)
    present = frozenset[int]().union(*(unit.has(said) for unit in units))
    asserted = frozenset[int]().union(*(unit.asserts(said) for unit in units))
    theirs = frozenset[int]()
    for unit in units:
        others = frozenset[int]().union(*(other.has(said) for other in units if other is not unit))
        for group in unit.denies(said):
            theirs |= set(group)
            # a word that is asserted elsewhere counts as denied where the statement needs the denying sentence
            needed = bool(unit.has(said) - set(group) - others)
            denied = [i for i in group if needed or i not in asserted]
            if denied and ours.isdisjoint(group):
                return said.shown[denied[0]]
    for own in said.denied:
        held = own & present
        if held and held.isdisjoint(theirs):
            return said.shown[min(held)]
    return ""
