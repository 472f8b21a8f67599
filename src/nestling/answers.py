"""What asking gives back: an answer, its citations, and what each of its sentences rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from nestling.types import Context, Metadata

Tier = Literal["full", "lexical only", "abstained"]
Standing = Literal["sound", "outside", "unknown", "document", "child", "malformed"]
Verdict = Literal["supported", "misattributed", "stitched", "fabricated", "uncited"]


@dataclass(frozen=True, slots=True)
class Citation:
    """One id that a text cites, and what it is.

    Attributes:
        marker: As it stands in the text.
        start: Offset of the marker in the text.
        end: Offset after it.
        id: What it names, or "" where that cannot be read.
        standing: ``sound`` is a passage that may be cited. ``outside`` is a passage of the nest that was not in
            the context; ``unknown`` is in neither; ``document`` and ``child`` name one instead of a passage;
            ``malformed`` is no marker, but looks like one. Only sound ones count.
        document_id: Of the passage, or of the document; None where there is none.
        title: Of the document.
        heading: The headings that the passage stands under, outermost first.
        page: What the metadata calls ``page``, or None.
        passage_start: Offset of the passage in its document, or None.
        passage_end: Offset after the passage, or None.
        source: Where the document came from, or None.
        metadata: Of the passage, over its document's.
    """

    marker: str
    start: int
    end: int
    id: str
    standing: Standing
    document_id: str | None = None
    title: str = ""
    heading: tuple[str, ...] = ()
    page: Any = None
    passage_start: int | None = None
    passage_end: int | None = None
    source: str | None = None
    metadata: Metadata | None = None


@dataclass(frozen=True, slots=True)
class Support:
    """Where a claim, or a part of it, was found.

    Attributes:
        id: Of the passage.
        document_id: Of its document.
        start: Offset in the document.
        end: Offset after it.
    """

    id: str
    document_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of a text, or a quote in one, held to the passages.

    Attributes:
        text: As it stands in the text, without its markers.
        start: Offset in the text.
        end: Offset after it.
        kind: ``quote`` must be found word for word, ``sentence`` by its content words.
        cites: The sound ids that it cites.
        verdict: ``supported`` by a passage that it cites, or, where it cites none, by any; ``misattributed``:
            by another passage than those it cites; ``stitched``: its parts are found, but not together;
            ``fabricated``: not found; ``uncited``: a sentence that cites nothing and is not found.
        support: Where it was found; for ``stitched``, each part.
        share: Of its words, weighted for a sentence, the part that the best place holds, 0 to 1.
        reason: What is missing, or "".
    """

    text: str
    start: int
    end: int
    kind: Literal["quote", "sentence"]
    cites: tuple[str, ...]
    verdict: Verdict
    support: tuple[Support, ...] = ()
    share: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """What a text cites and claims, held to a nest.

    Attributes:
        citations: In the order of the text, one for each id.
        claims: In the order of the text.
    """

    citations: tuple[Citation, ...] = ()
    claims: tuple[Claim, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether every citation is sound and every claim supported."""
        return not self.problems

    @property
    def problems(self) -> tuple[Citation | Claim, ...]:
        """The citations that do not count and the claims that are not supported, in the order of the text."""
        bad: list[Citation | Claim] = [each for each in self.citations if each.standing != "sound"]
        bad += [claim for claim in self.claims if claim.verdict != "supported"]
        return tuple(sorted(bad, key=lambda each: (each.start, each.end)))


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a question, with what it rests on.

    Attributes:
        question: As asked.
        text: With ``[cite:ID]`` markers; "" where the gate abstained.
        tier: ``full``: words and vectors searched; ``lexical only``: the embedder cannot read the question's
            language, so only words did; ``abstained``: there is no answer.
        made: ``generated`` by a language model, or ``extractive``: sentences of the passages as they stand.
        verification: Its citations, and a verdict on each of its sentences.
        context: The passages that it was made from.
        abstained: Why there is no answer, or None.
        model: The name of the language model that was asked, or None.
        prompt_tokens: As the model's server counted, or None where it does not tell.
        answer_tokens: Likewise.
        notes: What was decided on the way: a channel that did not vote, an answer that was cut off.
    """

    question: str
    text: str
    tier: Tier
    made: Literal["generated", "extractive"]
    verification: Verification
    context: Context
    abstained: str | None = None
    model: str | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether every citation is sound and every claim supported."""
        return self.verification.sound
