"""Golden questions and their documents from a path, whatever shape is there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from nestling.errors import DocumentError, NotFoundError
from nestling.measure.corpora_in import folder_documents, read_folder, read_squad, squad_documents
from nestling.measure.golden import Golden
from nestling.measure.golden_lines import golden_of_rows, read_lines
from nestling.ranges import whole
from nestling.settings import LEAST_GRADE
from nestling.types import Document


def read_golden(
    path: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
    *,
    least_grade: int = LEAST_GRADE,
    name: str = "",
) -> Golden:
    """Read golden questions.

    Args:
        path: A file ``golden.jsonl`` of one question a line; a ``.json`` file of SQuAD's shape; or a folder as
            BEIR has them (``queries.jsonl``, ``qrels.tsv`` or ``qrels/``, and where there are, ``spans.jsonl``);
            or the questions themselves, each a mapping of what a line of ``golden.jsonl`` holds.
        least_grade: The lowest grade that counts as relevant, 1 or more; lower ones count as 0.
        name: What the questions are called, where they are given themselves.

    Raises:
        NotFoundError: There is no such file or folder.
        DocumentError: Lines cannot be used; they are named with what is wrong.
        SettingError: ``least_grade`` is no whole number, or below 1.
    """
    least = whole("least_grade", least_grade, 1)
    golden = _read(path, name)
    return golden if least == 1 else golden.at_least(least)


def _read(given: str | os.PathLike[str] | Iterable[Mapping[str, Any]], name: str) -> Golden:
    if not isinstance(given, str | os.PathLike):
        return golden_of_rows(given, name)
    file = _existing(given)
    if file.is_dir():
        return read_folder(file)
    return read_squad(file) if file.suffix.lower() == ".json" else read_lines(file)


def read_corpus(path: str | os.PathLike[str]) -> Iterator[Document]:
    """The documents that come with golden questions, one at a time, ready for `Nest.add`.

    Args:
        path: A ``.json`` file of SQuAD's shape, or a folder with ``corpus.jsonl``.

    Raises:
        NotFoundError: There is no such file or folder.
        DocumentError: There are no documents, or one cannot be read.
    """
    file = _existing(path)
    if file.is_dir():
        return folder_documents(file)
    if file.suffix.lower() == ".json":
        return squad_documents(file)
    raise DocumentError(f"{file} holds questions without documents; add those with `nestling add PATH`")


def golden_of(given: Golden | str | os.PathLike[str]) -> Golden:
    """Golden questions as they are, or read from their path."""
    return given if isinstance(given, Golden) else read_golden(given)


def _existing(path: str | os.PathLike[str]) -> Path:
    file = Path(path)
    if not file.exists():
        raise NotFoundError(f"there is no file or folder {file}; check the path")
    return file
