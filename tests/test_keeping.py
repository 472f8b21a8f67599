"""A nest is copied and written out while it is in use, and nothing is lost on the way back."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nestling
from nestling import Document, Nest
from wordhash import WordHash

WRITER = Path(__file__).with_name("killed_writer.py")
ODD = "a\x00b\rc\r\nd\u2028e\u2029f\x85g\x0bh\ufeff👨‍👩‍👧‍👦 é\x1b[31m\u202e"
TEXT = st.text(max_size=40) | st.lists(st.sampled_from([*ODD, "# Head\n\n", "word "]), max_size=30).map(
    "".join
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**300), 10**300)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.lists(
    st.builds(
        Document,
        id=TEXT.filter(lambda id: id and "\0" not in id and not re.search(r"§\d+\Z", id)),
        text=TEXT,
        title=TEXT,
        metadata=st.dictionaries(TEXT, JSON, max_size=4),
        source=st.none() | TEXT,
    ),
    unique_by=lambda document: document.id,
    max_size=4,
)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Another process adds, replaces and removes documents until the block ends."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(WRITER.parent), *sys.path])}
    writer = subprocess.Popen(
        [sys.executable, str(WRITER), str(path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "begun\n"
        yield
        assert writer.poll() is None, "the writer ended, and nothing was shown"
    finally:
        writer.kill()
        writer.communicate()


def contents(nest: Nest) -> list[Document]:
    """Every document, whole."""
    trees = [nest.show(info.id) for info in nest.list()]
    return [tree.document for tree in trees if tree is not None]


def assert_whole(documents: list[Document]) -> None:
    """Each document is of one version, and the versions are those of one moment."""
    for document in documents:
        assert set(re.findall(r"version (\d+)", document.text)) == {str(document.metadata["version"])}
    versions = {int(document.metadata["version"]) for document in documents}
    assert max(versions) - min(versions) <= 5


def test_a_backup_is_consistent_while_another_process_writes(tmp_path: Path, monkeypatch: Any) -> None:
    """Copied in many small steps under a busy writer, every copy is sound and of one moment."""
    monkeypatch.setattr("nestling.stores.sqlite_backup.STEP", 1)
    path = tmp_path / "busy.nest"
    with writing(path), nestling.open(path, embedder=WordHash()) as nest:
        while nest.stats()["change"] < 100:
            pass
        changes = set()
        for n in range(5):
            nest.backup(tmp_path / f"copy{n}.nest")
            with nestling.open(tmp_path / f"copy{n}.nest", embedder=WordHash()) as copy:
                assert copy.check() == []
                assert_whole(contents(copy))
                assert all(passage.text for passage in copy.search("document version", k=50))
                changes.add(copy.stats()["change"])
        assert len(changes) > 1, "the writer did not change anything between the copies"
        for n in range(5):
            nest.export(tmp_path / f"lines{n}.jsonl")
            lines = (tmp_path / f"lines{n}.jsonl").read_text("utf-8").splitlines()
            assert_whole([Document(**json.loads(line)) for line in lines])
    assert sorted(tmp_path.glob(".*")) == []


def test_a_backup_is_a_nest_like_any_other(nest: Nest, path: Path, tmp_path: Path) -> None:
    """It gives the same answers, and can be written without touching the first."""
    nest.add([Document(f"d{n}", f"Text number {n} of many. " * 40, metadata={"n": n}) for n in range(20)])
    nest.backup(tmp_path / "copy.nest")
    with nestling.open(tmp_path / "copy.nest", embedder=WordHash()) as copy:
        assert contents(copy) == contents(nest)
        assert list(copy.search("number 7", k=30)) == list(nest.search("number 7", k=30))
        copy.remove("d7")
    assert nest.show("d7") is not None
    assert {file.name for file in tmp_path.iterdir()} <= {
        "copy.nest",
        *(f"test.nest{e}" for e in ("", "-wal", "-shm")),
    }


def test_a_nest_in_memory_is_backed_up(tmp_path: Path) -> None:
    """What lived only in memory can be put into a file."""
    with nestling.open(":memory:", embedder=WordHash()) as nest:
        nest.add(Document("a", "Some text."))
        nest.backup(tmp_path / "kept.nest")
    with nestling.open(tmp_path / "kept.nest", embedder=WordHash()) as kept:
        assert contents(kept) == [Document("a", "Some text.")]


@pytest.mark.parametrize("method", ["backup", "export"])
def test_nothing_is_overwritten(nest: Nest, path: Path, tmp_path: Path, method: str) -> None:
    """A file, a folder, a link to nothing, the nest itself: each is refused and stays as it is."""
    nest.add(Document("a", "Some text."))
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    before = sorted(tmp_path.iterdir())
    for name in ("notes.txt", "folder", "link", path.name):
        with pytest.raises(nestling.InputError, match=rf"{name} is .*give the path of a new file"):
            getattr(nest, method)(tmp_path / name)
    with pytest.raises(nestling.NotFoundError, match=r"no folder .*make it first"):
        getattr(nest, method)(tmp_path / "no" / "file")
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert nest.check() == []


@pytest.mark.parametrize("method", ["backup", "export"])
def test_a_file_that_comes_meanwhile_is_not_overwritten(
    nest: Nest, tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the file system knows no links, the other file wins and no draft is left."""
    nest.add(Document("a", "Some text."))
    target = tmp_path / "target"
    sync = os.fsync

    def another(handle: int) -> None:
        sync(handle)
        target.write_text("theirs")

    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fsync", another)
    for _ in range(2):
        with pytest.raises(nestling.InputError, match="is there already"):
            getattr(nest, method)(target)
        assert target.read_text() == "theirs"
        assert list(tmp_path.glob(".*")) == []
        target.unlink()
        monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(os, "fsync", sync)
    getattr(nest, method)(target)
    assert target.stat().st_size > 0


@settings(max_examples=25)
@given(DOCUMENTS)
def test_export_and_import_lose_nothing(
    tmp_path_factory: pytest.TempPathFactory, given_: list[Document]
) -> None:
    """Documents come back equal to the character, with every metadata and source, from one line each."""
    folder = tmp_path_factory.mktemp("lines")
    with (
        nestling.open(":memory:", embedder=WordHash()) as nest,
        nestling.open(":memory:", embedder=WordHash()) as again,
    ):
        report = nest.add(given_)
        assert not report.failed
        assert nest.export(folder / "all.jsonl") == nestling.Exported(len(given_), [])
        lines = (folder / "all.jsonl").read_bytes().decode().splitlines()
        assert len(lines) == len(given_)
        stream = io.BytesIO()
        nest.export(stream)
        assert stream.getvalue() == (folder / "all.jsonl").read_bytes()
        assert again.add(folder / "all.jsonl").failed == []
        assert contents(again) == contents(nest)
        assert [repr(d.metadata) for d in contents(again)] == [repr(d.metadata) for d in contents(nest)]
        # what was added from the file and what was there first are the same, so that adding it is free
        assert nest.add(folder / "all.jsonl").unchanged == sorted(d.id for d in given_)
        assert again.check() == []


def test_export_reads_one_document_at_a_time(nest: Nest, tmp_path: Path) -> None:
    """Memory does not grow with the nest: of ten large documents, only two or three are held at once."""
    import tracemalloc

    nest.add(Document(f"d{n}", f"{n}\n" + "long words " * 30_000) for n in range(10))
    tracemalloc.start()
    nest.export(tmp_path / "big.jsonl")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "big.jsonl").stat().st_size > 3_300_000
    assert peak < 2_000_000


def test_what_cannot_be_read_is_named_and_the_rest_exported(nest: Nest, path: Path, tmp_path: Path) -> None:
    """A document whose text is no text any more keeps back no other."""
    import sqlite3

    nest.add([Document("a", "First."), Document("b", "Second."), Document("c", "Third.")])
    with sqlite3.connect(path) as db:
        db.execute("UPDATE documents SET text = CAST(X'FFFE00' AS TEXT) WHERE id = 'b'")
        db.execute("UPDATE documents SET metadata = '{' WHERE id = 'c'")
    db.close()
    done = nest.export(tmp_path / "rest.jsonl")
    assert done.documents == 1
    assert [failure.name for failure in done.failed] == ["b", "c"]
    assert "UTF-8" in done.failed[0].reason
    assert all("restore a backup" in failure.reason for failure in done.failed)
