"""Tuning a nest on its users' questions: joins measuring with the nests that it needs built."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

import nestling
from nestling.ingest.prepare import document_digest
from nestling.ingest.split import SPLITTER
from nestling.ingest.terms import ANALYZER
from nestling.measure.candidates import Candidate
from nestling.measure.gold import settle
from nestling.measure.golden import Golden
from nestling.measure.objective import Asked
from nestling.measure.search import TuneProgress
from nestling.measure.state import State
from nestling.measure.trials import Cost, Deadline, Trials
from nestling.measure.tune import tune as search
from nestling.measure.tuned import Tuned
from nestling.models.embedder import Embedder, Vectors
from nestling.models.known import Embedders
from nestling.nest import Nest
from nestling.opening import open_nest
from nestling.ranges import amount, wholes
from nestling.settings import BUDGETS, MINUTES, Recipe, Scoring
from nestling.stores.pinned import Pinned
from nestling.types import Document

# Texts embedded between two looks at the clock.
TOGETHER = 32
# Indexes of recipes held in memory at once: that of the best candidate, and the one that is tried beside it.
MOST_INDEXES = 2
# Bytes of a stored vector's component: its code and its exact value.
COMPONENT = 3


def tune(
    nest: Nest,
    golden: Golden,
    *,
    minutes: float = MINUTES,
    state: str | Path | None = None,
    budgets: Sequence[int] = BUDGETS,
    progress: Callable[[TuneProgress], None] | None = None,
) -> Tuned:
    """Look for settings that find more on these questions than those that the nest has now.

    Half of the questions choose, the other half decide. The nest is only read; what is tried is built in
    memory from its documents, and no text is embedded twice.

    Args:
        nest: What is tuned.
        golden: Its questions; 40 or more with gold.
        minutes: When to stop, above 0; the best so far is then judged.
        state: A file that keeps what was done: the same call goes on with it. In memory where not given.
        budgets: Tokens of the contexts in which evidence is looked for, 1 or more each.
        progress: Called after every few questions.

    Raises:
        DocumentError: The questions do not fit the nest.
        InputError: The state cannot be used.
        SettingError: A number is out of its range, too few questions have gold, or the state is another tuning's.
        ModelError: The embedder failed; with a state, what was embedded is kept.
    """
    deadline = Deadline(60 * amount("minutes", minutes, zero=False))
    sizes = wholes("budgets", budgets, 1)
    given = [question for question in golden.questions if question.lacks is None]
    golds = settle(given, nest, golden.name)
    asked = [Asked(question, gold) for question, gold in zip(given, golds, strict=True)]
    documents = _documents(nest)
    kept = State(state, _identity(nest, documents, asked, sizes))
    with ExitStack() as open_things:
        open_things.callback(kept.close)
        workshop = Workshop(nest, documents, kept, deadline)
        open_things.callback(workshop.close)
        return search(
            Trials(workshop.index, kept, deadline, sizes, workshop.embedder.count_tokens, workshop.keep),
            Candidate(nest.recipe, nest.scoring),
            asked,
            skipped=[question.id for question in golden.questions if question.lacks],
            embedded=lambda: workshop.embedder.embedded,
            progress=progress,
        )


class Remembering:
    """An embedder that embeds no text twice, looks at the clock, and counts; it vouches for another's vectors."""

    def __init__(self, embedder: Embedder, nest: Nest, state: State, deadline: Deadline) -> None:
        self.fingerprint = embedder.fingerprint
        self.dimension = embedder.dimension
        self.max_tokens = embedder.max_tokens
        self.languages = embedder.languages
        self.spec = None
        self.embedded = 0
        self.seconds = 0.0
        self.count_tokens = lru_cache(maxsize=1 << 16)(embedder.count_tokens)
        self._question = lru_cache(maxsize=1 << 13)(lambda text: embedder.embed_queries([text])[0])
        self._embedder, self._nest, self._state, self._deadline = embedder, nest, state, deadline

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """The vectors of texts: the nest's, the state's, or the model's."""
        digests = [blake2b(text.encode(), digest_size=16).digest() for text in texts]
        with self._nest._store.view() as view:
            known = view.embedded(digests, self.fingerprint)
        known |= self._state.vectors([digest for digest in digests if digest not in known])
        missing = {d: text for d, text in zip(digests, texts, strict=True) if d not in known}
        wanted, begin = list(missing), self._deadline.spent
        for first in range(0, len(wanted), TOGETHER):
            self._deadline.check()
            part = wanted[first : first + TOGETHER]
            found = dict(zip(part, self._embedder.embed_documents([missing[d] for d in part]), strict=True))
            self._state.keep_vectors(found)
            self.embedded += len(part)
            known |= found
        self.seconds += self._deadline.spent - begin
        return np.stack([known[digest] for digest in digests])

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """The vectors of questions; each is embedded once."""
        return np.stack([self._question(text) for text in texts])


class Workshop:
    """Builds the indexes that tuning asks for, and holds a few of them."""

    def __init__(self, nest: Nest, documents: Sequence[Document], state: State, deadline: Deadline) -> None:
        self.embedder = Remembering(nest.embedder, nest, state, deadline)
        self._documents = documents
        self._deadline = deadline
        # what is tuned stays the edition that is live now, whatever is switched to meanwhile
        with nest._store.view() as view:
            store = Pinned(nest._store, view.edition.number)
        self._reranker = nest._embedders.reranker
        embedders = Embedders(store.path, self.embedder, reranker=self._reranker)
        self._given = Built(Nest(store, embedders), self.embedder.dimension)
        self._recipe = nest.recipe
        self._built: dict[Recipe, Built] = {}

    def index(self, recipe: Recipe) -> Built:
        """The index of a recipe: the nest itself where it has that one, else one in memory."""
        if recipe == self._recipe:
            return self._given
        self.keep(recipe)
        if recipe not in self._built:
            while len(self._built) >= MOST_INDEXES:
                self._built.pop(next(iter(self._built))).nest.close()
            self._built[recipe] = self._build(recipe)
        return self._built[recipe]

    def keep(self, recipe: Recipe) -> None:
        """Let go of the others first."""
        if recipe in self._built:
            self._built[recipe] = self._built.pop(recipe)

    def _build(self, recipe: Recipe) -> Built:
        begin, embedding = self._deadline.spent, self.embedder.seconds
        nest = open_nest(":memory:", embedder=self.embedder, recipe=recipe, reranker=self._reranker)
        try:
            nest.add(self._in_time())
        except BaseException:
            nest.close()
            raise
        seconds = self._deadline.spent - begin - (self.embedder.seconds - embedding)
        return Built(nest, self.embedder.dimension, seconds)

    def _in_time(self) -> Iterator[Document]:
        # the clock is looked at between documents, too: there may be nothing to embed
        for document in self._documents:
            self._deadline.check()
            yield document

    def close(self) -> None:
        """Let go of what was built; the nest that was given stays open."""
        for built in self._built.values():
            built.nest.close()
        self._built.clear()


class Built:
    """An index of a recipe, to be asked with any scoring."""

    def __init__(self, nest: Nest, dimension: int, seconds: float = 0.0) -> None:
        self.nest = nest
        self.seconds = seconds
        counts = nest.stats()
        rows = counts["documents"] + counts["parents"] + counts["children"]
        self.cost = Cost(counts["parents"], counts["children"], COMPONENT * dimension * rows)

    def asked_with(self, scoring: Scoring) -> Nest:
        """The index with these weights."""
        return self.nest.with_scoring(scoring)


def _documents(nest: Nest) -> list[Document]:
    trees = (nest.show(info.id) for info in nest.list())
    return [tree.document for tree in trees if tree is not None]


def _identity(
    nest: Nest, documents: Sequence[Document], asked: Sequence[Asked], budgets: Sequence[int]
) -> str:
    """Equal for tunings of which one can go on with the other's state."""
    digest = blake2b(digest_size=16)
    for document in documents:
        digest.update(document.id.encode() + document_digest(document))
    for question, gold in asked:
        digest.update(repr((question.id, question.question, question.where, gold)).encode())
    model = nest.embedder.fingerprint
    if (reranker := nest._embedders.reranker) is not None:
        digest.update(f"reranker {reranker.name}".encode())
    digest.update(json.dumps([list(budgets), model, SPLITTER, ANALYZER, nestling.__version__]).encode())
    return digest.hexdigest()
