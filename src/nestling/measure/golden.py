"""Golden questions: what is asked, and what would answer it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """A span of a document that answers a question, by its offsets, or by its words.

    Attributes:
        document: Id of the document. None only with a quote: the quote is looked for in the whole nest.
        start: Offset of its first character in the document, or None where it is given by its words.
        end: Offset after its last character, or None.
        quote: Its words. Where there are offsets, too, they must hold exactly these; else the quote is looked
            for, any run of white space in it standing for any other, and must be found exactly once.
    """

    document: str | None = None
    start: int | None = None
    end: int | None = None
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """One question, with any of four kinds of gold.

    Attributes:
        id: Unique among the questions.
        question: What is asked.
        relevant: Ids of documents or parents, each with a grade; those above 0 are relevant.
        spans: The text that answers it.
        must_cite_one_of: Ids of documents or parents, any one of which suffices.
        unanswerable: Whether the nest has no answer, so that finding nothing is right.
        where: A metadata filter to ask it with, or None.
        tags: What it is counted under as well.
        place: Where it was read, for messages (`line 3`).
    """

    id: str
    question: str
    relevant: Mapping[str, int] = field(default_factory=dict)
    spans: tuple[GoldSpan, ...] = ()
    must_cite_one_of: tuple[str, ...] = ()
    unanswerable: bool = False
    where: Mapping[str, Any] | None = None
    tags: tuple[str, ...] = ()
    place: str = ""

    @property
    def lacks(self) -> str | None:
        """What it lacks to be counted, or None."""
        if self.unanswerable or self.must_cite_one_of or self.spans:
            return None
        if not self.relevant:
            return "it has no gold; give it relevant, spans, must_cite_one_of or unanswerable"
        if not any(grade > 0 for grade in self.relevant.values()):
            return "none of its relevant ids has a grade above 0; give one, or make it unanswerable"
        return None


@dataclass(frozen=True, slots=True)
class Golden:
    """Golden questions, as `nestling.read_golden` reads them or as they are made in Python.

    Attributes:
        questions: In order; each with an id of its own.
        name: What they are called: the path they were read from.
    """

    questions: tuple[GoldenQuestion, ...]
    name: str = ""

    def at_least(self, grade: int) -> Golden:
        """The same questions, where what is relevant by a lower grade counts as not relevant."""
        questions = (
            replace(question, relevant={id: g if g >= grade else 0 for id, g in question.relevant.items()})
            for question in self.questions
        )
        return Golden(tuple(questions), self.name)

    def sample(self, n: int) -> Golden:
        """At most ``n`` of the questions, evenly spread over all of them."""
        total = len(self.questions)
        if n >= total:
            return self
        return Golden(tuple(self.questions[i * total // n] for i in range(n)), self.name)
