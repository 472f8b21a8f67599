"""Promise 7 for assistants: what a caller knows by heart of another tenant's text opens nothing of it."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

pytest.importorskip("mcp", reason="mcp is not installed")

from mcp.client import Client

import nestling
from leaking import HIDDEN, IDS, OWN, SAID, fill, told
from nestling.apps.mcp_server import server_of
from wordhash import WordHash

CALLS: list[tuple[str, dict[str, Any]]] = [
    *(("search", {"query": said, "k": 50}) for said in SAID),
    *(("context", {"query": said, "budget": 2000}) for said in SAID),
    *(("search", {"query": f"[cite:{id}]", "k": 50}) for id in IDS),
    *(("read", {"id": id, "before": 20, "after": 20}) for id in IDS),
    *(("read", {"id": f"[cite:{id}]", "outline": True}) for id in IDS),
    *(("list", {"after": id}) for id in IDS),
    ("list", {"where": {"page": {"$exists": True}}}),
    ("search", {"query": "glass works", "where": {"$not": {"tenant": "umbrella"}}, "k": 50}),
]


def answers(nest: nestling.Nest) -> list[str]:
    """What the official client gets for each call, and for each resource."""

    async def run() -> list[str]:
        found = []
        async with Client(server_of(nest)) as client:
            for name, arguments in CALLS:
                result = await client.call_tool(name, arguments)
                found.append(told(result.model_dump(mode="json")))
            listed = (await client.list_resources()).resources
            found.append(told([each.model_dump(mode="json") for each in listed]))
            found += [str(await client.read_resource(each.uri)) for each in listed]
        return found

    return anyio.run(run)


def test_calls_are_answered_as_if_the_tenant_were_alone() -> None:
    """Queries that quote the others' text, and markers of theirs, get what a nest without the others gives."""
    whole, own = (nestling.open(":memory:", embedder=WordHash()) for _ in range(2))
    scope, alone = fill(whole, True), fill(own, False)
    found = answers(scope)
    assert found == answers(alone)
    assert not any(HIDDEN in each for each in found)
    assert any(OWN[1].text in each for each in found)
    # the same calls find it where nothing bounds them
    assert sum(HIDDEN in each for each in answers(whole)) > len(SAID)
