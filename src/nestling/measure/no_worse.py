"""Whether golden questions find less in one edition of a nest than in another."""

from __future__ import annotations

from dataclasses import replace

from nestling.errors import DocumentError
from nestling.measure.compare import Comparison, compare, regressions
from nestling.measure.evaluate import evaluate
from nestling.measure.gold import settle
from nestling.measure.golden import Golden, GoldenQuestion
from nestling.measure.metrics import calculator
from nestling.measure.pairing import HEADLINES
from nestling.measure.subject import Subject


def portable(golden: Golden, subject: Subject) -> Golden:
    """The questions as they can be asked of any edition: ids of passages become those of their documents.

    Args:
        golden: The questions.
        subject: The edition whose passages they name.

    Raises:
        DocumentError: They do not fit the nest, or none of them has an answer that could be lost.
        MissingExtraError: ir-measures is not installed.
    """
    calculator()
    counted = [question for question in golden.questions if question.lacks is None]
    settle(counted, subject, golden.name)
    if all(question.unanswerable for question in counted):
        raise DocumentError(
            f"{golden.name or 'the golden questions'}: no question has an answer that could be lost;"
            " give some relevant, spans or must_cite_one_of"
        )
    return replace(golden, questions=tuple(_portable(question, subject) for question in golden.questions))


def _portable(question: GoldenQuestion, subject: Subject) -> GoldenQuestion:
    relevant: dict[str, int] = {}
    for id, grade in question.relevant.items():
        document = _document(id, subject)
        relevant[document] = max(grade, relevant.get(document, grade))
    cited = tuple(dict.fromkeys(_document(id, subject) for id in question.must_cite_one_of))
    return replace(question, relevant=relevant, must_cite_one_of=cited)


def _document(id: str, subject: Subject) -> str:
    tree = subject.show(id)
    return id if tree is None else tree.document.id


def judge(
    before: Subject, after: Subject, numbers: tuple[int, int], golden: Golden, allowed_loss: float
) -> tuple[Comparison, tuple[str, ...]]:
    """Ask both editions, and hold the second to the first by the figure that decides.

    Args:
        before: The edition that is live.
        after: The one that would be.
        numbers: Of the two.
        golden: From `portable`.
        allowed_loss: How much less the second may find, 0 or more; 0.02 is two points.

    Returns:
        The comparison, and what has clearly become worse by more than that, a sentence each.

    Raises:
        SettingError: ``allowed_loss`` is out of its range.
    """
    first, second = evaluate(before, golden), evaluate(after, golden)
    found = compare(first, second, (f"edition {numbers[0]}", f"edition {numbers[1]}"))
    figure = next(row.figure for row in found.rows if row.figure in HEADLINES)
    return found, tuple(regressions(first, second, {figure: allowed_loss}))
