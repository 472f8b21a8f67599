"""Asking a nest and holding a text to it: joins finding, a language model, and the check of what it says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from nestling.answers import Answer, Verification
from nestling.errors import SettingError
from nestling.ingest.check import is_storable
from nestling.ingest.sentences import sentences
from nestling.ingest.terms import content_terms, terms
from nestling.models.chat_spec import language_model_from
from nestling.models.embedder import Embedder
from nestling.models.known import Embedders
from nestling.models.language_model import LanguageModel, generated
from nestling.models.vectors import embedded
from nestling.observing import answering, retrieval, verifying
from nestling.querying import question_of
from nestling.retrieve.analysis import Analysis
from nestling.retrieve.context import context
from nestling.retrieve.extract import candidates, extract
from nestling.retrieve.find import Found, Question, find
from nestling.retrieve.gate import Gate, abstention, passing
from nestling.retrieve.passages import search
from nestling.retrieve.prompt import prompt, says_nothing
from nestling.retrieve.sources import Source
from nestling.retrieve.verify import Named, verify
from nestling.settings import WINDOW, Scoring
from nestling.stores.base import Store
from nestling.types import Context
from nestling.view import View
from nestling.where import Where

# Where no gate is given and only words were searched, a passage must hold this share of the question's IDF weight.
# Of questions of five corpora asked of their own nest all pass, of those asked of another about half are refused
# (benchmarks/abstain.py).
LEAST_COVERAGE = 0.2
# Passages that are looked through for a claim that is not in those at hand.
LOOKED_THROUGH = 5


@dataclass(frozen=True)
class Asking:
    """A nest as it is asked.

    Attributes:
        store: What holds it.
        embedders: Its models.
        scoring: What each list counts.
        where: Only passages it holds for are found.
    """

    store: Store
    embedders: Embedders
    scoring: Scoring
    where: Where | None = None

    def ask(
        self,
        question: str,
        budget: int,
        gate: Gate,
        model: LanguageModel | str | None,
        stream: Callable[[str], None] | None,
        count: Callable[[str], int] | None,
    ) -> Answer:
        """See `Nest.ask`."""
        chosen = language_model_from(model) if isinstance(model, str) else model
        with answering(self.store.path, question) as asked:
            return asked.answered(
                self._answer(question, budget, gate, chosen, stream or (lambda text: None), count)
            )

    def _answer(
        self,
        question: str,
        budget: int,
        gate: Gate,
        model: LanguageModel | None,
        on_text: Callable[[str], None],
        count: Callable[[str], int] | None,
    ) -> Answer:
        """Pack a context, answer from it, and verify the answer; no view is held while a model writes."""
        source = self.store.meta.get("nest")
        with retrieval("ask", self.store.path, source, question) as told, self.store.view() as view:
            asked = self._question(question, view)
            found = find(view, asked, self.where, 0, self.scoring)
            embedder = self.embedders.of(view.edition)
            refused = None if asked.terms else "the question has no words"
            if gate.open:
                refused = refused or _refused(view, found, embedder)
            packed = (
                Context("", 0, budget, (), (), refused)
                if refused
                else context(view, found, budget, "pack", WINDOW, gate, count or embedder.count_tokens)
            )
            told.packed(packed)
            analysis = analysis_of(view.languages())
        answer = Answer(
            question,
            "",
            "lexical only" if asked.vector is None else "full",
            "extractive" if model is None else "generated",
            Verification(),
            packed,
            model=None if model is None else model.name,
            notes=asked.notes,
        )
        if packed.abstained:
            return replace(answer, tier="abstained", abstained=packed.abstained)
        if model is not None:
            return self._generated(answer, model, on_text)
        chosen = candidates(packed, analysis.content(question), analysis)
        text = extract(
            packed, chosen, asked.vector, partial(embedded, embedder.embed_documents, embedder=embedder)
        )
        if not text:
            return replace(answer, tier="abstained", abstained="no sentence of the passages can be shown")
        on_text(text)
        return replace(answer, text=text, verification=self.verify(text, packed))

    def _generated(self, answer: Answer, model: LanguageModel, on_text: Callable[[str], None]) -> Answer:
        """The answer with what the model writes."""
        written = generated(model, *prompt(answer.question, answer.context.text), on_text)
        stopped = (f"the model stopped early: {written.stopped}",) if written.stopped else ()
        answer = replace(
            answer,
            text=written.text,
            prompt_tokens=written.prompt_tokens,
            answer_tokens=written.answer_tokens,
            notes=answer.notes + stopped,
        )
        if says_nothing(written.text):
            return replace(answer, tier="abstained", abstained="the model found no answer in the passages")
        return replace(answer, verification=self.verify(written.text, answer.context))

    def _question(self, query: str, view: View) -> Question:
        return question_of(query, view, self.embedders, self.store.path)

    def verify(self, text: str, packed: Context | None = None) -> Verification:
        """Hold a text to a context, or where none is given to all of the nest; see `Nest.verify`."""
        if not isinstance(text, str):
            raise SettingError(f"the text is {text!r:.80}; give text")
        shown = {} if packed is None else {passage.id: Source.of(passage) for passage in packed.passages}

        with verifying() as told, self.store.view() as view:

            def look(claim: str) -> list[Source]:
                # a verdict is the same whatever reranks
                question = replace(self._question(claim, view), judge=None)
                found = search(view, question, self.where, LOOKED_THROUGH, 0, Gate(), self.scoring)
                return [Source.of(passage) for passage in found]

            def name(id: str) -> Named:
                if id in shown:
                    return Named("sound", shown[id])
                return _named(view, id, packed is None)

            return told(verify(text, list(shown.values()), name, look, analysis_of(view.languages())))


def _refused(view: View, found: Found, embedder: Embedder) -> str | None:
    """Why nothing that was found has to do with the question, or None; asked where no gate is given.

    By similarity where the embedder tells from which one on texts have to do with each other, and by words where
    only words were searched. It lets all passages through, or none.
    """
    voted = found.question.vector is not None
    gate = Gate(getattr(embedder, "unrelated_below", None)) if voted else Gate(min_coverage=LEAST_COVERAGE)
    return abstention(gate, passing(view, found, gate, 0, 1), len(found.ranking.parent))


def _named(view: View, id: str, anywhere: bool) -> Named:
    """What an id names that is not in the context; ``anywhere``: there is none, every passage will do."""
    read = view.read(id) if is_storable(id) else None
    if read is None:
        above_id, mark, number = id.rpartition("::")
        if mark and number.isdecimal() and (above := _named(view, above_id, True)).standing == "sound":
            return Named("child", above.source)
        return Named("unknown")
    document, parents = read
    for parent in parents:
        if parent.id == id:
            text = document.text[parent.start : parent.end]
            metadata = {**document.metadata, **parent.metadata}
            source = Source(
                id, document.id, document.title, parent.heading, parent.start, text, metadata, document.source
            )
            return Named("sound" if anywhere else "outside", source)
    whole = Source(id, document.id, document.title, (), 0, document.text, document.metadata, document.source)
    return Named("document", whole)


def analysis_of(languages: Mapping[str, int]) -> Analysis:
    """The one analyzer, for a nest that holds documents in these languages."""
    codes = list(languages) or [""]

    @lru_cache(maxsize=4096)
    def all_terms(text: str) -> frozenset[str]:
        return frozenset(term for code in codes for term in terms(text, code))

    return Analysis(lambda text: content_terms(text, codes), all_terms, sentences)
