"""How many documents go together: to be looked up, and to be embedded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nestling.ingest.prepare import Prepared
from nestling.types import Document, Failure

# Documents are prepared together until they hold this many children, so that small ones share a call of the model;
# few enough to keep memory and the wait for the first commit small.
WINDOW = 256
# Characters of documents looked at together for what is already stored; an input counts as at least 100.
LOOK_AHEAD = 100_000
LEAST_INPUT = 100


def count_documents(source: object) -> int | None:
    """How many inputs there are, where each is one document; a path may be a folder of them."""
    if isinstance(source, Document):
        return 1
    if isinstance(source, list | tuple) and all(isinstance(item, Document) for item in source):
        return len(source)
    return None


def batches(inputs: Iterable[Document | Failure]) -> Iterator[list[Document | Failure]]:
    """Inputs in lists that are looked up together; where the iterable breaks off, what it gave comes first."""
    batch: list[Document | Failure] = []
    size = 0
    try:
        for item in inputs:
            batch.append(item)
            size += max(LEAST_INPUT, len(item.text) if isinstance(item, Document) else 0)
            if size >= LOOK_AHEAD:
                yield batch
                batch, size = [], 0
    except Exception:
        # the user's own iterable broke off: what it gave is stored first
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def windows(documents: Iterable[Prepared]) -> Iterator[list[Prepared]]:
    """Prepared documents in lists that are embedded together."""
    window: list[Prepared] = []
    size = 0
    for prepared in documents:
        window.append(prepared)
        size += len(prepared.texts)
        if size >= WINDOW:
            yield window
            window, size = [], 0
    if window:
        yield window
