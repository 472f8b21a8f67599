"""The nest behind a server is used like the one in the file, with the same results and the same errors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import nestling
from nestling.client import RemoteNest
from served import Serve, Served

QUERIES = (
    "empty stomach",
    "fever for three days",
    "Fieber trinken",
    "",
    "nothing of the kind",
    "ü 中 \x00 \ud800",
)
CALLS: dict[str, Callable[[nestling.Nest], Any]] = {
    **{f"search {n}": (lambda nest, q=query: seen(nest.search(q, 2))) for n, query in enumerate(QUERIES)},
    "search filtered": lambda nest: seen(nest.search("fever", where={"year": {"$gte": 2000}})),
    "search by date": lambda nest: seen(nest.search("fever", where={"day": {"$lt": date(2024, 1, 1)}})),
    "search by set": lambda nest: seen(nest.search("fever", where={"lang": {"$in": {"en"}}})),
    "search page 2": lambda nest: seen(nest.search("fever", 1, offset=1)),
    "search gated": lambda nest: seen(nest.search("fever", min_similarity=0.99, min_coverage=1)),
    "context": lambda nest: nest.context("fever or an empty stomach", 60),
    "context shaped": lambda nest: nest.context("manual", 90, shape="window", window=2),
    "context gated": lambda nest: nest.context("fever", min_coverage=1.0, where={"lang": "de"}),
    "ask": lambda nest: nest.ask("how long does a fever last?", 300),
    "ask abstaining": lambda nest: nest.ask("quarks", min_coverage=0.9),
    "verify": lambda nest: nest.verify("Take it with food. [cite:stomach] Drink wine. [cite:nothing]"),
    "show": lambda nest: nest.show("manual"),
    "show a passage": lambda nest: nest.show("manual§2"),
    "show nothing": lambda nest: [nest.show(id) for id in ("nothing", "", "\ud800", "..", "a/b")],
    "list": lambda nest: list(nest.list()),
    "list filtered": lambda nest: list(nest.list({"lang": "en"})),
    "stats": lambda nest: {name: value for name, value in nest.stats().items() if name != "bytes"},
    "check": lambda nest: list(nest.check()),
    "recipe": lambda nest: nest.recipe,
    "scoring": lambda nest: nest.scoring,
}
ERRORS: dict[str, Callable[[nestling.Nest], Any]] = {
    "k": lambda nest: nest.search("x", -1),
    "k of text": lambda nest: nest.search("x", "5"),  # type: ignore[arg-type]
    "offset": lambda nest: nest.search("x", offset=-1),
    "query": lambda nest: nest.search(5),  # type: ignore[arg-type]
    "similarity": lambda nest: nest.search("x", min_similarity=2),
    "filter": lambda nest: nest.search("x", where={"$near": 1}),
    "filter of lists": lambda nest: nest.list({"lang": ["en"]}),
    "budget": lambda nest: nest.context("x", 0),
    "shape": lambda nest: nest.context("x", shape="round"),  # type: ignore[arg-type]
    "question": lambda nest: nest.ask("x", min_coverage=-1),
    "text": lambda nest: nest.verify(None),  # type: ignore[arg-type]
    "ids": lambda nest: nest.remove([5]),  # type: ignore[list-item]
    "path": lambda nest: nest.add("no/such/file.md"),
    "golden": lambda nest: nest.evaluate(nestling.Golden((nestling.GoldenQuestion("1", "x"),))),
    "gold": lambda nest: nest.evaluate(nestling.Golden((nestling.GoldenQuestion("1", "x", {"nothing": 1}),))),
}


def seen(found: nestling.Results) -> Any:
    """All that results hold."""
    return list(found), found.abstained, found.explain()


@pytest.fixture
def pair(serve: Serve) -> Iterator[tuple[nestling.Nest, nestling.Nest, Served]]:
    """One nest, opened as a file and through a server."""
    server = serve()
    manual = "".join(f"## Part {n}\n\n" + f"Sentence on topic{n} and so on. " * 80 for n in range(3))
    with nestling.open(server.serving.path) as local, nestling.open(server.url) as remote:
        local.add(
            nestling.Document("manual", manual, "Manual", {"day": date(2023, 5, 1), "tags": ["a", None]})
        )
        yield local, remote, server


def test_the_same_answers(pair: tuple[nestling.Nest, nestling.Nest, Served]) -> None:
    """Every method gives equal values of equal types."""
    local, remote, _ = pair
    for name, call in CALLS.items():
        expected, got = call(local), call(remote)
        assert got == expected, name
        assert type(got) is type(expected), name


def test_the_same_errors(pair: tuple[nestling.Nest, nestling.Nest, Served]) -> None:
    """What a nest refuses, a nest behind a server refuses with the same class and sentence."""
    local, remote, _ = pair
    for name, call in ERRORS.items():
        with pytest.raises(nestling.NestlingError) as here:
            call(local)
        with pytest.raises(nestling.NestlingError) as there:
            call(remote)
        assert (name, type(there.value), str(there.value)) == (name, type(here.value), str(here.value))


def test_adding_the_same(serve: Serve, tmp_path: Path) -> None:
    """Folders, cards, documents and what cannot be read come to the same report and the same nest."""
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("# A\n\nThe first text.")
    (folder / "deep" / "b.txt").write_text("The second text.")
    (folder / "cards.jsonl").write_text('{"id": "c", "text": "The third."}\n{"id": "d"}\n')
    (folder / "photo.png").write_bytes(b"\x89PNG\x00")
    sources = [
        folder,
        nestling.Document(
            "e", "The fifth, with a day.", metadata={"day": date(2024, 1, 2), "odd": [1, None]}
        ),
        {"id": 7, "text": "A card."},
        nestling.Document("e", "Again."),
        nestling.Document("§1", "x"),
    ]
    reports, trees = [], []
    server = serve()
    with nestling.open(tmp_path / "other.nest", create=True) as local, nestling.open(server.url) as remote:
        local.add(serve_cards(remote))
        for nest in (local, remote):
            told: list[nestling.Progress] = []
            reports.append(nest.add(iter(sources), progress=told.append))
            assert told[-1].documents == 9
            assert nest.add(folder / "a.md").unchanged == ["a.md"]
            trees.append([nest.show(each.id) for each in nest.list()])
            assert list(nest.remove(["c", "nothing"])) == ["c"]
            assert list(nest.remove("c")) == []
    here, there = (replace(report, failed=sorted(report.failed, key=str)) for report in reports)
    for field in fields(nestling.Report):
        assert getattr(there, field.name) == getattr(here, field.name), field.name
    assert trees[1] == trees[0]


def serve_cards(nest: nestling.Nest) -> list[nestling.Document]:
    """The documents that a nest holds."""
    trees = [nest.show(each.id) for each in nest.list()]
    return [tree.document for tree in trees if tree is not None]


def test_evaluating_the_same(pair: tuple[nestling.Nest, nestling.Nest, Served]) -> None:
    """Figures, settings and questions are equal; only the times are not, and the name of the nest."""
    local, remote, _ = pair
    golden = nestling.read_golden(
        [
            {"id": "a", "question": "empty stomach", "relevant": {"stomach": 2}, "tags": ["t"]},
            {"id": "b", "question": "three days", "spans": [{"document": "fever", "quote": "three days"}]},
            {"id": "c", "question": "quarks", "unanswerable": True},
        ],
        name="three",
    )
    told: list[tuple[int, int]] = []
    there = remote.evaluate(golden, k=[1, 2], budgets=[50], progress=lambda *now: told.append(now))
    here = local.evaluate(golden, k=[1, 2], budgets=[50])
    assert told[-1] == (3, 3)
    assert there.nest == "handbook.nest"
    assert replace(there, nest=here.nest, questions=(), summary=()) == replace(here, questions=(), summary=())
    assert [replace(each, seconds=0.0) for each in there.questions] == [
        replace(each, seconds=0.0) for each in here.questions
    ]


def test_every_method_is_there() -> None:
    """Nothing of a nest is left to the file that a nest behind a server does not have; arguments are the same."""
    public = [name for name in vars(nestling.Nest) if not name.startswith("_")]
    assert not [name for name in public if name not in vars(RemoteNest)]
    for name in public:
        ours, theirs = getattr(RemoteNest, name), getattr(nestling.Nest, name)
        if callable(ours):
            assert inspect.signature(ours) == inspect.signature(theirs), name


def test_what_needs_the_file_is_refused(pair: tuple[nestling.Nest, nestling.Nest, Served]) -> None:
    """It is refused with what to do instead."""
    _, remote, server = pair
    refused: list[Callable[[], Any]] = [
        lambda: remote.rebuild(),
        lambda: remote.sync("."),
        lambda: remote.editions(),
        lambda: remote.at(1),
        lambda: remote.switch(1),
        lambda: remote.rollback(),
        lambda: remote.prune(),
        lambda: remote.repair(),
        lambda: remote.backup("copy.nest"),
        lambda: remote.export("lines.jsonl"),
        lambda: remote.embedder,
        lambda: remote.with_scoring(nestling.Scoring()),
        lambda: remote.keep_scoring(nestling.Scoring()),
        lambda: remote.scope(tenant="acme"),
    ]
    for call in refused:
        with pytest.raises(nestling.ServerError, match=r"file where it is|key"):
            call()
    for options in ({"model": "openai:m@http://x"}, {"count": len}):
        with pytest.raises(nestling.SettingError, match="leave it out"):
            remote.ask("x", **options)  # type: ignore[arg-type]
    with pytest.raises(nestling.SettingError, match="leave embedder"):
        nestling.open(server.url, recipe=nestling.Recipe())
    with pytest.raises(nestling.SettingError, match="no address"):
        nestling.open(server.serving.path, key="nk")
    for wrong in ("http://", "http://user:pass@localhost:1", "http://localhost:1/?a=b"):
        with pytest.raises(nestling.SettingError, match="HOST:PORT"):
            nestling.open(wrong)


def test_a_server_that_is_not_there(server: Served) -> None:
    """Whoever cannot be reached is named, with what to look at; so is what is no Nestling server."""
    with pytest.raises(nestling.ServerError, match=r"127\.0\.0\.1:9.*cannot be reached.*running"):
        nestling.open("http://127.0.0.1:9")
    with pytest.raises(nestling.NotFoundError, match="nothing at this address"):
        nestling.open(f"{server.url}/elsewhere")
    remote = nestling.open(server.url)
    assert repr(remote) == f"RemoteNest('{server.url}')"
    remote.close()
    with pytest.raises(nestling.ServerError, match="open it again"):
        remote.stats()


def test_keys(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key is given, or found in the environment; without one, or with a wrong one, it is said so."""
    reader, writer = server.keys.add("reader", "read"), server.keys.add("writer", "write", rate=2)
    with pytest.raises(nestling.AccessError, match="a key is needed"):
        nestling.open(server.url)
    with pytest.raises(nestling.AccessError, match="not known"):
        nestling.open(server.url, key="nk_00000000_wrong")
    with nestling.open(server.url, key=reader) as nest:
        assert len(nest.search("fever")) == 3
        with pytest.raises(nestling.AccessError, match="rights of 'read'"):
            nest.add(nestling.Document("x", "x"))
        assert reader not in repr(vars(nest))
    monkeypatch.setenv("NESTLING_KEY", writer)
    with nestling.open(server.url) as nest:
        assert nest.add(nestling.Document("x", "x")).added == ["x"]
        with pytest.raises(nestling.BusyError, match="2 times a minute") as busy:
            nest.stats()
        assert 0 < busy.value.retry_after <= 31
