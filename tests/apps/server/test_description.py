"""The server is what its description says, as schemathesis finds by asking it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from served import Served

TESTS = Path(__file__).parents[2]


def run(server: Served, folder: Path, *options: str) -> None:
    """Run schemathesis with all its checks on a server; it must find nothing."""
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json", *options]
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "schema_hooks", "PYTHONPATH": str(TESTS)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_the_server_does_what_its_description_says(server: Served, tmp_path: Path) -> None:
    """Valid requests are accepted, others refused; answers and statuses are those described; nothing fails."""
    run(server, tmp_path, "--phases", "coverage", "--seed", "1")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_server_does_so_whatever_is_made_up(server: Served, tmp_path: Path, seed: int) -> None:
    """Also with requests that are made up at random, and one after the other on what the ones before stored."""
    run(server, tmp_path, "--phases", "fuzzing,stateful", "--max-examples", "60", "--seed", str(seed))
