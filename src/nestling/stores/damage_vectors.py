"""What can be wrong with vectors: their size, their numbers, their length, and how they hang together."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nestling.stores.base import mean_vectors
from nestling.view import Vectors

# A unit vector in float16 is off from length 1 by less than a thousandth.
LENGTH = 0.01
# What float16 and one rounding leave between a mean and what was stored for it.
ROUNDING = 2e-3


class Packed(NamedTuple):
    """A vector's columns as they are stored; all None where there is no row."""

    scale: object
    codes: object
    exact: object


@dataclass(frozen=True)
class Vectored:
    """What all vectors of an edition have in common: how many dimensions most of them have."""

    dimension: int

    @classmethod
    def of_each(cls, db: sqlite3.Connection) -> dict[int, Vectored]:
        """Read the dimension of each edition from all its vectors, so that a damaged one does not decide it."""
        query = (
            "SELECT edition, size FROM (SELECT c.edition, length(v.codes) AS size FROM children c"
            " JOIN child_vectors v ON v.row = c.row UNION ALL SELECT p.edition, length(v.codes) FROM parents p"
            " JOIN parent_vectors v ON v.row = p.row) GROUP BY edition, size ORDER BY count(*)"
        )
        return {edition: cls(size or 0) for edition, size in db.execute(query)}

    def damages(
        self,
        children: Sequence[tuple[str, Packed]],
        parents: Sequence[tuple[str, Packed, int]],
        document: Packed,
    ) -> Iterator[tuple[str, str]]:
        """(remedy, sentence) of each damage of a document's vectors, given by name, in order.

        Args:
            children: Their names and vectors.
            parents: Likewise, with how many of the children are theirs.
            document: Its vector.
        """
        if not children:
            return
        rows, wrong = self._rows(children)
        yield from wrong
        own = [*((name, vector) for name, vector, _ in parents), ("the document", document)]
        means, wrong_means = self._rows(own, zeros=True)
        yield from wrong_means
        counts = [count for *_, count in parents]
        if not wrong and not wrong_means and all(counts):
            yield from _means(rows, counts, means, [name for name, _ in own])

    def _rows(
        self, named: Sequence[tuple[str, Packed]], zeros: bool = False
    ) -> tuple[Vectors, list[tuple[str, str]]]:
        """The exact vectors, where all are as they must be, and what is wrong with which."""
        wrong: list[tuple[str, str]] = []
        for name, vector in named:
            if vector == (None, None, None):
                wrong.append(("embed", f"a vector is missing: of {name}"))
            elif not self._fits(vector):
                wrong.append(("embed", f"a vector is of the wrong size: of {name}"))
        if wrong:
            return np.zeros((0, 0), np.float32), wrong
        exact = np.frombuffer(b"".join(v.exact for _, v in named), "<f2")  # type: ignore[misc]
        rows: Vectors = exact.reshape(len(named), self.dimension).astype(np.float32)
        codes = np.frombuffer(b"".join(v.codes for _, v in named), np.int8)  # type: ignore[misc]
        scale = np.array([v.scale for _, v in named], np.float64)
        names = [name for name, _ in named]
        finite = np.isfinite(rows).all(axis=1) & np.isfinite(scale)
        rows = np.where(finite[:, None], rows, 0)
        length = np.linalg.norm(rows.astype(np.float64), axis=1)
        unit = np.abs(length - 1) < LENGTH
        if zeros:
            unit |= length == 0
        off = np.abs(codes.reshape(rows.shape) * np.where(finite, scale, 0)[:, None] - rows).max(axis=1)
        near = off <= 0.5 * scale + ROUNDING
        for good, kind in (
            (finite, "a vector is not finite"),
            (unit | ~finite, "a vector is not of length 1"),
            (near | ~finite, "the codes of a vector are not near it"),
        ):
            wrong += [("embed", f"{kind}: of {names[n]}") for n in np.flatnonzero(~good).tolist()]
        return rows, wrong

    def _fits(self, vector: Packed) -> bool:
        return (
            isinstance(vector.scale, float)
            and isinstance(vector.codes, bytes)
            and isinstance(vector.exact, bytes)
            and len(vector.codes) == self.dimension
            and len(vector.exact) == 2 * self.dimension
        )


def _means(
    rows: Vectors, counts: Sequence[int], means: Vectors, names: Sequence[str]
) -> Iterator[tuple[str, str]]:
    wanted = np.concatenate((mean_vectors(rows, counts), mean_vectors(rows, [len(rows)])))
    sizes = np.array([*counts, len(rows)], np.float64)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1])).astype(np.intp)
    sums = np.concatenate((np.add.reduceat(rows, starts, axis=0), rows.sum(axis=0, keepdims=True)))
    # where children point away from each other, what rounding did to each counts for more in their mean
    length: NDArray[np.float64] = np.linalg.norm(sums.astype(np.float64), axis=1)
    allowed = ROUNDING * (1 + sizes / np.maximum(length, 1e-6))
    off = np.abs(wanted - means).max(axis=1)
    for n in np.flatnonzero(off > allowed).tolist():
        yield "embed", f"a vector is not the mean of its children's: of {names[n]}"
