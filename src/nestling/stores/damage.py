"""What can be wrong with a nest's file, found by reading only."""

from __future__ import annotations

import sqlite3

import numpy as np

from nestling.stores.quantize import unpack

# each gives one sentence a row, or none where all is well
_QUERIES = (
    "SELECT count(*) || ' editions are live, not 1' FROM editions WHERE state = 'live' HAVING count(*) <> 1",
    *(
        f"SELECT DISTINCT 'rows in {table} of edition ' || edition || ', which does not exist' FROM {table}"
        " WHERE edition NOT IN (SELECT edition FROM editions)"
        for table in ("indexed", "parents", "children", "document_vectors")
    ),
    "SELECT d.id || ' is not in edition ' || e.edition || ', which is live' FROM documents d, editions e"
    " WHERE e.state = 'live' AND NOT EXISTS"
    " (SELECT 1 FROM indexed i WHERE i.document = d.row AND i.edition = e.edition)",
    "SELECT 'edition ' || i.edition || ' holds document row ' || i.document || ', which does not exist'"
    " FROM indexed i WHERE i.document NOT IN (SELECT row FROM documents)",
    "SELECT 'parent ' || p.id || ' is of edition ' || p.edition || ', which does not hold its document'"
    " FROM parents p WHERE NOT EXISTS"
    " (SELECT 1 FROM indexed i WHERE i.document = p.document AND i.edition = p.edition)",
    "SELECT 'parent ' || p.id || ' has no document' FROM parents p"
    " WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.row = p.document)",
    "SELECT 'child row ' || c.row || ' has no parent' FROM children c WHERE NOT EXISTS (SELECT 1 FROM parents p"
    " WHERE p.row = c.parent AND p.document = c.document AND p.edition = c.edition)",
    "SELECT 'parents of ' || d.id || ' do not cover its text' FROM documents d JOIN ("
    "  SELECT document, min(start) a, max(stop) z, sum(stop - start) n, min(stop - start) least,"
    "  count(*) FILTER (WHERE before IS NOT NULL AND before <> start) gaps FROM ("
    "    SELECT document, edition, start, stop,"
    "    lag(stop) OVER (PARTITION BY document, edition ORDER BY row) before FROM parents)"
    "  GROUP BY document, edition) s ON s.document = d.row"
    " WHERE a <> 0 OR z <> d.characters OR gaps > 0 OR least < 1",
    "SELECT 'children of ' || p.id || ' do not cover it' FROM parents p LEFT JOIN ("
    "  SELECT parent, min(start) a, max(stop) z,"
    "  count(*) FILTER (WHERE before IS NOT NULL AND before < start) gaps FROM ("
    "    SELECT parent, start, stop, lag(stop) OVER (PARTITION BY parent ORDER BY row) before FROM children)"
    "  GROUP BY parent) s ON s.parent = p.row"
    " WHERE s.parent IS NULL OR a <> p.start OR z <> p.stop OR gaps > 0",
    "SELECT 'a field of document row ' || document || ', which does not exist' FROM fields"
    " WHERE document NOT IN (SELECT row FROM documents)",
    "SELECT 'a field of parent row ' || parent || ', which does not exist' FROM fields"
    " WHERE parent <> 0 AND parent NOT IN (SELECT row FROM parents)",
)
_WITHOUT_PARENTS = (
    "SELECT d.id, i.edition, d.text FROM indexed i JOIN documents d ON d.row = i.document WHERE NOT EXISTS"
    " (SELECT 1 FROM parents p WHERE p.document = i.document AND p.edition = i.edition)"
)
# the owners of a level's vectors: row and edition
_OWNERS = {
    "document": "SELECT DISTINCT document AS row, edition FROM parents",
    "parent": "SELECT row, edition FROM parents",
    "child": "SELECT row, edition FROM children",
}
_VECTORS = {
    "document": "SELECT row, edition, codes, exact FROM document_vectors",
    **{
        level: f"SELECT v.row, o.edition, v.codes, v.exact FROM {level}_vectors v"
        f" LEFT JOIN {table} o ON o.row = v.row"
        for level, table in (("parent", "parents"), ("child", "children"))
    },
}


def found(db: sqlite3.Connection) -> list[str]:
    """A sentence for each damage: of pages, editions, spans, words, vectors, and of rows without owners."""
    try:
        pages = [row[0] for row in db.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
        if pages:
            return [f"damaged pages: {page}" for page in pages]
        sentences = [row[0] for query in _QUERIES for row in db.execute(query)]
        sentences += _words(db)
        sentences += [sentence for level in _OWNERS for sentence in _vectors(db, level)]
        texts = db.execute("SELECT id, characters, text FROM documents")
        sentences += [f"the text of {id} has lost characters" for id, n, text in texts if len(text) != n]
        return sentences + [
            f"{id} has no parents in edition {edition}"
            for id, edition, text in db.execute(_WITHOUT_PARENTS)
            if text and not text.isspace()
        ]
    except sqlite3.DatabaseError as error:
        return [f"damaged pages: {error}"]


def _words(db: sqlite3.Connection) -> list[str]:
    words = {row: len(terms.split()) for row, terms in db.execute("SELECT row, terms FROM words")}
    counted = [
        (row, terms, words.pop(row, 0)) for row, terms in db.execute("SELECT row, terms FROM children")
    ]
    wrong = [f"child row {row} has {n} words, not {terms}" for row, terms, n in counted if n != terms]
    return wrong + [f"words of child row {row}, which does not exist" for row in words]


def _vectors(db: sqlite3.Connection, level: str) -> list[str]:
    owners, vectors = _OWNERS[level], _VECTORS[level]
    missing = db.execute(
        f"SELECT 'no vector of {level} row ' || row FROM (SELECT row, edition FROM ({owners})"
        f" EXCEPT SELECT row, edition FROM ({vectors}))"
    )
    orphans = db.execute(
        f"SELECT 'a vector of {level} row ' || row || ', which does not exist' FROM (SELECT row, edition FROM"
        f" ({vectors}) EXCEPT SELECT row, edition FROM ({owners}))"
    )
    # those of an edition are all of one size
    wrong = db.execute(
        f"SELECT 'the vector of {level} row ' || v.row || ' is of the wrong size' FROM ({vectors}) v JOIN"
        " (SELECT c.edition, length(w.codes) size, min(c.row) FROM children c"
        "  JOIN child_vectors w ON w.row = c.row GROUP BY c.edition) s ON s.edition = v.edition"
        " WHERE length(v.exact) <> 2 * length(v.codes) OR length(v.codes) <> s.size"
    )
    return [row[0] for query in (missing, wrong, orphans) for row in query] + _not_finite(db, level)


def _not_finite(db: sqlite3.Connection, level: str) -> list[str]:
    bad = []
    cursor = db.execute(f"SELECT row, exact FROM {level}_vectors WHERE length(exact) = 2 * length(codes)")
    while rows := cursor.fetchmany(4096):
        by_size: dict[int, list[tuple[int, bytes]]] = {}
        for row, exact in rows:
            by_size.setdefault(len(exact), []).append((row, exact))
        for alike in by_size.values():
            finite = np.isfinite(unpack(exact for _, exact in alike)).all(axis=1)
            bad += [alike[i][0] for i in np.flatnonzero(~finite)]
    return [f"the vector of {level} row {row} is not finite" for row in bad]
