"""Where shown text stands in its document, and what it costs: the same counting for every system."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from tokenizers import Tokenizer

from nestling.models.builtin import DIRECTORY
from nestling.types import Document


class Span(NamedTuple):
    """A piece of a document's text."""

    document: str
    start: int
    end: int


class Places:
    """The documents' texts and their word pieces.

    Attributes:
        lost: How many pieces could not be found in their document, and were left out.
    """

    def __init__(self, documents: Sequence[Document]) -> None:
        self.text = {document.id: document.text for document in documents}
        self.lost = 0
        self._pieces = cache(self._word_pieces)
        self._tokenizer = Tokenizer.from_file(str(DIRECTORY / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def _word_pieces(self, document: str) -> tuple[np.ndarray, np.ndarray]:
        """Where the word pieces of a document start and end."""
        offsets = self._tokenizer.encode(self.text[document], add_special_tokens=False).offsets
        start, end = np.array(offsets, np.int64).reshape(-1, 2).T
        return start, end

    def fill(self, spans: Iterable[Span], budget: int, once: bool = False) -> tuple[list[Span], int]:
        """Take spans in order until the budget is full, the last one cut there; also what is left of it.

        A span costs the word pieces that begin in it, every time that it is shown; with ``once``, what has been
        shown is not shown again.
        """
        kept: list[Span] = []
        for span in unseen(spans) if once else spans:
            start, end = self._pieces(span.document)
            first, last = np.searchsorted(start, (span.start, span.end))
            if last - first > budget:
                kept.append(span._replace(end=int(end[first + budget - 1])))
                return kept, 0
            kept.append(span)
            budget -= int(last - first)
            if not budget:
                break
        return kept, budget

    def locate(self, document: str, shown: str, near: int | None = None) -> Span | None:
        """Where ``shown`` stands: at ``near`` if it is there, else the next place, else but for white space."""
        text = self.text[document]
        for start in (near or 0, text.find(shown, near or 0), text.find(shown)):
            if start >= 0 and text.startswith(shown, start):
                return Span(document, start, start + len(shown))
        words = r"\s*".join(map(re.escape, shown.split()))
        found = re.compile(words).search(text, max(0, (near or 0) - len(shown))) or re.search(words, text)
        if found is None:
            self.lost += 1
            return None
        return Span(document, *found.span())


def unseen(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans without what an earlier one holds."""
    seen: dict[str, list[Span]] = {}
    for span in spans:
        rest = [span]
        for old in seen.setdefault(span.document, []):
            rest = [part for new in rest for part in without(new, old)]
        seen[span.document].append(span)
        yield from rest


def without(new: Span, old: Span) -> Iterator[Span]:
    """What of ``new`` lies before and after ``old``."""
    if new.start < min(new.end, old.start):
        yield new._replace(end=min(new.end, old.start))
    if max(new.start, old.end) < new.end:
        yield new._replace(start=max(new.start, old.end))
