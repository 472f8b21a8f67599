"""The connections of a process to a nest's file: threads read side by side and write in turn."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nestling.errors import LockedError, StoreError
from nestling.stores.sqlite_errors import mapped
from nestling.stores.sqlite_file import (
    connect,
    connect_frozen,
    connect_reader,
    identity,
    is_frozen,
    schema_of,
)

# Bytes that the write-ahead log is cut back to, after a large document has made it grow.
LOG = 16 << 20


class Connections:
    """What one nest is read and written by. A process that is forked gets connections of its own."""

    def __init__(self, path: str, file: Path | None, timeout: float, forked: Callable[[], None]) -> None:
        """Begin.

        Args:
            path: As the nest is called in messages.
            file: The file, or None for a nest in memory.
            timeout: Seconds to wait for another writer.
            forked: Called when it is first used in a process that was forked.
        """
        self._path = path
        self._file = file
        self._timeout = timeout
        self._forked = forked
        self._closed = False
        self._inode: int | None = None
        self._idle: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._begin_process()
        if file is None:
            self._writer = connect(None, timeout)

    def settle(self) -> None:
        """Write from now on to this very file only, and not to one that takes its place."""
        if self._file is not None:
            self._inode = self._file.stat().st_ino

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees the last commit, and nothing newer until the block ends."""
        self._enter()
        with mapped(self._path, self._timeout):
            if self._file is None:
                with self._write_lock:
                    yield self._open_writer()
                return
            with self._pool_lock:
                db = self._idle.pop() if self._idle else None
            try:
                db = db or connect_reader(self._file, self._timeout)
            except sqlite3.OperationalError as error:
                if not is_frozen(self._file, error):
                    raise
                with self._frozen() as db:
                    yield db
                return
            with self._pooled(db):
                yield db

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: committed when the block ends, nothing of it where it fails.

        In such a block of the same thread it is a part of that one's, which can fail for itself.
        """
        with self.alone() as db:
            if db.in_transaction:
                with _part(db):
                    yield db
                return
            try:
                db.execute("BEGIN IMMEDIATE")
                schema_of(db, self._path)
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def alone(self) -> Iterator[sqlite3.Connection]:
        """The connection that writes, outside of a transaction; no other thread has it meanwhile."""
        self._enter()
        with self._write_lock, mapped(self._path, self._timeout):
            yield self._open_writer()

    def close(self) -> None:
        """Close every connection; closing twice is fine."""
        with self._write_lock, self._pool_lock:
            self._closed = True
            for db in (*self._idle, self._writer):
                if db is not None:
                    db.close()
            self._idle, self._writer = [], None

    def _begin_process(self) -> None:
        self._process = os.getpid()
        self._write_lock = threading.RLock()
        self._pool_lock = threading.Lock()
        self._idle, self._writer = [], None

    def _enter(self) -> None:
        if self._closed:
            raise StoreError(f"the nest {self._path} is closed; open it again with nestling.open")
        if self._process != os.getpid():
            if self._file is None:
                raise StoreError("a nest in memory cannot be shared with a forked process; open one there")
            # SQLite's connections do not survive a fork, and closing them here would hurt the parent's
            self._left_to_parent = (self._idle, self._writer)
            self._begin_process()
            self._forked()

    @contextmanager
    def _pooled(self, db: sqlite3.Connection) -> Iterator[None]:
        try:
            db.execute("BEGIN")
            yield
            db.execute("ROLLBACK")
        except BaseException:
            db.close()
            raise
        with self._pool_lock:
            if self._closed:
                db.close()
            else:
                self._idle.append(db)

    @contextmanager
    def _frozen(self) -> Iterator[sqlite3.Connection]:
        """Read a file beside which nothing can be written; another user may still change it."""
        assert self._file is not None
        before = identity(self._file)
        db = connect_frozen(self._file, self._timeout)
        try:
            yield db
        except (sqlite3.DatabaseError, ValueError) as error:
            if identity(self._file) == before:
                raise
            raise LockedError(f"{self._path} changed while it was read; try again") from error
        finally:
            db.close()
        if identity(self._file) != before:
            raise LockedError(f"{self._path} changed while it was read; try again")

    def _open_writer(self) -> sqlite3.Connection:
        self._enter()
        if self._file is not None:
            if not self._file.exists() or self._file.stat().st_ino != self._inode:
                raise StoreError(f"{self._path} was deleted or replaced while it was open; open it again")
            if self._writer is None:
                self._writer = connect(self._file, self._timeout)
                self._writer.execute("PRAGMA synchronous = FULL")
                self._writer.execute(f"PRAGMA journal_size_limit = {LOG}")
        assert self._writer is not None
        return self._writer


@contextmanager
def _part(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        # SQLite itself gives up the whole transaction where the disk is full
        if db.in_transaction:
            db.execute("ROLLBACK TO part")
        raise
    finally:
        if db.in_transaction:
            db.execute("RELEASE part")
