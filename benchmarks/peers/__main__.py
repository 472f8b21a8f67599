"""Nestling and its peers in one table.

    cd benchmarks && python -m peers [--limit N] [--systems WORD ...] [--results FILE] [CORPUS ...]

Every system indexes the same documents with the same model, in a process of its own, and answers the same
questions. A figure is the share of the gold characters inside a budget of MiniLM word pieces; a system is asked for
as many pieces as fill the budget, in its own order, and the last is cut where the budget ends. What was measured is
kept in the results file; what stands there is not measured again.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import corpora
from evidence import BUDGETS

from . import tables
from .systems import OWN, SYSTEMS, versions

CORPORA = ("chroma_chunking", "codebase_chunks", "anthropic_docs", "legalbench_rag_small", "md_papers")
# where time, size and memory are measured: the largest
COSTS = "chroma_chunking"
LIMIT = 150


def main() -> None:
    """Measure what is missing, print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("corpora", nargs="*", default=CORPORA)
    parser.add_argument("--limit", type=int, default=LIMIT, help="questions of each corpus")
    parser.add_argument("--systems", nargs="*", default=[""], help="only those whose name holds one of these")
    parser.add_argument("--results", type=Path, default=Path(tempfile.gettempdir()) / "nestling-peers.jsonl")
    parser.add_argument("--tables", action="store_true", help="measure nothing")
    options = parser.parse_args()
    names = [name for name in options.corpora if corpora.available(name)]
    for name in set(options.corpora) - set(names):
        print(f"skipped {name}: not in {corpora.DATA}", file=sys.stderr)
    results = read(options.results)
    if not options.tables:
        chosen = [name for name in SYSTEMS if any(word in name for word in options.systems)]
        for corpus in (*names, "live"):
            missing = [name for name in chosen if (name, corpus) not in results]
            for name, result in measure(missing, corpus, options.limit):
                results[name, corpus] = result
                keep(options.results, name, corpus, result)
    show(results, names, options.limit)


def measure(names: list[str], corpus: str, limit: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """All systems on one corpus: what is timed, one after the other; what is found, two at a time."""
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(2) as pool:
        folders = {name: Path(scratch, str(number)) for number, name in enumerate(names)}
        for folder in folders.values():
            folder.mkdir()
        if corpus == "live":
            yield from ((name, run("live", name, folder)) for name, folder in folders.items())
            return
        if names:
            run("warm", OWN, folders[names[0]], corpus, limit)
        costs = {name: indexed(name, folder, corpus, limit) for name, folder in folders.items()}
        found = pool.map(lambda name: run("find", name, folders[name], corpus, limit), names)
        for name, result in zip(names, found, strict=True):
            yield name, costs[name] | result


def indexed(name: str, folder: Path, corpus: str, limit: int) -> dict[str, Any]:
    """Build an index; on one corpus, again where the model had something to do the first time, and time it."""
    print(f"{datetime.now(UTC):%H:%M:%S} {corpus}: {name}", file=sys.stderr)
    built = run("build", name, folder, corpus)
    if corpus != COSTS:
        return built
    if built.get("missed"):
        shutil.rmtree(folder)
        folder.mkdir()
        built = run("build", name, folder, corpus)
    return built | run("ask", name, folder, corpus, limit)


def run(*arguments: object) -> dict[str, Any]:
    """One task in a process of its own; why it failed, where it did."""
    command = [sys.executable, "-m", "peers.one", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        return {"failed": (done.stderr.strip().splitlines() or ["killed"])[-1][:120]}
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def read(path: Path) -> tables.Results:
    """What has been measured."""
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {(row["system"], row["corpus"]): row["result"] for row in rows}


def keep(path: Path, name: str, corpus: str, result: dict[str, Any]) -> None:
    """Keep what was measured, unless it failed."""
    if "failed" not in result:
        with path.open("a", encoding="utf-8") as file:
            print(json.dumps({"system": name, "corpus": corpus, "result": result}), file=file)


def show(results: tables.Results, names: list[str], limit: int) -> None:
    """Print all tables."""
    print(
        f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}, at most {limit} questions a corpus"
    )
    print(", ".join(f"{package} {version}" for package, version in versions().items()))
    budgets = ", ".join(f"{budget:,}" for budget in BUDGETS)
    print(f"\n### Evidence, mean over {budgets} tokens\n\n{tables.evidence(results, names)}")
    print(f"\n### Evidence, mean over the corpora\n\n{tables.by_budget(results, names)}")
    print(f"\n### Where a peer finds more than {OWN}\n\n{tables.each(results, names)}")
    print(f"\n### Cost on {COSTS}, the model's own left out\n\n{tables.costs(results, COSTS)}")
    print(f"\n### Adding again, editing, removing\n\n{tables.lives(results)}")


if __name__ == "__main__":
    main()
