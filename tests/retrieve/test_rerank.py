"""Scores handed out again in a judge's order: nothing is made up, and nothing else is touched."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nestling.retrieve.collapse import collapse
from nestling.retrieve.fuse import Votes
from nestling.retrieve.rerank import CANDIDATES, Judge, candidates, rerank, texts
from nestling.view import Family, StoredParent

# few values, so that there are ties and zeros
SHARES = st.integers(0, 40).map(lambda n: n / 40)
CHILDREN = st.lists(st.tuples(SHARES, SHARES, st.booleans(), st.integers(-3, 3)), max_size=150)


def votes_of(children: list[tuple[float, float, bool, int]]) -> Votes:
    """The votes of children with these scores, own votes and places in lists."""
    return Votes(
        np.array([each[0] for each in children], np.float64),
        np.array([each[1] for each in children], np.float64),
        np.array([each[2] for each in children], bool),
        {},
    )


@given(CHILDREN)
def test_the_best_with_a_score_are_judged(children: list[tuple[float, float, bool, int]]) -> None:
    """At most 64, none with a score of 0, none with less than one that is left out; ties in text order."""
    votes = votes_of(children)
    chosen = candidates(votes).tolist()
    positive = [i for i, each in enumerate(children) if each[0] > 0]
    assert chosen == sorted(positive, key=lambda i: (-children[i][0], i))[:CANDIDATES]


@given(CHILDREN)
def test_the_judge_decides_among_them(children: list[tuple[float, float, bool, int]]) -> None:
    """Judged children stand in the judge's order, ties in the fused one; scores are those there were."""
    votes = votes_of(children)
    chosen = candidates(votes)
    said = np.array([children[i][3] for i in chosen], np.float64)
    after, judged = rerank(votes, chosen, said)
    best = sorted(range(len(chosen)), key=lambda place: (-said[place], place))
    assert judged.child.tolist() == [int(chosen[place]) for place in best]
    assert judged.before.tolist() == best
    assert judged.score.tolist() == [said[place] for place in best]
    for old, new in ((votes.score, after.score), (votes.own, after.own)):
        handed = new[judged.child]
        assert (np.diff(handed) <= 0).all()
        assert Counter(handed.tolist()) == Counter(old[chosen].tolist())
        rest = np.setdiff1d(np.arange(len(old)), chosen)
        assert (new[rest] == old[rest]).all()
    assert after.listed is votes.listed


@given(CHILDREN)
def test_a_judge_without_an_opinion_changes_no_score(children: list[tuple[float, float, bool, int]]) -> None:
    """Where all are judged alike, the fused scores stay, and so does what was passed in."""
    votes = votes_of(children)
    before = votes.score.copy(), votes.own.copy()
    after, _ = rerank(votes, candidates(votes), np.zeros(len(candidates(votes))))
    assert (after.score == votes.score).all()
    assert (votes.score == before[0]).all()
    assert (votes.own == before[1]).all()


def test_the_best_of_a_parent() -> None:
    """Of a run of children it is the one judged best, and none where none of them was judged."""
    votes = Votes(np.array([0.5, 0.4, 0.3, 0.0]), np.zeros(4), np.zeros(4, bool), {})
    _, judged = rerank(votes, candidates(votes), np.array([1.0, 3.0, 2.0]))
    assert [judged.best(0, 2), judged.best(2, 4), judged.best(0, 1), judged.best(3, 4)] == [0, 1, 2, None]


def parent(title: str, heading: tuple[str, ...]) -> StoredParent:
    """A parent that begins at 10 of its document."""
    return StoredParent(7, 1, "d§1", "d", title, heading, {}, None, 10, 30, "0123456789abcdefghij")


def test_what_is_judged() -> None:
    """A child's own text, under a line of title and headings, in which a title that is a heading stands once."""
    family = Family(*(np.array(column, np.int64) for column in ([1, 2], [7, 7], [1, 1], [10, 15], [15, 30])))
    chosen = np.array([1, 0])
    assert texts(family, chosen, {7: parent("Title", ("Part", "Section"))}) == [
        "Title › Part › Section\n56789abcdefghij",
        "Title › Part › Section\n01234",
    ]
    assert texts(family, chosen[1:], {7: parent("Title", ("Title", "Part"))}) == ["Title › Part\n01234"]
    assert texts(family, chosen[1:], {7: parent("", ())}) == ["01234"]


def test_no_text_twice() -> None:
    """A judge asks for what it has not asked for before, once each, and gives scores in order."""
    asked: list[list[str]] = []

    def ask(wanted: object) -> list[float]:
        asked.append(list(wanted))  # type: ignore[call-overload]
        return [float(len(text)) for text in asked[-1]]

    judge = Judge("length", ask)
    assert judge(["aa", "b", "aa"]).tolist() == [2, 1, 2]
    assert judge(["b", "ccc", "aa"]).tolist() == [1, 3, 2]
    assert judge(["b"]).tolist() == [1]
    assert judge([]).tolist() == []
    assert asked == [["aa", "b"], ["ccc"]]


def test_parents_of_one_score_follow_the_judge() -> None:
    """Where fused scores tie, what the judge likes best still comes first; those not judged keep their order."""
    votes = Votes(np.array([0.5, 0.5, 0.5, 0.0, 0.0]), np.zeros(5), np.zeros(5, bool), {})
    after, judged = rerank(votes, candidates(votes), np.array([1.0, 2.0, 3.0]))
    assert judged.places(5).tolist() == [2, 1, 0, 3, 3]
    parents = np.array([10, 11, 12, 13, 14])
    assert collapse(parents, after, None, judged.places(5)).parent.tolist() == [12, 11, 10, 13, 14]
