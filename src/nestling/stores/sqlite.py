"""A nest in one SQLite file: who may write when, and the rows of a document in one transaction."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nestling.errors import NewerNestError, NotANestError, NotFoundError, StoreError
from nestling.stores.base import Entry
from nestling.stores.layout import Layout, read_layout
from nestling.stores.sqlite_errors import mapped
from nestling.stores.sqlite_rows import delete, insert
from nestling.stores.sqlite_view import SQLiteView
from nestling.view import View

APPLICATION_ID = 0x4E455354
SCHEMA = 1
MEMORY = ":memory:"


class SQLiteStore:
    """One nest. Threads may share it: they read side by side and write in turn; so do other processes.

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
        self._timeout = timeout
        self._lock = threading.RLock()
        self._idle: list[sqlite3.Connection] = []
        self._writer: sqlite3.Connection | None = None
        self._layout: Layout | None = None
        self._closed = False
        if self.path == MEMORY:
            self._writer = _connect(MEMORY, timeout)
            self._writer.execute("PRAGMA foreign_keys = ON")
            self.meta: Mapping[str, Any] = {}
            return
        if Path(self.path).is_dir():
            raise NotANestError(f"{self.path} is a folder; give the path of a nest, or of a new file")
        if not Path(self.path).is_file():
            raise NotFoundError(
                f"there is no nest at {self.path}; make one by adding to it"
                " (`nestling add`, or nestling.open with create=True)"
            )
        with self._reader() as db:
            self.meta = _checked_meta(db, self.path)

    @classmethod
    def create(cls, path: str | Path, meta: Mapping[str, Any], *, timeout: float = 30.0) -> SQLiteStore:
        """Make a nest with these JSON values as its ``meta``, or open the one that is there.

        Raises:
            NotANestError: The file is there and is something else.
            ReadOnlyError: The folder cannot be written.
        """
        if str(path) == MEMORY:
            store = cls(path, timeout=timeout)
            assert store._writer is not None
            _lay_out(store._writer, meta, MEMORY)
            store.meta = dict(meta)
            return store
        file = Path(path)
        if file.is_dir():
            raise NotANestError(f"{path} is a folder; give the path of a nest, or of a new file")
        if not file.exists() or file.stat().st_size == 0:
            if not file.parent.is_dir():
                raise NotFoundError(f"there is no folder {file.parent} to make {file.name} in; make it first")
            with mapped(str(path), timeout):
                db = _connect(f"file:{quote(str(file.absolute()))}?mode=rwc", timeout)
                try:
                    _lay_out(db, meta, str(path))
                finally:
                    db.close()
        return cls(path, timeout=timeout)

    @contextmanager
    def view(self) -> Iterator[View]:
        """Hold the last committed state, for one thread, until the block ends."""
        with self._reader() as db:
            yield SQLiteView(db, self._layout_of)

    def replace(self, entry: Entry) -> None:
        """Store a document and all that hangs on it in one transaction, in place of what its id had."""
        with self._writing() as db:
            delete(db, [entry.document.id])
            insert(db, entry)

    def remove(self, ids: Iterable[str]) -> list[str]:
        """Remove documents in one transaction; returns those that existed, in the order given."""
        wanted = list(dict.fromkeys(ids))
        with self._writing() as db:
            existing = delete(db, wanted)
        return [id for id in wanted if id in existing]

    def close(self) -> None:
        """Close every connection; closing twice is fine."""
        with self._lock:
            self._closed = True
            for db in (*self._idle, self._writer):
                if db is not None:
                    db.close()
            self._idle, self._writer = [], None

    def _layout_of(self, db: sqlite3.Connection) -> Layout:
        known = self._layout
        layout = read_layout(db, known)
        if known is None or known.change < layout.change:
            self._layout = layout
        return layout

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        if self.path == MEMORY:
            with self._lock:
                yield self._open_writer()
            return
        with mapped(self.path, self._timeout):
            with self._lock:
                self._refuse_closed()
                db = self._idle.pop() if self._idle else None
            db = db or _connect_reader(self.path, self._timeout)
            try:
                db.execute("BEGIN")
                yield db
            except sqlite3.DatabaseError:
                db.close()
                raise
            finally:
                self._give_back(db)

    def _give_back(self, db: sqlite3.Connection) -> None:
        try:
            db.execute("ROLLBACK")
        except sqlite3.ProgrammingError:
            return  # it was closed after an error
        with self._lock:
            if self._closed:
                db.close()
            else:
                self._idle.append(db)

    def _open_writer(self) -> sqlite3.Connection:
        self._refuse_closed()
        if self._writer is None:
            self._writer = _connect(f"file:{quote(str(Path(self.path).absolute()))}?mode=rw", self._timeout)
            self._writer.execute("PRAGMA synchronous = FULL")
            self._writer.execute("PRAGMA foreign_keys = ON")
        return self._writer

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, mapped(self.path, self._timeout):
            db = self._open_writer()
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(f"the nest {self.path} is closed; open it again with nestling.open")


def _connect(target: str, timeout: float) -> sqlite3.Connection:
    return sqlite3.connect(
        target, timeout=timeout, isolation_level=None, check_same_thread=False, uri=target != MEMORY
    )


def _connect_reader(path: str, timeout: float) -> sqlite3.Connection:
    address = f"file:{quote(str(Path(path).absolute()))}"
    # opened to write, and forbidden to: SQLite can then remove its log's index when the last reader closes
    db = _connect(f"{address}?mode=rw", timeout)
    try:
        db.execute("PRAGMA query_only = ON")
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError as error:
        # on a read-only disk the write-ahead log's index cannot be made; with no log there is nothing in it
        log = Path(f"{path}-wal")
        if error.sqlite_errorname not in ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_READONLY_DIRECTORY"):
            raise
        if log.exists() and log.stat().st_size:
            raise
        db.close()
        db = _connect(f"{address}?mode=ro&immutable=1", timeout)
    return db


def _lay_out(db: sqlite3.Connection, meta: Mapping[str, Any], path: str) -> None:
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("BEGIN IMMEDIATE")
    try:
        if db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0:
            for statement in _statements(files("nestling.stores").joinpath("schema.sql").read_text("utf-8")):
                db.execute(statement)
            rows = [(key, json.dumps(value)) for key, value in meta.items()]
            db.executemany("INSERT INTO meta VALUES (?, ?)", rows)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {SCHEMA}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _statements(script: str) -> Iterator[str]:
    # executescript would commit the transaction that makes the nest appear whole or not at all
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _checked_meta(db: sqlite3.Connection, path: str) -> dict[str, Any]:
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise NotANestError(f"{path} is not a nest; give the path of a nest, or of a new file")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA:
        raise NewerNestError(
            f"{path} has schema {version} and this Nestling knows up to {SCHEMA};"
            " upgrade with `pip install -U nestling`"
        )
    return {key: json.loads(value) for key, value in db.execute("SELECT key, value FROM meta")}
