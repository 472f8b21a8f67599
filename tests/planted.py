"""Claims planted in Python's own language reference, with the verdict that each deserves.

Every case is made from sentences of that text by rules that keep what is said (`said_again`, `in_another_form`) or
change it (`falsified`), so that the verdict is known.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nestling.apps.demo import language_reference
from nestling.ingest.sentences import sentences
from nestling.ingest.split import split
from nestling.retrieve.sources import Source
from nestling.settings import Recipe

# Passages that a claim is held to: as many as a context of some 2,000 tokens shows.
AROUND = 8
_SYNONYMS = (
    (r"\bmust be\b", "has to be"),
    (r"\bmay be\b", "can be"),
    (r"\bis called\b", "is named"),
    (r"\bis used to\b", "serves to"),
    (r"\bin order to\b", "to"),
    (r"\bfor example\b", "for instance"),
    (r"\bhowever\b", "but"),
    (r"\bshould be\b", "ought to be"),
    (r"\ballows\b", "lets"),
)
_LEAD_INS = ("In other words, {}", "This means that {}", "Note that {}", "{}", "{}", "As a rule, {}")
_NEGATABLE = re.compile(r"\b(is|are|was|were|can|must|may|should|will|does|do)\b(?! (?:not|only|just)\b)")


@dataclass(frozen=True)
class Case:
    """A text that cites one passage, what was done to it, and the verdict it deserves."""

    kind: str
    text: str
    sources: tuple[Source, ...]
    verdict: str


def passages() -> list[Source]:
    """The parents of the language reference."""
    found = []
    for document in language_reference():
        for parent in split(document, Recipe(), len):
            text = document.text[parent.start : parent.end]
            found.append(
                Source(parent.id, document.id, document.title, parent.heading, parent.start, text, {}, None)
            )
    return found


def cases(count: int, seed: int = 0, others: int = AROUND) -> Iterator[Case]:
    """About ``count`` cases of every kind, with so many other passages around the two that are made of."""
    chance = random.Random(seed)
    every = passages()
    usable = [(source, text) for source in every for text in _plain_sentences(source)]
    for _ in range(count):
        (source, said), (other, said_there) = chance.sample(usable, 2)
        if source.document_id == other.document_id:
            continue
        rest = chance.sample([each for each in every if each.id not in (source.id, other.id)], others)
        rest = [each for each in rest if said not in each.text]
        around = (source, other, *rest)
        yield from _quotes(chance, said, said_there, source, other, around)
        yield from _statements(chance, said, said_there, source, other, around)


def _quotes(
    chance: random.Random, said: str, there: str, source: Source, other: Source, around: tuple[Source, ...]
) -> Iterator[Case]:
    def case(kind: str, quote: str, cited: Source, verdict: str) -> Case:
        return Case(kind, f"It says “{quote}” [cite:{cited.id}].", around, verdict)

    first, second = _part(chance, said), _part(chance, there)
    yield case("quote", in_another_form(chance, first), source, "supported")
    yield case("quote with ellipsis", elided(first), source, "supported")
    yield case("quote of another", in_another_form(chance, first), other, "misattributed")
    yield case("quote of two", f"{_half(first, 0)} {_half(second, 1)}", source, "stitched")
    for name, change in falsified(chance, first, there):
        yield case(f"quote, {name}", change, source, "fabricated")


def _statements(
    chance: random.Random, said: str, there: str, source: Source, other: Source, around: tuple[Source, ...]
) -> Iterator[Case]:
    def case(kind: str, text: str, cited: Source, verdict: str) -> Case:
        return Case(kind, f"{text} [cite:{cited.id}].", around, verdict)

    again = said_again(chance, said)
    yield case("sentence", said.rstrip("."), source, "supported")
    yield case("paraphrase", again, source, "supported")
    yield case("paraphrase of another", again, other, "misattributed")
    yield case("halves of two", f"{_half(said, 0)} and {_half(there, 1)}", source, "stitched")
    for name, change in falsified(chance, again, there):
        yield case(f"paraphrase, {name}", change, source, "fabricated")
    without = (around[0], *around[2:])
    yield Case("invented", f"{said_again(chance, there)} [cite:{source.id}].", without, "fabricated")


def said_again(chance: random.Random, text: str) -> str:
    """The same said in another order, with other endings and small words."""
    text = text.strip().rstrip(".")
    swapped = re.match(r"^(If|When|While|Since|Because) ([^,]{8,}), (?:then )?([^,]{8,})$", text)
    turned = re.match(r"^([^,]{8,}?) (if|when|because|unless) ([^,]{8,})$", text)
    if swapped:
        text = f"{swapped[3]} {swapped[1].lower()} {swapped[2]}"
    elif turned:
        text = f"{turned[2].capitalize()} {turned[3]}, {turned[1][0].lower()}{turned[1][1:]}"
    elif text.count(", ") == 1 and chance.random() < 0.5:
        first, second = text.split(", ")
        text = f"{second}, {first[0].lower()}{first[1:]}"
    for pattern, instead in _SYNONYMS:
        text = re.sub(pattern, instead, text, flags=re.IGNORECASE)
    words = text.split()
    for i in range(1, len(words)):
        if re.fullmatch(r"[a-z]{4,}", words[i]) and chance.random() < 0.2:
            words[i] = _inflected(words[i])
    return chance.choice(_LEAD_INS).format(" ".join(words))


def _inflected(word: str) -> str:
    if word in (
        "that",
        "this",
        "with",
        "from",
        "when",
        "then",
        "into",
        "only",
        "also",
        "such",
        "which",
        "where",
    ):
        return word
    if word.endswith("ed") and len(word) > 5:
        return word[:-2] + "ing"
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word if word.endswith(("ss", "ly", "ing")) else f"{word}s"


def in_another_form(chance: random.Random, text: str) -> str:
    """The same words in other white space, case, quotation marks, dashes and Unicode form."""
    forms: list[Callable[[str], str]] = [
        lambda t: t.replace(" ", "\n", 2),
        lambda t: t[0].swapcase() + t[1:],
        lambda t: t.replace("'", "’").replace('"', "’"),
        lambda t: t.replace("-", "–").replace("—", "--"),
        lambda t: unicodedata.normalize("NFD", t),
        lambda t: t.replace("fi", "ﬁ"),
        str.upper,
    ]
    for form in chance.sample(forms, 3):
        text = form(text)
    return text.replace('"', "'").replace("“", "'").replace("”", "'")


def elided(text: str) -> str:
    """Without a few words in the middle that deny nothing, an ellipsis in their place."""
    words = text.replace('"', "'").split()
    third = len(words) // 3
    left_out = words[third : 2 * third]
    if any(
        re.search(r"\b(?:not|no|never|cannot|without|neither|nor|n't)\b|n['’]t", word) for word in left_out
    ):
        return " ".join(words)
    return " ".join([*words[:third], "…", *words[2 * third :]])


def falsified(chance: random.Random, text: str, other: str) -> Iterator[tuple[str, str]]:
    """A statement changed so that it is no longer what was said, each way that it can be."""
    numbers = re.findall(r"\b\d+\b", text)
    if numbers:
        yield "number changed", re.sub(rf"\b{numbers[0]}\b", str(int(numbers[0]) + 7), text, count=1)
    if len(_NEGATABLE.findall(text)) == 1:
        yield "negated", _NEGATABLE.sub(r"\1 not", text)
    if re.search(r"\b(is|are|can|must|may|do|does|will) not\b", text):
        yield "negation dropped", re.sub(r"\b(is|are|can|must|may|do|does|will) not\b", r"\1", text, count=1)
    ours = set(re.findall(r"\w+", text.lower()))
    foreign = [w for w in re.findall(r"[a-z]{6,}", other) if w not in ours]
    places = list(re.finditer(r"\b[a-z]{6,}\b", text))
    if len(foreign) >= 2 and len(places) >= 3:
        for match, word in zip(
            sorted(chance.sample(places, 2), key=lambda m: m.start(), reverse=True), foreign, strict=False
        ):
            text = text[: match.start()] + word + text[match.end() :]
        yield "two words changed", text


def _plain_sentences(source: Source) -> list[str]:
    found = []
    for start, end in sentences(source.text):
        text = " ".join(source.text[start:end].split())
        prose = re.fullmatch(r"[A-Z][\w ,;:'\"()*.\-—–“”‘’]+\.", text)
        if prose and 10 <= len(text.split()) <= 40 and text.count('"') % 2 == 0:
            found.append(text)
    return found


def _part(chance: random.Random, text: str) -> str:
    words = text.replace('"', "'").split()
    length = min(len(words), chance.randint(9, 18))
    first = chance.randint(0, len(words) - length)
    return " ".join(words[first : first + length]).strip(" ,;.")


def _half(text: str, which: int) -> str:
    words = text.rstrip(".").split()
    middle = len(words) // 2
    return " ".join(words[middle:] if which else words[:middle])
