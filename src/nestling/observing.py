"""What a nest tells of itself while it works: log events, and the spans of whole operations (docs/observing.md)."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from nestling.answers import Answer, Verification
from nestling.results import Report, Results
from nestling.tracing import Span, captures_text, span, trace_ids
from nestling.types import Context, Passage

LOGGER = logging.getLogger("nestling")
LOGGER.addHandler(logging.NullHandler())


def event(name: str, level: int = logging.INFO, /, **fields: Any) -> None:
    """Log an event; a handler finds its name in ``record.event`` and JSON values in ``record.fields``."""
    if LOGGER.isEnabledFor(level):
        told = {key: value for key, value in fields.items() if value is not None}
        text = " ".join((name, *(f"{key}={value!r}" for key, value in told.items())))
        LOGGER.log(level, "%s", text, extra={"event": name, "fields": {**told, **trace_ids()}})


def removed(nest: str, ids: Iterable[str]) -> None:
    """Log documents that were removed."""
    if LOGGER.isEnabledFor(logging.INFO):
        for id in ids:
            event("removed", nest=nest, document=id)


def best_of(passages: Sequence[Passage]) -> dict[str, int | str | float]:
    """How many passages are shown, and the id and score of the best one, as spans and events call them."""
    if not passages:
        return {"parent_count": 0}
    best = max(passages, key=lambda passage: passage.score)
    return {"parent_count": len(passages), "parent_id": best.id, "top_score": best.score}


def held(verification: Verification) -> dict[str, int]:
    """How much of a text was held to passages, and how much of it does not hold."""
    return {
        "citation_count": len(verification.citations),
        "claim_count": len(verification.claims),
        "problem_count": len(verification.problems),
    }


@contextmanager
def verifying() -> Iterator[Callable[[Verification], Verification]]:
    """Let a block be the span of a verification, which is told by calling what is given, and handed on."""
    with span("nestling.verify") as told:

        def hand_on(found: Verification) -> Verification:
            told.set(**held(found))
            return found

        yield hand_on


@contextmanager
def answering(nest: str, question: str) -> Iterator[Retrieval]:
    """Let a block be the span of a question that is answered in words."""
    with span("nestling.ask", nest=nest) as told:
        yield Retrieval(told, nest, "ask", question)


@contextmanager
def changing(name: str, nest: str, report: Report) -> Iterator[None]:
    """Let a block be a span that tells, however it ends, what a report says was done."""
    with span(name, nest=nest) as told:
        try:
            yield
        finally:
            told.set(
                added_count=len(report.added),
                updated_count=len(report.updated),
                unchanged_count=len(report.unchanged),
                failed_count=len(report.failed),
                removed_count=len(report.removed),
                renamed_count=len(report.renamed),
                embedded_count=report.embedded,
                reused_count=report.reused,
            )


@dataclass
class Retrieval:
    """A question being answered.

    Attributes:
        span: Of all of it.
        nest: Where.
        method: Of the nest.
        query: As asked.
        began: When, on the monotonic clock.
    """

    span: Span
    nest: str
    method: str
    query: str
    began: float = field(default_factory=time.monotonic)

    def found(self, results: Results) -> Results:
        """Tell what a search found, and hand it on."""
        self._tell("searched", list(results), results.abstained)
        return results

    def packed(self, context: Context) -> Context:
        """Tell what a context shows, and hand it on."""
        self._tell(
            "packed", context.passages, context.abstained, tokens=context.tokens, budget=context.budget
        )
        return context

    def answered(self, answer: Answer) -> Answer:
        """Tell how a question was answered, and hand the answer on."""
        told = {"tier": answer.tier, "made": answer.made, **held(answer.verification)}
        self.span.set(**told, **best_of(answer.context.passages))
        self._log("answered", answer.context.passages, answer.abstained, **told)
        return answer

    def _tell(self, name: str, passages: Sequence[Passage], abstained: str | None, **fields: Any) -> None:
        if self.span:
            documents = json.dumps([{"id": passage.id, "score": passage.score} for passage in passages])
            conventional = {"gen_ai.retrieval.documents": documents}
            self.span.set(conventional, abstained=abstained is not None, **best_of(passages))
        self._log(name, passages, abstained, **fields)

    def _log(self, name: str, passages: Sequence[Passage], abstained: str | None, **fields: Any) -> None:
        if LOGGER.isEnabledFor(logging.INFO):
            ms = round(1000 * (time.monotonic() - self.began), 2)
            query = self.query if captures_text() else None
            event(
                name, nest=self.nest, ms=ms, **best_of(passages), abstained=abstained, query=query, **fields
            )


@contextmanager
def retrieval(
    method: str, nest: str, source: str | None, query: str, k: int | None = None
) -> Iterator[Retrieval]:
    """Let a block be the span of one retrieval, named and described as OpenTelemetry has it.

    Args:
        method: Of the nest.
        nest: Its path.
        source: Its own id.
        query: As asked; it is told only where text is asked for.
        k: How many passages are wanted.
    """
    conventional: dict[str, str | int] = {"gen_ai.operation.name": "retrieval"}
    if source:
        conventional["gen_ai.data_source.id"] = source
    if k is not None:
        conventional["gen_ai.retrieval.top_k"] = k
    with span("retrieval", conventional, method=method, nest=nest) as told:
        if told and captures_text():
            told.set({"gen_ai.retrieval.query.text": query})
        yield Retrieval(told, nest, method, query)
