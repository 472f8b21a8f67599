"""The few lines of a passage that show its evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

import nestling
from nestling.apps.terminal import clean, paint, width

# a word, or one character of a script that breaks lines anywhere; long ones are cut to fit a line
_WORD = re.compile("[⺀-￯]|[^\\s⺀-￯]{1,40}")
# the lines of drawn tables
_RULE = re.compile("[-+=_~*#|]{5,}")
# of the room, what may go to text before the evidence
_LEAD_IN = 6


class _Word(NamedTuple):
    text: str
    gap: bool
    width: int
    evidence: bool
    best: bool
    term: str


def excerpt(passage: nestling.Passage, terms: Sequence[str], columns: int, lines: int) -> list[str]:
    """Lines around the best evidence, painted: other text dim, the evidence green, the query's words bold.

    Args:
        passage: As found.
        terms: The words it was matched by (`Explanation.terms`).
        columns: Width of a line.
        lines: How many there may be.
    """
    words = _words(passage, terms)
    first, last = _window(words, (columns - columns // 8) * lines)
    rows = _wrapped(words[first:last], columns - 2)
    cut = last < len(words) or len(rows) > lines
    painted = [_painted(row) for row in rows[:lines]]
    if painted and first:
        painted[0] = f"… {painted[0]}"
    if painted and cut:
        painted[-1] = f"{painted[-1]} …"
    return painted


def _words(passage: nestling.Passage, terms: Sequence[str]) -> list[_Word]:
    forms = {form for term in terms for form in term.split("/") if form}
    best = max(passage.evidence, key=lambda e: e.score, default=None)
    words, before = [], 0
    for found in _WORD.finditer(passage.text, _after_headings(passage)):
        at = found.start()
        if _RULE.fullmatch(found[0]):
            continue
        text = clean(found[0])
        evidence = any(e.start <= at < e.end for e in passage.evidence)
        words.append(
            _Word(
                text=text,
                gap=at > before,
                width=width(text) + (at > before),
                evidence=evidence,
                best=best is not None and best.start <= at < best.end,
                term=_term(text, forms) if evidence else "",
            )
        )
        before = found.end()
    return words


def _after_headings(passage: nestling.Passage) -> int:
    """Where the text begins that is not already told by the passage's name."""
    names, at = {passage.title, *passage.heading}, 0
    for found in re.finditer(r"[# \t]*([^\n]*?)[# \t]*(?:\n|\Z)", passage.text):
        if found[1] and found[1] not in names:
            break
        at = found.end()
    return at if at < len(passage.text) else 0


def _term(word: str, forms: set[str]) -> str:
    """Which of the query's terms a word is a form of, or ""; terms are stems, so a beginning is enough."""
    bare = word.strip("\"'`*_.,:;!?()[]{}<>“”‘’").casefold()
    if bare in forms:
        return bare
    return next((form for form in forms if len(form) > 2 and bare.startswith(form)), "")


def _window(words: Sequence[_Word], room: int) -> tuple[int, int]:
    """First and last (exclusive) of the words to show: the best evidence, or the part richest in terms."""
    ends = [0, *accumulate(word.width for word in words)]
    if ends[-1] <= room:
        return 0, len(words)
    marked = [i for i, word in enumerate(words) if word.best] or [0]
    first, stop = marked[0], marked[-1] + 1
    if ends[stop] - ends[first] > room:
        first = max(
            range(first, stop), key=lambda i: (_richness(words, ends, i, room), _begins(words, i), -i)
        )
    else:
        lead_in = min(room // _LEAD_IN, room - (ends[stop] - ends[first]))
        spare = max(lead_in, room - (ends[-1] - ends[first]))
        while first and ends[marked[0]] - ends[first - 1] <= spare:
            first -= 1
    last = first
    while last < len(words) and ends[last + 1] - ends[first] <= room:
        last += 1
    return first, last


def _begins(words: Sequence[_Word], i: int) -> bool:
    """Whether a sentence begins with this word."""
    return i == 0 or words[i - 1].text[-1] in ".!?:。！？"


def _richness(words: Sequence[_Word], ends: Sequence[int], first: int, room: int) -> int:
    shown = (word.term for i, word in enumerate(words[first:], first) if ends[i + 1] - ends[first] <= room)
    return len(set(shown) - {""})


def _wrapped(words: Sequence[_Word], columns: int) -> list[list[_Word]]:
    rows: list[list[_Word]] = []
    used = columns + 1
    for word in words:
        if used + word.width > columns:
            rows.append([word._replace(gap=False)])
            used = word.width - word.gap
        else:
            rows[-1].append(word)
            used += word.width
    return rows


def _painted(row: Sequence[_Word]) -> str:
    parts = []
    for (evidence, term), run in groupby(row, key=lambda word: (word.evidence, bool(word.term))):
        text = "".join(f"{' ' if word.gap else ''}{word.text}" for word in run)
        parts.append(paint(text, fg="green", bold=term or None) if evidence else paint(text, dim=True))
    return "".join(parts)
