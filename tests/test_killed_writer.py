"""SIGKILL at any instant leaves the old or the new document, never a mixture (promise 2, L6)."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import nestling
from wordhash import WordHash

WRITER = Path(__file__).with_name("killed_writer.py")


def kill_and_look(path: Path, chance: random.Random) -> int:
    """Start a writer, kill it at a random moment, and check the nest; returns the documents found."""
    inherited = os.environ.get("PYTHONPATH", "")
    environment = {**os.environ, "PYTHONPATH": f"{WRITER.parent}{os.pathsep}{inherited}"}
    writer = subprocess.Popen(
        [sys.executable, str(WRITER), str(path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "begun\n"
    time.sleep(chance.uniform(0, 0.25))
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    with nestling.open(path, embedder=WordHash()) as nest:
        assert nest.check() == []
        found = 0
        for info in nest.list():
            tree = nest.show(info.id)
            assert tree is not None
            # every paragraph and the metadata are of one version
            versions = set(re.findall(r"version (\d+)", tree.document.text))
            assert versions == {str(tree.document.metadata["version"])}
            found += 1
        for passage in nest.search("document version paragraph", k=100):
            assert passage.text
        return found


def run(path: Path, times: int) -> None:
    """Kill so often; some document must have been seen, or the test shows nothing."""
    chance = random.Random(times)
    assert sum(kill_and_look(path, chance) for _ in range(times)) > times


def test_survives_kills(path: Path) -> None:
    """A dozen kills in a row on one file."""
    run(path, 12)


@pytest.mark.slow
def test_survives_many_kills(path: Path) -> None:
    """Two hundred kills in a row on one file."""
    run(path, 200)
