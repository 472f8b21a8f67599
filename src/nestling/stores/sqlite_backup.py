"""A copy of a nest that others may be writing to, by SQLite's online backup."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from nestling.errors import NotANestError
from nestling.new_file import new_file
from nestling.stores.sqlite_errors import mapped
from nestling.stores.sqlite_file import connect

# Pages copied between two looks at whether Ctrl-C was pressed: 8 MB.
STEP = 2048


def back_up(db: sqlite3.Connection, to: Path, timeout: float) -> None:
    """Copy the state that ``db`` sees to a new file, whole or not at all.

    Args:
        db: A connection inside a read transaction, so that all steps copy the same state.
        to: The new file.
        timeout: Seconds to wait for the new file's lock.

    Raises:
        InputError: There is something at ``to``.
        NotFoundError: There is no folder for it.
        StoreError: It could not be written; nothing is left of it.
    """
    # a deferred transaction begins with its first reading
    db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    with new_file(to) as draft:
        try:
            with mapped(str(to), timeout):
                copy_pages(db, draft, timeout)
        except NotANestError as error:
            # the damage is the nest's, not the copy's: the store names it
            raise (error.__cause__ or error) from None


def heed(status: int, remaining: int, total: int) -> None:
    """Do nothing, between two steps: it is where Python notices Ctrl-C."""


def copy_pages(db: sqlite3.Connection, draft: Path, timeout: float) -> None:
    """Copy the state that ``db`` sees to a file of SQLite's that is made for it."""
    copy = connect(draft, timeout, "mode=rwc")
    try:
        db.backup(copy, pages=STEP, progress=heed)
    finally:
        copy.close()
