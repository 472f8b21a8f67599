"""A nest in one SQLite file: who may read and write when."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nestling.errors import LockedError, NotANestError, NotFoundError, StoreError
from nestling.stores.base import Entry
from nestling.stores.layout import Layout, read_layout
from nestling.stores.mending import STEPS, compact
from nestling.stores.sqlite_backup import back_up
from nestling.stores.sqlite_errors import mapped
from nestling.stores.sqlite_file import (
    MEMORY,
    connect,
    connect_frozen,
    connect_reader,
    identity,
    is_frozen,
    lay_out,
    make,
    read_meta,
)
from nestling.stores.sqlite_rows import delete, holds, insert
from nestling.stores.sqlite_view import SQLiteView
from nestling.view import View

# Bytes that the write-ahead log is cut back to, after a large document has made it grow.
LOG = 16 << 20


class SQLiteStore:
    """One nest. Threads and forked processes may share it: they read side by side and write in turn.

    Attributes:
        path: As given, or ``:memory:``.
        meta: What was stored when the nest was made (the recipe, the embedder), by key.
    """

    def __init__(self, path: str | Path, *, timeout: float = 30.0) -> None:
        """Open an existing nest; ``timeout`` is how long, in seconds, to wait for another writer.

        Raises:
            NotFoundError: There is no such file.
            NotANestError: The file is something else, or damaged.
            NewerNestError: A newer Nestling wrote it.
        """
        self.path = str(path)
        # where the process stands may change later
        self._file = None if self.path == MEMORY else Path(path).absolute()
        self._timeout = timeout
        self._layout: Layout | None = None
        self._closed = False
        self.meta: Mapping[str, Any] = {}
        self._idle: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._begin_process()
        if self._file is None:
            self._writer = connect(None, timeout)
            return
        _refuse_folder(self._file, self.path)
        if not self._file.is_file():
            raise NotFoundError(
                f"there is no nest at {self.path}; make one by adding to it"
                " (`nestling add`, or nestling.open with create=True)"
            )
        with self._reader() as db:
            self.meta = read_meta(db, self.path)
        self._inode = self._file.stat().st_ino

    @classmethod
    def create(cls, path: str | Path, meta: Mapping[str, Any], *, timeout: float = 30.0) -> SQLiteStore:
        """Make a nest with these JSON values as its ``meta``, or open the one that is there.

        Raises:
            NotANestError: The file is there and is something else.
            ReadOnlyError: The folder cannot be written.
        """
        if str(path) == MEMORY:
            store = cls(path, timeout=timeout)
            lay_out(store._open_writer(), meta)
            store.meta = dict(meta)
            return store
        with mapped(str(path), timeout):
            file = Path(path).absolute()
            _refuse_folder(file, str(path))
            if not file.exists() or not file.stat().st_size:
                make(file, meta, timeout)
        return cls(path, timeout=timeout)

    @contextmanager
    def view(self) -> Iterator[View]:
        """Hold the last committed state, for one thread, until the block ends."""
        with self._reader() as db:
            yield SQLiteView(db, self._layout_of, self._layout)

    def replace(self, entry: Entry, *, itself: bool = False) -> None:
        """Store a document and all that hangs on it in one transaction, in place of what its id had.

        With ``itself`` only in place of a document of the same digest.
        """
        with self._writing() as db:
            if itself and not holds(db, entry):
                return
            delete(db, [entry.document.id])
            insert(db, entry)

    def remove(self, ids: Iterable[str]) -> list[str]:
        """Remove documents in one transaction; returns those that existed, in the order given."""
        wanted = list(dict.fromkeys(ids))
        with self._writing() as db:
            existing = delete(db, wanted)
        return [id for id in wanted if id in existing]

    def keep(self, key: str, value: Any) -> None:
        """Store one JSON value of ``meta``."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))
        self.meta = {**self.meta, key: value}

    def mend(self) -> None:
        """Put right what needs no document's text: indexes, rows without owners, row numbers, the log."""
        for step in STEPS:
            with self._writing() as db:
                step(db)
        with self._write_lock, mapped(self.path, self._timeout):
            compact(self._open_writer())
        # what was kept of the file may have been read while it was damaged
        self._layout = None

    def backup(self, to: Path) -> None:
        """Copy the last committed state to a new file, whole or not at all; others may write meanwhile."""
        with self._reader() as db:
            back_up(db, to, self._timeout)

    def own_files(self) -> frozenset[tuple[int, int]]:
        """Device and inode of the nest's own files, which must not be opened by anything else in this process."""
        found = [Path(f"{self._file}{end}") for end in ("", "-wal", "-shm")] if self._file else []
        return frozenset((file.stat().st_dev, file.stat().st_ino) for file in found if file.exists())

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
            raise StoreError(f"the nest {self.path} is closed; open it again with nestling.open")
        if self._process != os.getpid():
            if self._file is None:
                raise StoreError("a nest in memory cannot be shared with a forked process; open one there")
            # SQLite's connections do not survive a fork, and closing them here would hurt the parent's
            self._left_to_parent = (self._idle, self._writer)
            self._begin_process()

    def _layout_of(self, db: sqlite3.Connection) -> Layout:
        known = self._layout
        layout = read_layout(db, known)
        if known is None or known.change < layout.change:
            self._layout = layout
        return layout

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        self._enter()
        with mapped(self.path, self._timeout):
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
            raise LockedError(f"{self.path} changed while it was read; try again") from error
        finally:
            db.close()
        if identity(self._file) != before:
            raise LockedError(f"{self.path} changed while it was read; try again")

    def _open_writer(self) -> sqlite3.Connection:
        self._enter()
        if self._file is not None:
            if not self._file.exists() or self._file.stat().st_ino != self._inode:
                raise StoreError(f"{self.path} was deleted or replaced while it was open; open it again")
            if self._writer is None:
                self._writer = connect(self._file, self._timeout)
                self._writer.execute("PRAGMA synchronous = FULL")
                self._writer.execute("PRAGMA foreign_keys = ON")
                self._writer.execute(f"PRAGMA journal_size_limit = {LOG}")
        assert self._writer is not None
        return self._writer

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._enter()
        with self._write_lock, mapped(self.path, self._timeout):
            db = self._open_writer()
            try:
                db.execute("BEGIN IMMEDIATE")
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise


def _refuse_folder(file: Path, path: str) -> None:
    if file.is_dir():
        raise NotANestError(f"{path} is a folder; give the path of a nest, or of a new file")
