"""SQLite's errors, mapped where they enter, and who holds a lock."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nestling.errors import FullError, LockedError, NestlingError, NotANestError, ReadOnlyError, StoreError

# What reading a damaged file raises; a text that is none may come as either.
READING = (sqlite3.DatabaseError, UnicodeDecodeError)


@contextmanager
def mapped(path: str, timeout: float) -> Iterator[None]:
    """Turn a SQLite error inside the block into Nestling's, with the cause; ``timeout`` is told in seconds."""
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise _mapped(error, path, timeout) from error
    except json.JSONDecodeError as error:
        raise NotANestError(f"{path} is damaged ({error}); restore a backup") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be reached: {error}; check the path and its permissions") from error


def _mapped(error: sqlite3.Error | UnicodeDecodeError, path: str, timeout: float) -> NestlingError:
    # "SQLITE_BUSY_SNAPSHOT" and the like carry the family's name in front
    name = getattr(error, "sqlite_errorname", None) or ""
    family = "_".join(name.split("_")[:2])
    if family in ("SQLITE_BUSY", "SQLITE_LOCKED"):
        return LockedError(
            f"{path} is locked by {holder(path)}; waited {timeout:g} s; try again when it is done,"
            " or wait longer with a larger timeout"
        )
    if family == "SQLITE_FULL" or name.startswith("SQLITE_IOERR_SHM"):
        return FullError(
            f"the disk of {path} is full; nothing of this change was kept; make room and run it again"
        )
    if family in ("SQLITE_READONLY", "SQLITE_PERM"):
        return ReadOnlyError(f"{path} cannot be written; check its permissions and its folder's")
    if is_damage(error):
        return NotANestError(
            f"{path} is not a nest, or its pages are damaged ({error});"
            " run `nestling check --repair`, or restore a backup"
        )
    if family == "SQLITE_IOERR":
        return StoreError(
            f"the disk of {path} failed ({error}): it is full, a quota or limit is reached, or it is broken;"
            " nothing of this change was kept; mend that and run it again"
        )
    return StoreError(f"{path} cannot be read or written: {error}; check the disk and the file's permissions")


def is_damage(error: BaseException | None) -> bool:
    """Whether SQLite says that a file is no database, that its pages contradict each other, or a text is none."""
    name = getattr(error, "sqlite_errorname", None) or ""
    undecodable = isinstance(error, sqlite3.OperationalError) and "decode" in str(error)
    return (
        undecodable
        or isinstance(error, UnicodeDecodeError)
        or name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT"))
    )


def holder(path: str) -> str:
    """The process that holds a lock on the nest, by the kernel's list of locks where there is one (Linux)."""
    inodes = set()
    for file in (Path(f"{path}-shm"), Path(path)):
        if file.exists():
            inodes.add(str(file.stat().st_ino))
    locks = Path("/proc/locks")
    lines = locks.read_text().splitlines() if locks.exists() else []
    for line in lines:
        parts = line.split()
        if "WRITE" in parts and len(parts) > 5 and parts[5].split(":")[-1] in inodes:
            return _named(parts[4])
    return "another process"


def _named(pid: str) -> str:
    try:
        command = (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        )
    except OSError:
        return f"process {pid}"  # it ended meanwhile, or is another user's
    return f"process {pid} ({command[:80]})" if command else f"process {pid}"
