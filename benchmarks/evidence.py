"""How much of the gold evidence is inside a token budget: Nestling beside the usual ways to expand children.

    python benchmarks/evidence.py [--limit N] [--overhead] [CORPUS ...]

Every row ranks children cut at the same places with the same model; the first two embed them bare, as the usual
parent-document retrievers do, the others with their title and heading path in front. A figure is the mean, over
questions and over budgets of 500, 1,000, 2,000 and 4,000 tokens, of the share of the gold characters shown.
By default a budget counts the documents' text only, for all rows alike; with ``--overhead`` the last row also pays
for cite markers, titles and headings, as `Nest.context` does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from unittest.mock import patch

import corpora
import numpy as np

import nestling
from nestling.nest import Nest
from nestling.retrieve.context import FIRST_READ, Parents, worth
from nestling.retrieve.find import find
from nestling.retrieve.pack import Children, Packer
from nestling.retrieve.render import shown
from nestling.settings import LENT, Scoring

BUDGETS = (500, 1000, 2000, 4000)
CORPORA = ("legalbench_rag_small", "anthropic_docs", "codebase_chunks", "chroma_chunking")
RRF = 60
Span = tuple[str, int, int]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpora", nargs="*", default=CORPORA)
    parser.add_argument("--limit", type=int, help="questions of each corpus")
    parser.add_argument("--overhead", action="store_true")
    options = parser.parse_args()
    names = [name for name in options.corpora if corpora.available(name)]
    for name in set(options.corpora) - set(names):
        print(f"skipped {name}: not in {corpora.DATA}", file=sys.stderr)
    table = {name: measure(corpora.read(name, options.limit), options.overhead) for name in names}
    rows = next(iter(table.values()), {})
    width = max(map(len, rows), default=0)
    print(f"{'':{width}}  " + "  ".join(f"{name[:20]:>20}" for name in table))
    for row in rows:
        figures = (table[name][row] for name in table)
        print(f"{row:{width}}  " + "  ".join(f"{figure:20.3f}" for figure in figures))


def measure(corpus: corpora.Corpus, overhead: bool) -> dict[str, float]:
    """The rows of the table for one corpus."""
    nest = nestling.open(":memory:")
    nest.add(corpus.documents)
    with patch("nestling.ingest.split.lead", return_value=""):
        bare = nestling.open(":memory:", embedder=nest.embedder)
        bare.add(corpus.documents)
    embed = nest.embedder.embed_queries
    remembered = lru_cache(maxsize=8)(lambda text: embed([text]))
    ways: dict[str, Callable[[str, int], Iterable[Span]]] = {
        "dense children → parents": lambda q, b: whole_parents(bare, q, b, lexical=False),
        "dense + BM25 (RRF) → parents": lambda q, b: whole_parents(bare, q, b, lexical=True),
        "the same, with titles and headings": lambda q, b: whole_parents(nest, q, b, lexical=True),
        "every level votes": lambda q, b: packed(nest, q, b, 0.0, overhead),
        "every level votes, lent": lambda q, b: packed(nest, q, b, LENT, overhead),
    }
    nest.embedder.embed_queries = lambda texts: remembered(texts[0])  # type: ignore[method-assign]
    found: dict[str, list[float]] = {way: [] for way in ways}
    asked = [(text, corpus.spans[id]) for id, text in corpus.questions.items() if id in corpus.spans]
    for done, (text, gold) in enumerate(asked, 1):
        for way, show in ways.items():
            found[way].append(float(np.mean([recall(show(text, budget), gold) for budget in BUDGETS])))
        if sys.stderr.isatty() and not done % 20:
            print(f"\r{corpus.name}: {done}/{len(asked)}", end="", file=sys.stderr)
    return {way: float(np.mean(figures)) for way, figures in found.items()}


def packed(nest: Nest, query: str, budget: int, lent: float, overhead: bool) -> list[Span]:
    """What `Nest.context` shows; ``lent`` is what neighbours lend."""
    if overhead and lent == LENT:
        return list(nest.context(query, budget).pieces)
    with nest._store.view() as view:
        found = find(view, nest._question(query, view), None, 0, Scoring(lent=lent))
        family = found.family
        parents = Parents(view, family, found.ranking.parent[:FIRST_READ])
        children = Children(
            worth(found), family.document, family.parent, family.parent, family.start, family.stop
        )
        packer = Packer(children, parents.text, lambda *_: "", nest.embedder.count_tokens)
        order = shown(children, packer.fill(budget, "pack"))
        return [(parents.at(part.index).document_id, *span) for part in order for span in part.spans]


def whole_parents(nest: Nest, query: str, budget: int, *, lexical: bool) -> list[Span]:
    """Children by similarity, or by the reciprocal ranks of both channels, each replaced by its parent."""
    with nest._store.view() as view:
        question = nest._question(query, view)
        assert question.vector is not None
        lists = [view.nearest("child", question.vector, 200, None).rows]
        if lexical:
            lists.append(view.match("child", question.terms, 200, None).rows)
        points: dict[int, float] = {}
        for rows in lists:
            for rank, row in enumerate(rows.tolist(), 1):
                points[row] = points.get(row, 0.0) + 1 / (RRF + rank)
        ranked = np.array(sorted(points, key=lambda row: -points[row]), np.int64)
        family = view.family(ranked, ranked[:0], ranked[:0], None)
        parent_of = dict(zip(family.child.tolist(), family.parent.tolist(), strict=True))
        parents = list(dict.fromkeys(parent_of[row] for row in ranked.tolist()))
        shown, left = [], budget
        for first in range(0, len(parents), 8):
            stored = view.parents(parents[first : first + 8])
            for row in parents[first : first + 8]:
                text = stored[row].text
                cost = nest.embedder.count_tokens(text)
                # the last one is cut where the budget ends
                end = len(text) if cost <= left else len(text) * left // cost
                shown.append((stored[row].document_id, stored[row].start, stored[row].start + end))
                left -= cost
                if left <= 0:
                    return shown
    return shown


def recall(shown: Iterable[Span], gold: list[Span]) -> float:
    """The share of the gold characters that are inside what is shown."""
    wanted = {(id, i) for id, start, end in gold for i in range(start, end)}
    seen = {(id, i) for id, start, end in shown for i in range(start, end) if (id, i) in wanted}
    return len(seen) / len(wanted)


if __name__ == "__main__":
    main()
