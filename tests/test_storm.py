"""Writers of every kind, killed at random while readers look: nothing is lost or half-written (2, 3, 9)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import nestling
from wordhash import WordHash

STORM = Path(__file__).with_name("storm.py")
# Kills of the long storm; more with NESTLING_KILLS.
MANY = int(os.environ.get("NESTLING_KILLS", "2000"))


def run(folder: Path, kills: int) -> None:
    """Storm, then hold the nest to the journals, and finish what was left unfinished."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, str(STORM), str(folder), str(kills), str(kills)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    errors = folder / "errors"
    assert not errors.exists(), errors.read_text()
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert sum(figures["killed"].values()) == kills
    assert figures["snapshots"] > kills // 20
    with nestling.open(folder / "x.nest", embedder=WordHash()) as nest:
        assert nest.check() == []
        acknowledged = sum(held_to_its_journal(nest, folder / f"journal-{name}") for name in "ab")
        assert acknowledged > kills // 20
        nest.sync(folder / "files", pattern="*.md")
        for file in (folder / "files").glob("*.md"):
            tree = nest.show(file.name)
            assert tree is not None
            assert tree.document.text == file.read_text("utf-8")
        nest.rebuild(nestling.Recipe(child_size=70, parent_size=400))
        nest.prune()
        assert nest.check() == []
    print(figures, acknowledged)


def held_to_its_journal(nest: nestling.Nest, journal: Path) -> int:
    """Each document is as its last finished change left it, or as one begun since; returns how many finished."""
    finished = 0
    possible: dict[str, set[int | None]] = {}
    for line in journal.read_text().splitlines():
        entry = json.loads(line)
        if entry["done"]:
            possible[entry["id"]] = {entry["version"]}
            finished += 1
        else:
            possible.setdefault(entry["id"], {None}).add(entry["version"])
    for id, versions in possible.items():
        tree = nest.show(id)
        assert (tree.document.metadata["version"] if tree else None) in versions, id
    return finished


def test_nothing_is_lost_in_a_storm(tmp_path: Path) -> None:
    """Sixty kills."""
    run(tmp_path, 60)


@pytest.mark.slow
def test_nothing_is_lost_in_a_long_storm(tmp_path: Path) -> None:
    """Thousands of kills, minutes long."""
    run(tmp_path, MANY)
