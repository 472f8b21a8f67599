"""Making stored documents by hand, without splitter, analyzer or model."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from nestling.stores.base import Entry
from nestling.types import Child, Document, Parent
from wordhash import WordHash

META = {"recipe": {}, "embedder": {}, "analyzer": 1, "splitter": 1}


def entry(
    id: str,
    parents: list[list[str]],
    *,
    metadata: dict[str, Any] | None = None,
    own: list[dict[str, Any]] | None = None,
    language: str = "en",
    vectors: np.ndarray | None = None,
) -> Entry:
    """A document of parents, each a list of its children's texts."""
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
    document = Document(id, "".join(texts), f"Title of {id}", metadata or {}, f"{id}.txt")
    return Entry(
        document=document,
        parents=tuple(made),
        language=language,
        digest=blake2b(repr((document.text, document.metadata)).encode(), digest_size=16).digest(),
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
