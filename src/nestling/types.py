"""The values that travel between the rooms: frozen, plain, and in the words of the design.

Offsets are Python ``str`` offsets (code points), end exclusive, into the stored text of the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

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
