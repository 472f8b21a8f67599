"""Every level votes: scaling, summing, lending."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nestling.retrieve.fuse import ListKey, fuse, lend, scaled
from nestling.settings import Scoring
from nestling.view import Family, Ranked

SCORES = arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e3, 1e3).map(lambda x: round(x, 3)))


def ranked(scores: dict[int, float]) -> Ranked:
    """A ranked list of rows with scores."""
    rows = sorted(scores, key=lambda row: -scores[row])
    return Ranked(np.array(rows, np.int64), np.array([scores[row] for row in rows], np.float64))


@given(SCORES)
def test_scaling_keeps_the_order(scores: np.ndarray) -> None:
    """Scaled scores are 0 to 1, in the order of the scores, with 1 at the top."""
    result = scaled(scores)
    assert result.max() == 1
    assert result.min() >= 0
    assert (np.diff(result[np.argsort(scores, kind="stable")]) >= 0).all()


def test_equal_scores_all_count_fully() -> None:
    """A list of one, or of equals, gives 1 to each: it has nothing to tell apart."""
    assert scaled(np.array([0.2, 0.2])).tolist() == [1, 1]
    assert scaled(np.array([])).tolist() == []


def test_sums_the_levels_of_both_channels() -> None:
    """A child gets what its own, its parent's and its document's rows get, over the number of lists."""
    rows = {
        "child": np.array([1, 2, 3]),
        "parent": np.array([10, 10, 11]),
        "document": np.array([100, 100, 100]),
    }
    lists = {
        ListKey("child", "dense"): ranked({1: 0.9, 2: 0.5, 3: 0.1}),
        ListKey("parent", "dense"): ranked({11: 0.8, 10: 0.4}),
        ListKey("document", "dense"): ranked({100: 0.3}),
        ListKey("child", "lexical"): ranked({3: 7.0}),
    }
    votes = fuse(lists, rows, Scoring(lexical=1))
    # one minus the mean vote of each list: 1, .5, 0 · 1, 0 · 1 · one of three places taken
    child, parent, document, word = 1 - 0.5, 1 - 0.5, 1 - 1, 1 - 1 / 3
    sums = [child + 0 + document, child / 2 + 0 + document, 0 + parent + document + word]
    np.testing.assert_allclose(votes.score, np.array(sums) / (child + parent + document + word))
    np.testing.assert_allclose(votes.own, np.array([1, 0.5, 1]) / 2)
    assert votes.listed.tolist() == [True, True, True]


def test_lists_that_tell_nothing_apart_still_count() -> None:
    """Where every list gives all rows the same, each of them gets everything, and not nothing."""
    rows = {"child": np.array([1, 2]), "parent": np.array([5, 5]), "document": np.array([9, 9])}
    lists = {
        ListKey("child", "dense"): ranked({1: 0.4, 2: 0.4}),
        ListKey("document", "dense"): ranked({9: 0.4}),
    }
    assert fuse(lists, rows).score.tolist() == [1, 1]


def test_no_vote_per_child() -> None:
    """A long document with 40 weak children does not beat a short one with a single better child (R8)."""
    rows = {level: np.arange(41) for level in ("child", "parent")} | {"document": np.array([0] * 40 + [1])}
    lists = {ListKey("child", "dense"): ranked({n: 0.5 - n / 1000 for n in range(40)} | {40: 0.6})}
    votes = fuse(lists, rows)
    assert votes.score.argmax() == 40


def family(document: list[int], start: list[int], stop: list[int]) -> Family:
    """Children of documents, in order; which parents they have does not matter."""
    columns = [np.array(values, np.int64) for values in (document, start, stop)]
    rows = np.arange(len(document))
    return Family(rows, rows, *columns)


def test_lends_to_neighbours_in_the_text_only() -> None:
    """A child gets a share of its neighbours' mean; a document's edge is an edge, and so is a gap."""
    score = np.array([1.0, 0.2, 0.0, 0.9, 0.88, 0.1])
    children = family([7, 7, 7, 8, 8, 8], [0, 5, 10, 0, 5, 20], [5, 10, 15, 5, 10, 25])
    np.testing.assert_allclose(lend(children, score, 0.5), [1.1, 0.45, 0.1, 1.34, 1.33, 0.15])
    np.testing.assert_allclose(lend(children, score, 0.0), score)
    assert lend(family([], [], []), np.zeros(0)).tolist() == []
