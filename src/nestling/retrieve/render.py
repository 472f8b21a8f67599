"""What was taken, as text for a prompt: best document first, text order inside, ``…`` for what is left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from nestling.retrieve.cite import marker, quoted
from nestling.retrieve.pack import Children, Tray

Span = tuple[int, int]
ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of one parent: spans of the document, in order; ``index`` is its first child's."""

    index: int
    spans: tuple[Span, ...]


def shown(children: Children, tray: Tray) -> list[Shown]:
    """The parents of what was taken, in the order shown."""
    documents = [list(group) for _, group in groupby(sorted(tray.taken), key=lambda i: children.document[i])]
    documents.sort(key=lambda group: -max(children.score[i] for i in group))
    return [
        Shown(members[0], joined((int(children.start[i]), tray.taken[i]) for i in members))
        for group in documents
        for members in (list(run) for _, run in groupby(group, key=lambda i: children.parent[i]))
    ]


def joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in order, with those that touch or overlap made one."""
    result: list[Span] = []
    for start, stop in spans:
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(stop, result[-1][1]))
        else:
            result.append((start, stop))
    return tuple(result)


def head(id: str, title: str, heading: tuple[str, ...], document_shown: bool) -> str:
    """The line above a parent's text: its cite marker, the title once a document, the heading path."""
    names = heading[1:] if heading[:1] == (title,) else heading
    if title and not document_shown:
        names = (title, *names)
    return f"{marker(id)} {' › '.join(names)}".rstrip()


def body(spans: tuple[Span, ...], start: int, text: str) -> str:
    """The shown part of a parent's text, which starts at ``start``, with ``…`` where some is left out."""
    parts = [text[a - start : b - start].strip() for a, b in spans]
    before = f"{ELLIPSIS} " if spans[0][0] > start else ""
    after = f" {ELLIPSIS}" if spans[-1][1] < start + len(text) else ""
    return quoted(f"{before}{f' {ELLIPSIS} '.join(parts)}{after}")
