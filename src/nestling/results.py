"""What the nest answers with: reports, results that explain themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, overload

from nestling.types import Channel, Document, Failure, Level, Metadata, Parent, Passage


class Renamed(NamedTuple):
    """A document that has another id, because its file has another name.

    Attributes:
        old: The id that is gone.
        new: The id that took its place, in the same transaction.
    """

    old: str
    new: str


@dataclass(slots=True)
class Report:
    """What `Nest.add` or `Nest.sync` did, by document id, in the order given.

    Attributes:
        added: Stored for the first time.
        updated: Replaced, because title, text or metadata differ.
        unchanged: Left alone, because nothing differs.
        empty: Of those added and updated, the ones without any text to find.
        failed: Inputs that were not stored.
        skipped: Files met in folders that are of no kind that is read, such as pictures.
        embedded: How many children went through the model.
        reused: How many children took the vector of an equal text.
        removed: By `Nest.sync` only: removed, because they are no longer in the folder.
        renamed: By `Nest.sync` only: stored under another id, because their file has another name.
    """

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    failed: list[Failure] = field(default_factory=list)
    skipped: list[Failure] = field(default_factory=list)
    embedded: int = 0
    reused: int = 0
    removed: list[str] = field(default_factory=list)
    renamed: list[Renamed] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far adding, syncing, checking, repairing, building or pruning is.

    Attributes:
        documents: Inputs or documents done, whatever came of them; of each edition that is pruned.
        total: How many there are, or None where they cannot be counted beforehand.
        children: Children embedded, looked at, or removed.
        name: The input or document that was done last; pruning tells none.
    """

    documents: int
    total: int | None
    children: int
    name: str


@dataclass(frozen=True, slots=True)
class Exported:
    """What `Nest.export` wrote.

    Attributes:
        documents: How many.
        failed: Documents that could not be read, because the nest is damaged; they are not in the file.
    """

    documents: int
    failed: Sequence[Failure]


@dataclass(frozen=True, slots=True)
class Repair:
    """What `Nest.repair` did.

    Attributes:
        found: What was damaged, a sentence each; empty: nothing was, and nothing was done.
        repaired: Ids of documents whose rows were made anew from their text.
        left: What is still damaged, a sentence each.
        backup: Where the nest was copied to before anything was changed, or None.
    """

    found: Sequence[str]
    repaired: Sequence[str]
    left: Sequence[str]
    backup: str | None


@dataclass(frozen=True, slots=True)
class Vote:
    """What one of the six lists gave a passage's best child.

    Attributes:
        level: Of the list.
        channel: Of the list.
        rank: From 1.
        score: Cosine (dense) or BM25 (lexical).
        vote: The score scaled to 0..1 within the list.
        weight: What the list counts for this query, 0 to 1; all six together 1. Votes times weights add up to
            the passage's score, unless a reranker hands scores out again.
    """

    level: Level
    channel: Channel
    rank: int
    score: float
    vote: float
    weight: float


@dataclass(frozen=True, slots=True)
class Reranked:
    """What the reranker said of a passage's best child.

    Attributes:
        score: Its score, on the reranker's scale.
        place: From 1: the child's place among those that were judged.
        before: From 1: the place it had among them by its fused score.
    """

    score: float
    place: int
    before: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why the results are what they are.

    Attributes:
        query: As asked.
        language: Of the query, as far as it could be told.
        terms: The words it was matched by.
        channels: Which channels voted.
        notes: What was decided and why: a channel that did not vote, a gate that abstained.
        votes: For each passage id, what each list gave its best child; lists it is not in are left out.
        dropped: For each passage id that the gate dropped, the reason.
        reranked: For each passage id, what the reranker said of its best child; empty without a reranker, and
            without those of which no child was judged.
    """

    query: str
    language: str
    terms: tuple[str, ...]
    channels: tuple[Channel, ...]
    notes: tuple[str, ...]
    votes: dict[str, tuple[Vote, ...]]
    dropped: dict[str, str]
    reranked: Mapping[str, Reranked] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [
            f"query: {self.query!r} · language: {self.language or 'unknown'} · terms: {' '.join(self.terms)}"
        ]
        lines += [f"channels: {', '.join(self.channels) or 'none'}", *self.notes]
        for id, votes in self.votes.items():
            lines.append(id)
            lines += [
                f"  {v.level:8} {v.channel:7} rank {v.rank:3}  score {v.score:8.4f}"
                f"  vote {v.vote:.3f} × {v.weight:.2f}"
                for v in votes
            ]
            if said := self.reranked.get(id):
                lines.append(f"  reranker: place {said.place}, before {said.before}  score {said.score:8.4f}")
        lines += [f"dropped {id}: {reason}" for id, reason in self.dropped.items()]
        return "\n".join(lines)


class Results(Sequence[Passage]):
    """Passages, best first; a sequence.

    Attributes:
        abstained: Where the gate left nothing: which score fell short of what; else None.
    """

    def __init__(self, passages: Sequence[Passage], explanation: Explanation, abstained: str | None) -> None:
        self._passages = tuple(passages)
        self._explanation = explanation
        self.abstained = abstained

    def explain(self) -> Explanation:
        """Which channel and level gave what score and rank, and why a candidate was dropped."""
        return self._explanation

    @overload
    def __getitem__(self, index: int) -> Passage: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Passage]: ...
    def __getitem__(self, index: int | slice) -> Passage | Sequence[Passage]:
        return self._passages[index]

    def __len__(self) -> int:
        return len(self._passages)

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._passages)

    def __repr__(self) -> str:
        return f"Results({[passage.id for passage in self._passages]})"


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A line of `Nest.list`: a document without its text.

    Attributes:
        id: Of the document.
        title: As given.
        source: Where it came from, or None.
        metadata: As given.
        language: ISO 639-1, or "" where it could not be told.
        characters: Length of its text.
        parents: How many it has.
        children: How many it has.
    """

    id: str
    title: str
    source: str | None
    metadata: Metadata
    language: str
    characters: int
    parents: int
    children: int


@dataclass(frozen=True, slots=True)
class Tree:
    """A document as stored, with its parents and their children."""

    document: Document
    parents: tuple[Parent, ...]
