"""A small real embedder for tests: hashed words, so that texts with words in common are near."""

from __future__ import annotations

import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray


class WordHash:
    """Each word adds to one of 64 dimensions; ``calls`` keeps every text that was embedded."""

    fingerprint = "wordhash-64"
    dimension = 64
    max_tokens = 512
    languages: frozenset[str] | None = None
    spec = None

    def __init__(self, fail_on: str | None = None) -> None:
        self.calls: list[str] = []
        self.fail_on = fail_on

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Count hashed words, to length 1; raise where the text to fail on is met."""
        self.calls += texts
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            if self.fail_on and self.fail_on in text:
                from nestling.errors import ModelError

                raise ModelError("the model was asked to fail")
            for word in re.findall(r"\w+", text.lower()) or [""]:
                vectors[row, crc32(word.encode()) % self.dimension] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Like documents, without being kept in ``calls``."""
        before = list(self.calls)
        vectors = self.embed_documents(texts)
        self.calls = before
        return vectors

    def count_tokens(self, text: str) -> int:
        """Words and punctuation marks."""
        return len(re.findall(r"\w+|[^\w\s]", text))
