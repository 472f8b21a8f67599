"""The editions of a nest's file: read, begun, filled, switched and dropped, inside a transaction of the store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime

from nestling.errors import NotANestError, NotFoundError, SettingError
from nestling.settings import Recipe
from nestling.stores.base import Dropped, EditionsChangedError, Indexed
from nestling.stores.sqlite_rows import delete_indexed, insert_indexed, log_change
from nestling.view import Build, Edition

_COLUMNS = "edition, state, recipe, embedder, analyzer, splitter, spec, made, switched, turn"
# Documents whose rows are removed in one transaction: others wait for the lock no longer than for an addition.
DROPPED = 20


def read_editions(db: sqlite3.Connection) -> tuple[Edition, ...]:
    """All editions, by number."""
    return tuple(map(_edition, db.execute(f"SELECT {_COLUMNS} FROM editions ORDER BY edition")))


def read_edition(db: sqlite3.Connection, number: int | None, path: str) -> Edition:
    """The live edition, or the one with this number.

    Raises:
        NotFoundError: There is none with this number.
        NotANestError: None is live: the file is damaged.
    """
    which, values = ("state = 'live'", ()) if number is None else ("edition = ?", (number,))
    row = db.execute(f"SELECT {_COLUMNS} FROM editions WHERE {which}", values).fetchone()
    if row is not None:
        return _edition(row)
    if number is None:
        raise NotANestError(f"{path} is damaged: no edition of it is live; restore a backup")
    raise NotFoundError(f"{path} has no edition {number}; see `nestling editions`")


def _edition(row: tuple[object, ...]) -> Edition:
    number, state, recipe, embedder, analyzer, splitter, spec, *rest = row
    try:
        sizes = Recipe(**json.loads(recipe))  # type: ignore[arg-type]
    except (TypeError, ValueError, SettingError) as error:
        raise NotANestError(
            f"the nest is damaged: edition {number} does not say its recipe ({error}); restore a backup"
        ) from error
    build = Build(sizes, embedder, analyzer, splitter, spec)  # type: ignore[arg-type]
    return Edition(number, state, build, *rest)  # type: ignore[arg-type]


def insert_edition(db: sqlite3.Connection, state: str, build: Build) -> int:
    """Begin an edition; returns its number."""
    values = (
        state,
        json.dumps(asdict(build.recipe)),
        build.embedder,
        build.spec,
        build.analyzer,
        build.splitter,
        now(),
        int(state == "live"),
    )
    number = db.execute(
        "INSERT INTO editions (state, recipe, embedder, spec, analyzer, splitter, made, turn)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        values,
    ).lastrowid
    assert number is not None
    return number


def now() -> str:
    """The time, as it is noted."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def writable(db: sqlite3.Connection) -> tuple[int, frozenset[int]]:
    """The number of the live edition, and the numbers of all that additions reach."""
    rows = db.execute("SELECT edition, state FROM editions WHERE state <> 'retired'").fetchall()
    live = next((number for number, state in rows if state == "live"), 0)
    return live, frozenset(number for number, _ in rows)


def begin(db: sqlite3.Connection, build: Build) -> int:
    """An edition of this build that additions reach: the live one, one that is there, or a new one."""
    alike = [edition for edition in read_editions(db) if edition.build == build]
    order = ("live", "building", "retired")
    for edition in sorted(alike, key=lambda each: order.index(each.state)):
        resume(db, edition.number)
        return edition.number
    return insert_edition(db, "building", build)


def resume(db: sqlite3.Connection, edition: int) -> None:
    """Let additions reach a retired edition again."""
    db.execute("UPDATE editions SET state = 'building' WHERE edition = ? AND state = 'retired'", (edition,))


def index(db: sqlite3.Connection, edition: int, rows: Mapping[int, Indexed]) -> int:
    """Insert the rows of those of the documents that are there and that the edition lacks."""
    if edition not in writable(db)[1]:
        raise EditionsChangedError(
            f"edition {edition} was retired or removed while it was built; build it again"
        )
    stored = 0
    for document, indexed in sorted(rows.items()):
        lacks = db.execute(
            "SELECT 1 FROM documents WHERE row = :row AND NOT EXISTS"
            " (SELECT 1 FROM indexed WHERE document = :row AND edition = :edition)",
            {"row": document, "edition": edition},
        ).fetchone()
        if lacks:
            insert_indexed(db, edition, document, indexed)
            stored += 1
    if stored:
        log_change(db, 0, True, edition)
    return stored


def unindex(db: sqlite3.Connection, edition: int, ids: Iterable[str]) -> None:
    """Delete the rows of documents from an edition that nobody asks."""
    if edition == writable(db)[0]:
        raise EditionsChangedError(f"edition {edition} is live by now, and must hold every document")
    for id in ids:
        for (row,) in db.execute("SELECT row FROM documents WHERE id = ?", (id,)).fetchall():
            delete_indexed(db, edition, row)
    log_change(db, 0, False, edition)


def switch(db: sqlite3.Connection, edition: int) -> None:
    """Make an edition live, and retire the one that was."""
    live, all_writable = writable(db)
    if edition == live:
        return
    if edition not in all_writable:
        raise EditionsChangedError(f"edition {edition} was retired or removed; build it again")
    (lacking,) = db.execute(
        "SELECT count(*) FROM documents d WHERE NOT EXISTS"
        " (SELECT 1 FROM indexed i WHERE i.document = d.row AND i.edition = ?)",
        (edition,),
    ).fetchone()
    if lacking:
        raise EditionsChangedError(
            f"edition {edition} lacks {lacking:,} documents that were added just now; switch to it again"
        )
    db.execute("UPDATE editions SET state = 'retired' WHERE state = 'live'")
    db.execute(
        "UPDATE editions SET state = 'live', switched = ?, turn = (SELECT max(turn) + 1 FROM editions)"
        " WHERE edition = ?",
        (now(), edition),
    )
    # answers change with it, whoever keeps them by the number of the change
    log_change(db, 0, True)


def retire(db: sqlite3.Connection) -> list[int]:
    """Retire what is building; returns the numbers of all retired editions."""
    db.execute("UPDATE editions SET state = 'retired' WHERE state = 'building'")
    return [
        number for (number,) in db.execute("SELECT edition FROM editions WHERE state = 'retired' ORDER BY 1")
    ]


def drop(db: sqlite3.Connection, edition: int, after: int) -> Dropped:
    """Delete the rows of a few documents from a retired edition; at last, the edition."""
    if (
        db.execute("SELECT 1 FROM editions WHERE edition = ? AND state = 'retired'", (edition,)).fetchone()
        is None
    ):
        return Dropped(0, 0, None)
    documents = [
        row
        for (row,) in db.execute(
            "SELECT document FROM indexed WHERE edition = ? AND document > ? ORDER BY document LIMIT ?",
            (edition, after, DROPPED),
        )
    ]
    if not documents:
        db.execute("DELETE FROM editions WHERE edition = ?", (edition,))
        return Dropped(0, 0, None)
    (children,) = db.execute(
        "SELECT count(*) FROM children WHERE document BETWEEN ? AND ? AND edition = ?",
        (documents[0], documents[-1], edition),
    ).fetchone()
    for document in documents:
        delete_indexed(db, edition, document)
    log_change(db, 0, False, edition)
    return Dropped(len(documents), children, documents[-1])


def edition_sizes(db: sqlite3.Connection) -> dict[int, tuple[int, int]]:
    """Documents and children of each edition."""
    documents = dict(db.execute("SELECT edition, count(*) FROM indexed GROUP BY edition"))
    children = dict(db.execute("SELECT edition, count(*) FROM children GROUP BY edition"))
    return {
        number: (documents.get(number, 0), children.get(number, 0))
        for (number,) in db.execute("SELECT edition FROM editions ORDER BY edition")
    }
