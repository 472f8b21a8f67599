"""Where to end a piece: the strongest separator near the end of its budget.

Two things matter. A piece should end where the text does: at a paragraph, else a line, a sentence, a clause,
a word. And the choice must depend on the text around the cut, not on how far it is from the beginning, or one
word inserted on page 1 would move every later cut. So among equally strong separators in the last part of the
budget the one whose surroundings hash highest is taken, rather than the last: two runs that came out of step
meet again as soon as they see the same candidate.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from zlib import crc32

from nestling.ingest.graphemes import snap, whole

# The share of the budget from which equally strong separators compete by their hash; before it, a separator
# is only taken when its kind has none later, and then the last one.
CORE = 0.6

ABBREVIATIONS = (
    "Dr Mr Mrs Ms Prof Sr Jr St Mt Rev Hon Gen Col Capt Lt Sgt Inc Ltd Co Corp Bros vs etc al cf ca approx",
    "No Nos Nr Fig Figs Eq Eqs Sec Art Ch Vol Ed Eds pp Ref Refs Tab Abs Abb bzw usw Hr Fr Str Mio Mrd Jan",
    "Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Dept Univ resp incl Ave Blvd",
)

_EOL = r"[\n\r\x0b\x0c\x85\u2028\u2029]"
# White space goes to the piece before, up to the last line end: indentation stays with its line.
_GAP = rf"\s(?:\s*{_EOL}|(?<={_EOL})|\s*)"
_FORMS = sorted(
    {form for line in ABBREVIATIONS for word in line.split() for form in (word, word.lower())}, key=len
)
_NO_ABBREVIATION = "".join(rf"(?<!\b(?:{'|'.join(forms)})\.)" for _, forms in groupby(_FORMS, key=len))
_SOFT = r"\w\s,\-–—"

# Each pattern begins with a set of characters, for which `re` looks fastest.
PARAGRAPH = re.compile(rf"{_EOL}(?:(?<!\r)|(?!\n))\s*{_EOL}")
LINE = re.compile(rf"{_EOL}(?:(?<=\r)\n)?")
# A line that ends as sentences and statements do, or before one that begins an item, a row or a heading.
FIRM_LINE = re.compile(
    rf"{_EOL}(?:(?<=\r)\n)?(?:(?<=[^{_SOFT}].)|(?<=[^{_SOFT}][ \t\r].)|(?<=[^{_SOFT}][ \t][ \r].)"
    r"|(?=[ \t]*(?:[-*+•#|>]|\d{1,3}[.)])[ \t]))",
    re.S,
)
SENTENCE = re.compile(
    r"[.!?…。！？｡．؟।॥۔።။]+(?:(?<=[。！？｡．])(?:[”’」』）】》*_]*\s*)"
    r"|(?=[\"'”’»)\]*_]*\s)(?<!\b[A-Za-z]\.)(?<!\n\w\.)(?<!\n\w\w\.)(?<!\n\w\w\w\.)"
    + _NO_ABBREVIATION
    + rf"[\"'”’»)\]*_]*{_GAP})"
)
CLAUSE = re.compile(rf"[;:,–—、，；：､،؛](?:(?<=[、，；：､])\s*|[\"'”’)\]]*{_GAP})")
WORD = re.compile(_GAP)
_LINE_END = re.compile(_EOL)
_MARK = re.compile(r"[^\w\s](?=\w)")

Tier = tuple[re.Pattern[str], float]
# Each kind of separator with the share of the budget a piece must reach to be ended by it.
PROSE: tuple[Tier, ...] = (
    (PARAGRAPH, 0.4),
    (FIRM_LINE, 0.5),
    (SENTENCE, 0.5),
    (LINE, 0.5),
    (CLAUSE, 0.6),
    (WORD, 0.0),
)
# Rows of a table and lines of code are kept whole, however short the piece gets.
ROWS: tuple[Tier, ...] = ((PARAGRAPH, 0.4), (LINE, 0.0), *PROSE[2:])


def cut(text: str, start: int, end: int, hard: int, tiers: Sequence[Tier], barred: frozenset[int]) -> int:
    """Choose where the piece that begins at ``start`` ends.

    Args:
        text: The whole text.
        start: Where the piece begins.
        end: The last offset at which it should end, greater than ``start``.
        hard: The last offset at which it may end when a word would have to be cut; at least ``end``.
        tiers: Kinds of separators, strongest first.
        barred: Offsets not to cut at while there is any other.

    Returns:
        An offset in ``(start, hard]``; inside a word only where one word reaches from ``start`` to past
        ``hard``; past ``hard`` only where one grapheme cluster does.
    """
    span = end - start
    for pattern, share in tiers:
        low = start + int(span * share)
        found = [
            offset
            for match in pattern.finditer(text, low, end)
            if (offset := match.end()) > start and _allowed(text, offset, end)
        ]
        if found and barred:
            found = [offset for offset in found if offset not in barred] or (found if not share else [])
        if found:
            return strongest(text, found, start + int(span * CORE))
    return _forced(text, start, end, hard)


def strongest(text: str, found: list[int], core: int) -> int:
    """Choose among equally strong cuts: by hash among those from ``core`` on, else the last.

    Args:
        text: The whole text.
        found: Offsets in order, at least one.
        core: The offset from which cuts compete by what stands around them.

    Returns:
        One of the offsets.
    """
    if len(found) == 1 or found[-1] < core:
        return found[-1]
    return max(
        (offset for offset in found if offset >= core), key=lambda offset: (_hash(text, offset), offset)
    )


def _hash(text: str, offset: int) -> int:
    around = text[max(0, offset - 8) : offset + 12]
    return crc32(around.encode("utf-8", "surrogatepass"))


def _allowed(text: str, offset: int, end: int) -> bool:
    """Tell whether a separator lies wholly before ``end`` and breaks no cluster."""
    if offset < len(text) and (after := text[offset]).isspace() and (offset == end or _LINE_END.match(after)):
        return False
    return whole(text, offset)


def _forced(text: str, start: int, end: int, hard: int) -> int:
    """Cut where no separator ends within the budget: at the edge of a word, else in the one long word."""
    for limit in dict.fromkeys((end, hard)):
        found = [
            o for match in WORD.finditer(text, start, limit) if whole(text, o := match.end()) and o > start
        ]
        if found:
            return found[-1] if limit == end else found[0]
    for limit in dict.fromkeys((end, hard)):
        if limit == len(text) or (text[limit].isspace() and whole(text, limit)):
            return limit
    marks = [
        o
        for match in _MARK.finditer(text, start + int((end - start) * CORE), end)
        if whole(text, o := match.end())
    ]
    return marks[-1] if marks else snap(text, start, end)


def strength(text: str, offset: int) -> int:
    """Grade what separates a text at an offset: 3 a blank line, 2 a line end, 1 a sentence's end, 0 less."""
    before = text[max(0, offset - 40) : offset]
    kept = before.rstrip()
    gap = before[len(kept) :]
    lines = len(LINE.findall(gap))
    if lines:
        return 3 if lines > 1 else 2
    return int(kept[-1:] in ".!?。！？")
