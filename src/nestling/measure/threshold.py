"""A gate from questions that have an answer and questions that have none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nestling.measure.bootstrap import CONFIDENCE, Values, interval, means
from nestling.results import Results

# Questions of each kind, in each half, without which no gate is suggested.
LEAST = 5
# A gate of coverage, or of both signals, must be better by this much than one of similarity alone.
CLEARER = 0.02
# Bounds tried of each signal where both are asked.
GRID = 40


@dataclass(frozen=True, slots=True)
class Signals:
    """The absolute signals of the passages that a question found: arrays of one length.

    Attributes:
        answerable: Whether the question has an answer.
        similarity: Of each passage; infinite where the dense channel did not vote: it is not asked then.
        coverage: Of each passage.
    """

    answerable: bool
    similarity: Values
    coverage: Values

    @classmethod
    def of(cls, results: Results, answerable: bool) -> Signals:
        """The signals of passages found without a gate."""
        similarity = [np.inf if p.similarity is None else p.similarity for p in results]
        return cls(answerable, np.array(similarity), np.array([p.coverage for p in results]))


@dataclass(frozen=True, slots=True)
class GateAdvice:
    """The gate to use, or none.

    Attributes:
        min_similarity: The bound, or None.
        min_coverage: The bound, or None; with both None there is no gate to use.
        answered: Share of the held-out answerable questions that the gate lets through, or None.
        refused: Share of the held-out unanswerable questions that it refuses, or None.
        youden: ``answered + refused - 1``: 0 for a coin, 1 for a gate that is always right.
        low: End of the 95 % interval of ``youden``.
        high: The other end.
        answerable: How many held-out questions with an answer.
        unanswerable: How many without.
        verdict: In words.
    """

    min_similarity: float | None = None
    min_coverage: float | None = None
    answered: float | None = None
    refused: float | None = None
    youden: float | None = None
    low: float | None = None
    high: float | None = None
    answerable: int = 0
    unanswerable: int = 0
    verdict: str = ""


Bounds = tuple[float | None, float | None]


def suggest(tuning: Sequence[Signals], held_out: Sequence[Signals], seed: int = 0) -> GateAdvice:
    """Choose a gate on one half of the questions and judge it on the other.

    The bounds are those with the highest Youden's J (share of answerable questions answered, plus share of
    unanswerable ones refused, minus 1), and of these the lowest. A gate is suggested only where the 95 %
    interval of its J on the held-out half lies above 0.

    Args:
        tuning: What chooses.
        held_out: What decides.
        seed: Of the resampling.
    """
    counts = [sum(each.answerable is kind for each in held_out) for kind in (True, False)]
    fewest = min(
        sum(e.answerable is kind for e in half) for half in (tuning, held_out) for kind in (True, False)
    )
    if not any(not each.answerable for each in (*tuning, *held_out)):
        verdict = "no gate: there are no unanswerable questions; add some, marked unanswerable"
        return GateAdvice(answerable=counts[0], unanswerable=counts[1], verdict=verdict)
    if fewest < LEAST:
        verdict = f"no gate: too few questions; give {4 * LEAST} or more with an answer and as many without"
        return GateAdvice(answerable=counts[0], unanswerable=counts[1], verdict=verdict)
    bounds = _chosen(tuning)
    answered = np.array([passes(each, *bounds) for each in held_out if each.answerable], np.float64)
    refused = np.array([not passes(each, *bounds) for each in held_out if not each.answerable], np.float64)
    return _judged(bounds, answered, refused, seed)


def passes(signals: Signals, min_similarity: float | None, min_coverage: float | None) -> bool:
    """Whether a gate lets any of a question's passages through."""
    kept = np.ones(len(signals.coverage), bool)
    if min_similarity is not None:
        kept &= signals.similarity >= min_similarity
    if min_coverage is not None:
        kept &= signals.coverage >= min_coverage
    return bool(kept.any())


def _judged(bounds: Bounds, answered: Values, refused: Values, seed: int) -> GateAdvice:
    youden = float(answered.mean() + refused.mean() - 1)
    resampled = means(answered, seed, 2000) + means(refused, seed + 1, 2000) - 1
    tail = (1 - CONFIDENCE) / 2
    low, high = (float(end) for end in np.quantile(resampled, [tail, 1 - tail]))
    clear = low > 0
    names = ("min_similarity", "min_coverage")
    told = " and ".join(f"{n} {b:g}" for n, b in zip(names, bounds, strict=True) if b is not None)
    figures = (
        f"answers {_share(answered)} of the answerable questions and refuses {_share(refused)} of the"
        f" unanswerable ones (held out; Youden's J {youden:.2f}, 95 % interval {low:.2f} to {high:.2f})"
    )
    return GateAdvice(
        bounds[0] if clear else None,
        bounds[1] if clear else None,
        float(answered.mean()),
        float(refused.mean()),
        youden,
        low,
        high,
        len(answered),
        len(refused),
        f"gate: {told} {figures}"
        if clear
        else f"no gate: the two kinds cannot be told apart; the best, {told}, {figures}",
    )


def _share(values: Values) -> str:
    low, high = interval(values)
    return f"{100 * values.mean():.0f} % ({100 * low:.0f} to {100 * high:.0f})"


def _chosen(questions: Sequence[Signals]) -> Bounds:
    table = _Table.of(questions)
    similar, covering = _edges(table.similarity), _edges(table.coverage)
    best: float = -1.0
    chosen: Bounds = (None, None)
    tried: list[tuple[Sequence[float | None], Sequence[float | None]]] = [
        (similar, [None]),
        ([None], covering),
        (_thinned(similar), _thinned(covering)),
    ]
    for first, second in tried:
        youden, bounds = table.best(first, second)
        if youden > best + CLEARER:
            best, chosen = youden, bounds
    return chosen


@dataclass(frozen=True, slots=True)
class _Table:
    """The signals of all questions, a row each, short rows filled with what never passes."""

    answerable: NDArray[np.bool_]
    similarity: Values
    coverage: Values

    @classmethod
    def of(cls, questions: Sequence[Signals]) -> _Table:
        width = max((len(each.coverage) for each in questions), default=0)
        rows = [
            [
                np.pad(values, (0, width - len(values)), constant_values=-2.0)
                for values in (q.similarity, q.coverage)
            ]
            for q in questions
        ]
        signals = np.array(rows).reshape(len(questions), 2, width)
        return cls(np.array([q.answerable for q in questions]), signals[:, 0], signals[:, 1])

    def best(self, first: Sequence[float | None], second: Sequence[float | None]) -> tuple[float, Bounds]:
        """The highest Youden's J of these bounds of similarity and coverage, and the lowest bounds that have it."""
        found: tuple[float, Bounds] = (-1.0, (None, None))
        for similarity in first:
            reached = self.similarity >= (-1.5 if similarity is None else similarity)
            peaks = np.where(reached, self.coverage, -2.0).max(1, initial=-2.0)
            for coverage in second:
                passed = peaks >= (-1.5 if coverage is None else coverage)
                youden = float(passed[self.answerable].mean() - passed[~self.answerable].mean())
                if youden > found[0] + 1e-9:
                    found = youden, (similarity, coverage)
        return found


def _thinned(bounds: Sequence[float]) -> Sequence[float]:
    return bounds[:: max(1, len(bounds) // GRID)]


def _edges(signals: Values) -> list[float]:
    """Bounds between the best values of the questions, rounded, lowest first."""
    peaks = signals.max(1, initial=-2.0)
    apart = np.unique(peaks[np.isfinite(peaks) & (peaks > -1.5)])
    return sorted({round(float(edge), 3) for edge in (apart[1:] + apart[:-1]) / 2})
