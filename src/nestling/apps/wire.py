"""One JSON shape for all that Nestling answers, for the command line and every server: see docs/json.md.

Names and nesting are those of the value types, so that a passage is the same in Python and on the wire.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import nestling

JSON = dict[str, Any]

# what JSON leaves as it is and a terminal may obey: DEL, C1 controls, bidirectional overrides
_OBEYED = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def dumps(value: JSON, ascii_only: bool = False, indent: int | None = 2) -> str:
    """JSON text, in one line without ``indent``; no character of it can steer a terminal."""
    text = json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, indent=indent)
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def plain(value: Any) -> Any:
    """A value type as JSON: objects by attribute name, sequences as lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(item) for name, item in zip(value._fields, value, strict=True)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def results(query: str, found: nestling.Results, explain: bool = False) -> JSON:
    """What `Nest.search` found; with ``explain``, and why."""
    answer = {"query": query, "passages": plain(list(found)), "abstained": found.abstained}
    return {**answer, "explanation": plain(found.explain())} if explain else answer


def context(query: str, packed: nestling.Context) -> JSON:
    """What `Nest.context` packed."""
    return {"query": query, **plain(packed)}


def answer(given: nestling.Answer, whole: bool = False) -> JSON:
    """What `Nest.ask` answered.

    Of its context the passages' ids, since each is cited with where it stands; with ``whole``, all of it.
    """
    told: JSON = plain(given)
    shown = given.context
    if not whole:
        told["context"] = {
            "tokens": shown.tokens,
            "budget": shown.budget,
            "passages": [passage.id for passage in shown.passages],
        }
    return {**told, "verification": verification(given.verification)}


def verification(found: nestling.Verification) -> JSON:
    """What `Nest.verify` found."""
    return {"sound": found.sound, **plain(found)}


def tree(id: str, shown: nestling.Tree) -> JSON:
    """A document with its parents and children; ``start`` and ``end``: what the id names of it."""
    start, end = span(id, shown)
    return {"id": id, "start": start, "end": end, **plain(shown)}


def span(id: str, shown: nestling.Tree) -> tuple[int, int]:
    """The part of a document that an id names: a parent's, or all of it."""
    spans = {parent.id: (parent.start, parent.end) for parent in shown.parents}
    spans[shown.document.id] = (0, len(shown.document.text))
    return spans[id]


def documents(found: Sequence[nestling.DocumentInfo]) -> JSON:
    """What `Nest.list` lists."""
    return {"documents": plain(list(found))}


def report(nest: str, done: nestling.Report) -> JSON:
    """What `Nest.add` did to which nest."""
    return {"nest": nest, **plain(done)}


def sync(nest: str, done: nestling.Report, dry_run: bool = False) -> JSON:
    """What `Nest.sync` did to which nest, or would do."""
    return {"nest": nest, "dry_run": dry_run, **plain(done)}


def removal(nest: str, removed: Sequence[str], missing: Sequence[str]) -> JSON:
    """What `Nest.remove` removed, and which of the ids do not exist."""
    return {"nest": nest, "removed": list(removed), "missing": list(missing)}


def stats(nest: str, counts: Mapping[str, Any]) -> JSON:
    """What `Nest.stats` counts."""
    return {"nest": nest, **plain(counts)}


def check(nest: str, damage: Sequence[str]) -> JSON:
    """What `Nest.check` found."""
    return {"nest": nest, "ok": not damage, "damage": list(damage)}


def serving(nest: str, address: str) -> JSON:
    """Where a nest is served."""
    return {"nest": nest, "address": address}


def key(nest: str, name: str, key: str) -> JSON:
    """A key of a served nest, the one time that it is shown."""
    return {"nest": nest, "name": name, "key": key}


def keys(nest: str, found: Sequence[Any]) -> JSON:
    """The keys of a served nest, without the keys themselves."""
    return {"nest": nest, "keys": plain(list(found))}


def error(type: str, message: str, report: nestling.Report | None = None) -> JSON:
    """An error by the name of its class; with what had been done where adding was interrupted."""
    told: JSON = {"error": {"type": type, "message": message}}
    return told if report is None else {**told, "report": plain(report)}
