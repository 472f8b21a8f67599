"""What search costs as a nest grows, beside other engines.

    cd benchmarks && python -m scale [--sizes N ...] [--engines WORD ...] [--folder DIR] [--tables]

Every measurement runs in a process of its own, on one processor. The cards are embedded once (minutes); a nest of a
million children takes minutes to add. All of it is kept in the folder, and what was measured in its
``results.jsonl``: what stands there is not measured again, so that a run can be interrupted. Other engines get the
nest's child vectors, or its terms, and give the best 100; a nest gives six lists of 200, fused, and five passages.
The plots are written to ``docs/``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from . import library
from .engines import ENGINES
from .plot import plot

SIZES = (20_000, 200_000, 1_000_000)
# fresh processes from whose times to a first answer the median is taken
OPENED = 5
PACKAGES = ("nestling", "numkong", "numpy", "faiss-cpu", "lancedb", "chromadb", "tantivy")
DOCS = Path(__file__).resolve().parents[2] / "docs"

Results = dict[tuple[str, int], dict[str, Any]]


def main() -> None:
    """Measure what is missing, print the tables, draw the plots."""
    parser = argparse.ArgumentParser(
        prog="python -m scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--engines", nargs="*", default=[""], help="only those whose name holds one of these")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "nestling-scale")
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    results = read(options.folder)
    if not options.tables:
        cards = options.folder / "cards.nest"
        if not cards.exists():
            draft = options.folder / "cards.draft.nest"
            library.embed(draft)
            draft.rename(cards)
        for size in options.sizes:
            measure(
                options.folder, size, [n for n in ENGINES if any(w in n for w in options.engines)], results
            )
    tables(results, options.sizes)


def measure(folder: Path, size: int, engines: list[str], results: Results) -> None:
    """Everything about one size that is missing."""
    for task in ("make", "warm", "first", "own", "changing"):
        if (task, size) not in results:
            keep(folder, results, task, size, once(folder, size, task))
    for name in engines:
        if (name, size) in results:
            continue
        found = run("engine", folder, size, name, "build")
        if "failed" not in found:
            found |= run("engine", folder, size, name, "ask")
        keep(folder, results, name, size, found)
        shutil.rmtree(folder / "engines", ignore_errors=True)


def once(folder: Path, size: int, task: str) -> dict[str, Any]:
    """A task about the nest itself; opening is measured several times."""
    if task != "first":
        return run(task, folder, size)
    times = sorted(run("first", folder, size)["first"] for _ in range(OPENED))
    return {"first": times[OPENED // 2]}


def run(task: str, folder: Path, size: int, *more: str) -> dict[str, Any]:
    """One task in a process of its own; why it failed, where it did."""
    print(f"{datetime.now(UTC):%H:%M:%S} {task} {size:,} {' '.join(more)}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "scale.one", task, str(folder), str(size), *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        return {"failed": (done.stderr.strip().splitlines() or ["killed"])[-1][:120]}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def read(folder: Path) -> Results:
    """What has been measured."""
    path = folder / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    return {(row["name"], row["size"]): row["result"] for row in rows}


def keep(folder: Path, results: Results, name: str, size: int, result: dict[str, Any]) -> None:
    """Keep what was measured, unless it failed."""
    results[name, size] = result
    if "failed" not in result:
        with (folder / "results.jsonl").open("a", encoding="utf-8") as file:
            print(json.dumps({"name": name, "size": size, "result": result}), file=file)


def tables(results: Results, sizes: list[int]) -> None:
    """Print the tables and write the plots."""
    print(f"Versions: {', '.join(f'{name} {_version(name)}' for name in PACKAGES)}.\n")
    sizes = [size for size in sizes if "stats" in results.get(("own", size), {})]
    print("| a nest of | " + " | ".join(f"{_children(results, size):,} children" for size in sizes) + " |")
    print("| --- |" + " --: |" * len(sizes))
    for label, figure in ROWS.items():
        print(f"| {label} | " + " | ".join(_told(figure, results, size) for size in sizes) + " |")
    heads = ("p50", "1 % filter", "recall@100", "filtered", "build", "peak memory", "on disk")
    for size in sizes:
        print(f"\nThe best 100 of {_children(results, size):,} children:\n")
        print("| | " + " | ".join(heads) + " |\n| --- |" + " --: |" * len(heads))
        own = results["own", size]
        near = [f"{own[name]['p50']:.1f} ms" for name in ("near", "near filtered")]
        near += [f"{own['recall']:.4f}", "", "", "", ""]
        print("| Nestling, nearest children | " + " | ".join(near) + " |")
        print(f"| Nestling, words | {own['match']['p50']:.1f} ms | | | | | | |")
        for name in ENGINES:
            print(f"| {name} | " + " | ".join(_cells(results.get((name, size), {}))) + " |")
    for kind, title in (("near", "nearest 100 children"), ("match", "best 100 children by words")):
        lines = {"Nestling, all of a search": _line(results, sizes, "own", "search")}
        lines["Nestling, this list alone"] = _line(results, sizes, "own", kind)
        lines |= {name: line for name in ENGINES if (line := _line(results, sizes, name, kind))}
        if len(sizes) > 1:
            name = "scale-vectors.svg" if kind == "near" else "scale-words.svg"
            (DOCS / name).write_text(plot(f"Median time, one processor: {title}", lines), "utf-8")


ROWS: dict[str, Any] = {
    "search, all but embedding the query, p50": lambda r, n: f"{r['own', n]['search']['p50']:.1f} ms",
    "the same, p90": lambda r, n: f"{r['own', n]['search']['p90']:.1f} ms",
    "with a filter that leaves 1 %, p50": lambda r, n: f"{r['own', n]['filtered']['p50']:.1f} ms",
    "with another such filter each time, p50": lambda r, n: f"{r['own', n]['other filters']['p50']:.1f} ms",
    "context of 2,000 tokens, p50": lambda r, n: f"{r['own', n]['context']['p50']:.1f} ms",
    "recall@100 of children against float32": lambda r, n: f"{r['own', n]['recall']:.4f}",
    "resident memory, of it files that processes share": lambda r, n: (
        f"{r['own', n]['memory']['VmRSS'] / 2**20:,.0f} MiB, {r['own', n]['memory']['RssFile'] / 2**20:,.0f} MiB"
    ),
    "first search after an added document": lambda r, n: f"{r['changing', n]['first after a change']:.0f} ms",
    "opening to first answer, files there": lambda r, n: f"{r['first', n]['first']:.0f} ms",
    "the same, files to be made": lambda r, n: f"{r['warm', n]['seconds']:.1f} s",
    "adding at this size, all but the model": lambda r, n: f"{r['changing', n]['added']:,.0f} children/s",
    "the nest, and the files beside it": lambda r, n: (
        f"{r['own', n]['bytes']['nest'] / 2**20:,.0f} MiB, {r['own', n]['bytes']['files'] / 2**20:,.0f} MiB"
    ),
}


def _told(figure: Any, results: Results, size: int) -> str:
    try:
        return str(figure(results, size))
    except KeyError:
        return "–"


def _cells(found: dict[str, Any]) -> list[str]:
    near = found.get("near") or found.get("match")
    return [
        f"{near['p50']:.1f} ms" if near else "–",
        f"{found['filtered']['p50']:.1f} ms" if "filtered" in found else "",
        f"{found['recall']:.4f}" if "recall" in found else "",
        f"{found['filtered recall']:.4f}" if "filtered recall" in found else "",
        f"{found['build']:,.0f} s" if "build" in found else "",
        f"{found['peak'] / 2**20:,.0f} MiB" if "peak" in found else "",
        f"{found['bytes'] / 2**20:,.0f} MiB" if "bytes" in found else "",
    ]


def _children(results: Results, size: int) -> int:
    return int(results["own", size]["stats"]["children"])


def _line(results: Results, sizes: list[int], name: str, kind: str) -> list[tuple[float, float]]:
    return [
        (_children(results, size), results[name, size][kind]["p50"])
        for size in sizes
        if kind in results.get((name, size), {})
    ]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "–"


if __name__ == "__main__":
    main()
