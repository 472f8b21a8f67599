"""Cards: documents as JSON objects, one a line."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nestling.errors import DocumentError
from nestling.ingest.check import checked
from nestling.types import Document

_KNOWN = ("id", "title", "text", "metadata", "source")


def cards(path: Path, identity: str) -> Iterator[Document | DocumentError]:
    """Read a JSONL file line by line; a line ends at a line feed only, empty ones are passed over.

    Args:
        path: The file.
        identity: Not used: cards have their own ids.

    Yields:
        Documents, and in the place of a line that holds none an error that names the line.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            raw = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if not raw.strip():
                continue
            try:
                yield checked(card_of(_object(raw), str(path)))
            except DocumentError as error:
                yield DocumentError(f"line {number}: {error}")


def card_of(card: Mapping[str, Any], source: str | None) -> Document:
    """Make a document of a card.

    Args:
        card: ``id`` (text or a whole number) and ``text``; as wanted ``title``, ``metadata``, ``source``. Any
            other key joins the metadata, where ``metadata`` does not have it.
        source: Where the card came from, used where it does not say itself; a null says that it is not known.

    Returns:
        The document, not yet checked.

    Raises:
        DocumentError: The id or the text is missing, or something is of the wrong type.
    """
    for key in ("id", "text"):
        if card.get(key) is None:
            raise DocumentError(f"the card has no {key!r}; give each card an 'id' and a 'text'")
    metadata = card.get("metadata")
    if metadata is None:
        metadata = {}
    if not isinstance(metadata, Mapping):
        raise DocumentError(f"'metadata' is {metadata!r:.80}; give an object")
    others = {key: value for key, value in card.items() if key not in _KNOWN}
    identity = card["id"]
    if isinstance(identity, int) and not isinstance(identity, bool):
        identity = str(identity)
    title = card.get("title")
    return Document(
        identity,
        card["text"],
        "" if title is None else title,
        {**others, **metadata},
        card.get("source", source),
    )


def _object(raw: bytes) -> dict[str, Any]:
    try:
        card = json.loads(raw.decode("utf-8"), parse_constant=_refused)
    except UnicodeDecodeError as error:
        raise DocumentError(f"not UTF-8 (byte {error.start} of the line); save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"not JSON ({error}); write one JSON object a line") from error
    if not isinstance(card, dict):
        raise DocumentError('not a JSON object; write each card as {"id": …, "text": …}')
    return card


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON value")
