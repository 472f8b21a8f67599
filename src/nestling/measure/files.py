"""Files of golden questions and corpora: their lines, and one error for all that is wrong in them."""

from __future__ import annotations

import codecs
import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nestling.errors import DocumentError

# Mistakes that are named in one error.
MOST_NAMED = 20


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Number and text of every line that is not empty; a line ends at a line feed only.

    Raises:
        DocumentError: The file, which may be gzipped, cannot be read as UTF-8.
    """
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                text = (
                    (raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw).decode("utf-8").strip("\r\n")
                )
                if text.strip():
                    yield number, text
    except UnicodeDecodeError as error:
        raise DocumentError(f"{path}: line {number} is not UTF-8; save the file as UTF-8") from error
    except (OSError, EOFError) as error:
        raise DocumentError(f"{path} cannot be read ({error}); check the path and the file") from error


def rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place (`corpus.jsonl line 3`) and value of every line of a JSONL file.

    Raises:
        DocumentError: The file cannot be read, or a line is no JSON object.
    """
    for number, line in lines(path):
        place = f"{path.name} line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DocumentError(f"{path}: line {number} is not JSON ({error}); mend it") from error
        if not isinstance(row, dict):
            raise DocumentError(f"{path}: line {number} is no JSON object; mend it")
        yield place, row


def refuse(wrong: Sequence[str], what: str, remedy: str) -> None:
    """Raise one error for all that is wrong; do nothing where nothing is.

    Raises:
        DocumentError: Something is wrong. The first twenty are named, each on a line of its own.
    """
    if wrong:
        more = [f"and {len(wrong) - MOST_NAMED} more"] if len(wrong) > MOST_NAMED else []
        named = ";\n  ".join([*wrong[:MOST_NAMED], *more])
        raise DocumentError(f"{what}:\n  {named};\n{remedy}")
