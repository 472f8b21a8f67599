"""What a search reads: one committed state of a store, as ranked lists and stored values.

Stores make a `View`; retrieval works on it without knowing which store it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nestling.settings import Recipe
from nestling.types import Document, Failure, Level, Metadata, Parent
from nestling.where import Where

Rows = NDArray[np.int64]
Scores = NDArray[np.float64]
Vectors = NDArray[np.float32]
# one entry a query word: the forms under which documents may have indexed it
Terms = Sequence[tuple[str, ...]]


EditionState = Literal["live", "building", "retired"]


@dataclass(frozen=True, slots=True)
class Build:
    """What decides how texts become the rows of an edition: equal builds make equal rows.

    Attributes:
        recipe: The sizes.
        embedder: The fingerprint of the model.
        analyzer: The version of what makes terms.
        splitter: The version of what cuts.
        spec: What the model can be made from again, or None; it decides nothing.
    """

    recipe: Recipe
    embedder: str
    analyzer: int
    splitter: int
    spec: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Edition:
    """One build's rows for the documents of a nest.

    Attributes:
        number: From 1; never used again.
        state: ``live`` is the one that is searched, additions reach it and those that are ``building``;
            ``retired`` ones are left as they are, but for what is removed.
        build: How its rows are made.
        made: When it was begun, ISO 8601 in UTC, or None where a nest is older than such notes.
        switched: When it last became live, or None.
        turn: Grows with each switch: of those that were live, the latest has the highest. 0: it never was.
    """

    number: int
    state: EditionState
    build: Build
    made: str | None = None
    switched: str | None = None
    turn: int = 0


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as it is read back to be indexed: its row number, itself, and its language."""

    row: int
    document: Document
    language: str


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


class Damage(NamedTuple):
    """Something that is wrong with a nest.

    Attributes:
        sentence: What is wrong, and where.
        remedy: ``derive``: the document's rows can be made anew from its text; ``embed``: so can its vectors,
            by the model; ``drop``: an edition that is not live can do without its rows until it is caught up;
            ``mend``: the store can put it right by itself; ``none``: something is lost.
        document: The id of the document it is in; "" where it is in none.
        edition: The number of the edition that is not live it is in; else 0.
    """

    sentence: str
    remedy: Literal["derive", "embed", "drop", "mend", "none"]
    document: str = ""
    edition: int = 0


class Derived(NamedTuple):
    """What a document's stored text and spans give, to be held to what an edition holds.

    Attributes:
        child_digests: Of the embedded text of each child, in order over all parents.
        terms: Of each child; None where the edition's were made by other rules than today's.
        headings: Of each parent, where the text is still cut at the same places; else None.
    """

    child_digests: Sequence[bytes]
    terms: Sequence[Sequence[str]] | None
    headings: Sequence[tuple[str, ...]] | None


class Derive(Protocol):
    """What stored documents are held to when a nest is checked."""

    def digest(self, document: Document) -> bytes:
        """Of its title, text and metadata."""
        ...

    def rows(self, document: Document, parents: Sequence[Parent], language: str, edition: Edition) -> Derived:
        """From a document, its parents in an edition, and its language."""
        ...


# How many documents are done, of how many; how many children; the id of the last one.
Told = Callable[[int, int, int, str], None]


class View(Protocol):
    """One committed state of a store, unchanged while it is held: its documents, in the rows of one edition."""

    change: int
    edition: Edition

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

    def text(self, id: str) -> str | None:
        """The text of a document, or None where there is none."""
        ...

    def files(self, ids: Sequence[str] | None = None) -> dict[str, str]:
        """The file that each of these documents, or of all, was read from; others are left out."""
        ...

    def leads(self, children: Sequence[int]) -> dict[int, str]:
        """What stands before each of these children when it is embedded."""
        ...

    def embedded(self, digests: Sequence[bytes], embedder: str) -> dict[bytes, Vectors]:
        """The vector of each of these texts that any edition has stored under the embedder of this fingerprint."""
        ...

    def editions(self) -> tuple[Edition, ...]:
        """All editions, by number."""
        ...

    def sizes(self) -> dict[int, tuple[int, int]]:
        """For each edition, how many documents it holds, and how many children."""
        ...

    def lacking(self, after: int, characters: int) -> list[StoredDocument]:
        """The next documents, by row number, that the edition does not hold.

        Args:
            after: Only row numbers above it.
            characters: No more once their texts hold so many; one document at least.
        """
        ...

    def read(self, id: str) -> tuple[Document, tuple[Parent, ...]] | None:
        """A document and its parents by document id or parent id, or None."""
        ...

    def stored(self, ids: Sequence[str] | None = None) -> Iterator[Document | Failure]:
        """Every document whole, by id, or those given; a failure in the place of one that cannot be read."""
        ...

    def documents(self, where: Where | None) -> Iterator[dict[str, Any]]:
        """Every document's id, title, source, metadata and counts, by id."""
        ...

    def stats(self) -> dict[str, Any]:
        """Counts and sizes."""
        ...

    def check(self, derive: Derive | None = None, told: Told | None = None) -> list[Damage]:
        """Everything that is damaged, at most one of a kind for each document; empty when all is well.

        Args:
            derive: Gives what texts are held to; without it, only what needs no analysis is looked at.
            told: Called after each document.
        """
        ...
