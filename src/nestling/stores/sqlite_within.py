"""What of a SQLite nest is within the bounds of a scope: a view that answers as if nothing else were stored."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Hashable, Iterable, Sequence
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from nestling.bounds import Bounds
from nestling.stores.filtering import stored
from nestling.stores.layout import Layout
from nestling.stores.quantize import unpack
from nestling.stores.sqlite_view import SQLiteView
from nestling.types import Document, Level, Parent
from nestling.view import Edition, Rows, Scores, StoredParent, Vectors
from nestling.where import Where

# What is held in memory until the nest changes: three things of each of the last sixteen scopes.
HELD = 48

Answer = TypeVar("Answer")


def inside(db: sqlite3.Connection, bounds: Bounds, ids: Iterable[str]) -> list[str]:
    """Those of these ids that have a document within the bounds; all of them where there are no bounds."""
    if not bounds:
        return list(ids)
    condition, values = _condition(bounds, "d.row")
    query = f"SELECT 1 FROM documents d WHERE d.id = ? AND {condition}"
    return [id for id in ids if db.execute(query, (id, *values)).fetchone()]


def outside(db: sqlite3.Connection, bounds: Bounds, id: str) -> bool:
    """Whether the id has a document that is not within the bounds."""
    taken = db.execute("SELECT 1 FROM documents WHERE id = ?", (id,)).fetchone()
    return taken is not None and not inside(db, bounds, [id])


def _condition(bounds: Bounds, row: str) -> tuple[str, list[object]]:
    """In SQL, whether the document of one row is within the bounds, by few look-ups however large the nest."""
    parts: list[str] = []
    values: list[object] = []
    for key, value in bounds.values:
        # the + keeps SQLite from reading all that has the key
        parts.append(
            f"EXISTS (SELECT 1 FROM fields WHERE path = ? AND kind = ? AND value IS ? AND document = {row}"
            f" AND parent = 0) AND NOT EXISTS (SELECT 1 FROM fields WHERE document = {row} AND +path = ?"
            " AND (parent > 0 OR kind = 'list'))"
        )
        values += [key, value.kind, stored(value), key]
    return " AND ".join(parts), values


def _rows(db: sqlite3.Connection, bounds: Bounds) -> Rows:
    """The row numbers of all documents within the bounds, ascending, from the index of fields alone."""
    found: Rows | None = None
    for key, value in bounds.values:
        having = _documents(db, "kind = ? AND value IS ? AND parent = 0", (key, value.kind, stored(value)))
        lists = _documents(db, "kind = 'list'", (key,))
        parents = _documents(db, "parent > 0", (key,))
        own = np.setdiff1d(having, np.concatenate((lists, parents)))
        found = own if found is None else np.intersect1d(found, own, assume_unique=True)
    assert found is not None
    return found


def _documents(db: sqlite3.Connection, condition: str, values: tuple[object, ...]) -> Rows:
    query = f"SELECT json_group_array(document) FROM fields WHERE path = ? AND {condition}"
    return np.array(json.loads(db.execute(query, values).fetchone()[0]), np.int64)


def _cut(layout: Layout, rows: Rows) -> Layout:
    """The layout of a nest in which only these documents are stored."""
    documents = np.isin(layout.document.row, rows)
    return Layout(
        layout.change,
        layout.document.keep(documents),
        layout.parent.keep(documents[layout.parent_document]),
        layout.child.keep(documents[layout.child_document]),
        layout.ids[documents],
    )


def _known(layout: Layout, level: Level, rows: Sequence[int] | Rows) -> Rows:
    """Those of these row numbers that a layout has."""
    given = np.array(rows, np.int64).reshape(-1)
    return given[np.isin(given, layout.level(level).row)]


class Held:
    """What was worked out for the last few scopes, until the nest changes."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: dict[Hashable, tuple[int, Any]] = {}

    def get(self, key: Hashable, change: int, make: Callable[[], Answer]) -> Answer:
        """What was made for this key and change, or is now."""
        with self._lock:
            known = self._held.get(key)
        if known is not None and known[0] == change:
            answer: Answer = known[1]
            return answer
        answer = make()
        if known is None or known[0] < change:
            with self._lock:
                others = [each for each in self._held.items() if each[0] != key][: HELD - 1]
                self._held = {key: (change, answer), **dict(others)}
        return answer


class SQLiteViewWithin(SQLiteView):
    """A view of the documents within bounds; made by `SQLiteStore.view`.

    Its layout has no other rows, so that lists, statistics and families are of these documents alone. What reads
    stored values by id or row number looks whether it may.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        edition: Edition,
        layout_of: Callable[[sqlite3.Connection], Layout],
        bounds: Bounds,
        held: Held,
    ) -> None:
        super().__init__(db, edition, lambda reader: self._cut_layout(layout_of))
        self._bounds = bounds
        self._held = held

    def _cut_layout(self, layout_of: Callable[[sqlite3.Connection], Layout]) -> Layout:
        key = ("layout", self.edition.number, self._bounds)
        return self._held.get(key, self.change, lambda: _cut(layout_of(self._db), self._documents))

    @property
    def _documents(self) -> Rows:
        key = ("documents", self._bounds)
        return self._held.get(key, self.change, lambda: _rows(self._db, self._bounds))

    def similarity(self, vector: Vectors, children: Rows) -> Scores:
        """The cosine of each child that is within."""
        return super().similarity(vector, _known(self._layout, "child", children))

    def parents(self, rows: Sequence[int]) -> dict[int, StoredParent]:
        """The parents that are within."""
        return super().parents(_known(self._layout, "parent", rows).tolist())

    def leads(self, children: Sequence[int]) -> dict[int, str]:
        """The leads of the children that are within."""
        return super().leads(_known(self._layout, "child", children).tolist())

    def languages(self) -> dict[str, int]:
        """Documents per language, of those within."""
        return dict(self._held.get(("languages", self._bounds), self.change, self._count_languages))

    def _count_languages(self) -> dict[str, int]:
        query = (
            "SELECT language, count(*) FROM documents WHERE row IN (SELECT value FROM json_each(?))"
            " GROUP BY 1 ORDER BY 1"
        )
        return dict(self._db.execute(query, (json.dumps(self._documents.tolist()),)).fetchall())

    def known(self, ids: Sequence[str]) -> dict[str, tuple[bytes, str | None]]:
        """Digest and source of the documents within."""
        return super().known(inside(self._db, self._bounds, ids))

    def text(self, id: str) -> str | None:
        """The text of a document within."""
        return super().text(id) if inside(self._db, self._bounds, [id]) else None

    def files(self, ids: Sequence[str] | None = None) -> dict[str, str]:
        """Paths by id, of documents within."""
        if ids is not None:
            return super().files(inside(self._db, self._bounds, ids))
        query = (
            "SELECT d.id, f.path FROM files f JOIN documents d ON d.row = f.document"
            " WHERE d.row IN (SELECT value FROM json_each(?))"
        )
        return dict(self._db.execute(query, (json.dumps(self._documents.tolist()),)).fetchall())

    def embedded(self, digests: Sequence[bytes], embedder: str) -> dict[bytes, Vectors]:
        """Vectors of texts that documents within have: who shares a text with others is not told."""
        condition, values = _condition(self._bounds, "c.document")
        query = (
            "SELECT v.exact FROM children c JOIN child_vectors v ON v.row = c.row WHERE c.digest = ?"
            f" AND c.edition IN (SELECT edition FROM editions WHERE embedder = ?) AND {condition} LIMIT 1"
        )
        found = {
            digest: self._db.execute(query, (digest, embedder, *values)).fetchone()
            for digest in dict.fromkeys(digests)
        }
        return {digest: unpack(row)[0] for digest, row in found.items() if row}

    def sizes(self) -> dict[int, tuple[int, int]]:
        """Documents and children of each edition, of documents within."""
        within = "WHERE document IN (SELECT value FROM json_each(?)) GROUP BY edition"
        values = (json.dumps(self._documents.tolist()),)
        documents, children = (
            dict(self._db.execute(f"SELECT edition, count(*) FROM {table} {within}", values).fetchall())
            for table in ("indexed", "children")
        )
        return {
            each.number: (documents.get(each.number, 0), children.get(each.number, 0))
            for each in self.editions()
        }

    def read(self, id: str) -> tuple[Document, tuple[Parent, ...]] | None:
        """A document within, whole."""
        found = super().read(id)
        return found if found and inside(self._db, self._bounds, [found[0].id]) else None

    def _kept(self, where: Where | None) -> Rows:
        kept = super()._kept(where)
        return self._documents if kept is None else kept

    def stats(self) -> dict[str, Any]:
        """Counts of what is within; size and changes of the file tell of others, and are left open."""
        return {
            "documents": len(self._documents),
            "parents": len(self._layout.parent.row),
            "children": len(self._layout.child.row),
            "languages": self.languages(),
            "bytes": None,
            "edition": self.edition.number,
            "change": None,
        }
