"""One committed state of a SQLite nest, to read from: ranked lists, families and stored values."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from nestling.stores import damage, filtering
from nestling.stores.bm25 import Matched, Word, bm25
from nestling.stores.damage_memory import differences
from nestling.stores.dense import Compared, cosines
from nestling.stores.layout import Layout
from nestling.stores.layouts import State
from nestling.stores.quantize import unpack
from nestling.stores.reading import current_change, numbers
from nestling.stores.salvage import stored
from nestling.stores.scan import DECIMALS, Question
from nestling.stores.scope import Scope
from nestling.stores.segment import CacheDamagedError, Positions
from nestling.stores.sqlite_editions import edition_sizes, read_editions
from nestling.stores.sqlite_origin import read_files
from nestling.types import Child, Document, Failure, Level, Parent
from nestling.view import (
    Damage,
    Derive,
    Edition,
    Family,
    Ranked,
    Rows,
    Scores,
    StoredDocument,
    StoredParent,
    Terms,
    Told,
    Vectors,
)
from nestling.where import Where

Answer = TypeVar("Answer")


class SQLiteView:
    """See `nestling.view.View`; made by `SQLiteStore.view`, inside a read transaction."""

    def __init__(
        self, db: sqlite3.Connection, edition: Edition, state: State, languages: dict[int, dict[str, int]]
    ) -> None:
        """``languages`` holds what `languages` gave last, by change: counting takes longer than a search."""
        self.edition = edition
        self._db = db
        self._state = state
        self._languages = languages
        self._texts: dict[int, str] = {}
        self.change = current_change(db)
        self._forget()

    def _forget(self) -> None:
        """Forget what was worked out from the layout."""
        self.__dict__.pop("_layout", None)
        self._scopes: dict[Where | None, Scope] = {}
        self._words: dict[tuple[tuple[str, ...], ...], list[Word]] = {}
        self._matches: dict[tuple[tuple[tuple[str, ...], ...], Where | None], Matched] = {}
        self._last: tuple[Compared, Where | None] | None = None

    @cached_property
    def _layout(self) -> Layout:
        return self._state.layout()

    def _asked(self, ask: Callable[[], Answer]) -> Answer:
        """The answer, from another layout where this one turns out to be damaged."""
        try:
            return ask()
        except CacheDamagedError:
            self._forget()
            self.__dict__["_layout"] = self._state.anew()
            return ask()

    def nearest(self, level: Level, vector: Vectors, n: int, where: Where | None) -> Ranked:
        """Scan the int8 codes of the allowed rows, then score the best again by their exact vectors."""
        return self._asked(lambda: self._nearest(level, vector, n, where))

    def _nearest(self, level: Level, vector: Vectors, n: int, where: Where | None) -> Ranked:
        if n < 1 or not self._layout.size(level):
            return Ranked(np.zeros(0, np.int64), np.zeros(0))
        positions = self._compared(vector, where).candidates(level, n)
        return self._best(level, positions, self._cosines(level, vector, positions), n)

    def _compared(self, vector: Vectors, where: Where | None) -> Compared:
        # all levels of a question are asked for one after the other
        last = self._last
        if last is None or last[1] != where or last[0].question.vector is not vector:
            last = self._last = Compared(self._layout, Question(vector), self._scope(where)), where
        return last[0]

    def match(self, level: Level, terms: Terms, n: int, where: Where | None) -> Ranked:
        """BM25 from postings that are read once for all three levels."""
        return self._asked(lambda: self._match(level, terms, n, where))

    def _match(self, level: Level, terms: Terms, n: int, where: Where | None) -> Ranked:
        if n < 1:
            return Ranked(np.zeros(0, np.int64), np.zeros(0))
        matched = self._matched(terms, where)
        positions, scores = bm25(self._layout, level, matched, n, self._scope(where).mask(level))
        return self._best(level, positions, np.round(scores, DECIMALS), n)

    def _best(self, level: Level, positions: Positions, scores: Scores, n: int) -> Ranked:
        best = self._layout.best(level, positions, scores, n)
        return Ranked(self._layout.rows(level, positions[best]), scores[best])

    def coverage(self, terms: Terms, parents: Rows) -> Scores:
        """The IDF of the terms found in each parent, over that of all of them."""
        return self._asked(lambda: self._coverage(terms, parents))

    def _coverage(self, terms: Terms, parents: Rows) -> Scores:
        if not terms:
            return np.zeros(len(parents))
        positions = self._layout.positions("parent", parents)
        found = np.zeros(len(positions))
        total = 0.0
        for word in self._read(terms):
            weight = word.idf("parent")
            total += weight
            found += weight * word.among(positions)
        share: Scores = np.round(found / total, DECIMALS)
        return share

    def similarity(self, vector: Vectors, children: Rows) -> Scores:
        """The cosine of each child, by its exact vector."""
        return self._asked(lambda: self._cosines("child", vector, self._layout.positions("child", children)))

    def family(self, children: Rows, parents: Rows, documents: Rows, where: Where | None) -> Family:
        """All children of the documents that these rows are in, in the order of ties."""
        layout = self._layout
        rows: dict[Level, Rows] = {"child": children, "parent": parents, "document": documents}
        touched = [
            layout.owners(level, layout.positions(level, own), "document") for level, own in rows.items()
        ]
        own = layout.parents_of(layout.by_id(np.unique(np.concatenate(touched))))
        allowed = self._scope(where).parents
        if allowed is not None:
            own = own[allowed[own]]
        return layout.family(layout.children_of(own))

    def parents(self, rows: Sequence[int]) -> dict[int, StoredParent]:
        """Parents with their documents' title, source and metadata."""
        found = self._db.execute(
            "SELECT p.row, p.document, p.id, d.id, d.title, p.heading, d.metadata, p.metadata, d.source,"
            " p.start, p.stop FROM parents p JOIN documents d ON d.row = p.document"
            " WHERE p.row IN (SELECT value FROM json_each(?))",
            (json.dumps([int(row) for row in rows]),),
        ).fetchall()
        texts = {row: self._text(row) for row in {row[1] for row in found}}
        return {
            row[0]: StoredParent(
                row=row[0],
                document=row[1],
                id=row[2],
                document_id=row[3],
                title=row[4],
                heading=tuple(json.loads(row[5])),
                metadata={**json.loads(row[6]), **json.loads(row[7])},
                source=row[8],
                start=row[9],
                end=row[10],
                text=texts[row[1]][row[9] : row[10]],
            )
            for row in found
        }

    def _text(self, row: int) -> str:
        if row not in self._texts:
            query = "SELECT text FROM documents WHERE row = ?"
            self._texts[row] = self._db.execute(query, (row,)).fetchone()[0]
        return self._texts[row]

    def languages(self) -> dict[str, int]:
        """Documents per language."""
        found = self._languages.get(self.change)
        if found is None:
            found = self._counted()
            self._languages.clear()
            self._languages[self.change] = found
        return dict(found)

    def _counted(self) -> dict[str, int]:
        for change, counts in list(self._languages.items()):
            first, removed, added = self._db.execute(
                "SELECT min(change), total(NOT added), min(document) FILTER (WHERE document) FROM changes"
                " WHERE change > ?",
                (change,),
            ).fetchone()
            if first == change + 1 and not removed and added:
                # by row number, or SQLite goes through the index of languages
                rows = self._db.execute("SELECT language FROM documents WHERE row >= ?", (added,))
                return dict(sorted((Counter(counts) + Counter(language for (language,) in rows)).items()))
        return dict(self._db.execute("SELECT language, count(*) FROM documents GROUP BY 1 ORDER BY 1"))

    def known(self, ids: Sequence[str]) -> dict[str, tuple[bytes, str | None]]:
        """Digest and source of the documents that exist."""
        query = "SELECT digest, source FROM documents WHERE id = ?"
        found = {id: self._db.execute(query, (id,)).fetchone() for id in ids}
        return {id: (row[0], row[1]) for id, row in found.items() if row}

    def text(self, id: str) -> str | None:
        """The stored text."""
        found = self._db.execute("SELECT text FROM documents WHERE id = ?", (id,)).fetchone()
        return None if found is None else str(found[0])

    def files(self, ids: Sequence[str] | None = None) -> dict[str, str]:
        """Paths by document id."""
        return read_files(self._db, ids)

    def leads(self, children: Sequence[int]) -> dict[int, str]:
        """The lead of each of these children."""
        query = "SELECT row, lead FROM children WHERE row IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(query, (json.dumps([int(row) for row in children]),)).fetchall())

    def embedded(self, digests: Sequence[bytes], embedder: str) -> dict[bytes, Vectors]:
        """Vectors of the embedded texts that exist, in any edition of that embedder."""
        query = (
            "SELECT v.exact FROM children c JOIN child_vectors v ON v.row = c.row WHERE c.digest = ?"
            " AND c.edition IN (SELECT edition FROM editions WHERE embedder = ?) LIMIT 1"
        )
        unique = dict.fromkeys(digests)
        found = {digest: self._db.execute(query, (digest, embedder)).fetchone() for digest in unique}
        return {digest: unpack(row)[0] for digest, row in found.items() if row}

    def editions(self) -> tuple[Edition, ...]:
        """All editions, by number."""
        return read_editions(self._db)

    def sizes(self) -> dict[int, tuple[int, int]]:
        """Documents and children of each edition."""
        return edition_sizes(self._db)

    def lacking(self, after: int, characters: int) -> list[StoredDocument]:
        """The next documents that the edition does not hold."""
        found: list[StoredDocument] = []
        query = (
            "SELECT row, id, text, title, metadata, source, language FROM documents d WHERE row > ? AND NOT EXISTS"
            " (SELECT 1 FROM indexed i WHERE i.document = d.row AND i.edition = ?) ORDER BY row"
        )
        for row, id, text, title, metadata, source, language in self._db.execute(
            query, (after, self.edition.number)
        ):
            document = Document(id, text, title, json.loads(metadata), source)
            found.append(StoredDocument(row, document, language))
            characters -= len(text)
            if characters <= 0:
                break
        return found

    def read(self, id: str) -> tuple[Document, tuple[Parent, ...]] | None:
        """A document, whole, with its parents and their children."""
        edition = self.edition.number
        found = self._db.execute(
            "SELECT row, id, text, title, metadata, source FROM documents WHERE id = ?"
            " OR row = (SELECT document FROM parents WHERE edition = ? AND id = ?) ORDER BY id <> ? LIMIT 1",
            (id, edition, id, id),
        ).fetchone()
        if found is None:
            return None
        row, name, text, title, metadata, source = found
        own_rows = "WHERE document = ? AND edition = ? ORDER BY row"
        children: dict[int, list[tuple[int, int, str]]] = {}
        query = f"SELECT parent, start, stop, lead FROM children {own_rows}"
        for parent, *child in self._db.execute(query, (row, edition)):
            children.setdefault(parent, []).append(tuple(child))
        query = f"SELECT row, id, start, stop, heading, metadata FROM parents {own_rows}"
        parents = tuple(
            Parent(
                name,
                start,
                stop,
                tuple(json.loads(heading)),
                tuple(Child(f"{name}::{i:02d}", *child) for i, child in enumerate(children.get(parent, []))),
                json.loads(own),
            )
            for parent, name, start, stop, heading, own in self._db.execute(query, (row, edition))
        )
        return Document(name, text, title, json.loads(metadata), source), parents

    def stored(self, ids: Sequence[str] | None = None) -> Iterator[Document | Failure]:
        """Every document whole, by id, or those given, one at a time."""
        return stored(self._db, ids)

    def documents(self, where: Where | None) -> Iterator[dict[str, Any]]:
        """Documents by id, filtered by their own metadata."""
        kept = self._kept(where)
        some = "" if kept is None else "WHERE row IN (SELECT value FROM json_each(:kept))"
        query = (
            "SELECT id, title, source, metadata, language, characters,"
            " (SELECT count(*) FROM parents p WHERE p.document = d.row AND p.edition = :edition),"
            " (SELECT count(*) FROM children c WHERE c.document = d.row AND c.edition = :edition)"
            f" FROM documents d {some} ORDER BY id"
        )
        names = ("id", "title", "source", "metadata", "language", "characters", "parents", "children")
        values = {"edition": self.edition.number, "kept": json.dumps([] if kept is None else kept.tolist())}
        for row in self._db.execute(query, values):
            info = dict(zip(names, row, strict=True))
            yield {**info, "metadata": json.loads(info["metadata"])}

    def _kept(self, where: Where | None) -> Rows | None:
        """Row numbers of the documents for which a filter holds, or None for all."""
        if where is None:
            return None
        rows = self._documents
        return rows[filtering.allowed(self._db, filtering.Documents(rows), where)]

    @property
    def _documents(self) -> Rows:
        """Row numbers of all documents, ascending."""
        return np.sort(numbers(self._db, "SELECT json_group_array(row) FROM documents", ()))

    def stats(self) -> dict[str, Any]:
        """Counts, languages, bytes of the file, edition, change number, and what serves a search."""
        counts = {"documents": self._db.execute("SELECT count(*) FROM documents").fetchone()[0]}
        for name in ("parents", "children"):
            query = f"SELECT count(*) FROM {name} WHERE edition = ?"
            counts[name] = self._db.execute(query, (self.edition.number,)).fetchone()[0]
        pages, size = (
            self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")
        )
        return {
            **counts,
            "languages": self.languages(),
            "bytes": pages * size,
            "edition": self.edition.number,
            "change": self.change,
            "search": self._state.serving(),
        }

    def check(self, derive: Derive | None = None, told: Told | None = None) -> list[Damage]:
        """Every damage that can be found by reading, in the file and in what is kept of it for searching."""
        return list(damage.found(self._db, derive, told)) or list(self._differences())

    def _differences(self) -> Iterator[Damage]:
        for edition in self.editions():
            try:
                layout = self._state.checked(edition)
                if layout is not None:
                    yield from differences(self._db, edition.number, layout)
            except CacheDamagedError as error:
                yield Damage(f"the cache is damaged: {error}", "mend")

    def _cosines(self, level: Level, vector: Vectors, positions: Positions) -> Scores:
        return cosines(self._layout, level, vector, positions, lambda at: self._exact(level, at))

    def _exact(self, level: Level, positions: Positions) -> Vectors:
        rows = self._layout.rows(level, positions).tolist()
        query = f"SELECT row, exact FROM {level}_vectors WHERE row IN (SELECT value FROM json_each(?))"
        values: tuple[object, ...] = (json.dumps(rows),)
        if level == "document":
            query, values = f"{query} AND edition = ?", (*values, self.edition.number)
        found = dict(self._db.execute(query, values).fetchall())
        return unpack(found[row] for row in rows)

    def _scope(self, where: Where | None) -> Scope:
        if where not in self._scopes:
            self._scopes[where] = Scope.of(self._db, self._layout, where)
        return self._scopes[where]

    def _read(self, terms: Terms) -> list[Word]:
        key = tuple(terms)
        if key not in self._words:
            self._words[key] = [Word.read(self._layout, forms) for forms in key]
        return self._words[key]

    def _matched(self, terms: Terms, where: Where | None) -> Matched:
        key = (tuple(terms), where)
        if key not in self._matches:
            alive, within = self._layout.alive, self._scope(where).family_children
            if alive is not None:
                within = alive["child"] if within is None else within & alive["child"]
            self._matches[key] = Matched.of(self._layout, self._read(terms), within)
        return self._matches[key]
