"""How long things take: adding, searching, replacing, opening, importing; and the memory it needs.

    python benchmarks/speed.py [--children N]

The text is real: the cards of ``medquad_cards`` where the corpora are beside the project, else the Python
reference, repeated with other words. Search is measured on a nest whose vectors are drawn by chance, since its time
does not depend on them; adding is measured with the built-in model, whose own time on the same texts is taken in
the same run. These machines are noisy: read the ratios.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from pydoc_data.topics import topics
from zlib import crc32

import corpora
import numpy as np

import nestling
from nestling.ingest.prepare import prepare
from nestling.models.embedder import Vectors

QUESTIONS = (
    "What are the treatments for high blood pressure?",
    "how does the with statement call a context manager",
    "is it inherited from both parents",
    "what should I know about the side effects of taking this medicine on an empty stomach",
    "early signs and symptoms in young children",
)


class Chance:
    """Vectors drawn by chance, the same for the same text."""

    fingerprint = "chance-384"
    dimension = 384
    max_tokens = 256
    languages = None
    spec = None

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Draw by the text's checksum."""
        vectors = np.stack([np.random.default_rng(crc32(t.encode())).normal(size=384) for t in texts])
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    embed_queries = embed_documents

    def count_tokens(self, text: str) -> int:
        """About four characters a token."""
        return len(text) // 4


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--children", type=int, default=20_000)
    options = parser.parse_args()
    row("import nestling", f"{import_time() * 1000:.0f} ms")
    adding()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.nest"
        began = time.perf_counter()
        with nestling.open(path, create=True, embedder=Chance()) as nest:
            nest.add(documents(options.children))
            children = nest.stats()["children"]
        took = time.perf_counter() - began
        row(f"add {children:,} children, all but the model", f"{children / took:,.0f} children/s")
        row("size of the file", f"{path.stat().st_size / 2**20:.0f} MiB")
        searching(path)
        opening(path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    row("peak resident memory of all this", f"{peak:.0f} MiB")


def row(name: str, figure: str) -> None:
    """Print one line."""
    print(f"{name:52} {figure}", flush=True)


def import_time() -> float:
    """The best of seven fresh interpreters, less an interpreter that imports nothing."""
    best = {}
    for statement in ("pass", "import nestling"):
        times = []
        for _ in range(7):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            times.append(time.perf_counter() - began)
        best[statement] = min(times)
    return best["import nestling"] - best["pass"]


def adding() -> None:
    """Throughput of ``nest.add`` over that of the model on the same texts, in turns."""
    given = [nestling.Document(name, text, name) for name, text in topics.items()]
    model = nestling.MiniLM()
    model.embed_queries(["warm up"])
    recipe = nestling.Recipe()
    texts = [text for document in given for text in prepare(document, recipe, model.count_tokens).texts]
    raw, added = [], []
    for _ in range(3):
        raw.append(seconds(lambda: model.embed_documents(texts)))
        with tempfile.TemporaryDirectory() as folder:
            nest = nestling.open(Path(folder) / "x.nest", create=True, embedder=model)
            added.append(seconds(lambda nest=nest: nest.add(given)))
            nest.close()
    row("the model alone", f"{len(texts) / min(raw):.0f} children/s ({len(texts)} children)")
    ratio = float(np.median([a / b for a, b in zip(raw, added, strict=True)]))
    row(
        "nest.add with the model", f"{len(texts) / min(added):.0f} children/s, {ratio:.2f} of the model alone"
    )


def documents(children: int) -> list[nestling.Document]:
    """Cards that make about so many children."""
    if corpora.available("medquad_cards"):
        cards = corpora.read("medquad_cards").documents
    else:
        chance = random.Random(1)
        parts = [part for text in topics.values() for part in text.split("\n\n")]
        cards = [nestling.Document(f"d{n}", "\n\n".join(chance.choices(parts, k=6))) for n in range(children)]
    kept, total = [], 0
    for card in cards:
        if total >= children:
            break
        kept.append(card)
        total += 1 + len(card.text) // 350
    return kept


def searching(path: Path) -> None:
    """Search with the query already embedded, and one replacement of a document."""
    with nestling.open(path, embedder=Chance()) as nest:
        vectors = {question: nest.embedder.embed_queries([question]) for question in QUESTIONS}
        nest.embedder.embed_queries = lambda texts: vectors[texts[0]]  # type: ignore[method-assign]
        nest.search(QUESTIONS[0])
        for name, ask in (
            ("search, all but embedding the query", nest.search),
            ("context of 2,000 tokens, likewise", nest.context),
        ):
            times = sorted(seconds(lambda q=q, ask=ask: ask(q)) for _ in range(40) for q in QUESTIONS)
            row(name, f"p50 {times[100] * 1e3:.1f} ms, p99 {times[197] * 1e3:.1f} ms")
        text = "A new text about high blood pressure. " * 50
        times = sorted(
            seconds(lambda n=n: nest.add(nestling.Document("replaced", f"{n} {text}"))) for n in range(40)
        )
        row(
            "replace one document of 5 children",
            f"p50 {times[20] * 1e3:.1f} ms, p99 {times[39] * 1e3:.1f} ms",
        )
        times = []
        for n in range(20):
            nest.add(nestling.Document("replaced", f"again {n} {text}"))
            times.append(seconds(lambda: nest.search(QUESTIONS[0])))
        row("first search after a change", f"p50 {sorted(times)[10] * 1e3:.1f} ms")
    model = nestling.MiniLM()
    model.embed_queries(["warm up"])
    times = sorted(seconds(lambda q=q: model.embed_queries([q])) for _ in range(40) for q in QUESTIONS)
    row("embedding the query", f"p50 {times[100] * 1e3:.1f} ms, p99 {times[197] * 1e3:.1f} ms")


def opening(path: Path) -> None:
    """From opening the file to the first passages, in this process."""

    def first() -> None:
        with nestling.open(path, embedder=Chance()) as nest:
            assert nest.search(QUESTIONS[0])

    row("open to first result", f"{min(seconds(first) for _ in range(5)) * 1e3:.0f} ms")


def seconds(call: Callable[[], object]) -> float:
    """Wall time of one call."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
