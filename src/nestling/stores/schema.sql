-- The format of a nest: one SQLite file. application_id 0x4E455354 ("NEST"), user_version 2.
-- A document's rows in all tables change in one transaction. Row numbers are never used again
-- (AUTOINCREMENT), so that a row number names one unchanging content and caches can trust it.

-- nest (a random id, by which what is kept beside the file knows it) and scoring: one JSON value a key.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- An edition is one build's rows for all documents. One is live: it is searched. Additions reach it and those
-- that are building. Retired ones are left alone, but documents are removed from all.
CREATE TABLE editions (
    edition  INTEGER PRIMARY KEY AUTOINCREMENT,
    state    TEXT NOT NULL CHECK (state IN ('live', 'building', 'retired')),
    recipe   TEXT NOT NULL,          -- JSON object: the sizes
    embedder TEXT NOT NULL,          -- fingerprint of the model
    spec     TEXT,                   -- what the model is made from again, if it can be
    analyzer INTEGER NOT NULL,       -- version of what made the terms
    splitter INTEGER NOT NULL,       -- version of what cut
    made     TEXT,                   -- ISO 8601, UTC
    switched TEXT,                   -- when it last became live
    turn     INTEGER NOT NULL        -- grows with each switch; 0: never live
);
CREATE UNIQUE INDEX editions_live ON editions (state) WHERE state = 'live';

-- What the user added. text is stored as given; all offsets below are code points into it.
CREATE TABLE documents (
    row      INTEGER PRIMARY KEY AUTOINCREMENT,
    id       TEXT NOT NULL UNIQUE,
    title    TEXT NOT NULL,
    source   TEXT,
    metadata TEXT NOT NULL,          -- JSON object
    language TEXT NOT NULL,          -- ISO 639-1, '' where it could not be told: the stemmer of its words
    digest   BLOB NOT NULL,          -- of title, text and metadata: equal means unchanged
    characters INTEGER NOT NULL,     -- code points in text (SQLite's length() stops at a NUL)
    text     TEXT NOT NULL           -- last, so that reading the other columns does not read it
);
CREATE INDEX documents_language ON documents (language);

-- Which editions hold which documents: of an empty document nothing else is there to tell.
CREATE TABLE indexed (
    document INTEGER NOT NULL REFERENCES documents (row),
    edition  INTEGER NOT NULL REFERENCES editions (edition),
    PRIMARY KEY (document, edition)
) WITHOUT ROWID;

-- Which file a document was read from: an absolute path, links not followed. What was not read from a file has
-- no row here, and a sync never removes it.
CREATE TABLE files (
    document INTEGER PRIMARY KEY REFERENCES documents (row),
    path     TEXT NOT NULL
);

-- The units that are read and cited; those of a document in an edition cover its text, in row order.
CREATE TABLE parents (
    row      INTEGER PRIMARY KEY AUTOINCREMENT,
    edition  INTEGER NOT NULL REFERENCES editions (edition),
    id       TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (row),
    start    INTEGER NOT NULL,
    stop     INTEGER NOT NULL,
    heading  TEXT NOT NULL,          -- JSON list of headings, outermost first
    metadata TEXT NOT NULL,          -- JSON object: its own, over the document's
    UNIQUE (edition, id)
);
CREATE INDEX parents_document ON parents (document, edition);

-- The units that are embedded and matched; those of a parent cover it, in row order.
CREATE TABLE children (
    row      INTEGER PRIMARY KEY AUTOINCREMENT,
    edition  INTEGER NOT NULL REFERENCES editions (edition),
    parent   INTEGER NOT NULL,       -- parents.row; a foreign key would cost a scan of all children to delete one
    document INTEGER NOT NULL REFERENCES documents (row),
    start    INTEGER NOT NULL,
    stop     INTEGER NOT NULL,
    terms    INTEGER NOT NULL,       -- how many terms it has in words
    digest   BLOB NOT NULL,          -- of the embedded text: equal text is never embedded twice
    lead     TEXT NOT NULL           -- what stands before its text when it is embedded and indexed
);
CREATE INDEX children_document ON children (document, edition);
CREATE INDEX children_digest ON children (digest);

-- Unit vectors: codes are int8, codes * scale approximates the vector (for the scan);
-- exact is float16, little endian (for the score). Parents and documents: the normalised mean of their children.
CREATE TABLE child_vectors (
    row   INTEGER PRIMARY KEY REFERENCES children (row),
    scale REAL NOT NULL,
    codes BLOB NOT NULL,
    exact BLOB NOT NULL
);
CREATE TABLE parent_vectors (
    row   INTEGER PRIMARY KEY REFERENCES parents (row),
    scale REAL NOT NULL,
    codes BLOB NOT NULL,
    exact BLOB NOT NULL
);
CREATE TABLE document_vectors (
    row   INTEGER NOT NULL REFERENCES documents (row),
    edition INTEGER NOT NULL REFERENCES editions (edition),
    scale REAL NOT NULL,
    codes BLOB NOT NULL,
    exact BLOB NOT NULL,
    PRIMARY KEY (row, edition)
);

-- The terms of each child, joined by spaces, as the analyzer gave them; each holds only letters, digits and marks.
-- A parent's and a document's terms are their children's.
CREATE TABLE words (
    row   INTEGER PRIMARY KEY REFERENCES children (row),
    terms TEXT NOT NULL
);

-- Metadata, one row a value, for filters. parent is 0 for the document's own; a parent's key hides the document's.
-- kind: null, bool, number, text; list and object mark that there is one; element: the value is inside a list.
CREATE TABLE fields (
    path     TEXT NOT NULL,
    kind     TEXT NOT NULL,
    value,
    element  INTEGER NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (row),
    parent   INTEGER NOT NULL
);
CREATE INDEX fields_value ON fields (path, kind, value, document, parent);
CREATE INDEX fields_document ON fields (document);
CREATE INDEX fields_parent ON fields (path, parent) WHERE parent > 0;

-- What changed, in order, for caches that catch up: a replaced document is a removed row and an added one.
-- Only the latest are kept; a cache that is further behind starts anew.
CREATE TABLE changes (
    change   INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL,       -- documents.row; 0: none in particular
    added    INTEGER NOT NULL,       -- 1 added, 0 removed
    edition  INTEGER NOT NULL DEFAULT 0, -- the only one that got or lost rows of documents that stay, or 0
    mark     BLOB NOT NULL DEFAULT (randomblob(8)) -- tells it from the change of this number in a copy
);
