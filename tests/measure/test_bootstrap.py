"""Bootstrap intervals: what they cover, and what they say where there is little to say."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from nestling.measure.bootstrap import interval, means, needed, paired

Draw = Callable[[np.random.Generator, int], np.ndarray]

POPULATIONS: dict[str, tuple[Draw, float]] = {
    "half right": (lambda g, n: (g.random(n) < 0.5).astype(float), 0.5),
    "mostly right": (lambda g, n: (g.random(n) < 0.8).astype(float), 0.8),
    "skewed": (lambda g, n: g.beta(0.3, 0.9, n), 0.25),
    "long tail": (lambda g, n: g.exponential(size=n), 1.0),
}


@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize("name", POPULATIONS)
def test_the_interval_covers_the_true_mean(name: str, n: int) -> None:
    """In 90 to 98 of 100 samples the 95 % interval holds the mean of the population."""
    draw, truth = POPULATIONS[name]
    generator = np.random.default_rng(n)
    covered = 0
    for trial in range(300):
        low, high = interval(draw(generator, n), seed=trial, resamples=500)
        covered += low - 1e-9 <= truth <= high + 1e-9
    assert 0.90 <= covered / 300 <= 0.98


def test_the_paired_interval_covers_the_true_difference() -> None:
    """Differences that are mostly zero, as between two recipes, are covered, too."""
    generator = np.random.default_rng(7)
    covered = 0
    for trial in range(300):
        before = generator.random(60)
        after = before + generator.choice([0, 0, 0, 0, 0, 0.5, -0.3, 1.0], 60)
        found = paired(before, after, seed=trial, resamples=500)
        covered += found.low <= 0.15 <= found.high
    assert 0.90 <= covered / 300 <= 0.98


def test_no_false_winners() -> None:
    """Where there is no difference, "better in 90 % of resamples" comes about one time in ten, each way."""
    generator = np.random.default_rng(8)
    wins = 0
    for trial in range(300):
        a, b = generator.random((2, 50))
        wins += paired(a, b, seed=trial, resamples=400).better >= 0.9
    assert wins / 300 <= 0.15


def test_equal_seeds_give_equal_intervals() -> None:
    """A result can be reproduced; another seed gives nearly the same."""
    values = np.random.default_rng(1).random(100)
    assert interval(values, seed=3) == interval(values, seed=3)
    assert interval(values, seed=3) == interval(list(values), seed=3)
    assert interval(values, seed=3) != interval(values, seed=4)
    np.testing.assert_allclose(interval(values, seed=3), interval(values, seed=4), atol=0.02)


def test_large_and_small_blocks_draw_means() -> None:
    """Resampling many values is done in blocks, and gives the number of means that was asked for."""
    found = means(np.ones(50_000), 0, 100)
    assert found.tolist() == [1.0] * 100
    assert means(np.zeros(0), 0, 100).shape == (0,)


def test_little_is_known_from_little() -> None:
    """No value, or a single one, gives no interval; equal values give their value."""
    assert all(map(math.isnan, interval([])))
    assert all(map(math.isnan, interval([0.4])))
    assert interval([0.4, 0.4, 0.4]) == (0.4, 0.4)
    assert interval([0.2, 0.8]) == (0.2, 0.8)


def test_all_right_is_not_certain() -> None:
    """20 of 20 right gives the exact binomial bound, not 1 to 1; 0 of 20 likewise."""
    low, high = interval([1] * 20)
    assert (round(low, 3), high) == (0.832, 1.0)
    low, high = interval([0] * 20)
    assert (low, round(high, 3)) == (0.0, 0.168)


def test_paired_differences() -> None:
    """Second minus first; who is better in how many resamples; nothing without pairs."""
    found = paired([0, 0, 0, 0], [1, 1, 1, 1])
    assert found == (1.0, 1.0, 1.0, 1.0, 4)
    assert paired([0.5, 0.5], [0.5, 0.5]).better == 0
    assert paired([], []).n == 0
    assert math.isnan(paired([], []).mean)
    with pytest.raises(ValueError, match="cannot be paired"):
        paired([1], [1, 2])


def test_needed_questions_suffice() -> None:
    """With so many questions as are needed, four intervals in five exclude zero."""
    generator = np.random.default_rng(2)
    n = int(needed(generator.normal(0.1, 0.4, 100_000)))
    assert 115 <= n <= 137
    told = sum(paired(np.zeros(n), generator.normal(0.1, 0.4, n), seed=t).low > 0 for t in range(300))
    assert 0.72 <= told / 300 <= 0.88
    assert needed([0.1, -0.1]) == math.inf
    assert math.isnan(needed([0.1]))
