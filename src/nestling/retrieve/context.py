"""Passages packed into a token budget: what is shown, in which order, and the text for a prompt."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from nestling.observing import best_of
from nestling.retrieve.find import Found
from nestling.retrieve.fuse import lend
from nestling.retrieve.gate import Gate, abstention, measure, passing
from nestling.retrieve.pack import WORTH_CUTTING, Children, Packer, Shape, Tray, cut
from nestling.retrieve.passages import passage
from nestling.retrieve.render import Shown, body, head, joined, shown, table_header
from nestling.tracing import span
from nestling.types import Context, Passage, Piece
from nestling.view import Family, Rows, Scores, StoredParent, View

# Parents read at once before packing; more are read as they are needed.
FIRST_READ = 32
# `merge` looks for sections in this many of the best documents.
SECTION_DOCUMENTS = 20


def context(
    view: View, found: Found, budget: int, shape: Shape, window: int, gate: Gate, count: Callable[[str], int]
) -> Context:
    """Pack what was found into ``budget`` tokens, as ``count`` counts them."""
    with span("nestling.pack", budget=budget, shape=shape, chunk_count=len(found.family.child)) as told:
        packed = _packed(view, found, budget, shape, window, gate, count)
        if told:
            told.set(tokens=packed.tokens, piece_count=len(packed.pieces), **best_of(packed.passages))
    return packed


def _packed(
    view: View, found: Found, budget: int, shape: Shape, window: int, gate: Gate, count: Callable[[str], int]
) -> Context:
    if not len(found.family.child):
        return Context("", 0, budget, (), (), "nothing in the nest matches")
    family, score = found.family, worth(found)
    if not gate.open:
        passed = passing(view, found, gate, 0, len(found.ranking.parent))
        if not passed.places:
            return Context("", 0, budget, (), (), abstention(gate, passed, len(found.ranking.parent)))
        kept = np.isin(family.parent, found.ranking.parent[[place for place, _, _ in passed.places]])
        family, score = Family(*(column[kept] for column in family)), score[kept]
    parents = Parents(view, family, found.ranking.parent[:FIRST_READ])
    section = _sections(family, score, parents) if shape == "merge" else family.parent
    children = Children(score, family.document, family.parent, section, family.start, family.stop)
    tray = Packer(children, parents.text, parents.head, count).fill(budget, shape, window)
    return _fitting(view, found, children, parents, tray, budget, count)


class Parents:
    """The parents of a family, read when first asked for, by the index of one of their children."""

    def __init__(self, view: View, family: Family, first: Rows) -> None:
        self._view = view
        self._family = family
        self._stored = view.parents([int(row) for row in first])
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

    def table_headers(self, order: list[Shown]) -> dict[tuple[int, int], str]:
        """For spans that begin inside a table, by parent's index and start: its header rows, to be said again."""
        family = self._family
        starts = {
            (part.index, span[0]): int(family.child[index])
            for part in order
            for span in part.spans
            for index in [part.index + int(np.searchsorted(family.start[part.index : part.last], span[0]))]
            if family.start[index] == span[0]
        }
        leads = self._view.leads(list(starts.values()))
        return {place: table_header(leads[row]) for place, row in starts.items()}

    def sections(self, rows: Rows) -> dict[int, tuple[int, tuple[str, ...]]]:
        """For each of these parents, its document and the heading above its own."""
        self._stored |= self._view.parents([int(row) for row in rows if int(row) not in self._stored])
        found = (self._stored[int(row)] for row in rows)
        return {stored.row: (stored.document, stored.heading[:-1]) for stored in found}


def worth(found: Found) -> Scores:
    """What to take each child by: its score with neighbours' loans, and never nothing if it is listed."""
    score = lend(found.family, found.votes.score, found.scoring.lent)
    return np.where(found.votes.listed, np.maximum(score, 1e-9), score)


def _sections(family: Family, score: Scores, parents: Parents) -> Rows:
    by_score = family.document[np.argsort(-score, kind="stable")]
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
    """Render, and shorten or give up the least of what was taken until the whole text fits."""
    while tray.taken:
        order = shown(children, tray)
        text = _render(parents, order)
        tokens = count(text)
        if tokens <= budget:
            return Context(
                text, tokens, budget, _passages(view, found, parents, order), _pieces(parents, order)
            )
        _shorten(children, parents, tray, tokens - budget, count)
    return Context(
        "", 0, budget, (), (), f"a budget of {budget} tokens has no room for a marker and any evidence"
    )


def _shorten(
    children: Children, parents: Parents, tray: Tray, over: int, count: Callable[[str], int]
) -> None:
    least = min(tray.taken, key=lambda i: (children.score[i], -i))
    start = int(children.start[least])
    if least - 1 in tray.taken and children.document[least - 1] == children.document[least]:
        start = max(start, tray.taken[least - 1])
    first = int(children.start[least])
    own = parents.text(least)[start - first : tray.taken[least] - first]
    room = count(own) - over
    part = cut(own, room, count) if room >= WORTH_CUTTING or len(tray.taken) == 1 else ""
    if part:
        tray.taken[least] = start + len(part)
    else:
        del tray.taken[least]


def _render(parents: Parents, order: list[Shown]) -> str:
    blocks: list[str] = []
    documents: set[int] = set()
    headers = parents.table_headers(order)
    for part in order:
        stored = parents.at(part.index)
        own = {at: header for (index, at), header in headers.items() if index == part.index}
        text = body(part.spans, stored.start, stored.text, own)
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
