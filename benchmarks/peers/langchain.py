"""LangChain's ParentDocumentRetriever over Chroma, as in its docstring, both stores kept on disk.

The docstring (langchain-classic 1.0.8) has parents of 2,000 and children of 400 characters; the splitter repeats
200 characters by default (langchain-text-splitters 1.1.3), the vector store returns 4 children (langchain-chroma
1.1.0).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from langchain_chroma import Chroma
from langchain_classic.retrievers import ParentDocumentRetriever
from langchain_classic.storage import LocalFileStore, create_kv_docstore
from langchain_core.documents import Document as Card
from langchain_core.embeddings import Embeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter

from nestling.types import Document

from .embedding import Remembered
from .peer import DEPTH, FEW, Peer
from .places import Span


class Wrapped(Embeddings):
    """The model as LangChain wants it."""

    def __init__(self, embedder: Remembered) -> None:
        self._embedder = embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed texts."""
        return self._embedder.embed_documents(texts).tolist()

    def embed_query(self, text: str) -> list[float]:
        """Embed a question."""
        return self._embedder.embed_queries([text])[0].tolist()


class ParentDocuments(Peer):
    """Children of one size, parents of another, both repeating ``overlap`` characters."""

    _retriever: ParentDocumentRetriever
    _store: Chroma

    def __init__(self, folder: Path, parent: int, child: int, overlap: int) -> None:
        super().__init__(folder)
        self._sizes = (parent, child)
        self._overlap = overlap

    def build(self, documents: Sequence[Document]) -> None:
        """Fill both stores."""
        self.open()
        self.add(documents)

    def open(self) -> None:
        """Open both stores."""
        parent, child = (
            RecursiveCharacterTextSplitter(chunk_size=size, chunk_overlap=self._overlap, add_start_index=True)
            for size in self._sizes
        )
        self._store = Chroma(
            embedding_function=Wrapped(self.embedder), persist_directory=str(self.folder / "children")
        )
        self._retriever = ParentDocumentRetriever(
            vectorstore=self._store,
            docstore=create_kv_docstore(LocalFileStore(self.folder / "parents")),
            child_splitter=child,
            parent_splitter=parent,
        )

    def add(self, documents: Sequence[Document]) -> None:
        """Add, a document a call: Chroma refuses more than 5,461 children at once."""
        for document in documents:
            facts = {"document": document.id, "title": document.title}
            self._retriever.add_documents([Card(page_content=document.text, metadata=facts)])

    def ask(self, question: str) -> Sequence[object]:
        """The parents of the 4 nearest children."""
        return self._retriever.invoke(question)

    def _parents(self, question: str, k: int) -> list[Card]:
        self._retriever.search_kwargs = {"k": k}
        return self._retriever.invoke(question)

    def pieces(self, question: str, k: int = DEPTH) -> list[Span]:
        """The parents' places."""
        assert self.places is not None
        spans = [
            self.places.locate(card.metadata["document"], card.page_content, card.metadata["start_index"])
            for card in self._parents(question, k)
        ]
        return [span for span in spans if span]

    def stored(self) -> Sequence[str]:
        """The children's ids."""
        return self._store.get()["ids"]

    def texts(self, question: str) -> Sequence[str]:
        """The parents' texts."""
        return [card.page_content for card in self._parents(question, FEW)]
