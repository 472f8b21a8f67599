"""The tables, in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from evidence import BUDGETS

from .systems import OWN, SYSTEMS

RESAMPLES = 10_000
# what was measured, or why not, by (system, corpus)
Results = dict[tuple[str, str], dict[str, Any]]


def recall(results: Results, name: str, corpora: Sequence[str]) -> list[np.ndarray] | None:
    """Questions × budgets of every corpus; None where the system failed on one."""
    rows = [results.get((name, corpus), {}).get("recall") for corpus in corpora]
    return None if any(row is None for row in rows) else [np.array(row) for row in rows]


def interval(own: Sequence[np.ndarray], other: Sequence[np.ndarray]) -> tuple[float, float, float]:
    """How much more Nestling finds than another: the mean of the corpora's means, and its 95 % interval.

    A paired bootstrap: within each corpus the questions are drawn anew, the same for both.
    """
    random = np.random.default_rng(0)
    drawn = np.zeros(RESAMPLES)
    means = []
    for ours, theirs in zip(own, other, strict=True):
        difference = (ours - theirs).reshape(len(ours), -1).mean(axis=1)
        means.append(difference.mean())
        picks = random.integers(len(difference), size=(RESAMPLES, len(difference)))
        drawn += difference[picks].mean(axis=1) / len(own)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(np.mean(means)), float(low), float(high)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] + ["--:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def evidence(results: Results, corpora: Sequence[str]) -> str:
    """What is found, by corpus: the mean over the budgets."""
    own = recall(results, OWN, corpora)

    def row(name: str) -> list[str]:
        found = recall(results, name, corpora)
        if found is None:
            return [name, *[reason(results, name, corpus) for corpus in corpora], "", ""]
        means = [part.mean() for part in found]
        cells = [f"{mean:.3f}" for mean in (*means, np.mean(means))]
        return [name, *cells, difference(own, found) if name != OWN else ""]

    counts = [len((results.get((OWN, corpus)) or {}).get("recall", ())) for corpus in corpora]
    head = [f"{corpus} ({n})" for corpus, n in zip(corpora, counts, strict=True)]
    return table(["", *head, "mean", "Nestling finds more by"], map(row, SYSTEMS))


def by_budget(results: Results, corpora: Sequence[str]) -> str:
    """What is found, by budget: the mean over the corpora."""
    own = recall(results, OWN, corpora)

    def row(name: str) -> list[str]:
        found = recall(results, name, corpora)
        if found is None or own is None:
            return [name, *[""] * (len(BUDGETS) + 3)]
        means = np.mean([part.mean(axis=0) for part in found], axis=0)
        ours = np.mean([part.mean(axis=0) for part in own], axis=0)
        repeated = np.mean([results[name, corpus]["repeated"] for corpus in corpora])
        once = np.mean([np.mean(results[name, corpus]["recall_once"]) for corpus in corpora])
        ratio = f"{ours[0] / means[0]:.2f}×"
        return [name, *(f"{mean:.3f}" for mean in means), ratio, f"{repeated:.0%}", f"{once:.3f}"]

    head = ["", *(f"{budget:,} tokens" for budget in BUDGETS)]
    head += ["Nestling ÷ it at 500", "shown twice", "mean, if nothing were"]
    return table(head, map(row, SYSTEMS))


def each(results: Results, corpora: Sequence[str]) -> str:
    """Where another system finds more than Nestling: every corpus and budget, with the interval."""
    rows = []
    for name in SYSTEMS:
        for corpus in corpora:
            own, found = recall(results, OWN, [corpus]), recall(results, name, [corpus])
            if own is None or found is None or name.startswith(OWN):
                continue
            for column, budget in enumerate(BUDGETS):
                parts = [own[0][:, [column]]], [found[0][:, [column]]]
                if interval(*parts)[0] < 0:
                    figures = f"{parts[1][0].mean():.3f}", f"{parts[0][0].mean():.3f}"
                    rows.append([f"{name}, {corpus}, {budget:,}", *figures, difference(*parts)])
    return table(["", "it", "Nestling", "Nestling finds more by"], rows) if rows else "Nowhere."


def costs(results: Results, corpus: str) -> str:
    """Time, size and memory on one corpus; the model's own time and memory are left out."""

    def row(name: str) -> list[str]:
        run = results.get((name, corpus), {})
        if "p50" not in run:
            return [name, *[""] * 6]
        return [
            name,
            f"{run['index_seconds']:.1f} s",
            f"{run['embedded']:,}",
            f"{run['bytes'] / 1e6:.0f} MB",
            f"{run['p50'] * 1000:.0f} ms",
            f"{run['index_peak'] / 1e6:.0f} MB",
            f"{run['ask_peak'] / 1e6:.0f} MB",
        ]

    head = ["", "index", "texts embedded", "on disk", "query p50", "memory, indexing", "memory, asking"]
    return table(head, map(row, SYSTEMS))


def lives(results: Results) -> str:
    """Adding again, editing, removing."""

    def row(name: str) -> list[str]:
        life = results.get((name, "live"), {})
        if "units" not in life:
            return [name, life.get("failed", "not run"), *[""] * 5]
        stale = f"{life['stale_sentence']} / {life['stale_end']} / {life['new_found']}"
        return [
            name,
            f"{life['units']} → {life['units_again']}, {life['embedded_again']} embedded",
            "same" if life["same_ids"] else "new",
            f"{life['shown']} → {life['shown_again']}",
            short(life["edit"]),
            stale,
            f"{short(life['remove'])}, shown {life['still_found']} times",
        ]

    head = ["", "added again: units", "ids", "the same text shown", "edit", "old / dropped / new text shown"]
    return table([*head, "remove"], (row(name) for name in SYSTEMS if "counted" not in name))


def difference(own: Sequence[np.ndarray] | None, found: Sequence[np.ndarray]) -> str:
    """A difference in points with its interval."""
    if own is None:
        return ""
    mean, low, high = (100 * value for value in interval(own, found))
    return f"{mean:+.1f} ({low:+.1f} to {high:+.1f})"


def short(outcome: str) -> str:
    """An outcome without the details of an error."""
    return outcome.split(":")[0]


def reason(results: Results, name: str, corpus: str) -> str:
    """A figure where there is one, else why there is none."""
    result = results.get((name, corpus), {})
    if "recall" in result:
        return f"{np.mean(result['recall']):.3f}"
    return str(result.get("failed", "not run"))
