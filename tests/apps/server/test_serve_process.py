"""The command itself, as processes: starting, stopping, several workers, and being killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from commands import Run

import nestling

Start = Callable[..., "Running"]


class Running:
    """A server process, once it is ready."""

    def __init__(self, *options: str, folder: Path, host: str = "127.0.0.1") -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        command = [
            sys.executable,
            "-m",
            "nestling",
            "serve",
            "--port",
            str(self.port),
            "--host",
            host,
            *options,
        ]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("NESTLING")}
        self.process = subprocess.Popen(
            command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self.http = httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=60)
        end = time.monotonic() + 60
        while self.process.poll() is None:
            assert time.monotonic() < end
            try:
                if self.http.get("/readyz").status_code == 200:
                    break
            except httpx.HTTPError:
                time.sleep(0.1)

    def stop(self, number: int = signal.SIGTERM) -> str:
        """Send a signal, and return what the server had said when it ended."""
        self.process.send_signal(number)
        return self.process.communicate(timeout=60)[1]

    def children(self) -> set[int]:
        """The worker processes."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        lines = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in listed}
        return {int(pid) for pid, line in lines.items() if b"spawn_main" in line}

    def close(self) -> None:
        """End it in any case."""
        self.http.close()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a server on ``nest.nest`` in a folder of the test, which holds one card, by the real model."""
    with nestling.open(tmp_path / "nest.nest", create=True) as nest:
        nest.add(nestling.Document("fever", "See a doctor when a fever lasts for more than three days."))
    with ExitStack() as stack:

        def started(*options: str, **more: Any) -> Running:
            running = Running(*options, folder=tmp_path, **more)
            stack.callback(running.close)
            return running

        yield started


def lines(count: int) -> bytes:
    """An upload of so many documents."""
    return "\n".join(
        json.dumps({"id": f"d{n:03}", "text": f"Document {n} tells of the number {n}."}) for n in range(count)
    ).encode()


def test_it_serves_until_it_is_told_to_stop(start: Start, tmp_path: Path) -> None:
    """It says where it is, ends an upload whole when it is terminated, and leaves nothing behind."""
    server = start("--access-log")
    found = server.http.post("/v1/search", json={"query": "how long may a fever last?"}).json()
    assert found["passages"][0]["id"] == "fever"
    headers = {"Content-Type": "application/x-ndjson", "Accept": "text/event-stream"}
    with server.http.stream("POST", "/v1/documents", content=lines(400), headers=headers) as answer:
        told = (json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: "))
        next(each for each in told if each["documents"])
        server.process.send_signal(signal.SIGTERM)
        last = list(told)[-1]
    said = server.process.communicate(timeout=60)[1]
    assert last["error"]["type"] == "BusyError"
    assert 0 < len(last["report"]["added"]) < 400
    with nestling.open(tmp_path / "nest.nest") as nest:
        assert [each.id for each in nest.list()] == [*last["report"]["added"], "fever"]
        assert nest.check() == []
    assert f"serving nest.nest at http://127.0.0.1:{server.port}; Ctrl-C stops" in said
    assert "POST /v1/search 200" in said
    assert "fever" not in said.replace("nest.nest", ""), "a log holds no questions"
    assert "Traceback" not in said
    assert {file.name for file in tmp_path.iterdir()} == {"nest.nest"}


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command, run to its end."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NESTLING")}
    return subprocess.run(
        [sys.executable, "-m", "nestling", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.slow
def test_several_workers_are_one_server(start: Start) -> None:
    """What one writes all find; keys, rates and counts are of all; one that is killed is replaced."""
    server = start("--workers", "2")
    assert len(server.children()) == 2
    with ExitStack() as stack:
        # the connections come to both
        clients = [stack.enter_context(httpx.Client(base_url=server.http.base_url)) for _ in range(16)]
        assert server.http.put("/v1/documents/new", json={"text": "Something wholly new."}).status_code == 201
        for client in clients:
            found = client.post("/v1/search", json={"query": "wholly new", "k": 1}).json()
            assert found["passages"][0]["id"] == "new"
        counted = server.http.get("/metrics").text
        assert 'nestling_requests_total{method="POST",route="/v1/search",status="200"} 16.0' in counted
        made = command(server.folder, "keys", "add", "a", "--rate", "10").stdout.strip()
        headers = {"Authorization": f"Bearer {made}"}
        answers = [client.get("/v1/stats", headers=headers).status_code for client in clients]
        assert sorted(answers) == [200] * 10 + [429] * 6
        assert {client.get("/v1/stats").status_code for client in clients} == {401}
    before = server.children()
    os.kill(min(before), signal.SIGKILL)
    end = time.monotonic() + 60
    while len(server.children()) < 2 or min(before) in server.children():
        assert time.monotonic() < end, "the worker was not replaced"
        time.sleep(0.1)
    with httpx.Client(base_url=server.http.base_url, timeout=60) as client:
        assert client.get("/healthz").status_code == 200
    assert "Traceback" not in server.stop()


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_nothing_is_lost_when_it_is_killed(start: Start, tmp_path: Path, workers: str) -> None:
    """After SIGKILL in the midst of writes every document that was answered for is there, and no half one."""
    server = start("--workers", workers)
    stored: list[str] = []

    def write(first: int) -> None:
        with httpx.Client(base_url=server.http.base_url) as client:
            for n in range(first, 100_000, 3):
                try:
                    answer = client.put(f"/v1/documents/d{n}", json={"text": f"Document {n} is whole."})
                except httpx.HTTPError:
                    return
                assert answer.status_code == 201
                stored.append(f"d{n}")

    writers = [threading.Thread(target=write, args=(n,)) for n in range(3)]
    for writer in writers:
        writer.start()
    while len(stored) < 30:
        time.sleep(0.05)
    os.killpg(server.process.pid, signal.SIGKILL)
    for writer in writers:
        writer.join()
    with nestling.open(tmp_path / "nest.nest") as nest:
        assert nest.check() == []
        kept = {each.id for each in nest.list()}
        assert set(stored) <= kept
        assert len(kept - set(stored)) <= 1 + 3
        assert all(nest.show(id).document.text.endswith("is whole.") for id in kept - {"fever"})  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--nest", "nothing.nest"], 4, "there is no nest at nothing.nest"),
        (["--host", "0.0.0.0"], 8, "nestling keys add"),
        (["--nest", "http://localhost:1"], 3, "where the file of its nest is"),
        (["--workers", "0"], 2, "--workers"),
        (["--host", "203.0.113.1"], 8, "nestling keys add"),
        (["--model", "gpt"], 3, "openai:MODEL@URL"),
        (["--port", "{taken}"], 8, "another --host or --port"),
    ],
)
def test_it_does_not_start(run: Run, cards: Path, arguments: list[str], code: int, told: str) -> None:
    """What is wrong is said in a line, and nothing is made."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = run("serve", *(each.replace("{taken}", port) for each in arguments))
    assert result.exit_code == code
    assert told in result.stderr
    assert {file.name for file in Path().iterdir()} <= {"nest.nest"}


def test_an_extra_that_is_missing(run: Run, cards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """X3: without FastAPI it is said what to install; everything else works."""
    for name in ("fastapi", "uvicorn", "prometheus_client"):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, name, None)
            for module in [each for each in sys.modules if each.startswith("nestling.apps.server.")]:
                without.delitem(sys.modules, module)
            result = run("serve")
            assert (result.exit_code, run("list").exit_code) == (7, 0)
            assert f"{name}" in result.stderr
            assert "pip install 'nestling[serve]'" in result.stderr
