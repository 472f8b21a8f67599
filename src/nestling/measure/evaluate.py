"""Ask a nest golden questions: search and pack for each, then hold what came to the gold."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import nestling
from nestling.errors import DocumentError
from nestling.measure.evaluation import Answer, Evaluation, FoundPassage, Skipped
from nestling.measure.evidence import merged, shares
from nestling.measure.gold import Gold, settle
from nestling.measure.golden import Golden, GoldenQuestion
from nestling.measure.intervals import summary
from nestling.measure.metrics import Judged, calculator, ranking_figures
from nestling.measure.read import golden_of
from nestling.measure.subject import Subject
from nestling.ranges import wholes
from nestling.settings import BUDGETS, CUTOFFS
from nestling.where import parse

# Passages in a ranking, at least: enough for ten documents of ten passages each.
DEPTH = 100
# Of what was found, this much is kept for each question.
KEPT, KEPT_CHARACTERS = 5, 80


@dataclass(frozen=True, slots=True)
class Settings:
    """How questions are asked; numbers as in `Nest.evaluate`."""

    golden: str
    k: tuple[int, ...]
    budgets: tuple[int, ...]
    where: Mapping[str, Any] | None
    min_similarity: float | None
    min_coverage: float | None

    @property
    def depth(self) -> int:
        """Passages in a ranking."""
        return max(DEPTH, *self.k, 0)

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "golden": self.golden,
            "k": list(self.k),
            "budgets": list(self.budgets),
            "where": self.where,
            "min_similarity": self.min_similarity,
            "min_coverage": self.min_coverage,
            "depth": self.depth,
        }


def evaluate(
    subject: Subject,
    golden: Golden | str | PathLike[str],
    k: Sequence[int] = CUTOFFS,
    budgets: Sequence[int] = BUDGETS,
    where: Mapping[str, Any] | None = None,
    min_similarity: float | None = None,
    min_coverage: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    nest: str = "",
) -> Evaluation:
    """Measure a nest on golden questions; `Nest.evaluate` says what is what.

    Args:
        subject: The nest.
        golden: The questions, or a path of them.
        k: Cut-offs of the ranking figures.
        budgets: Tokens of the contexts.
        where: A filter for every question, with its own.
        min_similarity: The gate.
        min_coverage: The gate.
        progress: Called after each question with how many are done, and of how many.
        nest: What the nest is called.
    """
    golden = golden_of(golden)
    calculator()
    parse(where)
    settings = Settings(
        golden.name,
        tuple(sorted(set(wholes("k", k, 1)))),
        tuple(sorted(set(wholes("budgets", budgets, 1)))),
        where,
        min_similarity,
        min_coverage,
    )
    counted = [question for question in golden.questions if question.lacks is None]
    skipped = tuple(Skipped(each.id, each.lacks) for each in golden.questions if each.lacks)
    if not counted:
        raise DocumentError(
            f"{golden.name or 'the golden questions'}: no question has gold;"
            " give them relevant, spans, must_cite_one_of or unanswerable"
        )
    golds = settle(counted, subject, golden.name)
    subject.search(counted[0].question, 1)  # the model is loaded before the clock starts
    asked = []
    for question, gold in zip(counted, golds, strict=True):
        asked.append(_ask(subject, question, gold, settings))
        if progress is not None:
            progress(len(asked), len(counted))
    answers = _judged(asked, golds, settings)
    stats = subject.stats()
    return Evaluation(
        nestling=nestling.__version__,
        nest=nest,
        recipe=stats["recipe"],
        embedder=stats["embedder"],
        settings={**settings.as_json(), "scoring": stats["scoring"]},
        skipped=skipped,
        questions=answers,
        summary=summary(answers),
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What came of a question, before the rankings are judged."""

    answer: Answer
    parents: list[str]
    documents: list[str]


def _ask(subject: Subject, question: GoldenQuestion, gold: Gold, settings: Settings) -> _Asked:
    gate = {"min_similarity": settings.min_similarity, "min_coverage": settings.min_coverage}
    where = _both(question.where, settings.where)
    started = time.perf_counter()
    subject.search(question.question, max((10, *settings.k)), where=where, **gate)
    seconds = time.perf_counter() - started
    passages = ungated = subject.search(question.question, settings.depth, where=where)
    if any(bound is not None for bound in gate.values()):
        passages = subject.search(question.question, settings.depth, where=where, **gate)
    figures, tokens = _evidence(subject, question.question, gold, settings.budgets, {"where": where, **gate})
    if question.unanswerable:
        figures["gate recall"] = float(not passages)
    if not passages:
        figures["gate precision"] = float(question.unanswerable)
    similarities = [passage.similarity for passage in ungated if passage.similarity is not None]
    answer = Answer(
        id=question.id,
        question=question.question,
        tags=question.tags,
        answerable=not question.unanswerable,
        figures=figures,
        similarity=round(max(similarities), 6) if similarities else None,
        coverage=round(max((passage.coverage for passage in ungated), default=0.0), 6),
        abstained=not passages,
        found=tuple(FoundPassage(p.id, p.title, p.text[:KEPT_CHARACTERS]) for p in passages[:KEPT]),
        seconds=round(seconds, 6),
        tokens=tokens,
    )
    ranked = [passage.id for passage in passages]
    return _Asked(answer, ranked, list(dict.fromkeys(passage.document_id for passage in passages)))


def _evidence(
    subject: Subject, question: str, gold: Gold, budgets: Sequence[int], options: Mapping[str, Any]
) -> tuple[dict[str, float], dict[str, int]]:
    """What of the gold text is in the context of each budget, and the tokens that took."""
    figures: dict[str, float] = {}
    tokens: dict[str, int] = {}
    for budget in budgets if gold.spans else ():
        packed = subject.context(question, budget, **options)
        tokens[str(budget)] = packed.tokens
        found = shares(gold.spans, merged(packed.pieces))
        figures[f"evidence recall@{budget}"] = round(found.recall, 6)
        figures[f"evidence precision@{budget}"] = round(found.precision, 6)
        figures[f"evidence IoU@{budget}"] = round(found.iou, 6)
    if tokens:
        recalls = [figures[f"evidence recall@{budget}"] for budget in budgets]
        figures["evidence recall"] = round(sum(recalls) / len(recalls), 6)
    return figures, tokens


def _judged(asked: Sequence[_Asked], golds: Sequence[Gold], settings: Settings) -> tuple[Answer, ...]:
    """The answers with the figures of their rankings in front."""
    pairs = list(zip(asked, golds, strict=True))
    documents = ranking_figures([Judged(a.documents, *gold.document) for a, gold in pairs], settings.k)
    parents = ranking_figures([Judged(a.parents, *gold.parent) for a, gold in pairs], settings.k)
    answers = []
    for each, of_documents, of_parents in zip(asked, documents, parents, strict=True):
        figures = {f"document/{name}": round(value, 6) for name, value in of_documents.items()}
        figures |= {f"parent/{name}": round(value, 6) for name, value in of_parents.items()}
        answers.append(replace(each.answer, figures={**figures, **each.answer.figures}))
    return tuple(answers)


def _both(own: Mapping[str, Any] | None, general: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return {"$and": [own, general]} if own and general else own or general
