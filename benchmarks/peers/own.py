"""Nestling itself, by its defaults."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from evidence import packed

import nestling
from nestling.nest import Nest
from nestling.settings import LENT
from nestling.types import Document

from .peer import FEW, Peer
from .places import Span


class Own(Peer):
    """One nest. The budget counts documents' text only, as for the others, or all that `Nest.context` writes."""

    nest: Nest

    def __init__(self, folder: Path, overhead: bool) -> None:
        super().__init__(folder)
        self._overhead = overhead

    def build(self, documents: Sequence[Document]) -> None:
        """Make the nest."""
        with nestling.open(self.folder / "corpus.nest", create=True, embedder=self.embedder) as nest:
            nest.add(documents)

    def open(self) -> None:
        """Open it."""
        self.nest = nestling.open(self.folder / "corpus.nest", embedder=self.embedder)

    def ask(self, question: str) -> Sequence[object]:
        """Five passages; or, in the row that counts everything, a context of 2,000 tokens."""
        return self.nest.context(question).pieces if self._overhead else self.nest.search(question)

    def pieces(self, question: str, k: int) -> Iterable[Span]:
        """Not used: a context is packed into its budget."""
        raise NotImplementedError

    def shown(self, question: str, budget: int, once: bool = False) -> list[Span]:
        """A context, cut by the same counting as the others; it shows nothing twice."""
        assert self.places is not None
        if self._overhead:
            return [Span(*piece) for piece in self.nest.context(question, budget).pieces]
        spans = [Span(*piece) for piece in packed(self.nest, question, budget, LENT, overhead=False)]
        return self.places.fill(spans, budget)[0]

    def add(self, documents: Sequence[Document]) -> None:
        """Add."""
        self.nest.add(documents)

    def edit(self, document: Document) -> None:
        """Add."""
        self.nest.add(document)

    def remove(self, document: Document) -> None:
        """Remove."""
        self.nest.remove(document.id)

    def stored(self) -> Sequence[str]:
        """The children's ids."""
        trees = (self.nest.show(info.id) for info in self.nest.list())
        return [child.id for tree in trees if tree for parent in tree.parents for child in parent.children]

    def texts(self, question: str) -> Sequence[str]:
        """The passages' texts."""
        return [passage.text for passage in self.nest.search(question, k=FEW)]
