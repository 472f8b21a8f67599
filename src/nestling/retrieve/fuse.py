"""Every level votes: six ranked lists to one score per child, then one per parent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestling.types import Channel, Level
from nestling.view import Ranked, Rows, Scores

# The length of each list. Lists of 100 to 400 rank alike.
LIST = 200
# What a child lends of its score to its neighbours when packing: text beside evidence is often evidence.
LENT = 0.85


class ListKey(NamedTuple):
    """Which of the six lists."""

    level: Level
    channel: Channel


@dataclass(frozen=True, slots=True)
class Votes:
    """What each child of a family gets: arrays of the family's length.

    Attributes:
        score: 0 to 1: the sum of all votes over the number of lists.
        own: 0 to 1: the votes of the child level alone.
        listed: Whether the child is in a list of the child level.
    """

    score: Scores
    own: Scores
    listed: NDArray[np.bool_]


def scaled(scores: Scores) -> Scores:
    """Scores brought to 0..1 by their own minimum and maximum; all 1 where they are all equal."""
    if not len(scores):
        return scores
    low, high = scores.min(), scores.max()
    if high <= low:
        return np.ones(len(scores))
    return np.asarray((scores - low) / (high - low), np.float64)


def fuse(lists: Mapping[ListKey, Ranked], rows: Mapping[Level, Rows]) -> Votes:
    """Give every child the scaled scores of itself, its parent and its document, over all channels.

    Args:
        lists: The lists of the channels that vote.
        rows: For each level, the row number that each child of the family belongs to; equal lengths.

    Returns:
        The votes, in the family's order; a row that is in no list gets 0 from it.
    """
    n = len(rows["child"])
    score, own, listed = np.zeros(n), np.zeros(n), np.zeros(n, bool)
    for key, ranked in lists.items():
        vote, present = _votes(ranked, rows[key.level])
        score += vote
        if key.level == "child":
            own += vote
            listed |= present
    channels = len({key.channel for key in lists})
    return Votes(score / max(len(lists), 1), own / max(channels, 1), listed)


def _votes(ranked: Ranked, members: Rows) -> tuple[Scores, NDArray[np.bool_]]:
    if not len(ranked.rows):
        return np.zeros(len(members)), np.zeros(len(members), bool)
    order = np.argsort(ranked.rows)
    known = ranked.rows[order]
    at = np.minimum(np.searchsorted(known, members), len(known) - 1)
    present = known[at] == members
    return np.where(present, scaled(ranked.scores)[order][at], 0.0), present


def lend(score: Scores, document: Rows, share: float = LENT) -> Scores:
    """Each child's score, or ``share`` of a neighbour's in the same document, whichever is highest."""
    lent = score.copy()
    if len(score) > 1:
        together = document[1:] == document[:-1]
        np.maximum(lent[1:], np.where(together, share * score[:-1], 0), out=lent[1:])
        np.maximum(lent[:-1], np.where(together, share * score[1:], 0), out=lent[:-1])
    return lent
