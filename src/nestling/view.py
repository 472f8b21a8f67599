"""What a search reads: one committed state of a store, as ranked lists and stored values.

Stores make a `View`; retrieval works on it without knowing which store it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nestling.types import Document, Failure, Level, Metadata, Parent
from nestling.where import Where

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]
Vectors = NDArray[np.float32]
# one entry a query word: the forms under which documents may have indexed it
Terms = Sequence[tuple[str, ...]]


class Ranked(NamedTuple):
    """A ranked list: row numbers and scores, best first; ties by document id, then position."""

    rows: Rows
    scores: Scores


class Family(NamedTuple):
    """All children of some documents, by document id, then position. Arrays of one length.

    Neighbours in the arrays are neighbours in the text where their ``document`` is the same and one starts
    no later than the other stops.
    """

    child: Rows
    parent: Rows
    document: Rows
    start: Rows
    stop: Rows


@dataclass(frozen=True, slots=True)
class StoredParent:
    """A parent as it is read back, with what a passage shows of its document; metadata is merged."""

    row: int
    document: int
    id: str
    document_id: str
    title: str
    heading: tuple[str, ...]
    metadata: Metadata
    source: str | None
    start: int
    end: int
    text: str


class View(Protocol):
    """One committed state of a store, unchanged while it is held."""

    change: int

    def nearest(self, level: Level, vector: Vectors, n: int, where: Where | None) -> Ranked:
        """The ``n`` rows of a level with the highest cosine to a unit vector, exact to 1e-3."""
        ...

    def match(self, level: Level, terms: Terms, n: int, where: Where | None) -> Ranked:
        """The ``n`` rows of a level with the highest BM25, of those that hold a term."""
        ...

    def family(self, children: Rows, parents: Rows, documents: Rows, where: Where | None) -> Family:
        """All children, under allowed parents, of every document that any of these rows is in."""
        ...

    def similarity(self, vector: Vectors, children: Rows) -> Scores:
        """The cosine of each of these children to a unit vector."""
        ...

    def coverage(self, terms: Terms, parents: Rows) -> Scores:
        """The share, 0 to 1, of the terms' IDF weight that is found in each of these parents."""
        ...

    def parents(self, rows: Sequence[int]) -> dict[int, StoredParent]:
        """The parents of these row numbers."""
        ...

    def languages(self) -> Mapping[str, int]:
        """How many documents are in each language; "" counts those where it could not be told."""
        ...

    def known(self, ids: Sequence[str]) -> dict[str, tuple[bytes, str | None]]:
        """The stored digest and source of each of these documents that exists."""
        ...

    def leads(self, children: Sequence[int]) -> dict[int, str]:
        """What stands before each of these children when it is embedded."""
        ...

    def embedded(self, digests: Sequence[bytes]) -> dict[bytes, Vectors]:
        """The stored vector of each of these embedded texts that exists."""
        ...

    def read(self, id: str) -> tuple[Document, tuple[Parent, ...]] | None:
        """A document and its parents by document id or parent id, or None."""
        ...

    def stored(self) -> Iterator[Document | Failure]:
        """Every document whole, by id; a failure in the place of one that cannot be read."""
        ...

    def documents(self, where: Where | None) -> Iterator[dict[str, Any]]:
        """Every document's id, title, source, metadata and counts, by id."""
        ...

    def stats(self) -> dict[str, Any]:
        """Counts and sizes."""
        ...

    def check(self) -> list[str]:
        """What is damaged, a sentence each; empty when all is well."""
        ...
