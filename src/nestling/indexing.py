"""Documents made into the rows of one edition: split, analysed and embedded by what the edition was built with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from nestling.errors import NewerNestError, StoreError
from nestling.ingest.prepare import Prepared, prepare
from nestling.ingest.split import SPLITTER
from nestling.ingest.terms import ANALYZER
from nestling.models.embedder import Embedder, Vectors
from nestling.models.vectors import embedded
from nestling.results import Report
from nestling.stores.base import Indexed, Store
from nestling.types import Document
from nestling.view import Edition

# Texts given to the model in one call; progress is told after each.
TOGETHER = 64

Made = dict[bytes, Vectors]


class Indexer:
    """Makes rows for an edition.

    Attributes:
        edition: Which.
        embedder: The model it was built with.
        report: Its ``embedded`` and ``reused`` count what was done here.
    """

    def __init__(self, store: Store, edition: Edition, embedder: Embedder, report: Report) -> None:
        self.edition = edition
        self.embedder = embedder
        self.report = report
        self._store = store

    def prepare(self, document: Document, language: str | None = None) -> Prepared:
        """Split and analyse a checked document; its ``language`` is told anew where it is not given."""
        return prepare(document, self.edition.build.recipe, self.embedder.count_tokens, language)

    def rows(
        self, window: Sequence[Prepared], told: Callable[[int], None], made: Made, anew: bool = False
    ) -> list[Indexed]:
        """What the edition will hold of each of these; what was embedded before is not embedded again.

        Args:
            window: Prepared by this indexer, or one of an equal recipe.
            told: Called with the number of children embedded, after each call of the model.
            made: Vectors stay in it, so that a window that failed can be gone through one document at a time.
            anew: Take nothing from the nest: what it holds may be damaged.

        Raises:
            ModelError: The embedder failed.
        """
        texts = {d: text for p in window for d, text in zip(p.digests, p.texts, strict=True)}
        with self._store.view() as view:
            unmade = [] if anew else [d for d in texts if d not in made]
            stored = view.embedded(unmade, self.embedder.fingerprint)
        missing = [digest for digest in texts if digest not in made and digest not in stored]
        for first in range(0, len(missing), TOGETHER):
            part = missing[first : first + TOGETHER]
            found = embedded(self.embedder.embed_documents, [texts[d] for d in part], self.embedder)
            # as they will be read back, so that a reused vector is the same to the last bit
            made |= dict(zip(part, found.astype(np.float16).astype(np.float32), strict=True))
            self.report.embedded += len(part)
            told(len(part))
        children = sum(len(p.texts) for p in window)
        self.report.reused += children - sum(digest in made for digest in texts)
        vectors = {**stored, **made}
        return [_indexed(prepared, vectors) for prepared in window]

    def foresee(self, window: Sequence[Prepared], known: set[bytes], made: set[bytes]) -> None:
        """Report what `rows` would, and embed nothing.

        Args:
            window: As for `rows`.
            known: Digests of texts that would be stored by then.
            made: As for `rows`, the digests only.
        """
        digests = {digest for prepared in window for digest in prepared.digests}
        with self._store.view() as view:
            stored = view.embedded(list(digests - known - made), self.embedder.fingerprint)
        missing = digests - known - made - stored.keys()
        made |= missing
        self.report.embedded += len(missing)
        self.report.reused += sum(len(p.texts) for p in window) - len(digests & made)


def _indexed(prepared: Prepared, vectors: Made) -> Indexed:
    rows = [vectors[digest] for digest in prepared.digests]
    return Indexed(
        parents=prepared.parents,
        child_digests=prepared.digests,
        terms=prepared.terms,
        vectors=np.stack(rows) if rows else np.zeros((0, 0), np.float32),
    )


def check_readable(edition: Edition, path: str) -> None:
    """Refuse an edition that would be searched by other words than those it was built of.

    Raises:
        StoreError: An older Nestling analysed its words by other rules.
        NewerNestError: A newer one did.
    """
    _check(edition, path, edition.build.analyzer - ANALYZER)


def check_writable(edition: Edition, path: str) -> None:
    """Refuse to mix what other rules of splitting or analysis made into an edition.

    Raises:
        StoreError: An older Nestling built it.
        NewerNestError: A newer one did.
    """
    build = edition.build
    _check(edition, path, build.analyzer - ANALYZER or build.splitter - SPLITTER)


def _check(edition: Edition, path: str, newer: int) -> None:
    if newer > 0:
        raise NewerNestError(
            f"edition {edition.number} of {path} was built by a newer Nestling's rules of splitting and analysis;"
            " upgrade with `pip install -U nestling`"
        )
    if newer < 0:
        raise StoreError(
            f"edition {edition.number} of {path} was built by an older Nestling's rules of splitting and analysis;"
            f" build it anew with nest.rebuild(), or `nestling rebuild --nest {path}`"
        )
