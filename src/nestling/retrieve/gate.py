"""The gate that abstains: absolute signals of each parent's best child, never the fused score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nestling.errors import SettingError
from nestling.retrieve.find import Found
from nestling.retrieve.fuse import LIST
from nestling.view import Rows, Scores, View

# Parents measured at once while the gate looks for enough that pass.
STEP = 64


@dataclass(frozen=True, slots=True)
class Gate:
    """What a passage must reach to be shown.

    Attributes:
        min_similarity: Of the parent's best child, -1 to 1; not asked where the dense channel does not vote.
        min_coverage: Of the parent, 0 to 1.

    Raises:
        SettingError: A bound is out of its range.
    """

    min_similarity: float | None = None
    min_coverage: float | None = None

    def __post_init__(self) -> None:
        for name, low in (("min_similarity", -1), ("min_coverage", 0)):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise SettingError(f"{name} is {value!r}; give a number from {low} to 1, or None")
            if value is not None and not low <= value <= 1:
                raise SettingError(f"{name} is {value!r}; give a number from {low} to 1")

    @property
    def open(self) -> bool:
        """Whether everything passes."""
        return self.min_similarity is None and self.min_coverage is None

    def refusal(self, similarity: float | None, coverage: float) -> str | None:
        """Which signal falls short of what, or None."""
        if self.min_similarity is not None and similarity is not None and similarity < self.min_similarity:
            return f"similarity {similarity:.3f} is below min_similarity {self.min_similarity:g}"
        if self.min_coverage is not None and coverage < self.min_coverage:
            return f"coverage {coverage:.3f} is below min_coverage {self.min_coverage:g}"
        return None


@dataclass(frozen=True, slots=True)
class Signals:
    """The signals of ranked parents: arrays of one length; similarity is None without a dense channel."""

    similarity: Scores | None
    coverage: Scores

    def at(self, index: int) -> tuple[float | None, float]:
        """Both signals of one parent."""
        similarity = None if self.similarity is None else float(self.similarity[index])
        return similarity, float(self.coverage[index])


def measure(view: View, found: Found, places: Rows) -> Signals:
    """The signals of the ranked parents at these places."""
    ranking = found.ranking
    coverage = view.coverage(found.question.terms, ranking.parent[places])
    if found.question.vector is None or not len(places):
        return Signals(None, coverage)
    bounds = zip(ranking.first[places].tolist(), ranking.last[places].tolist(), strict=True)
    members = [np.arange(first, last) for first, last in bounds]
    similarities = view.similarity(found.question.vector, found.family.child[np.concatenate(members)])
    starts = np.cumsum([0, *(len(run) for run in members[:-1])])
    return Signals(np.maximum.reduceat(similarities, starts), coverage)


@dataclass(frozen=True, slots=True)
class Passed:
    """Which ranked parents passed the gate.

    Attributes:
        places: Those asked for, with their signals.
        count: How many passed of those measured.
        refused: Why others did not, by place.
        highest: The best of each signal met.
    """

    places: list[tuple[int, float | None, float]]
    count: int
    refused: dict[int, str]
    highest: tuple[float | None, float]


def passing(view: View, found: Found, gate: Gate, offset: int, k: int) -> Passed:
    """The ranked parents ``offset`` to ``offset + k`` of those that pass, best first."""
    total = len(found.ranking.parent)
    if gate.open:
        wanted = np.arange(min(offset, total), min(offset + k, total))
        signals = measure(view, found, wanted)
        places = [(place, *signals.at(i)) for i, place in enumerate(wanted.tolist())]
        return Passed(places, total, {}, (None, 0.0))
    passed, refused = [], {}
    similarity, coverage = None, 0.0
    for first in range(0, total, STEP):
        signals = measure(view, found, np.arange(first, min(first + STEP, total)))
        for i in range(len(signals.coverage)):
            seen = signals.at(i)
            coverage = max(coverage, seen[1])
            if seen[0] is not None:
                similarity = seen[0] if similarity is None else max(similarity, seen[0])
            reason = gate.refusal(*seen)
            if reason:
                refused[first + i] = reason
            else:
                passed.append((first + i, *seen))
        if len(passed) >= offset + k:
            break
    return Passed(passed[offset : offset + k], len(passed), refused, (similarity, coverage))


def settled(found: Found, gate: Gate) -> bool:
    """Whether no parent beyond those ranked can pass a gate that is not open."""
    for key, ranked in found.lists.items():
        # a parent whose children are all beyond this list is no more similar than its last
        if (key.level, key.channel) == ("child", "dense") and gate.min_similarity is not None:
            return len(ranked.rows) < LIST or bool(ranked.scores[-1] < gate.min_similarity)
        # a parent that holds none of the words has a coverage of 0
        if (key.level, key.channel) == ("parent", "lexical") and gate.min_coverage:
            return len(ranked.rows) < LIST
    return False


def abstention(gate: Gate, passed: Passed, total: int) -> str | None:
    """Why nothing passes although something matched, or None."""
    if gate.open or passed.count or not total:
        return None
    reason = gate.refusal(*passed.highest)
    return f"the best {reason}" if reason else "no passage reaches both min_similarity and min_coverage"
