"""How far a budget reaches, in characters or in the tokens of an embedder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

# Where a search for the last offset within a token budget starts, and how close it must come.
_CHARACTERS_PER_TOKEN = 4
_CLOSE = 0.02


@dataclass(frozen=True, slots=True)
class Ruler:
    """Measures spans of one text.

    Attributes:
        text: The text.
        count: Counts the tokens of a text; None to measure characters.
    """

    text: str
    count: Callable[[str], int] | None = None

    def fits(self, start: int, end: int, limit: int) -> bool:
        """Tell whether a span is within a limit.

        Args:
            start: Offset of its first character.
            end: Offset after its last character.
            limit: The most it may hold, in the ruler's unit.

        Returns:
            True where it holds no more than the limit.
        """
        if self.count is None:
            return end - start <= limit
        # No token is empty, but a counter may count less than one for every few hundred characters of spaces.
        return self.count(self.text[start:end]) <= limit

    def reach(self, start: int, end: int, limit: int) -> int:
        """Find how far a span can go from ``start``.

        Args:
            start: Where it begins.
            end: The last offset of interest, greater than ``start``.
            limit: The most it may hold, in the ruler's unit, at least 1.

        Returns:
            An offset in ``(start, end]`` up to which the span fits: the last one in characters, within a few
            per cent of the last one in tokens. One past ``start`` where not even one character fits.
        """
        if self.count is None:
            return min(end, start + limit)
        within, beyond = start, end + 1
        trial = min(end, start + limit * _CHARACTERS_PER_TOKEN)
        while beyond - within > 1 + int(_CLOSE * (within - start)):
            tokens = self.count(self.text[start:trial])
            if tokens <= limit:
                within = trial
            else:
                beyond = trial
            if within == end:
                break
            trial = start + int((trial - start) * limit / max(1, tokens))
            if not within < trial < beyond:
                doubled = start + 2 * (within - start)
                trial = doubled if within < doubled < beyond else (within + beyond) // 2
        return max(within, start + 1)
