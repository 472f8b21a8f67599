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
    given = _weights({key: getattr(scoring, key.channel) * getattr(scoring, key.level) for key in lists})
    sharp = {key: given[key] * _sharpness(ranked, rows[key.level]) for key, ranked in lists.items()}
    weights = _shares(sharp if any(sharp.values()) else given)
    channels = _shares(_weights({k: getattr(scoring, k.channel) for k in lists if k.level == "child"}))
    for key, ranked in lists.items():
        vote, present = _votes(ranked, rows[key.level])
        score += weights[key] * vote
        if key.level == "child":
            own += channels[key] * vote
            listed |= present
    return Votes(score, own, listed, weights)


def _weights(given: dict[ListKey, float]) -> dict[ListKey, float]:
    return given if any(given.values()) else dict.fromkeys(given, 1.0)


def _shares(weights: dict[ListKey, float]) -> dict[ListKey, float]:
    return {key: weight / sum(weights.values()) for key, weight in weights.items()}


def _sharpness(ranked: Ranked, members: Rows) -> float:
    """One minus the mean vote over the places of a list, those that no row took included."""
    there = 1 + int(np.count_nonzero(np.diff(members))) if len(members) else 0
    places = max(len(ranked.rows), min(LIST, there))
    return 1 - float(scaled(ranked.scores).sum()) / places if places else 0.0


def _votes(ranked: Ranked, members: Rows) -> tuple[Scores, NDArray[np.bool_]]:
    if not len(ranked.rows):
        return np.zeros(len(members)), np.zeros(len(members), bool)
    order = np.argsort(ranked.rows)
    known = ranked.rows[order]
    at = np.minimum(np.searchsorted(known, members), len(known) - 1)
    present = known[at] == members
    return np.where(present, scaled(ranked.scores)[order][at], 0.0), present


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
