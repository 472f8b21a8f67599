"""The text put before a child when it is embedded and indexed: where it stands, in words."""

from __future__ import annotations

from collections.abc import Sequence

from nestling.settings import LEAD_SIZE

_JOIN = " › "
_CUT = "…"


def lead(title: str, heading: Sequence[str], header: str = "", limit: int = LEAD_SIZE) -> str:
    """Write a child's lead: ``Title › Heading › Sub: ``, and the header rows of the table it continues.

    The rows stand on lines of their own below the names, so that they can be told from them.

    A title that is also the first heading is said once. A lead longer than the limit is shortened from the
    middle: the headings between the first and the last give way to ``…``, then the first part is cut, then
    the last; a header that does not fit beside the names is kept row by row from the bottom of its rows up
    (the lowest names the columns), and is cut at a cell.

    Args:
        title: The document's title.
        heading: The headings the child stands under, outermost first, without those it begins with itself.
        header: The header rows of the table whose later rows the child begins with, as in the text.
        limit: The most characters of the lead.

    Returns:
        The lead, at most ``limit`` characters, ending in a space or a line break; empty where there is
        nothing to say.
    """
    parts = [part for part in (" ".join(each.split()) for each in (title, *heading)) if part]
    if len(parts) > 1 and parts[0].casefold() == parts[1].casefold():
        del parts[0]
    rows = _rows(header, limit if not parts else limit - min(len(_JOIN.join(parts)) + 2, limit // 2))
    names = _names(parts, limit - len(rows) - 2)
    return (f"{names}:{chr(10) if rows else ' '}" if names else "") + rows


def _names(parts: list[str], limit: int) -> str:
    """Join the names within the limit, the last being the most specific and the last to give way."""
    if not parts or limit < 1:
        return ""
    whole = _JOIN.join(parts)
    if len(whole) <= limit:
        return whole
    for kept in range(2, len(parts)):
        shorter = _JOIN.join([parts[0], _CUT, *parts[kept:]])
        if len(shorter) <= limit:
            return shorter
    last = parts[-1]
    room = limit - len(last) - len(_JOIN)
    if len(parts) > 1 and room >= 8:
        return _shortened(parts[0], room) + _JOIN + last
    return _shortened(last, limit)


def _shortened(name: str, limit: int) -> str:
    """Cut a name at a word, and mark the cut."""
    if len(name) <= limit:
        return name
    if limit < 2:
        return _CUT[:limit]
    kept = name[: limit - 1]
    at_word = kept.rsplit(" ", 1)[0] if " " in kept and name[limit - 1] != " " else kept
    return (at_word if len(at_word) > limit // 2 else kept).rstrip() + _CUT


def _rows(header: str, limit: int) -> str:
    """Return the header's rows without the delimiter row where space is short, within the limit."""
    if not header.strip():
        return ""
    rows = header.rstrip().splitlines()
    if len("\n".join(rows)) + 1 > limit:
        rows = [row for row in rows if row.strip(" \t|:-")]
    while len(rows) > 1 and len("\n".join(rows)) + 1 > limit:
        del rows[0]
    kept = "\n".join(rows)
    if len(kept) + 1 > limit:
        if limit < 3:
            return ""
        kept = kept[: limit - 2]
        kept = (kept.rsplit("|", 1)[0] if kept.count("|") > 1 else kept) + _CUT
    return kept + "\n"
