"""What a sentence states, as far as it compares without a model: content words, numbers, names, negations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import regex

from nestling.retrieve.analysis import Analysis, Forms
from nestling.retrieve.negation import negated, negators

_SMALL: Final = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS: Final = {word: str(number) for number, word in enumerate(_SMALL, 2)} | {
    word: str(10 * number) for number, word in enumerate(_TENS, 2)
}
_NUMBER_WORD: Final = re.compile(rf"\b(?:{'|'.join(_NUMBERS)})\b", re.IGNORECASE)
# What speaks of a passage, or leads in to what it says, and is not said by it.
_REPORTING: Final = re.compile(
    r"\b(?:according to|in other words|for (?:example|instance)|as a rule|note that|"
    r"(?:this|that|which) means(?: that)?|"
    r"(?:the |this |these |its )?(?:passages?|documents?|texts?|sources?|sections?|pages?|context)"
    r" (?:also )?(?:says?|states?|mentions?|notes?|explains?|describes?|adds?|shows?|tells?)(?: that)?"
    # modal verbs, by which the same is asked for and allowed in many ways
    r"|may|might|must|shall|should|would|could|ought to|ha(?:s|ve) to|needs? to)\b",
    re.IGNORECASE,
)
_TOKEN: Final = regex.compile(r"\w+(?:[-.,'’]\w+)*")
_YEAR: Final = re.compile(r"[12]\d{3}")
_NAME: Final = regex.compile(r"\p{Lu}.*")
_BORDER: Final = re.compile(r"[,;:–—]|\b(?:and|but|while|whereas|und|aber|et|mais|y|pero|e|ma|en|maar)\b")


def with_digits(text: str) -> str:
    """A text with its English number words, two to ninety, as digits: "thirty days" says what "30 days" does."""
    return _NUMBER_WORD.sub(lambda found: _NUMBERS[found[0].lower()], text)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence made ready to be compared.

    Attributes:
        words: Content words in order.
        shown: Each as it stands in the sentence.
        names: Which of them are written as names inside the sentence.
        required: Numbers, and the word that each counts: none of them may be missing.
        denied: For each negation, which of the words it denies.
        borders: Before which of the words a clause may end.
    """

    words: tuple[Forms, ...]
    shown: tuple[str, ...]
    names: frozenset[int]
    required: frozenset[int]
    denied: tuple[frozenset[int], ...]
    borders: frozenset[int]

    def part(self, first: int, last: int) -> Statement:
        """What it states with the words ``first`` to ``last`` alone."""

        def inside(places: frozenset[int]) -> frozenset[int]:
            return frozenset(i - first for i in places if first <= i < last)

        return Statement(
            self.words[first:last],
            self.shown[first:last],
            inside(self.names),
            inside(self.required),
            tuple(inside(group) for group in self.denied),
            inside(self.borders),
        )


def statement(text: str, analysis: Analysis) -> Statement:
    """Read a sentence."""
    # at the same length, for what follows
    text = _REPORTING.sub(lambda found: " " * len(found[0]), with_digits(text))
    asserted = list(text)
    for _, start, end in negators(text):
        asserted[start:end] = " " * (end - start)
    words = tuple(analysis.content("".join(asserted)))
    spans = _places(text, words, analysis)
    required = set()
    for i, forms in enumerate(words):
        if not any(char.isdigit() for char in forms[0]):
            continue
        required.add(i)
        between = text[spans[i][1] : spans[i + 1][0]] if i + 1 < len(words) else None
        if between is not None and between.strip(" \t-") == "" and not _YEAR.fullmatch(forms[0]):
            required.add(i + 1)
    names = {i for i, (start, end) in enumerate(spans) if start and _NAME.match(text, start, end)}
    # where every noun has a capital, none tells a name
    if len(names) > len(words) / 2:
        names = set()
    denied = [
        frozenset(i for i, (start, end) in enumerate(spans) if first <= start and end <= last)
        for first, last in negated(text)
    ]
    borders = {i for i in range(1, len(words)) if _BORDER.search(text, spans[i - 1][1], max(spans[i]))}
    shown = tuple(text[start:end] or forms[0] for (start, end), forms in zip(spans, words, strict=True))
    return Statement(words, shown, frozenset(names), frozenset(required), tuple(denied), frozenset(borders))


def _places(text: str, words: tuple[Forms, ...], analysis: Analysis) -> list[tuple[int, int]]:
    """Where each content word first stands; one that cannot be placed stands with the one before."""
    tokens = [(match.span(), analysis.terms(match[0])) for match in _TOKEN.finditer(text)]
    spans, last = [], (0, 0)
    for forms in words:
        last = next((span for span, terms in tokens if not terms.isdisjoint(forms)), last)
        spans.append(last)
    return spans
