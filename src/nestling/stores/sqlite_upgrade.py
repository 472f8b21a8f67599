"""The file of an older Nestling brought to the present schema: backed up first, then changed in one transaction."""

from __future__ import annotations

import filecmp
import os
import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

from nestling.errors import NotANestError, ReadOnlyError
from nestling.observing import event
from nestling.stores.sqlite_backup import copy_pages
from nestling.stores.sqlite_errors import mapped
from nestling.stores.sqlite_file import SCHEMA, connect, connect_reader, run_script, schema_of


def upgrade(file: Path, path: str, timeout: float) -> None:
    """Upgrade a nest. Of several processes that open it at once, one does it; a kill leaves it old or new.

    Args:
        file: Where it is.
        path: What it is called in messages.
        timeout: Seconds to wait for another writer.

    Raises:
        ReadOnlyError: It, or its folder, cannot be written.
        LockedError: Another process was writing for longer than the time-out.
        FullError: There is no room for the backup or the change; the nest is as it was.
        NotANestError: It does not say how it was built, or comes from before the first release.
    """
    if not (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)):
        raise ReadOnlyError(
            f"{path} was written by an older Nestling and must be upgraded once, which writes to it and makes a"
            " backup beside it; make both writable, or open a copy of it in a folder that can be written"
        )
    with mapped(path, timeout), closing(connect(file, timeout)) as db:
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("BEGIN IMMEDIATE")
        schema = schema_of(db, path)
        if schema == SCHEMA:
            return  # another process was faster
        backup = keep_old(file, schema, timeout)
        for step in range(schema, SCHEMA):
            _step(db, step, path)
        db.execute("COMMIT")
    event("upgraded", nest=path, schema=SCHEMA, former=schema, backup=str(backup))


def _step(db: sqlite3.Connection, schema: int, path: str) -> None:
    try:
        run_script(db, f"upgrade_{schema}.sql")
    except (FileNotFoundError, sqlite3.IntegrityError) as error:
        raise NotANestError(
            f"{path} cannot be upgraded from schema {schema} ({error}); build it anew"
        ) from error
    if schema == 1 and not db.execute("SELECT 1 FROM editions").fetchone():
        raise NotANestError(f"{path} is damaged: it does not say how it was built; restore a backup")


def keep_old(file: Path, schema: int, timeout: float) -> Path:
    """Copy a nest's last committed state to ``NAME.schema-N`` beside it; an older backup is never overwritten.

    Its write lock must be held.

    Returns:
        Where the backup is: the first of ``NAME.schema-N``, ``NAME.schema-N-2``, … that was free, or held the same.
    """
    # one name for all attempts, of which only the one that holds the lock is here
    draft = file.with_name(f".{file.name}.schema-{schema}.tmp")
    draft.unlink(missing_ok=True)
    try:
        with closing(connect_reader(file, timeout)) as source:
            copy_pages(source, draft, timeout)
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        for n in count(1):
            backup = file.with_name(f"{file.name}.schema-{schema}{f'-{n}' if n > 1 else ''}")
            if _placed(draft, backup):
                return backup
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            Path(f"{draft}{end}").unlink(missing_ok=True)
    raise AssertionError("count() does not end")


def _placed(draft: Path, backup: Path) -> bool:
    if backup.exists():
        return filecmp.cmp(draft, backup, shallow=False)
    try:
        os.link(draft, backup)
    except FileExistsError:
        return False
    except OSError:
        # a file system without links
        draft.replace(backup)
    return True
