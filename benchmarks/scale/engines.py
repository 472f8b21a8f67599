"""The engines that are measured beside a nest: each gives the 100 best children for a vector, or for words."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nestling.ingest.terms import query_terms

BEST = 100
# rows handed to an engine at once while its index is built
BATCH = 5_000

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]


@dataclass
class Rows:
    """What is indexed: the children of a nest.

    Attributes:
        vectors: One unit row a child, in a file that is mapped.
        allowed: Numbers of the children that the filter leaves: of one document in a hundred.
        nest: The nest's file.
    """

    vectors: Floats
    allowed: Numbers
    nest: Path
    mask: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.mask = np.zeros(len(self.vectors), bool)
        self.mask[self.allowed] = True

    def terms(self) -> Iterator[tuple[int, str]]:
        """Row numbers of children and their terms."""
        yield from sqlite3.connect(f"file:{self.nest}?mode=ro", uri=True).execute(
            "SELECT row, terms FROM words"
        )


class Engine:
    """One engine; what it cannot do is left out of the table."""

    vectors, words, filters = True, False, True

    def __init__(self, rows: Rows, folder: Path) -> None:
        self.rows, self.folder = rows, folder

    def build(self) -> None:
        """Make the index, on the disk where the engine keeps it there."""

    def open(self) -> None:
        """Make it ready to be asked."""

    def near(self, vector: Floats, filtered: bool) -> Sequence[int]:
        """The numbers of the nearest children."""
        raise NotImplementedError

    def match(self, text: str) -> Sequence[int]:
        """The numbers of the children that match best."""
        raise NotImplementedError


class Numpy(Engine):
    """A product with all float32 vectors in memory."""

    def open(self) -> None:
        """Read them."""
        self._all = np.array(self.rows.vectors, np.float32)

    def near(self, vector: Floats, filtered: bool) -> Sequence[int]:
        """Scan."""
        if filtered:
            found: Sequence[int] = self.rows.allowed[_best(self._all[self.rows.allowed] @ vector)].tolist()
            return found
        found = _best(self._all @ vector).tolist()
        return found


class Faiss(Engine):
    """An index of faiss, from its description."""

    def __init__(self, rows: Rows, folder: Path, kind: str) -> None:
        super().__init__(rows, folder)
        self._kind = kind

    def build(self) -> None:
        """Make and write it."""
        import faiss

        index = faiss.index_factory(self.rows.vectors.shape[1], self._kind, faiss.METRIC_INNER_PRODUCT)
        for at in range(0, len(self.rows.vectors), BATCH):
            index.add(np.array(self.rows.vectors[at : at + BATCH], np.float32))
        faiss.write_index(index, str(self.folder / "index"))

    def open(self) -> None:
        """Read it."""
        import faiss

        faiss.omp_set_num_threads(1)
        self._index = faiss.read_index(str(self.folder / "index"))
        packed = np.packbits(self.rows.mask, bitorder="little")
        selector = faiss.IDSelectorBitmap(packed)
        if "HNSW" in self._kind:
            self._index.hnsw.efSearch = BEST
            self._filter: Any = faiss.SearchParametersHNSW(sel=selector, efSearch=BEST)
        else:
            self._filter = faiss.SearchParameters(sel=selector)
        self._kept = packed

    def near(self, vector: Floats, filtered: bool) -> Sequence[int]:
        """Search."""
        found: Sequence[int] = self._index.search(
            vector[None], BEST, params=self._filter if filtered else None
        )[1][0].tolist()
        return found


class Lance(Engine):
    """LanceDB in a folder: scanned, or with the index that it makes by default."""

    def __init__(self, rows: Rows, folder: Path, indexed: bool) -> None:
        super().__init__(rows, folder)
        self._indexed = indexed

    def build(self) -> None:
        """Write the table."""
        import lancedb
        import pyarrow as pa

        size = self.rows.vectors.shape[1]
        schema = pa.schema(
            [("number", pa.int64()), ("left", pa.bool_()), ("vector", pa.list_(pa.float32(), size))]
        )

        def batches() -> Any:
            for at in range(0, len(self.rows.vectors), BATCH):
                part = np.array(self.rows.vectors[at : at + BATCH], np.float32)
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array(range(at, at + len(part))),
                        pa.array(self.rows.mask[at : at + BATCH]),
                        pa.FixedSizeListArray.from_arrays(pa.array(part.reshape(-1)), size),
                    ],
                    schema=schema,
                )

        table = lancedb.connect(str(self.folder)).create_table("rows", batches(), schema=schema)
        if self._indexed:
            table.create_index(metric="dot")
        table.create_scalar_index("left", index_type="BITMAP")

    def open(self) -> None:
        """Open it."""
        import lancedb

        self._table = lancedb.connect(str(self.folder)).open_table("rows")

    def near(self, vector: Floats, filtered: bool) -> Sequence[int]:
        """Search."""
        query = self._table.search(vector).distance_type("dot").select(["number"]).limit(BEST)
        query = query.where("left = true", prefilter=True) if filtered else query
        found: Sequence[int] = query.to_arrow()["number"].to_pylist()
        return found


class Chroma(Engine):
    """Chroma, persistent, with its defaults."""

    def build(self) -> None:
        """Add all rows."""
        rows = self._collection(create=True)
        for at in range(0, len(self.rows.vectors), BATCH):
            part = np.array(self.rows.vectors[at : at + BATCH], np.float32)
            numbers = range(at, at + len(part))
            rows.add(
                ids=[str(n) for n in numbers],
                embeddings=part,
                metadatas=[{"left": bool(self.rows.mask[n])} for n in numbers],
            )

    def _collection(self, create: bool) -> Any:
        import chromadb

        client = chromadb.PersistentClient(str(self.folder), chromadb.Settings(anonymized_telemetry=False))
        if create:
            return client.create_collection("rows", configuration={"hnsw": {"space": "ip"}})
        return client.get_collection("rows")

    def open(self) -> None:
        """Open it."""
        self._rows = self._collection(create=False)

    def near(self, vector: Floats, filtered: bool) -> Sequence[int]:
        """Search."""
        where = {"left": True} if filtered else None
        found = self._rows.query(query_embeddings=[vector], n_results=BEST, where=where, include=[])
        return [int(id) for id in found["ids"][0]]


class Fts5(Engine):
    """SQLite's FTS5 on the same terms, ranked by its bm25()."""

    vectors, words = False, True

    def build(self) -> None:
        """Index every child's terms."""
        db = sqlite3.connect(self.folder / "words.db")
        db.execute("CREATE VIRTUAL TABLE words USING fts5 (terms, tokenize = 'ascii')")
        db.executemany("INSERT INTO words (rowid, terms) VALUES (?, ?)", self.rows.terms())
        db.execute("INSERT INTO words (words) VALUES ('optimize')")
        db.commit()
        db.close()

    def open(self) -> None:
        """Open it."""
        self._db = sqlite3.connect(f"file:{self.folder / 'words.db'}?mode=ro", uri=True)

    def match(self, text: str) -> Sequence[int]:
        """Search."""
        wanted = " OR ".join(f'"{form}"' for forms in query_terms(text, ["en"]) for form in forms)
        query = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?"
        return [row for (row,) in self._db.execute(query, (wanted, BEST))]


class Tantivy(Engine):
    """Tantivy, of the same terms."""

    vectors, words = False, True

    def build(self) -> None:
        """Index every child's terms."""
        import tantivy

        index = self._index(tantivy)
        writer = index.writer(256_000_000, 1)
        for row, terms in self.rows.terms():
            document = tantivy.Document()
            document.add_unsigned("number", row)
            document.add_text("terms", terms)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()

    def _index(self, tantivy: Any) -> Any:
        schema = tantivy.SchemaBuilder()
        schema.add_unsigned_field("number", stored=True, fast=True)
        schema.add_text_field("terms", stored=False, tokenizer_name="whitespace", index_option="freq")
        return tantivy.Index(schema.build(), str(self.folder))

    def open(self) -> None:
        """Open it."""
        import tantivy

        self._tantivy = tantivy
        self._found = self._index(tantivy)
        self._searcher = self._found.searcher()

    def match(self, text: str) -> Sequence[int]:
        """Search."""
        tantivy, schema = self._tantivy, self._found.schema
        parts = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, "terms", form, "freq"))
            for forms in query_terms(text, ["en"])
            for form in forms
        ]
        hits = self._searcher.search(tantivy.Query.boolean_query(parts), BEST).hits
        return [self._searcher.doc(address)["number"][0] for _, address in hits]


def _best(scores: Floats) -> Numbers:
    best = np.argpartition(-scores, min(BEST, len(scores) - 1))[:BEST]
    return best[np.argsort(-scores[best])]


ENGINES: dict[str, Callable[[Rows, Path], Engine]] = {
    "numpy, float32": Numpy,
    "faiss flat": lambda rows, folder: Faiss(rows, folder, "Flat"),
    "faiss HNSW": lambda rows, folder: Faiss(rows, folder, "HNSW32"),
    "LanceDB, scanned": lambda rows, folder: Lance(rows, folder, indexed=False),
    "LanceDB, IVF-PQ": lambda rows, folder: Lance(rows, folder, indexed=True),
    "Chroma": Chroma,
    "SQLite FTS5": Fts5,
    "tantivy": Tantivy,
}
