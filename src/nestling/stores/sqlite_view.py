"""One committed state of a SQLite nest, to read from: ranked lists, families and stored values."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nestling.stores import damage
from nestling.stores.bm25 import Postings, bm25, idf
from nestling.stores.filtering import Items, Mask, allowed
from nestling.stores.layout import Layout, current_change
from nestling.stores.quantize import unpack
from nestling.stores.sqlite_editions import edition_sizes, read_editions
from nestling.stores.sqlite_origin import read_files
from nestling.types import Child, Document, Level, Parent
from nestling.view import Edition, Family, Ranked, Rows, Scores, StoredDocument, StoredParent, Terms, Vectors
from nestling.where import Where

# Scores are rounded to this many decimals, so that equal content ties exactly however it was computed.
DECIMALS = 6


class SQLiteView:
    """See `nestling.view.View`; made by `SQLiteStore.view`, inside a read transaction."""

    def __init__(
        self, db: sqlite3.Connection, edition: Edition, layout_of: Callable[[sqlite3.Connection], Layout]
    ) -> None:
        self.edition = edition
        self._db = db
        self._layout_of = layout_of
        self._texts: dict[int, str] = {}
        self._filters: dict[Where, Mask] = {}
        self._postings: dict[tuple[tuple[str, ...], ...], list[Postings]] = {}
        self.change = current_change(db)

    @cached_property
    def _layout(self) -> Layout:
        return self._layout_of(self._db)

    def nearest(self, level: Level, vector: Vectors, n: int, where: Where | None) -> Ranked:
        """Scan the int8 codes of the allowed rows, then score the best again by their exact vectors."""
        rows = self._layout.level(level)
        positions = self._positions(level, where)
        if not len(positions) or n < 1:
            return Ranked(np.zeros(0, np.int64), np.zeros(0))
        rough = rows.scan(vector, positions if where is not None else None)
        kept = _possibly_best(rough, rows.scale[positions], n)
        positions = positions[kept]
        scores = self._exact(level, vector, rows.row[positions])
        best = self._layout.best(level, positions, scores, n)
        return Ranked(rows.row[positions[best]], scores[best])

    def match(self, level: Level, terms: Terms, n: int, where: Where | None) -> Ranked:
        """BM25 from the index's postings, read once for all three levels."""
        scores = bm25(self._layout, level, self._read_postings(terms))
        mask = scores > 0
        if where is not None:
            mask &= self._mask(level, where)
        positions = np.flatnonzero(mask)
        found = np.round(scores[positions], DECIMALS)
        best = self._layout.best(level, positions, found, n)
        return Ranked(self._layout.level(level).row[positions[best]], found[best])

    def coverage(self, terms: Terms, parents: Rows) -> Scores:
        """The IDF of the terms found in each parent, over that of all of them."""
        if not terms:
            return np.zeros(len(parents))
        positions = self._layout.parent.positions(parents)
        found = np.zeros(len(positions))
        total = 0.0
        for posting in self._read_postings(terms):
            weight = idf(self._layout, "parent", posting)
            total += weight
            found += weight * np.isin(positions, self._layout.child_parent[posting.children])
        share: Scores = np.round(found / total, DECIMALS)
        return share

    def similarity(self, vector: Vectors, children: Rows) -> Scores:
        """The cosine of each child, by its exact vector."""
        return self._exact("child", vector, children)

    def family(self, children: Rows, parents: Rows, documents: Rows, where: Where | None) -> Family:
        """All children of the documents that these rows are in, in the order of ties."""
        layout = self._layout
        wanted = np.zeros(len(layout.document.row), bool)
        wanted[layout.document.positions(documents)] = True
        wanted[layout.parent_document[layout.parent.positions(parents)]] = True
        wanted[layout.child_document[layout.child.positions(children)]] = True
        mask = wanted[layout.child_document]
        if where is not None:
            mask &= self._mask("child", where)
        at = np.flatnonzero(mask)
        at = at[np.argsort(layout.document_rank[layout.child_document[at]], kind="stable")]
        rows = layout.child
        return Family(rows.row[at], rows.parent[at], rows.document[at], rows.start[at], rows.stop[at])

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
        return rows[allowed(Items(self._db, rows), where)]

    @property
    def _documents(self) -> Rows:
        """Row numbers of all documents, ascending."""
        rows = self._db.execute("SELECT row FROM documents ORDER BY row").fetchall()
        return np.array(rows, np.int64).reshape(-1)

    def stats(self) -> dict[str, Any]:
        """Counts, languages, bytes of the file, edition and change number."""
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
        }

    def check(self) -> list[str]:
        """Every damage that can be found by reading."""
        return damage.found(self._db)

    def _exact(self, level: Level, vector: Vectors, rows: Rows) -> Scores:
        query = f"SELECT row, exact FROM {level}_vectors WHERE row IN (SELECT value FROM json_each(?))"
        values: tuple[object, ...] = (json.dumps(rows.tolist()),)
        if level == "document":
            query, values = f"{query} AND edition = ?", (*values, self.edition.number)
        found = dict(self._db.execute(query, values).fetchall())
        vectors = unpack(found[row] for row in rows.tolist()).astype(np.float64)
        if not len(vectors):
            return np.zeros(0)
        # einsum sums every row in the same order, so that equal rows score equal wherever they stand
        cosines: Scores = np.round(np.einsum("ij,j->i", vectors, vector.astype(np.float64)), DECIMALS)
        return cosines

    def _positions(self, level: Level, where: Where | None) -> NDArray[np.intp]:
        if where is None:
            return np.arange(len(self._layout.level(level).row))
        return np.flatnonzero(self._mask(level, where))

    def _mask(self, level: Level, where: Where) -> Mask:
        layout = self._layout
        if where not in self._filters:
            items = Items(self._db, layout.document.row, layout.parent.row, layout.parent_document)
            self._filters[where] = allowed(items, where)
        mask = self._filters[where]
        if level == "child":
            return mask[layout.child_parent]
        if level == "document":
            documents = np.zeros(len(layout.document.row), bool)
            documents[layout.parent_document[mask]] = True
            return documents
        return mask

    def _read_postings(self, terms: Terms) -> list[Postings]:
        key = tuple(terms)
        if key not in self._postings:
            self._postings[key] = [Postings.read(self._db, self._layout, forms) for forms in key]
        return self._postings[key]


def _possibly_best(rough: Scores, scale: NDArray[np.float32], n: int) -> NDArray[np.intp]:
    """Which rows can be among the ``n`` best, given that a score from codes is off by some of its scale."""
    if len(rough) <= n:
        return np.arange(len(rough))
    # rounding moves each part by up to scale/2, evenly: with a unit vector this is six standard deviations
    error = 6 * scale.astype(np.float64) / np.sqrt(12)
    lowest = rough - error
    return np.flatnonzero(rough + error >= np.partition(lowest, len(rough) - n)[len(rough) - n])
