"""Gold text in a context: recall, precision and intersection over union, in characters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

# by document, sorted and apart from each other
Spans = Mapping[str, Sequence[tuple[int, int]]]


class Shares(NamedTuple):
    """How gold and shown text cover each other; each 0 to 1.

    Attributes:
        recall: The share of the gold characters that are shown.
        precision: The share of the shown characters that are gold; 0 where nothing is shown.
        iou: Characters that are both, over characters that are either.
    """

    recall: float
    precision: float
    iou: float


def merged(spans: Iterable[tuple[str, int, int]]) -> dict[str, list[tuple[int, int]]]:
    """Spans (document, start, end) by document, sorted, those that overlap or touch as one."""
    found: dict[str, list[tuple[int, int]]] = {}
    for document, start, end in sorted(spans):
        kept = found.setdefault(document, [])
        if kept and start <= kept[-1][1]:
            kept[-1] = kept[-1][0], max(end, kept[-1][1])
        else:
            kept.append((start, end))
    return found


def shares(gold: Spans, shown: Spans) -> Shares:
    """Compare what answers with what is shown; ``gold`` holds at least one character."""
    wanted, seen = _size(gold), _size(shown)
    both = sum(_common(spans, shown.get(document, ())) for document, spans in gold.items())
    return Shares(both / wanted, both / seen if seen else 0.0, both / (wanted + seen - both))


def _size(spans: Spans) -> int:
    return sum(end - start for of_one in spans.values() for start, end in of_one)


def _common(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> int:
    """How many characters are in both of two sorted lists of spans."""
    total = i = j = 0
    while i < len(a) and j < len(b):
        total += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] <= b[j][1]:
            i += 1
        else:
            j += 1
    return total
