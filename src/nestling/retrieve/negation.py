"""Words that turn a statement into its opposite, and what they stand before."""

from __future__ import annotations

from typing import Final

import regex

# English, German, French, Spanish, Italian, Portuguese, Dutch; "no" of Romance languages is the English one, too.
_WORDS: Final = """
    not no never none nobody nothing neither nor nowhere cannot without hardly unable
    nicht kein keine keinen keinem keiner keines nie niemals nichts ohne weder
    pas jamais aucun aucune rien sans ni
    nunca ningún ninguna ningun nada
    non mai senza nessun nessuno nessuna
    não nao sem nenhum nenhuma
    niet geen nooit zonder
"""
_NEGATOR: Final = regex.compile(
    rf"(?<!\w)(?:{'|'.join(_WORDS.split())}|\w+n['’]t)(?!\w)(?!\s+(?:only|just|nur|seulement)\b)"
    r"|不|没有|没|無い|ない|ません",
    regex.IGNORECASE,
)
# where what a negation is about ends
_STOP: Final = regex.compile(
    r"[,;:.!?()\n]|\s[-–—]\s|\b(?:but|and|aber|sondern|mais|pero|ma|mas|maar)\b", regex.IGNORECASE
)
# A negation is about so many characters after it at most: a long clause says more than it denies.
_REACH: Final = 60


def negators(text: str) -> list[tuple[str, int, int]]:
    """Each negating word with its offsets."""
    return [(found[0], found.start(), found.end()) for found in _NEGATOR.finditer(text)]


def negated(text: str) -> list[tuple[int, int]]:
    """For each negating word, the span after it that it denies."""
    found = negators(text)
    starts = [start for _, start, _ in found[1:]] + [len(text)]
    spans = []
    for (_, _, end), following in zip(found, starts, strict=False):
        stop = _STOP.search(text, end)
        last = min(len(text), end + _REACH, following, stop.start() if stop else len(text))
        # a word that is cut belongs to it
        while last < len(text) and text[last - 1].isalnum() and text[last].isalnum():
            last += 1
        spans.append((end, last))
    return spans
