"""The embedder seam: what Nestling asks of an embedding model, in seven names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turns text into unit vectors. Plain attributes do for the four properties."""

    @property
    def fingerprint(self) -> str:
        """Names the model exactly (weights, pooling, prefixes).

        Two embedders with the same fingerprint give the same vectors. A nest refuses to open with another one.
        """
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """The tokens of a text that it reads; the rest is cut off by the model."""
        ...

    @property
    def languages(self) -> frozenset[str] | None:
        """ISO 639-1 codes it can represent, or None for any.

        Where a query is in another language, the dense channel does not vote.
        """
        ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found: shape ``(len(texts), dimension)``, float32, rows of length 1, in order."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions: same shape and promises as `embed_documents`."""
        ...

    def count_tokens(self, text: str) -> int:
        """The number of tokens of ``text``, special tokens not counted."""
        ...
