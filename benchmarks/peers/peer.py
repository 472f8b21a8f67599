"""What is asked of a system: build an index on disk, open it, answer, add again, edit, delete."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from nestling.types import Document

from .embedding import Remembered
from .places import Places, Span

# Pieces asked for where asking for more changes nothing of what comes first; enough for 4,000 tokens.
DEPTH = 200
# Where it does change (children merge into parents), the first of these that fills the budget.
STEPS = (*range(1, 13), 15, 18, 22, 27, 33, 40, 48, 58, 70, 85, 100, 120, 150, DEPTH)
# Pieces asked for in lives.py.
FEW = 4


class NoSuchCallError(NotImplementedError):
    """The system has no documented call for this."""


class Peer(ABC):
    """One system with one choice of sizes; made anew for every process.

    ``places`` is there for measuring only: `ask` does without.
    """

    depths: Sequence[int] = (DEPTH,)

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.places: Places | None = None
        self._known: dict[str, dict[int, Iterable[Span]]] = {}

    @cached_property
    def embedder(self) -> Remembered:
        """The model, the same for all."""
        return Remembered()

    @abstractmethod
    def build(self, documents: Sequence[Document]) -> None:
        """Index the documents as the system's own example does, and leave the index in ``folder``."""

    @abstractmethod
    def open(self) -> None:
        """Make what ``folder`` holds ready to be asked."""

    @abstractmethod
    def ask(self, question: str) -> Sequence[object]:
        """The documented call with its own number of results."""

    @abstractmethod
    def pieces(self, question: str, k: int) -> Iterable[Span]:
        """What the system shows when ``k`` is asked for, in its order."""

    def shown(self, question: str, budget: int, once: bool = False) -> list[Span]:
        """What fits into the budget; with ``once``, without showing anything twice."""
        assert self.places is not None
        kept: list[Span] = []
        for k in self.depths:
            kept, left = self.places.fill(self._asked(question, k), budget, once)
            if not left:
                break
        return kept

    def _asked(self, question: str, k: int) -> Iterable[Span]:
        """The pieces; asked for again, the same list."""
        if question not in self._known:
            self._known = {question: {}}
        known = self._known[question]
        if k not in known:
            known[k] = self.pieces(question, k)
        return known[k] if isinstance(known[k], list) else self.pieces(question, k)

    # --- for lives.py, on an index that is open

    @abstractmethod
    def add(self, documents: Sequence[Document]) -> None:
        """Add documents, those there already too, by the same call as in `build`."""

    def edit(self, document: Document) -> None:
        """Replace a document by its new text, by the documented call."""
        raise NoSuchCallError

    def remove(self, document: Document) -> None:
        """Remove a document, by the documented call."""
        raise NoSuchCallError

    @abstractmethod
    def stored(self) -> Sequence[str]:
        """The ids of everything that can be matched."""

    @abstractmethod
    def texts(self, question: str) -> Sequence[str]:
        """The texts that are shown for a question, `FEW` pieces asked for."""
