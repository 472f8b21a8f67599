"""The metadata filter: a dict, checked into a small tree that every store evaluates alike.

::

    {"tenant": "acme"}                                 equal, or a list that holds it
    {"year": {"$gte": 2020, "$lt": 2024}}              all of them
    {"lang": {"$in": ["en", "de"]}}                    any of them; $nin: none of them
    {"tags": {"$contains": "urgent"}}                  a list that holds it
    {"page": {"$exists": False}}                       the key is absent
    {"author.name": "Ada"}                             a dotted path into nested values
    {"$or": [{"a": 1}, {"$not": {"b": 2}}]}            and, or, not

Values compare only with their own kind: text with text, numbers with numbers, true and false with each
other, null with null; dates and datetimes are ISO 8601 text, on both sides. A document that lacks the
field, or has null there, matches no comparison but ``None`` itself; ``$not`` and ``{"$exists": False}``
are how to ask for absence.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Literal

from nestling.errors import FilterError

Kind = Literal["null", "bool", "number", "text", "list", "object"]
Operator = Literal["in", "nin", "contains", "gt", "gte", "lt", "lte", "exists"]
Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Value:
    """A scalar with its kind, so that ``1``, ``True`` and ``"1"`` stay three different values."""

    kind: Kind
    value: Scalar


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of the field at ``path``; with ``exists`` the values are one bool."""

    path: str
    operator: Operator
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class All:
    """Every branch holds; no branches: always true."""

    branches: tuple[Where, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one branch holds."""

    branches: tuple[Where, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The branch does not hold."""

    branch: Where


Where = Comparison | All | AnyOf | Not

# Filters nested deeper than this are taken for a mistake.
DEEPEST = 50
_SURROGATE = re.compile("[\ud800-\udfff]")
_LISTS = {"$in": "in", "$nin": "nin"}
_ORDERS = {"$gt": "gt", "$gte": "gte", "$lt": "lt", "$lte": "lte"}
_OPERATORS = "$eq, $ne, $in, $nin, $gt, $gte, $lt, $lte, $exists, $contains"


def iso(value: date | datetime | time) -> str:
    """ISO 8601 text of a date, datetime or time.

    One with a time zone is first turned to UTC, so that the order of texts is the order of times.
    """
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC)
    return value.isoformat()


def scalar(value: Any, place: str) -> Value:
    """The value with its kind.

    Raises:
        FilterError: It is none of text, finite number, bool, None, date, datetime; ``place`` names it.
    """
    if value is None:
        return Value("null", None)
    if isinstance(value, bool):
        return Value("bool", value)
    if isinstance(value, int | float) and abs(value) <= sys.float_info.max:
        # SQLite and PostgreSQL keep whole numbers in 64 bits
        return Value("number", value if abs(value) < 2**63 else float(value))
    if isinstance(value, str) and not _SURROGATE.search(value):
        return Value("text", value)
    if isinstance(value, date | time):
        return Value("text", iso(value))
    raise FilterError(
        f"where: {place} is compared with {value!r}; give text, a finite number, true, false, null or a date"
    )


def parse(where: Mapping[str, Any] | None) -> Where | None:
    """Check a filter and return its tree; None and ``{}`` filter nothing and give None.

    Raises:
        FilterError: It is not a mapping, an operator is unknown, or a value is of the wrong type.
    """
    if where is None or (isinstance(where, Mapping) and not where):
        return None
    return _clause(where, 0)


def _clause(where: Any, depth: int) -> Where:
    if depth > DEEPEST:
        raise FilterError(f"where: it is nested deeper than {DEEPEST} levels; flatten it")
    if not isinstance(where, Mapping):
        raise FilterError(f"where: {where!r} is not a filter; give a dict such as {{'tenant': 'acme'}}")
    branches = tuple(_entry(key, value, depth) for key, value in where.items())
    return branches[0] if len(branches) == 1 else All(branches)


def _entry(key: Any, value: Any, depth: int) -> Where:
    if not isinstance(key, str) or _SURROGATE.search(key):
        raise FilterError(f"where: the key {key!r} is not text; name a metadata field")
    if key in ("$and", "$or"):
        if not isinstance(value, list | tuple) or not value:
            raise FilterError(f"where: {key} takes a list of one or more filters, not {value!r}")
        branches = tuple(_clause(branch, depth + 1) for branch in value)
        return All(branches) if key == "$and" else AnyOf(branches)
    if key == "$not":
        return Not(_clause(value, depth + 1))
    if key.startswith("$"):
        raise FilterError(f"where: {key} is not known here; use $and, $or, $not, or a field's name")
    if isinstance(value, Mapping):
        return _operators(key, value)
    if isinstance(value, list | tuple | set | frozenset):
        raise FilterError(f"where: {key} is compared with a list; write {{'{key}': {{'$in': [...]}}}}")
    return Comparison(key, "in", (scalar(value, key),))


def _operators(path: str, operators: Mapping[Any, Any]) -> Where:
    if not operators:
        raise FilterError(f"where: {path} has no operator; use one of {_OPERATORS}")
    tests = tuple(_test(path, name, value) for name, value in operators.items())
    return tests[0] if len(tests) == 1 else All(tests)


def _test(path: str, name: Any, value: Any) -> Comparison:
    if name in _LISTS:
        if not isinstance(value, list | tuple | set | frozenset):
            raise FilterError(f"where: {name} of {path} takes a list of values, not {value!r}")
        operator: Operator = "in" if name == "$in" else "nin"
        return Comparison(path, operator, tuple(scalar(item, path) for item in value))
    if name in _ORDERS:
        bound = scalar(value, path)
        if bound.kind not in ("number", "text"):
            raise FilterError(f"where: {name} of {path} takes a number, text or a date, not {value!r}")
        return Comparison(path, _ORDERS[name], (bound,))  # type: ignore[arg-type]
    if name == "$exists":
        if not isinstance(value, bool):
            raise FilterError(f"where: $exists of {path} takes true or false, not {value!r}")
        return Comparison(path, "exists", (Value("bool", value),))
    simple: dict[str, Operator] = {"$eq": "in", "$ne": "nin", "$contains": "contains"}
    if name in simple:
        return Comparison(path, simple[name], (scalar(value, path),))
    raise FilterError(f"where: {name!r} of {path} is not an operator; use one of {_OPERATORS}")


def fields(metadata: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Value, bool]]:
    """Every (dotted path, value, is an element of a list) in ``metadata``, for stores that index them.

    Lists and objects also give a row of their own kind, so that an empty one exists.
    """
    for key, value in metadata.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield path, Value("object", None), False
            yield from fields(value, f"{path}.")
        elif isinstance(value, list | tuple):
            yield path, Value("list", None), False
            for item in value:
                if isinstance(item, Mapping):
                    yield from ((p, v, True) for p, v, _ in fields(item, f"{path}."))
                elif not isinstance(item, list | tuple):
                    yield path, scalar(item, path), True
        else:
            yield path, scalar(value, path), False
