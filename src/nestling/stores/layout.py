"""The rows of one committed state as they are searched: segments, and which of their documents are gone.

A layout is never changed: catching up makes a new one of the same segments and a few more, so that readers can
share it. A row's position in a layout is its position in its segment after those of the segments before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nestling.stores.segment import Array, Positions, Segment, spread
from nestling.types import LEVELS, Level
from nestling.view import Family, Rows, Scores

Mask = NDArray[np.bool_]
# Up to so many times a list's length, equal rows are sorted by their ids themselves.
FEW = 4


@dataclass(frozen=True, eq=False)
class Layout:
    """One state.

    Attributes:
        change: The number of its last change.
        segments: In row order.
        gone: For each segment the positions of documents that were removed since, ascending.
    """

    change: int
    segments: tuple[Segment, ...]
    gone: tuple[Positions, ...]

    @cached_property
    def begins(self) -> dict[Level, list[int]]:
        """For each level, where each segment begins, and the end of the last."""
        counts = {level: [segment.count(level) for segment in self.segments] for level in LEVELS}
        return {level: [0, *np.cumsum(each, dtype=int).tolist()] for level, each in counts.items()}

    @cached_property
    def scopes(self) -> dict[object, Any]:
        """What filters leave of it, by filter: worked out once while it is the last state."""
        return {}

    def size(self, level: Level) -> int:
        """How many positions a level has, those of removed rows too."""
        return self.begins[level][-1]

    @cached_property
    def alive(self) -> dict[Level, Mask] | None:
        """For each level, which positions are not removed; None where none is."""
        if not any(len(gone) for gone in self.gone):
            return None
        masks = {level: np.ones(self.size(level), bool) for level in LEVELS}
        for at, (segment, gone) in enumerate(zip(self.segments, self.gone, strict=True)):
            parents = spread(*segment.below("document", gone))
            children = spread(*segment.below("parent", parents))
            for level, dead in zip(LEVELS, (gone, parents, children), strict=True):
                masks[level][self.begins[level][at] + dead] = False
        return masks

    @cached_property
    def counts(self) -> dict[Level, int]:
        """How many rows each level has."""
        if self.alive is None:
            return {level: self.size(level) for level in LEVELS}
        return {level: int(np.count_nonzero(mask)) for level, mask in self.alive.items()}

    @cached_property
    def terms(self) -> int:
        """How many terms all children hold."""
        total = 0
        for at, segment in enumerate(self.segments):
            own = segment.arrays["document.terms"]
            total += int(own.sum(dtype=np.int64)) - int(own[self.gone[at]].sum(dtype=np.int64))
        return total

    @cached_property
    def coarse(self) -> dict[Level, Positions]:
        """For each level, positions of rows whose approximate cosines say little."""
        return {level: self._where_coarse(level) for level in LEVELS}

    def _where_coarse(self, level: Level) -> Positions:
        found = [np.zeros(0, np.intp)]
        for begin, segment in zip(self.begins[level], self.segments, strict=False):
            found.append(segment.coarse[level] + begin)
        return np.concatenate(found)

    @cached_property
    def coarsest(self) -> dict[Level, float]:
        """For each level, the largest step of the other rows."""
        return {level: max((s.coarsest[level] for s in self.segments), default=0.0) for level in LEVELS}

    def mean_terms(self, level: Level) -> float:
        """How many terms a row of a level holds on average."""
        return self.terms / self.counts[level] if self.counts[level] else 1.0

    def split(
        self, level: Level, positions: Positions
    ) -> Iterator[tuple[int, Segment, slice | Mask, Positions]]:
        """The segments that hold any of these positions: number, segment, which of them, and their places in it."""
        begins = self.begins[level]
        if len(self.segments) == 1:
            yield 0, self.segments[0], slice(None), positions
            return
        which = np.searchsorted(begins, positions, "right") - 1
        for at in np.unique(which).tolist():
            yield at, self.segments[at], which == at, positions[which == at] - begins[at]

    def take(self, level: Level, field: str, positions: Positions) -> Array:
        """The values of an array at these positions."""
        parts = list(self.split(level, positions))
        if len(parts) == 1:
            # much faster than indexing where a row is a vector
            return parts[0][1].arrays[f"{level}.{field}"].take(parts[0][3], axis=0)
        first = self.segments[0].arrays[f"{level}.{field}"] if self.segments else np.zeros(0)
        out = np.empty((len(positions), *first.shape[1:]), first.dtype)
        for _, segment, chosen, own in parts:
            out[chosen] = segment.arrays[f"{level}.{field}"].take(own, axis=0)
        return out

    def rows(self, level: Level, positions: Positions) -> Rows:
        """The row numbers at these positions."""
        return self.take(level, "row", positions).astype(np.int64)

    def positions(self, level: Level, rows: Rows) -> Positions:
        """Where these row numbers stand; unknown and removed ones are left out."""
        found = np.full(len(rows), -1, np.intp)
        for begin, segment in zip(self.begins[level], self.segments, strict=False):
            known, at = segment.positions(level, rows)
            found[known] = at + begin
        found = found[found >= 0]
        return found if self.alive is None else found[self.alive[level][found]]

    def owners(self, level: Level, positions: Positions, of: Level) -> Positions:
        """The position of the row of a level above, or the same, that each of these belongs to."""
        if level == of:
            return positions
        above: Level = "parent" if level == "child" else "document"
        out = np.empty(len(positions), np.intp)
        for at, segment, chosen, own in self.split(level, positions):
            out[chosen] = segment.arrays[f"{level}.{above}"][own].astype(np.intp) + self.begins[above][at]
        return self.owners(above, out, of)

    def parents_of(self, documents: Positions) -> Positions:
        """Positions of all parents of these documents, in the order of the documents."""
        return spread(*self.below("document", documents))

    def children_of(self, parents: Positions) -> Positions:
        """Positions of all children of these parents, in the order of the parents."""
        return spread(*self.below("parent", parents))

    def below(self, level: Level, positions: Positions) -> tuple[Positions, Positions]:
        """For each document or parent, the position of its first parent or child, and the one after its last."""
        below: Level = "parent" if level == "document" else "child"
        begin, end = np.empty(len(positions), np.intp), np.empty(len(positions), np.intp)
        for at, segment, chosen, own in self.split(level, positions):
            begin[chosen], end[chosen] = segment.below(level, own)
            begin[chosen] += self.begins[below][at]
            end[chosen] += self.begins[below][at]
        return begin, end

    def family(self, children: Positions) -> Family:
        """What a ranking needs to know of these children."""
        found = np.empty((5, len(children)), np.int64)
        for _, segment, chosen, own in self.split("child", children):
            arrays = segment.arrays
            parent = arrays["child.parent"][own]
            found[0, chosen] = arrays["child.row"][own]
            found[1, chosen] = arrays["parent.row"][parent]
            found[2, chosen] = arrays["document.row"][arrays["parent.document"][parent]]
            found[3, chosen] = arrays["child.start"][own]
            found[4, chosen] = arrays["child.stop"][own]
        return Family(*found)

    def ids(self, documents: Positions) -> list[bytes]:
        """The ids of these documents in UTF-8: sorted as bytes, they are sorted as text."""
        ids = np.empty(len(documents), object)
        for _, segment, chosen, own in self.split("document", documents):
            ids[chosen] = np.array([*segment.ids(own), None], object)[:-1]
        found: list[bytes] = ids.tolist()
        return found

    def by_id(self, documents: Positions) -> Positions:
        """Different documents in the order of their ids."""
        return documents[np.argsort(self._ranks(documents))]

    def best(self, level: Level, positions: Positions, scores: Scores, n: int) -> Positions:
        """The indices into ``positions`` of the ``n`` best scores, ties by document id, then text order."""
        if n <= 0:
            return np.zeros(0, np.intp)
        kept = np.arange(len(scores))
        if len(scores) > n:
            least = np.partition(scores, len(scores) - n)[len(scores) - n]
            kept = np.flatnonzero(scores >= least)
            if len(kept) > FEW * n:
                above, tied = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
                kept = np.concatenate((above, tied[self._first(level, positions[tied], n - len(above))]))
        order = kept[np.argsort(-scores[kept], kind="stable")]
        ranked = scores[order]
        same = np.concatenate(([False], ranked[1:] == ranked[:-1], [False]))
        tied = np.flatnonzero(same[1:] | same[:-1])
        if len(tied):
            some = order[tied]
            rank = self._ranks(self.owners(level, positions[some], "document"))
            order[tied] = some[np.lexsort((positions[some], rank, -scores[some]))]
        return order[:n]

    def _first(self, level: Level, positions: Positions, n: int) -> Positions:
        """Of equal rows, indices that hold the first ``n``, without looking at every id."""
        found = []
        for at, segment, chosen, own in self.split(level, positions):
            documents = self.owners(level, positions[chosen], "document") - self.begins["document"][at]
            order = np.lexsort((own, segment.arrays["document.order"][documents]))[:n]
            found.append(np.arange(len(positions))[chosen][order])
        return np.concatenate(found)

    def _ranks(self, documents: Positions) -> Positions:
        """For each document, its place when these, or more, are sorted by id."""
        if len(self.segments) == 1:
            order: Positions = self.segments[0].arrays["document.order"][documents]
            return order
        different, inverse = np.unique(documents, return_inverse=True)
        rank = np.empty(len(different), np.intp)
        ids = self.ids(different)
        rank[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
        ranks: Positions = rank[inverse]
        return ranks


def with_gone(segments: Sequence[Segment], rows: Rows) -> tuple[Positions, ...]:
    """For each segment, the positions of these documents."""
    return tuple(np.sort(segment.positions("document", rows)[1]) for segment in segments)
