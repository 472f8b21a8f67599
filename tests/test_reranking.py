"""A nest with a reranker: what it prefers comes first, everywhere a question is asked, and nothing else changes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import nestling
from collected import named, spans, told, tree
from nestling import Document, Golden, GoldenQuestion, ModelError, Nest, SettingError
from nestling.apps import wire
from nestling.from_json import value_of
from nestling.measure.state import State
from nestling.measure.trials import Deadline
from nestling.retrieve.rerank import CANDIDATES
from nestling.settings import Recipe
from nestling.tuning import Workshop
from test_adding import cards
from wordhash import WordHash

__all__ = ["spans"]

QUERY = "how are apple trees watered"
SECRET = "The quince by the wall is watered with a bucket a day."
# the passage that the judge prefers is neither the best one nor the best of its document
GARDEN = "\n\n".join(f"Bed {n} of the garden has apple trees and roses, {n} of each. " * 3 for n in range(5))


def orchard(n: int) -> str:
    """Paragraphs that say what is asked for, each in words of its own."""
    return "\n\n".join(
        f"Apple trees of row {n} {m} are watered in week {m}: this is how apple trees are watered. " * 2
        for m in range(4 + n)
    )


DOCUMENTS = [
    *(Document(f"d{n}", orchard(n), "Apples", {"tenant": ("acme", "globex")[n % 2]}) for n in range(4)),
    # what has less to do with it than the secret: the last row of each list gets nothing from it, and is not judged
    Document("zoo", "\n\n".join(f"Lions of cage {n} eat meat. Trees? " * 5 for n in range(4)), "Zoo"),
    Document("farm", "Hens eat corn. Trees? " * 20, "Farm", {"tenant": "acme"}),
    Document("garden", f"# Garden\n\n## Walls\n\n{GARDEN}\n\n{SECRET}\n", "Garden", {"tenant": "acme"}),
]
RECIPE = Recipe(child_size=200, parent_size=400)


class Prefers:
    """A judge that scores texts with a word 5, others of the garden 1, and others 0; ``asked`` keeps all texts."""

    name = "prefers"

    def __init__(self, word: str = "quince") -> None:
        self.word = word
        self.queries: list[str] = []
        self.asked: list[str] = []

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One a text."""
        self.queries.append(query)
        self.asked += texts
        return [5.0 if self.word in text else float(text.startswith("Garden")) for text in texts]


class Fails:
    """A judge that calls what it is given."""

    name = "fails"

    def __init__(self, scores: Callable[[str, Sequence[str]], Any]) -> None:
        self.scores = scores


@pytest.fixture
def judge() -> Prefers:
    """A judge whose calls can be looked at."""
    return Prefers()


@pytest.fixture
def judged(path: Path, judge: Prefers) -> Iterator[Nest]:
    """The garden's nest with that judge."""
    with nestling.open(path, create=True, embedder=WordHash(), recipe=RECIPE, reranker=judge) as nest:
        nest.add(DOCUMENTS)
        yield nest


@pytest.fixture
def plain(judged: Nest, path: Path) -> Iterator[Nest]:
    """The same nest without a reranker."""
    with nestling.open(path, embedder=WordHash()) as nest:
        yield nest


def test_search_brings_what_the_judge_prefers(judged: Nest, plain: Nest, judge: Prefers) -> None:
    """The preferred child's parent comes first, and the child is its evidence, which it was not before."""
    before, after = plain.search(QUERY, 100), judged.search(QUERY, 100)
    assert SECRET not in before[0].text
    best = after[0]
    assert SECRET in best.text
    assert any(SECRET in best.text[each.start : each.end] for each in best.evidence)
    assert max(each.score for each in best.evidence) == best.score
    assert judge.queries == [QUERY]
    assert any(text.startswith(f"Garden\n{SECRET}") for text in judge.asked)


def test_the_rest_of_a_passage_stays(judged: Nest, plain: Nest) -> None:
    """The same passages, the same best score, and of each passage the same similarity, coverage and hits."""
    before = {passage.id: passage for passage in plain.search(QUERY, 100)}
    after = {passage.id: passage for passage in judged.search(QUERY, 100)}
    assert before.keys() == after.keys()
    assert list(before) != list(after)
    assert max(p.score for p in before.values()) == max(p.score for p in after.values())
    for id, passage in after.items():
        assert [getattr(passage, name) for name in ("similarity", "coverage", "hits", "text")] == [
            getattr(before[id], name) for name in ("similarity", "coverage", "hits", "text")
        ]


def test_pages_do_not_shift(judged: Nest) -> None:
    """Pages of a reranked search repeat nothing and leave nothing out."""
    whole = [passage.id for passage in judged.search(QUERY, 12)]
    paged = [p.id for offset in (0, 4, 8) for p in judged.search(QUERY, 4, offset=offset)]
    assert paged == whole


def test_a_context_begins_with_it(judged: Nest, plain: Nest, judge: Prefers) -> None:
    """What the judge prefers stands first, and is in a context that is too small for it otherwise."""
    assert SECRET not in plain.context(QUERY, 400).text
    packed = judged.context(QUERY, 400)
    assert SECRET in packed.text
    assert packed.text.startswith("[cite:garden")
    assert judge.queries == [QUERY]


def test_an_answer_is_made_from_it(judged: Nest, plain: Nest, judge: Prefers) -> None:
    """An answer has the preferred passage in its context; verifying asks no judge."""
    answers = [nest.ask(QUERY, 400, min_similarity=-1) for nest in (plain, judged)]
    assert [SECRET in answer.context.text for answer in answers] == [False, True]
    assert judge.queries == [QUERY]
    judged.verify("Apple trees are watered in winter.")
    assert judge.queries == [QUERY]


def test_it_is_measured(judged: Nest, plain: Nest) -> None:
    """Golden questions are asked of what users get."""
    golden = Golden((GoldenQuestion("q", QUERY, {"garden": 1}),))
    found = [nest.evaluate(golden, k=(1,)).questions[0].figures["document/hit@1"] for nest in (plain, judged)]
    assert found == [0.0, 1.0]


def test_a_scope_shows_the_judge_nothing_else(judged: Nest, judge: Prefers) -> None:
    """In a scope the same judge is asked, about its documents only; an edition has it, too."""
    allowed = {"acme": {"d0", "d2", "garden", "farm"}, "globex": {"d1", "d3"}}
    judged.add(Document("other", f"{orchard(1)} globex-only", "Apples", {"tenant": "globex"}))
    found = judged.scope(tenant="acme").search(QUERY, 100)
    assert SECRET in found[0].text
    assert {passage.document_id for passage in found} == allowed["acme"]
    assert judge.asked
    assert not any("globex-only" in text for text in judge.asked)
    assert SECRET in judged.at(1).search(QUERY, 1)[0].text
    assert SECRET in judged.with_scoring(nestling.Scoring(lexical=2)).search(QUERY, 1)[0].text


def test_tuning_asks_it(judged: Nest, judge: Prefers) -> None:
    """What tuning tries, the nest itself and those that it builds, is asked with the reranker."""
    shop = Workshop(judged, DOCUMENTS, State(None, "identity"), Deadline(60))
    for recipe in (RECIPE, Recipe(child_size=150, parent_size=300)):
        assert SECRET in shop.index(recipe).nest.search(QUERY, 1)[0].text
    shop.close()
    assert judge.queries == [QUERY] * 2


def test_only_the_best_are_judged(path: Path, judge: Prefers) -> None:
    """Of 300 children 64 are; what the lists hardly found stays behind, whatever a judge would say."""
    with nestling.open(path, create=True, embedder=WordHash(), reranker=judge) as nest:
        nest.add(Document(f"c{n}", "apple " * (1 + n % 40) + f"number {n}") for n in range(300))
        nest.add(Document("far", "quince"))
        found = nest.search("apple", 301)
    assert len(judge.asked) == CANDIDATES
    assert len(found) == 301
    assert not any("quince" in text for text in judge.asked)


def test_nothing_to_judge(path: Path, judge: Prefers) -> None:
    """An empty nest and an empty query ask nothing."""
    with nestling.open(path, create=True, embedder=WordHash(), reranker=judge) as nest:
        assert len(nest.search("apple")) == 0
        nest.add(DOCUMENTS)
        nest.search("  ", 3)
        nest.search("apple", where={"tenant": "nobody"})
    assert judge.asked == []


def test_each_text_is_judged_once(path: Path, judge: Prefers, spans: InMemorySpanExporter) -> None:
    """A gate that refuses much makes a search look again, and the judge is only told of what is new."""
    with nestling.open(path, create=True, embedder=WordHash(), reranker=judge) as nest:
        nest.add(cards(450, "common apple"))
        spans.clear()
        assert len(nest.search("common apple number 7", 3, min_coverage=0.99)) < 3
    assert [each.name for each in spans.get_finished_spans()].count("nestling.rerank") > 1
    assert max(Counter(judge.asked).values()) == 1


def test_it_is_said_where_the_best_child_stood(judged: Nest, plain: Nest) -> None:
    """The explanation has the judge's score and both places of each passage's best child, in text and in JSON."""
    found = judged.search(QUERY, 100)
    why = found.explain()
    best = why.reranked[found[0].id]
    assert (best.score, best.place) == (5.0, 1)
    assert best.before > 1
    assert set(why.reranked) <= {passage.id for passage in found}
    places = [why.reranked[passage.id].place for passage in found if passage.id in why.reranked]
    assert places == sorted(places)
    assert f"  reranker: place 1, before {best.before}  score   5.0000" in str(why).splitlines()
    sent = json.loads(wire.dumps(wire.results(QUERY, found, explain=True)))["explanation"]
    assert sent["reranked"][found[0].id] == {"score": 5.0, "place": 1, "before": best.before}
    assert value_of(nestling.Explanation, sent) == why
    assert plain.search(QUERY).explain().reranked == {}
    # a server of a Nestling before there were rerankers
    assert value_of(nestling.Explanation, {k: v for k, v in sent.items() if k != "reranked"}).reranked == {}


def test_it_is_a_span(judged: Nest, plain: Nest, judge: Prefers, spans: InMemorySpanExporter) -> None:
    """Reranking comes between fusing and the last collapsing, with how many, by what, and the best score."""
    judged.search(QUERY)
    assert tree(spans)["retrieval"][-4:] == [
        "nestling.fuse",
        "nestling.collapse",
        "nestling.rerank",
        "nestling.collapse",
    ]
    assert told(named(spans, "nestling.rerank")) == {
        "gen_ai.request.model": "prefers",
        "nestling.chunk_count": len(judge.asked),
        "nestling.top_score": 5.0,
    }
    spans.clear()
    plain.search(QUERY)
    assert "nestling.rerank" not in tree(spans)["retrieval"]


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (lambda query, texts: 1 / 0, r"fails failed: ZeroDivisionError"),
        (lambda query, texts: [1.0], r"fails gave 1 scores for \d+ texts"),
        (lambda query, texts: [float("nan")] * len(texts), r"fails gave the score nan"),
    ],
)
def test_a_failure_is_told(judged: Nest, path: Path, scores: Any, said: str) -> None:
    """Nothing goes on silently without the reranker; the nest is as it was."""
    with nestling.open(path, embedder=WordHash(), reranker=Fails(scores)) as nest:
        for ask in (nest.search, nest.context, nest.ask):
            with pytest.raises(ModelError, match=said):
                ask(QUERY)
    assert SECRET in judged.search(QUERY)[0].text


def test_specs_are_read_before_a_nest_is_made(path: Path) -> None:
    """A spec that names nothing is refused, and no file is left behind."""
    with pytest.raises(SettingError, match="give one of jina:MODEL@URL, onnx:DIRECTORY"):
        nestling.open(path, create=True, embedder=WordHash(), reranker="bge")
    with pytest.raises(ModelError, match=r"neither model\.onnx"):
        nestling.open(path, create=True, embedder=WordHash(), reranker=f"onnx:{path.parent}")
    assert not path.exists()


def test_a_nest_behind_a_server_has_its_own() -> None:
    """A reranker for it is refused before anything is sent."""
    with pytest.raises(SettingError, match="reranked by its server"):
        nestling.open("http://127.0.0.1:9", reranker=Prefers())
