"""A query made ready to be asked: language, terms, its vector where the model can read it, and what reranks."""

from __future__ import annotations

from functools import partial

from nestling.errors import SettingError
from nestling.indexing import check_readable
from nestling.ingest.prepare import question_language
from nestling.ingest.terms import query_terms
from nestling.models.known import Embedders
from nestling.models.reranker import judged
from nestling.models.vectors import embedded
from nestling.retrieve.find import Question
from nestling.retrieve.rerank import Judge
from nestling.view import View


def question_of(query: str, view: View, embedders: Embedders, path: str) -> Question:
    """Make a query ready by the words and the model of the edition that the view holds.

    Whatever is switched to meanwhile, the vector is compared with those of the same model.

    Args:
        query: Any text.
        view: What it is asked of.
        embedders: The models of the nest.
        path: Of the nest.

    Raises:
        SettingError: The query is not text.
        EmbedderMismatchError: The edition's model is not to be had.
        ModelError: It failed.
        StoreError: Other rules of analysis than this Nestling's built the edition.
    """
    if not isinstance(query, str):
        raise SettingError(f"the query is {query!r}; give text")
    check_readable(view.edition, path)
    held = view.languages()
    language = question_language(query, held)
    terms = query_terms(query, list(held))
    embedder = embedders.of(view.edition)
    readable, reranker = embedder.languages, embedders.reranker
    if not query.strip():
        return Question(query, language, terms, None, ("the query is empty",))
    judge = None if reranker is None else Judge(reranker.name, partial(judged, reranker, query))
    if readable is not None and language and language not in readable:
        note = f"dense did not vote: {embedder.fingerprint} cannot read {language!r}"
        return Question(query, language, terms, None, (note,), judge)
    vector = embedded(embedder.embed_queries, [query], embedder)[0]
    return Question(query, language, terms, vector, judge=judge)
