"""The Store seam: what the nest asks of whatever keeps its rows.

A store returns ranked lists and stored values. Fusing, collapsing and packing happen elsewhere, so that
every store gives the same answer; one contract suite (``tests/stores/contract.py``) runs on all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from nestling.types import Document, Parent
from nestling.view import Vectors, View


@dataclass(frozen=True, slots=True)
class Entry:
    """One document with everything that is stored for it.

    Attributes:
        document: Its metadata is JSON.
        parents: In order, with their children.
        language: ISO 639-1, or "".
        digest: Of its title, text and metadata.
        child_digests: Of the embedded text of each child, in order over all parents.
        terms: Of each child.
        vectors: One unit row a child, float32.
    """

    document: Document
    parents: tuple[Parent, ...]
    language: str
    digest: bytes
    child_digests: Sequence[bytes]
    terms: Sequence[Sequence[str]]
    vectors: Vectors


class Store(Protocol):
    """Where a nest keeps its rows."""

    path: str
    meta: Mapping[str, Any]

    def view(self) -> AbstractContextManager[View]:
        """Hold the state of the last commit."""
        ...

    def replace(self, entry: Entry, *, itself: bool = False) -> None:
        """Store a document in place of what its id had, in one transaction.

        Args:
            entry: The document with all its rows.
            itself: Do nothing where the stored document is not, or no longer, one of the same digest.
        """
        ...

    def remove(self, ids: Iterable[str]) -> list[str]:
        """Remove documents in one transaction; returns the ids that existed."""
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
        """Device and inode of files that nothing else in this process may open; none for a server."""
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
