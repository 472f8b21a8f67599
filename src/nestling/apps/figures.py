"""An evaluation on the terminal: tables of figures with intervals, the worst questions."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import nestling
from nestling.apps.terminal import clipped, columns, line, paint, say, table

LEVELS = {"document": "documents", "parent": "passages"}
RANKINGS = ("hit", "recall", "nDCG", "MRR", "MAP")
EVIDENCE = ("evidence recall", "evidence precision", "evidence IoU", "tokens")
# Worst questions, and skipped ones, that are named.
WORST, MOST_SKIPPED = 5, 3


def print_evaluation(found: nestling.Evaluation) -> None:
    """Print the figures: tables on a terminal, else every figure as a tab-separated line."""
    if not sys.stdout.isatty():
        figures = ((f.figure, f.tag, f.n, f.mean, f.low, f.high) for f in found.summary)
        table((["" if cell is None else str(cell) for cell in row] for row in figures), [""] * 6)
        return
    say(
        paint(
            line(f"{found.nest}: {len(found.questions):,} questions of {found.settings['golden']}"), bold=True
        )
    )
    for level, name in LEVELS.items():
        rows = [_row(found, f"{level}/{each}", each, found.settings["k"]) for each in RANKINGS]
        _print(rows, [name, *(f"@{k}" for k in found.settings["k"]), "n"])
    rows = [_row(found, each, each, found.settings["budgets"]) for each in EVIDENCE]
    _print(rows, ["context", *(f"{budget:,} tokens" for budget in found.settings["budgets"]), "n"])
    _print([_row(found, each, each, ()) for each in ("gate precision", "gate recall")], ["gate", "mean", "n"])
    _print([_row(found, each, each, ()) for each in ("latency p50", "latency p95")], ["search", "time", "n"])
    _print_tags(found)
    _print_skipped(found)
    _print_worst(found)


def _row(found: nestling.Evaluation, figure: str, name: str, cuts: Sequence[int]) -> list[str]:
    """A line of a table, or nothing where no question has the figure."""
    whole = found.figure(figure)
    at = [each for cut in cuts if (each := found.figure(f"{figure}@{cut}"))]
    if not at:
        return [name, str(whole), *[""] * (len(cuts) - 1), f"{whole.n:,}"] if whole else []
    return [name, *map(str, at), f"{at[0].n:,}"]


def _print(rows: Sequence[list[str]], heads: Sequence[str]) -> None:
    kept = [row for row in rows if row]
    if kept:
        say()
        table(kept, heads)


def _print_tags(found: nestling.Evaluation) -> None:
    tags = dict.fromkeys(each.tag for each in found.summary if each.tag is not None)
    last = max(found.settings["k"], default=0)
    shown = ["evidence recall", f"document/nDCG@{last}", f"parent/nDCG@{last}", "gate recall", "document/MRR"]
    shown = [name for name in shown if any(found.figure(name, tag) for tag in tags)][:4]
    rows = []
    for tag in tags:
        figures = [found.figure(name, tag) for name in shown]
        asked = next(each.n for each in found.summary if each.tag == tag and each.figure == "latency p50")
        rows.append([tag, *(str(each or "") for each in figures), f"{asked:,}"])
    _print(rows, ["tag", *shown, "n"])


def _print_skipped(found: nestling.Evaluation) -> None:
    if found.skipped:
        say(paint(f"\n{len(found.skipped):,} questions were not counted", bold=True))
        for each in found.skipped[:MOST_SKIPPED]:
            say(f"  {clipped(f'{each.id}: {each.reason}', columns() - 2)}")


def _print_worst(found: nestling.Evaluation) -> None:
    worst = found.worst(WORST)
    if worst:
        say(paint("\nworst questions, and what was found", bold=True))
    for each in worst:
        name, value = each.headline or ("", 0.0)
        say(f"  {clipped(f'{each.id}: {each.question}', columns() - 2)}")
        best = each.found[0] if each.found else None
        instead = f"{best.id} {best.title}: {best.text}" if best else "nothing"
        say(paint(f"    {clipped(f'{name} {value:.2f} · {instead}', columns() - 4)}", dim=True))
