"""Files beside a nest cost time at most, never a wrong answer (promise 5)."""

from __future__ import annotations

import gc
import json
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import numpy as np
import pytest
from cached import (
    MAPPED,
    answers,
    answers_of,
    catch_up,
    changed,
    plain_answers,
    small_sizes,
    uncached,
    written,
)
from entries import BUILD, entry

import nestling
from nestling.ingest.load import load
from nestling.stores import layouts
from nestling.stores.sqlite import SQLiteStore, cache_folder
from nestling.types import Document
from wordhash import WordHash

WORKER = Path(__file__).with_name("cache_worker.py")


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    small_sizes(monkeypatch.setattr)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A nest of 40 documents with files beside it, some documents gone since; closed."""
    path = tmp_path_factory.mktemp("made") / "test.nest"
    with pytest.MonkeyPatch.context() as patch:
        small_sizes(patch.setattr)
        store = SQLiteStore.create(path, BUILD)
        chance = random.Random(1)
        for n in range(40):
            written(store, n, chance)
        for _ in range(25):
            changed(store, chance)
            catch_up(store)
        store.close()
    sizes = [file.stat().st_size for file in segments(path)]
    assert min(sizes) < MAPPED < max(sizes)
    return path


@pytest.fixture
def cached(made: Path, path: Path) -> Path:
    """A copy of it."""
    shutil.copy(made, path)
    shutil.copytree(cache_folder(made), cache_folder(path))
    return path


def segments(path: Path) -> list[Path]:
    """The files of the cache."""
    return sorted(cache_folder(path).glob("*.segment"))


def files(path: Path) -> list[Path]:
    """All that is in the folder of the cache, but for the lock, which is empty."""
    return sorted(file for file in cache_folder(path).iterdir() if file.name != "lock")


def asked(path: Path) -> list[object]:
    """What a fresh store answers."""
    store = SQLiteStore(path)
    try:
        return answers(store)
    finally:
        store.close()


def serving(path: Path) -> dict[str, object]:
    """What serves, as a fresh store says."""
    store = SQLiteStore(path)
    with store.view() as view:
        found: dict[str, object] = view.stats()["search"]
    store.close()
    return found


def flipped(data: bytes, at: int, bit: int = 0) -> bytes:
    """The data with one bit changed."""
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def test_files_do_not_change_answers(path: Path) -> None:
    """Through a hundred changes, answers with files are those without, in the store that writes and in others."""
    store, other = SQLiteStore.create(path, BUILD), SQLiteStore(path)
    chance = random.Random(3)
    names = set()
    for n in range(100):
        changed(store, chance)
        if n % 3 == 0:
            assert answers(store, n) == plain_answers(path, n)
        if n % 7 == 0:
            assert answers(other, n) == plain_answers(path, n)
        names |= {file.name for file in segments(path)} if cache_folder(path).exists() else set()
    assert len(names) > 5
    store.close()
    other.close()


def test_numpy_and_numkong_answer_alike(cached: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever multiplies, the lists are the same to the last decimal."""
    pytest.importorskip("numkong")
    assert serving(cached)["products"] == "numkong"
    fast = asked(cached)
    monkeypatch.setattr("nestling.stores.scan.simd", lambda: None)
    assert serving(cached)["products"] == "numpy"
    assert asked(cached) == fast


def test_a_small_nest_keeps_no_files(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files come with size: below it rows are in memory, and stats says so; from it on they are in files."""
    monkeypatch.setattr(layouts, "FILES_FROM", 4)
    store = SQLiteStore.create(path, BUILD)
    store.replace(entry("a", [["one", "two"], ["three"]]))
    answers(store)
    assert not cache_folder(path).exists()
    assert serving(path)["rows"] == "memory"
    store.replace(entry("b", [["four"]]))
    answers(store)
    found = serving(path)
    assert (found["rows"], found["folder"], found["change"]) == ("files", str(cache_folder(path)), 2)
    assert found["bytes"] == sum(file.stat().st_size for file in segments(path)) > 0
    store.close()


def test_files_are_no_documents(cached: Path) -> None:
    """A folder that holds a nest is read without the nest and without the files beside it."""
    store = SQLiteStore(cached)
    (cached.parent / "note.txt").write_text("a note")
    found = list(load(cached.parent, closed=store.own_files()))
    assert [each.id for each in found if isinstance(each, Document)] == ["note.txt"]
    assert len(found) == 1
    store.close()


def test_files_are_made_once_for_all_processes(cached: Path) -> None:
    """Who comes later, in this or another process, reads what is there and writes nothing."""
    expected = asked(cached)
    before = {file: file.stat().st_mtime_ns for file in files(cached)}
    assert asked(cached) == expected
    code = (
        "import sys; from pathlib import Path; from test_cache import asked; from cached import small_sizes;"
        " small_sizes(setattr); print(asked(Path(sys.argv[1])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(cached)], env=environment(), capture_output=True, text=True
    )
    assert done.stdout.strip() == str(expected), done.stderr
    assert {file: file.stat().st_mtime_ns for file in files(cached)} == before


def environment() -> dict[str, str]:
    """For a process that imports what stands beside this file."""
    paths = (str(WORKER.parent), str(WORKER.parent.parent), os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def test_one_addition_writes_no_large_file(cached: Path) -> None:
    """A few changes are caught up with in memory, by every process for itself."""
    store = SQLiteStore(cached)
    answers(store)
    before = files(cached)
    store.replace(entry("new", [["word1 word2"]]))
    assert answers(store) == plain_answers(cached)
    assert files(cached) == before
    store.close()


@pytest.mark.parametrize("damage", ["folder", "manifest", "segments"])
def test_deleted_files_are_made_again(cached: Path, damage: str) -> None:
    """Whatever of it is deleted, by a fresh store and by one that has it open, it is made again."""
    expected = plain_answers(cached)
    store = SQLiteStore(cached)
    assert answers(store) == expected
    for opened in (True, False):
        if damage == "folder":
            shutil.rmtree(cache_folder(cached))
        else:
            for file in files(cached):
                if (file.name == "manifest") == (damage == "manifest"):
                    file.unlink()
        assert (answers(store) if opened else asked(cached)) == expected
        assert segments(cached)
        assert serving(cached)["rows"] == "files"
    store.close()


def test_truncated_files_are_made_again(cached: Path) -> None:
    """Each file, cut at any length: noticed, and made again."""
    expected = plain_answers(cached)
    chance = random.Random(5)
    for n in range(24):
        file = chance.choice(files(cached))
        data = file.read_bytes()
        length = (0, 1, len(data) - 1)[n] if n < 3 else chance.randrange(len(data))
        file.write_bytes(data[:length])
        assert asked(cached) == expected
        assert not file.exists() or file.read_bytes() != data[:length]


def test_flipped_bits_give_no_wrong_answer(cached: Path) -> None:
    """Bits, anywhere in the files, by ones and by many: the answer is that without files."""
    expected = plain_answers(cached)
    chance = random.Random(6)
    for n in range(60):
        file = chance.choice(files(cached))
        data = file.read_bytes()
        for _ in range(1 if n % 3 else 40):
            data = flipped(data, chance.randrange(len(data)), chance.randrange(8))
        file.write_bytes(data)
        assert asked(cached) == expected


def arrays(data: bytes) -> dict[str, tuple[int, int]]:
    """Where each array of a file begins and ends, by the index at its end."""
    length = int.from_bytes(data[-24:-16], "little")
    index = json.loads(data[-24 - length : -24])
    sizes = {name: math.prod(each["shape"]) * np.dtype(each["type"]).itemsize for name, each in index.items()}
    return {name: (each["at"], each["at"] + sizes[name]) for name, each in index.items() if sizes[name]}


def test_every_kind_of_damage_is_noticed(cached: Path) -> None:
    """A bit flipped in any array, in the index, or in the manifest: the file is thrown away when it is asked."""
    expected = plain_answers(cached)
    saved = {file.name: file.read_bytes() for file in files(cached)}
    largest = max(segments(cached), key=lambda file: file.stat().st_size).name
    length = len(saved[largest])
    spans = {**arrays(saved[largest]), "index": (length - 2000, length)}
    assert len(spans) > 30
    cases = [(name, largest, begin, end) for name, (begin, end) in spans.items()]
    for name, damaged, begin, end in [*cases, ("manifest", "manifest", 0, len(saved["manifest"]))]:
        shutil.rmtree(cache_folder(cached))
        cache_folder(cached).mkdir()
        for each, data in saved.items():
            bad = flipped(data, (begin + end) // 2, 3) if each == damaged else data
            (cache_folder(cached) / each).write_bytes(bad)
        assert asked(cached) == expected, name
        assert not (cache_folder(cached) / largest).exists(), name


def test_damage_is_noticed_while_it_is_in_use(cached: Path) -> None:
    """Files that are replaced or written to under an open store are looked at anew."""
    store = SQLiteStore(cached)
    expected = answers(store)
    assert expected == plain_answers(cached)
    chance = random.Random(8)
    for _ in range(20):
        file = chance.choice(segments(cached))
        data = flipped(file.read_bytes(), chance.randrange(file.stat().st_size))
        file.write_bytes(data)
        assert answers(store) == expected
    store.close()


@pytest.mark.parametrize("name", ["child.exact", "document.exact", "posting.child", "posting.count"])
def test_damage_is_not_carried_into_new_files(cached: Path, name: str) -> None:
    """Vectors and postings that were damaged before files are joined get no fresh checksums."""
    file = max(segments(cached), key=lambda file: file.stat().st_size)
    data = bytearray(file.read_bytes())
    begin, end = arrays(bytes(data))[name]
    for at in range(begin, end, 8):
        data[at] ^= 1
    file.write_bytes(data)
    store = SQLiteStore(cached)
    for n in range(40):
        if file.exists():
            store.remove([f"d{n:03d}"])
            with store.view() as view:
                # nothing that is damaged is read, so that only the joining meets it
                assert view._layout.change == view.change
    assert not file.exists()
    assert answers(store) == plain_answers(cached)
    store.close()


def test_another_nests_files_are_not_used(cached: Path, tmp_path: Path) -> None:
    """The files of a nest with as many changes, put in the place of this one's: noticed, and made again."""
    other = tmp_path / "other.nest"
    store = SQLiteStore.create(other, BUILD)
    with uncached(cached).view() as view:
        changes = view.change
    for n in range(changes):
        store.replace(entry(f"e{n}", [["word1 word2"], [f"word{n % 60}"]]))
    answers(store)
    store.close()
    shutil.rmtree(cache_folder(cached))
    shutil.copytree(cache_folder(other), cache_folder(cached))
    assert asked(cached) == plain_answers(cached)


@pytest.mark.parametrize("later", [0, 5, 200])
def test_a_restored_backup_does_not_use_files_from_its_future(cached: Path, later: int) -> None:
    """A nest that was put back to an earlier state, and went on otherwise, is not answered from its other life."""
    backup = cached.with_name("backup")
    shutil.copy(cached, backup)
    store = SQLiteStore(cached)
    chance = random.Random(10)
    for _ in range(30):
        changed(store, chance)
    answers(store)
    store.close()
    shutil.copy(backup, cached)
    store = SQLiteStore(cached)
    for _ in range(later):
        changed(store, chance)
    assert answers(store) == plain_answers(cached)
    store.close()
    assert asked(cached) == plain_answers(cached)


def test_another_format_is_made_anew(cached: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a newer or older format count as not being there."""
    monkeypatch.setattr("nestling.stores.cache.manifest.FORMAT", 99)
    assert asked(cached) == plain_answers(cached)
    monkeypatch.undo()
    small_sizes(monkeypatch.setattr)
    assert asked(cached) == plain_answers(cached)


def test_an_older_state_is_answered_while_files_move_on(cached: Path) -> None:
    """A view that was opened before answers for its state, though the files it began with are gone."""
    early, late, writer = SQLiteStore(cached), SQLiteStore(cached), SQLiteStore(cached)
    answers(early)
    before = plain_answers(cached)
    chance = random.Random(11)
    with early.view() as known, late.view() as fresh:
        assert known.stats()["documents"] == fresh.stats()["documents"]
        old = segments(cached)
        for _ in range(60):
            changed(writer, chance)
            catch_up(writer)
        assert not set(old) & set(segments(cached))
        assert answers_of(known) == before
        assert answers_of(fresh) == before
    assert answers(early) == answers(late) == answers(writer) == plain_answers(cached)
    for store in (early, late, writer):
        store.close()


def test_what_cannot_be_written_is_done_without(cached: Path) -> None:
    """Where the folder cannot be made, searching goes on from memory."""
    shutil.rmtree(cache_folder(cached))
    cache_folder(cached).write_text("in the way")
    assert asked(cached) == plain_answers(cached)
    assert serving(cached)["rows"] == "memory"
    assert cache_folder(cached).read_text() == "in the way"


def test_a_full_disk_leaves_no_pieces(cached: Path) -> None:
    """Where there is no room, searching goes on from memory, and nothing half-written stays."""
    expected = plain_answers(cached)
    shutil.rmtree(cache_folder(cached))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, limits[1]))
    try:
        assert asked(cached) == expected
        assert files(cached) == []
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert asked(cached) == expected
    assert segments(cached)


def test_who_cannot_have_the_lock_goes_on_from_memory(cached: Path) -> None:
    """While another writes the files, a few changes are caught up with in memory."""
    store, other = SQLiteStore(cached), SQLiteStore(cached)
    answers(store)
    before = files(cached)
    folder = other._layouts._folder
    assert folder is not None
    with folder.lock(0) as held:
        assert held
        for n in range(30):
            store.replace(entry(f"n{n}", [["word1"]]))
        assert answers(store) == plain_answers(cached)
        assert files(cached) == before
    store.replace(entry("last", [["word1"]]))
    assert answers(store) == plain_answers(cached)
    assert files(cached) != before
    store.close()
    other.close()


def worker(task: str, path: Path, seed: int) -> subprocess.Popen[str]:
    """A process that works on the nest until it is killed."""
    command = [sys.executable, str(WORKER), task, str(path), str(seed)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )


def killed_writers(path: Path, times: int) -> None:
    """Kill a process that adds and writes files, at any moment, so often."""
    chance = random.Random(times)
    for n in range(times):
        process = worker("write", path, n)
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(chance.uniform(0, 0.4))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert asked(path) == plain_answers(path)


def test_killed_while_writing_files(cached: Path) -> None:
    """SIGKILL while files are written: what is left is used or made again, and answers are those without."""
    killed_writers(cached, 6)
    assert not [file for file in files(cached) if file.name.endswith(".tmp")] or asked(cached)


@pytest.mark.slow
def test_killed_often_while_writing_files(cached: Path) -> None:
    """The same, a hundred times."""
    killed_writers(cached, 100)


def test_other_processes_never_see_a_wrong_answer(cached: Path) -> None:
    """While one process writes, and files are deleted and replaced by damaged ones, two others compare answers."""
    chance = random.Random(13)
    processes = [worker(task, cached, n) for n, task in enumerate(("read", "read", "write"))]
    try:
        for process in processes[:2]:
            assert process.stdout is not None
            os.set_blocking(process.stdout.fileno(), False)
        compared = [0, 0]
        while min(compared) < 12:
            time.sleep(0.05)
            vandalize(cached, chance)
            for n, process in enumerate(processes[:2]):
                assert process.stdout is not None
                compared[n] += len(process.stdout.readlines())
            for process in processes:
                assert process.poll() is None, process.communicate()[1][-2000:]
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def vandalize(path: Path, chance: random.Random) -> None:
    """Delete some files, and put damaged ones in the place of others."""
    draft = path.with_name("draft")
    for file in files(path) if cache_folder(path).exists() else []:
        try:
            data = file.read_bytes()
            if chance.random() < 0.2:
                file.unlink()
            elif chance.random() < 0.3 and data:
                draft.write_bytes(flipped(data, chance.randrange(len(data))))
                draft.replace(file)
        except FileNotFoundError:
            continue  # the writer removed it


def test_a_state_goes_with_its_last_use(tmp_path: Path) -> None:
    """A layout that nobody asks any more is let go at once, also after it was filtered, and its files with it."""
    gc.disable()
    try:
        with nestling.open(tmp_path / "x.nest", create=True, embedder=WordHash()) as nest:
            seen = []
            for n in range(4):
                nest.add(Document("one", f"text {n} of a thing", metadata={"n": n}))
                assert nest.search("thing", where={"n": {"$lt": 9}})
                with nest._store.view() as view:
                    seen.append(weakref.ref(view._layout))  # type: ignore[attr-defined]
                    del view
            # the last view may still know the one before
            assert [layout() for layout in seen[:-2]] == [None, None]
    finally:
        gc.enable()
