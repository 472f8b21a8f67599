"""``--reranker``: on each command that asks, by option or variable, and in what is served."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import Run

from models.embedding_server import Answer, Service, serve
from models.rerank_bodies import prefers
from nestling.apps import mcp_server
from nestling.apps.server import running
from nestling.apps.server.serving import Serving
from nestling.models import patience


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A reranking server on loopback that prefers texts with a doctor in them."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(patience, "FIRST_WAIT", 0.001)
    for name in ("NESTLING_RERANKER", "NESTLING_API_KEY", "NESTLING_LLM"):
        monkeypatch.delenv(name, raising=False)
    with serve(prefers("doctor")) as running:
        yield running


@pytest.fixture
def spec(service: Service) -> str:
    """What names it."""
    return f"jina:judge@{service.url}"


def first(run: Run, *arguments: str) -> Any:
    """The id of the first passage."""
    return json.loads(run("search", "take it with food for three days", *arguments, "--json").stdout)[
        "passages"
    ][0]["id"]


def test_by_option_and_by_variable(run: Run, cards: Path, spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the words decide; with it the judge does; an empty option takes a variable back."""
    assert first(run) == "stomach"
    assert first(run, "--reranker", spec) == "fever"
    monkeypatch.setenv("NESTLING_RERANKER", spec)
    assert first(run) == "fever"
    assert first(run, "--reranker", "") == "stomach"


def test_the_explanation_shows_it(run: Run, cards: Path, spec: str) -> None:
    """``--explain`` has a line of it, and JSON the names that are documented."""
    shown = run("search", "take it with food for three days", "--explain", "--reranker", spec).stdout
    assert "  reranker: place 1, before " in shown
    told = json.loads(
        run("search", "take it with food for three days", "--explain", "--json", "--reranker", spec).stdout
    )
    assert list(told["explanation"]["reranked"]["fever"]) == ["score", "place", "before"]
    assert told["explanation"]["reranked"]["fever"]["score"] == 1.0


def test_each_command_that_asks(run: Run, cards: Path, spec: str, service: Service) -> None:
    """A context, an answer and an evaluation go through it."""
    packed = json.loads(
        run("context", "take it with food for three days", "--reranker", spec, "--json").stdout
    )
    assert packed["text"].startswith("[cite:fever]")
    run("ask", "take it with food for three days", "--reranker", spec)
    assert len(service.requests) == 2
    Path("golden.jsonl").write_text(
        '{"question": "take it with food for three days", "relevant": {"fever": 1}}\n'
    )
    done = json.loads(run("eval", "golden.jsonl", "--reranker", spec, "--json", "-k", "1").stdout)
    assert done["questions"][0]["figures"]["document/hit@1"] == 1.0


def test_a_failure_ends_as_a_models(run: Run, cards: Path, spec: str, service: Service) -> None:
    """A server that refuses, and a spec that names nothing, are told in one line, each with its exit code."""
    service.answers.append(Answer(401, b"no key"))
    failed = run("search", "food", "--reranker", spec)
    assert failed.exit_code == run("search", "food", "--reranker", "onnx:nowhere").exit_code == 7
    assert "answered 401: no key; check the address, the model's name and the key" in failed.stderr
    unknown = run("search", "food", "--reranker", "bge")
    assert "give one of jina:MODEL@URL, onnx:DIRECTORY" in unknown.stderr


def test_assistants_get_it(run: Run, cards: Path, spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """``nestling mcp`` answers through it."""
    found: list[str] = []
    monkeypatch.setattr(
        mcp_server,
        "serve_stdio",
        lambda nest: found.append(nest.search("take it with food for three days")[0].id),
    )
    assert run("mcp", "--reranker", spec).exit_code == 0
    assert found == ["fever"]


def test_the_server_is_told(run: Run, cards: Path, spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """``nestling serve`` hands it to its workers."""
    told: list[Serving] = []
    monkeypatch.setattr(running, "run", lambda serving, *_: told.append(serving))
    assert run("serve", "--reranker", spec).exit_code == 0
    assert run("serve").exit_code == 0
    assert [each.reranker for each in told] == [spec, None]
