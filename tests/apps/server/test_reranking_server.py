"""A server that reranks: what its clients get."""

from __future__ import annotations

import pytest

import nestling
from models.embedding_server import serve as serve_model
from models.rerank_bodies import prefers
from served import Serve


def test_clients_get_what_the_servers_judge_prefers(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search over HTTP is reranked, and the explanation reaches a nest behind the server."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serve_model(prefers("doctor")) as judge:
        server = serve(reranker=f"jina:judge@{judge.url}")
        with nestling.open(server.url) as nest:
            found = nest.search("take it with food for three days", 3)
        assert "doctor" in found[0].text
        assert (found.explain().reranked[found[0].id].place, judge.requests[-1]["query"]) == (
            1,
            "take it with food for three days",
        )
        assert "Reranked" in server.http.get("/openapi.json").json()["components"]["schemas"]
