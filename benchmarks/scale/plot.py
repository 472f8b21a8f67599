"""Cost against size, as SVG: both axes logarithmic, a line an engine."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 60, 170, 36, 44
COLOURS = ("#c2410c", "#1d4ed8", "#0f766e", "#7e22ce", "#a16207", "#be185d", "#4d7c0f", "#475569", "#0369a1")


def plot(title: str, lines: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """An SVG of lines through (children, milliseconds); the first line is drawn thick."""
    points = [point for line in lines.values() for point in line]
    x_low = min(x for x, _ in points)
    # one size alone stands at the left
    x_high = max(2 * x_low, *(x for x, _ in points))
    y_low = 10 ** math.floor(math.log10(min(y for _, y in points)))
    y_high = 10 ** math.ceil(math.log10(max(y for _, y in points)))

    def across(x: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(x / x_low) / math.log(x_high / x_low)

    def down(y: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log(y / y_low) / math.log(y_high / y_low)

    parts = [_text(LEFT, 20, title, "start", bold=True)]
    for power in range(round(math.log10(y_low)), round(math.log10(y_high)) + 1):
        y = down(10.0**power)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e2e8f0"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{10.0**power:g} ms", "end"))
    sizes = sorted({x for x, _ in points})
    parts += [_text(across(x), HEIGHT - BOTTOM + 18, f"{x:,.0f}", "middle") for x in sizes]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "children", "middle"))
    last = -math.inf
    ends = sorted((down(line[-1][1]), name) for name, line in lines.items())
    labels = {}
    for y, name in ends:
        last = labels[name] = max(y, last + 14)
    for number, (name, line) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in line)
        width = 3 if number == 0 else 1.5
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>')
        parts += [f'<circle cx="{across(x):.1f}" cy="{down(y):.1f}" r="3" fill="{colour}"/>' for x, y in line]
        parts.append(_text(across(line[-1][0]) + 8, labels[name] + 4, name, "start", colour))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"'
        f' font-size="12" role="img"><title>{escape(title)}</title>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _text(x: float, y: float, text: str, anchor: str, colour: str = "#334155", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{weight}>{escape(text)}</text>'
    )
