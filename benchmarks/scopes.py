"""What a scope costs: searches in scopes of several sizes beside the whole nest, and additions.

``python benchmarks/scopes.py``. The text is Python's own reference, cut up and mixed; vectors are hashed words of
384 dimensions. Times are of the processor, medians; ``--documents`` of about four children each.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from pydoc_data.topics import topics
from statistics import median

import nestling
from nestling import Document

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from wordhash import WordHash

# of all documents, which the tenants of the benchmark have
SHARES = {"0.1 %": 0.001, "1 %": 0.01, "10 %": 0.1, "50 %": 0.5}
QUERIES = 60


class Wide(WordHash):
    """As many dimensions as the built-in model."""

    fingerprint = "wordhash-384"
    dimension = 384


def main() -> None:
    """Print one line a measurement."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--documents", type=int, default=5700)
    count = arguments.parse_args().documents
    chance = random.Random(1)
    parts = [part for text in topics.values() for part in text.split("\n\n") if len(part) > 80]
    tenants = chance.choices([*SHARES, "rest"], [*SHARES.values(), 1 - sum(SHARES.values())], k=count)
    with (
        tempfile.TemporaryDirectory() as folder,
        nestling.open(Path(folder) / "scopes.nest", create=True, embedder=Wide()) as nest,
    ):
        for tenant in dict.fromkeys(tenants):
            own = (n for n, each in enumerate(tenants) if each == tenant)
            nest.scope(tenant=tenant).add(_document(n, parts, chance) for n in own)
        questions = [" ".join(chance.choice(parts).split()[:8]) for _ in range(QUERIES)]
        print(f"{nest.stats()['children']:,} children; one search, in milliseconds of processor time")
        print(f"no scope: {_searches(nest.search, questions):.1f}")
        for tenant in SHARES:
            scope = nest.scope(tenant=tenant)
            children = scope.stats()["children"]
            filtered = _searches(lambda q, t=tenant: nest.search(q, where={"tenant": t}), questions)
            print(
                f"a scope of {tenant}, {children:,} children: {_searches(scope.search, questions):.1f};"
                f" as a filter {filtered:.1f}"
            )
        for name, each in (("the nest", nest), *((f"a scope of {t}", nest.scope(tenant=t)) for t in SHARES)):
            added, first = _additions(each, parts, chance, questions)
            print(f"adding a document to {name}: {added:.1f}; the first search after it: {first:.1f}")


def _document(n: int, parts: list[str], chance: random.Random) -> Document:
    return Document(f"d{n}", "\n\n".join(chance.choices(parts, k=4))[:1500], f"Document {n}")


def _searches(search: Callable[[str], object], questions: list[str]) -> float:
    search("warm up")
    return median(_milliseconds(lambda q=q: search(q)) for q in questions)


def _additions(
    nest: nestling.Nest, parts: list[str], chance: random.Random, questions: list[str]
) -> tuple[float, float]:
    added, first = [], []
    for n in range(20):
        document = _document(-n, parts, chance)
        added.append(_milliseconds(lambda d=document: nest.add(d)))
        first.append(_milliseconds(lambda q=questions[n]: nest.search(q)))
    return median(added), median(first)


def _milliseconds(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return 1000 * (time.process_time() - began)


if __name__ == "__main__":
    main()
