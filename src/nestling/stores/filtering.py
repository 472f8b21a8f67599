"""A filter tree to a mask: leaves by SQL on the ``fields`` index, the tree in numpy.

The same tree is asked of parents (their own metadata over their document's) and of documents alone.
"""

from __future__ import annotations

import operator
import sqlite3
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np

from nestling.stores.layout import Layout, Mask
from nestling.stores.reading import numbers
from nestling.view import Rows
from nestling.where import All, AnyOf, Comparison, Not, Value, Where

_ORDERS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


class Items(Protocol):
    """What is filtered."""

    @property
    def count(self) -> int:
        """How many."""
        ...

    def mask(self, documents: Rows, own: Rows, parents: Rows) -> Mask:
        """Which items hold a value.

        Args:
            documents: Row numbers of the documents that do.
            own: Of the parents that have the field themselves, which hides their document's.
            parents: Of those of them that hold the value.
        """
        ...


@dataclass(frozen=True)
class Documents:
    """Documents, by their row numbers, ascending."""

    rows: Rows

    @property
    def count(self) -> int:
        """How many."""
        return len(self.rows)

    def mask(self, documents: Rows, own: Rows, parents: Rows) -> Mask:
        """By the documents' own metadata."""
        return np.isin(self.rows, documents)


@dataclass(frozen=True)
class Parents:
    """The parents of a layout, by position."""

    layout: Layout

    @property
    def count(self) -> int:
        """How many."""
        return self.layout.size("parent")

    def mask(self, documents: Rows, own: Rows, parents: Rows) -> Mask:
        """By the documents' metadata, and by the parents' own over it."""
        layout = self.layout
        mask = np.zeros(self.count, bool)
        mask[layout.parents_of(layout.positions("document", documents))] = True
        mask[layout.positions("parent", own)] = False
        mask[layout.positions("parent", parents)] = True
        return mask


def allowed(db: sqlite3.Connection, items: Items, where: Where) -> Mask:
    """For each item, whether the filter holds; ``db`` sees the state that the items are of."""
    if isinstance(where, All):
        every = np.ones(items.count, bool)
        return reduce(operator.and_, (allowed(db, items, branch) for branch in where.branches), every)
    if isinstance(where, AnyOf):
        nothing = np.zeros(items.count, bool)
        return reduce(operator.or_, (allowed(db, items, branch) for branch in where.branches), nothing)
    if isinstance(where, Not):
        return ~allowed(db, items, where.branch)
    return _leaf(db, items, where)


def _leaf(db: sqlite3.Connection, items: Items, test: Comparison) -> Mask:
    if test.operator == "exists":
        found = _holding(db, items, test.path, "1", ())
        return found if test.values[0].value else ~found
    if test.operator == "nin":
        return _holding(db, items, test.path, "kind <> 'null'", ()) & ~_any_of(db, items, test, "")
    if test.operator in _ORDERS:
        (bound,) = test.values
        condition = f"kind = ? AND value {_ORDERS[test.operator]} ?"
        return _holding(db, items, test.path, condition, (bound.kind, bound.value))
    return _any_of(db, items, test, " AND element" if test.operator == "contains" else "")


def _any_of(db: sqlite3.Connection, items: Items, test: Comparison, extra: str) -> Mask:
    mask = np.zeros(items.count, bool)
    for value in test.values:
        condition = "kind = ? AND value IS ?" + extra
        mask |= _holding(db, items, test.path, condition, (value.kind, stored(value)))
    return mask


def stored(value: Value) -> str | int | float | None:
    """The value as SQLite keeps it: true and false are 1 and 0, told from numbers by their kind."""
    return int(value.value) if isinstance(value.value, bool) else value.value


def _holding(
    db: sqlite3.Connection, items: Items, path: str, condition: str, values: tuple[object, ...]
) -> Mask:
    documents, parents = (
        numbers(
            db,
            f"SELECT json_group_array({column}) FROM fields WHERE path = ? AND {condition} AND {of}",
            (path, *values),
        )
        for column, of in (("document", "parent = 0"), ("parent", "parent > 0"))
    )
    # a parent's own key hides all that the document has under that key
    own = numbers(
        db,
        "SELECT json_group_array(parent) FROM fields WHERE path = ? AND parent > 0",
        (path.partition(".")[0],),
    )
    return items.mask(documents, own, parents)
