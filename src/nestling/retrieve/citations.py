"""Reading a text that cites: its markers, its sentences, and its quotes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from nestling.retrieve.cite import brackets, marked_id, openings

Span = tuple[int, int]

# a marker exactly as we write it, but for white space and case
_EXACT = re.compile(r"\[\s*cite\s*:(?P<ids>[^\[\]]*)\]", re.IGNORECASE)
# what models write instead of one
_NEARLY = re.compile(r"\(\s*cite\s*:[^()\n]*\)|\[\s*cite\s+[^\[\]\n]+\]|\bcite:[^\s\])]+", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*[,;|]\s*(?:cite\s*:)?\s*", re.IGNORECASE)
# a marker that was left open ends with its word
_OPEN = re.compile(r"\S*")
_QUOTES = (
    re.compile(r"“[^“”]+”"),
    re.compile(r"„[^„“”]+[“”]"),
    re.compile(r"«[^«»]+»"),
    re.compile(r"»[^«»]+«"),
    re.compile(r"「[^「」]+」"),
    re.compile(r'(?<!\w)"[^"]+"(?!\w)'),
    re.compile(r"(?<!\w)[‘'](?=\S)[^‘'\n]*(?:(?<=\w)['’](?=\w)[^‘'’\n]*)*(?<=[^\s])['’](?!\w)"),
)
_PARAGRAPH = re.compile(r"\n\s*\n")
_BLOCKQUOTE = re.compile(r"^([ \t]*>[ \t]*)[^\n]*(?:\n[ \t]*>[^\n]*)*", re.MULTILINE)
# Words from which on what stands in quotation marks is a quote, and no term or title.
QUOTE_WORDS = 4
_WORDS = re.compile(r"\w+")
# Words from which on what stands before a marker inside a sentence is a statement: "according to" is not.
PART_WORDS = 4
# what may stand between a sentence and the markers that belong to it
_CLOSERS = " \t\r\n.,;:!?。！？)\"'”’»*_"
_FRONT = re.compile(r"(?:[\s,;:!?)]|\.(?!\d))*")
_TAIL = re.compile(r"\s+(?:[.,;:!?。！？]\s*)?\Z")
# what a line begins with that says nothing
_BULLET = re.compile(r"(?:[-*+•>|]+|\(?\d{1,3}[.)])\s+")


class Mark(NamedTuple):
    """A marker in a text.

    Attributes:
        start: Offset in the text.
        end: Offset after it.
        ids: What it names, read as a list; none where it is malformed.
        whole: All of its inside as one id, which may hold a comma.
    """

    start: int
    end: int
    ids: tuple[str, ...]
    whole: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of a text with the markers that speak for it.

    Attributes:
        start: Offset in the text.
        end: Offset after its last character that is no marker.
        marks: The markers in and directly after it.
        quotes: Spans of what it quotes, without the quotation marks.
    """

    start: int
    end: int
    marks: tuple[Mark, ...]
    quotes: tuple[Span, ...]


def marks(text: str) -> list[Mark]:
    """All markers of a text, and all that look like one."""
    found, taken = [], 0
    for at in openings(text):
        if at < taken:
            continue
        exact = _EXACT.match(text, at)
        if exact:
            inside = exact["ids"].strip()
            ids = dict.fromkeys(marked_id(part) for part in _BETWEEN.split(inside) if part)
            found.append(Mark(at, exact.end(), tuple(ids), marked_id(inside)))
        else:
            closed = brackets(text, at + 1)
            end = closed + 1 if closed >= 0 else _end_of_open(text, at)
            found.append(Mark(at, end, ()))
        taken = found[-1].end
    taken_by = bytearray(len(text))
    for mark in found:
        taken_by[mark.start : mark.end] = b"x" * (mark.end - mark.start)
    loose = (match.span() for match in _NEARLY.finditer(text))
    found += [Mark(start, end, ()) for start, end in loose if not any(taken_by[start:end])]
    return sorted(found)


def _end_of_open(text: str, at: int) -> int:
    word = _OPEN.match(text, at)
    return max(word.end() if word else at, at + 1)


def read(text: str, sentences: Callable[[str], list[Span]]) -> tuple[str, list[Mark], list[Sentence]]:
    """A text with its markers blanked, the markers, and the sentences with the markers that each cites.

    A marker speaks for what stands before it: back to the marker before, or to where the sentence begins. A
    marker that follows a sentence's end belongs to that sentence.

    Args:
        text: Any text.
        sentences: Cuts a text into the spans of its sentences.
    """
    found = marks(text)
    # markers must not hide a sentence's end, nor make one
    blank = list(text)
    for mark in found:
        blank[mark.start : mark.end] = " " * (mark.end - mark.start)
    plain = "".join(blank)
    quotes = _quotes(plain)
    parts = _parted(plain, _whole(sentences(plain), [span for span, _ in quotes]), found)
    speaking = [_speaking(plain, found, start, end) for start, end in parts]
    # a marker that stands before everything speaks for what comes after it
    starts = [start for start, _ in parts]
    for mark in set(found).difference(*speaking):
        after = bisect_left(starts, mark.end)
        if after < len(parts):
            speaking[after] = tuple(sorted((mark, *speaking[after])))
    result = []
    for (start, end), own_marks in zip(parts, speaking, strict=True):
        near = quotes[bisect_left(quotes, ((start, 0), (0, 0))) : bisect_left(quotes, ((end, 0), (0, 0)))]
        own = tuple(inner for (_, last), inner in near if last <= end)
        result.append(Sentence(start, end, own_marks, own))
    return plain, found, result


def _parted(text: str, spans: Iterable[Span], found: list[Mark]) -> list[Span]:
    """Sentences cut where a marker stands inside, each part long enough to say something."""
    parts: list[Span] = []
    for first, end in spans:
        start, before = first, len(parts)
        for mark in found[bisect_left(found, (first,)) : bisect_left(found, (end,))]:
            if start < mark.start and _is_part(text, start, mark.start):
                parts.append(_trimmed(text, start, mark.start))
                start = mark.end
        if start == first or _is_part(text, start, end):
            parts.append(_trimmed(text, start, end))
        elif len(parts) > before and _WORDS.search(text, start, end):
            parts[-1] = (parts[-1][0], _trimmed(text, start, end)[1])
    return [(start, end) for start, end in parts if _WORDS.search(text, start, end)]


def _is_part(text: str, start: int, end: int) -> bool:
    return len(_WORDS.findall(text, start, end)) >= PART_WORDS or not text[start:end].isascii()


def _trimmed(text: str, start: int, end: int) -> Span:
    front = _FRONT.match(text, start, end)
    start = front.end() if front else start
    # a full stop that stands alone is left of a marker before it
    if (tail := _TAIL.search(text, start, end)) is not None:
        end = tail.start()
    bullet = _BULLET.match(text, start, end)
    return (bullet.end() if bullet and bullet.end() < end else start), end


def _speaking(text: str, found: list[Mark], start: int, end: int) -> tuple[Mark, ...]:
    speaking, at = [], end
    for mark in found[bisect_left(found, (start,)) :]:
        if mark.end <= end:
            speaking.append(mark)
        elif mark.start >= at:
            between = text[at : mark.start]
            if between.strip(_CLOSERS) or _PARAGRAPH.search(between):
                break
            line_end = text.find("\n", mark.end)
            line = text[mark.end : line_end if line_end >= 0 else None]
            if "\n" in between and line.strip(_CLOSERS):
                break  # it begins a line of its own
            speaking.append(mark)
            at = mark.end
    return tuple(speaking)


def _quotes(text: str) -> list[tuple[Span, Span]]:
    """What stands in quotation marks, long enough to be a quote: with the marks, and inside them."""
    found: list[tuple[Span, Span]] = []
    taken = bytearray(len(text))

    def take(span: Span, inner: Span) -> None:
        if not any(taken[slice(*span)]) and _is_long(text, inner):
            found.append((span, inner))
            taken[slice(*span)] = b"x" * (span[1] - span[0])

    start = 0
    for end in [*(match.end() for match in _PARAGRAPH.finditer(text)), len(text)]:
        for pattern in _QUOTES:
            for match in pattern.finditer(text, start, end):
                take(match.span(), (match.start() + 1, match.end() - 1))
        start = end
    for match in _BLOCKQUOTE.finditer(text):
        take((match.end(1), match.end()), (match.end(1), match.end()))
    return sorted(found)


def _is_long(text: str, span: Span) -> bool:
    words = _WORDS.findall(text, *span)
    # a script without spaces makes one word of many
    return len(words) >= QUOTE_WORDS or (
        sum(map(len, words)) >= QUOTE_WORDS and not text[slice(*span)].isascii()
    )


def _whole(spans: list[Span], quotes: list[Span]) -> list[Span]:
    """Sentences joined where a border falls inside a quote."""
    joined: list[Span] = []
    for start, end in spans:
        before = bisect_left(quotes, (start,)) - 1
        if joined and before >= 0 and start < quotes[before][1] and quotes[before][0] < joined[-1][1]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
