"""What was taken, as text for a prompt: best document first, text order inside, ``…`` for what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from nestling.retrieve.cite import marker, quoted
from nestling.retrieve.pack import Children, Tray

Span = tuple[int, int]
ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of one parent.

    Attributes:
        index: Of the first child taken.
        last: After the last child taken.
        spans: Of the document, in order, not touching.
    """

    index: int
    last: int
    spans: tuple[Span, ...]


def shown(children: Children, tray: Tray) -> list[Shown]:
    """The parents of what was taken, in the order shown."""
    documents = [list(group) for _, group in groupby(sorted(tray.taken), key=lambda i: children.document[i])]
    documents.sort(key=lambda group: -max(children.score[i] for i in group))
    return [
        Shown(
            members[0],
            members[-1] + 1,
            joined((int(children.start[i]), tray.taken[i]) for i in members),
        )
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
    return f"{marker(id)} {' › '.join(' '.join(quoted(name).split()) for name in names)}".rstrip()


def table_header(lead: str) -> str:
    """The header rows in a child's lead, each ending its line; "" where it continues no table."""
    first, _, rest = lead.partition("\n")
    return "" if not lead.endswith("\n") else rest if first.endswith(":") else lead


def body(spans: tuple[Span, ...], start: int, text: str, headers: Mapping[int, str]) -> str:
    """The shown part of a parent's text, which starts at ``start``.

    ``…`` stands for what is left out: in the line, or on a line of its own where whole lines are left out.
    ``headers`` are the rows to say again above a span that begins, at an offset, inside a table.
    """
    shown, end = "", start
    for first, last in spans:
        part = text[first - start : last - start]
        if first > end:
            whole_lines = text[first - start - 1] == "\n"
            shown = f"{shown.rstrip()}\n{ELLIPSIS}\n" if whole_lines else f"{shown.rstrip()} {ELLIPSIS} "
        if first > end or first == start:
            part = headers.get(first, "") + part
        shown, end = shown + part, last
    left = text[end - start :]
    if left.strip():
        whole_lines = text[end - start - 1] == "\n" or left[0] == "\n"
        shown = shown.rstrip() + (f"\n{ELLIPSIS}" if whole_lines else f" {ELLIPSIS}")
    return quoted(shown.strip())
