"""Children to parents."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nestling.retrieve.collapse import collapse, evidence
from nestling.retrieve.fuse import Votes


def votes(score: list[float], own: list[float] | None = None) -> Votes:
    """Votes of children, all listed that have a score."""
    values = np.array(score, np.float64)
    return Votes(values, np.array(own, np.float64) if own else values, values > 0, {})


def test_weak_extra_evidence_never_lowers_a_parent() -> None:
    """.9, .1, .1 in one parent beats .5 in another (R9)."""
    ranking = collapse(np.array([1, 2, 2, 2]), votes([0.5, 0.9, 0.1, 0.1]))
    assert ranking.parent.tolist() == [2, 1]
    assert ranking.score.tolist() == [0.9, 0.5]
    assert ranking.hits.tolist() == [3, 1]
    assert (ranking.first.tolist(), ranking.last.tolist()) == ([1, 0], [4, 1])


def test_ties_keep_the_order_of_the_family() -> None:
    """Equal parents stay by document id and position."""
    assert collapse(np.array([5, 3, 9]), votes([0.4, 0.4, 0.4])).parent.tolist() == [5, 3, 9]


def test_parents_without_a_vote_follow_in_the_order_of_the_tail() -> None:
    """The tail orders those at 0 and nothing else; those not in it come last."""
    ranking = collapse(np.array([1, 2, 3, 4]), votes([0.0, 0.0, 0.7, 0.0]), np.array([3, 4, 2]))
    assert ranking.parent.tolist() == [3, 4, 2, 1]


def test_nothing_gives_nothing() -> None:
    """No children, no parents."""
    assert len(collapse(np.zeros(0, np.int64), votes([])).parent) == 0


@given(st.lists(st.tuples(st.integers(0, 8), st.floats(0, 1)), min_size=1, max_size=60))
def test_every_parent_once_by_its_best_child(pairs: list[tuple[int, float]]) -> None:
    """Each parent appears once, with the maximum of its children, in falling order."""
    pairs.sort(key=lambda pair: pair[0])
    ranking = collapse(np.array([p for p, _ in pairs]), votes([s for _, s in pairs]))
    best = {parent: max(s for p, s in pairs if p == parent) for parent, _ in pairs}
    assert dict(zip(ranking.parent.tolist(), ranking.score.tolist(), strict=True)) == best
    assert (np.diff(ranking.score) <= 0).all()


def test_evidence_is_what_earned_the_score() -> None:
    """Children with at least half of the best own vote; without any own vote, the best child."""
    assert evidence(votes([0.9, 0.8, 0.3], [0.8, 0.4, 0.3]), 0, 3) == [0, 1]
    assert evidence(votes([0.1, 0.2, 0.2], [0.0, 0.0, 0.0]), 0, 3) == [1]
