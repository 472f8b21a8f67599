"""What the tools for assistants answer. They read only, and name ids, never paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import nestling
from nestling.apps import wire
from nestling.apps.mcp_text import block, data, fenced, one_line, unmarked
from nestling.settings import BUDGET, PASSAGES

# Documents of a page of a list, where it is not said how many.
DOCUMENTS = 50
# Passages of one outline.
MOST_HEADINGS = 200
# Characters of the passages of one `read`; the one that was asked for is whole however long it is.
MOST_CHARACTERS = 20_000


class Answer(NamedTuple):
    """What a tool answers.

    Attributes:
        text: For a model.
        value: The same, in the shapes of docs/json.md and docs/mcp.md.
    """

    text: str
    value: wire.JSON


def search(nest: nestling.Nest, given: dict[str, Any]) -> Answer:
    """The best passages for a query."""
    query = given["query"]
    found = nest.search(
        query, int(given.get("k", PASSAGES)), offset=int(given.get("offset", 0)), **_gate(given)
    )
    value = data(wire.results(query, found))
    if not found:
        return Answer(f"nothing was found{f': {found.abstained}' if found.abstained else ''}", value)
    blocks = (
        block(passage.cite, passage.title, passage.heading, f"\n{nestling.quoted(passage.text.strip())}")
        for passage in found
    )
    return Answer(fenced("Passages, best first", "\n\n".join(blocks)), value)


def context(nest: nestling.Nest, given: dict[str, Any]) -> Answer:
    """Passages packed into a token budget."""
    query = given["query"]
    packed = nest.context(query, int(given.get("budget", BUDGET)), **_gate(given))
    # the packed text is harmless already, and holds our own markers
    value = {**data(wire.context(query, packed)), "text": packed.text}
    for passage in value["passages"]:
        del passage["text"], passage["evidence"]
    if not packed.text:
        return Answer(f"nothing was found: {packed.abstained}", value)
    return Answer(fenced("Passages; … stands for text that is left out", packed.text), value)


def read(nest: nestling.Nest, given: dict[str, Any]) -> Answer:
    """A passage with its neighbours, a document from its beginning, or its outline."""
    id, tree = _shown(nest, given["id"])
    parents = tree.parents
    place = next((i for i, parent in enumerate(parents) if parent.id == id), 0)
    outline = given.get("outline", False)
    if outline:
        first, last = place, min(place + MOST_HEADINGS, len(parents))
    elif id == tree.document.id and "before" not in given and "after" not in given:
        first, last = _around(parents, 0, 0, len(parents))
    else:
        first, last = _around(parents, place, int(given.get("before", 0)), int(given.get("after", 0)))
    document, chosen = tree.document, parents[first:last]
    previous = parents[first - 1].id if first else None
    following = parents[last].id if last < len(parents) else None
    value = {
        "id": id,
        "document": {
            "id": document.id,
            "title": document.title,
            "source": document.source,
            "metadata": wire.plain(document.metadata),
            "characters": len(document.text),
            "passages": len(parents),
        },
        "passages": [_passage(document, parent, outline) for parent in chosen],
        "previous": previous,
        "next": following,
    }
    if not chosen:
        return Answer(f"the document {nestling.quoted(id)!r} is empty", data(value))
    return Answer(_told(document, chosen, outline, previous, following), data(value))


def list_(nest: nestling.Nest, given: dict[str, Any]) -> Answer:
    """A page of the documents, by id."""
    found = nest.list(given.get("where"))
    after, limit = given.get("after"), int(given.get("limit", DOCUMENTS))
    rest = [each for each in found if after is None or each.id > unmarked(after)]
    page = rest[:limit]
    more = page[-1].id if len(rest) > len(page) else None
    value = data({**wire.documents(page), "total": len(found), "next": more})
    if not page:
        return Answer("there are no documents" if after is None else "there are no more documents", value)
    lines = "\n".join(
        f"{nestling.marker(each.id)} {one_line(each.title)} ({each.characters:,} characters,"
        f" {each.parents} passages)"
        for each in page
    )
    what = f"{len(page)} of {len(found)} documents, by id"
    return Answer(fenced(f"{what}; go on with after={nestling.marker(more)}" if more else what, lines), value)


def _gate(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given.get(name) for name in ("where", "min_similarity", "min_coverage")}


def _shown(nest: nestling.Nest, asked: str) -> tuple[str, nestling.Tree]:
    """What an id names, also where it is given as the marker that cites it."""
    for id in (asked, unmarked(asked)):
        tree = nest.show(id)
        if tree is not None:
            return id, tree
    raise nestling.NotFoundError(
        f"there is no document or passage {asked[:200]!r}; give an id or marker as search, context and list show it"
    )


def _around(parents: Sequence[nestling.Parent], place: int, before: int, after: int) -> tuple[int, int]:
    """From where to where to read: the one at ``place``, those after it, those before, as far as they fit."""
    first, last = place, min(place + 1, len(parents))
    room = MOST_CHARACTERS - sum(parent.end - parent.start for parent in parents[first:last])
    while last < min(place + 1 + after, len(parents)):
        room -= parents[last].end - parents[last].start
        if room < 0:
            return first, last
        last += 1
    while first > max(place - before, 0):
        room -= parents[first - 1].end - parents[first - 1].start
        if room < 0:
            break
        first -= 1
    return first, last


def _passage(document: nestling.Document, parent: nestling.Parent, outline: bool) -> wire.JSON:
    told: wire.JSON = {
        "id": parent.id,
        "cite": nestling.marker(parent.id),
        "heading": list(parent.heading),
        "start": parent.start,
        "end": parent.end,
    }
    return told if outline else {**told, "text": document.text[parent.start : parent.end]}


def _told(
    document: nestling.Document,
    parents: Sequence[nestling.Parent],
    outline: bool,
    previous: str | None,
    following: str | None,
) -> str:
    blocks = []
    for parent in parents:
        text = document.text[parent.start : parent.end]
        shown = f" ({len(text):,} characters)" if outline else f"\n{nestling.quoted(text.strip())}"
        blocks.append(block(nestling.marker(parent.id), document.title, parent.heading, shown))
    ways = {"before them": previous, "after them": following}
    around = "; ".join(f"{where}: {nestling.marker(id)}" for where, id in ways.items() if id is not None)
    what = "Outline" if outline else "Passages, in the order of the document"
    return fenced(f"{what}; {around}" if around else what, ("\n" if outline else "\n\n").join(blocks))
