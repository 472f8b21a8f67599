"""The front matter of a Markdown file, read as metadata."""

from __future__ import annotations

from typing import Any

import yaml

from nestling.errors import DocumentError
from nestling.ingest.check import plain_json
from nestling.ingest.structure import FRONT_MATTER, FRONT_MATTER_SIZE


def front_matter(text: str) -> dict[str, Any]:
    """Read the YAML front matter at the beginning of a text.

    Args:
        text: A Markdown text.

    Returns:
        Its keys and values as JSON values, dates as ISO 8601 text; without those that JSON cannot hold. Empty
        where there is no front matter, or it is no YAML mapping: broken front matter is no reason to refuse a
        document, and its text stays in the document either way.
    """
    found = FRONT_MATTER.match(text, 0, FRONT_MATTER_SIZE)
    if not found:
        return {}
    try:
        # Aliases make a few lines stand for more than memory holds.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(found[1], yaml.SafeLoader)):
            return {}
        values = yaml.safe_load(found[1])
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, AttributeError, RecursionError):
        return {}
    return _storable(values) if isinstance(values, dict) else {}


def _storable(values: dict[Any, Any]) -> dict[str, Any]:
    kept = {}
    for key, value in values.items():
        try:
            kept[str(key)] = plain_json(value, str(key))
        except DocumentError:
            continue
    return kept
