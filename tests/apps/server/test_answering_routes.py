"""Answers over HTTP: whole, as events while they are written, and broken off."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from test_limits import until
from test_serving_documents import events

import nestling
from nestling.apps.server import streams
from served import Serve, Served

EVENTS = {"Accept": "text/event-stream"}
QUESTION = {"question": "how long may a fever last?"}


class Writer:
    """A language model that writes what it is told to, a piece at a time.

    Attributes:
        pieces: What it writes.
        go: Must be set before each piece after the first.
        ended: Whether it came to its end, or was stopped.
    """

    name = "writer"

    def __init__(self, *pieces: str, fails: bool = False) -> None:
        self.pieces = pieces
        self.fails = fails
        self.go = threading.Event()
        self.ended: list[str] = []

    def generate(self, system: str, prompt: str, on_text: Any) -> nestling.Generated:
        """Write."""
        try:
            for n, piece in enumerate(self.pieces):
                assert not n or self.go.wait(60)
                on_text(piece)
        except Exception:
            self.ended.append("stopped")
            raise
        self.ended.append("written")
        if self.fails:
            raise nestling.ModelError("the model broke off; try again")
        return nestling.Generated("".join(self.pieces))


def written_by(server: Served, writer: Writer) -> None:
    """Let a server's answers be written by a writer."""
    nest = server.service.nest
    ask = nest.ask

    def asked(*arguments: Any, **options: Any) -> nestling.Answer:
        return ask(*arguments, **{**options, "model": writer})

    nest.ask = asked  # type: ignore[method-assign]


def test_an_answer_comes_as_it_is_written(server: Served) -> None:
    """The first words come before the last are written; the last event is all of it, verified."""
    writer = Writer("Three days, ", "then see a doctor. [cite:fever]")
    written_by(server, writer)
    with server.http.stream("POST", "/v1/ask", json=QUESTION, headers=EVENTS) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = answer.iter_lines()
        assert [next(lines), next(lines)] == ["event: text", 'data: {"text": "Three days, "}']
        assert writer.ended == []
        writer.go.set()
        rest = "\n".join(lines)
    told = events(f"{rest.lstrip()}\n\n")
    assert [name for name, _ in told] == ["text", "answer"]
    last = told[-1][1]
    assert last["text"] == "".join(writer.pieces)
    assert (last["model"], last["made"]) == ("writer", "generated")
    assert last["context"]["passages"][0] == "fever"  # type: ignore[index]
    whole = server.http.post("/v1/ask", json={**QUESTION, "context": True}).json()
    assert whole["context"]["passages"][0]["id"] == "fever"
    assert whole["verification"] == last["verification"]


def test_an_answer_that_breaks_off(server: Served) -> None:
    """An error after the first words comes as the last event, without it as an ordinary answer."""
    written_by(server, Writer("Three", fails=True))
    told = events(server.http.post("/v1/ask", json=QUESTION, headers=EVENTS).text)
    assert [name for name, _ in told] == ["text", "error"]
    assert told[-1][1]["error"] == {"type": "ModelError", "message": "the model broke off; try again"}
    answer = server.http.post("/v1/ask", json=QUESTION)
    assert (answer.status_code, answer.json()["error"]["type"]) == (502, "ModelError")
    wrong = server.http.post("/v1/ask", json={"question": 5}, headers=EVENTS)
    assert (wrong.status_code, wrong.json()["error"]["type"]) == (400, "SettingError")
    with nestling.open(server.url) as remote, pytest.raises(nestling.ModelError, match="broke off"):
        remote.ask("how long may a fever last?")


def test_an_answer_nobody_waits_for_is_given_up(server: Served) -> None:
    """X1: once the client has gone the model is stopped at its next word, and its thread is free."""
    writer = Writer("Three ", "days ", "or ", "so.")
    written_by(server, writer)
    with server.http.stream("POST", "/v1/ask", json=QUESTION, headers=EVENTS) as answer:
        next(answer.iter_lines())
    until(lambda: server.now == 0)
    writer.go.set()
    until(lambda: server.service.lanes.slow._taken == 0)
    assert writer.ended == ["stopped"]


def test_searches_do_not_wait_for_answers(serve: Serve) -> None:
    """However many answers are being written, searches and writes go on; beyond their number answers wait."""
    server = serve()
    writer = Writer("Three ", "days.")
    written_by(server, writer)
    threads = [
        threading.Thread(target=server.http.post, args=("/v1/ask",), kwargs={"json": QUESTION})
        for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    until(lambda: server.service.lanes.slow._taken == 12)
    assert server.http.post("/v1/search", json={"query": "fever"}).status_code == 200
    assert server.http.put("/v1/documents/x", json={"text": "x"}).status_code == 201
    writer.go.set()
    for thread in threads:
        thread.join()
    assert writer.ended == ["written"] * 12


def test_silence_is_filled(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """While nothing is written, comments keep the connection alive; they are no events."""
    monkeypatch.setattr(streams, "SILENCE", 0.05)
    writer = Writer("Three ", "days. [cite:fever]")
    written_by(server, writer)
    with server.http.stream("POST", "/v1/ask", json=QUESTION, headers=EVENTS) as answer:
        lines = answer.iter_lines()
        assert any(line.startswith(":") for line in lines)
        writer.go.set()
        assert any(json.loads(line[6:]).get("text") for line in lines if line.startswith("data: "))
    writer.go.set()
    with nestling.open(server.url) as remote:
        pieces: list[str] = []
        assert remote.ask("how long may a fever last?", stream=pieces.append).text == "".join(pieces)


def test_an_error_that_was_not_foreseen_is_not_told(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong inside is in the log, and outside it is only said that it is; in events, too."""

    def broken(*arguments: Any, **options: Any) -> Any:
        raise ZeroDivisionError("secret /path")

    server.service.nest.search = broken  # type: ignore[method-assign]
    server.service.nest.ask = broken  # type: ignore[method-assign]
    for path, body, headers in (
        ("/v1/search", {"query": "x"}, {}),
        ("/v1/ask", QUESTION, {}),
        ("/v1/ask", QUESTION, EVENTS),
    ):
        answer = server.http.post(path, json=body, headers=headers)
        assert answer.status_code == 500
        assert answer.json()["error"]["type"] == "ServerError"
        assert "secret" not in answer.text
    assert server.http.get("/v1/stats").status_code == 200
