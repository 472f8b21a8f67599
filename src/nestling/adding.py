"""What a nest does with documents that have changed: rows for every edition that additions reach, stored as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from nestling.errors import EmbedderMismatchError, ModelError, SettingError, StoreError
from nestling.indexing import Indexer, Made, check_writable
from nestling.ingest.batches import windows
from nestling.ingest.prepare import Prepared
from nestling.models.known import Embedders
from nestling.results import Progress, Report
from nestling.stores.base import EditionsChangedError, Entry, Indexed, Store
from nestling.types import Document
from nestling.view import Edition

# How often documents are prepared again because the editions changed meanwhile.
ATTEMPTS = 5


class Adding:
    """The storing half of one call of `Nest.add`."""

    def __init__(self, store: Store, embedders: Embedders, report: Report, told: Told) -> None:
        self._store = store
        self._embedders = embedders
        self._report = report
        self._told = told
        self._indexers: list[Indexer] = []
        self._editions: frozenset[int] = frozenset()

    def store(self, documents: Sequence[Document]) -> None:
        """Store changed documents, each in one transaction.

        Raises:
            ModelError: The embedder of the live edition failed; documents before that are stored.
            StoreError: They could not be written; likewise.
        """
        if documents and not self._indexers:
            self._look()
        # the live edition comes first, and may be another by the time a document is prepared
        for window in windows(self._indexers[0].prepare(document) for document in documents):
            self._keep(window, defaultdict(dict), ATTEMPTS)

    def _look(self) -> None:
        """See which editions additions reach; one whose model is not to be had here is left to its builder."""
        live, *building = self._store.reached()
        check_writable(live, self._store.path)
        self._editions = frozenset(edition.number for edition in (live, *building))
        self._indexers = [Indexer(self._store, live, self._embedders.of(live), self._report)]
        others = map(self._indexer, building)
        self._indexers += [indexer for indexer in others if indexer is not None]

    def _indexer(self, edition: Edition) -> Indexer | None:
        try:
            return Indexer(self._store, edition, self._embedders.of(edition), self._report)
        except (EmbedderMismatchError, ModelError, SettingError):
            return None

    def _keep(self, window: Sequence[Prepared], made: dict[str, Made], attempts: int) -> None:
        """Embed what is new in a window and store its documents; ``made`` keeps vectors by embedder and digest."""
        try:
            rows = self._rows(window, made)
        except ModelError:
            if len(window) == 1:
                raise
            # the fault may lie with one document: those before it are still to be stored
            for prepared in window:
                self._keep([prepared], made, attempts)
            return
        for place, prepared in enumerate(window):
            own = {number: each[place] for number, each in rows.items()}
            try:
                self._store.replace(
                    Entry(prepared.document, prepared.language, prepared.digest, self._editions, own)
                )
            except EditionsChangedError as error:
                if not attempts:
                    raise StoreError(str(error)) from error
                self._look()
                again = [self._indexers[0].prepare(rest.document) for rest in window[place:]]
                self._keep(again, made, attempts - 1)
                return
            self._count(prepared)

    def _rows(self, window: Sequence[Prepared], made: dict[str, Made]) -> dict[int, list[Indexed]]:
        """What each edition will hold of each document of a window."""
        live, *building = self._indexers
        rows = {live.edition.number: live.rows(window, self._told.children, made[live.embedder.fingerprint])}
        for indexer in building:
            prepared = [indexer.prepare(each.document, each.language) for each in window]
            known = made[indexer.embedder.fingerprint]
            try:
                rows[indexer.edition.number] = indexer.rows(prepared, self._told.children, known)
            except ModelError:
                # nothing is added the less for an edition that nobody asks yet: its builder meets the error
                continue
        return rows

    def _count(self, prepared: Prepared) -> None:
        report, id = self._report, prepared.document.id
        (report.updated if id in self._told.existing else report.added).append(id)
        if not prepared.parents:
            report.empty.append(id)
        self._told.documents(1, id)


class Told:
    """Keeps count of what was done, for the progress callback and the report."""

    def __init__(self, progress: Callable[[Progress], None] | None, total: int | None) -> None:
        self._progress = progress
        self._done = Progress(0, total, 0, "")
        self.existing: set[str] = set()

    def documents(self, n: int, name: str) -> None:
        """So many more inputs are done, the last of them of this name."""
        self._tell(replace(self._done, documents=self._done.documents + n, name=name or self._done.name))

    def children(self, n: int) -> None:
        """So many more children are embedded."""
        self._tell(replace(self._done, children=self._done.children + n))

    def _tell(self, now: Progress) -> None:
        if self._progress is not None and now != self._done:
            self._progress(now)
        self._done = now
