"""The gate that is suggested: chosen on one half, judged on the other."""

from __future__ import annotations

import numpy as np

from nestling.measure.threshold import Signals, passes, suggest


def drawn(n: int, seed: int, answerable: float, unanswerable: float, spread: float = 0.05) -> list[Signals]:
    """Questions of both kinds whose best similarity is around these values; coverage tells nothing."""
    generator = np.random.default_rng(seed)
    found = []
    for kind, center in ((True, answerable), (False, unanswerable)):
        for _ in range(n):
            similarity = np.sort(generator.normal(center, spread, 5))
            found.append(Signals(kind, similarity, generator.random(5)))
    return found


def test_finds_the_bound_between_the_kinds() -> None:
    """Where the kinds are apart the bound is between them, and is told with shares and intervals."""
    found = suggest(drawn(40, 1, 0.6, 0.3), drawn(40, 2, 0.6, 0.3))
    assert found.min_coverage is None
    assert found.min_similarity is not None
    assert 0.35 < found.min_similarity < 0.65
    assert found.youden is not None
    assert found.youden > 0.9
    assert "of the answerable questions" in found.verdict
    assert (found.answerable, found.unanswerable) == (40, 40)


def test_says_when_the_kinds_cannot_be_told_apart() -> None:
    """The luckiest bound on one half does not hold on the other, and is not suggested."""
    told = [suggest(drawn(30, seed, 0.5, 0.5), drawn(30, seed + 100, 0.5, 0.5)) for seed in range(10)]
    none = [each for each in told if each.min_similarity is None and each.min_coverage is None]
    assert len(none) >= 8
    assert all(each.verdict.startswith("no gate: the two kinds cannot be told apart") for each in none)


def test_says_when_there_is_nothing_to_go_by() -> None:
    """Without unanswerable questions, or with a few, there is no gate."""
    answerable = [each for each in drawn(20, 1, 0.6, 0.3) if each.answerable]
    assert "there are no unanswerable questions" in suggest(answerable, answerable).verdict
    few = [*answerable, *(each for each in drawn(3, 1, 0.6, 0.3) if not each.answerable)]
    found = suggest(few, few)
    assert "too few questions" in found.verdict
    assert found.min_similarity is None


def test_a_gate_lets_pass_what_one_passage_reaches() -> None:
    """Both bounds hold for one passage together, as in the nest's gate."""
    signals = Signals(True, np.array([0.9, 0.1]), np.array([0.1, 0.9]))
    assert passes(signals, 0.8, None)
    assert passes(signals, None, 0.8)
    assert not passes(signals, 0.8, 0.8)
    assert not passes(Signals(True, np.zeros(0), np.zeros(0)), None, None)
