"""A segment: the rows of some documents, on all three levels, as arrays that are never changed.

It is the one form in which rows are searched, whether its arrays are in memory or in a file of the cache. In it
a row is known by its position, and rows stand in row order: the parents of a document together, the children
of a parent together, in text order.

============================  ========================================================================
``LEVEL.row``                 row numbers, ascending
``LEVEL.terms``               how many terms each holds; a parent's and a document's are its children's
``child.codes``               int8 vectors, for the scan: times ``child.scale`` they are near the unit vector
``LEVEL.scale``               how far off a row's approximate cosine can be: the steps that its codes are in
``LEVEL.weight``              not of children: a row's cosine is the sum of its children's, times this
``LEVEL.exact``               float16 vectors, for the score; left out where the nest is asked instead
``document.id``, ``.id_at``   ids in UTF-8, one after the other, and where each begins
``document.order``            the place of each when all are sorted by id
``document.begin``, ``.end``  positions of the first parent and after the last
``parent.document``           position of the document
``parent.first``              position of the first child; one more at the end
``child.parent``              position of the parent
``child.start``, ``.stop``    offsets in the document's text
``word.text``, ``.text_at``   the words, sorted, in UTF-8, and where each begins
``word.first``                where the postings of each begin; one more at the end
``word.parents``              how many parents hold each
``word.documents``            how many documents hold each
``posting.child``, ``.count`` for each word the children that hold it, ascending, and how often
============================  ========================================================================

Files of the cache add ``LEVEL.exact_sum`` and ``word.sum``: checksums of each vector and of each word's postings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from nestling.errors import StoreError
from nestling.types import LEVELS, Level
from nestling.view import Rows, Vectors

# 2**64 over the golden ratio: its multiples are spread evenly.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Positions = NDArray[np.intp]


class CacheDamagedError(StoreError):
    """What is kept beside the nest is not what was written there; it is thrown away and made anew."""


class Lookups(Protocol):
    """Reads a few values from a file, without mapping more of it into memory than is asked for."""

    def rows(self, name: str, positions: Positions) -> Array:
        """The rows of an array at these positions."""
        ...

    def span(self, name: str, begin: int, end: int) -> Array:
        """The values of an array from one position up to another."""
        ...

    def check(self) -> None:
        """Read all of the file.

        Raises:
            CacheDamagedError: It does not hold what was written.
        """
        ...


# The step of a child's codes is no larger. That of a sum is, where children almost cancel out: such rows are few.
COARSE = 1 / 127 + 1e-6


@dataclass(frozen=True, eq=False)
class Segment:
    """Rows of some documents.

    Attributes:
        arrays: By name, as the module says.
        name: Of its file; "" where it is in memory.
        lookups: Reads vectors and postings where it is in a file.
    """

    arrays: Arrays
    name: str = ""
    lookups: Lookups | None = None

    def count(self, level: Level) -> int:
        """How many rows a level has."""
        return len(self.arrays[f"{level}.row"])

    def last(self, level: Level) -> int:
        """The highest row number of a level; 0 where there is none."""
        row = self.arrays[f"{level}.row"]
        return int(row[-1]) if len(row) else 0

    @cached_property
    def coarse(self) -> dict[Level, Positions]:
        """For each level, positions of rows whose approximate cosines say little."""
        return {level: np.flatnonzero(self.arrays[f"{level}.scale"] > COARSE) for level in LEVELS}

    @cached_property
    def coarsest(self) -> dict[Level, float]:
        """For each level, the largest step of the other rows."""
        scales = {level: self.arrays[f"{level}.scale"] for level in LEVELS}
        return {level: float(scale[scale <= COARSE].max(initial=0)) for level, scale in scales.items()}

    def positions(self, level: Level, rows: Rows) -> tuple[Positions, Positions]:
        """Which of these row numbers are here, as indices, and their positions."""
        own = self.arrays[f"{level}.row"]
        if not len(own):
            return np.zeros(0, np.intp), np.zeros(0, np.intp)
        # where nothing was removed, numbers follow one another
        found = np.clip(rows - own[0], 0, len(own) - 1)
        if np.any(own[found] != rows):
            found = np.minimum(np.searchsorted(own, rows), len(own) - 1)
        known = np.flatnonzero(own[found] == rows)
        return known, found[known]

    def below(self, level: Level, positions: Positions) -> tuple[Array, Array]:
        """For each document or parent, the position of its first parent or child, and the one after its last."""
        if level == "document":
            return self.arrays["document.begin"][positions], self.arrays["document.end"][positions]
        first = self.arrays["parent.first"]
        return first[positions], first[positions + 1]

    def ids(self, documents: Positions) -> list[bytes]:
        """The ids of these documents, in UTF-8, whose order is the order of ids."""
        text, at = self.arrays["document.id"].data, self.arrays["document.id_at"]
        ends = zip(at[documents].tolist(), at[documents + 1].tolist(), strict=True)
        return [bytes(text[begin:end]) for begin, end in ends]

    def word(self, term: str) -> int | None:
        """The number of a word, or None where no child holds it."""
        wanted = term.encode()
        text, at = self.arrays["word.text"].data, self.arrays["word.text_at"]
        low, high = 0, len(at) - 2
        while low <= high:
            middle = (low + high) // 2
            found = bytes(text[at[middle] : at[middle + 1]])
            if found == wanted:
                return middle
            low, high = (middle + 1, high) if found < wanted else (low, middle - 1)
        return None

    def postings(self, word: int) -> tuple[Array, Array]:
        """The children that hold a word, and how often each does.

        Raises:
            CacheDamagedError: The file does not hold what was written.
        """
        first = self.arrays["word.first"]
        begin, end = int(first[word]), int(first[word + 1])
        if self.lookups is None:
            return self.arrays["posting.child"][begin:end], self.arrays["posting.count"][begin:end]
        child, count = (self.lookups.span(name, begin, end) for name in ("posting.child", "posting.count"))
        if postings_sum(child, count) != self.arrays["word.sum"][word]:
            raise CacheDamagedError(f"the postings of a word in {self.name} are damaged")
        return child, count

    def exact(self, level: Level, positions: Positions) -> Vectors | None:
        """The float16 vectors at these positions, or None where they are to be asked of the nest.

        Raises:
            CacheDamagedError: The file does not hold what was written.
        """
        name = f"{level}.exact"
        if name not in self.arrays or self.lookups is None:
            return self.arrays[name][positions] if name in self.arrays else None
        found = self.lookups.rows(name, positions)
        if not np.array_equal(row_sums(found), self.arrays[f"{name}_sum"][positions]):
            raise CacheDamagedError(f"vectors in {self.name} are damaged")
        return found


def spread(begin: Array, end: Array) -> Positions:
    """All numbers of each range, one range after the other."""
    lengths = np.asarray(end, np.intp) - np.asarray(begin, np.intp)
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    shift: Positions = np.repeat(np.asarray(begin, np.intp) - (ends - lengths), lengths)
    return shift + np.arange(total)


def row_sums(vectors: Array) -> Array:
    """A checksum of each row: of its 64-bit words, each times an odd number of its own.

    Unlike a hash, which takes one row at a time, it is made of all rows at once; each search asks it of hundreds.
    """
    rows = np.ascontiguousarray(vectors).view(np.uint16)
    short = -rows.shape[1] % 4
    words = (np.pad(rows, ((0, 0), (0, short))) if short else rows).view(np.uint64)
    factors = (np.arange(1, words.shape[1] + 1, dtype=np.uint64) * GOLDEN) ^ (GOLDEN >> np.uint64(7))
    sums: Array = np.einsum("ij,j->i", words, factors | np.uint64(1))
    return sums


def postings_sum(child: Array, count: Array) -> int:
    """A checksum of one word's postings."""
    return int(xxh3_64_intdigest(count.data, seed=xxh3_64_intdigest(child.data)))
