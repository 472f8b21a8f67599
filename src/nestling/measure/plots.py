"""Plots as SVG: lines with intervals, and histograms. Colours and sizes are those of ``report.css``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 360, 220
LEFT, RIGHT, TOP, BOTTOM = 40, 14, 34, 36
CLASSES = ("first", "second")
# What a y axis may end at, so that its quarters are round.
CEILINGS = (0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8, 1.0)
# Room that a letter takes, at the size of the labels.
LETTER = 6.2


@dataclass(frozen=True, slots=True)
class Series:
    """A line: for each place on the x axis a mean with the ends of its interval, or None.

    Attributes:
        name: For the legend.
        points: Mean, low and high, each 0 to 1.
    """

    name: str
    points: Sequence[tuple[float, float, float] | None]


@dataclass(frozen=True, slots=True)
class Mark:
    """A line across a histogram at ``x``, with what it says."""

    x: float
    label: str


def lines(title: str, axis: str, labels: Sequence[str], series: Sequence[Series]) -> str:
    """One or two lines over labelled places, from 0 to 100 %, with whiskers for the intervals.

    Args:
        title: What it shows, for those who do not see it.
        axis: What the labels are.
        labels: Of the places, left to right.
        series: The first one's values are written at its points.
    """
    step = (WIDTH - LEFT - RIGHT) / len(labels)
    parts = [_percents(1.0)]
    for i, label in enumerate(labels):
        parts.append(_text(LEFT + step * (i + 0.5), HEIGHT - BOTTOM + 15, label, "middle"))
    for number, each in enumerate(series):
        # moved apart, so that whiskers can be told from each other
        shift = (number - (len(series) - 1) / 2) * 9
        xs = [LEFT + step * (i + 0.5) + shift for i in range(len(labels))]
        parts.append(_line(each, xs, CLASSES[number], values=number == 0))
    return _svg(title, [*parts, _legend([each.name for each in series]), _axis(axis)])


def histogram(
    title: str,
    axis: str,
    edges: Sequence[float],
    shares: Sequence[tuple[str, Sequence[float]]],
    marks: Sequence[Mark] = (),
    label: Callable[[float], str] = "{:g}".format,
) -> str:
    """Bars upward for the first distribution, downward for the second.

    Args:
        title: What it shows, for those who do not see it.
        axis: What is on the x axis.
        edges: Of the bars, evenly spaced, one more than there are bars.
        shares: One or two distributions: name, and the share of each bar.
        marks: Lines across.
        label: How a place on the x axis is written.
    """
    tallest = max((max(bars, default=0.0) for _, bars in shares), default=0.0)
    high = next(share for share in CEILINGS if share >= min(tallest, 1.0))
    floor, room = _floor(len(shares))
    x = _scale(edges[0], edges[-1])
    parts = [_percents(high, floor, room, both=len(shares) > 1)]
    every = max(1, -(-(len(edges) - 1) // 5))
    parts += [_text(x(edge), HEIGHT - BOTTOM + 15, label(edge), "middle") for edge in edges[::every]]
    for number, (name, bars) in enumerate(shares):
        for start, end, share in zip(edges, edges[1:], bars, strict=False):
            tall = room * share / high
            told = f"{name}, {label(start)} to {label(end)}: {100 * share:.1f} %"
            top = floor if number else floor - tall
            parts.append(_bar(x(start) + 0.75, top, x(end) - x(start) - 1.5, tall, CLASSES[number], told))
    parts.append(f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{floor}" y2="{floor}"/>')
    for row, mark in enumerate(marks):
        height = TOP - 5 - 13 * (len(marks) - 1 - row)
        parts.append(_mark(x(min(max(mark.x, edges[0]), edges[-1])), mark.label, height))
    names = [name for name, _ in shares]
    return _svg(title, [*parts, _legend(names if len(names) > 1 else []), _axis(axis)])


def _svg(title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _floor(distributions: int) -> tuple[float, float]:
    """Where bars stand, and how tall the tallest is."""
    room = HEIGHT - TOP - BOTTOM
    return (TOP + room / 2, room / 2) if distributions > 1 else (HEIGHT - BOTTOM, float(room))


def _scale(low: float, high: float) -> Callable[[float], float]:
    width = (WIDTH - LEFT - RIGHT) / ((high - low) or 1.0)
    return lambda value: LEFT + (value - low) * width


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _percents(
    high: float, floor: float = HEIGHT - BOTTOM, room: float = HEIGHT - TOP - BOTTOM, both: bool = False
) -> str:
    """Lines of the grid with their percentages, upward from the floor, and downward as well."""
    steps = (0.0, 0.5, 1.0) if both else (0.0, 0.25, 0.5, 0.75, 1.0)
    parts = []
    for step in [*steps, *(-step for step in steps[1:] if both)]:
        y = floor - step * room
        percent = 100 * high * abs(step)
        told = f"{percent:.0f} %" if percent >= 10 or percent == int(percent) else f"{percent:.1f} %"
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(LEFT - 5, y + 4, told, "end"))
    return "".join(parts)


def _line(series: Series, xs: Sequence[float], kind: str, values: bool) -> str:
    known = [(x, *point) for x, point in zip(xs, series.points, strict=True) if point]
    path = " ".join(f"{x:.1f},{_y(mean):.1f}" for x, mean, _, _ in known)
    parts = [f'<polyline class="line {kind}" points="{path}"/>']
    for x, mean, low, high in known:
        told = f"{series.name}: {100 * mean:.1f} % (95 % interval {100 * low:.1f} to {100 * high:.1f})"
        parts.append(
            f'<line class="whisker {kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{_y(low):.1f}" y2="{_y(high):.1f}"/>'
            f'<circle class="point {kind}" cx="{x:.1f}" cy="{_y(mean):.1f}" r="4.5">'
            f"<title>{escape(told)}</title></circle>"
        )
        if values:
            parts.append(_text(x, max(_y(high) - 5, TOP - 4), f"{100 * mean:.0f}", "middle", "value"))
    return "".join(parts)


def _bar(x: float, y: float, width: float, tall: float, kind: str, told: str) -> str:
    if tall <= 0:
        return ""
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{tall:.1f}">'
        f"<title>{escape(told)}</title></rect>"
    )


def _mark(x: float, label: str, y: float) -> str:
    before = x + 4 + LETTER * len(label) > WIDTH - RIGHT
    text = _text(x - 4 if before else x + 4, y, label, "end" if before else "start", "value")
    return f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 8:.1f}" y2="{HEIGHT - BOTTOM}"/>{text}'


def _legend(names: Sequence[str]) -> str:
    parts, x = [], float(LEFT)
    for number, name in enumerate(names):
        parts.append(f'<rect class="{CLASSES[number]}" x="{x:.1f}" y="6" width="10" height="10" rx="2"/>')
        parts.append(_text(x + 15, 15, name, "start"))
        x += 30 + LETTER * len(name)
    return "".join(parts)


def _axis(label: str) -> str:
    return _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, label, "middle")


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
