"""Ranked parents as passages, with their evidence and the votes that explain them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nestling.results import Explanation, Reranked, Results, Vote
from nestling.retrieve.cite import marker
from nestling.retrieve.collapse import evidence
from nestling.retrieve.find import Found, Question, find
from nestling.retrieve.fuse import LIST, scaled
from nestling.retrieve.gate import Gate, Passed, abstention, passing, settled
from nestling.settings import Scoring
from nestling.types import Channel, Evidence, Passage
from nestling.view import StoredParent, View
from nestling.where import Where

# Refused candidates that are explained by name.
MOST_DROPPED = 50


def search(
    view: View,
    question: Question,
    where: Where | None,
    k: int,
    offset: int,
    gate: Gate,
    scoring: Scoring | None = None,
) -> Results:
    """The passages ``offset`` to ``offset + k`` of those that pass the gate."""
    need = offset + k
    found = find(view, question, where, need, scoring)
    passed = passing(view, found, gate, offset, k)
    while len(passed.places) < k and not gate.open and not settled(found, gate):
        ranked, need = len(found.ranking.parent), max(4 * need, 4 * LIST)
        found = find(view, question, where, need, scoring)
        passed = passing(view, found, gate, offset, k)
        if len(found.ranking.parent) == ranked:
            break
    ranking = found.ranking
    named = [place for place, _, _ in passed.places] + list(passed.refused)[:MOST_DROPPED]
    stored = view.parents([int(ranking.parent[place]) for place in named])
    passages = [
        passage(found, stored[int(ranking.parent[place])], place, similarity, coverage)
        for place, similarity, coverage in passed.places
    ]
    abstained = abstention(gate, passed, len(ranking.parent))
    notes = question.notes
    if gate.min_similarity is not None and question.vector is None:
        notes += ("min_similarity was not asked, since dense did not vote",)
    if abstained:
        notes += (f"abstained: {abstained}",)
    return Results(passages, _explain(found, stored, passed, notes), abstained)


def passage(
    found: Found, stored: StoredParent, place: int, similarity: float | None, coverage: float
) -> Passage:
    """One ranked parent as a passage."""
    ranking, family = found.ranking, found.family
    spans = tuple(
        Evidence(
            int(family.start[i]) - stored.start,
            int(family.stop[i]) - stored.start,
            int(family.start[i]),
            int(family.stop[i]),
            round(float(found.votes.score[i]), 6),
        )
        for i in evidence(found.votes, int(ranking.first[place]), int(ranking.last[place]))
    )
    return Passage(
        id=stored.id,
        document_id=stored.document_id,
        title=stored.title,
        heading=stored.heading,
        text=stored.text,
        start=stored.start,
        end=stored.end,
        score=round(float(ranking.score[place]), 6),
        similarity=similarity,
        coverage=coverage,
        hits=int(ranking.hits[place]),
        evidence=spans,
        metadata=stored.metadata,
        source=stored.source,
        cite=marker(stored.id),
    )


def _explain(
    found: Found, stored: dict[int, StoredParent], passed: Passed, notes: tuple[str, ...]
) -> Explanation:
    question, ranking = found.question, found.ranking
    shown = [place for place, _, _ in passed.places]
    channels: tuple[Channel, ...] = tuple(dict.fromkeys(key.channel for key in found.lists))
    return Explanation(
        query=question.text,
        language=question.language,
        terms=tuple("/".join(forms) for forms in question.terms),
        channels=channels,
        notes=notes,
        votes=dict(
            zip((stored[int(ranking.parent[place])].id for place in shown), _votes(found, shown), strict=True)
        ),
        dropped={
            stored[int(ranking.parent[place])].id: reason
            for place, reason in list(passed.refused.items())[:MOST_DROPPED]
        },
        reranked={
            stored[int(ranking.parent[place])].id: said
            for place in shown
            if (said := _reranked(found, place)) is not None
        },
    )


def _reranked(found: Found, place: int) -> Reranked | None:
    """What was said of the best child of this place of the ranking; None where none of its children was judged."""
    judged, ranking = found.judged, found.ranking
    if judged is None:
        return None
    best = judged.best(int(ranking.first[place]), int(ranking.last[place]))
    if best is None:
        return None
    return Reranked(round(float(judged.score[best]), 6), best + 1, int(judged.before[best]) + 1)


def _best(found: Found, place: int) -> int:
    """The best child of this place of the ranking, as an index into the family; where scores tie, the judge's."""
    first, last = int(found.ranking.first[place]), int(found.ranking.last[place])
    judged = None if found.judged is None else found.judged.best(first, last)
    if found.judged is not None and judged is not None:
        return int(found.judged.child[judged])
    return first + int(np.argmax(found.votes.score[first:last]))


def _votes(found: Found, places: Sequence[int]) -> list[tuple[Vote, ...]]:
    """The votes of the best child of each of these places of the ranking."""
    family = found.family
    best = np.array([_best(found, place) for place in places], np.intp)
    rows = {"child": family.child[best], "parent": family.parent[best], "document": family.document[best]}
    votes: list[list[Vote]] = [[] for _ in places]
    for key, ranked in found.lists.items():
        share, weight = scaled(ranked.scores), round(found.votes.weights[key], 6)
        for i, n in np.argwhere(ranked.rows[:, None] == rows[key.level]).tolist():
            vote, score = round(float(share[i]), 6), float(ranked.scores[i])
            votes[n].append(Vote(key.level, key.channel, i + 1, score, vote, weight))
    return [tuple(each) for each in votes]
