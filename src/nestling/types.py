"""The values that travel between the rooms: frozen, plain, and in the words of the design.

Offsets are Python ``str`` offsets (code points), end exclusive, into the stored text of the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Metadata = Mapping[str, Any]
Level = Literal["document", "parent", "child"]
Channel = Literal["dense", "lexical"]

LEVELS: tuple[Level, ...] = ("document", "parent", "child")


@dataclass(frozen=True, slots=True)
class Document:
    """What the user adds.

    Attributes:
        id: Unique in the nest; any non-empty text.
        text: The full text, stored exactly as given.
        title: Shown with every passage, and put before every child when it is embedded.
        metadata: JSON values; dates and datetimes are stored as ISO 8601 text.
        source: Where it came from (a path, an address), or None.
    """

    id: str
    text: str
    title: str = ""
    metadata: Metadata = field(default_factory=dict)
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Child:
    """A span of a parent: what is embedded and matched, never cited.

    Attributes:
        id: The parent's id, ``::``, and the position in the parent (``dosage.md§3::02``).
        start: Offset of its first character in the document.
        end: Offset after its last character.
        lead: Text put before it when it is embedded and indexed (title, heading path, table header);
            no part of the document at this place.
    """

    id: str
    start: int
    end: int
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Parent:
    """A span of a document: the unit that is read and cited. Its children cover it, in order.

    Attributes:
        id: The document's id where the document is one parent, else the document's id, ``§``, and the
            position counted from 1.
        start: Offset of its first character in the document.
        end: Offset after its last character.
        heading: The headings it stands under, outermost first.
        children: In document order; they cover ``[start, end)``.
        metadata: Its own metadata, over the document's (a page, a section).
    """

    id: str
    start: int
    end: int
    heading: tuple[str, ...] = ()
    children: tuple[Child, ...] = ()
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A child that earned its passage the score.

    Attributes:
        start: Offset of its first character in the passage's text.
        end: Offset after its last character in the passage's text.
        document_start: The same place in the document's text.
        document_end: The same place in the document's text.
        score: The child's own fused score, 0 to 1 within this query.
    """

    start: int
    end: int
    document_start: int
    document_end: int
    score: float


@dataclass(frozen=True, slots=True)
class Passage:
    """What a search returns: a parent, why it was found, and how to cite it.

    Attributes:
        id: The parent's id; cite this.
        document_id: The document it is a span of.
        title: The document's.
        heading: The headings it stands under, outermost first.
        text: The parent's text: ``document.text[start:end]``.
        start: Offset of its first character in the document.
        end: Offset after its last character.
        score: 0 to 1, scaled within this query: for order, not for comparing queries.
        similarity: The highest cosine of its children to the query, -1 to 1, comparable between queries;
            None where the dense channel did not vote.
        coverage: The share, 0 to 1, of the query's IDF weight that is found in it; comparable.
        hits: How many of its children are in the lists of matching children.
        evidence: The children that earned the score, in text order.
        metadata: The parent's own over the document's.
        source: Where the document came from, or None.
        cite: The marker that cites it in an answer.
    """

    id: str
    document_id: str
    title: str
    heading: tuple[str, ...]
    text: str
    start: int
    end: int
    score: float
    similarity: float | None
    coverage: float
    hits: int
    evidence: tuple[Evidence, ...]
    metadata: Metadata
    source: str | None
    cite: str


class Piece(NamedTuple):
    """A span of a document that a context shows."""

    document_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Context:
    """Passages packed into a token budget, ready for a prompt.

    Attributes:
        text: Titles, headings, cite markers and text, with ``…`` where text is left out.
        tokens: Of ``text``; never above ``budget``.
        budget: As asked.
        passages: Those shown, in the order shown, whole.
        pieces: What is shown of which document, in the order shown.
        abstained: Why nothing is shown, or None.
    """

    text: str
    tokens: int
    budget: int
    passages: tuple[Passage, ...]
    pieces: tuple[Piece, ...]
    abstained: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """An input that was not added.

    Attributes:
        name: What it is called: a path, or an id.
        reason: Why, with what to do next.
        skipped: It was met in a folder and is of no kind that is read: nothing went wrong.
    """

    name: str
    reason: str
    skipped: bool = False
