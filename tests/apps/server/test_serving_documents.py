"""Documents over HTTP: list, show, put, remove, and many at once."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from served import Served

LINES = {"Content-Type": "application/x-ndjson"}


def events(text: str) -> list[tuple[str, dict[str, object]]]:
    """The events of a stream."""
    found = []
    for block in text.split("\n\n"):
        if block.startswith("event: "):
            name, data = block.split("\n")
            found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_put_show_delete(server: Served) -> None:
    """A document is stored, found at once, shown with its tree, replaced, and gone."""
    address = "/v1/documents/tea"
    first = server.http.put(address, json={"text": "Green tea is steeped for two minutes.", "title": "Tea"})
    assert (first.status_code, first.json()["added"]) == (201, ["tea"])
    found = server.http.post("/v1/search", json={"query": "steeped tea", "k": 1}).json()
    assert found["passages"][0]["id"] == "tea"
    shown = server.http.get(address).json()
    assert shown["document"]["title"] == "Tea"
    assert shown["parents"][0]["children"][0]["start"] == 0
    again = server.http.put(address, json={"text": "Green tea is steeped for two minutes.", "title": "Tea"})
    assert (again.status_code, again.json()["unchanged"]) == (200, ["tea"])
    changed = server.http.put(address, json={"text": "Black tea takes four."})
    assert (changed.status_code, changed.json()["updated"]) == (200, ["tea"])
    assert server.http.delete(address).json()["removed"] == ["tea"]
    assert server.http.get(address).status_code == 404
    assert server.http.delete(address).status_code == 404


@pytest.mark.parametrize(
    "id", ["a/b.md", "/etc/x", "a b?c#d%e&f", "ü§", "..", "a/../b", "a//b", "remove", "日本"]
)
def test_any_id_can_be_in_an_address(server: Served, id: str) -> None:
    """Slashes, spaces, marks and dots in ids come through, encoded."""
    address = f"/v1/documents/{quote(id, safe='').replace('.', '%2E')}"
    assert server.http.put(address, json={"text": "Something."}).json()["added"] == [id]
    assert server.http.get(address).json()["id"] == id
    assert server.http.delete(address).json()["removed"] == [id]


def test_a_document_that_cannot_be_stored_is_refused(server: Served) -> None:
    """The nest's own sentence says why, and nothing is stored."""
    for body in ({"text": 5}, {"text": "x", "metadata": []}, {"text": "x", "title": None}):
        answer = server.http.put("/v1/documents/wrong", json=body)
        assert answer.status_code == 400
        assert answer.json()["error"]["type"] == "DocumentError"
        assert "'wrong'" in answer.json()["error"]["message"]
    assert server.http.put("/v1/documents/a%C2%A71", json={"text": "x"}).status_code == 400
    assert server.http.get("/v1/stats").json()["documents"] == 3


def test_listing_by_pages(server: Served) -> None:
    """Pages go on where the one before ended, filters hold, and the last page says so."""
    ids, after = [], ""
    while after is not None:
        page = server.http.get("/v1/documents", params={"limit": 1, "after": after}).json()
        ids += [each["id"] for each in page["documents"]]
        after = page["next"]
    assert ids == ["fever", "fieber", "stomach"]
    german = server.http.get("/v1/documents", params={"where": '{"lang": "de"}'}).json()
    assert [each["id"] for each in german["documents"]] == ["fieber"]
    for wrong in ('{"lang', '{"lang": {"$near": 1}}', "[]"):
        answer = server.http.get("/v1/documents", params={"where": wrong})
        assert (answer.status_code, answer.json()["error"]["type"]) == (400, "FilterError")
    for limit in (0, 10_001, "many"):
        assert server.http.get("/v1/documents", params={"limit": limit}).status_code == 400


def test_removing_many(server: Served) -> None:
    """Those that exist go in one transaction, the others are named."""
    answer = server.http.post("/v1/remove", json={"ids": ["fever", "nothing", "fever", "stomach"]})
    assert answer.json() == {"nest": "handbook.nest", "removed": ["fever", "stomach"], "missing": ["nothing"]}
    assert server.http.post("/v1/remove", json={"ids": [5]}).status_code == 400
    assert server.http.post("/v1/remove", json={"ids": "fever"}).status_code == 400


def test_an_upload_stores_what_can_be_stored(server: Served) -> None:
    """Lines without a document are named with what is wrong, the others are stored."""
    lines = [
        b'{"id": "one", "text": "The first."}',
        b"not JSON",
        b"",
        b'{"id": "two", "text": "The second.", "metadata": {"n": 2}, "more": true}',
        b"[1]",
        b'{"id": "one", "text": "Again."}',
        b'{"id": "three"}',
        b'{"id": "\xff", "text": "x"}',
    ]
    report = server.http.post("/v1/documents", content=b"\n".join(lines), headers=LINES).json()
    assert report["added"] == ["one", "two"]
    reasons = {failed["name"]: failed["reason"] for failed in report["failed"]}
    assert set(reasons) == {"line 2", "line 5", "line 8", "one", "card 'three'"}
    assert "was given before" in reasons["one"]
    assert server.http.get("/v1/documents/two").json()["document"]["metadata"] == {"n": 2, "more": True}


def test_an_upload_tells_its_progress(server: Served) -> None:
    """Events come on the way, the report at last, and every document is there."""
    lines = "\n".join(json.dumps({"id": f"d{n}", "text": f"Number {n}. " * 40}) for n in range(300))
    answer = server.http.post(
        "/v1/documents", content=lines, headers={**LINES, "Accept": "text/event-stream"}
    )
    assert answer.headers["content-type"].startswith("text/event-stream")
    told = events(answer.text)
    assert {name for name, _ in told} == {"progress", "report"}
    assert all(value["total"] == 300 for name, value in told if name == "progress")
    assert told[-1][0] == "report"
    assert len(told[-1][1]["added"]) == 300  # type: ignore[arg-type]
    assert server.http.get("/v1/stats").json()["documents"] == 303
