"""Which language a text is in, told from its script and its small words.

A language decides how words are stemmed and whether an embedder can represent a text, so a wrong answer costs
more than none: everything here prefers ``""`` to a guess.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Final

SAMPLE: Final = 2000
"""Characters of a text that are looked at."""

# One small word of its own, or two that another language shares, half of it among given candidates; and how
# far ahead of the next language, also in a share of its own. A script other than Latin needs neither.
_ENOUGH: Final = 1.0
_AHEAD: Final = 0.5
_AHEAD_SHARE: Final = 0.1
# A letter of a language's own weighs half a word: names carry such letters into other languages.
_LETTER_WEIGHT: Final = 0.5
# A word of one letter may be an initial, a variable, a column.
_INITIAL_WEIGHT: Final = 0.25
# Small words of other languages that English texts hold: as English words, or in names and set phrases.
_ALSO_ENGLISH: Final = """
    al ante are care col come comment die dig dog due et fallen far fie fin for ham han hans has hem hen in is
    las los ma main man me men mes mine net non old pan para per plus pod pot pour pro san sans sin sole son
    sous state sub sum tam ten test to toe tot trans tutor under van via von war zero
"""

_WORD: Final = re.compile(r"[^\W\d_]+")
_LETTERS: Final = {
    "ß": "de",
    "ä": "de sv fi",
    "ö": "de sv fi hu tr",
    "ü": "de hu tr",
    "å": "sv da no",
    "æ": "da no",
    "ø": "da no",
    "ñ": "es",
    "ã": "pt vi",
    "õ": "pt vi",
    "ç": "fr pt tr ca",
    "è": "fr it ca vi",
    "ê": "fr pt vi",
    "œ": "fr",
    "ò": "it ca vi",
    "ő": "hu",
    "ű": "hu",
    "ğ": "tr",
    "ı": "tr",
    "ş": "tr ro",
    "ă": "ro vi",
    "ș": "ro",
    "ț": "ro",
    "ţ": "ro",
    "ą": "pl",
    "ę": "pl",
    "ł": "pl",
    "ś": "pl",
    "ź": "pl",
    "ż": "pl",
    "ě": "cs",
    "ř": "cs",
    "ů": "cs",
    "ơ": "vi",
    "ư": "vi",
    "đ": "vi",
    "ы": "ru",
    "э": "ru",
    "ё": "ru",
    "ї": "uk",
    "є": "uk",
    "і": "uk",
    "ґ": "uk",
    "ј": "sr",
    "љ": "sr",
    "њ": "sr",
    "ћ": "sr",
    "ђ": "sr",
    "پ": "fa",
    "چ": "fa",
    "ژ": "fa",
    "گ": "fa",
    "ی": "fa",
    "ک": "fa",
    "ة": "ar",
    "ي": "ar",
    "ى": "ar",
}
# Where each script begins and ends, and the languages written in it that we know: the first is the answer
# when nothing tells more.
_SCRIPTS: Final = (
    (0x0370, 0x03FF, "el"),
    (0x0400, 0x052F, "ru uk bg sr"),
    (0x0530, 0x058F, "hy"),
    (0x0590, 0x05FF, "he"),
    (0x0600, 0x077F, "ar fa"),
    (0x0900, 0x097F, "hi"),
    (0x0980, 0x09FF, "bn"),
    (0x0B80, 0x0BFF, "ta"),
    (0x0C00, 0x0C7F, "te"),
    (0x0E00, 0x0E7F, "th"),
    (0x0E80, 0x0EFF, "lo"),
    (0x1000, 0x109F, "my"),
    (0x10A0, 0x10FF, "ka"),
    (0x1780, 0x17FF, "km"),
    (0x1F00, 0x1FFF, "el"),
    (0x3040, 0x30FF, "ja"),
    (0x3400, 0x9FFF, "zh"),
    (0xAC00, 0xD7A3, "ko"),
    (0xF900, 0xFAFF, "zh"),
    (0x20000, 0x323AF, "zh"),
)
_STARTS: Final = tuple(start for start, _, _ in _SCRIPTS)
_NOT_LATIN: Final = re.compile(r"[^\W\d_\u0000-\u036f\u1e00-\u1eff]+")
# One Han, kana or Hangul character says about as much as this many letters.
_DENSE: Final = 3
# Japanese is Han with kana; a Chinese text may quote a little of it.
_KANA_SHARE: Final = 0.1


@lru_cache(maxsize=1)
def function_words() -> dict[str, frozenset[str]]:
    """The small words of each language we know, in lower case and usual spelling, by ISO 639-1 code."""
    lines = Path(__file__).with_name("function_words.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.split() for line in lines if line and not line.startswith("#"))
    return {row[0]: frozenset(row[1:]) for row in rows}


def detect(text: str, among: Collection[str] | None = None, enough: float | None = None) -> str:
    """Tell the language of a text.

    The script decides where it can; languages that share one are told apart by their function words and
    letters. Only the first ``SAMPLE`` characters are read. The same text always gives the same answer.

    Args:
        text: A document or a question.
        among: ISO 639-1 codes the answer is restricted to, such as the languages a nest holds; None for all.
        enough: How much must speak for a language where the script does not decide; 1 is one small word
            that no other language has. None: that much, or half of it where ``among`` is given.

    Returns:
        An ISO 639-1 code, or ``""`` when the text does not tell: too short, only names, numbers or code, or
        in a language outside ``among``.
    """
    sample = text[:SAMPLE].lower()
    if not sample.isascii():
        sample = unicodedata.normalize("NFC", sample)
    words = _WORD.findall(sample)
    codes = () if sample.isascii() else _of_script(sample, sum(map(len, words)))
    scores = _scores(words, codes or _latin())
    allowed = [code for code in scores if among is None or code in among]
    ranked = sorted(allowed, key=lambda code: -scores[code])
    if not ranked:
        return ""
    most = scores[ranked[0]]
    margin = max(_AHEAD, _AHEAD_SHARE * most)
    if max(scores.values()) > most + margin:
        return ""
    if codes:
        return ranked[0]
    if enough is None:
        enough = _ENOUGH if among is None else _AHEAD
    second = scores[ranked[1]] if len(ranked) > 1 else 0.0
    return ranked[0] if most >= enough and most > second + margin else ""


@lru_cache(maxsize=1)
def _latin() -> tuple[str, ...]:
    """The languages in Latin letters that have a list of words."""
    elsewhere = {code for _, _, codes in _SCRIPTS for code in codes.split()}
    return tuple(code for code in function_words() if code not in elsewhere)


def _of_script(sample: str, letters: int) -> tuple[str, ...]:
    """The languages of the script that most of a text is in, or none when that is Latin."""
    counts: Counter[str] = Counter()
    for character, times in Counter("".join(_NOT_LATIN.findall(sample))).items():
        start, end, codes = _SCRIPTS[max(bisect_right(_STARTS, ord(character)) - 1, 0)]
        letters -= times
        if start <= ord(character) <= end:
            counts[codes] += times * _DENSE if codes in ("zh", "ja", "ko") else times
    if counts["ja"] and counts["ja"] >= _KANA_SHARE * (counts["ja"] + counts["zh"]):
        counts["ja"] += counts.pop("zh", 0)
    best, most = max(counts.items(), key=lambda item: item[1], default=("", 0))
    return tuple(best.split()) if most > letters else ()


@lru_cache(maxsize=1)
def _weights() -> dict[str, tuple[tuple[str, float], ...]]:
    """What each word or letter says for which language: the more languages have it, the less."""
    owners: dict[str, list[str]] = {}
    for code, words in function_words().items():
        for word in words:
            owners.setdefault(word, []).append(code)
    for word in set(_ALSO_ENGLISH.split()) - function_words()["en"]:
        owners.setdefault(word, []).append("en")
    table = {
        word: _shared(codes, _INITIAL_WEIGHT if len(word) == 1 and word.isascii() else 1.0)
        for word, codes in owners.items()
    }
    for letter, codes in _LETTERS.items():
        table["+" + letter] = _shared(codes.split(), _LETTER_WEIGHT)
    return table


def _shared(codes: list[str], weight: float) -> tuple[tuple[str, float], ...]:
    return tuple((code, weight / len(codes)) for code in codes)


def _scores(words: list[str], candidates: tuple[str, ...]) -> dict[str, float]:
    """How much the small words and letters of a text say for each candidate; each word counts once."""
    weights = _weights()
    scores = dict.fromkeys(candidates, 0.0)
    for word in dict.fromkeys(words):
        clues = weights.get(word, ())
        if not word.isascii():
            clues += tuple(clue for letter in dict.fromkeys(word) for clue in weights.get("+" + letter, ()))
        for code, weight in clues:
            if code in scores:
                scores[code] += weight
    return scores


@lru_cache(maxsize=1)
def known_languages() -> frozenset[str]:
    """Every code that `detect` can answer."""
    return frozenset(function_words()) | {code for _, _, codes in _SCRIPTS for code in codes.split()}
