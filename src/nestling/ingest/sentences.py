"""A text's sentences, by the rules that also cut children."""

from __future__ import annotations

import re

from nestling.ingest.cuts import FIRM_LINE, LINE, PARAGRAPH, SENTENCE

# a heading or a row of a table, which ends with its line; a paragraph or an item may go on in the next
_OWN_LINE = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\|)")


def sentences(text: str) -> list[tuple[int, int]]:
    """The spans of a text's sentences, white space around them left out.

    A blank line, an item of a list, a row of a table and a heading end a sentence, too.
    """
    ends = {match.end() for pattern in (PARAGRAPH, SENTENCE) for match in pattern.finditer(text)}
    # a full stop at a line's end may be that of an abbreviation, which `SENTENCE` knows
    ends |= {
        match.end() for match in FIRM_LINE.finditer(text) if text[: match.start()].rstrip(" \t\r")[-1:] != "."
    }
    for match in LINE.finditer(text):
        if _OWN_LINE.match(text, text.rfind("\n", 0, match.start()) + 1):
            ends.add(match.end())
    spans, start = [], 0
    for end in sorted({*ends, len(text)}):
        part = text[start:end]
        if body := part.strip():
            first = start + part.index(body[0])
            spans.append((first, first + len(body)))
        start = end
    return spans
