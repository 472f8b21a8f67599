"""The best children judged by a reranker: their own fused scores, handed out again in its order.

So the scale of scores, what was not judged, and the signals that a gate acts on stay as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nestling.retrieve.fuse import Votes
from nestling.view import Family, Rows, Scores, StoredParent

# How many children are judged: a reranker's time grows with it, and they lie under more parents than a search or a
# context usually shows.
CANDIDATES = 64


@dataclass(frozen=True, slots=True)
class Judge:
    """What scores texts for one question, and no text twice.

    Attributes:
        name: Of the reranker.
        ask: Gives one finite score for each text; higher is better.
        known: The scores by now.
    """

    name: str
    ask: Callable[[Sequence[str]], Sequence[float]]
    known: dict[str, float] = field(default_factory=dict)

    def __call__(self, texts: Sequence[str]) -> Scores:
        """The score of each text, in order."""
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            self.known.update(zip(new, self.ask(new), strict=True))
        return np.array([self.known[text] for text in texts], np.float64)


@dataclass(frozen=True, slots=True)
class Judged:
    """The children that were judged, best first. Arrays of one length.

    Attributes:
        child: Indices into the family.
        score: The judge's.
        before: The place, from 0, that each had among them by its fused score.
    """

    child: Rows
    score: Scores
    before: Rows

    def places(self, count: int) -> Rows:
        """The place, from 0, of each of ``count`` children of the family; those not judged share the one after."""
        places = np.full(count, len(self.child))
        places[self.child] = np.arange(len(self.child))
        return places

    def best(self, first: int, last: int) -> int | None:
        """The place, from 0, of the best of the children ``first`` to before ``last``; None: none was judged."""
        places = np.flatnonzero((self.child >= first) & (self.child < last))
        return int(places[0]) if len(places) else None


def candidates(votes: Votes) -> Rows:
    """The children to judge: those with the best scores above 0, best first, as indices into the family."""
    best = np.argsort(-votes.score, kind="stable")[:CANDIDATES]
    return np.asarray(best[votes.score[best] > 0], np.int64)


def texts(family: Family, chosen: Rows, parents: Mapping[int, StoredParent]) -> list[str]:
    """What is judged of each chosen child: its text, below a line of the title and the headings it stands under."""
    return [
        _text(parents[int(family.parent[i])], int(family.start[i]), int(family.stop[i]))
        for i in chosen.tolist()
    ]


def _text(parent: StoredParent, start: int, stop: int) -> str:
    names = parent.heading[1:] if parent.heading[:1] == (parent.title,) else parent.heading
    line = " › ".join(filter(None, (parent.title, *names)))
    text = parent.text[start - parent.start : stop - parent.start]
    return f"{line}\n{text}" if line else text


def rerank(votes: Votes, chosen: Rows, scores: Scores) -> tuple[Votes, Judged]:
    """Hand the chosen children's scores, and their own votes, out again: the highest to the one judged best.

    Args:
        votes: Of each child of the family.
        chosen: Indices into the family, by fused score, best first.
        scores: The judge's, of each chosen child; equal ones keep their order.
    """
    order = np.argsort(-scores, kind="stable")
    child = chosen[order]
    score, own = votes.score.copy(), votes.own.copy()
    score[child] = votes.score[chosen]
    own[child] = -np.sort(-votes.own[chosen])
    return replace(votes, score=score, own=own), Judged(child, scores[order], np.asarray(order, np.int64))
