"""Holding a text to passages: each citation resolved, each quote and sentence judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nestling.answers import Citation, Claim, Standing, Support, Verdict, Verification
from nestling.retrieve.analysis import Analysis
from nestling.retrieve.citations import Mark, Sentence, read
from nestling.retrieve.claims import Grounds, Place
from nestling.retrieve.quotes import hold
from nestling.retrieve.sources import Source, stretches
from nestling.retrieve.statement import statement
from nestling.retrieve.wording import Wording

# What a text says where it has no answer: a sentence that begins so claims nothing.
NOT_SAID = "The passages do not say"
# Content words from which on what stands around a quote is a claim of its own: "the handbook says" is not.
AROUND_A_QUOTE = 4

_NO_CLAIM = re.compile(r"#{1,6}\s|.*[:?？：]$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Named:
    """What an id names.

    Attributes:
        standing: As in `Citation`.
        source: The passage, or for a document all of it; None where there is none.
    """

    standing: Standing
    source: Source | None = None


def verify(
    text: str,
    sources: Sequence[Source],
    name: Callable[[str], Named],
    search: Callable[[str], Sequence[Source]],
    analysis: Analysis,
) -> Verification:
    """Judge what a text cites and claims.

    Args:
        text: With or without markers.
        sources: Where its claims are looked for first; those it cites are added.
        name: What an id names.
        search: Further passages for a claim that is not found in these.
        analysis: How the nest reads text.
    """
    plain, found, sentences = read(text, analysis.sentences)
    named: dict[str, Named] = {}
    citations = [citation for mark in found for citation in _citations(text, mark, name, named)]
    cited = [each.source for each in named.values() if each.standing == "sound" and each.source]
    bench = _Bench([*sources, *cited], analysis)
    claims = []
    for sentence in sentences:
        ids = {id for mark in sentence.marks for id in _ids(mark, name, named)}
        sound = tuple(id for id in dict.fromkeys(ids) if named[id].standing == "sound")
        for claim in _claims(plain, sentence, sound, analysis):
            judged = bench.judge(claim, bool(sentence.marks))
            if judged.verdict != "supported" and (more := search(claim.text)):
                judged = _Bench(more, analysis, bench).judge(claim, bool(sentence.marks))
            claims.append(judged)
    return Verification(tuple(citations), tuple(claims))


def _ids(mark: Mark, name: Callable[[str], Named], named: dict[str, Named]) -> tuple[str, ...]:
    """The ids of a marker: all of its inside where that is an id, which may hold a comma; else the list."""
    for id in (mark.whole, *mark.ids):
        if id and id not in named and (id in mark.ids or name(id).standing != "unknown"):
            named[id] = name(id)
    return (mark.whole,) if mark.whole in named else mark.ids


def _citations(
    text: str, mark: Mark, name: Callable[[str], Named], named: dict[str, Named]
) -> list[Citation]:
    shown = text[mark.start : mark.end]
    if not mark.ids:
        return [Citation(shown, mark.start, mark.end, "", "malformed")]
    return [_citation(shown, mark, id, named[id]) for id in _ids(mark, name, named)]


def _citation(shown: str, mark: Mark, id: str, named: Named) -> Citation:
    citation = Citation(shown, mark.start, mark.end, id, named.standing)
    if named.source is None:
        return citation
    source = named.source
    return replace(
        citation,
        document_id=source.document_id,
        title=source.title,
        heading=source.heading,
        page=source.metadata.get("page"),
        passage_start=source.start,
        passage_end=source.end,
        source=source.source,
        metadata=source.metadata,
    )


def _claims(plain: str, sentence: Sentence, cites: tuple[str, ...], analysis: Analysis) -> list[Claim]:
    """The quotes of a sentence, and the sentence, or what stands around its quotes; to be judged."""
    whole = plain[sentence.start : sentence.end]
    claims = [_claim(plain, start, end, "quote", cites) for start, end in sentence.quotes]
    around = whole
    for start, end in reversed(sentence.quotes):
        around = f"{around[: start - sentence.start]} {around[end - sentence.start :]}"
    content = analysis.content(around) if re.search(r"\w", around) else []
    if claims:
        numbers = any(char.isdigit() for forms in content for char in forms[0])
        if len(content) < AROUND_A_QUOTE and not numbers:
            return claims
    elif not content or _is_no_claim(whole, bool(sentence.marks)):
        return []
    claim = _claim(plain, sentence.start, sentence.end, "sentence", cites)
    return [*claims, replace(claim, text=" ".join(around.split()))]


def _is_no_claim(text: str, cites: bool) -> bool:
    text = " ".join(text.split())
    return text.startswith(NOT_SAID) or (not cites and bool(_NO_CLAIM.match(text)))


def _claim(
    plain: str, start: int, end: int, kind: Literal["quote", "sentence"], cites: tuple[str, ...]
) -> Claim:
    return Claim(" ".join(plain[start:end].split()), start, end, kind, cites, "fabricated")


class _Bench:
    """The passages that claims are held to; ``before``: those of another, too."""

    def __init__(self, sources: Sequence[Source], analysis: Analysis, before: _Bench | None = None) -> None:
        every = [*(before.sources if before else ()), *sources]
        self.sources: list[Source] = list({source.id: source for source in every}.values())
        self.wordings: dict[str, Wording] = before.wordings if before else {}
        self.grounds: Grounds = Grounds(self.sources, analysis, before.grounds if before else None)
        self._analysis = analysis
        self._stretches = stretches(self.sources, self.wordings)

    def judge(self, claim: Claim, attributed: bool) -> Claim:
        """The claim with its verdict; ``attributed``: it cites something, sound or not."""
        held = hold(claim.text, self._stretches, truncated=claim.kind == "quote")
        if held.whole:
            return _held(claim, attributed, held.whole, 1.0)
        if claim.kind == "quote":
            if held.parts:
                parts = tuple(dict.fromkeys(each for part in held.parts for each in part))
                reason = held.reason
                return replace(claim, verdict="stitched", support=parts, share=held.share, reason=reason)
            return replace(claim, verdict="fabricated", share=held.share, reason=held.reason)
        return self._sentence(claim, attributed)

    def _sentence(self, claim: Claim, attributed: bool) -> Claim:
        found = self.grounds.find(statement(claim.text, self._analysis), claim.cites)
        if found.whole:
            places = tuple((place.support,) for place in found.whole)
            judged = _held(claim, attributed, places, found.whole[0].share)
            return replace(judged, share=_share_of(judged.support, found.whole))
        if found.halves:
            support = tuple(place.support for place in found.halves)
            share = min(place.share for place in found.halves)
            if found.at_border and all(each.id in claim.cites for each in support):
                return replace(claim, verdict="supported", support=support, share=share)
            reason = "no passage says all of it"
            return replace(claim, verdict="stitched", support=support, share=share, reason=reason)
        verdict: Verdict = "fabricated" if attributed else "uncited"
        nearest = found.nearest
        share, reason = (nearest.share, nearest.reason) if nearest else (0.0, "")
        return replace(claim, verdict=verdict, share=share, reason=reason)


def _share_of(support: tuple[Support, ...], places: Sequence[Place]) -> float:
    return next(place.share for place in places if place.support == support[0])


def _held(claim: Claim, attributed: bool, places: Sequence[tuple[Support, ...]], share: float) -> Claim:
    """Supported where one of the places that hold it is cited, or nothing is; else misattributed."""
    cited = next((place for place in places if any(each.id in claim.cites for each in place)), None)
    if cited is not None or not attributed:
        return replace(claim, verdict="supported", support=cited or places[0], share=share)
    reason = f"it stands in {places[0][0].id}"
    return replace(claim, verdict="misattributed", support=places[0], share=share, reason=reason)
