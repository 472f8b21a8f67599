"""What a filter leaves of a layout, on every level."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from weakref import proxy

import numpy as np

from nestling.stores.filtering import Parents, allowed
from nestling.stores.layout import Layout, Mask
from nestling.stores.segment import Array, Positions
from nestling.types import Level
from nestling.where import Where

# Filters whose scopes a layout holds, and children up to which a scope holds their codes: together some 50 MB.
SCOPES, CODES = 8, 16_384


@dataclass(frozen=True, eq=False)
class Scope:
    """The parents that a filter leaves, and what belongs to them; ``parents`` is None where nothing is filtered."""

    layout: Layout
    parents: Mask | None

    @classmethod
    def of(cls, db: sqlite3.Connection, layout: Layout, where: Where | None) -> Scope:
        """What is left by a filter; ``db`` sees the state that the layout is of."""
        if where is None:
            return cls(layout, None)
        found = layout.scopes.get(where)
        if found is None:
            mask = allowed(db, Parents(layout), where)
            # in a circle a layout would outlive its last use, and its files with it
            weak: Layout = proxy(layout)
            found = cls(weak, mask if layout.alive is None else mask & layout.alive["parent"])
            for oldest in list(layout.scopes)[: 1 - SCOPES]:
                layout.scopes.pop(oldest, None)
            layout.scopes[where] = found
        return found

    def positions(self, level: Level) -> Positions | None:
        """Positions that are left of a level, ascending."""
        return None if self.parents is None else self._positions[level]

    @cached_property
    def _positions(self) -> Mapping[Level, Positions]:
        assert self.parents is not None
        parents = np.flatnonzero(self.parents)
        return {
            "document": np.unique(self.layout.owners("parent", parents, "document")),
            "parent": parents,
            "child": self.layout.children_of(parents),
        }

    @cached_property
    def families(self) -> Mapping[Level, Positions]:
        """Positions of all rows of the documents that anything is left of, ascending; only where it is filtered."""
        documents = self._positions["document"]
        parents = np.sort(self.layout.parents_of(documents))
        return {"document": documents, "parent": parents, "child": self.layout.children_of(parents)}

    @cached_property
    def family_owners(self) -> Mapping[Level, Positions]:
        """Under ``parent`` which of `families`' parents each of its children belongs to; likewise for parents."""
        parents, documents = self.families["parent"], self.families["document"]
        begin, end = self.layout.below("parent", parents)
        owner = self.layout.owners("parent", parents, "document")
        return {
            "parent": np.repeat(np.arange(len(parents)), end - begin),
            "document": np.searchsorted(documents, owner),
        }

    @property
    def codes(self) -> tuple[Array, Array]:
        """Codes and scales of `families`' children."""
        return self._codes if len(self.families["child"]) <= CODES else self._gathered()

    @cached_property
    def _codes(self) -> tuple[Array, Array]:
        return self._gathered()

    def _gathered(self) -> tuple[Array, Array]:
        children = self.families["child"]
        return self.layout.take("child", "codes", children), self.layout.take("child", "scale", children)

    def mask(self, level: Level) -> Mask | None:
        """For each position of a level, whether it is left."""
        return None if self.parents is None else self._masks[level]

    @cached_property
    def _masks(self) -> dict[Level, Mask]:
        return {level: self._mask(level, at) for level, at in self._positions.items()}

    @cached_property
    def family_children(self) -> Mask | None:
        """For each child, whether it is of a document that anything is left of."""
        return None if self.parents is None else self._mask("child", self.families["child"])

    def _mask(self, level: Level, positions: Positions) -> Mask:
        mask = np.zeros(self.layout.size(level), bool)
        mask[positions] = True
        return mask
