"""From a question to ranked parents: six lists, fused, the best children judged if anything judges, collapsed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from nestling.retrieve.collapse import Ranking, collapse
from nestling.retrieve.fuse import LIST, ListKey, Votes, fuse
from nestling.retrieve.rerank import Judge, Judged, candidates, rerank, texts
from nestling.settings import Scoring
from nestling.tracing import span
from nestling.types import LEVELS, Level
from nestling.view import Family, Ranked, Rows, Terms, Vectors, View
from nestling.where import Where

# What the rows of a list are, in the words of traces.
COUNTS: dict[Level, str] = {"document": "document_count", "parent": "parent_count", "child": "chunk_count"}


@dataclass(frozen=True, slots=True)
class Question:
    """A query made ready.

    Attributes:
        text: As asked.
        language: ISO 639-1, or "" where nothing tells.
        terms: For the lexical channel.
        vector: For the dense channel, or None where it does not vote.
        notes: What was decided on the way, for the explanation.
        judge: What reranks the best children, or None.
    """

    text: str
    language: str
    terms: Terms
    vector: Vectors | None
    notes: tuple[str, ...] = ()
    judge: Judge | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a question found: lists, the children of all documents touched, their weighed votes, ranked parents.

    Where there is a judge, votes and ranking are those after it, and ``judged`` is what it said.
    """

    question: Question
    lists: Mapping[ListKey, Ranked]
    family: Family
    votes: Votes
    ranking: Ranking
    scoring: Scoring
    judged: Judged | None = None


def find(
    view: View, question: Question, where: Where | None, need: int, scoring: Scoring | None = None
) -> Found:
    """Rank the parents for a question.

    Args:
        view: The state to search.
        question: With a vector, terms, or both.
        where: Only parents it holds for.
        need: Parents that are wanted; so many are ranked if so many match.
        scoring: What each list counts; all alike where not given.
    """
    scoring = scoring or Scoring()
    lists = {key: ranked for level in LEVELS for key, ranked in _lists(view, question, level, LIST, where)}
    tail = np.zeros(0, np.int64)
    family, votes = _votes(view, lists, tail, where, scoring)
    ranking = _ranking(family, votes)
    if int((ranking.score > 0).sum()) < need:
        # beyond the lists, parents follow in the order of one longer list
        longer = [ranked.rows for _, ranked in _lists(view, question, "parent", need, where)]
        if longer:
            tail = np.array(list(dict.fromkeys(np.concatenate(longer).tolist())), np.int64)
            family, votes = _votes(view, lists, tail, where, scoring)
            ranking = _ranking(family, votes, tail)
    if question.judge is None:
        return Found(question, lists, family, votes, ranking, scoring)
    votes, judged = _judged(view, question.judge, family, votes)
    ranking = _ranking(family, votes, tail, judged.places(len(family.child)))
    return Found(question, lists, family, votes, ranking, scoring, judged)


def _lists(
    view: View, question: Question, level: Level, n: int, where: Where | None
) -> list[tuple[ListKey, Ranked]]:
    found = []
    if question.vector is not None:
        vector = question.vector
        found.append(_list(ListKey(level, "dense"), lambda: view.nearest(level, vector, n, where)))
    if question.terms:
        found.append(_list(ListKey(level, "lexical"), lambda: view.match(level, question.terms, n, where)))
    return found


def _list(key: ListKey, ask: Callable[[], Ranked]) -> tuple[ListKey, Ranked]:
    with span(f"nestling.list {key.level} {key.channel}", level=key.level, channel=key.channel) as told:
        ranked = ask()
        if told:
            top = float(ranked.scores[0]) if len(ranked.scores) else None
            told.set(**{COUNTS[key.level]: len(ranked.rows)}, top_score=top)
    return key, ranked


def _votes(
    view: View, lists: Mapping[ListKey, Ranked], more: Rows, where: Where | None, scoring: Scoring
) -> tuple[Family, Votes]:
    rows = {level: [ranked.rows for key, ranked in lists.items() if key.level == level] for level in LEVELS}
    rows["parent"].append(more)
    touched = {level: np.concatenate(found) if found else more[:0] for level, found in rows.items()}
    with span("nestling.fuse", list_count=len(lists)) as told:
        family = view.family(touched["child"], touched["parent"], touched["document"], where)
        members: dict[Level, Rows] = {
            "child": family.child,
            "parent": family.parent,
            "document": family.document,
        }
        votes = fuse(lists, members, scoring)
        if told:
            top = float(votes.score.max()) if len(votes.score) else None
            told.set(chunk_count=len(family.child), top_score=top)
    return family, votes


def _judged(view: View, judge: Judge, family: Family, votes: Votes) -> tuple[Votes, Judged]:
    """The votes after the best children were judged by their texts; only their parents are read."""
    with span("nestling.rerank", {"gen_ai.request.model": judge.name}) as told:
        chosen = candidates(votes)
        parents = view.parents(np.unique(family.parent[chosen]).tolist())
        votes, judged = rerank(votes, chosen, judge(texts(family, chosen, parents)))
        if told:
            told.set(chunk_count=len(chosen), top_score=float(judged.score[0]) if len(chosen) else None)
    return votes, judged


def _ranking(family: Family, votes: Votes, tail: Rows | None = None, places: Rows | None = None) -> Ranking:
    with span("nestling.collapse", chunk_count=len(family.child)) as told:
        ranking = collapse(family.parent, votes, tail, places)
        if told:
            top = float(ranking.score[0]) if len(ranking.score) else None
            told.set(parent_count=len(ranking.parent), top_score=top)
    return ranking
