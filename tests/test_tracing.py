"""OpenTelemetry spans: what is told of each step, what never is, and that nothing is told to nobody."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import nestling
from collected import everything, named, spans, told, tree
from models.embedding_server import serve
from nestling.tracing import CAPTURE
from wordhash import WordHash

__all__ = ["spans"]

# words that occur in no id, path or name
SECRET = "xylophone"
QUERY = "zeppelin xylophone"
TEXT = "\n\n".join(f"## Part {n}\n\n" + f"The {SECRET} number{n} is tuned. " * 60 for n in range(4))
LISTS = [
    f"nestling.list {level} {channel}"
    for level in ("document", "parent", "child")
    for channel in ("dense", "lexical")
]


@pytest.fixture
def filled(nest: nestling.Nest) -> nestling.Nest:
    """A nest that holds the manual, added before anything is collected."""
    nest.add(nestling.Document("manual.md", TEXT, "Manual"))
    return nest


def test_search_is_a_tree_of_its_steps(filled: nestling.Nest, spans: InMemorySpanExporter) -> None:
    """A retrieval holds the embedding, each of the six lists, the fusing and the collapsing."""
    filled.search(QUERY, k=2)
    assert tree(spans) == {
        "": ["retrieval"],
        "retrieval": ["embeddings wordhash-64", *LISTS, "nestling.fuse", "nestling.collapse"],
    }


def test_spans_carry_counts_ids_and_scores(filled: nestling.Nest, spans: InMemorySpanExporter) -> None:
    """Case X2: each step says how many chunks and parents it had and its best score, and the root which parents."""
    found = filled.search(QUERY, k=2)
    stats = filled.stats()
    best = found[0]
    root = told(named(spans, "retrieval"))
    assert root["gen_ai.operation.name"] == "retrieval"
    assert root["gen_ai.retrieval.top_k"] == 2
    assert root["nestling.parent_count"] == 2
    assert root["nestling.parent_id"] == best.id
    assert root["nestling.top_score"] == best.score
    documents = json.loads(str(root["gen_ai.retrieval.documents"]))
    assert documents == [{"id": passage.id, "score": passage.score} for passage in found]
    children = told(named(spans, "nestling.list child dense"))
    assert children["nestling.chunk_count"] == stats["children"]
    assert (children["nestling.level"], children["nestling.channel"]) == ("child", "dense")
    assert told(named(spans, "nestling.list parent lexical"))["nestling.parent_count"] == stats["parents"]
    assert told(named(spans, "nestling.list document dense"))["nestling.document_count"] == 1
    assert told(named(spans, "nestling.fuse"))["nestling.chunk_count"] == stats["children"]
    collapsed = told(named(spans, "nestling.collapse"))
    assert collapsed["nestling.parent_count"] == stats["parents"]
    assert collapsed["nestling.top_score"] == pytest.approx(best.score, abs=1e-6)
    embedding = told(named(spans, "embeddings wordhash-64"))
    assert embedding == {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": "nestling",
        "gen_ai.request.model": "wordhash-64",
        "gen_ai.embeddings.dimension.count": 64,
        "nestling.text_count": 1,
    }


def test_scores_of_lists_are_those_of_the_explanation(
    filled: nestling.Nest, spans: InMemorySpanExporter
) -> None:
    """The top score of a list is the score that its first row is explained by."""
    found = filled.search(QUERY, k=4)
    for votes in found.explain().votes.values():
        for vote in votes:
            if vote.rank == 1:
                name = f"nestling.list {vote.level} {vote.channel}"
                assert told(named(spans, name))["nestling.top_score"] == vote.score


def test_context_adds_the_packing(filled: nestling.Nest, spans: InMemorySpanExporter) -> None:
    """A context is a retrieval with one step more, which says what fitted."""
    packed = filled.context(QUERY, budget=200)
    assert tree(spans)["retrieval"][-1] == "nestling.pack"
    root, pack = told(named(spans, "retrieval")), told(named(spans, "nestling.pack"))
    assert root["nestling.method"] == "context"
    assert root["nestling.parent_count"] == len(packed.passages)
    assert pack["nestling.budget"] == 200
    assert pack["nestling.tokens"] == packed.tokens
    assert pack["nestling.parent_count"] == len(packed.passages)
    assert pack["nestling.piece_count"] == len(packed.pieces)
    assert pack["nestling.parent_id"] == max(packed.passages, key=lambda passage: passage.score).id


def test_adding_is_a_tree_of_its_steps(nest: nestling.Nest, spans: InMemorySpanExporter) -> None:
    """Adding holds embedding and storing; each says how much."""
    report = nest.add([nestling.Document("a", "One text."), nestling.Document("manual.md", TEXT)])
    found = tree(spans)
    assert found[""] == ["nestling.add"]
    assert set(found["nestling.add"]) == {"embeddings wordhash-64", "nestling.store"}
    root = told(named(spans, "nestling.add"))
    assert root["nestling.added_count"] == 2
    assert root["nestling.embedded_count"] == report.embedded
    stored = [told(each) for each in spans.get_finished_spans() if each.name == "nestling.store"]
    assert [each["nestling.document_id"] for each in stored] == ["a", "manual.md"]
    stats = nest.stats()
    assert sum(each["nestling.chunk_count"] for each in stored) == stats["children"]  # type: ignore[misc]
    assert sum(each["nestling.parent_count"] for each in stored) == stats["parents"]  # type: ignore[misc]


def test_other_changes_are_roots_that_tell_what_they_did(
    filled: nestling.Nest, spans: InMemorySpanExporter, tmp_path: Path
) -> None:
    """A sync and a rebuild say how many documents and children they met."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "b.txt").write_text("Another text.")
    filled.sync(folder)
    assert told(named(spans, "nestling.sync"))["nestling.added_count"] == 1
    rebuilt = filled.rebuild(nestling.Recipe(child_size=200))
    root = told(named(spans, "nestling.rebuild"))
    assert root["nestling.embedded_count"] == rebuilt.embedded
    assert "nestling.store" in tree(spans)["nestling.rebuild"]


def test_no_text_unless_asked(
    nest: nestling.Nest, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case X2: neither query nor document, title or metadata is in any span; the query is, once it is asked for."""
    nest.add(nestling.Document("manual.md", TEXT, f"Title of {SECRET}", {"note": SECRET}))
    nest.search(QUERY)
    nest.context(QUERY)
    assert SECRET not in everything(spans)
    monkeypatch.setenv(CAPTURE, "no_content")
    nest.search(QUERY)
    assert SECRET not in everything(spans)
    spans.clear()
    monkeypatch.setenv(CAPTURE, "SPAN_ONLY")
    nest.search(QUERY)
    assert told(named(spans, "retrieval"))["gen_ai.retrieval.query.text"] == QUERY
    assert "tuned" not in everything(spans)


def test_errors_are_recorded_without_what_they_quote(
    filled: nestling.Nest,
    spans: InMemorySpanExporter,
    embedder: WordHash,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A failure marks its span and those around it by its class; its message is told where text is asked for."""
    embedder.fail_on = SECRET
    with pytest.raises(nestling.ModelError):
        filled.search(QUERY)
    for name in ("embeddings wordhash-64", "retrieval"):
        failed = named(spans, name)
        assert failed.status.status_code is StatusCode.ERROR
        assert told(failed)["error.type"] == "ModelError"
        assert not failed.events
    assert "asked to fail" not in everything(spans)
    monkeypatch.setenv(CAPTURE, "true")
    spans.clear()
    with pytest.raises(nestling.ModelError):
        filled.add(nestling.Document("b", f"Another {SECRET}."))
    failed = named(spans, "nestling.add")
    assert [str(each.attributes["exception.message"]) for each in failed.events if each.attributes] == [
        "the model was asked to fail"
    ]
    assert told(failed)["nestling.added_count"] == 0


def test_an_empty_answer_is_no_error(nest: nestling.Nest, spans: InMemorySpanExporter) -> None:
    """Nothing found, and a gate that abstains, are told as such."""
    nest.search(QUERY)
    root = named(spans, "retrieval")
    assert told(root)["nestling.parent_count"] == 0
    assert "nestling.parent_id" not in told(root)
    spans.clear()
    nest.add(nestling.Document("a", "One text."))
    nest.search("one", min_coverage=1, min_similarity=1)
    root = named(spans, "retrieval")
    assert told(root)["nestling.abstained"] is True
    assert root.status.status_code is StatusCode.UNSET


def test_a_model_on_a_server_is_a_client(spans: InMemorySpanExporter) -> None:
    """Embedding on a server is a span of the kind that waits for another process; others are internal."""
    with (
        serve() as server,
        nestling.open(":memory:", embedder=nestling.Endpoint(server.url, "small")) as nest,
    ):
        nest.add(nestling.Document("a", "One text."))
    embedding = named(spans, "embeddings small")
    assert embedding.kind is SpanKind.CLIENT
    assert told(embedding)["gen_ai.provider.name"] == "openai"
    assert named(spans, "nestling.add").kind is SpanKind.INTERNAL


class Scripted:
    """A language model that writes what it is told to."""

    name = "scripted"

    def generate(self, system: str, prompt: str, on_text: Callable[[str], None]) -> nestling.Generated:
        """Write one sentence."""
        text = f"The {SECRET} number2 is tuned [cite:manual.md§3]."
        on_text(text)
        return nestling.Generated(text, 100, 10)


def test_asking_is_a_tree_of_its_steps(filled: nestling.Nest, spans: InMemorySpanExporter) -> None:
    """An answer holds the retrieval, the language model and the verification, each with its counts, and no text."""
    answer = filled.ask(f"is the {SECRET} number2 tuned?", model=Scripted())
    found = tree(spans)
    assert found[""] == ["nestling.ask"]
    assert found["nestling.ask"] == ["retrieval", "chat scripted", "nestling.verify"]
    assert "nestling.pack" in found["retrieval"]
    root, verified = told(named(spans, "nestling.ask")), told(named(spans, "nestling.verify"))
    assert (root["nestling.tier"], root["nestling.made"]) == ("full", "generated")
    assert root["nestling.parent_count"] == len(answer.context.passages)
    for counts in (root, verified):
        assert counts["nestling.citation_count"] == len(answer.verification.citations) == 1
        assert counts["nestling.claim_count"] == len(answer.verification.claims) == 1
        assert counts["nestling.problem_count"] == len(answer.verification.problems)
    chat = named(spans, "chat scripted")
    assert chat.kind is SpanKind.CLIENT
    assert told(chat) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "custom",
        "gen_ai.request.model": "scripted",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.response.finish_reasons": ("stop",),
        "nestling.characters": len(answer.text),
    }
    assert SECRET not in everything(spans)


def test_what_a_language_model_reads_and_writes_is_told_on_request(
    filled: nestling.Nest, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the switch on, the messages are there, in the form of the conventions."""
    monkeypatch.setenv(CAPTURE, "true")
    answer = filled.ask(f"is the {SECRET} number2 tuned?", model=Scripted())
    chat = told(named(spans, "chat scripted"))
    (output,) = json.loads(str(chat["gen_ai.output.messages"]))
    assert output["parts"] == [{"type": "text", "content": answer.text}]
    (read,) = json.loads(str(chat["gen_ai.input.messages"]))
    assert answer.context.text in read["parts"][0]["content"]
    assert json.loads(str(chat["gen_ai.system_instructions"]))[0]["content"]


def test_an_answer_without_a_language_model_has_no_chat(
    filled: nestling.Nest, spans: InMemorySpanExporter
) -> None:
    """Sentences are chosen by embedding them, in the span of the answer."""
    filled.ask(f"is the {SECRET} number2 tuned?")
    assert not any(each.name.startswith("chat") for each in spans.get_finished_spans())
    assert told(named(spans, "nestling.ask"))["nestling.made"] == "extractive"
    assert SECRET not in everything(spans)


SCRIPT = """
import sys
import nestling
from wordhash import WordHash
if {collect}:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    exporter = InMemorySpanExporter()
nest = nestling.open(":memory:", embedder=WordHash())
nest.add(nestling.Document("a", "One text."))
if {collect}:
    trace.set_tracer_provider(TracerProvider())
    trace.get_tracer_provider().add_span_processor(SimpleSpanProcessor(exporter))
nest.search("one")
print(sorted({{each.name.split()[0] for each in exporter.get_finished_spans()}}) if {collect} else
      [name for name in sys.modules if name.startswith("opentelemetry")])
"""


@pytest.mark.parametrize("collect", [False, True])
def test_costs_nothing_until_a_provider_is_set_up(collect: bool) -> None:
    """Nothing of OpenTelemetry is imported by Nestling; a provider counts from the moment it is set up."""
    script = SCRIPT.format(collect=collect)
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    wanted = ["embeddings", "nestling.collapse", "nestling.fuse", "nestling.list", "retrieval"]
    assert done.stdout.strip() == str(wanted if collect else [])
