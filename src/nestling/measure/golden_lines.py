"""``golden.jsonl``: golden questions as JSON objects, one a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from nestling.errors import InputError
from nestling.measure.files import lines, refuse
from nestling.measure.golden import Golden, GoldenQuestion, GoldSpan
from nestling.where import parse

Line = TypeVar("Line")


def read_lines(path: Path) -> Golden:
    """Read a file of golden questions.

    Raises:
        DocumentError: Lines cannot be used; every one is named, up to the first twenty.
    """
    return _golden(lines(path), _object, str(path))


def golden_of_rows(rows: Iterable[Mapping[str, Any]], name: str) -> Golden:
    """The golden questions that these rows are, each what a line of a file holds.

    Raises:
        DocumentError: Rows cannot be used; every one is named, up to the first twenty.
    """
    given = list(rows)
    golden = _golden(enumerate(given, 1), _mapping, name)
    # a row that was made of a question says where that was read; others are named by their id
    questions = (
        replace(question, place=str(row.get("place", "")))
        for question, row in zip(golden.questions, given, strict=True)
    )
    return Golden(tuple(questions), name)


def _golden(
    given: Iterable[tuple[int, Line]], read: Callable[[Line], Mapping[str, Any]], name: str
) -> Golden:
    questions: list[GoldenQuestion] = []
    wrong: list[str] = []
    first_line: dict[str, int] = {}
    for number, line in given:
        try:
            question = _question(read(line), number)
            if question.id in first_line:
                raise InputError(
                    f"the id {question.id!r} is that of line {first_line[question.id]}; give another"
                )
        except InputError as error:
            wrong.append(f"line {number}: {error}")
            continue
        first_line[question.id] = number
        questions.append(question)
    refuse(wrong, f"{name or 'the rows'} cannot be used as golden questions", "mend these lines")
    return Golden(tuple(questions), name)


def _object(line: str) -> Mapping[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON ({error})") from error
    return _mapping(row)


def _mapping(row: Any) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        raise InputError('not a JSON object, such as {"question": "…", "relevant": {"ID": 1}}')
    return row


def _question(row: Mapping[str, Any], number: int) -> GoldenQuestion:
    question = row.get("question")
    if not isinstance(question, str) or not question.strip():
        raise InputError(f"'question' is {question!r:.80}; give text")
    parse(row.get("where"))
    made = GoldenQuestion(
        id=_id(row.get("id", number)),
        question=question,
        relevant=_relevant(_given(row, "relevant", {})),
        spans=_all(row, "spans", _span),
        must_cite_one_of=_all(row, "must_cite_one_of", _text),
        unanswerable=_flag(_given(row, "unanswerable", False)),
        where=row.get("where"),
        tags=_all(row, "tags", _text),
        place=f"line {number}",
    )
    gold = [name for name in ("relevant", "spans", "must_cite_one_of") if getattr(made, name)]
    if made.unanswerable and gold:
        raise InputError(f"it is unanswerable and has {gold[0]!r}; leave one of them out")
    return made


def _given(row: Mapping[str, Any], name: str, otherwise: Any) -> Any:
    value = row.get(name)
    return otherwise if value is None else value


def _all(row: Mapping[str, Any], name: str, read: Callable[[Any, str], Any]) -> tuple[Any, ...]:
    values = _given(row, name, [])
    if not isinstance(values, list):
        raise InputError(f"{name!r} is {values!r:.80}; give a list")
    return tuple(read(value, name) for value in values)


def _id(value: Any) -> str:
    return str(value) if _whole(value) else _text(value, "id")


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{name!r} holds {value!r:.80}; give text")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"'unanswerable' is {value!r:.80}; give true or false")
    return value


def _relevant(grades: Any) -> dict[str, int]:
    if not isinstance(grades, dict) or not all(map(_whole, grades.values())):
        raise InputError(
            f"'relevant' is {grades!r:.80}; give an object of ids with whole numbers, {{\"ID\": 1}}"
        )
    return grades


def _span(value: Any, name: str) -> GoldSpan:
    if isinstance(value, dict) and set(value) <= {"document", "start", "end", "quote"}:
        document, start, end, quote = (value.get(key) for key in ("document", "start", "end", "quote"))
        named = all(text is None or (isinstance(text, str) and text.strip()) for text in (document, quote))
        if named and (quote if start is None and end is None else document and _before(start, end)):
            return GoldSpan(document, start, end, quote)
    raise InputError(
        f"{name!r} holds {value!r:.80}; give document, start and end, start before end,"
        " or a quote and, best, its document"
    )


def _before(start: Any, end: Any) -> bool:
    return _whole(start) and _whole(end) and 0 <= start < end


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
