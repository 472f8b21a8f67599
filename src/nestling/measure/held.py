"""What a nest holds of what golden questions name: documents with their parents, and quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from nestling.errors import InputError
from nestling.measure.golden import GoldenQuestion, GoldSpan
from nestling.measure.subject import Subject

# a document's id, start and end
Place = tuple[str, int, int]


class Outline(NamedTuple):
    """A stored document without its text: id, length, and its parents (id, start, end)."""

    document: str
    length: int
    parents: tuple[tuple[str, int, int], ...]


@dataclass
class _Quotes:
    """What to look for in a document: quotes to find, and offsets that must hold a quote."""

    find: set[str] = field(default_factory=set)
    hold: set[tuple[int, int, str]] = field(default_factory=set)


class Held:
    """Looks up ids and quotes; each document's text is read once.

    Args:
        subject: The nest.
        questions: All that will be asked about.
    """

    def __init__(self, subject: Subject, questions: Iterable[GoldenQuestion]) -> None:
        self._subject = subject
        self.outline = cache(self._outline)
        self._found: dict[tuple[str | None, str], list[Place]] = {}
        self._differ: set[tuple[str, int, int, str]] = set()
        self._read([span for question in questions for span in question.spans if span.quote])

    def known(self, id: str) -> Outline:
        """A document by its id or a parent's; an error where there is none."""
        found = self.outline(id)
        if found is None:
            raise InputError(f"the nest holds no document or passage {id!r}")
        return found

    def place(self, span: GoldSpan) -> Place:
        """Where a span is; an error where it is nowhere, or in several places."""
        if span.document is not None:
            outline = self.known(span.document)
            if outline.document != span.document:
                raise InputError(f"{span.document!r} is a passage; give the document, {outline.document!r}")
        if span.document is not None and span.start is not None and span.end is not None:
            return self._at(span.document, span.start, span.end, span.quote, outline.length)
        found = self._found.get((span.document, span.quote or ""), [])
        inside = "any document" if span.document is None else repr(span.document)
        if not found:
            raise InputError(f"the quote {span.quote!r:.60} is not in {inside}")
        if len(found) > 1:
            first, second = (f"{document!r} at {start}" for document, start, _ in found[:2])
            raise InputError(
                f"the quote {span.quote!r:.60} is found more than once, in {first} and in {second};"
                " lengthen it, or give document, start and end"
            )
        return found[0]

    def _at(self, document: str, start: int, end: int, quote: str | None, length: int) -> Place:
        if not 0 <= start < end <= length:
            raise InputError(f"the span {start} to {end} is not inside {document!r}, which ends at {length}")
        if quote is not None and (document, start, end, quote) in self._differ:
            raise InputError(f"{document!r} does not hold {quote!r:.60} from {start} to {end}")
        return document, start, end

    def _outline(self, id: str) -> Outline | None:
        tree = self._subject.show(id)
        if tree is None:
            return None
        parents = tuple((parent.id, parent.start, parent.end) for parent in tree.parents)
        return Outline(tree.document.id, len(tree.document.text), parents)

    def _read(self, quoted: Sequence[GoldSpan]) -> None:
        """Look for every quote, in one reading of the documents that are named, or of all."""
        wanted: dict[str, _Quotes] = {}
        anywhere = [span.quote for span in quoted if span.document is None and span.quote]
        for span in quoted:
            if span.document is not None and span.quote:
                quotes = wanted.setdefault(span.document, _Quotes())
                if span.start is None or span.end is None:
                    quotes.find.add(span.quote)
                else:
                    quotes.hold.add((span.start, span.end, span.quote))
        for id in [info.id for info in self._subject.list()] if anywhere else list(wanted):
            tree = self._subject.show(id)
            if tree is not None:
                self._search(id, tree.document.text, wanted.get(id, _Quotes()), anywhere)

    def _search(self, id: str, text: str, quotes: _Quotes, anywhere: Iterable[str]) -> None:
        for quote in quotes.find:
            self._found[id, quote] = [(id, *span) for span in occurrences(quote, text)]
        for quote in dict.fromkeys(anywhere):
            self._found.setdefault((None, quote), []).extend((id, *span) for span in occurrences(quote, text))
        self._differ |= {(id, *held) for held in quotes.hold if text[held[0] : held[1]] != held[2]}


def occurrences(quote: str, text: str) -> list[tuple[int, int]]:
    """The first two places of a quote in a text; any run of white space in it stands for any other."""
    pattern = re.compile(r"\s+".join(map(re.escape, quote.split())))
    places: list[tuple[int, int]] = []
    found = pattern.search(text)
    while found and len(places) < 2:
        places.append(found.span())
        found = pattern.search(text, found.start() + 1)
    return places
