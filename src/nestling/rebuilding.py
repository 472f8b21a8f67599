"""Building a nest anew beside itself: an edition from the stored texts, the gate, the switch, the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING

from nestling.adding import Told
from nestling.errors import ModelError, NotFoundError, StoreError
from nestling.indexing import Indexer, Made, check_readable, check_writable
from nestling.ingest.batches import LOOK_AHEAD, windows
from nestling.ingest.prepare import Prepared
from nestling.ingest.split import SPLITTER
from nestling.ingest.terms import ANALYZER
from nestling.models.embedder import Embedder
from nestling.models.known import Embedders
from nestling.models.spec import embedder_from
from nestling.observing import changing, event
from nestling.ranges import amount
from nestling.results import Progress, Report
from nestling.settings import Recipe
from nestling.stores.base import EditionsChangedError, Store
from nestling.tracing import span
from nestling.view import Build, Edition, EditionState, StoredDocument

if TYPE_CHECKING:
    from nestling.measure.compare import Comparison
    from nestling.measure.golden import Golden
    from nestling.measure.subject import Subject

# How often an edition is caught up before switching to it is given up.
ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What `Nest.rebuild` did.

    Attributes:
        edition: The number of the edition that is built as was asked.
        documents: How many documents were indexed in it by this call.
        embedded: How many children went through the model.
        reused: How many children took the vector of an equal text.
        switched: Whether the nest was switched to it.
        verdict: In words, what has come of it.
        losses: What the gate found worse, a sentence each; then the nest was not switched.
        comparison: Of the golden questions on the edition that was live with those on the new one, or None.
    """

    edition: int
    documents: int
    embedded: int
    reused: int
    switched: bool
    verdict: str
    losses: tuple[str, ...] = ()
    comparison: Comparison | None = None


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


def rebuild(
    store: Store,
    embedders: Embedders,
    at: Callable[[int], Subject],
    recipe: Recipe | None,
    embedder: Embedder | str | None,
    golden: Golden | str | PathLike[str] | None,
    allowed_loss: float,
    switch: bool,
    progress: Callable[[Progress], None] | None,
) -> Rebuilt:
    """See `Nest.rebuild`; ``at`` gives the nest asked by the edition of a number."""
    from nestling.measure.read import golden_of

    amount("allowed_loss", allowed_loss)
    questions = None if golden is None else golden_of(golden)
    with store.view() as view:
        live = view.edition
    build = _wanted(live, recipe, embedder, embedders)
    if build != live.build and questions is not None:
        # whatever speaks against the gate is said before the work, not after it
        from nestling.measure.no_worse import portable

        check_readable(live, store.path)
        embedders.of(live)
        questions = portable(questions, at(live.number))
    number = store.begin(build)
    if number == live.number:
        return Rebuilt(number, 0, 0, 0, False, _as_it_is(store))
    report = Report()
    with _plain_errors(), changing("nestling.rebuild", store.path, report):
        documents = fill(store, embedders, number, report, progress)
    done = Rebuilt(number, documents, report.embedded, report.reused, False, "")
    if questions is not None:
        done = _judged(done, at, live.number, questions, allowed_loss)
    found = f": {done.verdict}" if done.verdict else ""
    if done.losses or not switch:
        what = f"was not switched to: {'; '.join(done.losses)}" if done.losses else f"is built{found}"
        return replace(done, verdict=f"edition {number} {what}. {_waiting(number)}")
    switch_to(store, embedders, number)
    return replace(
        done, switched=True, verdict=f"switched from edition {live.number} to edition {number}{found}"
    )


def _wanted(
    live: Edition, recipe: Recipe | None, embedder: Embedder | str | None, embedders: Embedders
) -> Build:
    """How to build: as the live edition is built, but for what is given, by the rules of now."""
    build = replace(live.build, recipe=recipe or live.build.recipe, analyzer=ANALYZER, splitter=SPLITTER)
    made = embedder_from(embedder) if isinstance(embedder, str) else embedder
    if made is None:
        return build
    embedders.keep(made)
    return replace(build, embedder=made.fingerprint, spec=getattr(made, "spec", None))


def _as_it_is(store: Store) -> str:
    live, *building = store.reached()
    waiting = (
        f"; `nestling switch {building[0].number}` finishes edition {building[0].number}" if building else ""
    )
    return f"edition {live.number}, which is live, is built so already{waiting}"


def _waiting(number: int) -> str:
    return f"Additions reach it, too, until `nestling switch {number}` makes it live or `nestling prune` removes it"


def _judged(
    done: Rebuilt, at: Callable[[int], Subject], live: int, golden: Golden, allowed_loss: float
) -> Rebuilt:
    from nestling.measure.no_worse import judge

    found, losses = judge(at(live), at(done.edition), (live, done.edition), golden, allowed_loss)
    return replace(done, comparison=found, losses=losses, verdict=found.rows[0].verdict)


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
    with _plain_errors():
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
def _plain_errors() -> Iterator[None]:
    try:
        yield
    except EditionsChangedError as error:
        raise StoreError(str(error)) from error
