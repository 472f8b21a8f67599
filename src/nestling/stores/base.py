"""The Store seam: what the nest asks of whatever keeps its rows.

A store returns ranked lists and stored values. Fusing, collapsing and packing happen elsewhere, so that
every store gives the same answer; one contract suite (``tests/stores/contract.py``) runs on all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from nestling.bounds import EVERYTHING, Bounds
from nestling.errors import StoreError
from nestling.types import Document, Parent
from nestling.view import Build, Edition, Vectors, View


class EditionsChangedError(StoreError):
    """What was prepared is not for the editions that are there now: prepare it again."""


class OutsideError(StoreError):
    """The id is that of a document which is not within the bounds: nothing was stored."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """What one edition holds of a document.

    Attributes:
        parents: In order, with their children.
        child_digests: Of the embedded text of each child, in order over all parents.
        terms: Of each child.
        vectors: One unit row a child, float32.
    """

    parents: tuple[Parent, ...]
    child_digests: Sequence[bytes]
    terms: Sequence[Sequence[str]]
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Entry:
    """One document with everything that is stored for it.

    Attributes:
        document: Its metadata is JSON.
        language: ISO 639-1, or "".
        digest: Of its title, text and metadata.
        editions: The numbers of the live edition and of those that are building, as they were known.
        rows: What each of these holds of it; the live one's must be there, others may be left for later.
        file: The absolute path of the file it was read from, or None.
    """

    document: Document
    language: str
    digest: bytes
    editions: frozenset[int]
    rows: Mapping[int, Indexed]
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stored document was read from this time, its content being the same.

    Attributes:
        id: Of the document.
        digest: Of its title, text and metadata.
        file: The absolute path of the file.
        source: As the document has it now.
    """

    id: str
    digest: bytes
    file: str
    source: str | None


class Dropped(NamedTuple):
    """What one step of dropping an edition did.

    Attributes:
        documents: How many documents' rows it removed.
        children: How many children were among these rows.
        after: The row number to go on after, or None when there is no more to do.
    """

    documents: int
    children: int
    after: int | None


class Store(Protocol):
    """Where a nest keeps its rows.

    Attributes:
        path: As given.
        meta: What the nest says of itself, by key.
        bounds: What all its documents must have, and what it shows nothing else than; see `nestling.stores.scoped`.
    """

    path: str
    bounds: Bounds

    @property
    def meta(self) -> Mapping[str, Any]:
        """What the nest says of itself, by key."""
        ...

    def view(self, edition: int | None = None, within: Bounds = EVERYTHING) -> AbstractContextManager[View]:
        """Hold the state of the last commit, of the live edition or of the one with this number.

        With ``within``, every answer is as if only the documents that are within the bounds were stored: those
        whose own metadata holds the values, and none of whose parents has one of the keys itself. Only what it
        costs, `View.change` and `View.editions` are those of the whole.
        """
        ...

    def reached(self) -> tuple[Edition, ...]:
        """The editions that additions reach: the live one, then those that are building."""
        ...

    def together(self) -> AbstractContextManager[None]:
        """Commit once all that this thread writes in the block; nothing of it, where the block fails.

        What is read in the block does not have to hold what was written in it.
        """
        ...

    def replace(
        self,
        entry: Entry,
        instead_of: tuple[str, str] | None = None,
        within: Bounds = EVERYTHING,
        *,
        itself: bool = False,
    ) -> None:
        """Store a document in place of what its id had, in one transaction.

        Args:
            entry: The document, with its rows.
            instead_of: The id of another document that goes in the same transaction, and the file from which
                it must have been read: it stays where it was not.
            within: What is replaced, and what goes, must be within these bounds.
            itself: Do nothing where the stored document is not, or no longer, one of the same digest.

        Raises:
            EditionsChangedError: It was prepared for other editions than those that are there now.
            OutsideError: Its id has a document that is not within the bounds.
        """
        ...

    def begin(self, build: Build) -> int:
        """Let additions reach an edition of this build from now on; returns its number.

        It is the live one, or one that is there already, unfinished or retired; else a new one.
        """
        ...

    def resume(self, edition: int) -> None:
        """Let additions reach a retired edition again; others are left as they are."""
        ...

    def index(self, edition: int, rows: Mapping[int, Indexed]) -> int:
        """Give an edition the rows of documents that it lacks, by row number, in one transaction.

        Documents that are gone, or that it holds by now, are left out.

        Returns:
            How many were stored.

        Raises:
            EditionsChangedError: It is retired, or gone.
        """
        ...

    def unindex(self, edition: int, ids: Iterable[str]) -> None:
        """Take the rows of documents from an edition, in one transaction: it lacks them from then on.

        Raises:
            EditionsChangedError: It is live.
        """
        ...

    def switch(self, edition: int) -> None:
        """Make an edition live and retire the one that was, in one transaction.

        Raises:
            EditionsChangedError: It lacks documents, is retired, or gone; nothing was changed.
        """
        ...

    def retire(self) -> list[int]:
        """Let additions no longer reach editions that are building; returns the numbers of all retired ones."""
        ...

    def drop(self, edition: int, after: int) -> Dropped:
        """Remove the rows of a few documents from a retired edition, in one transaction, and at last itself.

        Args:
            edition: Its number.
            after: Go on after this row number of a document.
        """
        ...

    def shrink(self) -> None:
        """Give room that is free in the store back to its disk, as far as that is cheap."""
        ...

    def remove(
        self, ids: Iterable[str], files: Mapping[str, str] | None = None, within: Bounds = EVERYTHING
    ) -> list[str]:
        """Remove documents in one transaction; returns the ids that existed.

        With ``files``, the file of each id, documents that were not read from that file stay; with ``within``
        those that are not within the bounds.
        """
        ...

    def refile(self, places: Iterable[Place], within: Bounds = EVERYTHING) -> None:
        """Set file and source of documents within bounds whose digest is still the same, in one transaction."""
        ...

    def keep(self, key: str, value: Any) -> None:
        """Set a JSON value of ``meta``, in one transaction."""
        ...

    def mend(self) -> None:
        """Put right all damages whose remedy is ``mend``, as far as that can be done."""
        ...

    def backup(self, to: Path) -> None:
        """Copy the state of the last commit to a new file, whole or not at all; others may write meanwhile."""
        ...

    def own_files(self) -> frozenset[tuple[int, int]]:
        """Device and inode of files and folders that nothing else here may open; none for a server."""
        ...

    def close(self) -> None:
        """Let go of files and connections; further calls fail."""
        ...


def mean_vectors(vectors: Vectors, counts: Sequence[int]) -> Vectors:
    """The normalised mean of each run of ``counts`` rows: shape ``(len(counts), dimension)``.

    A run whose vectors cancel out to nothing gives a row of zeros.
    """
    if not len(counts):
        return np.zeros((0, vectors.shape[1]), np.float32)
    starts = np.concatenate(([0], np.cumsum(counts[:-1]))).astype(np.intp)
    sums = np.add.reduceat(vectors.astype(np.float64), starts, axis=0)
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    means: Vectors = (sums / np.where(norms > 0, norms, 1)).astype(np.float32)
    return means
