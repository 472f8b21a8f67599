"""`nestling serve` says that it serves when it does."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import nestling

# each starts processes, and waits for ports and signals
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("workers", ["1", "2"])
def test_whoever_waits_for_the_line_is_served(tmp_path: Path, workers: str) -> None:
    """A request that is sent as soon as the address was told is answered, by one process and by several."""
    with nestling.open(tmp_path / "nest.nest", create=True) as nest:
        nest.add(nestling.Document("fever", "See a doctor when a fever lasts for more than three days."))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "nestling", "serve", "--port", str(port), "--workers", workers, "--json"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NESTLING")}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        told = process.stdout.readline()
        try:
            answer = httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=30)
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
    assert f'"http://127.0.0.1:{port}"' in told
    assert answer.json() == {"status": "ok"}
