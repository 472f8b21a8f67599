"""What counts as found at which level, for golden questions in a nest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nestling.errors import InputError
from nestling.measure.evidence import Spans, merged
from nestling.measure.files import refuse
from nestling.measure.golden import GoldenQuestion
from nestling.measure.held import Held, Outline
from nestling.measure.metrics import Grades
from nestling.measure.subject import Subject


class Need(NamedTuple):
    """What a ranking of one level is held to: see `metrics.Judged`."""

    any_of: Grades | None
    all_of: Grades | None


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold of one question in one nest.

    Attributes:
        document: What a ranking of documents is held to.
        parent: What a ranking of parents is held to.
        spans: The text that answers; empty where the question has no spans.
    """

    document: Need
    parent: Need
    spans: Spans


def settle(questions: Sequence[GoldenQuestion], subject: Subject, name: str) -> list[Gold]:
    """Hold questions to a nest.

    Args:
        questions: Each with gold, or unanswerable.
        subject: The nest.
        name: What the questions are called.

    Raises:
        DocumentError: Ids are not in the nest, or quotes not found once; each is named with its line.
    """
    held = Held(subject, questions)
    settled, wrong = [], []
    seen: set[str] = set()
    for question in questions:
        place = question.place or f"question {question.id!r}"
        if question.id in seen:
            wrong.append(f"{place}: the id {question.id!r} is given twice")
        seen.add(question.id)
        try:
            settled.append(_settled(question, held))
        except InputError as error:
            wrong.append(f"{place}: {error}")
    refuse(
        wrong,
        f"{name or 'the golden questions'} and the nest do not fit together",
        "add the documents to the nest, or mend the questions",
    )
    return settled


def _settled(question: GoldenQuestion, held: Held) -> Gold:
    spans = merged(held.place(span) for span in question.spans)
    outlines = {id: held.known(id) for id in (*question.relevant, *question.must_cite_one_of)}
    documents: Grades = {}
    for id, grade in question.relevant.items():
        document = outlines[id].document
        documents[document] = max(grade, documents.get(document, grade))
    for document in spans:
        documents[document] = max(1, documents.get(document, 1))
    parents = _parents(question, spans, documents, held)
    cited = question.must_cite_one_of
    return Gold(
        document=_need(documents, [outlines[id].document for id in cited]),
        parent=_need(parents, [parent for id in cited for parent in _named(id, outlines[id])]),
        spans=spans,
    )


def _parents(question: GoldenQuestion, spans: Spans, documents: Grades, held: Held) -> Grades | None:
    """The graded parents, or None where a relevant document of several parents has nothing that says which."""
    grades: Grades = {}
    for document, found in spans.items():
        for parent, start, end in held.known(document).parents:
            if any(start < last and first < end for first, last in found):
                grades[parent] = documents[document]
    for id, grade in question.relevant.items():
        if id in [parent for parent, _, _ in held.known(id).parents]:
            grades[id] = max(grade, grades.get(id, grade))
    located = {held.known(parent).document for parent, grade in grades.items() if grade > 0}
    unlocated = {document for document, grade in documents.items() if grade > 0} - located
    return None if unlocated else grades


def _named(id: str, outline: Outline) -> list[str]:
    """The parents that an id names: itself, or all of its document's."""
    parents = [parent for parent, _, _ in outline.parents]
    return [id] if id in parents else parents


def _need(graded: Grades | None, cited: Sequence[str]) -> Need:
    """Any of what must be cited, else of what is relevant; a single id to cite is all that is wanted, too."""
    if not cited:
        return Need(graded or None, graded or None)
    any_of = dict.fromkeys(cited, 1)
    return Need(any_of, graded or (any_of if len(any_of) == 1 else None))
