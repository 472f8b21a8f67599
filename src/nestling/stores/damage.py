"""What can be wrong with a nest's file, found by reading only.

::

    pages, tables ─► rows without owners, row numbers, the log ─► each document
                     (here)                                       damage_rows
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from nestling.errors import NotANestError
from nestling.stores import damage_rows
from nestling.stores.sqlite_editions import read_editions
from nestling.stores.sqlite_errors import READING, is_damage
from nestling.stores.sqlite_file import schema
from nestling.view import Damage, Derive, Told

# rows that nothing leads to: the name of one, and where they are
_ORPHANS = (
    *(
        (
            f"rows in {table} of edition {{}}, which does not exist",
            f"SELECT edition FROM {table} WHERE edition NOT IN (SELECT edition FROM editions)",
        )
        for table in ("indexed", "parents", "children", "document_vectors")
    ),
    (
        "an edition holds document row {}, which does not exist",
        "SELECT document FROM indexed WHERE document NOT IN (SELECT row FROM documents)",
    ),
    ("parent {} has no document", "SELECT id FROM parents WHERE document NOT IN (SELECT row FROM documents)"),
    (
        "parent {} is of an edition that does not hold its document",
        "SELECT id || ' (edition ' || edition || ')' FROM parents p WHERE NOT EXISTS"
        " (SELECT 1 FROM indexed i WHERE i.document = p.document AND i.edition = p.edition)",
    ),
    (
        "child row {} has no parent in its document",
        "SELECT row FROM children c WHERE NOT EXISTS (SELECT 1 FROM parents p"
        " WHERE p.row = c.parent AND p.document = c.document AND p.edition = c.edition)",
    ),
    *(
        (
            f"a vector of {level} row {{}}, which does not exist",
            f"SELECT row FROM {level}_vectors WHERE row NOT IN (SELECT row FROM {table})",
        )
        for level, table in (("child", "children"), ("parent", "parents"))
    ),
    (
        "a vector of document row {}, which does not exist or has no parents",
        "SELECT row FROM document_vectors v WHERE NOT EXISTS"
        " (SELECT 1 FROM parents p WHERE p.document = v.row AND p.edition = v.edition)",
    ),
    (
        "words of child row {}, which does not exist",
        "SELECT row FROM words WHERE row NOT IN (SELECT row FROM children)",
    ),
    (
        "a field of document row {}, which does not exist",
        "SELECT document FROM fields WHERE document NOT IN (SELECT row FROM documents)",
    ),
    (
        "a field of parent row {}, which does not exist",
        "SELECT parent FROM fields WHERE parent <> 0 AND parent NOT IN (SELECT row FROM parents)",
    ),
    (
        "the file of document row {}, which does not exist",
        "SELECT document FROM files WHERE document NOT IN (SELECT row FROM documents)",
    ),
)
# each gives a sentence a row, or none where all is well
_BOOKS = (
    "SELECT 'the nest has lost its own id' WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = 'nest')",
    *(
        f"SELECT 'the row numbers of {table} would be used again' WHERE (SELECT max({row}) FROM {table})"
        f" > coalesce((SELECT seq FROM sqlite_sequence WHERE name = '{table}'), 0)"
        for table, row in (
            *((t, "row") for t in ("documents", "parents", "children")),
            ("editions", "edition"),
        )
    ),
    "SELECT 'the log of changes has lost entries' FROM"
    " (SELECT count(*) n, max(change) last, max(change) - min(change) + 1 span FROM changes)"
    " WHERE n <> span OR last <> coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0)",
    "SELECT 'the log of changes is empty' WHERE NOT EXISTS (SELECT 1 FROM changes)"
    " AND EXISTS (SELECT 1 FROM documents)",
    "SELECT 'the log of changes says that document row ' || document || ' was '"
    " || CASE added WHEN 1 THEN 'added, which does not exist' ELSE 'removed, which exists' END"
    " FROM (SELECT document, added, max(change) FROM changes WHERE document > 0 GROUP BY document)"
    " WHERE added <> (document IN (SELECT row FROM documents))",
    "SELECT 'the log of changes does not tell that document ' || id || ' was added' FROM documents"
    " WHERE row > (SELECT min(document) FROM changes WHERE added AND document > 0)"
    " AND row NOT IN (SELECT document FROM changes WHERE added)",
)


def found(db: sqlite3.Connection, derive: Derive | None = None, told: Told | None = None) -> Iterator[Damage]:
    """Every damage; where pages or tables are damaged, these only, since what else is read may be wrong."""
    try:
        pages = list(_pages(db))
        structural = [*pages, *_tables(db), *(() if pages else _live(db))]
        if structural:
            yield from structural
            return
        known = read_editions(db)
        yield from _orphans(db)
        for query in _BOOKS:
            yield from (Damage(row[0], "mend") for row in db.execute(query))
        yield from damage_rows.found(db, known, derive, told)
    except READING as error:
        if not is_damage(error):
            raise
        yield Damage(f"damaged pages: {error}", "mend")
    except NotANestError as error:
        yield Damage(str(error), "none")


def _pages(db: sqlite3.Connection) -> Iterator[Damage]:
    for row in db.execute("PRAGMA integrity_check(20)"):
        if row[0] != "ok":
            yield Damage(f"damaged pages: {row[0]}", "mend")


def _tables(db: sqlite3.Connection) -> Iterator[Damage]:
    here = {row[0] for row in db.execute("SELECT name FROM sqlite_schema")}
    for name, kind, _ in schema():
        if name not in here:
            lost = name in ("documents", "meta")
            yield Damage(f"the {kind} {name} is missing", "none" if lost else "mend")


def _live(db: sqlite3.Connection) -> Iterator[Damage]:
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'editions'").fetchone() is None:
        return
    (live,) = db.execute("SELECT count(*) FROM editions WHERE state = 'live'").fetchone()
    if live != 1:
        yield Damage(f"{live} editions are live, not 1", "mend" if live else "none")


def _orphans(db: sqlite3.Connection) -> Iterator[Damage]:
    for sentence, query in _ORPHANS:
        names = [row[0] for row in db.execute(query)]
        if names:
            yield Damage(sentence.format(names[0]) + and_more(len(names)), "mend")


def and_more(count: int) -> str:
    """Say how many more of a kind there are than the one that is named; nothing where it is the only one."""
    return f" (and {count - 1:,} more of this kind)" if count > 1 else ""
