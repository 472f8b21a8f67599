"""Does everything that changes files on a disk that fails at each point in turn. Run by test_faults.py.

The library that makes calls fail is loaded before libc; its path is the first argument, an empty folder the second.
The third is `all`, or `some` for a sample.
"""

from __future__ import annotations

import ctypes
import errno
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import nestling
from nestling import Document, Nest
from wordhash import WordHash

LENGTHS = range(8)


def text(n: int, version: int) -> str:
    """Several parents that all name their version."""
    return "\n\n".join(f"Document {n} in version {version}, paragraph {p}. " * 12 for p in range(1 + n % 4))


def documents(version: int) -> list[Document]:
    """All of one version."""
    return [Document(f"d{n}", text(n, version), metadata={"version": version}) for n in LENGTHS]


class Disk:
    """The disk under a folder."""

    def __init__(self, library: str, folder: Path) -> None:
        self._library = ctypes.CDLL(library)
        place = ctypes.create_string_buffer(str(folder).encode())
        ctypes.memmove(
            ctypes.addressof(ctypes.c_char.in_dll(self._library, "fault_folder")), place, len(place)
        )

    def fail(self, at: int, error: int, stays: bool) -> None:
        """Let the call of this number fail, counted from 1 from now on; 0: none."""
        for name, value in (("fault_error", error), ("fault_stays", int(stays))):
            ctypes.c_int.in_dll(self._library, name).value = value
        for name, value in (("fault_failed", 0), ("fault_countdown", at)):
            ctypes.c_long.in_dll(self._library, name).value = value

    def failed(self) -> int:
        """How many calls have failed."""
        return int(ctypes.c_long.in_dll(self._library, "fault_failed").value)


def versions(nest: Nest) -> set[int]:
    """The versions of the documents, each of which must be whole."""
    found = set()
    for info in nest.list():
        tree = nest.show(info.id)
        assert tree is not None
        version = tree.document.metadata["version"]
        assert tree.document.text == text(int(info.id[1:]), version), f"{info.id} is a mixture"
        found.add(version)
    return found


WORK: dict[str, Callable[[Path], object]] = {
    "create": lambda folder: _with(folder / "new.nest", lambda nest: None, create=True),
    "add": lambda folder: _with(folder / "x.nest", lambda nest: nest.add(documents(2))),
    "remove": lambda folder: _with(folder / "x.nest", lambda nest: nest.remove(["d1", "d2"])),
    "backup": lambda folder: _with(folder / "x.nest", lambda nest: nest.backup(folder / "copy.nest")),
    "export": lambda folder: _with(folder / "x.nest", lambda nest: nest.export(folder / "lines.jsonl")),
    "repair": lambda folder: _with(folder / "damaged.nest", lambda nest: nest.repair()),
}


def _with(path: Path, work: Callable[[Nest], object], create: bool = False) -> object:
    with nestling.open(path, create=create, embedder=WordHash()) as nest:
        return work(nest)


def look(folder: Path, name: str, error: Exception | None) -> None:
    """What is there must be whole, whatever happened; what was to be made is there only where nothing failed."""
    with nestling.open(folder / "x.nest", embedder=WordHash()) as nest:
        assert nest.check() == [], (name, nest.check())
        assert versions(nest) <= ({1, 2} if name == "add" else {1})
        assert len(nest.list()) in ((6, 8) if name == "remove" else (8,))
    for made in ("copy.nest", "lines.jsonl", "new.nest"):
        assert error is None or not (folder / made).exists() or (folder / made).stat().st_size, made
    assert not [file for file in folder.iterdir() if file.name.startswith(".")], list(folder.iterdir())
    if (folder / "new.nest").exists():
        with nestling.open(folder / "new.nest", embedder=WordHash()) as nest:
            assert nest.check() == []
    if (folder / "copy.nest").exists():
        with nestling.open(folder / "copy.nest", embedder=WordHash()) as nest:
            assert (nest.check(), versions(nest)) == ([], {1})


def sweep(disk: Disk, pattern: Path, folder: Path, name: str, error: int, stays: bool, thin: bool) -> int:
    """Let one call after another fail, until the work gets through; returns how often it failed.

    With ``thin`` calls are left out, ever more.
    """
    failures, at = 0, 0
    while True:
        at += 1 + (at if thin else 0)
        shutil.rmtree(folder)
        shutil.copytree(pattern, folder)
        raised: Exception | None = None
        disk.fail(at, error, stays)
        try:
            WORK[name](folder)
        except nestling.NestlingError as found:
            raised = found
        assert raised is None or isinstance(raised, nestling.StoreError), repr(raised)
        said = str(raised or "full; ")
        assert "; " in said, said
        assert error != errno.ENOSPC or "full" in said, said
        failed = disk.failed()
        disk.fail(0, 0, False)
        failures += raised is not None
        look(folder, name, raised)
        for made in ("copy.nest", "lines.jsonl"):
            (folder / made).unlink(missing_ok=True)
        WORK[name](folder)
        look(folder, name, None)
        with nestling.open(folder / "damaged.nest", embedder=WordHash()) as nest:
            assert bool(nest.check()) == (name != "repair")
        if not failed:
            return failures


def main(library: str, place: str, which: str) -> None:
    """Print one line for each work and error: how many of its calls were made to fail."""
    pattern, folder = Path(place) / "pattern", Path(place) / "disk"
    pattern.mkdir()
    folder.mkdir()
    for name in ("x.nest", "damaged.nest"):
        _with(pattern / name, lambda nest: nest.add(documents(1)), create=True)
    db = sqlite3.connect(pattern / "damaged.nest")
    db.executescript("DELETE FROM child_vectors WHERE row < 9; DELETE FROM words WHERE rowid > 12")
    db.close()
    disk = Disk(library, folder)
    ways = [(errno.EIO, False), (errno.ENOSPC, True), (errno.EIO, True), (errno.ENOSPC, False)]
    for name in WORK:
        for error, stays in ways if which == "all" else ways[1:2]:
            times = sweep(disk, pattern, folder, name, error, stays, which == "some")
            print(name, errno.errorcode[error], "stays" if stays else "once", times, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
