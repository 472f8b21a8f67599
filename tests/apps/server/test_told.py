"""What a stranger is told: by which method, which names there are, and not where on the machine the nest is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import nestling
from served import Served


@pytest.mark.parametrize("path", ["/", "/page.css", "/healthz", "/v1/stats", "/openapi.json"])
def test_head_is_get_without_a_body(server: Served, path: str) -> None:
    """Whoever looks only gets the same status and length, and no body."""
    got, head = server.http.get(path), server.http.head(path)
    assert head.status_code == got.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == str(len(got.content))
    if path != "/openapi.json":
        line = f'nestling_requests_total{{method="HEAD",route="{path}",status="200"}} 1.0'
        assert line in server.http.get("/metrics").text


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("GET", "/v1/search", "POST"), ("POST", "/", "GET, HEAD"), ("POST", "/v1/stats", "GET, HEAD")],
)
def test_another_method(server: Served, method: str, path: str, allowed: str) -> None:
    """It says which ones there are, to readers and to programs."""
    answer = server.http.request(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == allowed
    assert f"takes {allowed}, not {method}" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (
            "/v1/documents?wher=%7B%22tenant%22%3A1%7D",
            "no parameter 'wher' here; this address takes where, after",
        ),
        ("/v1/stats?nest=other", "no parameter 'nest' here; this address takes none"),
        ("/v1/documents?limit=99999", "limit is 99999; give 10,000 at most"),
        ("/v1/documents?limit=0", "limit is 0; give 1 or more"),
    ],
)
def test_a_parameter_that_is_misspelt(server: Served, address: str, told: str) -> None:
    """A filter that is not understood never means everything."""
    answer = server.http.get(address)
    assert answer.status_code == 400
    assert told in answer.json()["error"]["message"]
    assert server.http.get("/readyz?verbose").status_code == 200


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, "query is missing; the body may hold query, k"),
        ({"query": "x", "limit": 3}, "there is no 'limit' here; the body may hold query, k"),
    ],
)
def test_a_name_that_is_misspelt(server: Served, body: dict[str, Any], told: str) -> None:
    """A body says what is missing or too much, and what there is."""
    answer = server.http.post("/v1/search", json=body)
    assert answer.status_code == 400
    assert told in answer.json()["error"]["message"]


def test_no_answer_tells_where_the_nest_is(
    server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors of the nest and its counts name the file only, also in an event stream."""
    body = {"questions": [{"question": "x", "relevant": {"stomach": 1}}], "edition": 9}
    plain = server.http.post("/v1/evaluate", json=body)
    assert plain.status_code == 404
    assert plain.json()["error"]["message"].startswith("handbook.nest has no edition 9")
    streamed = server.http.post("/v1/evaluate", json=body, headers={"Accept": "text/event-stream"})
    told = [plain.text, streamed.text]
    real = nestling.Nest.stats

    def cached(nest: nestling.Nest) -> dict[str, Any]:
        counts = real(nest)
        return {**counts, "search": {**counts["search"], "folder": f"{tmp_path}/handbook.nest-cache"}}

    monkeypatch.setattr(nestling.Nest, "stats", cached)
    told.append(stats := server.http.get("/v1/stats").text)
    assert json.loads(stats)["search"]["folder"] == "handbook.nest-cache"

    def broken(nest: nestling.Nest) -> dict[str, Any]:
        raise nestling.NotANestError(f"{server.serving.path} is damaged; restore a copy")

    monkeypatch.setattr(nestling.Nest, "stats", broken)
    told.append(server.http.get("/v1/stats").text)
    assert "handbook.nest is damaged" in told[-1]
    assert str(tmp_path) in server.serving.path
    assert not any(str(tmp_path) in each for each in told)
