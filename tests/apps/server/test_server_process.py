"""The command itself, as processes: starting, stopping, several workers, and being killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from commands import Run

import nestling

Start = Callable[..., "Running"]
# Seconds after which something that should have happened has not.
LONG = 120


def until(true: Callable[[], object], told: str) -> None:
    """Wait until something is true."""
    end = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < end, told
        time.sleep(0.02)


class Running:
    """A server process, once it is ready."""

    def __init__(self, *options: str, folder: Path, temporary: Path) -> None:
        self.folder, self.temporary = folder, temporary
        self.process = subprocess.Popen(
            [sys.executable, "-m", "nestling", "serve", "--port", "0", "--json", *options],
            cwd=folder,
            # what a killed server cannot remove
            env={**environment(), "TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()
        self.url = json.loads(line)["address"]
        self.http = httpx.Client(base_url=self.url, timeout=LONG)
        until(self._ready, "the server is not ready")

    def _ready(self) -> bool:
        assert self.process.poll() is None, self.process.communicate()
        try:
            return self.http.get("/readyz").status_code == 200
        except httpx.ConnectError:
            return False

    def stop(self, number: int = signal.SIGTERM) -> str:
        """Send a signal, and return what the server had said when it ended."""
        self.process.send_signal(number)
        return self.process.communicate(timeout=LONG)[1]

    def children(self) -> set[int]:
        """The worker processes."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        found = set()
        for pid in listed:
            # one of them may just have ended
            with suppress(FileNotFoundError, ProcessLookupError):
                if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.add(int(pid))
        return found

    def close(self) -> None:
        """End it in any case."""
        self.http.close()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


@pytest.fixture
def start(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Start a server on ``nest.nest`` in a folder of the test, which holds one card, by the real model."""
    with nestling.open(tmp_path / "nest.nest", create=True) as nest:
        nest.add(nestling.Document("fever", "See a doctor when a fever lasts for more than three days."))
    with ExitStack() as stack:

        def started(*options: str) -> Running:
            running = Running(*options, folder=tmp_path, temporary=tmp_path_factory.mktemp("server"))
            stack.callback(running.close)
            return running

        yield started


def environment() -> dict[str, str]:
    """The variables for a process, without what is set for Nestling."""
    return {name: value for name, value in os.environ.items() if not name.startswith("NESTLING")}


def lines(count: int) -> bytes:
    """An upload of so many documents."""
    return "\n".join(
        json.dumps({"id": f"d{n:05}", "text": f"Document {n} tells of the number {n}."}) for n in range(count)
    ).encode()


def test_it_serves_until_it_is_told_to_stop(start: Start, tmp_path: Path) -> None:
    """It says where it is, ends an upload whole when it is terminated, and leaves nothing behind."""
    server = start("--access-log")
    found = server.http.post("/v1/search", json={"query": "how long may a fever last?"}).json()
    assert found["passages"][0]["id"] == "fever"
    headers = {"Content-Type": "application/x-ndjson", "Accept": "text/event-stream"}
    # more than can be stored before it hears the signal
    with server.http.stream("POST", "/v1/documents", content=lines(20_000), headers=headers) as answer:
        told = (json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: "))
        next(each for each in told if each["documents"])
        server.process.send_signal(signal.SIGTERM)
        last = list(told)[-1]
    said = server.process.communicate(timeout=LONG)[1]
    assert last["error"]["type"] == "BusyError"
    assert 0 < len(last["report"]["added"]) < 20_000
    with nestling.open(tmp_path / "nest.nest") as nest:
        assert [each.id for each in nest.list()] == [*last["report"]["added"], "fever"]
        assert nest.check() == []
    assert f"serving nest.nest at {server.url}; Ctrl-C stops" in said
    assert "POST /v1/search 200" in said
    assert "fever" not in said.replace("nest.nest", ""), "a log holds no questions"
    assert "Traceback" not in said
    assert {file.name for file in tmp_path.iterdir()} == {"nest.nest"}
    assert (server.process.returncode, list(server.temporary.iterdir())) == (0, [])


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command, run to its end."""
    return subprocess.run(
        [sys.executable, "-m", "nestling", *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG,
    )


def test_several_workers_are_one_server(start: Start) -> None:
    """What one writes all find; keys, rates and counts are of all; one that is killed is replaced."""
    server = start("--workers", "2")
    until(lambda: len(server.children()) == 2, "there are not two workers")
    with ExitStack() as stack:
        # the connections come to both
        clients = [stack.enter_context(httpx.Client(base_url=server.url, timeout=LONG)) for _ in range(16)]
        assert server.http.put("/v1/documents/new", json={"text": "Something wholly new."}).status_code == 201
        for client in clients:
            found = client.post("/v1/search", json={"query": "wholly new", "k": 1}).json()
            assert found["passages"][0]["id"] == "new"
        counted = server.http.get("/metrics").text
        assert 'nestling_requests_total{method="POST",route="/v1/search",status="200"} 16.0' in counted
        made = command(server.folder, "keys", "add", "a", "--rate", "3").stdout.strip()
        headers = {"Authorization": f"Bearer {made}"}
        answers = [client.get("/v1/stats", headers=headers).status_code for client in clients]
        assert sorted(answers) == [200] * 3 + [429] * 13
        assert {client.get("/v1/stats").status_code for client in clients} == {401}
    before = server.children()
    os.kill(min(before), signal.SIGKILL)
    until(lambda: len(server.children() - {min(before)}) == 2, "the worker was not replaced")
    with httpx.Client(base_url=server.url, timeout=LONG) as client:
        assert client.get("/healthz").status_code == 200
    assert "Traceback" not in server.stop(signal.SIGINT)
    assert (server.process.returncode, list(server.temporary.iterdir())) == (0, [])


@pytest.mark.parametrize("workers", ["1", "2"])
def test_nothing_is_lost_when_it_is_killed(start: Start, tmp_path: Path, workers: str) -> None:
    """After SIGKILL in the midst of writes every document that was answered for is there, and no half one."""
    server = start("--workers", workers)
    stored: list[str] = []

    def write(first: int) -> object:
        with httpx.Client(base_url=server.url, timeout=LONG) as client:
            for n in range(first, 100_000, 3):
                try:
                    answer = client.put(f"/v1/documents/d{n}", json={"text": f"Document {n} is whole."})
                except httpx.HTTPError as error:
                    return error
                if answer.status_code != 201:
                    return answer.text
                stored.append(f"d{n}")
        return None

    with ThreadPoolExecutor(3) as pool:
        writers = [pool.submit(write, n) for n in range(3)]
        until(lambda: len(stored) >= 30 or all(each.done() for each in writers), "nothing is stored")
        assert not any(each.done() for each in writers), [each.done() and each.result() for each in writers]
        os.killpg(server.process.pid, signal.SIGKILL)
        for each in writers:
            assert isinstance(each.result(), httpx.HTTPError)
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
        result = run("serve", "--port", "0", *(each.replace("{taken}", port) for each in arguments))
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
            result = run("serve", "--port", "0")
            assert (result.exit_code, run("list").exit_code) == (7, 0)
            assert f"{name}" in result.stderr
            assert "pip install 'nestling[serve]'" in result.stderr
