"""Nestling as a document ranker, beside BM25 alone, the model alone and their reciprocal rank fusion.

    python benchmarks/ranking.py [--limit N] [CORPUS ...]

nDCG@10 by ir-measures, over all judged questions; every row asks the same nest. BM25 ranks whole documents, the
model ranks documents by their best child.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import corpora
import ir_measures
import numpy as np
from ir_measures import nDCG

import nestling
from nestling.nest import Nest

CORPORA = ("scifact", "cranfield", "zoomcamp_faq", "xquad_en", "xquad_de", "xquad_zh")
DEPTH = 100
RRF = 60
# in medquad_cards a grade of 1 is "related", which answers nothing
LEAST_GRADE = {"medquad_cards": 2}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", nargs="*", default=CORPORA)
    parser.add_argument("--limit", type=int, help="questions of each corpus")
    options = parser.parse_args()
    names = [name for name in options.corpora if corpora.available(name)]
    for name in set(options.corpora) - set(names):
        print(f"skipped {name}: not in {corpora.DATA}", file=sys.stderr)
    print(f"{'':14} {'n':>5} {'BM25':>7} {'model':>7} {'RRF':>7} {'nestling':>9}")
    for name in names:
        corpus = corpora.read(name, options.limit)
        figures = measure(corpus)
        print(
            f"{name:14} {len(corpus.questions):5} " + " ".join(f"{figure:7.3f}" for figure in figures),
            flush=True,
        )


def measure(corpus: corpora.Corpus) -> list[float]:
    """The figures of one corpus: BM25, model, their fusion, Nestling."""
    nest = nestling.open(":memory:")
    nest.add(corpus.documents)
    ways: list[Callable[[Nest, str], list[str]]] = [bm25, model, fused, documents]
    least = LEAST_GRADE.get(corpus.name, 1)
    qrels = [
        ir_measures.Qrel(query, document, grade)
        for query, grades in corpus.qrels.items()
        for document, grade in grades.items()
        if query in corpus.questions and grade >= least
    ]
    figures = []
    for way in ways:
        run = [
            ir_measures.ScoredDoc(query, document, -float(rank))
            for query, text in corpus.questions.items()
            for rank, document in enumerate(way(nest, text))
        ]
        figures.append(float(ir_measures.calc_aggregate([nDCG @ 10], qrels, run)[nDCG @ 10]))
    return figures


def documents(nest: Nest, query: str) -> list[str]:
    """Documents by their best passage."""
    return list(dict.fromkeys(passage.document_id for passage in nest.search(query, k=DEPTH)))[:10]


def bm25(nest: Nest, query: str) -> list[str]:
    """Documents by the BM25 of all their words."""
    with nest._store.view() as view:
        rows = view.match("document", nest._question(query, view).terms, DEPTH, None).rows
        return _names(view, rows, "document")


def model(nest: Nest, query: str) -> list[str]:
    """Documents by their most similar child."""
    vector = nest.embedder.embed_queries([query])[0]
    with nest._store.view() as view:
        rows = view.nearest("child", vector, DEPTH, None).rows
        return _names(view, rows, "child")


def fused(nest: Nest, query: str) -> list[str]:
    """The two lists by the sum of reciprocal ranks (Cormack, Clarke and Büttcher 2009)."""
    points: dict[str, float] = {}
    for ranked in (bm25(nest, query), model(nest, query)):
        for rank, id in enumerate(ranked, 1):
            points[id] = points.get(id, 0.0) + 1 / (RRF + rank)
    return sorted(points, key=lambda id: -points[id])


def _names(view: object, rows: np.ndarray, level: str) -> list[str]:
    none = rows[:0]
    touched = {"child": none, "parent": none, "document": none} | {level: rows}
    family = view.family(touched["child"], touched["parent"], touched["document"], None)  # type: ignore[attr-defined]
    parent = dict(zip(getattr(family, level).tolist(), family.parent.tolist(), strict=True))
    stored = view.parents(list(set(parent.values())))  # type: ignore[attr-defined]
    return list(dict.fromkeys(stored[parent[row]].document_id for row in rows.tolist()))


if __name__ == "__main__":
    main()
