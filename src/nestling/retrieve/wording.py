"""Texts word by word, so that white space, case, quotation marks, dashes and the Unicode form do not matter."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import regex

# A word with what joins it inside, one character of a script without spaces, or a sign that has a meaning of its
# own: of currencies, of arithmetic, a per cent, a minus before a number. All other signs are left out.
_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}]|[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]\p{M}*"
    r"|(?<![\w\p{Pd}])[-−](?=\d)"
    r"|[\p{L}\p{M}\p{N}_]+(?:(?:['’.](?=\p{L})|[.,](?=\d))[\p{L}\p{M}\p{N}_]+)*"
    r"|[\p{Sc}%‰°=≠≤≥±×÷√^+#&@§]"
)
_IGNORED = regex.compile(r"\p{Default_Ignorable_Code_Point}+")
# quotation marks and dashes inside a word, and a number's thousands
_SAME = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "−": "-", "ſ": "s"})
_THOUSANDS = regex.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# A dense run is cut up by `_WORD`; longer words than this are compared by their beginning.
_LONGEST = 200


class Word(NamedTuple):
    """A word as it is compared, and where it stands."""

    text: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    """The words of a text, in order, folded, with their offsets in it."""
    return list(_words(text))


def _words(text: str) -> Iterator[Word]:
    for match in _WORD.finditer(text):
        raw = match[0]
        if raw.isascii():
            folded = raw.lower()
        else:
            folded = unicodedata.normalize("NFKC", _IGNORED.sub("", raw)).casefold().translate(_SAME)
            folded = unicodedata.normalize("NFKC", folded)
        if "," in folded:
            folded = _THOUSANDS.sub("", folded)
        if folded:
            yield Word(folded[:_LONGEST], match.start(), match.end())


class Wording:
    """The words of a text, with a way to find runs of them."""

    def __init__(self, text: str) -> None:
        self.words = words(text)
        self.texts = [word.text for word in self.words]
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(self.texts):
            self._places.setdefault(word, []).append(place)

    def find(self, run: Sequence[str], after: int = 0) -> Iterator[int]:
        """The places, from the ``after``-th word on, where this run of words stands."""
        if not run:
            return
        # by its rarest word, which decides how often is looked
        rarest = min(range(len(run)), key=lambda i: len(self._places.get(run[i], ())))
        wanted = list(run)
        for place in self._places.get(run[rarest], ()):
            first = place - rarest
            if first >= after and self.texts[first : first + len(wanted)] == wanted:
                yield first

    def longest(self, run: Sequence[str], least: int) -> tuple[int, int]:
        """The longest beginning of ``run`` that stands here, if it has ``least`` words: its place and length."""
        best = (-1, 0)
        for place in self._places.get(run[0], ()) if run else ():
            length = 0
            while length < len(run) and self.texts[place + length : place + length + 1] == [run[length]]:
                length += 1
            if length > best[1]:
                best = (place, length)
        return best if best[1] >= least else (-1, 0)

    def span(self, place: int, length: int) -> tuple[int, int]:
        """The offsets of so many words from a place on."""
        return self.words[place].start, self.words[place + length - 1].end
