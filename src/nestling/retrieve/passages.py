"""Ranked parents as passages, with their evidence and the votes that explain them."""

from __future__ import annotations

import numpy as np

from nestling.results import Explanation, Results, Vote
from nestling.retrieve.cite import marker
from nestling.retrieve.collapse import evidence
from nestling.retrieve.find import Found
from nestling.retrieve.fuse import scaled
from nestling.retrieve.gate import Gate, Passed, abstention, passing
from nestling.types import Channel, Evidence, Passage
from nestling.view import StoredParent, View

# Refused candidates that are explained by name.
MOST_DROPPED = 50


def search(view: View, found: Found, k: int, offset: int, gate: Gate) -> Results:
    """The passages ``offset`` to ``offset + k`` of those that pass the gate."""
    passed = passing(view, found, gate, offset, k)
    ranking = found.ranking
    named = [place for place, _, _ in passed.places] + list(passed.refused)[:MOST_DROPPED]
    stored = view.parents([int(ranking.parent[place]) for place in named])
    passages = [
        passage(found, stored[int(ranking.parent[place])], place, similarity, coverage)
        for place, similarity, coverage in passed.places
    ]
    abstained = abstention(gate, passed, len(ranking.parent))
    return Results(passages, _explain(found, stored, passed, abstained), abstained)


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
    found: Found, stored: dict[int, StoredParent], passed: Passed, abstained: str | None
) -> Explanation:
    question, ranking = found.question, found.ranking
    channels: tuple[Channel, ...] = tuple(dict.fromkeys(key.channel for key in found.lists))
    return Explanation(
        query=question.text,
        language=question.language,
        terms=tuple("/".join(forms) for forms in question.terms),
        channels=channels,
        notes=question.notes + ((abstained,) if abstained else ()),
        votes={stored[int(ranking.parent[place])].id: _votes(found, place) for place, _, _ in passed.places},
        dropped={
            stored[int(ranking.parent[place])].id: reason
            for place, reason in list(passed.refused.items())[:MOST_DROPPED]
        },
    )


def _votes(found: Found, place: int) -> tuple[Vote, ...]:
    ranking, family = found.ranking, found.family
    first, last = int(ranking.first[place]), int(ranking.last[place])
    best = first + int(np.argmax(found.votes.score[first:last]))
    rows = {"child": family.child[best], "parent": family.parent[best], "document": family.document[best]}
    votes = []
    for key, ranked in found.lists.items():
        at = np.flatnonzero(ranked.rows == rows[key.level])
        if len(at):
            i = int(at[0])
            vote = round(float(scaled(ranked.scores)[i]), 6)
            votes.append(Vote(key.level, key.channel, i + 1, float(ranked.scores[i]), vote))
    return tuple(votes)
