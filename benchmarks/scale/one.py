"""One measurement in a process of its own, on one processor: ``python -m scale.one TASK …``. Prints one JSON."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# before numpy is imported
os.environ |= {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "LANCE_CPU_THREADS": "1",
    "DO_NOT_TRACK": "1",
}

import numpy as np

import nestling
from nestling.ingest.terms import query_terms
from nestling.nest import Nest
from nestling.stores.sqlite import cache_folder
from nestling.where import parse

from . import library
from .engines import BEST, ENGINES, Rows

FILTER = {"hundredth": 7}
# added documents after each of which one search is timed, and documents that the rate of adding is taken from
CHANGES, ADDED = 15, 1_000


def milliseconds(calls: Sequence[Callable[[], object]], rounds: int = 2) -> dict[str, float]:
    """Median and 90th percentile of all calls, so many times over, after a round that does not count."""
    for call in calls:
        call()
    times = []
    for _ in range(rounds):
        for call in calls:
            began = time.perf_counter()
            call()
            times.append((time.perf_counter() - began) * 1e3)
    return {"p50": float(np.median(times)), "p90": float(np.percentile(times, 90))}


def memory() -> dict[str, int]:
    """Resident bytes of this process, and how many of them are of mapped files."""
    fields = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return {name: int(fields[name].split()[0]) * 1024 for name in ("VmRSS", "RssFile")}


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    return (
        path.stat().st_size
        if path.is_file()
        else sum(f.stat().st_size for f in path.rglob("*") if f.is_file())
    )


def make(folder: str, children: str) -> dict[str, Any]:
    """Make a nest of about so many children, going on where it was interrupted."""
    embedder, rates = library.Drawn(Path(folder, "cards.nest")), []
    began, done = time.perf_counter(), 0

    def progress(told: nestling.Progress) -> None:
        nonlocal began, done
        if told.children - done >= 50_000:
            now = time.perf_counter()
            rates.append((told.children - done) / (now - began))
            began, done = now, told.children
            print(f"{told.children:,} children", file=sys.stderr, flush=True)

    with nestling.open(nest_of(folder, children), create=True, embedder=embedder) as nest:
        nest.add(library.documents(int(children)), progress=progress)
        stats = nest.stats()
    return {"children": stats["children"], "documents": stats["documents"], "rates": rates}


def nest_of(folder: str, children: str) -> Path:
    """Where the nest of a size is."""
    return Path(folder, f"{children}.nest")


def opened(folder: str, children: str) -> Nest:
    """The nest of a size, whose questions are embedded already."""
    return nestling.open(nest_of(folder, children), embedder=knowing(folder))


def knowing(folder: str) -> library.Drawn:
    """An embedder that knows the questions."""
    embedder = library.Drawn(Path(folder, "cards.nest"))
    known = Path(folder, "questions.npy")
    texts = library.questions()
    if not known.exists():
        np.save(known, nestling.MiniLM().embed_queries(texts))
    embedder.know(dict(zip(texts, np.load(known), strict=True)))
    return embedder


def first(folder: str, children: str) -> dict[str, Any]:
    """From opening to the first answer, in this fresh process; the files are there."""
    embedder, question = knowing(folder), library.questions()[0]
    began = time.perf_counter()
    with nestling.open(nest_of(folder, children), embedder=embedder) as nest:
        nest.search(question)
        return {"first": (time.perf_counter() - began) * 1e3}


def warm(folder: str, children: str) -> dict[str, Any]:
    """Make the files beside the nest."""
    began = time.perf_counter()
    with opened(folder, children) as nest:
        nest.search(library.questions()[0])
        stats = nest.stats()
    return {"seconds": time.perf_counter() - began, "search": stats["search"]}


def own(folder: str, children: str) -> dict[str, Any]:
    """What a nest costs to ask, to keep in memory, and to catch up."""
    with opened(folder, children) as nest:
        asked = library.questions()
        found: dict[str, Any] = {
            "search": milliseconds([lambda q=q: nest.search(q) for q in asked]),
            "context": milliseconds([lambda q=q: nest.context(q) for q in asked], 1),
            "filtered": milliseconds([lambda q=q: nest.search(q, where=FILTER) for q in asked]),
            # by the time one of a hundred filters comes again, it is no longer remembered
            "other filters": milliseconds(
                [lambda n=n, q=q: nest.search(q, where={"hundredth": n % 100}) for n, q in enumerate(asked)]
            ),
        }
        found |= {"memory": memory(), "stats": nest.stats()}
        vectors = [nest.embedder.embed_queries([q])[0] for q in asked]
        words = [query_terms(q, ["en"]) for q in asked]
        # a view each, since a view remembers what it read
        with nest._store.view() as view:
            for name, where in (("near", None), ("near filtered", parse(FILTER))):
                found[name] = milliseconds(
                    [lambda v=v, w=where: view.nearest("child", v, BEST, w) for v in vectors]
                )
        found["match"] = milliseconds([lambda w=w: _match(nest, w) for w in words])
        found["recall"] = recall(nest, vectors, float_scan(folder, children, vectors))
        found["bytes"] = {"nest": size_of(nest_of(folder, children))}
        found["bytes"]["files"] = size_of(cache_folder(nest_of(folder, children)))
    return found


def _match(nest: Nest, words: Any) -> object:
    with nest._store.view() as view:
        return view.match("child", words, BEST, None)


def float_scan(folder: str, children: str, vectors: Sequence[Any]) -> list[set[int]]:
    """For each question the row numbers of the best children by float32 products of the stored vectors."""
    rows, exact = exported(folder, children)
    found = []
    for vector in vectors:
        scores = np.concatenate([exact[at : at + 50_000] @ vector for at in range(0, len(exact), 50_000)])
        found.append(set(rows[np.argpartition(-scores, BEST)[:BEST]].tolist()))
    return found


def recall(nest: Nest, vectors: Sequence[Any], expected: Sequence[set[int]]) -> float:
    """The share of the expected rows that a nest's lists hold."""
    with nest._store.view() as view:
        lists = [set(view.nearest("child", vector, BEST, None).rows.tolist()) for vector in vectors]
    return float(np.mean([len(one & other) / BEST for one, other in zip(lists, expected, strict=True)]))


def changing(folder: str, children: str) -> dict[str, Any]:
    """The first search after each of a few added documents, and the rate of adding; both are removed again."""
    with opened(folder, children) as nest:
        asked = library.questions()
        usual = milliseconds([lambda q=q: nest.search(q) for q in asked], 1)["p50"]
        times = []
        for n in range(CHANGES):
            nest.add(nestling.Document(f"added {n}", f"A note on {asked[n]} " * 30, "Note"))
            began = time.perf_counter()
            nest.search(asked[0])
            times.append((time.perf_counter() - began) * 1e3)
        nest.remove([f"added {n}" for n in range(CHANGES)])
        given = [
            nestling.Document(f"more {n}", document.text, document.title, document.metadata)
            for n, document in zip(range(ADDED), library.documents(10**9), strict=False)
        ]
        count = nest.stats()["children"]
        began = time.perf_counter()
        nest.add(given)
        seconds = time.perf_counter() - began
        rate = (nest.stats()["children"] - count) / seconds
        nest.remove([document.id for document in given])
    return {"first after a change": float(np.median(times)), "usual": usual, "added": rate}


def exported(folder: str, children: str) -> tuple[Any, Any]:
    """Row numbers and float32 vectors of a nest's children, written to files once."""
    rows, vectors = Path(folder, f"{children}.rows.npy"), Path(folder, f"{children}.vectors.npy")
    if not vectors.exists():
        with nestling.open(nest_of(folder, children)) as nest, nest._store.view() as view:
            db = view._db  # type: ignore[attr-defined]
            numbers = np.array([row for (row,) in db.execute("SELECT row FROM child_vectors ORDER BY row")])
            draft = vectors.with_suffix(".tmp")
            shape = (len(numbers), library.DIMENSION)
            out = np.lib.format.open_memmap(draft, "w+", np.float32, shape)
            for n, (exact,) in enumerate(db.execute("SELECT exact FROM child_vectors ORDER BY row")):
                out[n] = np.frombuffer(exact, "<f2")
            out.flush()
        np.save(rows, numbers)
        draft.rename(vectors)
    return np.load(rows), np.load(vectors, mmap_mode="r")


def allowed(folder: str, children: str) -> Any:
    """Numbers of the children that the filter leaves."""
    with nestling.open(nest_of(folder, children)) as nest, nest._store.view() as view:
        query = (
            "SELECT c.row FROM children c JOIN fields f ON f.document = c.document"
            " WHERE f.path = 'hundredth' AND f.value = ? ORDER BY c.row"
        )
        left = [row for (row,) in view._db.execute(query, (FILTER["hundredth"],))]  # type: ignore[attr-defined]
    return np.searchsorted(exported(folder, children)[0], left)


def engine(folder: str, children: str, name: str, task: str) -> dict[str, Any]:
    """Build the index of another engine, or ask it."""
    place = Path(folder, "engines", f"{children} {name}")
    place.mkdir(parents=True, exist_ok=True)
    rows, vectors = exported(folder, children)
    subject = ENGINES[name](Rows(vectors, allowed(folder, children), nest_of(folder, children)), place)
    if task == "build":
        began = time.perf_counter()
        subject.build()
        return {"build": time.perf_counter() - began, "bytes": size_of(place)}
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    subject.open()
    with opened(folder, children) as nest:
        asked = library.questions()
        questions = [nest.embedder.embed_queries([q])[0] for q in asked]
    found: dict[str, Any] = {}
    if subject.vectors:
        found["near"] = milliseconds([lambda v=v: subject.near(v, False) for v in questions])
        found["filtered"] = milliseconds([lambda v=v: subject.near(v, True) for v in questions])
        expected = float_scan(folder, children, questions)
        lists = [set(rows[subject.near(v, False)].tolist()) for v in questions]
        found["recall"] = float(np.mean([len(a & b) / BEST for a, b in zip(lists, expected, strict=True)]))
        left = np.array(vectors[subject.rows.allowed])
        few = min(BEST, len(left))
        best = [set(subject.rows.allowed[np.argsort(-(left @ v))[:few]].tolist()) for v in questions]
        lists = [set(subject.near(v, True)) for v in questions]
        found["filtered recall"] = float(
            np.mean([len(a & b) / few for a, b in zip(lists, best, strict=True)])
        )
    if subject.words:
        found["match"] = milliseconds([lambda q=q: subject.match(q) for q in asked])
    return found | {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "make": make,
    "warm": warm,
    "first": first,
    "own": own,
    "changing": changing,
    "engine": engine,
}

if __name__ == "__main__":
    if sys.argv[1] in ("first", "own", "changing"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
