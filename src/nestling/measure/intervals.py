"""Figures over questions, each with n and a 95 % bootstrap interval, for all questions and for each tag."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nestling.measure.bootstrap import interval
from nestling.measure.evaluation import Answer, Figure

RESAMPLES = 1000
LATENCIES = {"latency p50": 0.5, "latency p95": 0.95}


def summary(answers: Sequence[Answer]) -> tuple[Figure, ...]:
    """Every figure that a question has, over all questions, then over those of each tag, by name."""
    tags = sorted({tag for answer in answers for tag in answer.tags})
    found = _figures(answers, None)
    for tag in tags:
        found += _figures([answer for answer in answers if tag in answer.tags], tag)
    return tuple(found)


def quantile_interval(values: Sequence[float], share: float) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of a quantile; NaN twice for fewer than two values."""
    if len(values) < 2:
        return math.nan, math.nan
    given = np.asarray(values, np.float64)
    generator = np.random.default_rng(0)
    found = [
        np.quantile(given[generator.integers(0, len(given), len(given))], share) for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def _figures(answers: Sequence[Answer], tag: str | None) -> list[Figure]:
    names = dict.fromkeys(name for answer in answers for name in answer.figures)
    budgets = dict.fromkeys(budget for answer in answers for budget in answer.tokens)
    found = []
    for name in sorted(names, key=_rank):
        values = [answer.figures[name] for answer in answers if name in answer.figures]
        found.append(_figure(name, values, float(np.mean(values)), interval(values), tag))
    for budget in budgets:
        tokens = [float(answer.tokens[budget]) for answer in answers if budget in answer.tokens]
        found.append(_figure(f"tokens@{budget}", tokens, float(np.mean(tokens)), interval(tokens), tag))
    seconds = [answer.seconds for answer in answers]
    for name, share in LATENCIES.items():
        value = float(np.quantile(seconds, share))
        found.append(_figure(name, seconds, value, quantile_interval(seconds, share), tag))
    return found


def _rank(name: str) -> tuple[int, int]:
    """The order of figures: documents, parents, evidence, gate; a family's by its cut-off."""
    families = ("document/", "parent/", "evidence recall", "evidence precision", "evidence IoU", "gate")
    measures = ("hit", "recall", "nDCG", "MRR", "MAP")
    family = next((i for i, each in enumerate(families) if name.startswith(each)), len(families))
    measure = next((i for i, each in enumerate(measures) if name.partition("/")[2].startswith(each)), 0)
    return family * 10 + measure, int(name.partition("@")[2] or 0)


def _figure(
    name: str, values: Sequence[float], mean: float, ends: tuple[float, float], tag: str | None
) -> Figure:
    low, high = (None if math.isnan(end) else round(end, 6) for end in ends)
    return Figure(name, len(values), round(mean, 6), low, high, tag)
