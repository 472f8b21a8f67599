"""Promise 7 over HTTP: a key sees and writes its own scope, through every route there is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

import nestling
from served import Serve, Served

# stands in what others must not see, and in no request
HIDDEN = "zyzzyva"
OURS = [
    nestling.Document("ours", f"Acme's beetle is the {HIDDEN}.", f"{HIDDEN} title", {"tenant": "acme"}),
    nestling.Document("both", f"Acme's {HIDDEN} in both.", "", {"tenant": "acme", "lang": "en"}, HIDDEN),
    nestling.Document("untold", f"A beetle, the {HIDDEN}, that belongs to nobody.", metadata={"x": HIDDEN}),
    nestling.Document("listed", f"A beetle, the {HIDDEN} of many.", metadata={"tenant": ["acme", "other"]}),
]
THEIRS = [
    nestling.Document("both", "The other's harmless text in both, on a beetle.", metadata={"lang": "en"}),
    nestling.Document("manual", "# Manual\n\n" + "A beetle has six legs. " * 90, metadata={"lang": "en"}),
]
WIDER = {
    "$or": [{"tenant": "acme"}, {"tenant": {"$exists": False}}, {"$not": {"tenant": "other"}}, {"lang": "en"}]
}
ASKED = {"query": "beetle of acme", "where": WIDER}
IDS = (
    "ours",
    "untold",
    "listed",
    "ours§1",
    "«tenant=acme»both",
    "«tenant=acme»ours",
    "«»both",
    "«»ours",
    "both",
)
GOLDEN = [{"question": "acme beetle", "must_cite_one_of": ["both"]}]

# for each route, what somebody else tries: every body in turn
TRIED: dict[tuple[str, str], list[Any]] = {
    ("post", "/v1/search"): [
        {**ASKED, "explain": True},
        {"query": "beetle", "k": 1000, "explain": True},
        {"query": "acme", "where": {"tenant": "acme"}},
    ],
    ("post", "/v1/context"): [
        {**ASKED, "shape": shape, "budget": 5000} for shape in ("pack", "parent", "window", "merge")
    ],
    ("post", "/v1/ask"): [{"question": "What is a beetle?", "where": WIDER, "context": True}],
    ("post", "/v1/verify"): [
        {"text": f'It says "beetle is the" [cite:{id}]. It is "harmless text" [cite:both].'} for id in IDS
    ],
    ("post", "/v1/evaluate"): [
        {"questions": GOLDEN, "where": WIDER},
        {"questions": [{"question": "x", "relevant": {"both": 1}}], "edition": 1, "charts": True},
        {"questions": [{"question": "x", "relevant": {"ours": 1}}]},
        {"questions": [{"question": "x", "spans": [{"quote": "beetle is the"}]}]},
        {"questions": [{"question": "x", "spans": [{"document": "ours", "start": 0, "end": 5}]}]},
    ],
    ("get", "/v1/stats"): [None],
    ("get", "/v1/check"): [None],
    ("get", "/metrics"): [None],
    ("get", "/healthz"): [None],
    ("get", "/readyz"): [None],
    ("get", "/v1/documents"): [None],
    ("get", "/v1/documents/{id}"): [None],
    ("put", "/v1/documents/{id}"): [
        {"text": "Mine now."},
        {"text": "Mine now.", "metadata": {"tenant": "acme"}},
        {"text": "Mine now.", "metadata": {"tenant": ["acme", "other"]}},
        {"text": "Mine now.", "metadata": {"tenant": None}},
    ],
    ("delete", "/v1/documents/{id}"): [None],
    ("post", "/v1/documents"): [
        "\n".join(json.dumps({"id": id, "text": "Mine now.", "tenant": "acme"}) for id in IDS),
        "\n".join(json.dumps({"id": id, "text": "Mine now."}) for id in IDS),
    ],
    ("post", "/v1/remove"): [{"ids": list(IDS)}],
    ("put", "/v1/files/{name}"): [
        b"Mine now.",
        json.dumps({"id": "ours", "text": "x", "tenant": "acme"}).encode(),
    ],
    ("get", "/v1/metadata"): [None],
    ("get", "/v1/editions"): [None],
    ("post", "/v1/compare"): [{"a": {}, "b": {}}],
}


@pytest.fixture
def server(serve: Serve) -> Served:
    """A nest of two tenants, and of documents that are nobody's."""
    server = serve()
    with nestling.open(server.serving.path) as nest:
        nest.scope(tenant="acme").add(OURS[:2])
        nest.add(OURS[2:])
        nest.scope(tenant="other").add(THEIRS)
    return server


@pytest.fixture
def alone(server: Served, tmp_path: Path) -> Iterator[Served]:
    """A nest that holds nothing but what is the other tenant's."""
    path = tmp_path / "alone" / "handbook.nest"
    path.parent.mkdir()
    with nestling.open(path, create=True) as nest:
        nest.scope(tenant="other").add(THEIRS)
    with Served(path, tmp_path / "alone") as alone:
        yield alone


def everything(server: Served) -> dict[str, Any]:
    """Every document that is not the other tenant's, as the whole nest has it."""
    with nestling.open(server.serving.path) as nest:
        listed = [each.id for each in nest.list() if each.metadata.get("tenant") != "other"]
        return {id: nest.show(id) for id in listed}


def routes(server: Served) -> Iterator[tuple[str, str]]:
    """Every method and path of the description."""
    for path, methods in server.http.get("/openapi.json").json()["paths"].items():
        yield from ((method, path) for method in methods)


def test_every_route_is_tried(server: Served) -> None:
    """A route that is added must be tried here, too."""
    assert set(routes(server)) == set(TRIED)


def requests() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every request that is tried: method, address, and what httpx is given."""
    for (method, path), bodies in TRIED.items():
        for body, id in product(bodies, IDS if "{" in path else [""]):
            sent: dict[str, Any] = {} if body is None else {"json": body}
            if isinstance(body, str):
                sent = {"content": body, "headers": {"Content-Type": "application/x-ndjson"}}
            if isinstance(body, bytes):
                sent = {"content": body, "headers": {"Content-Type": "application/octet-stream"}}
            if path in ("/v1/documents", "/v1/metadata") and method == "get":
                sent["params"] = {"where": json.dumps(WIDER)}
                if path == "/v1/documents":
                    sent["params"]["limit"] = 1000
            yield method, path.replace("{id}", quote(id, safe="")).replace("{name}", quote(id, safe="")), sent


def said(answer: httpx.Response) -> Any:
    """What an answer says, but for times, and for sizes and changes of the whole file."""
    if not answer.headers["content-type"].startswith("application/json"):
        return answer.text
    value = answer.json()
    for name in ("bytes", "change"):
        value.pop(name, None)
    for edition in value.get("editions", ()):
        edition.pop("made")
    value.pop("charts", None)
    for question in value.get("questions", ()):
        question.pop("seconds")
    if "summary" in value:
        value["summary"] = [each for each in value["summary"] if "latency" not in each["figure"]]
    return value


@pytest.mark.parametrize("rights", ["read", "write"])
def test_all_is_as_if_the_tenant_were_alone(server: Served, alone: Served, rights: str) -> None:
    """Each answer of each route is that of a nest without the others, whose documents stay as they are."""
    before = everything(server)
    headers = [each.bearer("other", rights, scope={"tenant": "other"}) for each in (server, alone)]
    statuses = set()
    for method, address, sent in requests():
        answers = []
        for each, key in zip((server, alone), headers, strict=True):
            own = {**key, **sent.get("headers", {})}
            answers.append(each.http.request(method, address, **{**sent, "headers": own}))
        assert HIDDEN not in answers[0].text, (method, address, sent)
        assert answers[0].status_code == answers[1].status_code < 500, (method, address, sent)
        assert said(answers[0]) == said(answers[1]), (method, address, sent)
        statuses.add(answers[0].status_code)
    assert statuses == ({200, 400, 403, 404, 409} if rights == "read" else {200, 201, 400, 403, 404, 409})
    assert everything(server) == before


def test_counts_and_lists_are_of_the_scope(server: Served) -> None:
    """Stats, lists and documents are those that the tenant would have alone; what is added gets the scope."""
    headers = server.bearer("other", "write", scope={"tenant": "other"})
    assert server.http.get("/v1/stats", headers=headers).json()["documents"] == 2
    shown = server.http.get("/v1/documents/both", headers=headers).json()
    assert shown["document"]["text"] == THEIRS[0].text
    assert (
        server.http.put("/v1/documents/ours", json={"text": "Another."}, headers=headers).status_code == 201
    )
    listed = server.http.get("/v1/documents", headers=headers).json()["documents"]
    assert [(each["id"], each["metadata"]) for each in listed] == [
        ("both", {"lang": "en", "tenant": "other"}),
        ("manual", {"lang": "en", "tenant": "other"}),
        ("ours", {"tenant": "other"}),
    ]
    whole = server.bearer("whole", "admin")
    assert server.http.get("/v1/stats", headers=whole).json()["documents"] == 3 + 6 + 1


def test_a_tenant_through_python(server: Served) -> None:
    """The nest that a scoped key opens is that of the scope."""
    key = server.keys.add("acme", "write", {"tenant": "acme"})
    with nestling.open(server.url, key=key) as nest:
        assert [each.id for each in nest.list()] == ["both", "ours"]
        assert {passage.id for passage in nest.search("beetle", 100)} == {"both", "ours"}
        assert nest.show("untold") is None
        with pytest.raises(nestling.ServerError, match="that of its key"):
            nest.scope(tenant="other")
