"""The editions of a nest: listed, given what they lack, switched to, gone back to, removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from nestling.adding import Told
from nestling.errors import ModelError, NotFoundError, StoreError
from nestling.indexing import Indexer, Made, check_readable, check_writable
from nestling.ingest.batches import LOOK_AHEAD, windows
from nestling.ingest.prepare import Prepared
from nestling.models.known import Embedders
from nestling.observing import event
from nestling.results import Progress, Report
from nestling.settings import Recipe
from nestling.stores.base import EditionsChangedError, Store
from nestling.tracing import span
from nestling.view import Edition, EditionState, StoredDocument

# How often an edition is caught up before switching to it is given up.
ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class EditionInfo:
    """A line of `Nest.editions`.

    Attributes:
        number: From 1; never used again.
        state: ``live``: it is searched. ``building``: it is not finished, or was not switched to; additions reach
            it, too. ``retired``: it was live before, or was given up.
        recipe: The sizes it was built with.
        embedder: The fingerprint of the model it was built with.
        documents: How many it holds.
        children: How many it holds.
        made: When it was begun, ISO 8601 in UTC; None where the nest is from before that was noted.
        switched: When it last became live, or None.
    """

    number: int
    state: EditionState
    recipe: Recipe
    embedder: str
    documents: int
    children: int
    made: str | None
    switched: str | None


def fill(
    store: Store,
    embedders: Embedders,
    number: int,
    report: Report,
    progress: Callable[[Progress], None] | None = None,
) -> int:
    """Give an edition the rows of all documents that it lacks, from their stored texts.

    Returns:
        How many documents it was given.

    Raises:
        ModelError: Its embedder failed; what was done before is kept.
        EmbedderMismatchError: It lacks documents, and its embedder is not to be had.
        StoreError: It lacks documents, and other rules than this Nestling's built it.
        EditionsChangedError: It was retired or removed meanwhile.
    """
    with store.view(number) as view:
        edition, held = view.edition, view.sizes()[number][0]
        told = Told(progress, view.stats()["documents"])
    told.documents(held, "")
    after = stored = 0
    indexer: Indexer | None = None
    # new documents have higher row numbers: what was passed is not lacking any more
    while True:
        with store.view(number) as view:
            lacking = view.lacking(after, LOOK_AHEAD)
        if not lacking:
            return stored
        if indexer is None:
            check_writable(edition, store.path)
            indexer = Indexer(store, edition, embedders.of(edition), report)
        row_of = {each.document.id: each.row for each in lacking}
        for window in windows(_prepared(indexer, lacking)):
            stored += _index(store, indexer, window, row_of, told, {})
        after = lacking[-1].row


def _prepared(indexer: Indexer, documents: Sequence[StoredDocument]) -> Iterator[Prepared]:
    for each in documents:
        yield indexer.prepare(each.document, each.language)


def _index(
    store: Store,
    indexer: Indexer,
    window: Sequence[Prepared],
    row_of: dict[str, int],
    told: Told,
    made: Made,
) -> int:
    try:
        rows = indexer.rows(window, told.children, made)
    except ModelError:
        if len(window) == 1:
            raise
        # the fault may lie with one document: those before it are still to be stored
        return sum(_index(store, indexer, [each], row_of, told, made) for each in window)
    by_row = {row_of[each.document.id]: own for each, own in zip(window, rows, strict=True)}
    children = sum(len(each.texts) for each in window)
    with span("nestling.store", document_count=len(window), chunk_count=children):
        stored = store.index(indexer.edition.number, by_row)
    told.documents(len(window), window[-1].document.id)
    return stored


def switch_to(
    store: Store,
    embedders: Embedders,
    number: int,
    progress: Callable[[Progress], None] | None = None,
) -> None:
    """See `Nest.switch`."""
    with store.view(number) as view:
        check_readable(view.edition, store.path)
    store.resume(number)
    with plain_errors():
        for attempt in range(ATTEMPTS):
            fill(store, embedders, number, Report(), progress)
            try:
                store.switch(number)
                event("switched", nest=store.path, edition=number)
                return
            except EditionsChangedError:
                if attempt == ATTEMPTS - 1:
                    raise


def rollback(store: Store, embedders: Embedders, progress: Callable[[Progress], None] | None = None) -> int:
    """See `Nest.rollback`."""
    with store.view() as view:
        before = [each for each in view.editions() if each.turn and each != view.edition]
    if not before:
        raise NotFoundError(
            f"no other edition of {store.path} was live before; see `nestling editions` for those to switch to"
        )
    number = max(before, key=lambda each: each.turn).number
    switch_to(store, embedders, number, progress)
    return number


def prune(store: Store, progress: Callable[[Progress], None] | None = None) -> list[int]:
    """See `Nest.prune`."""
    numbers = store.retire()
    with store.view() as view:
        sizes = view.sizes()
    told = Told(progress, sum(sizes[number][0] for number in numbers if number in sizes))
    for number in numbers:
        after: int | None = 0
        while after is not None:
            documents, children, after = store.drop(number, after)
            told.children(children)
            told.documents(documents, "")
    store.shrink()
    with store.view() as view:
        left = {edition.number for edition in view.editions()}
    return [number for number in numbers if number not in left]


def editions(store: Store) -> list[EditionInfo]:
    """See `Nest.editions`."""
    with store.view() as view:
        sizes = view.sizes()
        return [_info(edition, *sizes[edition.number]) for edition in view.editions()]


def _info(edition: Edition, documents: int, children: int) -> EditionInfo:
    return EditionInfo(
        number=edition.number,
        state=edition.state,
        recipe=edition.build.recipe,
        embedder=edition.build.embedder,
        documents=documents,
        children=children,
        made=edition.made,
        switched=edition.switched,
    )


@contextmanager
def plain_errors() -> Iterator[None]:
    """Let what other processes did to editions meanwhile be told as an error of the store."""
    try:
        yield
    except EditionsChangedError as error:
        raise StoreError(str(error)) from error
