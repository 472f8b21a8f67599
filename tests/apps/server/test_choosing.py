"""What the page needs to offer a choice: metadata, editions, names, files, plots, comparisons."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

import nestling
from nestling.apps.server.fields import MOST_VALUES, fields
from served import Served

GOLDEN = [
    {"id": "1", "question": "empty stomach food", "relevant": {"stomach": 1}},
    {"id": "2", "question": "see a doctor", "spans": [{"quote": "more than three days"}]},
    {"id": "3", "question": "who won?", "unanswerable": True},
]


def put(server: Served, name: str, content: bytes, **headers: str) -> Any:
    """Put a file."""
    kind = {"Content-Type": "application/octet-stream", **headers}
    return server.http.put(f"/v1/files/{quote(name, safe='')}", content=content, headers=kind)


def test_the_metadata_that_exists(server: Served) -> None:
    """Each field with its values, the most frequent first, and how many documents have them."""
    found = server.http.get("/v1/metadata").json()
    assert found["documents"] == 3
    assert found["fields"] == [
        {
            "name": "lang",
            "documents": 3,
            "distinct": 2,
            "values": [{"value": "en", "documents": 2}, {"value": "de", "documents": 1}],
            "least": None,
            "most": None,
        },
        {
            "name": "year",
            "documents": 2,
            "distinct": 2,
            "values": [{"value": 2019, "documents": 1}, {"value": 2023, "documents": 1}],
            "least": 2019,
            "most": 2023,
        },
    ]
    german = server.http.get("/v1/metadata", params={"where": '{"lang": "de"}'}).json()
    assert (german["documents"], [each["documents"] for each in german["fields"]]) == (1, [1, 1])
    assert server.http.get("/v1/metadata", params={"where": "{"}).json()["error"]["type"] == "FilterError"


def test_every_value_that_is_offered_can_be_filtered_by() -> None:
    """Values keep their kind; lists count by member, nested ones by path; what no filter can name is left out."""
    metadata: list[dict[str, Any]] = [
        {"a": {"b": {"c": "deep"}}, "tags": ["x", "y", "x"], "mixed": 1},
        {"mixed": "1", "tags": [], "flag": True},
        {"mixed": True, "a.b": 1, "$eq": 2, "none": None, "long": "x" * 101, "flag": False},
        {"mixed": 1.5, "many": 7},
    ]
    offered = {each["name"]: each for each in fields(metadata)}
    assert sorted(offered) == ["a.b.c", "flag", "many", "mixed", "tags"]
    assert offered["mixed"]["distinct"] == 4
    assert offered["mixed"]["least"] is None
    assert offered["flag"]["least"] is None
    with nestling.open(":memory:") as nest:
        nest.add(nestling.Document(str(n), "text", metadata=each) for n, each in enumerate(metadata))
        for name, field in offered.items():
            for value in field["values"]:
                assert len(nest.list({name: value["value"]})) == value["documents"], (name, value)
    (many,) = fields({"n": n} for n in range(2 * MOST_VALUES))
    assert (len(many["values"]), many["distinct"], many["most"]) == (
        MOST_VALUES,
        2 * MOST_VALUES,
        2 * MOST_VALUES - 1,
    )


def test_documents_by_name(server: Served) -> None:
    """All words must be in the id or the title; the total is of all that fit, on each page."""
    found = server.http.get("/v1/documents", params={"named": "FIEB"}).json()
    assert ([each["id"] for each in found["documents"]], found["total"]) == (["fieber"], 1)
    assert server.http.get("/v1/documents", params={"named": "fever stomach"}).json()["documents"] == []
    pages = [
        server.http.get("/v1/documents", params={"limit": 2, "after": after}).json()
        for after in ("", "fieber")
    ]
    assert [each["total"] for each in pages] == [3, 3]


def test_a_file_becomes_what_adding_it_makes_of_it(server: Served) -> None:
    """Id, title, metadata and source as `nestling add` has them; where it stood for a moment is told nowhere."""
    content = b"---\ntitle: Tea\nlang: en\n---\n# Green\n\nSteep it for two minutes.\n"
    first = put(server, "guides/tea.md", content)
    assert (first.status_code, first.json()["added"]) == (200, ["guides/tea.md"])
    shown = server.http.get("/v1/documents/guides%2Ftea.md").json()["document"]
    assert shown["text"] == content.decode()
    assert (shown["title"], shown["metadata"], shown["source"]) == ("Tea", {"lang": "en"}, "guides/tea.md")
    assert put(server, "guides/tea.md", content).json()["unchanged"] == ["guides/tea.md"]
    assert put(server, "notes.txt", b"One.\r\n").json()["added"] == ["notes.txt"]
    assert server.http.get("/v1/documents/notes.txt").json()["document"]["title"] == "notes"


def test_a_file_of_cards(server: Served) -> None:
    """Every card is stored; lines that are none are in failed, by the file's name; progress comes on the way."""
    lines = [json.dumps({"id": f"card{n}", "text": f"Card {n}."}) for n in range(3)]
    body = "\n".join([*lines, "{"]).encode()
    answer = put(server, "cards.jsonl", body, Accept="text/event-stream")
    name, data = answer.text.strip().split("\n\n")[-1].split("\n")
    report = json.loads(data.removeprefix("data: "))
    assert (name, report["added"]) == ("event: report", ["card0", "card1", "card2"])
    (failed,) = report["failed"]
    assert failed["name"] == "cards.jsonl"
    assert failed["reason"].startswith("line 4: not JSON")
    assert server.http.get("/v1/documents/card0").json()["document"]["source"] == "cards.jsonl"


@pytest.mark.parametrize("name", ["a/../b.md", "/etc/x", "a//b", "a\0b", "x" * 300 + ".md", "..%2Fx"])
def test_a_name_that_names_no_file(server: Served, name: str) -> None:
    """It fails with a sentence, or is stored under just this name; nothing is written elsewhere."""
    answer = put(server, name, b"text")
    if name == "..%2Fx":
        assert answer.json()["added"] == [name]
    else:
        assert (answer.json()["added"], answer.json()["failed"][0]["name"]) == ([], name)
        assert "name" in answer.json()["failed"][0]["reason"]


def test_a_file_that_is_no_text(server: Served) -> None:
    """It fails by its name, and nothing is stored."""
    report = put(server, "photo.txt", b"\xff\xd8\xff\0\0\1").json()
    assert (report["added"], report["failed"][0]["name"]) == ([], "photo.txt")
    assert put(server, "a.txt", b"x", **{"Content-Type": "text/plain"}).status_code == 415


def test_plots_and_editions(server: Served) -> None:
    """An evaluation of any edition, with the plots of the report; a comparison of two."""
    with nestling.open(server.serving.path) as nest:
        nest.rebuild(nestling.Recipe(child_size=20, parent_size=40), switch=False)
    editions = server.http.get("/v1/editions").json()
    assert [(each["number"], each["state"]) for each in editions["editions"]] == [
        (1, "live"),
        (2, "building"),
    ]
    first, second = (
        server.http.post(
            "/v1/evaluate", json={"questions": GOLDEN, "edition": number, "charts": True}, timeout=60
        ).json()
        for number in (1, 2)
    )
    assert (first["recipe"]["child_size"], second["recipe"]["child_size"]) == (400, 20)
    assert {"Recall by rank", "Latency"} < {each["title"] for each in first["charts"]}
    assert all(each["svg"].startswith("<svg ") for each in first["charts"])
    report = nestling.html_report(nestling.Evaluation.from_json(first))
    assert all(each["svg"] in report for each in first["charts"])
    plain = server.http.post("/v1/evaluate", json={"questions": GOLDEN}).json()
    assert "charts" not in plain

    compared = server.http.post("/v1/compare", json={"a": first, "b": second, "names": ["old", "new"]}).json()
    assert compared["names"] == ["old", "new"]
    assert compared["compared"] == 3
    assert compared["differing"]["recipe.child_size"] == [400, 20]
    missing = server.http.post("/v1/evaluate", json={"questions": GOLDEN, "edition": 9})
    assert missing.status_code == 404


def test_what_cannot_be_compared(server: Served) -> None:
    """Each is told by the sentence of the library."""
    for body in ({"a": {}, "b": {}}, {"a": [], "b": 1}, {"a": {}, "b": {}, "names": ["one"]}, {"a": {}}):
        answer = server.http.post("/v1/compare", json=body)
        assert answer.status_code == 400, body
        assert answer.json()["error"]["message"]
