"""What a document must be to be stored; the one place where that is decided."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time
from typing import Any

from nestling.errors import DocumentError
from nestling.types import Document
from nestling.where import iso

_SURROGATE = re.compile("[\ud800-\udfff]")
_PARENT_ID = re.compile(r"§\d+\Z")
# Deeper nesting than this is taken for a value that contains itself.
_DEEPEST = 64


def checked(document: Document) -> Document:
    """Return the document as it will be stored, or say why it cannot be.

    Args:
        document: What the user or the loader made.

    Returns:
        The same document, its metadata as plain JSON values: mappings as dicts, tuples as lists, dates, times
        and datetimes as ISO 8601 text (those with a zone in UTC, so that texts are in the order of times).

    Raises:
        DocumentError: The id is empty, not text, or ends in ``§`` and digits like a parent's; text, title,
            source or metadata hold what cannot be stored.
    """
    if not isinstance(document, Document):
        raise DocumentError(f"{document!r:.80} is no Document; make one with nestling.Document(id=…, text=…)")
    _check_id(document.id)
    name = f"document {document.id!r}"
    _check_text(document.text, f"{name}: text")
    _check_text(document.title, f"{name}: title")
    if document.source is not None:
        _check_text(document.source, f"{name}: source")
    if not isinstance(document.metadata, Mapping):
        raise DocumentError(f"{name}: metadata is {_kind(document.metadata)}; give a dict of JSON values")
    return replace(document, metadata=plain_json(document.metadata, f"{name}: metadata"))


def is_storable(id: object) -> bool:
    """Whether a document or passage could have this id at all."""
    return isinstance(id, str) and not _SURROGATE.search(id)


def plain_json(value: Any, where: str) -> Any:
    """Return a value as plain JSON has it.

    Args:
        value: None, a bool, text, a number, a date, a mapping, a list or a tuple of such.
        where: What the value is, for the message.

    Returns:
        The value with mappings as dicts, tuples as lists, dates, times and datetimes as ISO 8601 text.

    Raises:
        DocumentError: Something in it has no place in JSON, or it is nested deeper than 64 levels.
    """
    return _plain(value, where, 0)


def _check_id(value: object) -> None:
    if not isinstance(value, str) or not value:
        raise DocumentError(f"document id is {value!r:.80}; give a text of at least one character")
    _check_text(value, f"document {value!r}: id")
    if "\0" in value:
        raise DocumentError(
            f"document id {value!r} holds a NUL, which SQLite takes for the end; leave it out"
        )
    if _PARENT_ID.search(value):
        raise DocumentError(
            f"document id {value!r} ends in § and a number, as the ids of passages do; choose another ending"
        )


def _check_text(value: object, where: str) -> None:
    if not isinstance(value, str):
        raise DocumentError(f"{where} is {_kind(value)}; give text (str)")
    found = _SURROGATE.search(value)
    if found:
        raise DocumentError(
            f"{where} holds half a surrogate pair at offset {found.start()}, which UTF-8 cannot store; "
            "decode the text again with the right encoding, or with errors='replace'"
        )


def _plain(value: Any, where: str, depth: int) -> Any:
    """Return a value as JSON has it."""
    if depth > _DEEPEST:
        raise DocumentError(f"{where} is nested deeper than {_DEEPEST} levels; flatten it")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        _check_text(value, where)
        return str(value)
    if isinstance(value, int):
        if abs(value) > sys.float_info.max:
            raise DocumentError(
                f"{where} is a whole number beyond 10**308, which no filter can compare; give text"
            )
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise DocumentError(f"{where} is {value}, which JSON does not have; give a finite number or None")
        return float(value)
    if isinstance(value, (datetime, date, time)):
        return iso(value)
    if isinstance(value, Mapping):
        return {_key(key, where): _plain(each, f"{where}[{key!r}]", depth + 1) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each, f"{where}[{place}]", depth + 1) for place, each in enumerate(value)]
    raise DocumentError(
        f"{where} is {_kind(value)}; give text, a number, True, False, None, a list or a dict"
    )


def _key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise DocumentError(f"{where} has the key {key!r:.80}, which is {_kind(key)}; keys are text (str)")
    _check_text(key, f"{where}, key {key!r}")
    return str(key)


def _kind(value: object) -> str:
    return f"of type {type(value).__name__}"
