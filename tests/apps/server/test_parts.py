"""Parts of the server by themselves: rates, threads, the page, what is said to browsers, what errors become."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path

import pytest

import nestling
from nestling.apps import wire
from nestling.apps.server import page, rates, shapes
from nestling.apps.server.failing import STATUSES, status_of
from nestling.apps.server.lanes import Lane
from nestling.apps.server.rates import Rates
from nestling.apps.server.running import listening
from served import Served


class Clock:
    """A time that is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000_000.0
        monkeypatch.setattr(rates.time, "time", lambda: self.now)


def test_a_bucket_is_refilled_evenly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute's requests at once, then one each part of a minute; two processes count together."""
    clock, one, other = Clock(monkeypatch), Rates(str(tmp_path)), Rates(str(tmp_path))
    assert [bool(each.take("a", 6)) for each in (one, other) * 4] == [False] * 6 + [True] * 2
    assert one.take("a", 6) == pytest.approx(10, abs=0.01)
    assert one.take("b", 6) == 0
    clock.now += 9
    assert other.take("a", 6) == pytest.approx(1, abs=0.01)
    clock.now += 1.01
    assert (other.take("a", 6), bool(one.take("a", 6))) == (0, True)
    clock.now += 60
    assert [one.take("a", 6) for _ in range(6)] == [0] * 6
    one.close()
    other.close()


def test_a_clock_that_is_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is locked out until the old time comes again; a minute's requests are counted anew."""
    clock, bucket = Clock(monkeypatch), Rates(str(tmp_path))
    assert [bool(bucket.take("a", 2)) for _ in range(3)] == [False, False, True]
    clock.now -= 86_400
    assert [bool(bucket.take("a", 2)) for _ in range(3)] == [False, False, True]
    bucket.close()


def test_all_addresses_of_a_host_have_one_port() -> None:
    """Any that is free, which is held from then on; who comes later is told that it is taken."""
    sockets = listening("localhost", 0)
    ports = {each.getsockname()[1] for each in sockets}
    assert len(ports) == 1
    with pytest.raises(nestling.ServerError, match="another --host or --port"):
        listening("localhost", min(ports))
    for each in sockets:
        each.close()


class Open:
    """What is to be closed."""

    closed = False

    def close(self) -> None:
        """Close it."""
        self.closed = True


def test_work_that_waits_is_dropped_with_the_one_who_waits() -> None:
    """What has begun is done to its end, what waits is never begun, and either way what it reads is closed."""
    lane, go, begun, done = Lane("test", 1, 2), threading.Event(), threading.Event(), []
    bodies = [Open() for _ in range(4)]

    def work(n: int) -> int:
        begun.set()
        assert go.wait(60)
        assert not bodies[n].closed
        done.append(n)
        return n

    async def cancelled() -> None:
        tasks = [asyncio.create_task(lane.run(lambda n=n: work(n), bodies[n])) for n in range(3)]  # type: ignore[misc]
        assert await asyncio.to_thread(begun.wait, 60)
        with pytest.raises(nestling.BusyError, match="too much to test"):
            await lane.run(lambda: work(3), bodies[3])
        assert bodies[3].closed
        for task in tasks[:2]:
            task.cancel()
        while not bodies[1].closed:
            await asyncio.sleep(0.01)
        assert [body.closed for body in bodies[:3]] == [False, True, False]
        go.set()
        assert await tasks[2] == 2

    asyncio.run(cancelled())
    assert done == [0, 2]
    assert all(body.closed for body in bodies)
    lane.close()
    with pytest.raises(nestling.BusyError, match="stopping"):
        asyncio.run(lane.run(lambda: None, late := Open()))
    assert late.closed


def test_closing_waits_for_what_has_begun() -> None:
    """Nothing is cut off."""
    lane, begun, done = Lane("test", 1, 5), threading.Event(), []

    def work() -> None:
        begun.set()
        time.sleep(0.1)
        done.append(1)

    async def closed() -> None:
        task = asyncio.create_task(lane.run(work))
        assert await asyncio.to_thread(begun.wait, 60)
        lane.close()
        await task

    asyncio.run(closed())
    assert done == [1]


def test_every_error_has_a_status() -> None:
    """Each class of the tree has one, the more special before the more general."""
    names = [name for name in nestling.__all__ if name.endswith("Error")]
    statuses = {name: status_of(getattr(nestling, name)("")) for name in names}
    assert statuses["FilterError"] == 400
    assert statuses["LockedError"] == statuses["BusyError"] == 503
    assert statuses["ScopeError"] == statuses["AccessError"] == 403
    assert statuses["FullError"] == 507
    for name, status in STATUSES:
        assert statuses[name] == status


def test_answers_are_described_as_they_are_written(server: Served) -> None:
    """The models that OpenAPI shows take what is written, with no name too few or too many."""
    with nestling.open(server.serving.path) as nest:
        for value in (
            nest.search("fever", 1)[0],
            nest.search("fever").explain(),
            nest.context("fever"),
            nest.ask("fever"),
            nest.show("fever"),
            nest.list()[0],
            nestling.Report(added=["x"], renamed=[nestling.Renamed("a", "b")]),
        ):
            model = shapes.shape(type(value))
            told = wire.plain(value)
            assert model.model_validate(told).model_dump() == told
            assert set(model.model_fields) == set(told)


def test_browsers_are_told_to_be_careful(server: Served) -> None:
    """Every answer, errors too, forbids what an answer of JSON needs not."""
    for path in ("/v1/stats", "/nowhere", "/healthz", "/openapi.json"):
        headers = server.http.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert headers["Cache-Control"] == "no-store"
        assert "server" not in headers


def test_the_page_is_served_and_nothing_else(
    server: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its files are, with a policy that lets nothing inline and nothing of other hosts in; no other file is."""
    root = tmp_path / "apps"
    (root / "page").mkdir(parents=True)
    (root / "page" / "index.html").write_text("<p>ü")
    (root / "page" / "page.js").write_text("1")
    (root / "page" / "notes.txt").write_text("x")
    (root / "secret.html").write_text("x")
    monkeypatch.setattr(page, "files", lambda package: root)
    served = page.page_router()
    assert {route.path for route in served.routes} == {"/", "/page.js"}  # type: ignore[attr-defined]
    with Served(Path(server.serving.path), tmp_path / "again") as again:
        answer = again.http.get("/")
        assert (answer.text, answer.headers["content-type"]) == ("<p>ü", "text/html; charset=utf-8")
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert again.http.get("/page.js").headers["content-type"].startswith("text/javascript")
        again.keys.add("k", "read")
        assert again.http.get("/").status_code == 200
        for path in ("/notes.txt", "/secret.html", "/../secret.html", "/%2e%2e/secret.html", "/page/page.js"):
            assert again.http.get(path).status_code == 404, path
