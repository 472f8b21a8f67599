"""One system in a process of its own, so that its memory is its own: ``python -m peers.one TASK NAME FOLDER …``.

Prints one JSON value.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import corpora
import numpy as np
from evidence import BUDGETS, recall

from . import quiet  # noqa: F401  before any peer
from .lives import live
from .places import Places
from .systems import make

# questions asked for the time and memory of an answer
TIMED = 50


def peak() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def build(name: str, folder: str, corpus: str) -> dict[str, Any]:
    """Index a corpus."""
    documents = corpora.read(corpus).documents
    peer = make(name, Path(folder))
    began = time.perf_counter()
    peer.build(documents)
    seconds = time.perf_counter() - began
    return {
        "index_seconds": seconds - peer.embedder.seconds,
        "embedded": peer.embedder.texts,
        "missed": peer.embedder.missed,
        "bytes": sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()),
        "index_peak": peak(),
    }


def ask(name: str, folder: str, corpus: str, limit: str) -> dict[str, Any]:
    """Time the documented call on an index opened anew."""
    questions = answerable(corpora.read(corpus, int(limit)))
    peer = make(name, Path(folder))
    peer.open()
    seconds = []
    for text in list(questions.values())[:TIMED]:
        before = peer.embedder.seconds
        began = time.perf_counter()
        peer.ask(text)
        seconds.append(time.perf_counter() - began - (peer.embedder.seconds - before))
    return {"p50": float(np.median(seconds)), "ask_peak": peak()}


def find(name: str, folder: str, corpus: str, limit: str) -> dict[str, Any]:
    """Measure what a budget holds: recall by question and budget, as shown and with nothing shown twice."""
    read = corpora.read(corpus, int(limit))
    peer = make(name, Path(folder))
    peer.open()
    peer.places = Places(read.documents)
    found, once, repeated = [], [], []
    for id, text in answerable(read).items():
        shown = [peer.shown(text, budget) for budget in BUDGETS]
        found.append([recall(spans, read.spans[id]) for spans in shown])
        repeated.append(repetition(shown[-1]))
        if any(map(repetition, shown)):
            shown = [peer.shown(text, budget, once=True) for budget in BUDGETS]
        once.append([recall(spans, read.spans[id]) for spans in shown])
    facts = {"repeated": float(np.mean(repeated)), "lost": peer.places.lost}
    return {"recall": found, "recall_once": once, **facts}


def answerable(corpus: corpora.Corpus) -> dict[str, str]:
    """The questions that have gold spans."""
    return {id: text for id, text in corpus.questions.items() if id in corpus.spans}


def repetition(spans: list[Any]) -> float:
    """The share of the shown characters that had been shown before."""
    seen: set[tuple[str, int]] = set()
    total = 0
    for document, start, end in spans:
        total += end - start
        seen.update((document, i) for i in range(start, end))
    return 1 - len(seen) / total if total else 0.0


def warm(name: str, folder: str, corpus: str, limit: str) -> dict[str, Any]:
    """Put the questions' vectors into the file, so that no system is measured with the model in its memory."""
    peer = make(name, Path(folder))
    peer.embedder.embed_queries(list(corpora.read(corpus, int(limit)).questions.values()))
    return {"missed": peer.embedder.missed}


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "build": build,
    "ask": ask,
    "find": find,
    "warm": warm,
    "live": live,
}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
