"""Plain Chroma: chunks in a persistent collection, and nothing else.

Chroma cuts no text; its chunks are made by LangChain's RecursiveCharacterTextSplitter, as in Chroma's own report
on chunking. Ids are ours: the document's and the chunk's number. ``n_results`` is 10 by default.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chromadb
from langchain_text_splitters import RecursiveCharacterTextSplitter

from nestling.types import Document

from .peer import DEPTH, FEW, Peer
from .places import Span


class Chunks(Peer):
    """Chunks of one size, without overlap."""

    def __init__(self, folder: Path, size: int) -> None:
        super().__init__(folder)
        self._splitter = RecursiveCharacterTextSplitter(
            chunk_size=size, chunk_overlap=0, add_start_index=True
        )
        self._collection: Any = None

    def build(self, documents: Sequence[Document]) -> None:
        """Make the collection."""
        self.open()
        self.add(documents)

    def open(self) -> None:
        """Open the collection."""
        client = chromadb.PersistentClient(self.folder)
        self._collection = client.get_or_create_collection("chunks", embedding_function=None)

    def add(self, documents: Sequence[Document]) -> None:
        """Upsert chunk by chunk, a document a call (a call takes 5,461 at most)."""
        for document in documents:
            chunks = self._splitter.create_documents([document.text])
            texts = [chunk.page_content for chunk in chunks]
            if texts:
                self._collection.upsert(
                    ids=[f"{document.id}#{i}" for i in range(len(texts))],
                    documents=texts,
                    embeddings=self.embedder.embed_documents(texts),
                    metadatas=[{"document": document.id, **chunk.metadata} for chunk in chunks],
                )

    def _query(self, question: str, **k: int) -> Any:
        return self._collection.query(query_embeddings=self.embedder.embed_queries([question]), **k)

    def ask(self, question: str) -> Sequence[object]:
        """The nearest chunks."""
        return self._query(question)["documents"][0]

    def pieces(self, question: str, k: int = DEPTH) -> list[Span]:
        """The nearest chunks' places."""
        found = self._query(question, n_results=k)
        assert self.places is not None
        spans = [
            self.places.locate(facts["document"], text, facts["start_index"])
            for text, facts in zip(found["documents"][0], found["metadatas"][0], strict=True)
        ]
        return [span for span in spans if span]

    def edit(self, document: Document) -> None:
        """The same upsert."""
        self.add([document])

    def remove(self, document: Document) -> None:
        """By metadata, which we put there."""
        self._collection.delete(where={"document": document.id})

    def stored(self) -> Sequence[str]:
        """The chunks' ids."""
        return self._collection.get()["ids"]

    def texts(self, question: str) -> Sequence[str]:
        """The chunks' texts."""
        return self._query(question, n_results=FEW)["documents"][0]
