"""Two evaluations of the same questions: which is better, by how much, and whether that is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nestling.errors import SettingError
from nestling.measure.bootstrap import Difference, Values, needed, paired
from nestling.measure.pairing import LOWER, Pair, Result, figures, pair, plain
from nestling.ranges import amount

# More questions than this are never asked for: so small a difference is none.
MOST_NEEDED = 10_000
# Questions named among those that changed most.
MOST_CHANGED = 10

# What tells two evaluations apart.
_DIFFERING = ("nestling", "nest", "recipe", "embedder", "settings")
# Figures that say how much was found; the others are told as higher or lower.
_FINDING = ("recall", "hit", "ndcg", "mrr", "map")
# How a value is told: what it is multiplied by, and its unit.
_UNITS = {"tokens": (1.0, "tokens"), "seconds": (1000.0, "ms")}
_POINTS = (100.0, "points")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure in both evaluations, over the questions that have it in both.

    Attributes:
        figure: Its name.
        a: Mean in the first.
        b: Mean in the second.
        difference: Second minus first.
        low: End of the 95 % interval of the difference.
        high: The other end; both are None where there is but one question.
        n: How many questions.
        wins: On how many the second is better.
        losses: On how many the first is better.
        ties: On how many they are equal.
        verdict: In words.
    """

    figure: str
    a: float
    b: float
    difference: float
    low: float | None
    high: float | None
    n: int
    wins: int
    losses: int
    ties: int
    verdict: str


@dataclass(frozen=True, slots=True)
class Change:
    """A question whose figure changed from ``a`` to ``b``."""

    id: str
    question: str
    a: float
    b: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two evaluations say of each other.

    Attributes:
        names: What the two are called in the verdicts.
        differing: What is not the same about how they were made, by name, with both values.
        compared: How many questions are in both.
        only_a: Ids of questions that only the first has.
        only_b: Ids of questions that only the second has.
        reworded: Ids under which the two asked different questions; not compared.
        rows: The figures; the first is the one that decides.
        changed: The questions whose deciding figure changed most, the largest change first.
    """

    names: tuple[str, str]
    differing: dict[str, tuple[Any, Any]]
    compared: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    reworded: tuple[str, ...]
    rows: tuple[Row, ...]
    changed: tuple[Change, ...]


def compare(a: Result, b: Result, names: tuple[str, str] = ("A", "B"), seed: int = 0) -> Comparison:
    """Compare two evaluations, question by question.

    Args:
        a: The first: what was there before.
        b: The second: what is to be judged.
        names: What to call them.
        seed: Of the resampling; equal seeds give equal intervals.

    Raises:
        InputError: One is not an evaluation, or they have no question in common.
    """
    both = pair(a, b, names)
    rows = tuple(_row(figure, *series, names, seed) for figure, series in both.series.items())
    return Comparison(
        names,
        differing(plain(a), plain(b)),
        len(both.pairs),
        both.only_a,
        both.only_b,
        both.reworded,
        rows,
        _changed(both.pairs, rows[0].figure if rows else ""),
    )


def differing(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What two evaluations do not have in common, such as ``recipe.child_size``, with both values."""
    found: dict[str, tuple[Any, Any]] = {}
    for key in _DIFFERING:
        one, other = a.get(key), b.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            for name in dict.fromkeys([*one, *other]):
                if one.get(name) != other.get(name):
                    found[f"{key}.{name}"] = (one.get(name), other.get(name))
        elif one != other:
            found[key] = (one, other)
    return found


def regressions(baseline: Result, current: Result, limits: Mapping[str, float]) -> list[str]:
    """The figures that have really become worse, a sentence each; empty when all is well.

    A figure has regressed where, over the questions that have it in both, its mean has become worse by more
    than its limit **and** the 95 % interval of the paired difference lies wholly on the worse side of zero.

    Args:
        baseline: An evaluation from before.
        current: The one to judge.
        limits: How much worse each figure may be, 0 or more, in its own unit: 0.02 is two points.

    Raises:
        SettingError: A limit is not a number from 0, or its figure is not in both.
        InputError: One is not an evaluation, or they have no question in common.
    """
    series = pair(baseline, current, ("the baseline", "the current result")).series
    found = []
    for figure, limit in limits.items():
        amount(f"the limit of {figure}", limit)
        if figure not in series:
            raise SettingError(
                f"{figure!r} is not in both results; give one of {', '.join(series) or 'none'}"
            )
        before, after = series[figure]
        sign = -1.0 if figure in LOWER else 1.0
        drop = paired(sign * after, sign * before)
        if drop.mean > limit and drop.low > 0:
            found.append(_regression(figure, float(before.mean()), float(after.mean()), drop, limit))
    return found


def verdict(figure: str, deltas: Values, found: Difference, names: tuple[str, str] = ("A", "B")) -> str:
    """What a paired difference means, in words.

    Args:
        figure: Its name decides how it is told: ``finds 4.1 points more``, ``takes 80 tokens less``.
        deltas: Second minus first, one a question.
        found: The difference of these.
        names: What to call the two.

    Returns:
        Who is better by how much, with interval and n, where the interval excludes zero; else how many
        questions it would take to tell.
    """
    if not np.any(np.abs(deltas) > 1e-9):
        return f"no difference: the same on all {found.n} questions"
    if not (found.low > 0 or found.high < 0):
        return f"no winner: {_more(needed(deltas))}, n = {found.n}"
    scale, unit = _UNITS.get(figure, _POINTS)
    less = found.mean < 0
    low, high = sorted(scale * abs(end) for end in (found.low, found.high))
    amount = f"{scale * abs(found.mean):.1f} {unit}"
    if figure in LOWER:
        told = f"{names[1]} takes {amount} {'less' if less else 'more'}"
    elif any(word in figure.casefold() for word in _FINDING):
        told = f"{names[0] if less else names[1]} finds {amount} more"
    else:
        told = f"{names[0] if less else names[1]} is {amount} higher"
    return f"{told}, 95 % interval {low:.1f} to {high:.1f}, n = {found.n}"


def _more(questions: float) -> str:
    if math.isnan(questions):
        return "one question cannot tell"
    if questions > MOST_NEEDED:
        return f"the two are so close that {MOST_NEEDED:,} questions would not tell"
    return f"you need about {rounded(questions):,} questions to tell"


def rounded(questions: float) -> int:
    """A number of questions, upward to two digits: 1,234 is 1,300."""
    step: int = 10 ** max(0, int(math.log10(max(questions, 1))) - 1)
    return math.ceil(questions / step) * step


def _row(figure: str, a: Values, b: Values, names: tuple[str, str], seed: int) -> Row:
    found = paired(a, b, seed)
    better = np.sign(np.round(b - a, 9)) * (-1 if figure in LOWER else 1)
    known = not math.isnan(found.low)
    return Row(
        figure=figure,
        a=float(a.mean()),
        b=float(b.mean()),
        difference=found.mean,
        low=found.low if known else None,
        high=found.high if known else None,
        n=found.n,
        wins=int((better > 0).sum()),
        losses=int((better < 0).sum()),
        ties=int((better == 0).sum()),
        verdict=verdict(figure, b - a, found, names),
    )


def _regression(figure: str, before: float, after: float, drop: Difference, limit: float) -> str:
    scale, unit = _UNITS.get(figure, _POINTS)
    return (
        f"{figure} {'rose' if figure in LOWER else 'fell'} from {scale * before:.1f} to {scale * after:.1f}"
        f" {unit}: by {scale * drop.mean:.1f}, 95 % interval {scale * drop.low:.1f} to {scale * drop.high:.1f},"
        f" n = {drop.n}, where {scale * limit:g} are allowed; see what changed with `nestling compare`"
    )


def _changed(pairs: tuple[Pair, ...], figure: str) -> tuple[Change, ...]:
    changes = []
    for x, y in pairs:
        a, b = figures(x).get(figure), figures(y).get(figure)
        if a is not None and b is not None and abs(a - b) > 1e-9:
            changes.append(Change(str(x["id"]), str(x.get("question", "")), a, b))
    return tuple(sorted(changes, key=lambda change: (-abs(change.b - change.a), change.id))[:MOST_CHANGED])
