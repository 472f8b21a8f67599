"""The passages that a text is held to, joined where they follow each other in their document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nestling.answers import Support
from nestling.retrieve.wording import Wording
from nestling.types import Metadata, Passage
from nestling.view import StoredParent


@dataclass(frozen=True, slots=True)
class Source:
    """A passage as it is cited: its text and where it stands."""

    id: str
    document_id: str
    title: str
    heading: tuple[str, ...]
    start: int
    text: str
    metadata: Metadata
    source: str | None

    @property
    def end(self) -> int:
        """Offset after it in the document."""
        return self.start + len(self.text)

    @classmethod
    def of(cls, found: Passage | StoredParent) -> Source:
        """The same, of what a search found."""
        return cls(
            found.id,
            found.document_id,
            found.title,
            found.heading,
            found.start,
            found.text,
            found.metadata,
            found.source,
        )


class Stretch:
    """Passages of one document that follow each other without a gap, as one text.

    Args:
        members: In order.
        wordings: Of texts that were read before; what is read is added.
    """

    def __init__(self, members: Sequence[Source], wordings: dict[str, Wording]) -> None:
        self._wordings = wordings
        self.members = tuple(members)
        self.start = members[0].start
        text, end = "", self.start
        for member in members:
            # passages may overlap where children do
            text, end = text + member.text[end - member.start :], member.end
        self.text = text

    @property
    def wording(self) -> Wording:
        """Its words."""
        if self.text not in self._wordings:
            self._wordings[self.text] = Wording(self.text)
        return self._wordings[self.text]

    def support(self, start: int, end: int) -> tuple[Support, ...]:
        """The passages that a span of its text is in."""
        first, last = self.start + start, self.start + end
        inside = [member for member in self.members if member.start <= first and last <= member.end]
        touched = inside[:1] or [m for m in self.members if m.start < last and first < m.end]
        return tuple(Support(m.id, m.document_id, max(first, m.start), min(last, m.end)) for m in touched)


def stretches(sources: Iterable[Source], wordings: dict[str, Wording]) -> list[Stretch]:
    """Sources joined where they touch; each passage once, in the order in which documents are given."""
    documents: dict[str, dict[str, Source]] = {}
    for source in sources:
        documents.setdefault(source.document_id, {}).setdefault(source.id, source)
    found = []
    for members in documents.values():
        run: list[Source] = []
        for source in sorted(members.values(), key=lambda each: (each.start, each.end)):
            if run and source.start > run[-1].end:
                found.append(Stretch(run, wordings))
                run = []
            run.append(source)
        found.append(Stretch(run, wordings))
    return found
