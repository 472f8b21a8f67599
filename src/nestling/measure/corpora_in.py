"""Published shapes of questions with answers: folders as BEIR has them, and SQuAD's JSON.

A folder holds ``corpus.jsonl`` and ``queries.jsonl`` (``_id`` or ``id``, ``text``; documents with ``title`` and
``metadata``), ``qrels.tsv`` or ``qrels/test.tsv`` (question, document, grade), and where there are gold spans
``spans.jsonl`` (``query_id``, ``doc_id``, ``start``, ``end``, and ``text`` to hold them to). Any may be ``.gz``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nestling.errors import DocumentError
from nestling.measure.files import lines, refuse, rows
from nestling.measure.golden import Golden, GoldenQuestion, GoldSpan
from nestling.types import Document

# The judgements that are read where a folder has several, the first that is there.
SPLITS = ("test", "dev", "train")

Grades = dict[str, dict[str, int]]


def read_folder(folder: Path) -> Golden:
    """The questions of a folder with their gold.

    Where judgements are in a folder ``qrels``, those of ``test`` are taken, else ``dev``, else ``train``, and
    the questions are those judged there.

    Raises:
        DocumentError: A file is missing, a line cannot be read, or gold is for a question that is not there.
    """
    judged, of_a_split = _judgements(folder)
    spans = _spans(folder)
    if not judged and not spans:
        raise DocumentError(f"{folder} has no qrels.tsv, qrels/test.tsv or spans.jsonl; add one")
    questions = {}
    for place, row in rows(_needed(folder, "queries.jsonl")):
        id = _id(row, place)
        if not of_a_split or id in judged or id in spans:
            relevant, found = judged.get(id, {}), tuple(spans.get(id, ()))
            questions[id] = GoldenQuestion(id, _text(row, place), relevant, found, place=place)
    lost = [f"question {id!r}" for id in {**judged, **spans} if id not in questions]
    refuse(lost, f"{folder} has gold for questions that are not in queries.jsonl", "add them there")
    return Golden(tuple(questions.values()), str(folder))


def folder_documents(folder: Path) -> Iterator[Document]:
    """The documents of a folder, one at a time.

    Raises:
        DocumentError: The file is missing, or a line holds no document.
    """
    for place, row in rows(_needed(folder, "corpus.jsonl")):
        yield Document(_id(row, place), _text(row, place), row.get("title") or "", row.get("metadata") or {})


def read_squad(path: Path) -> Golden:
    """The questions of a SQuAD file. Of several answers the first is the gold; impossible ones are unanswerable.

    Raises:
        DocumentError: The file is none of SQuAD's shape.
    """
    return Golden(tuple(q for paragraph in _paragraphs(path) for q in paragraph.questions), str(path))


def squad_documents(path: Path) -> Iterator[Document]:
    """The paragraphs of a SQuAD file, each a document ``TITLE/NUMBER``.

    Raises:
        DocumentError: The file is none of SQuAD's shape.
    """
    return (paragraph.document for paragraph in _paragraphs(path))


class _Paragraph(NamedTuple):
    document: Document
    questions: list[GoldenQuestion]


def _paragraphs(path: Path) -> list[_Paragraph]:
    found = []
    try:
        for number, article in enumerate(json.loads(path.read_bytes())["data"], 1):
            title = article.get("title") or f"article {number}"
            for place, paragraph in enumerate(article["paragraphs"], 1):
                document = Document(f"{title}/{place}", paragraph["context"], title.replace("_", " "))
                found.append(_Paragraph(document, [_asked(document.id, each) for each in paragraph["qas"]]))
    except OSError as error:
        raise DocumentError(f"{path} cannot be read ({error.strerror}); check the path") from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise DocumentError(
            f"{path} has not the shape of SQuAD ({error!r:.80});"
            " give data › paragraphs › context and qas, or golden questions as .jsonl"
        ) from error
    return found


def _asked(document: str, row: Mapping[str, Any]) -> GoldenQuestion:
    place = f"question {row['id']!r}"
    if row.get("is_impossible"):
        return GoldenQuestion(str(row["id"]), row["question"], unanswerable=True, place=place)
    spans = []
    for answer in (row.get("answers") or [])[:1]:
        text, start = answer["text"], answer["answer_start"]
        spans.append(GoldSpan(document, start, start + len(text), text))
    return GoldenQuestion(str(row["id"]), row["question"], {document: 1}, tuple(spans), place=place)


def _judgements(folder: Path) -> tuple[Grades, bool]:
    """The grades by question and document, and whether they are those of one split of the questions."""
    whole = _there(folder, "qrels.tsv")
    if whole is not None:
        return _grades(whole), False
    for split in SPLITS:
        path = _there(folder / "qrels", f"{split}.tsv")
        if path is not None:
            return _grades(path), True
    return {}, False


def _grades(path: Path) -> Grades:
    grades: Grades = {}
    wrong = []
    for number, line in lines(path):
        # question and document first, the grade last; TREC has a column between
        columns = line.split("\t")
        try:
            grade = int(float(columns[-1]))
            question, document = columns[0], columns[-2]
        except (ValueError, IndexError):
            if number > 1:
                wrong.append(f"line {number}: {line!r:.80}")
            continue
        grades.setdefault(question, {})[document] = grade
    refuse(wrong, f"{path} has lines that are no judgements", "write question, document and grade, by tabs")
    return grades


def _spans(folder: Path) -> dict[str, list[GoldSpan]]:
    path = _there(folder, "spans.jsonl")
    spans: dict[str, list[GoldSpan]] = {}
    for place, row in rows(path) if path else ():
        try:
            span = GoldSpan(str(row["doc_id"]), int(row["start"]), int(row["end"]), row.get("text") or None)
            spans.setdefault(str(row["query_id"]), []).append(span)
        except (LookupError, ValueError, TypeError) as error:
            raise DocumentError(
                f"{folder}: {place} is no span ({error!r:.80}); give query_id, doc_id, start and end"
            ) from error
    return spans


def _there(folder: Path, name: str) -> Path | None:
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def _needed(folder: Path, name: str) -> Path:
    path = _there(folder, name)
    if path is None:
        raise DocumentError(
            f"{folder} has no {name}; see `nestling.read_golden` for the shapes that are read"
        )
    return path


def _id(row: Mapping[str, Any], place: str) -> str:
    id = row.get("_id", row.get("id"))
    if isinstance(id, bool) or not isinstance(id, str | int) or id == "":
        raise DocumentError(f"{place} has no '_id' or 'id'; give each one")
    return str(id)


def _text(row: Mapping[str, Any], place: str) -> str:
    text = row.get("text")
    if not isinstance(text, str):
        raise DocumentError(f"{place} has no 'text'; give it one")
    return text
