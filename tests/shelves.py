"""A synthetic corpus in which one setting decides: texts differ in a number only; titles tell them apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from nestling.measure.golden import Golden, GoldenQuestion, GoldSpan
from nestling.types import Document

TREES = "alder ash beech birch cedar elm fir hazel holly larch lime maple oak pine plum rowan spruce willow yew box"
USES = "chair desk shelf"
TEXT = (
    "The surface is oiled twice and dries over night. It takes up water when it is left wet for long.\n\n"
    "The warranty lasts for {months} months from the day of the delivery. Keep the paper that came with it.\n\n"
    "The legs are screwed on with the key in the box. Two people carry it more safely than one does.\n"
)
WARRANTY = "The warranty lasts for {months} months from the day of the delivery."


def names() -> Iterator[str]:
    """Sixty titles of two words each."""
    yield from (f"{tree} {use}" for tree in TREES.split() for use in USES.split())


def documents() -> list[Document]:
    """One a name."""
    return [Document(name, TEXT.format(months=12 + n), name.title()) for n, name in enumerate(names())]


def golden(unanswerable: int = 0) -> Golden:
    """One question a document, with its span; then questions about nothing that is there."""
    questions = [
        GoldenQuestion(
            f"q{n}",
            f"How long does the warranty last of the {name}?",
            spans=(GoldSpan(name, quote=WARRANTY.format(months=12 + n)),),
        )
        for n, name in enumerate(names())
    ]
    nothing = [
        GoldenQuestion(f"u{n}", f"Zyx{n} qwv{n} jkq{n}?", unanswerable=True) for n in range(unanswerable)
    ]
    return Golden((*questions, *nothing), "shelves")


def write(file: Path, questions: Golden) -> None:
    """The questions as golden.jsonl."""
    rows = [
        {
            "id": each.id,
            "question": each.question,
            "spans": [{"document": span.document, "quote": span.quote} for span in each.spans],
            "unanswerable": each.unanswerable,
        }
        for each in questions.questions
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
