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

HERE = Path(__file__).parent


def start(script: str, path: Path) -> subprocess.Popen[str]:
    """A process that works on a nest and has begun."""
    environment = {**os.environ, "PYTHONPATH": f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    process = subprocess.Popen(
        [sys.executable, str(HERE / script), str(path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def kill(process: subprocess.Popen[str]) -> None:
    """End it without any warning; that it still ran shows that it had met no error."""
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate()


def look(path: Path) -> int:
    """Check the nest; returns the documents found."""
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


def kill_and_look(path: Path, chance: random.Random) -> int:
    """Start a writer, kill it at a random moment, and check the nest; returns the documents found."""
    writer = start("killed_writer.py", path)
    time.sleep(chance.uniform(0, 0.25))
    kill(writer)
    return look(path)


def search_for(nest: nestling.Nest, seconds: float) -> int:
    """Search again and again; every answer is of one commit and one edition. Returns how many there were."""
    asked, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        for passage in nest.search("document version paragraph", k=30):
            versions = set(re.findall(r"version (\d+)", passage.text))
            assert versions <= {str(passage.metadata["version"])}, passage
        asked += 1
    return asked


def rebuild_and_look(path: Path, times: int) -> None:
    """Rebuild while another process adds and this one searches; kill the rebuilding, at last also the adding."""
    chance = random.Random(times)
    writer = start("killed_writer.py", path)
    with nestling.open(path, embedder=WordHash()) as nest:
        asked = 0
        for _ in range(times):
            rebuilder = start("killed_rebuilder.py", path)
            asked += search_for(nest, chance.uniform(0.2, 0.8))
            kill(rebuilder)
        assert asked > 2 * times
        assert max(edition.number for edition in nest.editions()) > 1
        kill(writer)
        found = look(path)
        # whatever was left unfinished is finished by the next call, and holds all that was added meanwhile
        assert nest.rebuild(nestling.Recipe(child_size=90, parent_size=300)).switched
        live = next(edition for edition in nest.editions() if edition.state == "live")
        assert live.documents == found
        assert nest.rollback()
        before = next(edition for edition in nest.editions() if edition.state == "live")
        assert (before.number != live.number, before.documents) == (True, found)
        assert nest.check() == []


def run(path: Path, times: int) -> None:
    """Kill so often; some document must have been seen, or the test shows nothing."""
    chance = random.Random(times)
    assert sum(kill_and_look(path, chance) for _ in range(times)) > times


def test_survives_kills(path: Path) -> None:
    """A dozen kills in a row on one file."""
    run(path, 12)


def test_rebuilding_survives_kills(path: Path) -> None:
    """No search fails and no addition is lost while a nest is rebuilt and switched by one that is killed."""
    rebuild_and_look(path, 3)


@pytest.mark.slow
def test_rebuilding_survives_many_kills(path: Path) -> None:
    """Sixty kills in a row on one file."""
    rebuild_and_look(path, 60)


@pytest.mark.slow
def test_survives_many_kills(path: Path) -> None:
    """Two hundred kills in a row on one file."""
    run(path, 200)
