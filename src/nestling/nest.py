"""A nest, and the flow through it: ingest → store → retrieve → show. The only file that joins the rooms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from nestling.errors import ModelError, NestlingError, NotFoundError, SettingError
from nestling.ingest.batches import batches, count_documents, windows
from nestling.ingest.check import is_storable
from nestling.ingest.folder import Folder
from nestling.ingest.listing import Scope
from nestling.ingest.load import Files, Source, are_two_files, is_new_place, load, path_exists
from nestling.ingest.prepare import Prepared, document_digest, prepare, question_language
from nestling.ingest.terms import query_terms
from nestling.models.embedder import Embedder, Vectors
from nestling.models.vectors import embedded
from nestling.results import DocumentInfo, Progress, Renamed, Report, Results, Tree
from nestling.retrieve.context import context
from nestling.retrieve.find import Question, find
from nestling.retrieve.gate import Gate
from nestling.retrieve.pack import SHAPES, Shape
from nestling.retrieve.passages import search
from nestling.settings import Recipe, Scoring
from nestling.stores.base import Entry, Place, Store
from nestling.types import Context, Document, Failure
from nestling.where import parse

if TYPE_CHECKING:
    from nestling.measure.evaluation import Evaluation
    from nestling.measure.golden import Golden

# Texts given to the model in one call; progress is told after each.
TOGETHER = 64


class Nest:
    """One index: what is added, and every way to ask for it.

    Made by `nestling.open`; threads may share it.
    """

    def __init__(
        self, store: Store, load_embedder: Callable[[], Embedder], scoring: Scoring | None = None
    ) -> None:
        self._store = store
        self._load_embedder = load_embedder
        self._scoring = scoring

    @cached_property
    def embedder(self) -> Embedder:
        """The model the nest was built with, made when it is first needed."""
        return self._load_embedder()

    @property
    def recipe(self) -> Recipe:
        """The sizes the nest was built with."""
        return Recipe(**self._store.meta["recipe"])

    @property
    def scoring(self) -> Scoring:
        """How much each list counts when this nest is asked."""
        return self._scoring or Scoring(**self._store.meta.get("scoring", {}))

    def with_scoring(self, scoring: Scoring) -> Nest:
        """The same nest, asked with other weights: nothing is stored, and closing one closes both."""
        return Nest(self._store, lambda: self.embedder, scoring)

    def keep_scoring(self, scoring: Scoring) -> None:
        """Store the weights that this nest is asked with, here from now on and elsewhere from the next opening on.

        Raises:
            StoreError: The nest could not be written.
        """
        self._store.keep("scoring", asdict(scoring))
        self._scoring = None

    # --- adding and removing

    def add(
        self,
        source: Source | Iterable[Source],
        *,
        progress: Callable[[Progress], None] | None = None,
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
        report, told = Report(), _Told(progress, count_documents(source))
        if isinstance(source, str | PathLike) and not path_exists(source):
            raise NotFoundError(
                f"there is no file or folder {str(source)[:200]!r}; check the path, or give text as a Document"
            )
        try:
            self._take(load(source, closed=self._store.own_files(), files=told.files), report, told)
        except NestlingError as error:
            error.report = report
            raise
        return report

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

        Documents are those that `add` makes of the folder, and are stored one by one, as there. The content
        decides what has changed. Only documents that were read from files of this folder are ever removed.

        Args:
            folder: Its path.
            pattern: Which files of the folder are meant, by their path in it, such as ``*.md`` (in any folder
                below) or ``guides/**``; several: one must match. Documents of other files are left alone.
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
        scope, report = Scope.of(folder, pattern, self._store.own_files()), Report()
        with self._store.view() as view:
            found = Folder(scope, view.files(), lambda id: view.text(id) or "")
        if delete and not allow_empty:
            found.refuse_empty()
        told = _Told(progress, found.count(), found.stored, found.former if delete else None, dry_run)
        try:
            self._take(found.documents(told.files), report, told)
            gone = found.gone() if delete else {}
            report.removed += self._store.remove(gone, gone) if gone and not dry_run else gone
        except NestlingError as error:
            error.report = report
            raise
        return report

    def _take(self, inputs: Iterable[Document | Failure], report: Report, told: _Told) -> None:
        """Store what is not stored as it is."""
        seen = set[str]()
        for batch in batches(inputs):
            changed = self._changed(batch, report, seen, told)
            for window in windows(prepare(d, self.recipe, self.embedder.count_tokens) for d in changed):
                self._keep(window, report, told, {})

    def _changed(
        self, inputs: Sequence[Document | Failure], report: Report, seen: set[str], told: _Told
    ) -> Sequence[Document]:
        """The documents that are not stored as they are; the rest goes into the report."""
        given: dict[str, Document] = {}
        for item in inputs:
            if isinstance(item, Failure):
                (report.skipped if item.skipped else report.failed).append(item)
            elif item.id in seen:
                reason = f"the id {item.id!r} was given before in this call; give every document its own"
                report.failed.append(Failure(item.source or item.id, reason))
                told.files.take(item)
            else:
                seen.add(item.id)
                given[item.id] = item
        with self._store.view() as view:
            stored, files = view.known(list(given)), view.files(list(given))
        changed, moved = [], []
        for id, document in given.items():
            digest, source = stored.get(id, (None, None))
            if digest is not None and digest == document_digest(document):
                report.unchanged.append(id)
                file = told.files.take(document)
                if file is not None and is_new_place(file, files.get(id), source == document.source):
                    moved.append(Place(id, digest, file, document.source))
            elif id not in told.ours and are_two_files(source, document.source):
                reason = (
                    f"its id {id!r} is that of {source}, which is another file; add the folder above both,"
                    f" so that their ids differ, or remove {id!r} first"
                )
                report.failed.append(Failure(document.source or id, reason))
                told.files.take(document)
            else:
                changed.append(document)
                old = told.former(document) if digest is None and told.former else None
                if old is not None:
                    told.renamed[id] = old
        if moved and not told.dry:
            self._store.refile(moved)
        last = inputs[-1]
        told.documents(len(inputs) - len(changed), last.id if isinstance(last, Document) else last.name)
        told.existing |= stored.keys()
        return changed

    def _keep(
        self, window: Sequence[Prepared], report: Report, told: _Told, made: dict[bytes, Vectors]
    ) -> None:
        """Embed what is new in a window and store its documents, each in one transaction.

        Vectors stay in ``made``, so that a window that failed can be gone through one document at a time.
        """
        if told.dry:
            self._foresee(window, report, told)
            return
        try:
            vectors = self._embed(window, report, told, made)
        except ModelError:
            if len(window) == 1:
                raise
            # the fault may lie with one document: those before it are still to be stored
            for prepared in window:
                self._keep([prepared], report, told, made)
            return
        for prepared in window:
            rows = [vectors[digest] for digest in prepared.digests]
            old = told.renamed.get(prepared.document.id)
            self._store.replace(
                Entry(
                    document=prepared.document,
                    parents=prepared.parents,
                    language=prepared.language,
                    digest=prepared.digest,
                    child_digests=prepared.digests,
                    terms=prepared.terms,
                    vectors=np.stack(rows) if rows else np.zeros((0, 0), np.float32),
                    file=told.files.take(prepared.document),
                ),
                None if old is None else (old, told.ours[old]),
            )
            told.kept(prepared, report)

    def _foresee(self, window: Sequence[Prepared], report: Report, told: _Told) -> None:
        """Tell of a window what keeping it would do."""
        digests = {digest for prepared in window for digest in prepared.digests} - told.foreseen
        with self._store.view() as view:
            new = digests - view.embedded(list(digests)).keys()
        told.foreseen |= new
        report.embedded += len(new)
        report.reused += sum(len(prepared.texts) for prepared in window) - len(new)
        for prepared in window:
            told.files.take(prepared.document)
            told.kept(prepared, report)

    def _embed(
        self, window: Sequence[Prepared], report: Report, told: _Told, made: dict[bytes, Vectors]
    ) -> Mapping[bytes, Vectors]:
        """The vector of every text of a window by its digest; what was embedded before is not embedded again."""
        texts = {d: text for p in window for d, text in zip(p.digests, p.texts, strict=True)}
        with self._store.view() as view:
            stored = view.embedded([digest for digest in texts if digest not in made])
        missing = [digest for digest in texts if digest not in made and digest not in stored]
        for first in range(0, len(missing), TOGETHER):
            part = missing[first : first + TOGETHER]
            found = embedded(self.embedder.embed_documents, [texts[d] for d in part], self.embedder)
            # as they will be read back, so that a reused vector is the same to the last bit
            made |= dict(zip(part, found.astype(np.float16).astype(np.float32), strict=True))
            report.embedded += len(part)
            told.children(len(part))
        report.reused += sum(len(p.texts) for p in window) - sum(digest in made for digest in texts)
        return {**stored, **made}

    def remove(self, ids: str | Iterable[str]) -> Sequence[str]:
        """Remove documents in one transaction; returns the ids that existed, in the order given.

        Raises:
            SettingError: An id is no text.
        """
        wanted = [ids] if isinstance(ids, str) else list(ids)
        for id in wanted:
            if not isinstance(id, str):
                raise SettingError(f"{id!r} is no document's id; give text")
        return self._store.remove(wanted)

    # --- asking

    def search(
        self,
        query: str,
        k: int = 5,
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
        wanted, skipped = _whole("k", k, 0), _whole("offset", offset, 0)
        gate, tree = Gate(min_similarity, min_coverage), parse(where)
        question = self._question(query)
        with self._store.view() as view:
            return search(view, question, tree, wanted, skipped, gate, self.scoring)

    def context(
        self,
        query: str,
        budget: int = 2000,
        *,
        shape: Shape = "pack",
        window: int = 1,
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
            where: A metadata filter (`nestling.where`).
            min_similarity: As in `search`.
            min_coverage: As in `search`.
            count: Tokens of a text, for the budget of another model; the embedder's where not given.

        Raises:
            SettingError: A number is out of its range, the shape is unknown, or the query is not text.
            FilterError: ``where`` is not a filter.
        """
        room, neighbours = _whole("budget", budget, 1), _whole("window", window, 0)
        if shape not in SHAPES:
            raise SettingError(f"shape is {shape!r}; give one of {', '.join(SHAPES)}")
        gate, tree = Gate(min_similarity, min_coverage), parse(where)
        question = self._question(query)
        with self._store.view() as view:
            found = find(view, question, tree, 0, self.scoring)
            return context(view, found, room, shape, neighbours, gate, count or self.embedder.count_tokens)

    def evaluate(
        self,
        golden: Golden | str | PathLike[str],
        *,
        k: Sequence[int] = (1, 3, 5, 10),
        budgets: Sequence[int] = (500, 1000, 2000, 4000),
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
            SettingError: A number is out of its range.
            FilterError: ``where`` is not a filter.
        """
        from nestling.measure.evaluate import evaluate
        from nestling.measure.read import golden_of

        return evaluate(
            self,
            golden_of(golden),
            k=k,
            budgets=budgets,
            where=where,
            min_similarity=min_similarity,
            min_coverage=min_coverage,
            progress=progress,
            nest=self._store.path,
        )

    def _question(self, query: str) -> Question:
        if not isinstance(query, str):
            raise SettingError(f"the query is {query!r}; give text")
        with self._store.view() as view:
            held = view.languages()
        language = question_language(query, held)
        terms = query_terms(query, list(held))
        readable = self.embedder.languages
        if not query.strip():
            return Question(query, language, terms, None, ("the query is empty",))
        if readable is not None and language and language not in readable:
            note = f"dense did not vote: {self.embedder.fingerprint} cannot read {language!r}"
            return Question(query, language, terms, None, (note,))
        vector = embedded(self.embedder.embed_queries, [query], self.embedder)[0]
        return Question(query, language, terms, vector)

    # --- looking

    def show(self, id: str) -> Tree | None:
        """A document with its parents and children, by its id or a passage's; None where there is none."""
        if not is_storable(id):
            return None
        with self._store.view() as view:
            found = view.read(id)
        return None if found is None else Tree(*found)

    def list(self, where: Mapping[str, Any] | None = None) -> Sequence[DocumentInfo]:
        """Every document, without its text, by id; with ``where``, those whose own metadata fits."""
        tree = parse(where)
        with self._store.view() as view:
            return [DocumentInfo(**row) for row in view.documents(tree)]

    def stats(self) -> dict[str, Any]:
        """Counts of documents, parents and children, documents per language, bytes, recipe, scoring, embedder."""
        with self._store.view() as view:
            stats = view.stats()
        return {
            **stats,
            "recipe": asdict(self.recipe),
            "scoring": asdict(self.scoring),
            "embedder": self._store.meta["embedder"]["fingerprint"],
        }

    def check(self) -> Sequence[str]:
        """What is damaged, a sentence each; empty when all is well. Reads everything, writes nothing."""
        with self._store.view() as view:
            return view.check()

    def close(self) -> None:
        """Let go of the file; a nest is also a context manager."""
        self._store.close()

    def __repr__(self) -> str:
        return f"Nest({self._store.path!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _whole(name: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise SettingError(f"{name} is {value!r}; give a whole number, {least} or more")
    if value < least:
        raise SettingError(f"{name} is {value}; give {least} or more")
    return int(value)


class _Told:
    """Keeps count of what was done, for the progress callback and the report, and what is known of ids.

    A sync gives the files of its documents by id (``ours``), where to ask for a document's former id, and
    whether it is a dry run.
    """

    def __init__(
        self,
        progress: Callable[[Progress], None] | None,
        total: int | None,
        ours: Mapping[str, str] | None = None,
        former: Callable[[Document], str | None] | None = None,
        dry: bool = False,
    ) -> None:
        self._progress = progress
        self._done = Progress(0, total, 0, "")
        self.existing: set[str] = set()
        self.files = Files()
        self.ours = ours or {}
        self.former = former
        self.renamed: dict[str, str] = {}
        self.dry = dry
        self.foreseen: set[bytes] = set()

    def kept(self, prepared: Prepared, report: Report) -> None:
        id = prepared.document.id
        if id in self.renamed:
            report.renamed.append(Renamed(self.renamed[id], id))
        else:
            (report.updated if id in self.existing else report.added).append(id)
        if not prepared.parents:
            report.empty.append(id)
        self.documents(1, id)

    def documents(self, n: int, name: str) -> None:
        self._tell(replace(self._done, documents=self._done.documents + n, name=name or self._done.name))

    def children(self, n: int) -> None:
        self._tell(replace(self._done, children=self._done.children + n))

    def _tell(self, now: Progress) -> None:
        if self._progress is not None and now != self._done:
            self._progress(now)
        self._done = now
