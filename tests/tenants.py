"""What tenants of a nest do and see, as values that can be compared between nests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import nestling
from nestling import Golden, GoldenQuestion, GoldSpan, Nest

QUERIES = ("red apples", "secret x")


@dataclass(frozen=True)
class Deed:
    """One thing that a tenant does in its scope, narrowed by ``more``."""

    kind: str
    given: Any
    more: Mapping[str, Any] = field(default_factory=dict)


def done(nest: Nest, deed: Deed, folder: Path) -> str:
    """Do it; everything that it tells, errors too, as text."""
    ways: dict[str, Callable[[Nest], Any]] = {
        "add": lambda scope: scope.add(deed.given),
        "remove": lambda scope: scope.remove(deed.given),
        "show": lambda scope: scope.show(deed.given),
        "list": lambda scope: scope.list(deed.given),
        "search": lambda scope: found(scope, *deed.given),
        "context": lambda scope: scope.context(deed.given[0], 60, where=deed.given[1]),
        "evaluate": lambda scope: evaluated(scope, *deed.given),
        "sync": lambda scope: synced(scope, deed.given, folder),
        "whole": lambda scope: getattr(scope, deed.given)(),
    }
    try:
        return repr(ways[deed.kind](nest.scope(**deed.more) if deed.more else nest))
    except nestling.NestlingError as error:
        return f"{type(error).__name__}: {error} {error.report}"


def found(scope: Nest, query: str, where: Any) -> Any:
    """A search with all that it explains."""
    results = scope.search(query, 20, where=where, min_coverage=0.1)
    return list(results), results.abstained, results.explain()


def evaluated(scope: Nest, id: str, where: Any) -> Any:
    """Golden questions about a document, and about words that may be anywhere; but for how long they took."""
    by_id = GoldenQuestion("q", "red apples", relevant={id: 1}, where=where)
    by_quote = GoldenQuestion("u", "secret", spans=(GoldSpan(quote="secret"),))
    told: list[Any] = []
    for question in (by_id, by_quote):
        try:
            result = scope.evaluate(Golden((question,), "golden"), k=(1,), budgets=(50,), where=where)
            told.append((result.skipped, [replace(each, seconds=0) for each in result.questions]))
        except nestling.NestlingError as error:
            told.append(str(error))
    return told


def synced(scope: Nest, files: Mapping[str, str], folder: Path) -> Any:
    """A folder brought in step, after a look at what would be done."""
    for old in folder.iterdir():
        old.unlink()
    for name, text in files.items():
        card = json.dumps({"id": "x", "text": text}) if name.endswith(".jsonl") else text
        (folder / name).write_text(card, "utf-8")
    return scope.sync(folder, dry_run=True), scope.sync(folder)


def seen(scope: Nest) -> str:
    """All that can be seen in a scope."""
    ids = [info.id for info in scope.list()]
    editions = [replace(each, made=None) for each in scope.editions()]
    return repr(
        (
            scope.list(),
            [scope.show(id) for id in ids],
            scope.stats(),
            editions,
            [found(scope, query, None) for query in QUERIES],
            [scope.context(query, 100) for query in QUERIES],
        )
    )
