r"""Where a text may be cut without breaking a character as a reader sees it (a grapheme cluster).

A cluster can only be told apart by looking back from the cut, so the check walks back over the few kinds of
characters whose meaning depends on what stands before them, and lets ``\X`` decide from there.
"""

from __future__ import annotations

import unicodedata

import regex

_CLUSTER = regex.compile(r"\X")
# Marks, joiners, modifiers and half-width voice marks: they may continue what stands before them.
_CONTINUING = frozenset(("Mn", "Mc", "Me", "Cf", "Sk", "Lm"))


def whole(text: str, cut: int) -> bool:
    """Tell whether a cut breaks no grapheme cluster.

    Args:
        text: Any text.
        cut: An offset, 0 to ``len(text)``.

    Returns:
        True where no cluster lies across the offset.
    """
    if cut <= 0 or cut >= len(text):
        return True
    before, after = text[cut - 1], text[cut]
    if before < "\x80" and after < "\x80":
        return before != "\r" or after != "\n"
    edge = cut - 1
    while edge > 0 and _continues(text[edge]):
        edge -= 1
    # From a character that stands for itself on, clusters end where they end when read from the beginning.
    while edge < cut:
        edge = cluster_end(text, edge)
    return edge == cut


def snap(text: str, start: int, cut: int) -> int:
    """Move a cut out of a grapheme cluster, to its left edge; to its right edge where that is no progress.

    Args:
        text: Any text.
        start: Where the piece being cut begins; itself no offset inside a cluster.
        cut: An offset greater than ``start``.

    Returns:
        The nearest allowed offset at or before ``cut``; past ``cut`` only where one cluster fills the piece.
    """
    if whole(text, cut):
        return cut
    edge = start
    while (end := cluster_end(text, edge)) <= cut:
        edge = end
    return edge if edge > start else end


def cluster_end(text: str, start: int) -> int:
    """Return the offset after the grapheme cluster that begins at ``start`` (an offset before the end)."""
    found = _CLUSTER.match(text, start)
    return found.end() if found else start + 1


def _continues(character: str) -> bool:
    if "\U0001f1e6" <= character <= "\U0001f1ff":  # half a flag: their number decides
        return True
    return unicodedata.category(character) in _CONTINUING
