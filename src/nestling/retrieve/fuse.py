"""Every level votes: six ranked lists to one score per child, then one per parent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestling.settings import LENT, Scoring
from nestling.types import Channel, Level
from nestling.view import Family, Ranked, Rows, Scores

# The length of each list. Lists of 100 to 400 rank alike.
LIST = 200


class ListKey(NamedTuple):
    """Which of the six lists."""

    level: Level
    channel: Channel


@dataclass(frozen=True, slots=True)
class Votes:
    """What each child of a family gets: arrays of the family's length.

    Attributes:
        score: 0 to 1: the weighed sum of all votes over the lists' weights.
        own: 0 to 1: the votes of the child level alone, weighed by channel.
        listed: Whether the child is in a list of the child level.
        weights: What each list counted; together 1.
    """

    score: Scores
    own: Scores
    listed: NDArray[np.bool_]
    weights: Mapping[ListKey, float]


def scaled(scores: Scores) -> Scores:
    """Scores brought to 0..1 by their own minimum and maximum; all 1 where they are all equal."""
    if not len(scores):
        return scores
    low, high = scores.min(), scores.max()
    if high <= low:
        return np.ones(len(scores))
    return np.asarray((scores - low) / (high - low), np.float64)


def fuse(
    lists: Mapping[ListKey, Ranked], rows: Mapping[Level, Rows], scoring: Scoring | None = None
) -> Votes:
    """Give every child the scaled scores of itself, its parent and its document, over all channels.

    A list whose scores stand close together tells rows less well apart than one with few that stand out, so
    a list counts less by the share of its votes that all rows get: its weight is what ``scoring`` says times
    one minus its mean vote. (How scores spread is known to tell how well a list answers its query: Shtok et
    al., "Predicting Query Performance by Query-Drift Estimation", 2012.)

    Args:
        lists: The lists of the channels that vote.
        rows: For each level, the row number that each child of the family belongs to; equal lengths.
        scoring: What each list counts; all alike where not given.

    Returns:
        The votes, in the family's order; a row that is in no list gets 0 from it.
    """
    scoring, n = scoring or Scoring(), len(rows["child"])
    score, own, listed = np.zeros(n), np.zeros(n), np.zeros(n, bool)
    members = {level: Members.of(rows[level]) for level in {key.level for key in lists}}
    given = _weights({key: getattr(scoring, key.channel) * getattr(scoring, key.level) for key in lists})
    sharp = {key: given[key] * _sharpness(ranked, members[key.level]) for key, ranked in lists.items()}
    weights = _shares(sharp if any(sharp.values()) else given)
    channels = _shares(_weights({k: getattr(scoring, k.channel) for k in lists if k.level == "child"}))
    for key, ranked in lists.items():
        vote, present = members[key.level].votes(ranked)
        score += weights[key] * vote
        if key.level == "child":
            own += channels[key] * vote
            listed |= present
    return Votes(score, own, listed, weights)


def _weights(given: dict[ListKey, float]) -> dict[ListKey, float]:
    return given if any(given.values()) else dict.fromkeys(given, 1.0)


def _shares(weights: dict[ListKey, float]) -> dict[ListKey, float]:
    return {key: weight / sum(weights.values()) for key, weight in weights.items()}


def _sharpness(ranked: Ranked, members: Members) -> float:
    """One minus the mean vote over the places of a list, those that no row took included."""
    places = max(len(ranked.rows), min(LIST, len(members.rows)))
    return 1 - float(scaled(ranked.scores).sum()) / places if places else 0.0


@dataclass(frozen=True, slots=True)
class Members:
    """The rows of a level that the children of a family belong to.

    Attributes:
        rows: Row numbers, ascending.
        order: Which run of children belongs to each.
        lengths: Of each run.
    """

    rows: Rows
    order: NDArray[np.intp]
    lengths: NDArray[np.intp]

    @classmethod
    def of(cls, rows: Rows) -> Members:
        """``rows`` has the row number of each child; those of one row stand together."""
        first = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1]))) if len(rows) else rows
        own = rows[first]
        order = np.argsort(own, kind="stable")
        return cls(own[order], order, np.diff(first, append=len(rows)))

    def votes(self, ranked: Ranked) -> tuple[Scores, NDArray[np.bool_]]:
        """What each child gets from a list of this level, and whether it is in it."""
        votes, present = np.zeros(len(self.rows)), np.zeros(len(self.rows), bool)
        if len(self.rows):
            at = np.minimum(np.searchsorted(self.rows, ranked.rows), len(self.rows) - 1)
            known = self.rows[at] == ranked.rows
            run = self.order[at[known]]
            votes[run], present[run] = scaled(ranked.scores)[known], True
        return votes.repeat(self.lengths), present.repeat(self.lengths)


def lend(family: Family, score: Scores, share: float = LENT) -> Scores:
    """Each child's score plus ``share`` of the mean of its neighbours' in the text; its own where it has none."""
    if len(score) < 2:
        return score * (1 + share)
    together = adjacent(family.document, family.start, family.stop)
    around, count = np.zeros(len(score)), np.zeros(len(score))
    around[1:] += np.where(together, score[:-1], 0)
    around[:-1] += np.where(together, score[1:], 0)
    count[1:] += together
    count[:-1] += together
    mean = np.where(count > 0, around / np.maximum(count, 1), score)
    lent: Scores = score + share * mean
    return lent


def adjacent(document: Rows, start: Rows, stop: Rows) -> NDArray[np.bool_]:
    """For each child but the first, whether the one before it touches it in the text of their document."""
    return np.asarray((document[1:] == document[:-1]) & (start[1:] <= stop[:-1]))
