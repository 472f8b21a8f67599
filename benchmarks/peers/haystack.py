"""Haystack's AutoMergingRetriever and SentenceWindowRetriever over its in-memory store, saved to disk.

Defaults (haystack-ai 3.4.1): DocumentSplitter cuts 200 words; SentenceWindowRetriever shows 3 splits on both sides;
InMemoryEmbeddingRetriever returns 10; AutoMergingRetriever merges above 0.5. HierarchicalDocumentSplitter has no
default sizes, and its example's 10 and 3 words are a toy's, so only sizes equal to ours are measured. Sizes in
characters become words by the mean length of a word of the documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from haystack import Document as Card
from haystack.components.preprocessors import DocumentSplitter, HierarchicalDocumentSplitter
from haystack.components.retrievers import AutoMergingRetriever, SentenceWindowRetriever
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from nestling.types import Document

from .peer import DEPTH, FEW, STEPS, Peer
from .places import Span


def words(documents: Sequence[Document], characters: int) -> int:
    """As many words, as Haystack tells words, as have so many characters on average."""
    total = sum(len(document.text) for document in documents)
    spaces = sum(document.text.count(" ") for document in documents)
    return max(1, round(characters * spaces / total))


class InMemory(Peer):
    """What both have in common: splits with vectors in a store that is one JSON file."""

    _store: InMemoryDocumentStore

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        # as many words as before, where documents are added later
        self._words = cache(lambda size: words(self._first, size))
        self._first: Sequence[Document] = ()

    def _cards(self, documents: Sequence[Document]) -> list[Card]:
        return [
            Card(id=one.id, content=one.text, meta={"document": one.id, "title": one.title})
            for one in documents
        ]

    def _embedded(self, cards: list[Card]) -> list[Card]:
        vectors = self.embedder.embed_documents([card.content or "" for card in cards]).tolist()
        return [replace(card, embedding=vector) for card, vector in zip(cards, vectors, strict=True)]

    def open(self) -> None:
        """Read the file."""
        self._store = InMemoryDocumentStore.load_from_disk(str(self.folder / "splits.json"))
        self._nearest = lru_cache(maxsize=1)(self._nearest_cards)

    def _nearest_cards(self, question: str, k: int = DEPTH) -> list[Card]:
        vector = self.embedder.embed_queries([question])[0].tolist()
        retriever = InMemoryEmbeddingRetriever(self._store, top_k=k)
        return retriever.run(query_embedding=vector)["documents"]

    def remove(self, document: Document) -> None:
        """By metadata, which we put there."""
        self._store.delete_by_filter({"field": "meta.document", "operator": "==", "value": document.id})

    def stored(self) -> Sequence[str]:
        """The splits' ids."""
        return [card.id for card in self._store.filter_documents()]


class SentenceWindow(InMemory):
    """Splits are matched; the split with its neighbours is shown."""

    def __init__(self, folder: Path, size: int | None, window: int) -> None:
        super().__init__(folder)
        self._size = size
        self._window = window

    def _splits(self, documents: Sequence[Document]) -> list[Card]:
        self._first = self._first or documents
        length = {} if self._size is None else {"split_length": self._words(self._size)}
        return self._embedded(DocumentSplitter(**length).run(self._cards(documents))["documents"])

    def build(self, documents: Sequence[Document]) -> None:
        """Splits into a store."""
        self._store = InMemoryDocumentStore()
        self._store.write_documents(self._splits(documents))
        self._store.save_to_disk(str(self.folder / "splits.json"))

    def open(self) -> None:
        """Read the file."""
        super().open()
        self._around = SentenceWindowRetriever(self._store, self._window)
        self._span = cache(self._window_at)

    def ask(self, question: str) -> Sequence[object]:
        """The windows of the 10 nearest splits."""
        return self._around.run(self._nearest_cards(question, 10))["context_windows"]

    def pieces(self, question: str, k: int) -> Iterator[Span]:
        """The windows' places."""
        for card in self._nearest(question)[:k]:
            yield self._span(card.id)

    def _window_at(self, id: str) -> Span:
        cards = self._store.filter_documents({"field": "id", "operator": "==", "value": id})
        around: list[Card] = self._around.run(cards)["context_documents"]
        start = min(card.meta["split_idx_start"] for card in around)
        end = max(card.meta["split_idx_start"] + len(card.content or "") for card in around)
        document = around[0].meta["document"]
        assert self.places is not None
        assert all(self._stands(card) for card in around)
        return Span(document, start, end)

    def _stands(self, card: Card) -> bool:
        assert self.places is not None
        text = self.places.text[card.meta["document"]]
        return text.startswith(card.content or "", card.meta["split_idx_start"])

    def add(self, documents: Sequence[Document]) -> None:
        """Write again; as the default policy refuses, with the one that overwrites."""
        self._store.write_documents(self._splits(documents), policy=DuplicatePolicy.OVERWRITE)

    def edit(self, document: Document) -> None:
        """The same: the store knows no documents, only splits."""
        self.add([document])

    def texts(self, question: str) -> Sequence[str]:
        """The windows' texts."""
        return self._around.run(self._nearest_cards(question, FEW))["context_windows"]


class Known:
    """The parents by id, for measuring what is found: the real store reads all of them to find one."""

    def __init__(self, cards: dict[str, Card]) -> None:
        self.cards = cards

    def filter_documents(self, filters: dict[str, Any]) -> list[Card]:
        """The parent of an id."""
        return [self.cards[filters["value"]]]


class AutoMerged(InMemory):
    """Leaves are matched; parents are shown where more than half of their children are found."""

    depths = STEPS

    def __init__(self, folder: Path, parent: int, child: int) -> None:
        super().__init__(folder)
        self._sizes = (parent, child)

    def _tree(self, documents: Sequence[Document]) -> tuple[list[Card], list[Card]]:
        """Leaves and what is above them."""
        self._first = self._first or documents
        blocks = {self._words(size) for size in self._sizes}
        cards = HierarchicalDocumentSplitter(blocks).run(self._cards(documents))["documents"]
        leaves = [card for card in cards if not card.meta["__children_ids"]]
        return self._embedded(leaves), [card for card in cards if card.meta["__children_ids"]]

    def build(self, documents: Sequence[Document]) -> None:
        """Leaves into one store, parents into another, as in the example."""
        leaves, parents = self._tree(documents)
        for cards, name in ((leaves, "splits.json"), (parents, "parents.json")):
            store = InMemoryDocumentStore()
            store.write_documents(cards)
            store.save_to_disk(str(self.folder / name))

    def open(self) -> None:
        """Read both files."""
        super().open()
        self._parents = InMemoryDocumentStore.load_from_disk(str(self.folder / "parents.json"))
        self._by_id = Known(self._parents.storage)

    def _merged(self, cards: list[Card], parents: Any) -> list[Card]:
        # a document of one split has no parent, and the retriever refuses it
        single = [card for card in cards if not card.meta["__parent_id"]]
        return (
            single
            + AutoMergingRetriever(parents).run([card for card in cards if card.meta["__parent_id"]])[
                "documents"
            ]
        )

    def ask(self, question: str) -> Sequence[object]:
        """The 10 nearest leaves, merged."""
        return self._merged(self._nearest_cards(question, 10), self._parents)

    def pieces(self, question: str, k: int) -> list[Span]:
        """The places of what ``k`` leaves become."""
        spans = []
        for card in self._merged(self._nearest(question)[:k], self._by_id):
            start = self._start_of(card)
            spans.append(Span(card.meta["document"], start, start + len(card.content or "")))
            assert self.places is not None
            assert self.places.text[card.meta["document"]].startswith(card.content or "", start)
        return spans

    def _start_of(self, card: Card) -> int:
        """A split's start is told in what it was cut from."""
        start = card.meta.get("split_idx_start", 0) if card.meta["__parent_id"] else 0
        above = card.meta["__parent_id"]
        return start + (self._start_of(self._by_id.cards[above]) if above else 0)

    def add(self, documents: Sequence[Document]) -> None:
        """Write again; as the default policy refuses, with the one that overwrites."""
        leaves, parents = self._tree(documents)
        self._store.write_documents(leaves, policy=DuplicatePolicy.OVERWRITE)
        self._parents.write_documents(parents, policy=DuplicatePolicy.OVERWRITE)

    def edit(self, document: Document) -> None:
        """The same: the store knows no documents, only splits."""
        self.add([document])

    def texts(self, question: str) -> Sequence[str]:
        """What a few leaves become."""
        merged = self._merged(self._nearest_cards(question, FEW), self._parents)
        return [card.content or "" for card in merged]
