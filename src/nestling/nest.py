"""A nest, and the flow through it: ingest → store → retrieve → show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from os import PathLike
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from nestling import settings
from nestling.adding import add
from nestling.answers import Answer, Verification
from nestling.asking import Asking
from nestling.bounds import Bounds
from nestling.editions import EditionInfo, editions, prune, rollback, switch_to
from nestling.errors import SettingError
from nestling.ingest.check import is_storable
from nestling.ingest.load import Source
from nestling.keeping import backup, check, export, repair
from nestling.models.embedder import Embedder
from nestling.models.known import Embedders
from nestling.models.language_model import LanguageModel
from nestling.observing import Retrieval, removed, retrieval
from nestling.querying import question_of
from nestling.ranges import whole
from nestling.rebuilding import Rebuilt, rebuild
from nestling.results import DocumentInfo, Exported, Progress, Repair, Report, Results, Tree
from nestling.retrieve.context import context
from nestling.retrieve.find import Question, find
from nestling.retrieve.gate import Gate
from nestling.retrieve.passages import search
from nestling.settings import SHAPES, Recipe, Scoring, Shape
from nestling.stores.base import Store
from nestling.stores.pinned import Pinned
from nestling.stores.scoped import scoped
from nestling.syncing import sync
from nestling.types import Context
from nestling.view import View
from nestling.where import parse

if TYPE_CHECKING:
    from nestling.measure.evaluation import Evaluation
    from nestling.measure.golden import Golden


class Nest:
    """One index: what is added, and every way to ask for it.

    Made by `nestling.open`; threads may share it. Every method raises `StoreError` where the nest cannot be read or
    written, and one that needs the model `ModelError` or `EmbedderMismatchError` where it fails or is not to be
    had. What else is raised, and what then holds, each method says.
    """

    def __init__(self, store: Store, embedders: Embedders, scoring: Scoring | None = None) -> None:
        self._store = store
        self._embedders = embedders
        self._scoring = scoring

    @property
    def embedder(self) -> Embedder:
        """The model that the nest is built with, made when it is first needed."""
        with self._store.view() as view:
            return self._embedders.of(view.edition)

    @property
    def recipe(self) -> Recipe:
        """The sizes that the nest is built with."""
        with self._store.view() as view:
            return view.edition.build.recipe

    @property
    def scoring(self) -> Scoring:
        """How much each list counts when this nest is asked."""
        return self._scoring or Scoring(**self._store.meta.get("scoring", {}))

    def with_scoring(self, scoring: Scoring) -> Nest:
        """The same nest, asked with other weights: nothing is stored, and closing one closes both."""
        return Nest(self._store, self._embedders, scoring)

    def keep_scoring(self, scoring: Scoring) -> None:
        """Store the weights to ask with, here from now on and elsewhere from the next opening on."""
        self._store.keep("scoring", asdict(scoring))
        self._scoring = None

    def scope(self, /, **values: str | float | bool) -> Nest:
        """The part of the nest whose documents have these metadata values, as a nest of its own (docs/scopes.md).

        What is asked, added, synced and removed there reaches no other document, and what it answers is as if
        there were no others. Documents that are added get the values; those whose metadata say otherwise are
        refused. Ids are the scope's own. What concerns the whole nest is refused. Closing one closes both.

        Args:
            **values: One to six metadata keys, without dots, and what documents must have there: text, a finite
                number, true or false. A list that holds it does not count.

        Raises:
            SettingError: A key or value is none of these, or contradicts the scope that this is already.
        """
        return Nest(scoped(self._store, Bounds.of(values)), self._embedders, self._scoring)

    # --- adding and removing

    def add(
        self, source: Source | Iterable[Source], *, progress: Callable[[Progress], None] | None = None
    ) -> Report:
        """Store documents, each in one transaction; what has not changed costs nothing.

        Args:
            source: A `Document`, a path of a file, folder or JSONL file of cards, or any iterable of these.
            progress: Called after every input and every batch of children.

        Returns:
            What was done, by id. Inputs that cannot be read are in ``failed``; the rest goes on.

        Raises:
            ModelError: The embedder failed. Documents before it are stored whole, it and those after it are
                not; the error's ``report`` tells which. Adding again finishes.
            StoreError: The nest could not be written; likewise.
        """
        return add(self._store, self._embedders, source, progress)

    def sync(
        self,
        folder: str | PathLike[str],
        *,
        pattern: str | Sequence[str] | None = None,
        delete: bool = True,
        allow_empty: bool = False,
        dry_run: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> Report:
        """Bring the documents of a folder in step with its files (docs/sync.md).

        Files become documents as in `add`, one by one; their content decides what has changed. Only documents
        that were read from files of this folder are ever removed.

        Args:
            folder: Its path.
            pattern: Which of its files are meant, by their path in it, such as ``*.md`` (in any folder below) or
                ``guides/**``; of several one must match. Documents of other files are left alone.
            delete: Whether documents whose file is gone are removed, and those whose file has another name
                renamed; else they stay, and the files are added.
            allow_empty: Whether a folder without any file removes all of its documents.
            dry_run: Tell what would be done, and write and embed nothing.
            progress: As in `add`.

        Returns:
            What was done, by id. A file that could not be read is in ``failed`` and keeps its documents; the next
            sync tries it again.

        Raises:
            NotFoundError: There is no such folder.
            DocumentError: The folder cannot be listed.
            InputError: It is no folder, or it holds no file although documents are stored of it.
            SettingError: The pattern is none.
            ModelError: The embedder failed; as in `add`, and nothing was removed.
            StoreError: The nest could not be written; likewise.
        """
        return sync(self._store, self._embedders, folder, pattern, delete, allow_empty, dry_run, progress)

    def remove(self, ids: str | Iterable[str]) -> Sequence[str]:
        """Remove documents in one transaction; returns the ids that existed, in the order given.

        Raises:
            SettingError: An id is no text.
        """
        wanted = [ids] if isinstance(ids, str) else list(ids)
        for id in wanted:
            if not isinstance(id, str):
                raise SettingError(f"{id!r} is no document's id; give text")
        gone = self._store.remove(wanted)
        removed(self._store.path, gone)
        return gone

    # --- asking

    def search(
        self,
        query: str,
        k: int = settings.PASSAGES,
        *,
        where: Mapping[str, Any] | None = None,
        offset: int = 0,
        min_similarity: float | None = None,
        min_coverage: float | None = None,
    ) -> Results:
        """The ``k`` best passages for a query, best first; fewer only where fewer parents match.

        Args:
            query: Any text.
            k: How many passages; 0 or more.
            where: A metadata filter (`nestling.where`).
            offset: How many of the best to leave out: page 2 of 5 is ``offset=5``.
            min_similarity: Leave out passages whose best child's cosine is below it, -1 to 1. Not asked where
                the dense channel does not vote, which `Results.explain` then says.
            min_coverage: Leave out passages that hold less of the query's IDF weight, 0 to 1.

        Raises:
            SettingError: A number is out of its range, or the query is not text.
            FilterError: ``where`` is not a filter.
        """
        wanted, skipped = whole("k", k, 0), whole("offset", offset, 0)
        gate, tree = Gate(min_similarity, min_coverage), parse(where)
        with self._asked("search", query, wanted) as asked, self._store.view() as view:
            found = search(view, self._question(query, view), tree, wanted, skipped, gate, self.scoring)
            return asked.found(found)

    def context(
        self,
        query: str,
        budget: int = settings.BUDGET,
        *,
        shape: Shape = settings.SHAPE,
        window: int = settings.WINDOW,
        where: Mapping[str, Any] | None = None,
        min_similarity: float | None = None,
        min_coverage: float | None = None,
        count: Callable[[str], int] | None = None,
    ) -> Context:
        """The passages for a query, packed into a token budget, with cite markers, ready for a prompt.

        Args:
            query: Any text.
            budget: Tokens of the whole text, markers and headings included; 1 or more; never exceeded.
            shape: ``pack`` takes children by score, and a parent whole once four fifths of it are taken;
                ``parent`` takes whole parents, of the last as much as fits; ``window`` takes children with
                ``window`` neighbours on both sides; ``merge`` takes a parent, then its section, once half of
                it (and two children) is taken.
            window: For the shape of that name; 0 or more.
            where: As in `search`.
            min_similarity: As in `search`.
            min_coverage: As in `search`.
            count: Tokens of a text, for the budget of another model; the embedder's where not given.

        Raises:
            SettingError: As in `search`, or the shape is unknown.
            FilterError: As in `search`.
        """
        room, neighbours = whole("budget", budget, 1), whole("window", window, 0)
        if shape not in SHAPES:
            raise SettingError(f"shape is {shape!r}; give one of {', '.join(SHAPES)}")
        gate, tree = Gate(min_similarity, min_coverage), parse(where)
        with self._asked("context", query) as asked, self._store.view() as view:
            found = find(view, self._question(query, view), tree, 0, self.scoring)
            counted = count or self._embedders.of(view.edition).count_tokens
            return asked.packed(context(view, found, room, shape, neighbours, gate, counted))

    def ask(
        self,
        question: str,
        budget: int = settings.BUDGET,
        *,
        model: LanguageModel | str | None = None,
        stream: Callable[[str], None] | None = None,
        where: Mapping[str, Any] | None = None,
        min_similarity: float | None = None,
        min_coverage: float | None = None,
        count: Callable[[str], int] | None = None,
    ) -> Answer:
        """An answer with citations, each resolved, and each sentence held to the passages (docs/asking.md).

        Args:
            question: Any text.
            budget: Tokens of the context that it is answered from; 1 or more.
            model: A language model, or its spec (`openai:MODEL@URL`). Without one the answer is the best
                sentences of the context, as they stand.
            stream: Called with each piece of the text as it comes. What it raises ends the answer.
            where: As in `search`.
            min_similarity: As in `search`; where no passage passes, there is no answer. Without a gate there is
                none where nothing that was found has to do with the question; -1 opens it.
            min_coverage: As in `search`.
            count: As in `context`.

        Raises:
            ModelError: A model failed.
            SettingError: As in `search`, or the spec is unknown.
            FilterError: As in `search`.
        """
        room, gate, tree = whole("budget", budget, 1), Gate(min_similarity, min_coverage), parse(where)
        asking = Asking(self._store, self._embedders, self.scoring, tree)
        return asking.ask(question, room, gate, model, stream, count)

    def verify(self, text: str) -> Verification:
        """What a text cites and claims, held to the whole nest, whoever wrote it (docs/asking.md).

        Raises:
            SettingError: It is not text.
        """
        return Asking(self._store, self._embedders, self.scoring).verify(text)

    def evaluate(
        self,
        golden: Golden | str | PathLike[str],
        *,
        k: Sequence[int] = settings.CUTOFFS,
        budgets: Sequence[int] = settings.BUDGETS,
        where: Mapping[str, Any] | None = None,
        min_similarity: float | None = None,
        min_coverage: float | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Evaluation:
        """Ask golden questions and hold what is found to their gold (docs/measuring.md).

        Args:
            golden: The questions, or a path of them, as `nestling.read_golden` takes it.
            k: Cut-offs of hit, recall and nDCG; 1 or more each.
            budgets: Tokens of the contexts in which evidence is looked for; 1 or more each.
            where: A filter that holds for every question, with the question's own.
            min_similarity: As in `search`.
            min_coverage: As in `search`.
            progress: Called after each question with how many are done, and of how many.

        Raises:
            DocumentError: Questions cannot be used, or do not fit the nest; each is named.
            MissingExtraError: ir-measures is not installed.
            SettingError: As in `search`.
            FilterError: As in `search`.
        """
        from nestling.measure.evaluate import evaluate

        path = self._store.path
        return evaluate(self, golden, k, budgets, where, min_similarity, min_coverage, progress, path)

    def _asked(self, method: str, query: str, k: int | None = None) -> AbstractContextManager[Retrieval]:
        return retrieval(method, self._store.path, self._store.meta.get("nest"), query, k)

    def _question(self, query: str, view: View) -> Question:
        return question_of(query, view, self._embedders, self._store.path)

    # --- editions

    def rebuild(
        self,
        recipe: Recipe | None = None,
        *,
        embedder: Embedder | str | None = None,
        golden: Golden | str | PathLike[str] | None = None,
        allowed_loss: float = 0.0,
        switch: bool = True,
        progress: Callable[[Progress], None] | None = None,
    ) -> Rebuilt:
        """Build a new edition beside the live one from the stored texts, and switch to it (docs/editions.md).

        The nest is searched and added to meanwhile. What was interrupted is gone on with by the same call.
        Vectors of equal text under the same embedder are taken over.

        Args:
            recipe: The sizes; those of the live edition where not given.
            embedder: The model, or its spec; that of the live edition where not given.
            golden: Questions that must not find clearly less in the new edition, or a path of them; else the
                nest is not switched. Ids of passages in them stand for their documents.
            allowed_loss: How much less of the figure that decides they may find, 0 or more: 0.02 is two points.
            switch: Whether to switch when it is built.
            progress: Called after every batch of children and of documents.

        Raises:
            ModelError: The embedder failed; what was built before is kept.
            DocumentError: The questions do not fit the nest.
            SettingError: ``allowed_loss`` is out of its range.
            StoreError: The nest could not be written, or another process removed the edition.
        """
        return rebuild(
            self._store, self._embedders, self.at, recipe, embedder, golden, allowed_loss, switch, progress
        )

    def editions(self) -> Sequence[EditionInfo]:
        """Every edition, by number."""
        return editions(self._store)

    def at(self, edition: int) -> Nest:
        """The nest asked by one of its editions, only to read; closing one closes both.

        Raises:
            NotFoundError: There is none with this number.
        """
        number = whole("edition", edition, 1)
        with self._store.view(number):
            return Nest(Pinned(self._store, number), self._embedders, self._scoring)

    def switch(self, edition: int, *, progress: Callable[[Progress], None] | None = None) -> None:
        """Make an edition live in one transaction, after it was given the documents that it lacks.

        The one that was live is kept, and additions reach it no longer. ``progress`` is as in `rebuild`.

        Raises:
            NotFoundError: There is none with this number.
            ModelError: Its embedder failed; it stays as it was, and what was caught up is kept.
            EmbedderMismatchError: It lacks documents, and its embedder is not to be had.
            StoreError: It was built by other rules of splitting and analysis, or the nest could not be written.
        """
        switch_to(self._store, self._embedders, whole("edition", edition, 1), progress)

    def rollback(self, *, progress: Callable[[Progress], None] | None = None) -> int:
        """Switch to the edition that was live before, as `switch` does; returns its number.

        Raises:
            NotFoundError: No other edition was live before.
        """
        return rollback(self._store, self._embedders, progress)

    def prune(self, *, progress: Callable[[Progress], None] | None = None) -> Sequence[int]:
        """Remove every edition but the live one, in small transactions; returns the numbers of those removed.

        Args:
            progress: Called after every few documents whose rows were removed.
        """
        return prune(self._store, progress)

    # --- looking

    def show(self, id: str) -> Tree | None:
        """A document with its parents and children, by its id or a passage's; None where there is none."""
        if not is_storable(id):
            return None
        with self._store.view() as view:
            found = view.read(id)
        return None if found is None else Tree(*found)

    def list(self, where: Mapping[str, Any] | None = None) -> Sequence[DocumentInfo]:
        """Every document, without its text, by id; with ``where``, those whose own metadata fits.

        Raises:
            FilterError: ``where`` is not a filter.
        """
        tree = parse(where)
        with self._store.view() as view:
            return [DocumentInfo(**row) for row in view.documents(tree)]

    def stats(self) -> dict[str, Any]:
        """Counts of documents, parents and children, documents per language, bytes, recipe, scoring, embedder."""
        with self._store.view() as view:
            stats, build = view.stats(), view.edition.build
        own = {"recipe": asdict(build.recipe), "scoring": asdict(self.scoring), "embedder": build.embedder}
        return {**stats, **own}

    def check(self, *, progress: Callable[[Progress], None] | None = None) -> Sequence[str]:
        """What is damaged, a sentence each; empty when all is well. Reads everything, writes nothing.

        Args:
            progress: Called after each document.
        """
        return check(self._store, self._embedders, progress)

    # --- keeping

    def repair(
        self, *, backup: str | PathLike[str] | bool = True, progress: Callable[[Progress], None] | None = None
    ) -> Repair:
        """Make anew what `check` finds damaged, from the stored texts, each document in one transaction.

        A document whose own text, title or metadata are damaged is left as it is and told.

        Args:
            backup: Where the nest is copied to before anything is changed; True: to a new file beside it;
                False: nowhere. A nest in memory is copied only to a path.
            progress: Called after each document that is looked at.

        Raises:
            InputError: There is something at the path of the backup.
            ModelError: The embedder failed. Documents done before it are repaired; repairing again goes on.
            StoreError: The nest or its backup could not be written; likewise.
        """
        return repair(self._store, self._embedders, backup, progress)

    def backup(self, to: str | PathLike[str]) -> None:
        """Copy the nest to a new file, whole or not at all, while others may go on reading and writing.

        Args:
            to: The new file. It is a nest as it was when the call began.

        Raises:
            InputError: There is something at ``to``.
            NotFoundError: There is no folder for it.
        """
        backup(self._store, to)

    def export(self, to: str | PathLike[str] | BinaryIO) -> Exported:
        """Write every document as a card, one a line, as `add` reads them from a JSONL file; nothing is lost.

        Args:
            to: A new file, made whole or not at all; or an open binary file, such as ``sys.stdout.buffer``.

        Raises:
            InputError: As in `backup`.
            NotFoundError: As in `backup`.
        """
        return export(self._store, to)

    def close(self) -> None:
        """Let go of the file; a nest is also a context manager."""
        self._store.close()

    def __repr__(self) -> str:
        bounds = self._store.bounds
        return f"Nest({self._store.path!r}{f', {bounds}' if bounds else ''})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
