"""What can be wrong with a nest's file, found by reading only."""

from __future__ import annotations

import sqlite3

import numpy as np

from nestling.stores.quantize import unpack

# each gives one sentence a row, or none where all is well
_QUERIES = (
    "SELECT 'parent ' || p.id || ' has no document' FROM parents p"
    " WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.row = p.document)",
    "SELECT 'child row ' || c.row || ' has no parent' FROM children c"
    " WHERE NOT EXISTS (SELECT 1 FROM parents p WHERE p.row = c.parent AND p.document = c.document)",
    "SELECT 'parents of ' || d.id || ' do not cover its text' FROM documents d JOIN ("
    "  SELECT document, min(start) a, max(stop) z, sum(stop - start) n, min(stop - start) least,"
    "  count(*) FILTER (WHERE before IS NOT NULL AND before <> start) gaps FROM ("
    "    SELECT document, start, stop, lag(stop) OVER (PARTITION BY document ORDER BY row) before FROM parents)"
    "  GROUP BY document) s ON s.document = d.row"
    " WHERE a <> 0 OR z <> d.characters OR gaps > 0 OR least < 1",
    "SELECT 'children of ' || p.id || ' do not cover it' FROM parents p LEFT JOIN ("
    "  SELECT parent, min(start) a, max(stop) z,"
    "  count(*) FILTER (WHERE before IS NOT NULL AND before < start) gaps FROM ("
    "    SELECT parent, start, stop, lag(stop) OVER (PARTITION BY parent ORDER BY row) before FROM children)"
    "  GROUP BY parent) s ON s.parent = p.row"
    " WHERE s.parent IS NULL OR a <> p.start OR z <> p.stop OR gaps > 0",
    "SELECT 'child row ' || c.row || ' has ' || coalesce(w.n, 0) || ' words, not ' || c.terms FROM children c"
    " LEFT JOIN (SELECT doc, count(*) n FROM postings GROUP BY doc) w ON w.doc = c.row"
    " WHERE coalesce(w.n, 0) <> c.terms",
    "SELECT 'words of child row ' || w.doc || ', which does not exist'"
    " FROM (SELECT DISTINCT doc FROM postings) w WHERE w.doc NOT IN (SELECT row FROM children)",
    "SELECT 'a field of document row ' || document || ', which does not exist' FROM fields"
    " WHERE document NOT IN (SELECT row FROM documents)",
)
_LEVELS = {
    "document": "documents o WHERE EXISTS (SELECT 1 FROM parents p WHERE p.document = o.row) AND",
    "parent": "parents o WHERE",
    "child": "children o WHERE",
}


def found(db: sqlite3.Connection) -> list[str]:
    """A sentence for each damage: of the file's pages, of spans, words, vectors, and of rows without owners."""
    try:
        pages = [row[0] for row in db.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
        if pages:
            return [f"damaged pages: {page}" for page in pages]
        sentences = [row[0] for query in _QUERIES for row in db.execute(query)]
        sentences += [sentence for level in _LEVELS for sentence in _vectors(db, level)]
        texts = db.execute("SELECT id, characters, text FROM documents")
        return sentences + [
            f"the text of {id} has lost characters" for id, n, text in texts if len(text) != n
        ]
    except sqlite3.DatabaseError as error:
        return [f"damaged pages: {error}"]


def _vectors(db: sqlite3.Connection, level: str) -> list[str]:
    missing = db.execute(
        f"SELECT 'no vector of {level} row ' || o.row FROM {_LEVELS[level]}"
        f" NOT EXISTS (SELECT 1 FROM {level}_vectors v WHERE v.row = o.row)"
    )
    wrong = db.execute(
        f"SELECT 'the vector of {level} row ' || row || ' is of the wrong size' FROM {level}_vectors"
        " WHERE length(exact) <> 2 * length(codes) OR length(codes) <>"
        " (SELECT length(codes) FROM child_vectors LIMIT 1)"
    )
    orphans = db.execute(
        f"SELECT 'a vector of {level} row ' || v.row || ', which does not exist' FROM {level}_vectors v"
        f" WHERE v.row NOT IN (SELECT row FROM {_LEVELS[level].split()[0]})"
    )
    return [row[0] for query in (missing, wrong, orphans) for row in query] + _not_finite(db, level)


def _not_finite(db: sqlite3.Connection, level: str) -> list[str]:
    bad = []
    cursor = db.execute(f"SELECT row, exact FROM {level}_vectors WHERE length(exact) = 2 * length(codes)")
    while rows := cursor.fetchmany(4096):
        sizes = {len(row[1]) for row in rows}
        if len(sizes) == 1:
            finite = np.isfinite(unpack(row[1] for row in rows)).all(axis=1)
            bad += [rows[i][0] for i in np.flatnonzero(~finite)]
    return [f"the vector of {level} row {row} is not finite" for row in bad]
