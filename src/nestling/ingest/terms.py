"""The one analyzer: text to the terms that every store and cache matches by.

::

    text ─► tokens (letters and digits, joined by - _ . ,) ─► words: whole and parts, folded ─► stemmed
                                                           └► Chinese, Japanese, Korean, Thai …: bigrams

A term holds only letters, digits and marks, never punctuation or a space, so that terms joined by spaces pass
unharmed through any engine's own tokenizer. Texts keep every word; small words are dropped from queries only.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from operator import add
from typing import Final

import regex
import Stemmer

from nestling.ingest.language import detect, function_words

ANALYZER: Final = 1
"""Raise it whenever some text gives other terms than before: stored terms must then be made anew. A change of
small words alone touches only queries and needs no new number."""

LONGEST: Final = 64
"""Characters of a term; what is longer is cut."""

MOST_QUERY_TERMS: Final = 64
"""Distinct words of a query that are kept, the first ones: each costs a pass over its postings."""

_ALGORITHMS: Final = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip

_ASCII_TOKEN: Final = re.compile(r"[A-Za-z0-9_]+(?:[-.,][A-Za-z0-9_]+)*")
# The same for every script: \w of this library includes marks, which are letters in many.
_TOKEN: Final = regex.compile(r"\w+(?:[-.,\u2010]\w+)*")
_IGNORED: Final = regex.compile(r"\p{Default_Ignorable_Code_Point}+")
_KEPT: Final = regex.compile(r"[^\p{L}\p{M}\p{N}]+")
# Scripts without spaces between words, and Hangul, whose words end in particles.
_DENSE: Final = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\u30fc]+|\p{Hangul}+"
    r"|[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}][\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{M}]*"
)
_CLUSTER: Final = regex.compile(r"\X")
_EAST_ASIAN: Final = "\u2e80"  # Han, kana and Hangul come after it, Thai and its like before
# Marks that only decorate a letter: diacritics, points of Cyrillic, Hebrew and Arabic, tatweel, a lone
# voicing mark of kana. й is a letter.
_DECORATION: Final = re.compile(
    "[\u0300-\u0305\u0307-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u0640\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f]+|(?<!и)\u0306"
)
# What decomposition leaves alone: letters with a stroke or tail of their own, and Arabic and Indian digits.
_PLAIN: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "ı": "i"}
    | {chr(zero + digit): str(digit) for zero in (0x660, 0x6F0, 0x966, 0x9E6) for digit in range(10)}
)
_DIGIT: Final = re.compile(r"\d")
_JOINT: Final = re.compile(
    r"[-_\u2010]+|(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[A-Z][A-Za-z]{2})|(?<=[A-Z])(?=[A-Z][a-z]{2})"
)
# Inside a token: a full stop or comma that is no part of a number, a comma that marks thousands, one that is
# a decimal point.
_STOP: Final = re.compile(r"(?<![0-9])\.|\.(?![0-9])|,")
_THOUSANDS: Final = re.compile(
    r"(?<![\w.,])[1-9][0-9]{0,2}(?:(?:,[0-9]{3})+|(?:\.[0-9]{3})+)(?![0-9])(?![.,][0-9]{3})"
)
_DECIMAL: Final = re.compile(r"(?<![\w,])([0-9]+),(?=[0-9]{1,2}(?![\w.,]))")
# Stands for the point of 3.5, so that it stays apart from 35: a letter that looks like a dot.
_POINT: Final = "\ua78f"
# Tokens remembered for each language, about 10 MB; runs of a dense script seldom come again.
_REMEMBERED: Final = 50_000
_FEW: Final = 8
_local = threading.local()


def terms(text: str, language: str) -> list[str]:
    """The terms a text is found by, in order and with repeats.

    A compound (``XJ-4410-B``, ``snake_case``, ``camelCase``) gives itself as one term and its parts besides.

    Args:
        text: Any text.
        language: ISO 639-1 code the words are stemmed by; ``""`` as English, the language of most code; not
            stemmed in a language without a stemmer.

    Returns:
        Terms of letters, digits and marks, at most ``LONGEST`` characters each; none for a text without
        letters and digits.
    """
    return list(chain.from_iterable(map(_stemmed(language).__getitem__, _tokens(text))))


def query_terms(text: str, languages: Sequence[str]) -> list[tuple[str, ...]]:
    """The terms a query asks for: for each of its words, every form it has in an index.

    The small words of the query's language are dropped, unless nothing else is left.

    Args:
        text: Any text; at most ``MOST_QUERY_TERMS`` distinct words of it are used, the first.
        languages: ISO 639-1 codes of the languages the index holds, ``""`` among them when some texts are in
            none; empty: as ``[""]``.

    Returns:
        A tuple for each distinct word in order: its different terms under each language.
    """
    said, small = _said(text, languages)
    return (said or small)[:MOST_QUERY_TERMS]


def content_terms(text: str, languages: Sequence[str]) -> list[tuple[str, ...]]:
    """The same, without small words even where nothing else is left."""
    return _said(text, languages)[0]


def _said(text: str, languages: Sequence[str]) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The terms of a text's words, and those of its small words."""
    codes = list(dict.fromkeys(languages)) or [""]
    small = _small_words(text, codes)
    said: dict[tuple[str, ...], None] = {}
    dropped: dict[tuple[str, ...], None] = {}
    for word, dense in _words(text):
        variants = (word,) if dense else tuple(dict.fromkeys(_stem(word, code) for code in codes))
        (dropped if word in small else said)[variants] = None
        if len(said) == MOST_QUERY_TERMS:
            break
    return list(said), list(dropped)


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """The words of a query, not stemmed; of a dense run its bigrams alone, or the one character it is."""
    for token in dict.fromkeys(_tokens(text)):
        for word, dense in _parts(token):
            if dense:
                characters = _characters(word)
                yield from ((piece, True) for piece in _bigrams(characters) or characters)
            else:
                yield word, False


def _small_words(text: str, codes: list[str]) -> frozenset[str]:
    """The words to drop: those of the query's language, or else those that are small in all languages."""
    known = [code for code in codes if code in function_words()]
    language = known[0] if len(known) == 1 else detect(text, known or None)
    if language in function_words():
        return _folded_words(language)
    return frozenset.intersection(*map(_folded_words, known)) if known else frozenset()


@lru_cache(maxsize=64)
def _folded_words(language: str) -> frozenset[str]:
    return frozenset(map(_fold, function_words()[language]))


def _tokens(text: str) -> list[str]:
    """Runs of letters, digits and marks, still with case and with the joints inside a compound."""
    if text.isascii():
        return _ASCII_TOKEN.findall(text)
    tokens: list[str] = _TOKEN.findall(unicodedata.normalize("NFKC", _IGNORED.sub("", text)))
    return tokens


class _Stemmed(dict[str, list[str]]):
    """The terms of each token seen, by its spelling: most of a text is words seen before."""

    def __init__(self, language: str) -> None:
        self.language = language

    def __missing__(self, token: str) -> list[str]:
        found: list[str] = []
        for word, dense in _parts(token):
            if dense:
                characters = _characters(word)
                found += characters
                found += _bigrams(characters)
            else:
                found.append(_stem(word, self.language))
        if len(token) <= LONGEST and len(found) <= _FEW:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[token] = found
        return found


_stemmed = lru_cache(maxsize=64)(_Stemmed)


def _parts(token: str) -> Iterator[tuple[str, bool]]:
    """The folded words of a token, a compound before its parts; and whether each is a dense run."""
    if not token.isascii():
        start = 0
        for run in _DENSE.finditer(token):
            if start < run.start():
                yield from _compounds(token[start : run.start()])
            yield run.group(), True
            start = run.end()
        token = token[start:]
    if token:
        yield from _compounds(token)


def _compounds(token: str) -> Iterator[tuple[str, bool]]:
    """The folded words of a token without dense runs."""
    if "," in token or "." in token:
        token = _THOUSANDS.sub(lambda number: re.sub("[.,]", "", number.group()), token)
        token = _DECIMAL.sub(rf"\1{_POINT}", token)
    for segment in _STOP.split(token):
        parts = [part for part in map(_fold, _JOINT.split(segment.replace(".", _POINT))) if part]
        if len(parts) > 1:
            yield "".join(parts), False
        for part in parts:
            yield part, False


def _characters(run: str) -> list[str]:
    """The characters of a dense run as a reader counts them: a Thai consonant with its marks is one."""
    if run[0] >= _EAST_ASIAN:
        return list(run)
    return [cluster[: LONGEST // 2] for cluster in _CLUSTER.findall(run)]


def _bigrams(characters: list[str]) -> list[str]:
    return list(map(add, characters, characters[1:]))


def _fold(word: str) -> str:
    """Take away case, width, accents and what is no letter, digit or mark."""
    folded = word.casefold()
    if folded.isascii():
        return folded
    folded = _DECORATION.sub("", unicodedata.normalize("NFKD", folded)).translate(_PLAIN)
    return _KEPT.sub("", unicodedata.normalize("NFKC", folded).casefold())


def _stem(word: str, language: str) -> str:
    """A folded word's stem, cut to ``LONGEST``; what has a digit is a code or number and stays exact."""
    word = word[:LONGEST]
    algorithm = _ALGORITHMS.get(language or "en")
    if algorithm is None or _DIGIT.search(word):
        return word
    stemmers: dict[str, Stemmer.Stemmer] = _local.__dict__
    stemmer = stemmers.get(algorithm)
    if stemmer is None:
        # A Stemmer must not be shared between threads; words are remembered here, so it need not cache.
        stemmer = stemmers[algorithm] = Stemmer.Stemmer(algorithm, 0)
    stem: str = stemmer.stemWord(word)
    return _fold(stem)[:LONGEST] or word
