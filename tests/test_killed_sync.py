"""SIGKILL in the middle of a sync: every document is whole, none is lost, and the next sync finishes (L6, L9)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import nestling
from wordhash import WordHash

SYNCER = Path(__file__).with_name("killed_sync.py")
FILES = 30


def content(n: int, version: int) -> str:
    """Several parents that all name their version."""
    return f"# Page {n}\n\n" + "\n\n".join(f"Page {n}, version {version}. " * 20 for _ in range(1 + n % 5))


def change(folder: Path, round: int, chance: random.Random) -> None:
    """Edit some files, rename some, remove one and add one."""
    files = sorted(folder.rglob("*.md"))
    for file in chance.sample(files, len(files) // 3):
        n = int(file.read_text("utf-8").split("\n")[0].removeprefix("# Page "))
        file.write_text(content(n, round), "utf-8")
    for file in chance.sample(files, len(files) // 3):
        folder.joinpath(f"part{round % 3}").mkdir(exist_ok=True)
        file.rename(folder / f"part{round % 3}" / f"{round}-{file.name[-9:]}")
    chance.choice(sorted(folder.rglob("*.md"))).unlink()
    (folder / f"new{round}.md").write_text(content(1000 + round, round), "utf-8")


def kill(path: Path, folder: Path, lines: int, chance: random.Random) -> None:
    """Start a process that syncs, and kill it soon after it has told of so much of what it does."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    syncer = subprocess.Popen(
        [sys.executable, str(SYNCER), str(path), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert syncer.stdout is not None
    for _ in range(lines):
        assert syncer.stdout.readline()
    time.sleep(chance.uniform(0, 0.003))
    syncer.send_signal(signal.SIGKILL)
    syncer.communicate()


def look(path: Path, before: dict[str, str], after: dict[str, str], all_before: bool) -> bool:
    """Check a nest after a kill; returns whether it is somewhere between the two states of the folder."""
    with nestling.open(path, embedder=WordHash()) as nest:
        assert nest.check() == []
        stored = {}
        for info in nest.list():
            tree = nest.show(info.id)
            assert tree is not None
            stored[info.id] = tree.document.text
    for id, text in stored.items():
        assert text in (before.get(id), after.get(id)), f"{id} is of neither state"
    if all_before:
        # found under the old or the new id at every instant, in one of its versions
        texts = set(stored.values())
        kept = {text for text in before.values() if text in after.values()}
        assert kept <= texts
    return stored not in (before, after)


def run(tmp_path: Path, times: int) -> None:
    """Change the folder, kill a sync of it, look, and finish; some kill must have met it half way."""
    chance = random.Random(times)
    folder, path = tmp_path / "docs", tmp_path / "x.nest"
    folder.mkdir()
    for n in range(FILES):
        (folder / f"{n:02d}.md").write_text(content(n, 0), "utf-8")
    state: dict[str, str] = {}
    met = round = 0
    # on a busy machine a sync may have ended before it is killed
    while round < times or (not met and round < 10 * times):
        round += 1
        now = read(folder)
        kill(path, folder, chance.randint(4, 12), chance)
        met += look(path, state, now, round > 1)
        with nestling.open(path, embedder=WordHash()) as nest:
            nest.sync(folder)
            assert {info.id for info in nest.list()} == set(now)
            assert not nest.sync(folder).added
        state = now
        change(folder, round, chance)
    assert met


def read(folder: Path) -> dict[str, str]:
    """The texts of a folder by id."""
    return {file.relative_to(folder).as_posix(): file.read_text("utf-8") for file in folder.rglob("*.md")}


def test_a_killed_sync_is_finished_by_the_next(tmp_path: Path) -> None:
    """A few kills, each on a folder that has changed."""
    run(tmp_path, 4)


@pytest.mark.slow
def test_many_killed_syncs(tmp_path: Path) -> None:
    """Many more."""
    run(tmp_path, 100)
