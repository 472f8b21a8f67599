"""What tuning measures of one question: the evidence in its contexts, or the rank of its documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from nestling.measure.bootstrap import Values
from nestling.measure.candidates import Candidate
from nestling.measure.evidence import merged, shares
from nestling.measure.gold import Gold
from nestling.measure.golden import GoldenQuestion
from nestling.measure.state import Outcome
from nestling.results import Results
from nestling.settings import Shape
from nestling.types import Context

# nDCG is taken over this many documents, told from the passages that are asked for.
DEPTH, PASSAGES = 10, 50
# Where nothing is packed, what a reader is given is this many passages.
READ = 5


class Askable(Protocol):
    """The methods of `nestling.Nest` that a trial calls; they mean the same here."""

    def search(self, query: str, k: int = ..., *, where: Mapping[str, Any] | None = None) -> Results:
        """The ``k`` best passages."""
        ...

    def context(
        self,
        query: str,
        budget: int = ...,
        *,
        shape: Shape = ...,
        window: int = ...,
        where: Mapping[str, Any] | None = None,
    ) -> Context:
        """The passages, packed into a token budget."""
        ...


class Asked(NamedTuple):
    """A question with its gold, which has spans or documents."""

    question: GoldenQuestion
    gold: Gold


def outcome(
    askable: Askable, asked: Asked, candidate: Candidate, budgets: Sequence[int], count: Callable[[str], int]
) -> Outcome:
    """What one question scores: evidence recall, mean over the budgets, where it has spans, else nDCG@10."""
    question, gold = asked
    if not gold.spans:
        passages = askable.search(question.question, PASSAGES, where=question.where)
        ranked = list(dict.fromkeys(passage.document_id for passage in passages))
        tokens = sum(count(passage.text) for passage in passages[:READ])
        return Outcome(ndcg(ranked, gold), float(tokens))
    recalls, tokens = [], 0
    for budget in budgets:
        packed = askable.context(
            question.question, budget, shape=candidate.shape, window=candidate.window, where=question.where
        )
        recalls.append(shares(gold.spans, merged(packed.pieces)).recall)
        tokens += packed.tokens
    return Outcome(float(np.mean(recalls)), tokens / len(budgets))


def ndcg(ranked: Sequence[str], gold: Gold, depth: int = DEPTH) -> float:
    """Judge ranked documents by nDCG, as trec_eval has it; where any one suffices, by the first that does."""
    grades, any_one = gold.document.all_of, False
    if grades is None:
        grades, any_one = gold.document.any_of or {}, True
    gains = [max(0, grades.get(id, 0)) for id in ranked[:depth]]
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:depth]
    if any_one:
        first = next((place for place, gain in enumerate(gains) if gain), None)
        return 0.0 if first is None else 1 / math.log2(first + 2)
    best = _discounted(ideal)
    return _discounted(gains) / best if best else 0.0


def scores(outcomes: Iterable[Outcome]) -> Values:
    """Their scores as an array."""
    return np.array([outcome.score for outcome in outcomes], np.float64)


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))
