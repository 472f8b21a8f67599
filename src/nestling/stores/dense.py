"""The nearest rows of a layout: approximate cosines, then exact ones of all rows that can belong to the list.

Children's codes are scanned. A parent's and a document's vector is the normalised sum of its children's, so its
cosine is their sum, weighed: it is not scanned for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nestling.stores.layout import Layout, Mask
from nestling.stores.scan import DECIMALS, Question, Rough, best_at_least
from nestling.stores.scope import Scope
from nestling.stores.segment import Positions
from nestling.types import Level
from nestling.view import Scores, Vectors

# Up to this share of the children, codes are gathered from where they stand; above it all are scanned.
GATHERED = 0.3
# All bits but those that the sign leaves behind when it is moved; the difference of the exponents' offsets.
_SIGN_AND_VALUE, _OFFSET = np.int32(-0x70002000), np.float32(2.0**112)


@dataclass(frozen=True, eq=False)
class Compared:
    """A question and the rows of a layout that it may find, with their approximate cosines."""

    layout: Layout
    question: Question
    scope: Scope

    @cached_property
    def _all(self) -> dict[Level, Rough]:
        """Of all positions."""
        child = np.empty(self.layout.size("child"), np.float32)
        parents, documents = [], []
        begins = self.layout.begins["child"]
        for segment, begin, end in zip(self.layout.segments, begins, begins[1:], strict=False):
            arrays = segment.arrays
            self.question.compare(arrays["child.codes"], arrays["child.scale"], child[begin:end])
            of_parents = np.bincount(arrays["child.parent"], child[begin:end], segment.count("parent"))
            of_documents = np.bincount(arrays["parent.document"], of_parents, segment.count("document"))
            parents.append((of_parents * arrays["parent.weight"]).astype(np.float32))
            documents.append((of_documents * arrays["document.weight"]).astype(np.float32))
        return {"child": child, "parent": np.concatenate(parents), "document": np.concatenate(documents)}

    @cached_property
    def _some(self) -> dict[Level, Rough]:
        """Of all rows of the documents that anything is left of."""
        layout, families = self.layout, self.scope.families
        rough = np.empty(len(families["child"]), np.float32)
        self.question.compare(*self.scope.codes, rough)
        found: dict[Level, Rough] = {"child": rough}
        sums: Scores = rough.astype(np.float64)
        for level in ("parent", "document"):
            positions, owner = families[level], self.scope.family_owners[level]
            sums = np.bincount(owner, sums, len(positions)).astype(np.float64)
            found[level] = (sums * layout.take(level, "weight", positions)).astype(np.float32)
        return found

    def candidates(self, level: Level, n: int) -> Positions:
        """Positions of all rows of a level that can be among the ``n`` nearest, which is at least 1."""
        allowed = self.scope.positions(level)
        if allowed is None:
            return self._best_of_all(
                level, n, None if self.layout.alive is None else self.layout.alive[level]
            )
        if len(allowed) <= n:
            return allowed
        if len(self.scope.families["child"]) > GATHERED * self.layout.size("child"):
            return self._best_of_all(level, n, self.scope.mask(level))
        rough, every = self._some[level], self.scope.families[level]
        if len(allowed) < len(every):
            rough = rough[np.searchsorted(every, allowed)]
        return allowed[self._possible(rough, self.layout.take(level, "scale", allowed), n)]

    def _best_of_all(self, level: Level, n: int, left: Mask | None) -> Positions:
        rough, coarse = self._all[level], self.layout.coarse[level]
        if left is not None or len(coarse):
            rough = rough.copy()
            rough[coarse] = -np.inf
        if left is not None:
            rough[~left] = -np.inf
            coarse = coarse[left[coarse]]
        # twice the error of the coarsest row, first: so only few rows are looked at closely
        margin = 2 * self.question.error(np.array([self.layout.coarsest[level]], np.float32))[0]
        near = np.flatnonzero(rough >= best_at_least(rough, n) - margin)
        near = near[rough[near] > -np.inf]
        fine = near[self._possible(rough[near], self.layout.take(level, "scale", near), n)]
        return fine if not len(coarse) else np.sort(np.concatenate((fine, coarse)))

    def _possible(self, rough: Rough, scale: Rough, n: int) -> Positions:
        """Which of these rows can be among the ``n`` best, given how far off each can be."""
        if len(rough) <= n:
            return np.arange(len(rough))
        error = self.question.error(scale)
        lowest = rough - error
        return np.flatnonzero(rough + error >= np.partition(lowest, len(rough) - n)[len(rough) - n])


def cosines(
    layout: Layout, level: Level, vector: Vectors, positions: Positions, ask: Callable[[Positions], Vectors]
) -> Scores:
    """The cosine of each row, by its float16 vector.

    Args:
        layout: The rows.
        level: Of which level.
        vector: A unit vector.
        positions: Of the rows.
        ask: Gives vectors that a segment does not hold.
    """
    scores = np.empty(len(positions))
    exact = vector.astype(np.float64)
    for _, segment, chosen, own in layout.split(level, positions):
        held = segment.exact(level, own)
        rows = ask(positions[chosen]) if held is None else held
        # einsum sums every row in the same order, so that equal rows score equal wherever they stand
        scores[chosen] = np.einsum("ij,j->i", widened(rows), exact)
    return np.round(scores, DECIMALS)


def widened(halves: Vectors) -> Scores:
    """Finite float16 values as float64, in two thirds of the time of numpy's own conversion.

    A float16's bits, moved to where a float32 has them, are its value over 2 ** 112.
    """
    bits = halves.view(np.int16).astype(np.int32)
    bits <<= 13
    bits &= _SIGN_AND_VALUE
    values: Scores = (bits.view(np.float32) * _OFFSET).astype(np.float64)
    return values
