"""A document made ready for a store: parents, the texts to embed, their digests and terms."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from nestling.ingest.language import detect, known_languages
from nestling.ingest.split import split
from nestling.ingest.terms import terms
from nestling.settings import Recipe
from nestling.types import Document, Parent

# How much must speak for a document's language: a wrong one hides it from the model and stems it wrongly, so a
# short text is better left without (of 8,600 documents of seven corpora none was then told wrongly).
SURE = 2.0


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document with everything that is known of it before embedding.

    Attributes:
        document: As checked.
        digest: From `document_digest`.
        language: ISO 639-1, or "" where it cannot be told.
        parents: With their children; none for an empty document.
        texts: What is embedded of each child, in order over all parents: its lead, then its text.
        digests: Of each of ``texts``.
        terms: Of each of ``texts``.
    """

    document: Document
    digest: bytes
    language: str
    parents: tuple[Parent, ...]
    texts: list[str]
    digests: list[bytes]
    terms: list[list[str]]


def document_digest(document: Document) -> bytes:
    """16 bytes that are equal for equal title, text and metadata; where it came from does not count."""
    metadata = json.dumps(document.metadata, sort_keys=True, ensure_ascii=False)
    digest = blake2b(digest_size=16)
    for part in (document.title, metadata, document.text):
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.digest()


def text_digest(text: str) -> bytes:
    """16 bytes that are equal for equal embedded texts."""
    return blake2b(text.encode(), digest_size=16).digest()


def prepare(
    document: Document, recipe: Recipe, count: Callable[[str], int], language: str | None = None
) -> Prepared:
    """Split a checked document and analyse its children.

    Args:
        document: From `nestling.ingest.check.checked`.
        recipe: The sizes.
        count: Tokens of a text, for a recipe in tokens.
        language: Of its words, where that is known.
    """
    parents = split(document, recipe, count)
    texts = [child.lead + document.text[child.start : child.end] for p in parents for child in p.children]
    language = _language(document) if language is None else language
    return Prepared(
        document,
        document_digest(document),
        language,
        parents,
        texts,
        [text_digest(text) for text in texts],
        [terms(text, language) for text in texts],
    )


def _language(document: Document) -> str:
    """What the metadata says, where it is a language that we know and the text does not contradict."""
    found = detect(document.text, enough=SURE)
    for key in ("language", "lang"):
        said = document.metadata.get(key)
        code = said.replace("_", "-").split("-")[0].lower() if isinstance(said, str) else ""
        if code in known_languages() and found in ("", code):
            return code
    return found


def question_language(text: str, languages: Mapping[str, int]) -> str:
    """The language of a query, as far as it matters to a nest that holds these languages.

    A few words often fit several languages: those that the nest holds are believed first, then the script,
    then the language of most documents; where that is not known, the words again. "" where nothing tells.
    """
    held = [code for code in languages if code]
    found = detect(text, held)
    if not found and not text.isascii():
        found = detect(text)
    most = max(languages, key=lambda code: (languages[code], code), default="")
    return found or most or detect(text, enough=SURE)
