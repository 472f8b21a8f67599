"""An answer without a language model: the sentences of a context that say most about the question."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nestling.retrieve.analysis import Analysis, Forms
from nestling.retrieve.citations import marks
from nestling.retrieve.cite import marker, quoted
from nestling.types import Context, Passage
from nestling.view import Vectors

# Sentences of an answer, at most.
MOST = 3
# A sentence is worth saying from this share of the best one's worth on.
WORTH = 0.7
# Sentences that are compared with the question by their vectors, those with most of its words: a model's time.
COMPARED = 48
# Characters of a sentence that are shown.
LONGEST = 400
# Fewest words of a sentence.
SHORTEST = 4

_LINE_BEGIN = re.compile(r"(?:[-*+•>|]+|\(?\d{1,3}[.)])\s+")
_HEADING = re.compile(r"\s*(?:#{1,6}\s|`{3}|~{3}|[|+=_*~-]{3,})")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that a context shows.

    Attributes:
        passage: Its place among the passages of the context.
        start: Offset in the passage.
        text: On one line, as it may be shown.
        share: The part of the question's weighted content words that it holds.
    """

    passage: int
    start: int
    text: str
    share: float


def candidates(context: Context, question: Sequence[Forms], analysis: Analysis) -> list[Candidate]:
    """The sentences that a context shows, those with most of the question's words first.

    Left out are headings, code fences, and whatever looks like a marker.
    """
    found = [
        (i, start, text)
        for i, passage in enumerate(context.passages)
        for start, text in _sentences(passage, context, analysis)
    ]
    if not found:
        return []
    terms = [analysis.terms(text) for _, _, text in found]
    has = np.array([[not held.isdisjoint(forms) for forms in question] for held in terms], np.float64)
    has = has.reshape(len(found), len(question))
    weight = np.log(1 + (len(found) - has.sum(0) + 0.5) / (has.sum(0) + 0.5))
    shares = has @ weight / max(weight.sum(), 1e-9)
    made = [Candidate(*each, float(share)) for each, share in zip(found, shares, strict=True)]
    return sorted(made, key=lambda c: (-c.share, c.passage, c.start))


def _sentences(passage: Passage, context: Context, analysis: Analysis) -> list[tuple[int, str]]:
    shown = []
    for start, end in analysis.sentences(passage.text):
        first, last = passage.start + start, passage.start + end
        # a sentence that was cut off, or left out, is not in the context
        if not any(
            p.document_id == passage.document_id and p.start <= first and last <= p.end
            for p in context.pieces
        ):
            continue
        raw = passage.text[start:end]
        bullet = _LINE_BEGIN.match(raw)
        text = " ".join(raw[bullet.end() if bullet else 0 :].split())
        if len(_WORD.findall(text)) < SHORTEST and text.isascii():
            continue
        if _HEADING.match(raw) or quoted(text) != text or marks(text):
            continue
        shown.append((start, text))
    return shown


def extract(
    context: Context,
    found: Sequence[Candidate],
    vector: Vectors | None,
    embed: Callable[[Sequence[str]], Vectors],
) -> str:
    """The best sentences, each with its marker; "" where there is none.

    A sentence's worth is the share of the question's words in it, plus its similarity to the question where the
    dense channel votes, plus half of its passage's score.

    Args:
        context: As packed.
        found: From `candidates`.
        vector: Of the question, or None where the dense channel does not vote.
        embed: Vectors of sentences.
    """
    found = found[:COMPARED]
    if not found:
        return ""
    worth = np.array([each.share + context.passages[each.passage].score / 2 for each in found])
    if vector is not None:
        worth = worth + np.maximum(embed([each.text for each in found]) @ vector, 0).astype(np.float64)
    order = np.argsort(-worth, kind="stable").tolist()
    chosen = list({found[i].text: i for i in reversed(order) if worth[i] >= WORTH * worth[order[0]]}.values())
    chosen = sorted(chosen, key=order.index)[:MOST]
    best_of = {found[i].passage: order.index(i) for i in reversed(chosen)}
    chosen.sort(key=lambda i: (best_of[found[i].passage], found[i].start))
    return "\n".join(
        f"{_clipped(found[i].text)} {marker(context.passages[found[i].passage].id)}" for i in chosen
    )


def _clipped(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST].rpartition(' ')[0] or text[:LONGEST]} …"
