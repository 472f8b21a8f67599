"""The file of a nest: connecting to it, making it whole or not at all, and telling whether it is one."""

from __future__ import annotations

import json
import os
import sqlite3
import uuid
from collections.abc import Mapping
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nestling.errors import NewerNestError, NotANestError, NotFoundError, ReadOnlyError
from nestling.stores.sqlite_editions import insert_edition
from nestling.view import Build

APPLICATION_ID = 0x4E455354
SCHEMA = 2
MEMORY = ":memory:"

# What SQLite answers where the index of its write-ahead log cannot be made: a read-only or a full disk.
_NO_LOG = ("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR_SHM")


def connect(path: Path | None, timeout: float, options: str = "mode=rw") -> sqlite3.Connection:
    """A connection without automatic transactions; ``None`` is a database in memory."""
    target = MEMORY if path is None else f"file:{quote(os.fsencode(path))}?{options}"
    db = sqlite3.connect(
        target, timeout=timeout, isolation_level=None, check_same_thread=False, uri=path is not None
    )
    db.execute("PRAGMA foreign_keys = ON")
    return db


def connect_reader(path: Path, timeout: float) -> sqlite3.Connection:
    """A connection that cannot write.

    It is opened to write, and forbidden to: so SQLite can remove the index of its log when the last reader closes.

    Raises:
        sqlite3.OperationalError: The log cannot be read; without one, `connect_frozen` can.
    """
    db = connect(path, timeout)
    try:
        db.execute("PRAGMA query_only = ON")
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except sqlite3.Error:
        db.close()
        raise
    return db


def is_frozen(path: Path, error: sqlite3.OperationalError) -> bool:
    """Whether reading failed only because nothing can be written beside the file, and no log is there to read."""
    name = error.sqlite_errorname or ""
    log = Path(f"{path}-wal")
    return name.startswith(_NO_LOG) and path.exists() and not (log.exists() and log.stat().st_size)


def connect_frozen(path: Path, timeout: float) -> sqlite3.Connection:
    """A connection to a file that is taken not to change while it is open."""
    return connect(path, timeout, "mode=ro&immutable=1")


def identity(path: Path) -> tuple[int, int, int, int]:
    """What differs once a file was replaced or changed by something else: device, inode, time, size."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


def make(path: Path, build: Build, meta: Mapping[str, Any], timeout: float) -> None:
    """Make the file of a nest, whole or not at all; where another process makes it meanwhile, theirs stays.

    Raises:
        NotFoundError: There is no such folder.
        ReadOnlyError: The folder cannot be written.
    """
    if not path.parent.is_dir():
        raise NotFoundError(f"there is no folder {path.parent} to make {path.name} in; make it first")
    if not os.access(path.parent, os.W_OK):
        raise ReadOnlyError(f"the folder {path.parent} cannot be written; check its permissions")
    draft = path.with_name(f".{path.name[:40]}.{uuid.uuid4().hex}.tmp")
    try:
        db = connect(draft, timeout, "mode=rwc")
        try:
            lay_out(db, build, meta)
            # closing would do it as well, but say nothing where it fails
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            db.close()
        _publish(draft, path)
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            Path(f"{draft}{end}").unlink(missing_ok=True)


def _publish(draft: Path, path: Path) -> None:
    if path.exists() and not path.stat().st_size:
        draft.replace(path)
        return
    try:
        os.link(draft, path)
    except FileExistsError:
        pass  # another process was faster, and its nest is whole too
    except OSError:
        # a file system without links
        if not path.exists():
            draft.replace(path)


def lay_out(db: sqlite3.Connection, build: Build, meta: Mapping[str, Any]) -> None:
    """Make the tables in an empty database, with one live edition; ``meta`` gets the nest's id."""
    # so that room can be given back without writing the whole file anew
    db.execute("PRAGMA auto_vacuum = INCREMENTAL")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("BEGIN IMMEDIATE")
    run_script(db, "schema.sql")
    rows = [(key, json.dumps(value)) for key, value in {**meta, "nest": uuid.uuid4().hex}.items()]
    db.executemany("INSERT INTO meta VALUES (?, ?)", rows)
    insert_edition(db, "live", build)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {SCHEMA}")
    db.execute("COMMIT")


def schema() -> list[tuple[str, str, str]]:
    """Name, kind (table or index) and statement of everything that a nest's file is made of."""
    with closing(connect(None, 0)) as db:
        run_script(db, "schema.sql")
        # automatic indexes come by themselves
        return db.execute(
            "SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL"
            " AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY rowid"
        ).fetchall()


def run_script(db: sqlite3.Connection, name: str) -> None:
    """Run the statements of a script of this package inside the transaction that is open."""
    # executescript would commit it first
    statement = ""
    for line in files("nestling.stores").joinpath(name).read_text("utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""


def schema_of(db: sqlite3.Connection, path: str) -> int:
    """The number of a nest's schema.

    Raises:
        NotANestError: The database is another program's.
        NewerNestError: A newer Nestling wrote it.
    """
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise NotANestError(f"{path} is not a nest; give the path of a nest, or of a new file")
    version: int = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA:
        raise NewerNestError(
            f"{path} has schema {version} and this Nestling knows up to {SCHEMA};"
            " upgrade with `pip install -U nestling`"
        )
    return version


def read_meta(db: sqlite3.Connection) -> dict[str, Any]:
    """What a nest says of itself: its id, and its scoring where one was kept."""
    return {key: json.loads(value) for key, value in db.execute("SELECT key, value FROM meta")}
