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

from nestling.bounds import EVERYTHING, Bounds
from nestling.errors import LockedError, NotANestError, NotFoundError, StoreError
from nestling.stores import sqlite_editions as editions
from nestling.stores.base import Dropped, EditionsChangedError, Entry, Indexed, OutsideError, Place
from nestling.stores.layouts import Layouts, State
from nestling.stores.mending import STEPS, compact
from nestling.stores.sqlite_backup import back_up
from nestling.stores.sqlite_errors import mapped
from nestling.stores.sqlite_file import (
    MEMORY,
    SCHEMA,
    connect,
    connect_frozen,
    connect_reader,
    identity,
    is_frozen,
    lay_out,
    make,
    read_meta,
    schema_of,
)
from nestling.stores.sqlite_origin import still_from, write_place
from nestling.stores.sqlite_rows import delete, holds, insert
from nestling.stores.sqlite_upgrade import upgrade
from nestling.stores.sqlite_view import SQLiteView
from nestling.stores.sqlite_within import Held, SQLiteViewWithin, inside, outside
from nestling.view import Build, Edition, View

# Pages given back to the disk in one transaction.
SHRUNK = 2000

# Bytes that the write-ahead log is cut back to, after a large document has made it grow.
LOG = 16 << 20


class SQLiteStore:
    """One nest. Threads and forked processes may share it: they read side by side and write in turn.

    Attributes:
        path: As given, or ``:memory:``.
        meta: What the nest says of itself (its id, its scoring), by key.
        bounds: Everything is within them.
    """

    bounds = EVERYTHING

    def __init__(self, path: str | Path, *, timeout: float = 30.0) -> None:
        """Open an existing nest; ``timeout`` is how long, in seconds, to wait for another writer.

        The file of an older Nestling is upgraded, after a backup of it was made beside it.

        Raises:
            NotFoundError: There is no such file.
            NotANestError: The file is something else, or damaged.
            NewerNestError: A newer Nestling wrote it.
            ReadOnlyError: An older Nestling wrote it, and it cannot be upgraded, since nothing can be written.
        """
        self.path = str(path)
        # where the process stands may change later
        self._file = None if self.path == MEMORY else Path(path).absolute()
        self._timeout = timeout
        self._layouts = Layouts(self._file and cache_folder(self._file))
        self._languages: dict[int, dict[str, int]] = {}
        self._held = Held()
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
        try:
            with self._reader() as db:
                schema = schema_of(db, self.path)
            if schema < SCHEMA:
                upgrade(self._file, self.path, timeout)
            with self._reader() as db:
                self.meta = read_meta(db)
        except BaseException:
            self.close()
            raise
        self._inode = self._file.stat().st_ino

    @classmethod
    def create(
        cls,
        path: str | Path,
        build: Build,
        *,
        meta: Mapping[str, Any] | None = None,
        timeout: float = 30.0,
    ) -> SQLiteStore:
        """Make a nest of this build, with these JSON values in its ``meta``, or open the one that is there.

        Raises:
            NotANestError: The file is there and is something else.
            ReadOnlyError: The folder cannot be written.
        """
        if str(path) == MEMORY:
            store = cls(path, timeout=timeout)
            db = store._open_writer()
            lay_out(db, build, meta or {})
            store.meta = read_meta(db)
            return store
        with mapped(str(path), timeout):
            file = Path(path).absolute()
            _refuse_folder(file, str(path))
            if not file.exists() or not file.stat().st_size:
                make(file, build, meta or {}, timeout)
        return cls(path, timeout=timeout)

    @contextmanager
    def view(self, edition: int | None = None, within: Bounds = EVERYTHING) -> Iterator[View]:
        """Hold the last committed state, or what of it is within bounds, for one thread, until the block ends."""
        known = self._layouts.known()
        with self._reader() as db:
            schema_of(db, self.path)
            found = editions.read_edition(db, edition, self.path)
            nest = str(self.meta.get("nest", ""))
            state = State(self._layouts, db, nest, found, known)
            if within:
                yield SQLiteViewWithin(db, found, state, within, self._held)
            else:
                yield SQLiteView(db, found, state, self._languages)

    def reached(self) -> tuple[Edition, ...]:
        """The editions that additions reach, the live one first."""
        with self.view() as view:
            building = (edition for edition in view.editions() if edition.state == "building")
            return (view.edition, *building)

    def replace(
        self,
        entry: Entry,
        instead_of: tuple[str, str] | None = None,
        within: Bounds = EVERYTHING,
        *,
        itself: bool = False,
    ) -> None:
        """Store a document and all that hangs on it in one transaction, in place of what its id had.

        With ``itself`` only in place of a document of the same digest.
        """
        with self._writing() as db:
            if itself and not holds(db, entry):
                return
            live, writable = editions.writable(db)
            if writable != entry.editions or live not in entry.rows:
                raise EditionsChangedError(
                    f"the editions of {self.path} change faster than documents can be made ready; add them again"
                )
            if outside(db, within, entry.document.id):
                raise OutsideError(f"the id {entry.document.id!r} cannot be used here; choose another")
            delete(db, [entry.document.id])
            if instead_of is not None:
                delete(db, inside(db, within, still_from(db, dict([instead_of]))))
            insert(db, entry)

    def remove(
        self, ids: Iterable[str], files: Mapping[str, str] | None = None, within: Bounds = EVERYTHING
    ) -> list[str]:
        """Remove documents in one transaction; returns those that existed, in the order given."""
        wanted = list(dict.fromkeys(ids))
        with self._writing() as db:
            if files is not None:
                wanted = still_from(db, {id: files[id] for id in wanted})
            existing = delete(db, inside(db, within, wanted))
        return [id for id in wanted if id in existing]

    def refile(self, places: Iterable[Place], within: Bounds = EVERYTHING) -> None:
        """Set file and source of documents whose digest is still the same, in one transaction."""
        with self._writing() as db:
            for place in places:
                if inside(db, within, [place.id]):
                    write_place(db, place)

    def keep(self, key: str, value: Any) -> None:
        """Store one JSON value of ``meta``."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))
        self.meta = {**self.meta, key: value}

    def begin(self, build: Build) -> int:
        """Let additions reach an edition of this build from now on; returns its number."""
        with self._writing() as db:
            return editions.begin(db, build)

    def resume(self, edition: int) -> None:
        """Let additions reach a retired edition again."""
        with self._writing() as db:
            editions.resume(db, edition)

    def index(self, edition: int, rows: Mapping[int, Indexed]) -> int:
        """Give an edition the rows of documents that it lacks, in one transaction."""
        with self._writing() as db:
            return editions.index(db, edition, rows)

    def unindex(self, edition: int, ids: Iterable[str]) -> None:
        """Take the rows of documents from an edition that is not live, in one transaction."""
        with self._writing() as db:
            editions.unindex(db, edition, ids)

    def switch(self, edition: int) -> None:
        """Make an edition live and retire the one that was, in one transaction."""
        with self._writing() as db:
            editions.switch(db, edition)

    def retire(self) -> list[int]:
        """Retire what is building; returns the numbers of all retired editions."""
        with self._writing() as db:
            return editions.retire(db)

    def drop(self, edition: int, after: int) -> Dropped:
        """Remove the rows of a few documents from a retired edition, and at last itself."""
        with self._writing() as db:
            return editions.drop(db, edition, after)

    def shrink(self) -> None:
        """Cut free pages off the file's end, where it was made so that this can be; the others are used again."""
        self._enter()
        with self._write_lock, mapped(self.path, self._timeout):
            db = self._open_writer()
            while db.execute("PRAGMA auto_vacuum").fetchone()[0] == 2:
                before = db.execute("PRAGMA freelist_count").fetchone()[0]
                db.execute(f"PRAGMA incremental_vacuum({SHRUNK})").fetchall()
                if not before or db.execute("PRAGMA freelist_count").fetchone()[0] >= before:
                    break

    def mend(self) -> None:
        """Put right what needs no document's text: indexes, rows without owners, the log, the cache."""
        # what was kept of the file may have been read while it was damaged
        self._layouts.discard()
        for step in STEPS:
            with self._writing() as db:
                step(db)
        with self._write_lock, mapped(self.path, self._timeout):
            compact(self._open_writer())
            self.meta = read_meta(self._open_writer())

    def backup(self, to: Path) -> None:
        """Copy the last committed state to a new file, whole or not at all; others may write meanwhile."""
        with self._reader() as db:
            back_up(db, to, self._timeout)

    def own_files(self) -> frozenset[tuple[int, int]]:
        """Device and inode of the nest's own files and folder, which nothing else in this process may open."""
        found = [Path(f"{self._file}{end}") for end in ("", "-wal", "-shm", "-cache")] if self._file else []
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
        self._joint: sqlite3.Connection | None = None
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
            self._layouts.begin_process()

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
                self._writer.execute(f"PRAGMA journal_size_limit = {LOG}")
        assert self._writer is not None
        return self._writer

    @contextmanager
    def together(self) -> Iterator[None]:
        """Commit once what this thread writes in the block; nothing of it, where the block fails."""
        with self._writing() as db:
            self._joint = db
            try:
                yield
            finally:
                self._joint = None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._enter()
        with self._write_lock, mapped(self.path, self._timeout):
            if self._joint is not None:
                # this thread's, or the lock would not be to be had
                with _savepoint(self._joint):
                    yield self._joint
                return
            db = self._open_writer()
            try:
                db.execute("BEGIN IMMEDIATE")
                schema_of(db, self.path)
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise


@contextmanager
def _savepoint(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("SAVEPOINT one")
    try:
        yield
    except BaseException:
        # SQLite itself gives up the whole transaction where the disk is full
        if db.in_transaction:
            db.execute("ROLLBACK TO one")
        raise
    finally:
        if db.in_transaction:
            db.execute("RELEASE one")


def cache_folder(file: Path) -> Path:
    """Where what is derived from a nest is kept; it can be deleted at any time."""
    return file.with_name(f"{file.name}-cache")


def _refuse_folder(file: Path, path: str) -> None:
    if file.is_dir():
        raise NotANestError(f"{path} is a folder; give the path of a nest, or of a new file")
