"""The SQLite store: the contract, and what only a file can show."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
import pytest
from contract import FilterContract, StoreContract, ids, match, nearest
from entries import BUILD, OTHER, entry

from nestling.errors import LockedError, NewerNestError, NotANestError, NotFoundError, StoreError
from nestling.stores import layouts, reading
from nestling.stores.damage import found as damage_found
from nestling.stores.scoped_view import ScopedView
from nestling.stores.sqlite import SQLiteStore
from nestling.stores.sqlite_within import SQLiteViewWithin
from nestling.view import View


@pytest.fixture(params=["file", "memory", "cache"])
def store(
    request: pytest.FixtureRequest, path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SQLiteStore]:
    """An empty store of each kind: in a file, in memory, and in a file that is cached whatever its size."""
    if request.param == "cache":
        for name, size in {"FILES_FROM": 1, "TAIL": 3, "CHANGES": 5, "DRAFT": 2}.items():
            monkeypatch.setattr(layouts, name, size)
        monkeypatch.setattr(reading, "CHUNK", 2)
    store = SQLiteStore.create(":memory:" if request.param == "memory" else path, BUILD)
    yield store
    store.close()


@pytest.fixture(scope="module")
def empty_store() -> Callable[[], AbstractContextManager[SQLiteStore]]:
    """Makes empty stores, for property tests."""

    @contextmanager
    def make() -> Iterator[SQLiteStore]:
        store = SQLiteStore.create(":memory:", BUILD)
        yield store
        store.close()

    return make


class TestContract(StoreContract):
    """The contract of all stores."""


class TestFilters(FilterContract):
    """The contract of all filters."""


def test_a_view_within_bounds_is_told_of_every_question() -> None:
    """What is new in `View` is bounded, or is named here because it reads nothing but the layout, or is refused."""
    asked = {name for name in vars(View) if not name.startswith("_")}
    by_layout = {"nearest", "match", "coverage", "family"}
    by_rows, of_the_nest, refused = {"documents"}, {"editions"}, {"check", "lacking"}
    assert asked - vars(SQLiteViewWithin).keys() == by_layout | by_rows | of_the_nest | refused
    assert asked <= vars(ScopedView).keys()


def test_a_path_without_a_nest_is_refused_and_nothing_is_made(tmp_path: Path) -> None:
    """Opening for reading creates no file and no folder (promise 8)."""
    for path in (tmp_path / "none.nest", tmp_path / "no" / "folder.nest"):
        with pytest.raises(NotFoundError, match=r"none\.nest|folder\.nest"):
            SQLiteStore(path)
    assert list(tmp_path.iterdir()) == []


def test_creating_in_a_missing_folder_says_so(tmp_path: Path) -> None:
    """The folder is named, and not made."""
    with pytest.raises(NotFoundError, match="there is no folder"):
        SQLiteStore.create(tmp_path / "no" / "x.nest", BUILD)


@pytest.mark.parametrize("content", [b"hello, this is text" * 100, b"\0" * 5000])
def test_another_file_is_no_nest(tmp_path: Path, content: bytes) -> None:
    """A file of another kind is refused, created or opened, and left as it is."""
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    for make in (SQLiteStore, lambda p: SQLiteStore.create(p, BUILD)):
        with pytest.raises(NotANestError, match=r"notes\.txt is not a nest"):
            make(path)
    assert path.read_bytes() == content


def test_another_database_is_no_nest(tmp_path: Path) -> None:
    """A SQLite file of another program is refused and left as it is."""
    path = tmp_path / "other.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE t (a)")
    db.close()
    before = path.read_bytes()
    for make in (SQLiteStore, lambda p: SQLiteStore.create(p, BUILD)):
        with pytest.raises(NotANestError):
            make(path)
    assert path.read_bytes() == before


def test_a_newer_nest_is_refused_kindly(path: Path) -> None:
    """A schema number above ours names the upgrade."""
    SQLiteStore.create(path, BUILD).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(NewerNestError, match="pip install -U nestling"):
        SQLiteStore(path)


def test_everything_is_there_after_reopening(path: Path) -> None:
    """Nothing lives only in memory (L12)."""
    store = SQLiteStore.create(path, BUILD, meta={"k": [1, "ü"]})
    store.replace(entry("a", [["alpha"], ["beta"]], metadata={"n": 1}))
    store.close()
    again = SQLiteStore(path)
    assert again.meta == store.meta
    assert again.meta["k"] == [1, "ü"]
    assert len(again.meta["nest"]) == 32
    assert ids(again, "child", match(again, "beta", where={"n": 1})) == ["a§2"]
    assert ids(again, "child", nearest(again, "beta", n=1)) == ["a§2"]
    again.close()


def test_a_closed_store_says_so(path: Path) -> None:
    """Every call after close fails with the way back."""
    store = SQLiteStore.create(path, BUILD)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"), store.view():
        pass
    with pytest.raises(StoreError, match="closed"):
        store.remove(["a"])


def test_a_locked_nest_names_the_holder(path: Path) -> None:
    """After the time-out the error says which process holds the lock and how long it waited."""
    store = SQLiteStore.create(path, BUILD, timeout=0.2)
    script = (
        "import sqlite3, sys, time; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "db.execute('BEGIN IMMEDIATE'); print('locked', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(LockedError, match=rf"locked by .*({other.pid}|another).*waited 0\.2 s"):
            store.replace(entry("a", [["x"]]))
        assert ids(store, "child", match(store, "x")) == []
    finally:
        other.kill()
        other.communicate()
    store.replace(entry("a", [["x"]]))
    assert ids(store, "child", match(store, "x")) == ["a"]
    store.close()


def test_readers_go_on_while_another_writes(path: Path) -> None:
    """While a writer holds the lock, other connections answer from the last commit (L13)."""
    store = SQLiteStore.create(path, BUILD)
    store.replace(entry("a", [["old"]]))
    reader = SQLiteStore(path)
    with store._writing() as db:
        db.execute("DELETE FROM documents WHERE 0")
        assert ids(reader, "child", match(reader, "old")) == ["a"]
    store.replace(entry("a", [["new"]]))
    assert ids(reader, "child", match(reader, "old")) == []
    assert ids(reader, "child", match(reader, "new")) == ["a"]
    reader.close()
    store.close()


def test_threads_share_a_store(path: Path) -> None:
    """Many threads read while others write; every answer is of one committed state."""
    store = SQLiteStore.create(path, BUILD)
    store.replace(entry("a", [["word 0", "word 0"]]))
    wrong: list[object] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            with store.view() as view:
                found = view.read("a")
                rows = view.match("child", [("word",)], 10, None).rows
                texts = view.parents(view.family(rows, rows[:0], rows[:0], None).parent.tolist())
                if found is None or len(rows) != 2 or {p.text for p in texts.values()} != {found[0].text}:
                    wrong.append((found, rows))

    readers = [threading.Thread(target=read) for _ in range(4)]
    for thread in readers:
        thread.start()
    for n in range(60):
        store.replace(entry("a", [[f"word {n}", f"word {n}"]]))
    done.set()
    for thread in readers:
        thread.join()
    assert wrong == []
    store.close()


def test_two_processes_add_at_once(path: Path) -> None:
    """Writers wait for each other and nothing is lost (L14)."""
    SQLiteStore.create(path, BUILD).close()
    script = (
        "import sys; sys.path[:0] = sys.argv[3:];"
        "from entries import entry; from nestling.stores.sqlite import SQLiteStore;"
        "store = SQLiteStore(sys.argv[1]);"
        "[store.replace(entry(f'{sys.argv[2]}{n}', [['word']])) for n in range(40)]"
    )
    here = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    writers = [subprocess.Popen([sys.executable, "-c", script, str(path), who, *here]) for who in "ab"]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0]
    store = SQLiteStore(path)
    with store.view() as view:
        assert view.stats()["documents"] == 80
        assert view.check() == []
    store.close()


def test_reads_on_a_read_only_disk(tmp_path: Path) -> None:
    """Search and check work where nothing can be written (promise 8)."""
    path = tmp_path / "x.nest"
    store = SQLiteStore.create(path, BUILD)
    store.replace(entry("a", [["word"]]))
    store.close()
    mounted = tmp_path / "disk"
    mounted.mkdir()
    if subprocess.run(["mount", "--bind", "-o", "ro", tmp_path, mounted], capture_output=True).returncode:
        pytest.skip("this machine does not let us mount a read-only folder")
    subprocess.run(["mount", "-o", "remount,ro,bind", mounted], check=True)
    try:
        read_only = SQLiteStore(mounted / "x.nest")
        assert ids(read_only, "child", match(read_only, "word")) == ["a"]
        with read_only.view() as view:
            assert view.check() == []
        with pytest.raises(StoreError, match=r"x\.nest"):
            read_only.replace(entry("b", [["word"]]))
        read_only.close()
    finally:
        subprocess.run(["umount", mounted], check=True)


def test_damaged_pages_are_found(path: Path) -> None:
    """Bytes overwritten in the middle of the file make check speak, or reading say what to do."""
    store = SQLiteStore.create(path, BUILD)
    for n in range(200):
        store.replace(entry(f"d{n}", [[f"some words of document {n} "] * 4]))
    store.close()
    data = bytearray(path.read_bytes())
    for at in range(20 * 4096, len(data), 40 * 4096):
        data[at : at + 512] = b"\xa5" * 512
    path.write_bytes(data)
    damaged = SQLiteStore(path)
    with damaged.view() as view:
        assert any("damaged pages" in damage.sentence for damage in view.check())
    damaged.close()


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        ("UPDATE parents SET stop = stop + 1 WHERE id = 'b'", "b: its parents do not cover its text"),
        (
            "UPDATE children SET start = start + 1 WHERE row = 2",
            "a: the children of a parent do not cover it",
        ),
        ("DELETE FROM words WHERE row = 1", "a: a child has no words (a§1::00)"),
        ("INSERT INTO words VALUES (99, 'stray')", "words of child row 99"),
        ("DELETE FROM child_vectors WHERE row = 1", "a: a vector is missing (of a§1::00)"),
        ("DELETE FROM parent_vectors WHERE row = 1", "a: a vector is missing (of a§1)"),
        ("DELETE FROM document_vectors", "b: a vector is missing (of the document)"),
        (
            "UPDATE child_vectors SET exact = zeroblob(3) WHERE row = 1",
            "a: a vector is of the wrong size (of a§1::00)",
        ),
        (
            "UPDATE child_vectors SET exact = CAST(X'007C' || substr(exact, 3) AS BLOB) WHERE row = 1",
            "a: a vector is not finite (of a§1::00)",
        ),
        (
            "UPDATE documents SET text = substr(text, 1, 3) WHERE id = 'b'",
            "b: its text has 3 characters, not 9",
        ),
        (
            "DELETE FROM children WHERE parent = 2",
            "a: the children of a parent do not cover it (a§2 has none)",
        ),
        ("UPDATE editions SET state = 'building'", "0 editions are live, not 1"),
        ("DROP INDEX editions_live; UPDATE editions SET state = 'live'", "2 editions are live, not 1"),
        ("UPDATE editions SET recipe = '{' WHERE edition = 2", "edition 2 does not say its recipe"),
        ("DELETE FROM editions WHERE edition = 2", "rows in parents of edition 2, which does not exist"),
        (
            "DELETE FROM indexed WHERE document = 1 AND edition = 1",
            "a: it is not in edition 1, which is live",
        ),
        (
            "DELETE FROM indexed WHERE document = 1 AND edition = 2",
            "parent a§1 (edition 2) is of an edition that does not hold its document",
        ),
        ("INSERT INTO indexed VALUES (99, 1)", "an edition holds document row 99, which does not exist"),
        ("UPDATE children SET edition = 2 WHERE row = 1", "child row 1 has no parent"),
        (
            "DELETE FROM document_vectors WHERE edition = 2 AND row = 1",
            "a: in edition 2, a vector is missing (of the document)",
        ),
        (
            "UPDATE child_vectors SET codes = x'00', exact = x'0000' WHERE row ="
            " (SELECT max(row) FROM children WHERE edition = 2)",
            "b: in edition 2, a vector is of the wrong size (of b::00)",
        ),
        (
            "UPDATE parents SET stop = 4 WHERE edition = 2 AND id = 'b'",
            "b: in edition 2, its parents do not cover its text (they end at 4 of 9)",
        ),
        (
            "DELETE FROM parents WHERE edition = 2 AND document = 1; DELETE FROM children WHERE edition = 2 AND"
            " document = 1",
            "a: in edition 2, its parents do not cover its text (they end at 0 of 14)",
        ),
        ("INSERT INTO fields VALUES ('n', 'number', 1, 0, 1, 99)", "a field of parent row 99"),
        ("INSERT INTO files VALUES (99, '/x')", "the file of document row 99, which does not exist"),
        (
            "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'editions'",
            "row numbers of editions would be used",
        ),
    ],
)
def test_planted_damage_is_found(path: Path, damage: str, sentence: str) -> None:
    """What needs no analysis is found by the store alone; tests/test_repair.py has the rest."""
    store = SQLiteStore.create(path, BUILD)
    store.begin(OTHER)
    store.replace(entry("a", [["one two "], ["three "]], editions=(1, 2)))
    store.replace(entry("b", [["four five"]], editions=(1, 2)))
    store.close()
    db = sqlite3.connect(path)
    assert list(damage_found(db)) == []
    db.executescript(damage)
    sentences = list(damage_found(db))
    assert any(sentence in found.sentence for found in sentences), sentences
    db.close()


def test_the_change_log_stays_short(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Old entries go, and a reader that fell behind reads everything anew."""
    monkeypatch.setattr("nestling.stores.sqlite_rows.LOGGED", 20)
    store = SQLiteStore.create(path, BUILD)
    store.replace(entry("a", [["first"]]))
    late = SQLiteStore(path)
    assert ids(late, "child", match(late, "first")) == ["a"]
    for n in range(50):
        store.replace(entry("b", [[f"word {n}"]]))
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM changes").fetchone()[0] <= 21
    db.close()
    assert ids(late, "child", match(late, "word")) == ["b"]
    assert ids(late, "child", match(late, "49")) == ["b"]
    late.close()
    store.close()


def test_the_log_beside_the_file_is_cut_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a large document made of it is given back while the nest stays open."""
    monkeypatch.setattr("nestling.stores.sqlite_connections.LOG", 100_000)
    store = SQLiteStore.create(path, BUILD)
    store.replace(entry("large", [["word " * 1_000_000]]))
    log = Path(f"{path}-wal")
    assert log.stat().st_size > 5_000_000
    for n in range(3):
        store.replace(entry("small", [[f"word {n}"]]))
    assert log.stat().st_size < 1_000_000
    store.close()


def test_disk_full_keeps_what_was_stored(path: Path) -> None:
    """A document that finds no room is not there, what was there stays, and the message says what to do."""
    store = SQLiteStore.create(path, BUILD)
    store.replace(entry("a", [["word"]]))
    with store._connections.alone() as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match=r"disk of .* is full"):
        store.replace(entry("b", [["x" * 100_000]]))
    assert ids(store, "child", match(store, "word")) == ["a"]
    with store.view() as view:
        assert view.read("b") is None
        assert view.check() == []
    store.close()


def test_waits_for_a_short_lock(path: Path) -> None:
    """A writer that finds the nest locked for a moment waits and then succeeds."""
    store = SQLiteStore.create(path, BUILD, timeout=10)
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    db.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, lambda: db.execute("COMMIT"))
    began = time.monotonic()
    release.start()
    store.replace(entry("a", [["x"]]))
    assert time.monotonic() - began > 0.2
    release.join()
    db.close()
    store.close()


def test_readers_do_not_wait_for_a_writer_of_the_same_process(path: Path) -> None:
    """While one thread waits for another process's lock, the others go on reading."""
    store = SQLiteStore.create(path, BUILD, timeout=60)
    store.replace(entry("a", [["word"]]))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writer = threading.Thread(target=store.remove, args=(["a"],))
    writer.start()
    time.sleep(0.1)
    assert ids(store, "child", match(store, "word")) == ["a"]
    assert writer.is_alive()
    other.execute("ROLLBACK")
    other.close()
    writer.join()
    assert ids(store, "child", match(store, "word")) == []
    store.close()


def test_the_list_is_exact_among_near_equals(store: SQLiteStore) -> None:
    """Where codes cannot tell vectors apart, the exact ones decide."""
    chance = np.random.default_rng(3)
    centre = chance.normal(size=64)
    vectors = (centre + chance.normal(size=(1500, 64)) * 0.004).astype(np.float32)
    vectors[:, 0] += 40
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors.astype(np.float16).astype(np.float32)
    store.replace(entry("d", [[f"{n}" for n in range(1500)]], vectors=vectors))
    wanted = vectors[7] / np.linalg.norm(vectors[7])
    with store.view() as view:
        found = view.nearest("child", wanted, 50, None)
    np.testing.assert_allclose(found.scores, np.sort(vectors @ wanted)[::-1][:50], atol=2e-6)
