"""What of an evaluation is drawn: a title, a sentence, a plot, and the same in numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from nestling.measure.evaluation import Evaluation, Figure
from nestling.measure.plots import Mark, Series, histogram, lines

BARS = 20
# Searches slower than this many times the 95th percentile's are drawn in the last bar.
SLOWEST = 1.5


class Chart(NamedTuple):
    """One plot with its words, and its numbers as a table.

    Attributes:
        title: What is drawn.
        caption: A sentence on it.
        svg: The drawing; its colours are those of classes (``first``, ``second``, ``grid``, …).
        heads: Of the table.
        rows: Of the table.
    """

    title: str
    caption: str
    svg: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def charts(found: Evaluation) -> Sequence[Chart]:
    """The plots of an evaluation for which there is something to draw."""
    return list(_charts(found))


def _charts(found: Evaluation) -> Iterator[Chart]:
    yield from _over_budget(found)
    yield from _over_k(found)
    similarity = [
        (each.answerable, each.similarity) for each in found.questions if each.similarity is not None
    ]
    coverage = [(each.answerable, each.coverage) for each in found.questions]
    yield from _signal("similarity", similarity, found.settings["min_similarity"])
    yield from _signal("coverage", coverage, found.settings["min_coverage"])
    yield _latency(found)


def _over_budget(found: Evaluation) -> Iterator[Chart]:
    budgets = found.settings["budgets"]
    names = {"recall": "evidence recall", "precision": "evidence precision"}
    if any(found.figure(f"evidence recall@{budget}") for budget in budgets):
        yield _lines(
            found,
            "Evidence in the context",
            "Recall: share of the gold text that is in the context. Precision: share of the context that is gold.",
            "tokens of context",
            budgets,
            names,
        )


def _over_k(found: Evaluation) -> Iterator[Chart]:
    ks = found.settings["k"]
    for title, measure, caption in (
        ("Recall", "recall", "Share of the relevant documents and passages among the first k."),
        ("Hits", "hit", "Share of questions with something that suffices among the first k."),
    ):
        names = {
            name: f"{level}/{measure}"
            for name, level in (("documents", "document"), ("passages", "parent"))
            if any(found.figure(f"{level}/{measure}@{k}") for k in ks)
        }
        if names:
            yield _lines(found, f"{title} by rank", caption, "k", ks, names)


def _lines(
    found: Evaluation, title: str, caption: str, axis: str, cuts: Sequence[int], names: dict[str, str]
) -> Chart:
    figures = {name: [found.figure(f"{figure}@{cut}") for cut in cuts] for name, figure in names.items()}
    svg = lines(
        f"{title}: {caption}",
        axis,
        [f"{cut:,}" for cut in cuts],
        [Series(name, [_point(each) for each in row]) for name, row in figures.items()],
    )
    rows = [
        [
            f"{cut:,}",
            *(str(row[i] or "") for row in figures.values()),
            _n([row[i] for row in figures.values()]),
        ]
        for i, cut in enumerate(cuts)
    ]
    return Chart(title, caption, svg, [axis, *names, "n"], rows)


def _point(figure: Figure | None) -> tuple[float, float, float] | None:
    if figure is None:
        return None
    low = figure.mean if figure.low is None else figure.low
    high = figure.mean if figure.high is None else figure.high
    return figure.mean, low, high


def _n(figures: Sequence[Figure | None]) -> str:
    """How many questions; more than one number where the figures differ in it."""
    return " / ".join(dict.fromkeys(f"{figure.n:,}" for figure in figures if figure))


def _signal(name: str, values: Sequence[tuple[bool, float]], gate: float | None) -> Iterator[Chart]:
    """The best value of each question, answerable and unanswerable ones apart, with the gate."""
    if not values:
        return
    groups = {"answerable": [v for answerable, v in values if answerable]}
    groups["unanswerable"] = [v for answerable, v in values if not answerable]
    groups = {group: found for group, found in groups.items() if found}
    low = min(0.0, math.floor(min(v for _, v in values) * 10) / 10)
    edges = [round(low + (1 - low) * i / BARS, 6) for i in range(BARS + 1)]
    shares = {group: _shares(found, edges) for group, found in groups.items()}
    caption = f"Highest {name} among the passages of each question, as a share of its kind of question."
    if gate is None:
        caption += " No gate is set."
    marks = [Mark(gate, f"gate {gate:g}")] if gate is not None else []
    svg = histogram(f"{name}: {caption}", f"best {name}", edges, list(shares.items()), marks)
    yield _histogram(
        f"Best {name}", caption, svg, name, edges, shares, {g: len(f) for g, f in groups.items()}
    )


def _latency(found: Evaluation) -> Chart:
    milliseconds = [1000 * each.seconds for each in found.questions]
    p50, p95 = (float(np.quantile(milliseconds, share)) for share in (0.5, 0.95))
    most = _nice(max(SLOWEST * p95, 0.1))
    edges = [round(most * i / BARS, 6) for i in range(BARS + 1)]
    shares = {"searches": _shares(milliseconds, edges)}
    slower = sum(value > most for value in milliseconds)
    caption = "Time of one search, the question's embedding included."
    if slower:
        caption += f" The last bar holds {slower:,} slower than {most:g} ms."
    marks = [Mark(p50, f"p50 {p50:.0f} ms"), Mark(p95, f"p95 {p95:.0f} ms")]
    svg = histogram(f"Latency: {caption}", "milliseconds", edges, list(shares.items()), marks)
    return _histogram("Latency", caption, svg, "milliseconds", edges, shares, {"searches": len(milliseconds)})


def _histogram(
    title: str,
    caption: str,
    svg: str,
    name: str,
    edges: Sequence[float],
    shares: dict[str, list[float]],
    counts: dict[str, int],
) -> Chart:
    rows = [
        [f"{edges[i]:g} to {edges[i + 1]:g}", *(f"{100 * bars[i]:.1f} %" for bars in shares.values())]
        for i in range(len(edges) - 1)
        if any(bars[i] for bars in shares.values())
    ]
    return Chart(title, caption, svg, [name, *(f"{group} (n = {n:,})" for group, n in counts.items())], rows)


def _shares(values: Sequence[float], edges: Sequence[float]) -> list[float]:
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), bins=np.asarray(edges))
    return [float(count) / len(values) for count in counts]


def _nice(value: float) -> float:
    """The next of 1, 2, 2.5, 4, 5, 8, 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 2.5, 4, 5, 8, 10) if step * power >= value * (1 - 1e-9))
