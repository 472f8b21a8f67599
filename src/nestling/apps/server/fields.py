"""The fields of documents' metadata that can be filtered by, and their values."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nestling.apps import wire

# Values that are named of a field, the most frequent ones.
MOST_VALUES = 50
# Characters of a value from which on it is text to read, and none to choose.
LONGEST_VALUE = 100


def fields(metadata: Iterable[Mapping[str, Any]]) -> list[wire.JSON]:
    """The fields of metadata that can be filtered by, by name; those inside of others by their dotted path."""
    values: dict[str, Counter[str]] = defaultdict(Counter)
    documents: Counter[str] = Counter()
    for each in metadata:
        pairs = {(name, json.dumps(value)) for name, value in _leaves(each)}
        documents.update({name for name, _ in pairs})
        for name, value in pairs:
            values[name][value] += 1
    return [_field(name, documents[name], values[name]) for name in sorted(values)]


def _field(name: str, documents: int, values: Counter[str]) -> wire.JSON:
    ranked = sorted(values.items(), key=lambda item: (-item[1], item[0]))[:MOST_VALUES]
    numbers = [value for value in map(json.loads, values) if isinstance(value, int | float)]
    numbers = [value for value in numbers if not isinstance(value, bool)]
    whole = len(numbers) == len(values)
    return {
        "name": name,
        "documents": documents,
        "distinct": len(values),
        "values": [{"value": json.loads(value), "documents": count} for value, count in ranked],
        "least": min(numbers) if whole else None,
        "most": max(numbers) if whole else None,
    }


def _leaves(value: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Names with the values that a filter can name; a list's members one by one."""
    for name, inner in value.items():
        # a filter takes these for an operator, or for a path
        if name.startswith("$") or "." in name:
            continue
        if isinstance(inner, Mapping):
            yield from _leaves(inner, f"{above}{name}.")
            continue
        for each in inner if isinstance(inner, list | tuple) else [inner]:
            if isinstance(each, str | int | float) and len(str(each)) <= LONGEST_VALUE:
                yield f"{above}{name}", each
