"""Promise 7 for answers over HTTP: a key's answers and verdicts know of nothing outside its scope."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import nestling
from leaking import HIDDEN, IDS, TEXTS, fill, told
from models.chat_server import Reply, Service
from models.chat_server import serve as serve_chat
from served import Served
from wordhash import WordHash

SCOPE = {"tenant": "umbrella"}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A language model on loopback that writes what it is told to."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("NESTLING_LLM_API_KEY", raising=False)
    with serve_chat() as service:
        yield service


@pytest.fixture
def servers(
    tmp_path: Path, model: Service, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Served, Served]]:
    """A nest that tenants share, and one of the same name that one of them has alone."""
    opened = nestling.open
    monkeypatch.setattr(
        nestling, "open", lambda path, **more: opened(path, **{"embedder": WordHash(), **more})
    )
    with ExitStack() as stack:
        running = []
        for shared in (True, False):
            path = tmp_path / str(shared) / "handbook.nest"
            path.parent.mkdir()
            with nestling.open(path, create=True) as nest:
                fill(nest, shared)
            running.append(
                stack.enter_context(Served(path, path.parent / "run", model=f"openai:m@{model.url}"))
            )
        yield running[0], running[1]


def test_answers_and_verdicts_are_of_the_scope(servers: tuple[Served, Served], model: Service) -> None:
    """The same, whole and as a stream, as from a nest without the others; the model is shown nothing of theirs."""
    keys = [each.bearer("umbrella", "read", scope=SCOPE) for each in servers]
    asked = {"question": "what will Acme buy?", "min_similarity": -1, "context": True}
    tried = [("/v1/verify", {"text": text}, text) for text in TEXTS]
    tried += [("/v1/ask", asked, text) for text in TEXTS[::4]]
    for path, body, text in tried:
        model.replies += [Reply(text), Reply(text)] if path == "/v1/ask" else []
        answers = [
            each.http.post(path, json=body, headers=key) for each, key in zip(servers, keys, strict=True)
        ]
        assert answers[0].status_code == answers[1].status_code == 200
        assert told(answers[0].json()) == told(answers[1].json()), (path, text)
        assert HIDDEN not in answers[0].text
    assert len(model.requests) == 2 * len(TEXTS[::4])
    shown = [told(request["messages"]) for request in model.requests]
    assert shown[::2] == shown[1::2]
    assert not any(HIDDEN in each for each in shown)


def test_a_streamed_answer_is_of_the_scope(servers: tuple[Served, Served], model: Service) -> None:
    """Events, too."""
    keys = {each.url: each.bearer("umbrella", "read", scope=SCOPE) for each in servers}
    for text in TEXTS[:12]:
        streams = []
        for server in servers:
            model.replies.append(Reply(text))
            body = {"question": "what will Acme buy?", "min_similarity": -1}
            headers = {**keys[server.url], "Accept": "text/event-stream"}
            streams.append(server.http.post("/v1/ask", json=body, headers=headers).text)
        assert streams[0] == streams[1]
        assert HIDDEN not in streams[0]


def test_the_owner_sees_what_a_tenant_may_not(servers: tuple[Served, Served]) -> None:
    """A key without a scope has the same texts supported: there was something to learn."""
    whole = servers[0].bearer("whole", "read")
    verdicts = [
        claim["verdict"]
        for text in TEXTS
        for claim in servers[0].http.post("/v1/verify", json={"text": text}, headers=whole).json()["claims"]
    ]
    assert "supported" in verdicts
    assert "misattributed" in verdicts
    ids = [
        servers[0].http.get(f"/v1/documents/{id}", headers=whole).status_code
        for id in ("%C2%ABtenant%3Dacme%C2%BBplan", "memo")
    ]
    assert ids == [200, 200]
    assert "memo" in IDS
