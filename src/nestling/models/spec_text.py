"""An embedder written as one line of text, ``kind:place#option=value&option=value``, and read back.

In a place ``%`` and ``#`` are written ``%25`` and ``%23``. A nest keeps the line and finds its model by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote, urlencode

from nestling.errors import SettingError


def write_spec(kind: str, place: str, options: Mapping[str, object]) -> str:
    """The line; options that are None are left out."""
    given = {name: value for name, value in options.items() if value is not None}
    line = f"{kind}:{place.replace('%', '%25').replace('#', '%23')}"
    return f"{line}#{urlencode(given)}" if given else line


def read_spec(spec: str) -> tuple[str, str, dict[str, str]]:
    """The kind, the place and the options of a line.

    Raises:
        SettingError: The options are not ``name=value``.
    """
    head, _, tail = spec.partition("#")
    kind, _, place = head.partition(":")
    try:
        options = dict(parse_qsl(tail, strict_parsing=True, keep_blank_values=True)) if tail else {}
    except ValueError as error:
        raise SettingError(
            f"the embedder {spec!r} ends with {tail!r}; after # write options as name=value&name=value"
        ) from error
    return kind, unquote(place), options


def write_languages(languages: frozenset[str] | None) -> str | None:
    """``de,en``, or None for any language."""
    return None if languages is None else ",".join(sorted(languages))


def read_languages(text: str | None) -> frozenset[str] | None:
    """The inverse of `write_languages`."""
    return None if text is None else frozenset(text.split(","))
