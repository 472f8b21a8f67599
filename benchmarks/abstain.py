"""Where `ask` abstains without a gate: questions asked of their own corpus, and of others that cannot answer them.

    python benchmarks/abstain.py [--limit 40]

Nests are kept in a folder (--nests), so that a second run does not embed again.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from corpora import available, read

import nestling
from nestling.asking import LEAST_COVERAGE

CORPORA = ("anthropic_docs", "xquad_en", "zoomcamp_faq", "scifact", "legalbench_rag_small")


def signals(nest: nestling.Nest, question: str) -> tuple[float, float]:
    """The best similarity and the best coverage of what is found for a question."""
    found = nest.search(question, 50)
    best = max((p.similarity for p in found if p.similarity is not None), default=-1.0)
    return best, max((p.coverage for p in found), default=0.0)


def run(limit: int, nests: Path) -> None:
    """Print how many questions each bound lets through."""
    names = [name for name in CORPORA if available(name)]
    asked = {name: list(read(name, limit).questions.values()) for name in names}
    own, foreign = [], []
    for name in names:
        with nestling.open(nests / f"{name}.nest", create=True) as nest:
            nest.add(read(name).documents)
            for other, questions in asked.items():
                (own if other == name else foreign).extend(signals(nest, question) for question in questions)
    ours, theirs = np.array(own), np.array(foreign)
    least = nestling.MiniLM().unrelated_below
    print(f"{len(ours)} questions of their own corpus, {len(theirs)} of another")
    for column, title, default in ((0, "similarity", least), (1, "coverage", LEAST_COVERAGE)):
        print(f"{title:>12}{'answered':>12}{'refused':>12}")
        for bound in (0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5):
            shares = (ours[:, column] >= bound).mean(), (theirs[:, column] < bound).mean()
            print(
                f"{bound:>12}{shares[0]:>12.3f}{shares[1]:>12.3f}{'  the default' if bound == default else ''}"
            )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--limit", type=int, default=40)
    options.add_argument("--nests", type=Path, default=None)
    given = options.parse_args()
    if given.nests:
        run(given.limit, given.nests)
    else:
        with tempfile.TemporaryDirectory() as folder:
            run(given.limit, Path(folder))
