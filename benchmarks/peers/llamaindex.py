"""LlamaIndex's AutoMergingRetriever and sentence window, over the vector store that an index has by default.

Defaults (llama-index-core 0.14.25): HierarchicalNodeParser cuts 2,048, 512 and 128 tokens, 20 repeated; more than
half of a parent's children become the parent; SentenceWindowNodeParser embeds sentences and shows 3 more on both
sides; 2 nodes are returned. A node's metadata, here the title, is embedded with its text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from llama_index.core import Document as Source
from llama_index.core import QueryBundle, StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.node_parser import (
    HierarchicalNodeParser,
    NodeParser,
    SentenceSplitter,
    SentenceWindowNodeParser,
    get_leaf_nodes,
)
from llama_index.core.postprocessor import MetadataReplacementPostProcessor
from llama_index.core.retrievers import AutoMergingRetriever
from llama_index.core.schema import BaseNode, NodeWithScore
from pydantic import PrivateAttr

from nestling.types import Document

from .embedding import Remembered
from .peer import DEPTH, FEW, STEPS, Peer
from .places import Span


class Wrapped(BaseEmbedding):
    """The model as LlamaIndex wants it."""

    _embedder: Remembered = PrivateAttr()

    def __init__(self, embedder: Remembered) -> None:
        super().__init__(model_name=embedder.fingerprint)
        self._embedder = embedder

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._embedder.embed_documents(texts).tolist()

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._embedder.embed_queries([query])[0].tolist()

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def sized(size: int) -> SentenceSplitter:
    """The default splitter, counting characters instead of tokens, without overlap."""
    return SentenceSplitter(chunk_size=size, chunk_overlap=0, tokenizer=list)


def by_default() -> HierarchicalNodeParser:
    """2,048, 512 and 128 tokens."""
    return HierarchicalNodeParser.from_defaults()


def equal_sizes() -> HierarchicalNodeParser:
    """1,600 and 400 characters."""
    parsers = {"parent": sized(1600), "child": sized(400)}
    return HierarchicalNodeParser.from_defaults(node_parser_ids=list(parsers), node_parser_map=parsers)


def sentences() -> SentenceWindowNodeParser:
    """A sentence, and 3 on both sides."""
    return SentenceWindowNodeParser.from_defaults()


def equal_windows() -> SentenceWindowNodeParser:
    """At most 400 characters, and 2 such pieces on both sides, which is about 1,600."""
    return SentenceWindowNodeParser.from_defaults(sentence_splitter=sized(400).split_text, window_size=2)


class Indexed(Peer):
    """What both have in common: a VectorStoreIndex in JSON files."""

    _index: VectorStoreIndex

    def __init__(self, folder: Path, parser: Callable[[], NodeParser]) -> None:
        super().__init__(folder)
        self._parser = parser()

    def _sources(self, documents: Sequence[Document]) -> list[Source]:
        return [
            Source(id_=one.id, text=one.text, metadata={"title": one.title} if one.title else {})
            for one in documents
        ]

    def open(self) -> None:
        """Read the files."""
        storage = StorageContext.from_defaults(persist_dir=str(self.folder))
        index = load_index_from_storage(
            storage, embed_model=Wrapped(self.embedder), transformations=[self._parser]
        )
        assert isinstance(index, VectorStoreIndex)
        self._index = index
        self._nearest = lru_cache(maxsize=1)(self._nearest_nodes)
        self._at = cache(self._find)

    def _nearest_nodes(self, question: str) -> list[NodeWithScore]:
        return self._index.as_retriever(similarity_top_k=DEPTH).retrieve(question)

    def _find(self, id: str) -> Span | None:
        """The place of a node: a splitter gives its start in the node that it was cut from."""
        node: Any = self._index.docstore.get_document(id)
        near = node.start_char_idx
        if node.parent_node is not None:
            above = self._at(node.parent_node.node_id)
            near = None if above is None or near is None else above.start + near
        assert self.places is not None
        return self.places.locate(node.ref_doc_id, node.text, near)

    def remove(self, document: Document) -> None:
        """By the document's id."""
        self._index.delete_ref_doc(document.id, delete_from_docstore=True)

    def stored(self) -> Sequence[str]:
        """The nodes that have a vector."""
        return list(self._index.vector_store.data.embedding_dict)


class Given:
    """Retrieves what it was given: the first of a list asked for once."""

    def __init__(self, nodes: list[NodeWithScore]) -> None:
        self._nodes = nodes

    def retrieve(self, _: QueryBundle) -> list[NodeWithScore]:
        """All of it."""
        return list(self._nodes)


class AutoMerged(Indexed):
    """Leaves are matched; parents are shown where more than half of their children are found."""

    depths = STEPS

    def build(self, documents: Sequence[Document]) -> None:
        """Leaves into the index, all nodes into its document store."""
        nodes = self._parser.get_nodes_from_documents(self._sources(documents))
        storage = StorageContext.from_defaults()
        storage.docstore.add_documents(nodes)
        model = Wrapped(self.embedder)
        VectorStoreIndex(get_leaf_nodes(nodes), storage_context=storage, embed_model=model)
        storage.persist(str(self.folder))

    def add(self, documents: Sequence[Document]) -> None:
        """The same again."""
        nodes = self._parser.get_nodes_from_documents(self._sources(documents))
        self._index.docstore.add_documents(nodes)
        self._index.insert_nodes(get_leaf_nodes(nodes))

    def _retrieve(self, question: str, nearest: Any) -> list[NodeWithScore]:
        return AutoMergingRetriever(nearest, self._index.storage_context).retrieve(question)

    def ask(self, question: str) -> Sequence[object]:
        """The 2 nearest leaves, merged."""
        return self._retrieve(question, self._index.as_retriever())

    def pieces(self, question: str, k: int) -> list[Span]:
        """The places of what ``k`` leaves become."""
        nodes = self._retrieve(question, Given(self._nearest(question)[:k]))
        return [span for node in nodes if (span := self._at(node.node.node_id))]

    def edit(self, document: Document) -> None:
        """Remove, and add."""
        self.remove(document)
        self.add([document])

    def texts(self, question: str) -> Sequence[str]:
        """What a few leaves become."""
        nodes = self._retrieve(question, self._index.as_retriever(similarity_top_k=FEW))
        return [node.node.get_content() for node in nodes]


class SentenceWindow(Indexed):
    """Sentences are matched; the sentence with its neighbours is shown."""

    def __init__(self, folder: Path, parser: Callable[[], NodeParser]) -> None:
        super().__init__(folder, parser)
        self._spans: dict[str, Span | None] = {}

    def build(self, documents: Sequence[Document]) -> None:
        """Sentences into the index."""
        index = VectorStoreIndex.from_documents(
            self._sources(documents), transformations=[self._parser], embed_model=Wrapped(self.embedder)
        )
        index.storage_context.persist(str(self.folder))

    def add(self, documents: Sequence[Document]) -> None:
        """The documented call for documents that may be there already."""
        self._index.refresh_ref_docs(self._sources(documents))

    def edit(self, document: Document) -> None:
        """The same."""
        self.add([document])

    def _windows(self, question: str, **k: int) -> list[NodeWithScore]:
        nodes = self._index.as_retriever(**k).retrieve(question)
        return MetadataReplacementPostProcessor(target_metadata_key="window").postprocess_nodes(nodes)

    def ask(self, question: str) -> Sequence[object]:
        """The windows of the 2 nearest sentences."""
        return self._windows(question)

    def pieces(self, question: str, k: int) -> Iterator[Span]:
        """The windows' places: from the start of the first sentence to the end of the last."""
        for found in self._nearest(question)[:k]:
            if found.node.node_id not in self._spans:
                self._spans[found.node.node_id] = self._window(found.node)
            span = self._spans[found.node.node_id]
            if span:
                yield span

    def _window(self, node: BaseNode) -> Span | None:
        reach = self._parser.window_size  # type: ignore[attr-defined]
        first, last = (self._at(self._step(node, way, reach)) for way in ("prev_node", "next_node"))
        return Span(first.document, first.start, max(first.end, last.end)) if first and last else None

    def _step(self, node: BaseNode, way: str, steps: int) -> str:
        """The id of the node that is so many sentences away, or of the last one before."""
        for _ in range(steps):
            near = getattr(node, way)
            if near is None:
                break
            node = self._index.docstore.get_document(near.node_id)  # type: ignore[assignment]
        return node.node_id

    def texts(self, question: str) -> Sequence[str]:
        """The windows of a few sentences."""
        return [node.node.get_content() for node in self._windows(question, similarity_top_k=FEW)]
