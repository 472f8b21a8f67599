"""Children into a token budget: which are taken, and how they are shown.

Children are taken by score, each with what its shape adds, until the budget is full. Indices are into the
family: children by document id, then position, so that neighbours in text are neighbours here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import regex

from nestling.retrieve.fuse import adjacent
from nestling.view import Rows, Scores

Shape = Literal["pack", "parent", "window", "merge"]
SHAPES: tuple[Shape, ...] = ("pack", "parent", "window", "merge")
# A parent of which this share of characters is taken is taken whole, where the rest fits (`pack`).
NEARLY_ALL = 0.8
# A parent, or a section, of which this share is taken is taken whole, where the rest fits (`merge`).
ENOUGH = 0.5
# Cutting a child to fill the last of the budget is worth it from this many tokens on.
WORTH_CUTTING = 12

_COMPLETE: dict[Shape, tuple[tuple[str, float], ...]] = {
    "pack": (("parent", NEARLY_ALL),),
    "merge": (("parent", ENOUGH), ("section", ENOUGH)),
}
_CUTS = (r"(?<=[.!?…][\"')\]”’]*)\s+|(?<=[。！？])|\n+", r"\s+", r"(?<=\X)(?=\X)")


@dataclass(frozen=True, slots=True)
class Children:
    """What packing needs to know of the family's children: arrays of one length.

    Attributes:
        score: What to take by, neighbours' loans included; 0 or less is never taken for itself.
        document: Row numbers.
        parent: Row numbers; children of one stand together.
        section: Equal numbers for children under one heading of one document; they stand together.
        start: Offsets in the document.
        stop: Offsets in the document.
    """

    score: Scores
    document: Rows
    parent: Rows
    section: Rows
    start: Rows
    stop: Rows


@dataclass
class Tray:
    """What has been taken: children with the end of their shown text, parents, documents, and tokens used."""

    taken: dict[int, int] = field(default_factory=dict)
    parents: set[int] = field(default_factory=set)
    documents: set[int] = field(default_factory=set)
    used: int = 0


@dataclass(frozen=True)
class Packer:
    """How text is had and counted.

    Attributes:
        children: The family.
        text: The text of a child, by index.
        head: What is shown above a parent's text, by the index of one of its children, and whether
            its document is shown already.
        count: Tokens of a text.
    """

    children: Children
    text: Callable[[int], str]
    head: Callable[[int, bool], str]
    count: Callable[[str], int]

    def fill(self, budget: int, shape: Shape, window: int = 1) -> Tray:
        """Take children by score, and with each what the shape adds, until one does not fit.

        Of that one the start is taken, cut at a sentence or word. What completes a parent or a section
        is taken only where it fits as a whole.
        """
        tray = Tray()
        c = self.children
        gap = (
            np.concatenate(([0], np.cumsum(~adjacent(c.document, c.start, c.stop))))
            if len(c.start)
            else c.start
        )
        runs = {"document": _runs(gap), "parent": _runs(c.parent), "section": _runs(c.section)}
        for index in np.argsort(-self.children.score, kind="stable").tolist():
            if self.children.score[index] <= 0:
                break
            if index in tray.taken:
                continue
            for member in _group(index, shape, window, runs):
                if member not in tray.taken and not self._add(tray, member, budget):
                    return tray
            for key, share in _COMPLETE.get(shape, ()):
                self._complete(tray, index, runs[key], share, budget)
        return tray

    def _add(self, tray: Tray, index: int, budget: int) -> bool:
        own, above = self._own_text(tray, index), self._above(tray, index)
        room = budget - tray.used - above
        cost = self.count(own)
        if cost <= room:
            self._take(tray, index, int(self.children.stop[index]), cost + above)
            return True
        if not tray.taken or room >= WORTH_CUTTING:
            part = cut(own, room - self.count(" …"), self.count)
            if part:
                stop = int(self.children.stop[index]) - len(own) + len(part)
                self._take(tray, index, stop, self.count(part) + above)
        return False

    def _complete(self, tray: Tray, index: int, run: Runs, share: float, budget: int) -> None:
        first, last = run.first[index], run.last[index]
        sizes = (self.children.stop - self.children.start)[first:last]
        have = np.array([i in tray.taken for i in range(first, last)])
        if have.all() or have.sum() < 2 or sizes[have].sum() < share * sizes.sum():
            return
        rest = [i for i in range(first, last) if i not in tray.taken]
        cost = sum(self.count(self.text(i)) for i in rest)
        heads = {int(self.children.parent[i]): i for i in rest}
        cost += sum(self._above(tray, i) for i in heads.values())
        if tray.used + cost <= budget:
            for i in rest:
                self._take(tray, i, int(self.children.stop[i]), 0)
            tray.used += cost

    def _above(self, tray: Tray, index: int) -> int:
        if int(self.children.parent[index]) in tray.parents:
            return 0
        return self.count(self.head(index, int(self.children.document[index]) in tray.documents))

    def _own_text(self, tray: Tray, index: int) -> str:
        # children may overlap: what the one before already shows is not counted again
        children, text = self.children, self.text(index)
        if index - 1 in tray.taken and children.document[index - 1] == children.document[index]:
            return text[max(0, tray.taken[index - 1] - int(children.start[index])) :]
        return text

    def _take(self, tray: Tray, index: int, stop: int, cost: int) -> None:
        tray.taken[index] = stop
        tray.parents.add(int(self.children.parent[index]))
        tray.documents.add(int(self.children.document[index]))
        tray.used += cost


class Runs(NamedTuple):
    """For each child, the first of those that share its key, and the end of them."""

    first: Rows
    last: Rows


def _runs(key: Rows) -> Runs:
    edges = np.flatnonzero(np.diff(key)) + 1
    first = np.concatenate((np.zeros(1, np.int64), edges))[: max(len(key), 0)]
    last = np.concatenate((edges, np.full(1, len(key), np.int64)))
    sizes = last - first if len(key) else np.zeros(0, np.int64)
    return Runs(np.repeat(first, sizes), np.repeat(last[: len(sizes)], sizes))


def _group(index: int, shape: Shape, window: int, runs: dict[str, Runs]) -> list[int]:
    if shape == "parent":
        first, last = int(runs["parent"].first[index]), int(runs["parent"].last[index])
    elif shape == "window":
        first = max(int(runs["document"].first[index]), index - window)
        last = min(int(runs["document"].last[index]), index + window + 1)
    else:
        return [index]
    # the evidence first, then what surrounds it, nearest first
    return sorted(range(first, last), key=lambda i: (abs(i - index), i))


def cut(text: str, budget: int, count: Callable[[str], int]) -> str:
    """The longest start of ``text`` within ``budget`` tokens, cut at a sentence, else a word, else a grapheme.

    An end at a sentence is preferred while it keeps half of what would fit; "" where nothing fits.
    """
    best = ""
    for pattern in _CUTS:
        ends = [match.start() for match in regex.finditer(pattern, text)] or [0]
        part = text[: ends[_last_fitting(text, ends, budget, count)]]
        part = part if count(part) <= budget else ""
        if len(part) > len(best) * 2:
            best = part
    return best


def _last_fitting(text: str, ends: list[int], budget: int, count: Callable[[str], int]) -> int:
    low, high = 0, len(ends) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[: ends[middle]]) <= budget:
            low = middle
        else:
            high = middle - 1
    return low
