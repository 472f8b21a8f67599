"""What reranking costs beside the reranker: searching without one, and with one that answers at once.

    python benchmarks/reranking.py [--rounds N] [--children N]

The nest holds a part of the Python reference, by the built-in model. Both ways take turns, question by question, in
one run, so that whatever else the machine does falls on both; read the difference.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import nestling
from nestling.apps.demo import language_reference

QUESTIONS = (
    "why does a default list argument keep its values from one call to the next?",
    "what happens when a finally clause returns?",
    "how do I pad a number with zeros?",
    "how does the with statement call a context manager",
)


class Instant:
    """Turns the order around, in no time."""

    name = "instant"

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """The later, the better."""
        return range(len(texts))


def run() -> None:
    """Print the median of both ways."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=100)
    arguments.add_argument("--children", type=int, default=1000)
    given = arguments.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "reference.nest"
        with nestling.open(path, create=True) as nest:
            for document in language_reference():
                nest.add(document)
                if nest.stats()["children"] >= given.children:
                    break
        with nestling.open(path) as plain, nestling.open(path, reranker=Instant()) as judged:
            ways = {"without": plain, "reranked": judged}
            times: dict[str, list[float]] = {name: [] for name in ways}
            for round in range(given.rounds + 1):
                for question in QUESTIONS:
                    for name in (*ways,) if round % 2 else reversed(ways):
                        began = time.perf_counter()
                        ways[name].search(question)
                        if round:  # the first loads
                            times[name].append(time.perf_counter() - began)
            print(f"{plain.stats()['children']:,} children, {len(times['without']):,} searches each way")
    for name, seconds in times.items():
        p50, p95 = (1000 * float(np.percentile(seconds, share)) for share in (50, 95))
        print(f"{name:<9} p50 {p50:7.3f} ms   p95 {p95:7.3f} ms")


if __name__ == "__main__":
    run()
