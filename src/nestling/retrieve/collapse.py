"""Children to parents: a parent's score is its best child's, so that weak extra matches never lower it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nestling.retrieve.fuse import Votes
from nestling.view import Rows, Scores


@dataclass(frozen=True, slots=True)
class Ranking:
    """Parents, best first; ties in the family's order (document id, then position). Arrays of one length.

    Attributes:
        parent: Row numbers.
        score: 0 to 1.
        hits: How many children are in the lists of matching children.
        first: Index in the family of the parent's first child.
        last: Index after its last child.
    """

    parent: Rows
    score: Scores
    hits: Rows
    first: Rows
    last: Rows


def collapse(parent: Rows, votes: Votes, tail: Rows | None = None, places: Rows | None = None) -> Ranking:
    """Rank the parents of a family by their best child.

    Args:
        parent: The parent's row number of each child; children of one parent stand together.
        votes: Of each child.
        tail: Parents in the order in which those without any vote follow; the others come last.
        places: Of each child; parents of one score follow in the order of their best child's.
    """
    if not len(parent):
        nothing = np.zeros(0, np.int64)
        return Ranking(nothing, np.zeros(0), nothing, nothing, nothing)
    first = np.concatenate(([0], np.flatnonzero(parent[1:] != parent[:-1]) + 1))
    last = np.concatenate((first[1:], [len(parent)]))
    score = np.maximum.reduceat(votes.score, first)
    hits = np.add.reduceat(votes.listed.astype(np.int64), first)
    later = np.full(len(first), len(parent))
    if tail is not None and len(tail):
        by_row = np.argsort(tail)
        at = np.minimum(np.searchsorted(tail[by_row], parent[first]), len(tail) - 1)
        later = np.where(tail[by_row][at] == parent[first], by_row[at], later + len(tail))
    equals = 0 if places is None else np.minimum.reduceat(places, first)
    order = np.lexsort((np.where(score > 0, equals, later), -score))
    return Ranking(parent[first][order], score[order], hits[order], first[order], last[order])


def evidence(votes: Votes, first: int, last: int) -> list[int]:
    """The children of a parent that earned its score, as indices into the family, in text order.

    Those whose own votes are at least half of the best one's; where none has any, the best child.
    """
    own = votes.own[first:last]
    peak = own.max()
    if peak <= 0:
        return [first + int(np.argmax(votes.score[first:last]))]
    return [first + int(i) for i in np.flatnonzero(own >= peak / 2)]
