"""What a nest does with documents that have changed: rows for every edition that additions reach, stored as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from os import PathLike

from nestling.changes import Change, Changes
from nestling.errors import (
    EmbedderMismatchError,
    LockedError,
    ModelError,
    NestlingError,
    NotFoundError,
    SettingError,
    StoreError,
)
from nestling.indexing import Indexer, Made, check_writable
from nestling.ingest.batches import batches, count_documents, windows
from nestling.ingest.load import Source, load, path_exists
from nestling.ingest.prepare import Prepared
from nestling.models.known import Embedders
from nestling.observing import changing, event
from nestling.results import Progress, Renamed, Report
from nestling.stores.base import EditionsChangedError, Entry, Indexed, Store
from nestling.tracing import Span, span
from nestling.types import Document, Failure
from nestling.view import Edition

# How often documents are prepared again because the editions changed meanwhile.
ATTEMPTS = 50


def add(
    store: Store,
    embedders: Embedders,
    source: Source | Iterable[Source],
    progress: Callable[[Progress], None] | None,
) -> Report:
    """See `Nest.add`."""
    if isinstance(source, str | PathLike) and not path_exists(source):
        raise NotFoundError(
            f"there is no file or folder {str(source)[:200]!r}; check the path, or give text as a Document"
        )
    report = Report()
    changes = Changes(store, report)
    adding = Adding(store, embedders, changes, report, Told(progress, count_documents(source)))
    try:
        with changing("nestling.add", store.path, report):
            adding.take(load(source, closed=store.own_files(), files=changes.files))
    except NestlingError as error:
        error.report = report
        raise
    return report


def add_again(store: Store, embedders: Embedders, document: Document, anew: bool) -> None:
    """Store a document in place of itself, as it is stored, with all its rows made from its text.

    Args:
        store: Where it is stored; where it is not, or no longer the same, nothing is done.
        embedders: The models of the editions.
        document: As it was read back.
        anew: Make its vectors anew in the live edition, too.

    Raises:
        ModelError: The embedder failed.
        EmbedderMismatchError: It is not to be had.
        StoreError: The nest could not be written, or other rules than this Nestling's built the live edition.
    """
    with store.view() as view:
        file = view.files([document.id]).get(document.id)
    report = Report()
    adding = Adding(
        store, embedders, Changes(store, report), report, Told(None, None), itself=True, anew=anew
    )
    adding.keep([Change(document, file, True, None)])


class Adding:
    """The storing half of one call of `Nest.add` or `Nest.sync`."""

    def __init__(
        self,
        store: Store,
        embedders: Embedders,
        changes: Changes,
        report: Report,
        told: Told,
        dry: bool = False,
        itself: bool = False,
        anew: bool = False,
    ) -> None:
        """Begin.

        Args:
            store: Where to.
            embedders: The models of the editions.
            changes: What the inputs change.
            report: Gets what is done.
            told: Likewise, for progress.
            dry: Only report what would be done.
            itself: Put each document in the place of nothing but itself.
            anew: Make vectors of the live edition anew where there are some.
        """
        self._store = store
        self._embedders = embedders
        self._changes = changes
        self._report = report
        self._told = told
        self._dry = dry
        self._itself = itself
        self._anew = anew
        self._indexers: list[Indexer] = []
        self._editions: frozenset[int] = frozenset()
        self._changed: dict[str, Change] = {}
        self._foreseen: dict[str, set[bytes]] = defaultdict(set)

    def take(self, inputs: Iterable[Document | Failure]) -> None:
        """Store the documents that are not stored as they are, each in one transaction, small ones together.

        Raises:
            ModelError: The embedder of the live edition failed; documents before that are stored.
            StoreError: They could not be written; likewise.
        """
        for batch in batches(inputs):
            changed, moved = self._changes.among(batch)
            if moved and not self._dry:
                self._store.refile(moved)
            last = batch[-1]
            name = last.id if isinstance(last, Document) else last.name
            self._told.documents(len(batch) - len(changed), name)
            self.keep(changed)

    def keep(self, changed: Sequence[Change]) -> None:
        """Store documents that have changed, likewise.

        Raises:
            ModelError: As in `take`.
            StoreError: Likewise.
        """
        self._changed = {change.document.id: change for change in changed}
        if changed and not self._indexers:
            self._look()
        # the live edition comes first, and may be another by the time a document is prepared
        for window in windows(self._indexers[0].prepare(change.document) for change in changed):
            if self._dry:
                self._foresee(window)
            else:
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
        try:
            # a commit takes longer than all that is written for a short document
            with self._store.together():
                for place, prepared in enumerate(window):
                    own = {number: each[place] for number, each in rows.items()}
                    self._replace(prepared, own)
        except EditionsChangedError as error:
            if not attempts:
                raise StoreError(str(error)) from error
            self._look()
            again = [self._indexers[0].prepare(prepared.document) for prepared in window]
            self._keep(again, made, attempts - 1)
        except NestlingError as error:
            # the fault may lie with one document, but waiting longer for another writer is no help
            if len(window) == 1 or isinstance(error, LockedError):
                raise
            for prepared in window:
                self._keep([prepared], made, attempts)
        else:
            self._count(window)

    def _replace(self, prepared: Prepared, rows: Mapping[int, Indexed]) -> None:
        change = self._changed[prepared.document.id]
        document, language = prepared.document, prepared.language
        entry = Entry(document, language, prepared.digest, self._editions, rows, change.file)
        with _stored(prepared):
            self._store.replace(entry, change.former, itself=self._itself)

    def _rows(self, window: Sequence[Prepared], made: dict[str, Made]) -> dict[int, list[Indexed]]:
        """What each edition will hold of each document of a window."""
        rows = {}
        for indexer, prepared in self._by_edition(window):
            known = made[indexer.embedder.fingerprint]
            try:
                anew = self._anew and indexer is self._indexers[0]
                rows[indexer.edition.number] = indexer.rows(prepared, self._told.children, known, anew)
            except ModelError:
                # nothing is added the less for an edition that nobody asks yet: its builder meets the error
                if indexer is self._indexers[0]:
                    raise
        return rows

    def _by_edition(self, window: Sequence[Prepared]) -> Iterator[tuple[Indexer, Sequence[Prepared]]]:
        live, *building = self._indexers
        yield live, window
        for indexer in building:
            yield indexer, [indexer.prepare(each.document, each.language) for each in window]

    def _foresee(self, window: Sequence[Prepared]) -> None:
        """Report what keeping a window would do."""
        made: dict[str, set[bytes]] = defaultdict(set)
        for indexer, prepared in self._by_edition(window):
            embedder = indexer.embedder.fingerprint
            indexer.foresee(prepared, self._foreseen[embedder], made[embedder])
        for embedder, digests in made.items():
            self._foreseen[embedder] |= digests
        self._count(window)

    def _count(self, window: Sequence[Prepared]) -> None:
        for prepared in window:
            self._report_one(prepared)
        # only now, since a callback may raise
        for prepared in window:
            self._told.documents(1, prepared.document.id)

    def _report_one(self, prepared: Prepared) -> None:
        report, id = self._report, prepared.document.id
        change = self._changed[id]
        if change.former is not None:
            report.renamed.append(Renamed(change.former[0], id))
        else:
            (report.updated if change.known else report.added).append(id)
        if not self._dry:
            self._log(prepared, change)
        if not prepared.parents:
            report.empty.append(id)

    def _log(self, prepared: Prepared, change: Change) -> None:
        event(
            "renamed" if change.former else "replaced" if change.known else "added",
            nest=self._store.path,
            document=prepared.document.id,
            former=change.former and change.former[0],
            parent_count=len(prepared.parents),
            chunk_count=len(prepared.texts),
        )


def _stored(prepared: Prepared) -> AbstractContextManager[Span]:
    return span(
        "nestling.store",
        document_id=prepared.document.id,
        parent_count=len(prepared.parents),
        chunk_count=len(prepared.texts),
    )


class Told:
    """Keeps count of what was done, for the progress callback."""

    def __init__(self, progress: Callable[[Progress], None] | None, total: int | None) -> None:
        self._progress = progress
        self._done = Progress(0, total, 0, "")

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
