"""Making stored documents by hand, without splitter, analyzer or model."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from nestling.settings import Recipe
from nestling.stores.base import Entry, Indexed
from nestling.types import Child, Document, Parent
from nestling.view import Build
from wordhash import WordHash

BUILD = Build(Recipe(), "wordhash-64", 1, 1)
OTHER = Build(Recipe(100, 200), "wordhash-64", 1, 1)


def entry(
    id: str,
    parents: list[list[str]],
    *,
    metadata: dict[str, Any] | None = None,
    own: list[dict[str, Any]] | None = None,
    language: str = "en",
    vectors: np.ndarray | None = None,
    editions: tuple[int, ...] = (1,),
) -> Entry:
    """A document of parents, each a list of its children's texts; the same in all ``editions``."""
    rows = indexed(id, parents, own=own, vectors=vectors)
    text = "".join(text for part in parents for text in part)
    document = Document(id, text, f"Title of {id}", metadata or {}, f"{id}.txt")
    return Entry(
        document=document,
        language=language,
        digest=blake2b(repr((document.text, document.metadata)).encode(), digest_size=16).digest(),
        editions=frozenset(editions),
        rows=dict.fromkeys(editions, rows),
    )


def indexed(
    id: str,
    parents: list[list[str]],
    *,
    own: list[dict[str, Any]] | None = None,
    vectors: np.ndarray | None = None,
) -> Indexed:
    """What an edition holds of a document."""
    made, at = [], 0
    for n, texts in enumerate(parents, 1):
        name = id if len(parents) == 1 else f"{id}§{n}"
        children, start = [], at
        for i, text in enumerate(texts):
            children.append(Child(f"{name}::{i:02d}", at, at + len(text)))
            at += len(text)
        heading = ("Top", f"Part {n}")
        made.append(Parent(name, start, at, heading, tuple(children), own[n - 1] if own else {}))
    texts = [text for part in parents for text in part]
    if vectors is None:
        vectors = WordHash().embed_documents(texts) if texts else np.zeros((0, 64), np.float32)
    digests = [blake2b(text.encode(), digest_size=16).digest() for text in texts]
    return Indexed(
        parents=tuple(made),
        child_digests=digests,
        terms=[text.lower().split() for text in texts],
        vectors=vectors,
    )


def query(text: str) -> np.ndarray:
    """The vector of a question."""
    return WordHash().embed_queries([text])[0]


def terms(text: str) -> list[tuple[str, ...]]:
    """The words of a question."""
    return [(word,) for word in dict.fromkeys(text.lower().split())]
