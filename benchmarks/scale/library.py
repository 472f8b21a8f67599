"""As many realistic documents as are wanted, with vectors: real cards first, then cards put together anew.

The cards of ``medquad_cards`` are embedded once by the built-in model. A further document takes the shape of one
card and about half of its sentences, and the others from a second card; its vectors are the mean of those of the
children that its sentences come from, and some noise. So words have the frequencies of real text, and vectors lie
in the clusters of real ones; every document has one word of its own.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import corpora
import numpy as np

import nestling
from nestling.models.embedder import Vectors
from nestling.types import Document

CORPUS = "medquad_cards"
DIMENSION = 384
# the length of the noise beside a unit vector
NOISE = 0.35
# of a child, on average over these documents
CHARACTERS = 307
_SENTENCES = re.compile(r"[^.!?\n]*[.!?\n]+\s*|[^.!?\n]+")


def embed(path: Path) -> None:
    """Embed the cards with the built-in model, once (minutes), into a nest at this path."""
    with nestling.open(path, create=True) as nest:
        nest.add(corpora.read(CORPUS).documents)


def questions() -> list[str]:
    """The corpus' own questions."""
    return list(corpora.read(CORPUS).questions.values())


def documents(children: int) -> Iterator[Document]:
    """Documents that make about so many children, always the same."""
    cards = corpora.read(CORPUS).documents
    chance, made, n = random.Random(1), 0.0, 0
    while made < children:
        if n < len(cards):
            document = cards[n]
        else:
            document = _mixed(f"case-{n}", chance.choice(cards), chance.choice(cards), chance)
        yield replace(document, metadata={**document.metadata, "hundredth": n * 37 % 100})
        made += len(document.text) / CHARACTERS
        n += 1


def _mixed(id: str, shape: Document, other: Document, chance: random.Random) -> Document:
    theirs = _SENTENCES.findall(other.text) or [other.text]
    parts = [
        part if chance.random() < 0.5 else chance.choice(theirs) for part in _SENTENCES.findall(shape.text)
    ]
    return Document(id, "".join(parts), f"{shape.title} {id}", shape.metadata)


class Drawn:
    """Vectors without a model: the stored ones of texts that were embedded, else drawn as the module says."""

    fingerprint = "drawn-384"
    dimension = DIMENSION
    max_tokens = 256
    languages = frozenset({"en"})
    spec = None

    def __init__(self, cards: Path) -> None:
        self._cards = cards
        self._questions: dict[str, Vectors] = {}

    @cached_property
    def _known(self) -> tuple[dict[bytes, int], dict[str, int], Vectors]:
        """By the digest of an embedded text, and by a sentence, the index of a vector."""
        digests: dict[bytes, int] = {}
        sentences: dict[str, int] = {}
        vectors = []
        with nestling.open(self._cards) as nest, nest._store.view() as view:
            for info in nest.list():
                tree = nest.show(info.id)
                assert tree is not None
                for child in (child for parent in tree.parents for child in parent.children):
                    text = tree.document.text[child.start : child.end]
                    digest = blake2b((child.lead + text).encode(), digest_size=16).digest()
                    for sentence in _SENTENCES.findall(text):
                        sentences.setdefault(sentence.strip(), len(digests))
                    digests.setdefault(digest, len(digests))
            found = view.embedded(list(digests), nest.embedder.fingerprint)
            vectors = [found[digest] for digest in digests]
        return digests, sentences, np.stack(vectors)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Look up or draw."""
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Vectors:
        digests, sentences, vectors = self._known
        at = digests.get(blake2b(text.encode(), digest_size=16).digest())
        if at is not None:
            return vectors[at]
        seed = crc32(text.encode())
        sources = [sentences[s] for part in _SENTENCES.findall(text) if (s := part.strip()) in sentences]
        mean = vectors[sources or [seed % len(vectors)]].mean(axis=0)
        noise = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
        vector: Vectors = mean / np.linalg.norm(mean) + NOISE / np.linalg.norm(noise) * noise
        return vector / np.linalg.norm(vector)

    def know(self, questions: Mapping[str, Vectors]) -> None:
        """Take over the vectors of questions, so that asking them costs nothing."""
        self._questions |= questions

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Those that are known."""
        return np.stack([self._questions[text] for text in texts])

    def count_tokens(self, text: str) -> int:
        """About four characters a token."""
        return len(text) // 4
