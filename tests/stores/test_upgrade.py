"""Upgrading the file of an older Nestling: all that it held is there, and a backup of it beside it."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import nestling
from nestling.stores import sqlite_file, sqlite_upgrade
from nestling.stores.base import Place
from nestling.stores.sqlite import SQLiteStore
from nestling.stores.sqlite_upgrade import keep_old
from wordhash import WordHash

FOLDER = Path(__file__).with_name("schema-1")
TESTS = Path(__file__).parents[1]
made = runpy.run_path(str(FOLDER / "make.py"))
OPEN = (
    "import sys; sys.path[:0] = sys.argv[2:]; import nestling.opening; from wordhash import WordHash;"
    "print('begun', flush=True); nestling.open(sys.argv[1], embedder=WordHash()).close(); print('done', flush=True)"
)


@pytest.fixture
def old(path: Path) -> Path:
    """A copy of a nest of schema 1."""
    shutil.copy(FOLDER / "handbook.nest", path)
    return path


def schema(path: Path) -> int:
    """The number in the file."""
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def tables(path: Path) -> dict[str, str]:
    """The definitions of a file's tables, without comments and spaces."""
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    plain = {
        name: "".join(line.partition("--")[0] for line in sql.replace('"', "").splitlines())
        for name, sql in rows
    }
    return {name: "".join(sql.split()) for name, sql in plain.items()}


def opening(path: Path) -> subprocess.Popen[str]:
    """A process that opens a nest."""
    command = [sys.executable, "-c", OPEN, str(path), str(TESTS)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_everything_is_as_it_was(old: Path) -> None:
    """Documents, filters, recipe, scoring, and all that is found but for its rank, are those of the older code."""
    before = json.loads((FOLDER / "answers.json").read_text("utf-8"))
    with nestling.open(old, embedder=WordHash()) as nest:
        now = json.loads(json.dumps(made["answers"](nest)))
        for name in ("list", "trees", "recipe", "scoring"):
            assert now[name] == before[name]
        assert [sorted(ids) for ids in now["filtered"]] == [sorted(ids) for ids in before["filtered"]]
        for question, found in before["search"].items():
            # the score and the order are by the rules of today
            unranked, unranked_before = (
                sorted([id, *rest] for id, _, *rest in each) for each in (now["search"][question], found)
            )
            assert unranked == unranked_before
        assert nest.check() == []
        (edition,) = nest.editions()
        assert (edition.number, edition.state, edition.embedder) == (1, "live", "wordhash-64")
        assert (edition.documents, edition.children, edition.made) == (5, 30, None)


def test_it_answers_as_a_new_nest_of_the_same_documents(old: Path) -> None:
    """Every score, order and context is that of a nest which was never upgraded."""
    with (
        nestling.open(old, embedder=WordHash()) as nest,
        nestling.open(":memory:", embedder=WordHash(), recipe=nest.recipe) as new,
    ):
        new.add(made["documents"]())
        new.keep_scoring(nest.scoring)
        assert new.scoring == nest.scoring
        assert made["answers"](nest) == made["answers"](new)


def test_adding_again_costs_nothing(old: Path) -> None:
    """What is in it is known, and its vectors are used."""
    with nestling.open(old, embedder=WordHash()) as nest:
        report = nest.add(made["documents"]())
        assert (len(report.unchanged), report.embedded) == (5, 0)
        report = nest.add(nestling.Document("iron again", made["TEXTS"]["iron"], "Iron"))
        assert (report.embedded, report.reused) == (0, 1)
        assert nest.check() == []


def test_tables_are_those_of_a_new_nest(old: Path, tmp_path: Path) -> None:
    """An upgraded file cannot be told from a new one by its definitions."""
    nestling.open(old, embedder=WordHash()).close()
    nestling.open(tmp_path / "new.nest", create=True, embedder=WordHash()).close()
    assert schema(old) == schema(tmp_path / "new.nest") == 2
    assert tables(old) == tables(tmp_path / "new.nest")


def test_row_numbers_are_not_used_again(old: Path) -> None:
    """Not even those of rows that were gone before the upgrade."""
    with nestling.open(old, embedder=WordHash()) as nest:
        nest.add(nestling.Document("new", "Some new words."))
    with closing(sqlite3.connect(old)) as db:
        new = {t: db.execute(f"SELECT max(row) FROM {t}").fetchone()[0] for t in ("parents", "children")}
        change = db.execute("SELECT max(change) FROM changes").fetchone()[0]
    assert new == {"parents": 19, "children": 44}
    assert change == 18


def test_files_are_noted_from_then_on(old: Path) -> None:
    """Of no document is it known from which file it was read, so none is removed, until one is found there."""
    store = SQLiteStore(old)
    with store.view() as view:
        assert view.files() == {}
        digest, source = view.known(["iron"])["iron"]
    assert store.remove(["iron"], {"iron": "/x/iron"}) == []
    store.refile([Place("iron", digest, "/x/iron", source)])
    with store.view() as view:
        assert view.files() == {"iron": "/x/iron"}
    assert store.remove(["iron"], {"iron": "/x/iron"}) == ["iron"]
    with store.view() as view:
        assert (view.files(), view.check()) == ({}, [])
    store.close()


def test_the_backup_is_the_old_nest(old: Path) -> None:
    """It has the old schema and every row; a second upgrade of the same state needs no second one."""
    nestling.open(old, embedder=WordHash()).close()
    backup = old.with_name(f"{old.name}.schema-1")
    assert {file.name for file in old.parent.iterdir()} == {old.name, backup.name}
    with closing(sqlite3.connect(backup)) as db, closing(sqlite3.connect(FOLDER / "handbook.nest")) as first:
        assert list(db.iterdump()) == list(first.iterdump())
    shutil.copy(FOLDER / "handbook.nest", old)
    nestling.open(old, embedder=WordHash()).close()
    assert {file.name for file in old.parent.iterdir()} == {old.name, backup.name}


def test_an_older_backup_stays(old: Path) -> None:
    """What is there under that name is left, and another name is taken."""
    older = old.with_name(f"{old.name}.schema-1")
    older.write_bytes(b"an older backup")
    nestling.open(old, embedder=WordHash()).close()
    assert older.read_bytes() == b"an older backup"
    assert schema(old.with_name(f"{old.name}.schema-1-2")) == 1


def test_a_backup_has_what_is_only_in_the_log(path: Path) -> None:
    """The copy is of the last commit, wherever it stands by then."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add(nestling.Document("a", "some words"))
        backup = keep_old(path, 2, 5)
    with nestling.open(backup, embedder=WordHash()) as nest:
        assert [info.id for info in nest.list()] == ["a"]


def upgrade_and_die(path: Path, statement: int) -> bool:
    """Upgrade in a forked process that is killed before its so many-th statement; whether it was."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == signal.SIGKILL
    try:
        left = statement

        def count(_: str) -> None:
            nonlocal left
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

        def connect(*arguments: Any) -> sqlite3.Connection:
            db = sqlite_file.connect(*arguments)
            db.set_trace_callback(count)
            return db

        sqlite_upgrade.connect = connect  # type: ignore[attr-defined]
        sqlite_upgrade.upgrade(path, str(path), 5)
    finally:
        os._exit(0)


def test_killed_at_any_instant_it_is_old_or_new(old: Path) -> None:
    """Before whichever statement the process dies, the next one finds the old nest, whole, and can upgrade it."""
    with closing(sqlite3.connect(old)) as db:
        before = list(db.iterdump())
    killed = 0
    while upgrade_and_die(old, killed + 1):
        killed += 1
        with closing(sqlite3.connect(old)) as db:
            assert list(db.iterdump()) == before, f"killed before statement {killed}"
    assert killed > 30
    assert schema(old) == 2
    with nestling.open(old, embedder=WordHash()) as nest:
        assert nest.check() == []
        assert len(nest.list()) == 5


def test_many_processes_upgrade_once(old: Path) -> None:
    """However many open it at once, all of them succeed, and there is one backup."""
    processes = [opening(old) for _ in range(4)]
    assert [process.communicate(timeout=60)[0] for process in processes] == ["begun\ndone\n"] * 4
    assert {file.name for file in old.parent.iterdir()} == {old.name, f"{old.name}.schema-1"}
    with nestling.open(old, embedder=WordHash()) as nest:
        assert nest.check() == []


def test_where_nothing_can_be_written_it_says_so(old: Path) -> None:
    """On a read-only disk the refusal tells what would have to be written, and how to go on."""
    folder = old.parent
    mounted = folder / "disk"
    mounted.mkdir()
    if subprocess.run(["mount", "--bind", folder, mounted], capture_output=True).returncode:
        pytest.skip("this machine does not let us mount a folder")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", mounted], check=True)
        with pytest.raises(nestling.ReadOnlyError, match=r"older Nestling and must be upgraded.*open a copy"):
            SQLiteStore(mounted / old.name)
    finally:
        subprocess.run(["umount", mounted], check=True)
    assert schema(old) == 1


def test_a_full_disk_leaves_the_old_nest(old: Path, tmp_path: Path) -> None:
    """Where the backup has no room, nothing is changed and nothing is left behind."""
    disk = tmp_path / "disk"
    disk.mkdir()
    size = old.stat().st_size + 100_000
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("this machine does not let us mount a small disk")
    try:
        shutil.copy(old, disk / "x.nest")
        with pytest.raises(nestling.FullError, match="is full"):
            SQLiteStore(disk / "x.nest")
        assert [file.name for file in disk.iterdir()] == ["x.nest"]
        assert schema(disk / "x.nest") == 1
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_nest_that_lost_its_recipe_is_damaged(old: Path) -> None:
    """It is not made into a nest without an edition."""
    with closing(sqlite3.connect(old)) as db:
        db.execute("DELETE FROM meta WHERE key = 'recipe'")
        db.commit()
    with pytest.raises(nestling.NotANestError, match="does not say how it was built"):
        nestling.open(old, embedder=WordHash())
    assert schema(old) == 1
