"""Log events: what a nest tells of itself on request, and that it is silent else."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import nestling
from collected import named, spans
from models.embedding_server import Answer, serve
from nestling.models import patience
from nestling.tracing import CAPTURE
from wordhash import WordHash

__all__ = ["spans"]


@pytest.fixture(autouse=True)
def logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Events are asked for, the text of queries is not."""
    monkeypatch.delenv(CAPTURE, raising=False)
    caplog.set_level(logging.INFO, "nestling")


def events(caplog: pytest.LogCaptureFixture) -> list[tuple[str, dict[str, Any]]]:
    """Name and fields of every event so far."""
    return [(record.event, record.fields) for record in caplog.records]


def test_a_life_is_told(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Opening, adding, replacing, searching, packing and removing are events with ids and counts."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add(nestling.Document("a", "One text."))
        nest.add(nestling.Document("a", "Another text."))
        nest.add(nestling.Document("a", "Another text."))
        found = nest.search("another")
        packed = nest.context("another", 100)
        nest.remove(["a", "b"])
    told = events(caplog)
    assert [name for name, _ in told] == ["opened", "added", "replaced", "searched", "packed", "removed"]
    by_name = dict(told)
    assert all(fields["nest"] == str(path) for fields in by_name.values())
    assert by_name["opened"] == {"nest": str(path), "edition": 1, "embedder": "wordhash-64"}
    assert by_name["added"] == {"nest": str(path), "document": "a", "parent_count": 1, "chunk_count": 1}
    searched = by_name["searched"]
    assert searched.pop("ms") > 0
    assert searched == {
        "nest": str(path),
        "parent_count": 1,
        "parent_id": "a",
        "top_score": found[0].score,
    }
    assert by_name["packed"]["tokens"] == packed.tokens
    assert by_name["packed"]["budget"] == 100
    assert by_name["removed"] == {"nest": str(path), "document": "a"}


def test_a_query_is_told_only_on_request(
    nest: nestling.Nest, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The switch is that of the spans."""
    nest.search("xylophone")
    assert "xylophone" not in caplog.text
    monkeypatch.setenv(CAPTURE, "true")
    nest.search("xylophone")
    assert events(caplog)[-1][1]["query"] == "xylophone"


def test_an_answer_is_told(nest: nestling.Nest, caplog: pytest.LogCaptureFixture) -> None:
    """Asking is two events: what was packed, and how it was answered and holds."""
    nest.add(nestling.Document("a", "The lamp may be returned within 30 days."))
    answer = nest.ask("when may the lamp be returned?")
    (packed, _), (answered, fields) = events(caplog)[-2:]
    assert (packed, answered) == ("packed", "answered")
    assert (fields["tier"], fields["made"]) == (answer.tier, "extractive")
    assert fields["claim_count"] == len(answer.verification.claims)
    assert fields["problem_count"] == 0
    assert "lamp" not in caplog.text


def test_a_sync_and_a_switch_are_told(
    nest: nestling.Nest, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What a sync renames and removes is told, a dry run tells nothing, and a switch is an event."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text(f"Text of {name}.")
    nest.sync(folder)
    (folder / "a.txt").rename(folder / "c.txt")
    (folder / "b.txt").unlink()
    caplog.clear()
    nest.sync(folder, dry_run=True)
    assert not caplog.records
    nest.sync(folder)
    told = dict(events(caplog))
    assert told["renamed"]["document"] == "c.txt"
    assert told["renamed"]["former"] == "a.txt"
    assert told["removed"]["document"] == "b.txt"
    nest.rebuild(nestling.Recipe(child_size=200))
    assert dict(events(caplog))["switched"]["edition"] == 2


def test_an_upgrade_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Opening an older file says from what it was upgraded, and where the backup is."""
    old = Path(__file__).parent / "stores" / "schema-1" / "handbook.nest"
    path = Path(shutil.copy(old, tmp_path))
    nestling.open(path).close()
    told = dict(events(caplog))
    assert told["upgraded"]["former"] == 1
    assert Path(told["upgraded"]["backup"]).is_file()


def test_a_retry_is_told(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wait before another try is a warning that names the host, the reason and the seconds, and no key."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(patience, "FIRST_WAIT", 0.001)
    with serve() as server:
        server.answers.append(Answer(429, {}, {"Retry-After": "0"}))
        nestling.Endpoint(server.url, "m", api_key="secret-key").embed_queries(["a"])
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert events(caplog) == [("retry", {"host": "127.0.0.1", "tried": 1, "reason": "429", "seconds": 0.0})]


def test_events_name_the_span_they_are_in(
    nest: nestling.Nest, caplog: pytest.LogCaptureFixture, spans: InMemorySpanExporter
) -> None:
    """Where spans are collected, an event says in which one it happened."""
    nest.search("anything")
    root = named(spans, "retrieval").context
    fields = events(caplog)[-1][1]
    assert fields["trace_id"] == f"{root.trace_id:032x}"
    assert fields["span_id"] == f"{root.span_id:016x}"


def test_silent_until_asked() -> None:
    """A program that sets up no logging sees nothing, not even of warnings."""
    script = (
        "import logging, nestling; from nestling.observing import event;"
        " event('retry', logging.WARNING, host='x'); event('opened')"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    assert (done.stdout, done.stderr) == ("", "")
