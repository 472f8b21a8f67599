"""A filter tree to a mask: leaves by SQL on the ``fields`` index, the tree in numpy.

The same tree is asked of parents (their own metadata over their document's) and of documents alone.
"""

from __future__ import annotations

import operator
import sqlite3
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from nestling.view import Rows
from nestling.where import All, AnyOf, Comparison, Not, Value, Where

Mask = NDArray[np.bool_]
_ORDERS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<="}


@dataclass(frozen=True)
class Items:
    """What is filtered: documents, or, where ``parents`` is given, parents.

    Attributes:
        db: A connection that sees the state the row numbers are of.
        documents: Row numbers, ascending.
        parents: Row numbers, ascending, or None.
        owner: For each parent, the position of its document in ``documents``.
    """

    db: sqlite3.Connection
    documents: Rows
    parents: Rows | None = None
    owner: NDArray[np.intp] | None = None


def allowed(items: Items, where: Where) -> Mask:
    """For each item, whether the filter holds."""
    every = np.ones(len(items.documents if items.parents is None else items.parents), bool)
    if isinstance(where, All):
        return reduce(operator.and_, (allowed(items, branch) for branch in where.branches), every)
    if isinstance(where, AnyOf):
        return reduce(operator.or_, (allowed(items, branch) for branch in where.branches), ~every)
    if isinstance(where, Not):
        return ~allowed(items, where.branch)
    return _leaf(items, where)


def _leaf(items: Items, test: Comparison) -> Mask:
    if test.operator == "exists":
        found = _holding(items, test.path, "1", ())
        return found if test.values[0].value else ~found
    if test.operator == "nin":
        return _holding(items, test.path, "kind <> 'null'", ()) & ~_any_of(items, test, "")
    if test.operator in _ORDERS:
        (bound,) = test.values
        condition = f"kind = ? AND value {_ORDERS[test.operator]} ?"
        return _holding(items, test.path, condition, (bound.kind, bound.value))
    return _any_of(items, test, " AND element" if test.operator == "contains" else "")


def _any_of(items: Items, test: Comparison, extra: str) -> Mask:
    mask = np.zeros(len(items.documents if items.parents is None else items.parents), bool)
    for value in test.values:
        mask |= _holding(items, test.path, "kind = ? AND value IS ?" + extra, (value.kind, stored(value)))
    return mask


def stored(value: Value) -> str | int | float | None:
    """The value as SQLite keeps it: true and false are 1 and 0, told from numbers by their kind."""
    return int(value.value) if isinstance(value.value, bool) else value.value


def _holding(items: Items, path: str, condition: str, values: tuple[object, ...]) -> Mask:
    query = f"SELECT document, parent FROM fields WHERE path = ? AND {condition}"
    found = np.array(items.db.execute(query, (path, *values)).fetchall(), np.int64).reshape(-1, 2)
    documents = np.isin(items.documents, found[found[:, 1] == 0, 0])
    if items.parents is None:
        return documents
    mask = documents[items.owner]
    # a parent's own key hides all that the document has under that key
    top = path.partition(".")[0]
    own = items.db.execute("SELECT parent FROM fields WHERE path = ? AND parent > 0", (top,)).fetchall()
    mask[np.isin(items.parents, np.array(own, np.int64))] = False
    mask[np.isin(items.parents, found[found[:, 1] > 0, 1])] = True
    return mask
