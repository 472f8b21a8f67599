"""A disk that is full, fails or cannot be written, and Ctrl-C: what was there stays, and errors say what to do."""

from __future__ import annotations

import itertools
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from pathlib import Path

import pytest

import nestling
from nestling import Document, Nest
from wordhash import WordHash

HERE = Path(__file__).parent
SMALL = [Document(f"d{n}", f"Text {n} of a few. " * 30, metadata={"n": n}) for n in range(10)]
LARGE = [Document(f"l{n}", f"Text {n} of many that take room. " * 3000) for n in range(6)]
# work that needs more room than there is
WORK: dict[str, Callable[[Nest, Path], object]] = {
    "add": lambda nest, folder: nest.add(LARGE),
    "replace": lambda nest, folder: nest.add(Document("d0", LARGE[0].text * 3)),
    "backup": lambda nest, folder: nest.backup(folder / "copy.nest"),
    "export": lambda nest, folder: nest.export(folder / "lines.jsonl"),
    "repair": lambda nest, folder: nest.repair(),
}


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[Path]:
    """Something mounted at a new folder, where this machine lets us."""
    folder.mkdir()
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"this machine does not let us mount: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """No file of this process may grow beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def filled(path: Path, damaged: bool = False) -> None:
    """A nest of ten small documents; damaged so that repair has something to do."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add(SMALL)
    if damaged:
        db = sqlite3.connect(path)
        db.executescript("DELETE FROM child_vectors; DELETE FROM fields")
        db.close()


def fill(disk: Path) -> None:
    """Leave no room."""
    with (disk / "filler").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        file.writelines(itertools.repeat(bytes(4096)))


def assert_as_before(path: Path, names: set[str], allowed: Set[str] = frozenset()) -> None:
    """The ten documents are there and sound, and nothing new is beside the nest."""
    with nestling.open(path, embedder=WordHash()) as nest:
        assert nest.check() == []
        ids = {info.id for info in nest.list()}
        assert {document.id for document in SMALL} <= ids <= {document.id for document in SMALL + LARGE}
        for document in SMALL:
            tree = nest.show(document.id)
            assert tree is not None
            assert tree.document == document
        assert nest.search("text 7", k=1)
    assert {file.name for file in path.parent.iterdir()} - allowed == names


@pytest.mark.parametrize("work", ["add", "replace", "backup", "export"])
def test_a_full_disk_keeps_what_was_stored(tmp_path: Path, work: str) -> None:
    """On a disk of a megabyte the work fails as a full disk; with room it gets through."""
    with mounted(tmp_path / "disk", "-t", "tmpfs", "-o", "size=4m", "tmpfs") as disk:
        # while it is made, the log of a nest takes more room than the nest
        filled(disk / "x.nest")
        subprocess.run(["mount", "-o", "remount,size=1m", disk], check=True)
        if work in ("backup", "export"):
            fill(disk)
        names = {file.name for file in disk.iterdir()}
        with nestling.open(disk / "x.nest", embedder=WordHash()) as nest:
            with pytest.raises(
                nestling.FullError, match=r"disk of .* is full; nothing .*; make room and run"
            ):
                WORK[work](nest, disk)
            assert nest.check() == []
            assert list(nest.search("text 7", k=1))
        # SQLite needs room to put its log into the file, and leaves it where there is none
        assert_as_before(disk / "x.nest", names, {"x.nest-wal", "x.nest-shm"})
        subprocess.run(["mount", "-o", "remount,size=20m", disk], check=True)
        with nestling.open(disk / "x.nest", embedder=WordHash()) as nest:
            WORK[work](nest, disk)
            assert nest.check() == []
        assert not {file.name for file in disk.iterdir()} & {"x.nest-wal", "x.nest-shm"}


@pytest.mark.parametrize("work", WORK)
def test_a_limit_on_file_sizes_keeps_what_was_stored(tmp_path: Path, work: str) -> None:
    """Where a quota stops the work, it fails, says so, and gets through without the quota."""
    path = tmp_path / "x.nest"
    filled(path, damaged=work == "repair")
    with nestling.open(path, embedder=WordHash()) as nest:
        before = nest.check()
        # a log already written takes room as well
        limit = {"export": 2_000}.get(work, path.stat().st_size - 20_000 if work != "add" else 300_000)
        with (
            files_of_at_most(limit),
            pytest.raises(nestling.StoreError, match=r"disk of .* full.*; nothing .*; .*run it again"),
        ):
            WORK[work](nest, tmp_path)
        assert nest.check() == before
    assert {file.name for file in tmp_path.iterdir()} == {"x.nest"}
    if work != "repair":
        assert_as_before(path, {"x.nest"})
    with nestling.open(path, embedder=WordHash()) as nest:
        WORK[work](nest, tmp_path)
        assert nest.check() == []


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """On a read-only disk everything that writes says so and changes nothing; reading goes on."""
    filled(tmp_path / "x.nest", damaged=False)
    source = tmp_path / "source"
    source.mkdir()
    filled(source / "x.nest")
    with mounted(tmp_path / "disk", "--bind", str(source)) as disk:
        subprocess.run(["mount", "-o", "remount,ro,bind", disk], check=True)
        with nestling.open(disk / "x.nest", embedder=WordHash()) as nest:
            for work in ("add", "replace"):
                with pytest.raises(nestling.StoreError, match=r"x\.nest .*; check"):
                    WORK[work](nest, disk)
            for work in ("backup", "export"):
                with pytest.raises(
                    nestling.ReadOnlyError, match=r"cannot be made: .*; check its permissions"
                ):
                    WORK[work](nest, disk)
                WORK[work](nest, tmp_path)
            with pytest.raises(nestling.StoreError, match=r"; check"):
                nest.remove("d1")
            assert nest.check() == []
        with pytest.raises(nestling.ReadOnlyError):
            nestling.open(disk / "new.nest", create=True, embedder=WordHash())
        assert_as_before(disk / "x.nest", {"x.nest"})
    with nestling.open(tmp_path / "copy.nest", embedder=WordHash()) as copy:
        assert copy.check() == []


def faulty(tmp_path: Path, which: str) -> list[list[str]]:
    """Compile the library that makes a disk fail, and run the sweep on it; returns its lines."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler and Linux")
    # where there is one, a disk in memory: it need not be waited for, but nothing may be executed from some of them
    library = Path(tempfile.mkdtemp(), "faulty_disk.so")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, HERE / "faulty_disk.c", "-ldl"], check=True)
    place = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path)
    done = subprocess.run(
        [sys.executable, HERE / "faulty_disk.py", library, place, which],
        env={**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    shutil.rmtree(place)
    shutil.rmtree(library.parent)
    assert done.returncode == 0, done.stderr
    return [line.split() for line in done.stdout.splitlines()]


def test_a_disk_that_fails_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    """From a sample of writes, syncs and truncations on, all fail: each document is whole, old or new."""
    lines = faulty(tmp_path, "some")
    assert len(lines) == 6
    assert all(int(times) >= 3 for *_, times in lines), lines


@pytest.mark.slow
def test_a_disk_that_fails_anywhere_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    """Every single write, sync and truncation of every kind of work fails in turn."""
    lines = faulty(tmp_path, "all")
    assert len(lines) == 24
    assert all(int(times) >= 5 for *_, times in lines), lines


class _Interrupted(WordHash):
    """Ctrl-C is pressed while the model works on the third call."""

    def embed_documents(self, texts):  # type: ignore[no-untyped-def]
        """Press it."""
        self.count = getattr(self, "count", 0) + 1
        if self.count == 3:
            signal.raise_signal(signal.SIGINT)
        return super().embed_documents(texts)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C is heard; a shell that runs the tests in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_while_repairing(tmp_path: Path) -> None:
    """Documents done so far are repaired, the others are as they were, and the next repair finishes."""
    path = tmp_path / "x.nest"
    filled(path, damaged=True)
    with nestling.open(path, embedder=_Interrupted()) as nest:
        assert len({sentence.split(":")[0] for sentence in nest.check()}) == 10
        with pytest.raises(KeyboardInterrupt):
            nest.repair(backup=False)
        assert {sentence.split(":")[0] for sentence in nest.check()} == {f"d{n}" for n in range(2, 10)}
    with nestling.open(path, embedder=WordHash()) as nest:
        assert nest.repair(backup=False).left == []
    assert_as_before(path, {"x.nest"})


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(
    ("work", "place", "made"),
    [
        ("backup", "nestling.stores.sqlite_backup.heed", "copy.nest"),
        ("export", "nestling.keeping.card", "lines.jsonl"),
    ],
)
def test_ctrl_c_while_copying(
    tmp_path: Path, work: str, place: str, made: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At whatever point it is pressed, nothing is left of the copy, and the next one is whole."""
    monkeypatch.setattr("nestling.stores.sqlite_backup.STEP", 4)
    path = tmp_path / "x.nest"
    filled(path)
    module, _, name = place.rpartition(".")
    was = getattr(sys.modules[module], name)
    for at in (1, 3, 7):
        calls = itertools.count(1)

        def pressed(*given: object, calls: Iterator[int] = calls, at: int = at) -> object:
            if next(calls) == at:
                signal.raise_signal(signal.SIGINT)
            return was(*given)

        monkeypatch.setattr(place, pressed)
        with nestling.open(path, embedder=WordHash()) as nest:
            with pytest.raises(KeyboardInterrupt):
                WORK[work](nest, tmp_path)
            assert nest.check() == []
        assert_as_before(path, {"x.nest"})
    with nestling.open(path, embedder=WordHash()) as nest:
        WORK[work](nest, tmp_path)
    assert_as_before(path, {"x.nest", made})
