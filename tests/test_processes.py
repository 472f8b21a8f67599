"""Several processes on one nest: searching beside a writer, and two writers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import nestling
from nestling import Document
from wordhash import WordHash

WRITER = Path(__file__).with_name("killed_writer.py")
ADDER = """
import sys
import nestling
from wordhash import WordHash

path, who, timeout = sys.argv[1:]
with nestling.open(path, create=True, embedder=WordHash(), timeout=float(timeout)) as nest:
    report = nest.add(nestling.Document(f"{who}{n}", f"Document {n} of {who}. " * 40) for n in range(60))
    print(len(report.added))
"""


def start(*arguments: str) -> subprocess.Popen[str]:
    """Another Python, with the tests' modules."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_searching_while_another_process_adds(path: Path) -> None:
    """Every answer is of one commit: no error, and never half of one version and half of another (L13)."""
    writer = start(str(WRITER), str(path))
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "begun\n"
        seen: set[str] = set()
        with nestling.open(path, embedder=WordHash(), timeout=0) as nest:
            ends = time.monotonic() + 1
            while time.monotonic() < ends:
                for passage in nest.search("document version paragraph", k=20):
                    versions = set(re.findall(r"version (\d+)", passage.text))
                    assert versions == {str(passage.metadata["version"])}
                    seen |= versions
                    tree = nest.show(passage.document_id)
                    assert tree is None or len(set(re.findall(r"version (\d+)", tree.document.text))) == 1
            assert writer.poll() is None
        assert len(seen) > 1
    finally:
        writer.kill()
        writer.communicate()


def test_two_processes_make_and_fill_one_nest(path: Path) -> None:
    """Both succeed, and nothing of either is lost (L14)."""
    adders = [start("-c", ADDER, str(path), who, "30") for who in ("first", "second")]
    assert [adder.communicate(timeout=60) for adder in adders] == [("60\n", ""), ("60\n", "")]
    with nestling.open(path, embedder=WordHash()) as nest:
        assert len(nest.list()) == 120
        assert nest.check() == []


def test_a_writer_that_cannot_wait_says_who_is_writing(path: Path) -> None:
    """With a time-out of nothing one of two may fail, by a clear error; what it had added by then is kept (L14)."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add(Document("first0", "The first that is there."))
        with nest._store._writing():
            adder = start("-c", ADDER, str(path), "second", "0.1")
            _, errors = adder.communicate(timeout=60)
        assert adder.returncode == 1
        assert re.search(rf"LockedError: {re.escape(str(path))} is locked by .+; waited 0\.1 s", errors)
        assert [info.id for info in nest.list()] == ["first0"]
        assert nest.check() == []


def test_two_processes_sync_one_folder(path: Path, tmp_path: Path) -> None:
    """Both end well; the nest is that of the folder."""
    folder = tmp_path / "docs"
    folder.mkdir()
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        for n in range(20):
            (folder / f"{n}.md").write_text(f"# Page {n}\n\n{'Words of it. ' * 50}", "utf-8")
        nest.sync(folder)
        for n in range(20):
            (folder / f"{n}.md").rename(folder / f"{n}-new.md") if n % 2 else (folder / f"{n}.md").unlink()
        sync = (
            "import sys, nestling; from wordhash import WordHash;"
            "nestling.open(sys.argv[1], embedder=WordHash()).sync(sys.argv[2])"
        )
        both = [start("-c", sync, str(path), str(folder)) for _ in range(2)]
        assert [each.communicate(timeout=60)[1] for each in both] == ["", ""]
        assert {info.id for info in nest.list()} == {f"{n}-new.md" for n in range(1, 20, 2)}
        assert nest.check() == []


@pytest.mark.parametrize("gone", ["one", "many"])
def test_no_row_of_a_removed_document_stays(path: Path, gone: str) -> None:
    """Parents, children, vectors, words and files go with a document, or with all of them (L4)."""
    import sqlite3

    folder = path.parent / "docs"
    folder.mkdir()
    for n in range(60):
        (folder / f"{n}.txt").write_text(f"Document {n} of many. " * 60, "utf-8")
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add(folder)
        nest.remove("7.txt") if gone == "one" else nest.remove(f"{n}.txt" for n in range(8000))
        assert nest.check() == []
    left = 59 if gone == "one" else 0
    db = sqlite3.connect(path)
    for table in ("documents", "files", "document_vectors"):
        assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (left,), table
    for table in ("parents", "children", "words", "parent_vectors", "child_vectors"):
        assert bool(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]) == bool(left), table
    db.close()
