"""Passages packed into a token budget: what is shown, in which order, and the text for a prompt."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from nestling.retrieve.find import Found
from nestling.retrieve.fuse import lend
from nestling.retrieve.gate import Gate, abstention, measure, passing
from nestling.retrieve.pack import Children, Packer, Shape, Tray
from nestling.retrieve.passages import passage
from nestling.retrieve.render import Shown, body, head, joined, shown
from nestling.types import Context, Passage, Piece
from nestling.view import Rows, StoredParent, View

# Parents read at once before packing; more are read as they are needed.
FIRST_READ = 32
# `merge` looks for sections in this many of the best documents.
SECTION_DOCUMENTS = 20


def context(
    view: View, found: Found, budget: int, shape: Shape, window: int, gate: Gate, count: Callable[[str], int]
) -> Context:
    """Pack what was found into ``budget`` tokens, as ``count`` counts them."""
    if not len(found.family.child):
        return Context("", 0, budget, (), (), "nothing in the nest matches")
    kept = None
    if not gate.open:
        passed = passing(view, found, gate, 0, len(found.ranking.parent))
        if not passed.places:
            return Context("", 0, budget, (), (), abstention(gate, passed, len(found.ranking.parent)))
        kept = found.ranking.parent[[place for place, _, _ in passed.places]]
    parents = Parents(view, found)
    children = to_pack(found, parents, kept, shape)
    packer = Packer(children, parents.text, parents.head, count)
    return _fitting(view, found, children, parents, packer.fill(budget, shape, window), budget, count)


class Parents:
    """The parents of a family, read when first asked for, by the index of one of their children."""

    def __init__(self, view: View, found: Found) -> None:
        self._view = view
        self._family = found.family
        self._stored = view.parents([int(row) for row in found.ranking.parent[:FIRST_READ]])
        self.text = cache(self._text)

    def at(self, index: int) -> StoredParent:
        """The parent of a child."""
        row = int(self._family.parent[index])
        if row not in self._stored:
            self._stored |= self._view.parents([row])
        return self._stored[row]

    def _text(self, index: int) -> str:
        stored = self.at(index)
        return stored.text[self._family.start[index] - stored.start : self._family.stop[index] - stored.start]

    def head(self, index: int, document_shown: bool) -> str:
        """The line above the text of a child's parent, with its line end."""
        stored = self.at(index)
        return head(stored.id, stored.title, stored.heading, document_shown) + "\n"

    def sections(self, rows: Rows) -> dict[int, tuple[int, tuple[str, ...]]]:
        """For each of these parents, its document and the heading above its own."""
        self._stored |= self._view.parents([int(row) for row in rows if int(row) not in self._stored])
        found = (self._stored[int(row)] for row in rows)
        return {stored.row: (stored.document, stored.heading[:-1]) for stored in found}


def to_pack(found: Found, parents: Parents, kept: Rows | None, shape: Shape) -> Children:
    """The family as packing wants it: scores with neighbours' loans, none for parents that are not ``kept``."""
    family = found.family
    score = lend(found.votes.score, family.document)
    if kept is not None:
        score = np.where(np.isin(family.parent, kept), score, 0.0)
    section = family.parent
    if shape == "merge":
        section = _sections(found, parents)
    return Children(score, family.document, family.parent, section, family.start, family.stop)


def _sections(found: Found, parents: Parents) -> Rows:
    family = found.family
    by_score = family.document[np.argsort(-found.votes.score, kind="stable")]
    best = list(dict.fromkeys(by_score.tolist()))[:SECTION_DOCUMENTS]
    above = parents.sections(np.unique(family.parent[np.isin(family.document, best)]))
    numbers: dict[tuple[int, tuple[str, ...]], int] = {}
    # a heading that comes back later in the document is another section: runs are cut by `Packer`
    return np.array(
        [
            numbers.setdefault(above[row], len(numbers)) if row in above else -row
            for row in family.parent.tolist()
        ],
        np.int64,
    )


def _fitting(
    view: View,
    found: Found,
    children: Children,
    parents: Parents,
    tray: Tray,
    budget: int,
    count: Callable[[str], int],
) -> Context:
    """Render, and give up the least of what was taken until the whole text fits."""
    while tray.taken:
        order = shown(children, tray)
        text = _render(parents, order)
        tokens = count(text)
        if tokens <= budget:
            return Context(
                text, tokens, budget, _passages(view, found, parents, order), _pieces(parents, order)
            )
        del tray.taken[min(tray.taken, key=lambda i: (children.score[i], -i))]
    return Context(
        "", 0, budget, (), (), f"a budget of {budget} tokens has no room for a marker and any evidence"
    )


def _render(parents: Parents, order: list[Shown]) -> str:
    blocks: list[str] = []
    documents: set[int] = set()
    for part in order:
        stored = parents.at(part.index)
        text = body(part.spans, stored.start, stored.text)
        blocks.append(parents.head(part.index, stored.document in documents) + text)
        documents.add(stored.document)
    return "\n\n".join(blocks)


def _pieces(parents: Parents, order: list[Shown]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    by_document: dict[str, list[tuple[int, int]]] = {}
    for part in order:
        by_document.setdefault(parents.at(part.index).document_id, []).extend(part.spans)
    for id, spans in by_document.items():
        pieces += [Piece(id, *span) for span in joined(spans)]
    return tuple(pieces)


def _passages(view: View, found: Found, parents: Parents, order: list[Shown]) -> tuple[Passage, ...]:
    place_of = {row: place for place, row in enumerate(found.ranking.parent.tolist())}
    stored = [parents.at(part.index) for part in order]
    places = np.array([place_of[parent.row] for parent in stored], np.int64)
    signals = measure(view, found, places)
    return tuple(
        passage(found, parent, int(place), *signals.at(i))
        for i, (parent, place) in enumerate(zip(stored, places, strict=True))
    )
