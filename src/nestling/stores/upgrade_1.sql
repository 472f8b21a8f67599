-- From schema 1 to schema 2, in one transaction, foreign keys not enforced: what there is becomes edition 1.
-- Afterwards the tables are those of schema.sql.

CREATE TABLE editions (
    edition  INTEGER PRIMARY KEY AUTOINCREMENT,
    state    TEXT NOT NULL CHECK (state IN ('live', 'building', 'retired')),
    recipe   TEXT NOT NULL,
    embedder TEXT NOT NULL,
    spec     TEXT,
    analyzer INTEGER NOT NULL,
    splitter INTEGER NOT NULL,
    made     TEXT,
    switched TEXT,
    turn     INTEGER NOT NULL
);
CREATE UNIQUE INDEX editions_live ON editions (state) WHERE state = 'live';
INSERT INTO editions (edition, state, recipe, embedder, spec, analyzer, splitter, turn)
SELECT 1, 'live', r.value, json_extract(e.value, '$.fingerprint'), json_extract(e.value, '$.spec'), a.value, s.value, 1
FROM (SELECT value FROM meta WHERE key = 'recipe') r, (SELECT value FROM meta WHERE key = 'embedder') e,
     (SELECT value FROM meta WHERE key = 'analyzer') a, (SELECT value FROM meta WHERE key = 'splitter') s;
DELETE FROM meta WHERE key IN ('recipe', 'embedder', 'analyzer', 'splitter');
INSERT INTO meta VALUES ('nest', json_quote(lower(hex(randomblob(16)))));

CREATE TABLE indexed (
    document INTEGER NOT NULL REFERENCES documents (row),
    edition  INTEGER NOT NULL REFERENCES editions (edition),
    PRIMARY KEY (document, edition)
) WITHOUT ROWID;
INSERT INTO indexed SELECT row, 1 FROM documents ORDER BY row;

-- It is not known of any document whether it was read from a file: adding or syncing that again notes it.
CREATE TABLE files (
    document INTEGER PRIMARY KEY REFERENCES documents (row),
    path     TEXT NOT NULL
);

-- Row numbers are never used again, so each new table takes over the counter of the old one.

CREATE TABLE new_parents (
    row      INTEGER PRIMARY KEY AUTOINCREMENT,
    edition  INTEGER NOT NULL REFERENCES editions (edition),
    id       TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (row),
    start    INTEGER NOT NULL,
    stop     INTEGER NOT NULL,
    heading  TEXT NOT NULL,
    metadata TEXT NOT NULL,
    UNIQUE (edition, id)
);
INSERT INTO new_parents SELECT row, 1, id, document, start, stop, heading, metadata FROM parents ORDER BY row;
DELETE FROM sqlite_sequence WHERE name = 'new_parents';
INSERT INTO sqlite_sequence (name, seq) SELECT 'new_parents', seq FROM sqlite_sequence WHERE name = 'parents';
DROP TABLE parents;
ALTER TABLE new_parents RENAME TO parents;
CREATE INDEX parents_document ON parents (document, edition);

CREATE TABLE new_children (
    row      INTEGER PRIMARY KEY AUTOINCREMENT,
    edition  INTEGER NOT NULL REFERENCES editions (edition),
    parent   INTEGER NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (row),
    start    INTEGER NOT NULL,
    stop     INTEGER NOT NULL,
    terms    INTEGER NOT NULL,
    digest   BLOB NOT NULL,
    lead     TEXT NOT NULL
);
INSERT INTO new_children
SELECT row, 1, parent, document, start, stop, terms, digest, lead FROM children ORDER BY row;
DELETE FROM sqlite_sequence WHERE name = 'new_children';
INSERT INTO sqlite_sequence (name, seq) SELECT 'new_children', seq FROM sqlite_sequence WHERE name = 'children';
DROP TABLE children;
ALTER TABLE new_children RENAME TO children;
CREATE INDEX children_document ON children (document, edition);
CREATE INDEX children_digest ON children (digest);

CREATE TABLE new_document_vectors (
    row   INTEGER NOT NULL REFERENCES documents (row),
    edition INTEGER NOT NULL REFERENCES editions (edition),
    scale REAL NOT NULL,
    codes BLOB NOT NULL,
    exact BLOB NOT NULL,
    PRIMARY KEY (row, edition)
);
INSERT INTO new_document_vectors SELECT row, 1, scale, codes, exact FROM document_vectors ORDER BY row;
DROP TABLE document_vectors;
ALTER TABLE new_document_vectors RENAME TO document_vectors;

CREATE INDEX fields_parent ON fields (path, parent) WHERE parent > 0;

CREATE TABLE new_changes (
    change   INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL,
    added    INTEGER NOT NULL,
    edition  INTEGER NOT NULL DEFAULT 0,
    mark     BLOB NOT NULL DEFAULT (randomblob(8))
);
INSERT INTO new_changes (change, document, added) SELECT change, document, added FROM changes ORDER BY change;
DELETE FROM sqlite_sequence WHERE name = 'new_changes';
INSERT INTO sqlite_sequence (name, seq) SELECT 'new_changes', seq FROM sqlite_sequence WHERE name = 'changes';
DROP TABLE changes;
ALTER TABLE new_changes RENAME TO changes;

CREATE TABLE new_words (
    row   INTEGER PRIMARY KEY REFERENCES children (row),
    terms TEXT NOT NULL
);
INSERT INTO new_words SELECT rowid, terms FROM words ORDER BY rowid;
DROP TABLE postings;
DROP TABLE words;
ALTER TABLE new_words RENAME TO words;

PRAGMA user_version = 2;
