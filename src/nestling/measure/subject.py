"""What is measured: a nest, as far as measuring needs one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from nestling.results import DocumentInfo, Results, Tree
from nestling.types import Context


class Subject(Protocol):
    """The methods of `nestling.Nest` that measuring calls; they mean the same here."""

    def search(
        self,
        query: str,
        k: int = ...,
        *,
        where: Mapping[str, Any] | None = None,
        min_similarity: float | None = None,
        min_coverage: float | None = None,
    ) -> Results:
        """The ``k`` best passages."""
        ...

    def context(
        self,
        query: str,
        budget: int = ...,
        *,
        where: Mapping[str, Any] | None = None,
        min_similarity: float | None = None,
        min_coverage: float | None = None,
    ) -> Context:
        """The passages, packed into a token budget."""
        ...

    def show(self, id: str) -> Tree | None:
        """A document with its parents, by its id or a parent's."""
        ...

    def list(self) -> Sequence[DocumentInfo]:
        """Every document."""
        ...

    def stats(self) -> dict[str, Any]:
        """Counts, recipe and embedder."""
        ...
