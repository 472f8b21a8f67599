"""Building a nest anew beside itself: an edition from the stored texts, the gate, the switch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING

from nestling.editions import fill, plain_errors, switch_to
from nestling.indexing import check_readable
from nestling.ingest.split import SPLITTER
from nestling.ingest.terms import ANALYZER
from nestling.models.embedder import Embedder
from nestling.models.known import Embedders
from nestling.models.spec import embedder_from
from nestling.observing import changing
from nestling.ranges import amount
from nestling.results import Progress, Report
from nestling.settings import Recipe
from nestling.stores.base import Store
from nestling.view import Build, Edition

if TYPE_CHECKING:
    from nestling.measure.compare import Comparison
    from nestling.measure.golden import Golden
    from nestling.measure.subject import Subject


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
    with plain_errors(), changing("nestling.rebuild", store.path, report):
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
