"""Sizes, times and numbers beyond which a request is refused; and what becomes of those whose client has gone."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

import nestling
from nestling.apps.server import documents
from nestling.apps.server.admission import Admission
from nestling.apps.server.lanes import reading_threads
from nestling.apps.server.serving import Serving
from served import Serve, Served
from wordhash import WordHash


class Held:
    """A nest that searches and adds only once it is let go.

    Attributes:
        begun: How many searches and additions have begun.
    """

    def __init__(self, nest: nestling.Nest) -> None:
        self._nest = nest
        self.let_go = threading.Event()
        self.begun = 0

    def search(self, *args: Any, **options: Any) -> Any:
        """As the nest does."""
        self.begun += 1
        assert self.let_go.wait(60)
        return self._nest.search(*args, **options)

    def add(self, *args: Any, **options: Any) -> Any:
        """As the nest does."""
        self.begun += 1
        assert self.let_go.wait(60)
        return self._nest.add(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._nest, name)


def hold(server: Served) -> Held:
    """Hold the searches and additions of a server."""
    held = Held(server.service.nest)
    server.service.nest = held  # type: ignore[assignment]
    return held


def until(true: Any, seconds: float = 60) -> None:
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.01)


def search(server: Served, query: str = "fever") -> httpx.Response:
    """One search."""
    return server.http.post("/v1/search", json={"query": query})


def raw(server: Served, head: str, body: bytes = b"") -> socket.socket:
    """A connection on which a request was sent."""
    connection = socket.create_connection(("127.0.0.1", server.port))
    connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)
    return connection


def searching(server: Served) -> socket.socket:
    """A connection that waits for a search."""
    body = b'{"query": "fever"}'
    return raw(
        server,
        f"POST /v1/search HTTP/1.1\nHost: localhost\nContent-Type: application/json\nContent-Length: {len(body)}",
        body,
    )


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large(serve: Serve, chunked: bool) -> None:
    """It is refused by its announced length, or where it is longer than that; smaller ones are read."""
    server = serve(max_body=0.01, max_upload=0.02)
    put = "/v1/documents/large"

    def content(size: int) -> Any:
        data = json.dumps({"text": "x" * (size - 12)}).encode()
        return iter([data[:100], data[100:]]) if chunked else data

    headers = {"Content-Type": "application/json"}
    assert server.http.put(put, content=content(10_000), headers=headers).status_code == 201
    answer = server.http.put(put, content=content(10_001), headers=headers)
    assert (answer.status_code, answer.json()["error"]["type"]) == (413, "InputError")
    headers = {"Content-Type": "application/x-ndjson"}
    assert server.http.post("/v1/documents", content=content(20_001), headers=headers).status_code == 413
    report = server.http.post("/v1/documents", content=content(15_000), headers=headers).json()
    assert "larger than 10,000 bytes" in report["failed"][0]["reason"]


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'"x"', b"\xff", b'{"query": NaN}', b"[" * 100_000, b'{"query": "x", "kk": 1}', b"{}"],
)
def test_a_body_that_is_none(server: Served, body: bytes) -> None:
    """What is no JSON object, or has other names, is refused with what is wrong."""
    answer = server.http.post("/v1/search", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] in ("InputError", "SettingError")


def test_long_questions_and_many_passages(server: Served) -> None:
    """What would take a server too long is refused, with what to do instead; ten thousand words are answered."""
    long = "word " * 20_001
    for path, body in (
        ("search", {"query": long}),
        ("context", {"query": long}),
        ("ask", {"question": long}),
        ("verify", {"text": long}),
        ("search", {"query": "x", "k": 1001}),
        ("evaluate", {"questions": [{"question": "x", "unanswerable": True}] * 2001}),
        ("search", {"query": "x", "explain": "yes"}),
    ):
        answer = server.http.post(f"/v1/{path}", json=body)
        assert (answer.status_code, answer.json()["error"]["type"]) == (400, "SettingError"), path
    assert server.http.post("/v1/search", json={"query": "fever " * 10_000}).status_code == 200


def test_more_at_once_than_can_wait(serve: Serve) -> None:
    """X1: those beyond the limit are told to come again; those inside it, and who comes later, are answered."""
    server = serve(max_requests=10)
    held = hold(server)
    with ThreadPoolExecutor(100) as pool:
        answers = [pool.submit(search, server) for _ in range(100)]
        until(lambda: sum(answer.done() for answer in answers) == 90)
        assert server.http.get("/healthz").status_code == 200
        held.let_go.set()
        results = [answer.result() for answer in answers]
    refused = [result for result in results if result.status_code == 503]
    assert len(refused) == 90
    assert all(
        each.json()["error"]["type"] == "BusyError" and each.headers["Retry-After"] for each in refused
    )
    assert [len(each.json()["passages"]) for each in results if each.status_code == 200] == [3] * 10
    assert search(server).status_code == 200


def test_a_hundred_at_once(server: Served) -> None:
    """X1: by default a hundred are answered, whole and right, with a writer beside them."""
    with ThreadPoolExecutor(100) as pool:
        answers = [pool.submit(search, server) for _ in range(99)]
        put = pool.submit(server.http.put, "/v1/documents/new", json={"text": "Something new."})
        assert {answer.result().status_code for answer in answers} == {200}
        assert put.result().status_code == 201


def test_a_request_that_takes_too_long(serve: Serve) -> None:
    """It is answered in time that it is given up; what it writes is whole all the same, and others are served."""
    server = serve(max_seconds=0.3)
    held = hold(server)
    started = time.monotonic()
    answer = server.http.put("/v1/documents/slow", json={"text": "It took its time."})
    assert time.monotonic() - started < 5
    assert (answer.status_code, answer.json()["error"]["type"]) == (504, "BusyError")
    assert answer.headers["Retry-After"]
    until(lambda: server.http.get("/v1/stats").status_code == 200)
    held.let_go.set()
    until(lambda: server.http.get("/v1/documents/slow").status_code == 200)


def test_a_body_that_does_not_come(serve: Serve) -> None:
    """Who sends a body drop by drop is answered after the time that everyone has."""
    server = serve(max_seconds=0.3)
    head = (
        "PUT /v1/documents/x HTTP/1.1\nHost: localhost\nContent-Type: application/json\nContent-Length: 1000"
    )
    with raw(server, head, b'{"te') as connection:
        for _ in range(3):
            time.sleep(0.05)
            connection.sendall(b"x")
        assert b" 504 " in connection.recv(100)
    until(lambda: server.now == 0)


def test_a_reader_that_does_not_read() -> None:
    """A client that takes nothing holds its place for the time of a request at most."""

    async def answers(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200})

    async def takes_nothing(message: Message) -> None:
        await asyncio.sleep(60)

    async def asks() -> Message:
        if asked:
            await asyncio.sleep(60)
        asked.append(True)
        return {"type": "http.request"}

    asked: list[bool] = []
    admission = Admission(answers, Serving("x.nest", "", max_seconds=0.1))
    started = time.monotonic()
    asyncio.run(admission({"type": "http", "path": "/", "headers": []}, asks, takes_nothing))
    assert time.monotonic() - started < 10


def test_requests_of_clients_that_have_gone_are_dropped(server: Served) -> None:
    """X1: of a hundred that hang up, those that wait are never begun, and the next is served at once."""
    held = hold(server)
    gone = [searching(server) for _ in range(60)]
    until(lambda: server.now == 60)
    for connection in gone:
        connection.close()
    until(lambda: server.now == 0)
    held.let_go.set()
    assert search(server).status_code == 200
    assert held.begun <= reading_threads() + 1


def test_a_list_whose_client_has_gone_is_dropped(server: Served) -> None:
    """X1: requests without a body are dropped, too, where they wait."""
    held = hold(server)
    busy = [searching(server) for _ in range(reading_threads())]
    until(lambda: held.begun == len(busy))
    with raw(server, "GET /v1/stats HTTP/1.1\nHost: localhost"):
        until(lambda: server.now == len(busy) + 1)
    until(lambda: server.now == len(busy))
    held.let_go.set()
    for connection in busy:
        connection.close()
    until(lambda: server.now == 0)


def test_a_connection_that_breaks_in_the_middle_of_a_body(
    server: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """X1: nothing of it is stored, no lock is left, and it is no failure of the server."""
    line = json.dumps({"id": "half", "text": "Only half of it came."}).encode()
    for kind, path, method in (
        ("application/json", "/v1/documents/half", "PUT"),
        ("application/x-ndjson", "/v1/documents", "POST"),
    ):
        head = f"{method} {path} HTTP/1.1\nHost: localhost\nContent-Type: {kind}\nContent-Length: 100000"
        with raw(server, head, line + b"\n"):
            until(lambda: server.now == 1)
        until(lambda: server.now == 0)
    assert server.http.get("/v1/documents/half").status_code == 404
    assert server.http.put("/v1/documents/half", json={"text": "All of it."}).status_code == 201
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_a_write_whose_client_has_gone_is_whole_or_absent(server: Served) -> None:
    """X1: one that has begun is finished, one that waits is dropped; the next goes on."""
    held = hold(server)
    body = b'{"text": "Written by somebody who has gone."}'
    for id in ("first", "second"):
        head = (
            f"PUT /v1/documents/{id} HTTP/1.1\nHost: localhost\nContent-Type: application/json\n"
            f"Content-Length: {len(body)}"
        )
        with raw(server, head, body):
            until(lambda: server.now == 1)
            if id == "first":
                until(lambda: held.begun == 1)
        until(lambda: server.now == 0)
    held.let_go.set()
    assert server.http.put("/v1/documents/third", json={"text": "The third."}).status_code == 201
    assert server.http.get("/v1/documents/first").status_code == 200
    assert server.http.get("/v1/documents/second").status_code == 404


@dataclass
class Many:
    """An upload of 400 documents that tells of each, and is held before the last hundred until it is let go."""

    lines: bytes
    let_go: threading.Event


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> Iterator[Many]:
    """It is held where its texts are embedded."""
    monkeypatch.setattr(documents, "OFTEN", 0)
    lines = (json.dumps({"id": f"d{n:04}", "text": f"Number {n} of many. " * 20}) for n in range(400))
    upload = Many("\n".join(lines).encode(), threading.Event())
    embed = WordHash.embed_documents

    def held(model: WordHash, texts: Sequence[str]) -> Any:
        if any("Number 300 of" in text for text in texts):
            assert upload.let_go.wait(60)
        return embed(model, texts)

    monkeypatch.setattr(WordHash, "embed_documents", held)
    yield upload
    upload.let_go.set()


def test_an_upload_whose_client_has_gone_stops(server: Served, many: Many) -> None:
    """X1: the documents so far are whole, the rest is not stored, and sending it again goes on."""
    headers = {"Content-Type": "application/x-ndjson", "Accept": "text/event-stream"}
    with server.http.stream("POST", "/v1/documents", content=many.lines, headers=headers) as answer:
        lines = answer.iter_lines()
        next(line for line in lines if line.startswith("data: ") and json.loads(line[6:])["documents"])
    until(lambda: server.now == 0)
    many.let_go.set()
    until(lambda: server.service.lanes.upload._taken == 0)
    stored = server.http.get("/v1/stats").json()["documents"] - 3
    assert 0 < stored < 400
    report = server.http.post(
        "/v1/documents", content=many.lines, headers={**headers, "Accept": "*/*"}
    ).json()
    assert (len(report["unchanged"]), len(report["added"])) == (stored, 400 - stored)


def test_an_upload_stops_with_the_server(server: Served, many: Many) -> None:
    """It ends after the documents it is at, with what it had stored by then."""
    headers = {"Content-Type": "application/x-ndjson", "Accept": "text/event-stream"}
    with server.http.stream("POST", "/v1/documents", content=many.lines, headers=headers) as answer:
        lines = answer.iter_lines()
        next(line for line in lines if line.startswith("data: ") and json.loads(line[6:])["documents"])
        server.service.stopping = True
        many.let_go.set()
        told = [line for line in lines if line.startswith("data: ")]
    last = json.loads(told[-1].removeprefix("data: "))
    assert last["error"]["type"] == "BusyError"
    assert len(last["report"]["added"]) == server.http.get("/v1/stats").json()["documents"] - 3 > 0
    ready = server.http.get("/readyz")
    assert (ready.status_code, ready.json()["error"]["type"]) == (503, "BusyError")
    assert server.http.get("/healthz").status_code == 200


def test_readers_do_not_wait_for_an_upload(server: Served, many: Many) -> None:
    """While many documents are stored, searches and single writes are answered, each from one commit."""
    headers = {"Content-Type": "application/x-ndjson"}
    with ThreadPoolExecutor(1) as pool:
        upload = pool.submit(server.http.post, "/v1/documents", content=many.lines, headers=headers)
        until(lambda: server.http.get("/v1/stats").json()["documents"] > 3)
        put = server.http.put("/v1/documents/between", json={"text": "In between."})
        counts = [search(server, "in between").status_code for _ in range(5)]
        assert not upload.done()
        many.let_go.set()
        assert (put.status_code, set(counts)) == (201, {200})
        assert len(upload.result().json()["added"]) == 400
