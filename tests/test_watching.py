"""A watched folder: synced when it is quiet, whatever fails on the way, until somebody says stop."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, Queue

import pytest

import nestling
from nestling import Nest, Renamed, Report
from wordhash import WordHash

WATCHED = Path(__file__).with_name("watched.py")
# seconds after which something that should have happened has not
LONG = 60.0


class Watched:
    """A folder that is watched in a thread; its outcomes come through a queue."""

    def __init__(self, nest: Nest, folder: Path, quiet: float = 0.2) -> None:
        self.stop = threading.Event()
        self._outcomes: Queue[Report | nestling.NestlingError] = Queue()
        self._rounds = nestling.watch(nest, folder, quiet=quiet, stop=self.stop)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        for outcome in self._rounds:
            self._outcomes.put(outcome)

    def next(self, fits: Callable[[Report], object]) -> Report:
        """The next report that fits; those before it, which come where a change fell into two, do not count."""
        ends = time.monotonic() + LONG
        while True:
            outcome = self._outcomes.get(timeout=max(0, ends - time.monotonic()))
            if isinstance(outcome, Report) and fits(outcome):
                return outcome

    def error(self, timeout: float = LONG) -> nestling.NestlingError:
        """The next outcome, which is an error."""
        outcome = self._outcomes.get(timeout=timeout)
        assert isinstance(outcome, nestling.NestlingError)
        return outcome

    def silent(self, seconds: float) -> bool:
        """Whether nothing comes for so long."""
        try:
            self._outcomes.get(timeout=seconds)
        except Empty:
            return True
        return False

    def end(self) -> None:
        """Stop, and wait."""
        self.stop.set()
        self._thread.join(LONG)
        assert not self._thread.is_alive()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder with one file."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# Alpha\n\nThe first text.\n", "utf-8")
    return folder


@pytest.fixture
def inside(docs: Path) -> Iterator[Nest]:
    """A nest inside the folder: what is written to it must not count as a change."""
    with nestling.open(docs / "inside.nest", create=True, embedder=WordHash()) as nest:
        yield nest


def test_changes_are_followed(inside: Nest, docs: Path) -> None:
    """Edits, renamings, removals, new folders; neither reading, nor the nest's own files, nor hidden ones count."""
    watched = Watched(inside, docs)
    try:
        assert watched.next(bool).added == ["a.md"]
        assert watched.silent(0.5)
        (docs / "a.md").write_text("# Alpha\n\nAnother text.\n", "utf-8")
        assert watched.next(lambda done: done.updated).updated == ["a.md"]
        (docs / "a.md").rename(docs / "b.md")
        assert watched.next(lambda done: done.renamed).renamed == [Renamed("a.md", "b.md")]
        (docs / "new").mkdir()
        (docs / "new" / "c.txt").write_text("In a new folder.", "utf-8")
        watched.next(lambda done: done.added)
        (docs / "b.md").unlink()
        assert watched.next(lambda done: done.removed).removed == ["b.md"]
        (docs / ".swap").write_text("Hidden.", "utf-8")
        assert watched.silent(0.5)
        assert [info.id for info in inside.list()] == ["new/c.txt"]
    finally:
        watched.end()


def test_many_changes_are_one_sync(nest: Nest, docs: Path) -> None:
    """A file that is written in steps is read when it has been quiet."""
    watched = Watched(nest, docs, quiet=0.8)
    try:
        watched.next(bool)
        for n in range(8):
            with (docs / "log.txt").open("a", encoding="utf-8") as file:
                file.write(f"Line {n}.\n")
            time.sleep(0.05)
        report = watched.next(bool)
        assert report.added == ["log.txt"]
        assert watched.silent(1)
        tree = nest.show("log.txt")
        assert tree is not None
        assert tree.document.text.count("\n") == 8
    finally:
        watched.end()


def test_a_failed_sync_is_told_and_tried_again(
    path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A locked nest, and a folder that vanished and came back, are waited for; a broken file hinders no other."""
    monkeypatch.setattr("nestling.watching.AGAIN", 0.5)
    with nestling.open(path, create=True, embedder=WordHash(), timeout=0.2) as nest:
        watched = Watched(nest, docs)
        try:
            watched.next(bool)
            db = sqlite3.connect(path, isolation_level=None)
            db.execute("BEGIN IMMEDIATE")
            (docs / "b.txt").write_text("Second.", "utf-8")
            error = watched.error()
            assert isinstance(error, nestling.LockedError)
            assert error.report is not None
            db.close()
            assert watched.next(bool).added == ["b.txt"]
            (docs / "c.txt").write_bytes(b"\xff\xfe\x00")
            (docs / "d.txt").write_text("Fourth.", "utf-8")
            report = watched.next(lambda done: done.failed)
            assert [Path(failure.name).name for failure in report.failed] == ["c.txt"]
            away = docs.rename(docs.with_name("away"))
            assert isinstance(watched.error(), nestling.NotFoundError)
            away.rename(docs)
            watched.next(bool)
            (docs / "e.txt").write_text("Fifth.", "utf-8")
            watched.next(lambda done: "e.txt" in done.added)
            assert [info.id for info in nest.list()] == ["a.md", "b.txt", "d.txt", "e.txt"]
        finally:
            watched.end()


def test_what_cannot_begin_is_refused(nest: Nest, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the call: a wrong quiet period, a folder or pattern that is none, a package that is missing (X3)."""
    for quiet in (0, -1, True, "1", float("inf"), float("nan")):
        with pytest.raises(nestling.SettingError, match="quiet is"):
            nestling.watch(nest, docs, quiet=quiet)  # type: ignore[arg-type]
    with pytest.raises(nestling.NotFoundError, match="no folder"):
        nestling.watch(nest, docs / "typo")
    with pytest.raises(nestling.SettingError, match="pattern"):
        nestling.watch(nest, docs, pattern="")
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(nestling.MissingExtraError, match=r"pip install 'nestling\[watch\]'"):
        nestling.watch(nest, docs)


def test_what_does_not_pass_ends_the_watching(nest: Nest, path: Path, docs: Path) -> None:
    """Where the nest was deleted, waiting would not help: the error comes through."""
    rounds = nestling.watch(nest, docs, quiet=0.1)
    assert isinstance(next(rounds), Report)
    path.unlink()
    (docs / "b.txt").write_text("Second.", "utf-8")
    with pytest.raises(nestling.StoreError, match="deleted or replaced"):
        list(rounds)


def test_a_model_that_is_missing_ends_the_watching(path: Path, docs: Path) -> None:
    """An endpoint that does not answer is asked again; a package does not install itself."""

    class Failing(WordHash):
        error: nestling.ModelError = nestling.ModelError("the endpoint does not answer; start it")

        def embed_documents(self, texts):  # type: ignore[no-untyped-def]
            raise self.error

    model = Failing()
    with nestling.open(path, create=True, embedder=model) as nest:
        rounds = nestling.watch(nest, docs, quiet=0.1)
        assert next(rounds) is model.error
        model.error = nestling.MissingExtraError("model2vec is not installed; install it")
        (docs / "b.txt").write_text("Second.", "utf-8")
        with pytest.raises(nestling.MissingExtraError):
            list(rounds)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_watching_process_ends_when_it_is_told(docs: Path, path: Path, sent: signal.Signals) -> None:
    """The command prints one JSON value a line for each sync, and ends cleanly with 0 on Ctrl-C and SIGTERM."""
    process = subprocess.Popen(
        [sys.executable, str(WATCHED), "sync", str(docs), "--watch", "--quiet", "0.2", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NESTLING_NEST": str(path), "PYTHONPATH": os.pathsep.join(sys.path)},
        # a shell in the background lets its children ignore Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        assert (first["added"], first["nest"]) == (["a.md"], str(path))
        (docs / "b.txt").write_text("Second.", "utf-8")
        assert json.loads(process.stdout.readline())["added"] == ["b.txt"]
        process.send_signal(sent)
        out, errors = process.communicate(timeout=LONG)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, out) == (0, "")
    assert errors == "nestling: stopped watching; every document stored so far is whole\n"
    with nestling.open(path, embedder=WordHash()) as nest:
        assert len(nest.list()) == 2
        assert nest.check() == []
