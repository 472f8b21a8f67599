"""A document made ready for a store: parents, the texts to embed, their digests and terms."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from nestling.ingest.language import detect
from nestling.ingest.split import split
from nestling.ingest.terms import terms
from nestling.settings import Recipe
from nestling.types import Document, Parent


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


def prepare(document: Document, recipe: Recipe, count: Callable[[str], int]) -> Prepared:
    """Split a checked document and analyse its children.

    Args:
        document: From `nestling.ingest.check.checked`.
        recipe: The sizes.
        count: Tokens of a text, for a recipe in tokens.
    """
    parents = split(document, recipe, count)
    texts = [child.lead + document.text[child.start : child.end] for p in parents for child in p.children]
    language = _language(document)
    return Prepared(
        document,
        document_digest(document),
        language,
        parents,
        texts,
        [blake2b(text.encode(), digest_size=16).digest() for text in texts],
        [terms(text, language) for text in texts],
    )


def _language(document: Document) -> str:
    said = document.metadata.get("language") or document.metadata.get("lang")
    if isinstance(said, str) and len(said.split("-")[0]) == 2:
        return said.split("-")[0].lower()
    return detect(document.text)


def question_language(text: str, languages: Mapping[str, int]) -> str:
    """The language of a query, as far as it matters to a nest that holds these languages.

    A few words often fit several languages: those that the nest holds are believed first, then the script,
    then the language of most documents. "" where nothing tells.
    """
    held = {code: n for code, n in languages.items() if code}
    found = detect(text, held)
    if not found and not text.isascii():
        found = detect(text)
    if found:
        return found
    return max(held, key=lambda code: (held[code], code), default="")
