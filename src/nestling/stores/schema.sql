-- The format of a nest: one SQLite file. application_id 0x4E455354 ("NEST"), user_version 1.
-- A document's rows in all tables change in one transaction. Row numbers are never used again
-- (AUTOINCREMENT), so that a row number names one unchanging content and caches can trust it.

-- recipe, embedder, analyzer and splitter versions: one JSON value a key.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

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

-- The units that are read and cited; those of a document cover its text, in row order.
CREATE TABLE parents (
    row      INTEGER PRIMARY KEY AUTOINCREMENT,
    id       TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL REFERENCES documents (row),
    start    INTEGER NOT NULL,
    stop     INTEGER NOT NULL,
    heading  TEXT NOT NULL,          -- JSON list of headings, outermost first
    metadata TEXT NOT NULL           -- JSON object: its own, over the document's
);
CREATE INDEX parents_document ON parents (document);

-- The units that are embedded and matched; those of a parent cover it, in row order.
CREATE TABLE children (
    row      INTEGER PRIMARY KEY AUTOINCREMENT,
    parent   INTEGER NOT NULL REFERENCES parents (row),
    document INTEGER NOT NULL REFERENCES documents (row),
    start    INTEGER NOT NULL,
    stop     INTEGER NOT NULL,
    terms    INTEGER NOT NULL,       -- how many terms it has in words
    digest   BLOB NOT NULL,          -- of the embedded text: equal text is never embedded twice
    lead     TEXT NOT NULL           -- what stands before its text when it is embedded and indexed
);
CREATE INDEX children_document ON children (document);
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
    row   INTEGER PRIMARY KEY REFERENCES documents (row),
    scale REAL NOT NULL,
    codes BLOB NOT NULL,
    exact BLOB NOT NULL
);

-- The terms of each child (rowid = children.row), joined by spaces, as the analyzer gave them. A parent's
-- and a document's terms are their children's. `postings` reads the index term by term.
CREATE VIRTUAL TABLE words USING fts5 (terms, tokenize = 'ascii');
CREATE VIRTUAL TABLE postings USING fts5vocab (words, instance);
-- Under steady replacing the index grows to 2.9 times its least size before it is merged; with the default, 4, to 7.2.
INSERT INTO words (words, rank) VALUES ('automerge', 2);

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

-- What changed, in order, for caches that catch up: a replaced document is a removed row and an added one.
-- Only the latest are kept; a cache that is further behind starts anew.
CREATE TABLE changes (
    change   INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL,       -- documents.row
    added    INTEGER NOT NULL        -- 1 added, 0 removed
);
