"""The filter: what is refused, and how; what filters mean is in the stores' contract."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from nestling.errors import FilterError
from nestling.where import All, AnyOf, Comparison, Not, Value, fields, iso, parse


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("tenant=acme", "is not a filter"),
        ({1: 2}, "key 1 is not text"),
        ({"$nor": []}, r"\$nor is not known here"),
        ({"a": {"$regex": "x"}}, r"'\$regex' of a is not an operator; use one of \$eq"),
        ({"a": {"b": 1}}, "'b' of a is not an operator"),
        ({"a": {}}, "a has no operator"),
        ({"a": [1, 2]}, r"write \{'a': \{'\$in'"),
        ({"a": {"$in": 1}}, r"\$in of a takes a list"),
        ({"a": {"$gt": None}}, r"\$gt of a takes a number, text or a date"),
        ({"a": {"$gt": True}}, r"\$gt of a takes a number"),
        ({"a": {"$exists": 1}}, r"\$exists of a takes true or false"),
        ({"a": float("nan")}, "a is compared with nan"),
        ({"a": object}, "a is compared with"),
        ({"$and": []}, r"\$and takes a list of one or more"),
        ({"$or": {"a": 1}}, r"\$or takes a list"),
        ({"$not": [1]}, "is not a filter"),
    ],
)
def test_refuses_with_the_reason(where: Any, message: str) -> None:
    """Each mistake is named with the field and what to write."""
    with pytest.raises(FilterError, match=message):
        parse(where)


def test_nothing_filters_nothing() -> None:
    """None and an empty dict are no filter."""
    assert parse(None) is None
    assert parse({}) is None


def test_builds_a_tree() -> None:
    """Several keys mean all of them; a bare value means equality."""
    assert parse({"a": 1, "$or": [{"b": "x"}, {"$not": {"c": {"$ne": None}}}]}) == All(
        (
            Comparison("a", "in", (Value("number", 1),)),
            AnyOf(
                (
                    Comparison("b", "in", (Value("text", "x"),)),
                    Not(Comparison("c", "nin", (Value("null", None),))),
                )
            ),
        )
    )


def test_dates_are_texts_in_order() -> None:
    """Dates become ISO text; times with a zone are turned to UTC, so that text order is time order."""
    assert parse({"d": {"$gte": date(2024, 3, 1)}}) == Comparison("d", "gte", (Value("text", "2024-03-01"),))
    noon = datetime(2024, 3, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    assert iso(noon) == iso(datetime(2024, 3, 1, 10, tzinfo=UTC)) == "2024-03-01T10:00:00+00:00"


def test_numbers_beyond_64_bits_do_not_break() -> None:
    """A whole number that a database cannot hold is compared as a float."""
    assert parse({"n": 2**70}) == Comparison("n", "in", (Value("number", float(2**70)),))


def test_fields_flattens_and_marks() -> None:
    """Nested values become dotted paths; lists and objects leave a mark, so that empty ones exist."""
    rows = list(fields({"a": {"b": [1, "x", {"c": None}]}, "e": [], "o": {}}))
    assert rows == [
        ("a", Value("object", None), False),
        ("a.b", Value("list", None), False),
        ("a.b", Value("number", 1), True),
        ("a.b", Value("text", "x"), True),
        ("a.b.c", Value("null", None), True),
        ("e", Value("list", None), False),
        ("o", Value("object", None), False),
    ]
