"""The summary: every figure with n and interval, over all questions and by tag."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nestling.measure.bootstrap import interval
from nestling.measure.evaluation import Answer
from nestling.measure.intervals import quantile_interval, summary


def answer(id: str, figures: dict[str, float], seconds: float = 0.01, *tags: str) -> Answer:
    """A question's answer with these figures."""
    return Answer(id, "?", tags, True, figures, 0.5, 0.5, False, (), seconds, {"500": 480})


def test_figures_are_means_of_those_that_have_them() -> None:
    """Only questions with the figure count; the interval is the bootstrap's; a tag has rows of its own."""
    answers = [
        answer("a", {"document/hit@1": 1.0, "evidence recall@500": 0.4}, 0.01, "x"),
        answer("b", {"document/hit@1": 0.0}, 0.03, "x", "y"),
        answer("c", {"document/hit@1": 1.0}, 0.02),
    ]
    rows = {(row.tag, row.figure): row for row in summary(answers)}
    hit = rows[None, "document/hit@1"]
    assert (hit.n, hit.mean) == (3, pytest.approx(2 / 3, abs=1e-6))
    assert (hit.low, hit.high) == pytest.approx(interval([1.0, 0.0, 1.0]), abs=1e-6)
    assert (rows[None, "evidence recall@500"].n, rows[None, "evidence recall@500"].low) == (1, None)
    assert (rows[None, "tokens@500"].mean, rows[None, "latency p50"].mean) == (480.0, 0.02)
    assert (rows["x", "document/hit@1"].n, rows["x", "document/hit@1"].mean) == (2, 0.5)
    assert rows["y", "document/hit@1"].n == 1
    assert ("y", "evidence recall@500") not in rows
    assert {row.tag for row in summary(answers)} == {None, "x", "y"}


def test_order_is_by_level_measure_and_cut() -> None:
    """Documents before parents, hits before recall, cut-offs by number."""
    names = ["parent/hit@1", "document/MAP", "document/hit@10", "document/hit@3", "document/recall@1"]
    found = [row.figure for row in summary([answer("a", dict.fromkeys(names, 1.0))])]
    ordered = ["document/hit@3", "document/hit@10", "document/recall@1", "document/MAP", "parent/hit@1"]
    assert found == [*ordered, "tokens@500", "latency p50", "latency p95"]


def test_quantile_interval_holds_the_quantile() -> None:
    """It is deterministic, holds the quantile of a sample, and narrows with more of it."""
    values = np.random.default_rng(1).exponential(size=400)
    low, high = quantile_interval(values.tolist(), 0.5)
    assert low < np.quantile(values, 0.5) < high
    assert (low, high) == quantile_interval(values.tolist(), 0.5)
    few = quantile_interval(values[:40].tolist(), 0.5)
    assert few[1] - few[0] > high - low
    assert all(map(math.isnan, quantile_interval([1.0], 0.5)))
