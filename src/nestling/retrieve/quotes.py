"""Finding a quote in passages: word for word, whatever its form, with what it leaves out."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from nestling.answers import Support
from nestling.retrieve.negation import negated, negators
from nestling.retrieve.sources import Stretch
from nestling.retrieve.wording import words

_ELLIPSIS = re.compile(r"\s*[\[(]\s*(?:…|\.{3,})\s*[\])]\s*|\s*(?:…|\.{3,}|(?:\.\s){2,}\.)\s*")
_SENTENCE_END = re.compile(r"[.!?…。！？]\s|\n\s*\n")
# Fewest words of a part of a stitched quote: fewer stand by chance in most texts.
LEAST_PART = 4
# Characters before and after a sentence's words in which a negation is looked for.
BEFORE = 80
# Most parts that a stitched quote is taken apart into.
MOST_PARTS = 4


@dataclass(frozen=True, slots=True)
class Held:
    """How a quote is held by passages.

    Attributes:
        whole: Each way in which it stands in one stretch of text: the passages it is in.
        parts: Where it stands only in parts, the passages of each.
        reason: What it leaves out, or what is nearest, where it is not held.
        share: The part of its words that was found.
    """

    whole: tuple[tuple[Support, ...], ...] = ()
    parts: tuple[tuple[Support, ...], ...] = ()
    reason: str = ""
    share: float = 0.0


def hold(quote: str, stretches: Sequence[Stretch], truncated: bool = True) -> Held:
    """Look for a quote in all stretches.

    It is held where its words stand together in one stretch; where it has an ellipsis, where the parts around it
    do so in order, and what was left out of a sentence does not turn its meaning.

    Args:
        quote: Its words.
        stretches: Where to look.
        truncated: Whether it may begin after a negation that its sentence has before it, as a quote may, since
            the negation can stand before the quotation marks.
    """
    runs = [run for part in _ELLIPSIS.split(quote) if (run := [word.text for word in words(part)])]
    if not runs:
        return Held()
    whole, turned = [], ""
    for stretch in stretches:
        places, left_out = _in_order(runs, stretch, truncated)
        if places is not None:
            start = stretch.wording.span(places[0], len(runs[0]))[0]
            end = stretch.wording.span(places[-1], len(runs[-1]))[1]
            left_out = _denied_after(stretch, end)
            if not left_out:
                whole.append(stretch.support(start, end))
        turned = turned or left_out
    if whole:
        return Held(tuple(whole), share=1.0)
    if turned:
        return Held((), (), f"it leaves out {turned!r}", 1.0)
    return _taken_apart([word for run in runs for word in run], stretches)


def _in_order(
    runs: Sequence[Sequence[str]], stretch: Stretch, truncated: bool
) -> tuple[list[int] | None, str]:
    """The place of each run, one after the other; None where there is none, or a negation is left out between."""
    turned = ""
    open_: list[list[int]] = [
        [place] for place in stretch.wording.find(runs[0]) if truncated or not _denied_before(stretch, place)
    ]
    for last, run in itertools.pairwise(runs):
        further = []
        for places in open_:
            after = places[-1] + len(last)
            # the nearest that follows leaves out least
            place = next(stretch.wording.find(run, after), None)
            if place is None:
                continue
            left_out = _left_out(stretch, after, place)
            if left_out:
                turned = left_out
            else:
                further.append([*places, place])
        open_ = further
    return (open_[0], "") if open_ else (None, turned)


def _denied_before(stretch: Stretch, place: int) -> bool:
    """Whether a negation in front of a word reaches it."""
    start = stretch.wording.words[place].start
    before = max(0, start - BEFORE)
    text = stretch.text[before : start + 1]
    return any(end >= len(text) for _, end in negated(text))


def _denied_after(stretch: Stretch, end: int) -> str:
    """The negation that comes as the very next word, or ""."""
    following = stretch.text[end : end + BEFORE]
    found = negators(following)
    return found[0][0] if found and following[: found[0][1]].isspace() else ""


def _left_out(stretch: Stretch, after: int, place: int) -> str:
    """The negation that is left out of a sentence between two words, or ""."""
    if place <= after:
        return ""
    words = stretch.wording.words
    gap = stretch.text[words[after - 1].end : words[place].start]
    ends = list(_SENTENCE_END.finditer(gap))
    # of whole sentences in between nothing is claimed
    kept = f"{gap[: ends[0].start()]} {gap[ends[-1].end() :]}" if ends else gap
    return next((word for word, _, _ in negators(kept)), "")


def _taken_apart(quote: Sequence[str], stretches: Sequence[Stretch]) -> Held:
    """The parts that a quote is made of, if all of it is; and the share of its words in parts long enough."""
    parts: list[tuple[Support, ...]] = []
    at = held = 0
    before: tuple[Stretch, int] | None = None
    turned = ""
    while at < len(quote):
        found = [(stretch.wording.longest(quote[at:], LEAST_PART), stretch) for stretch in stretches]
        (place, length), stretch = max(found, key=lambda each: each[0][1], default=((-1, 0), None))
        if stretch is None or not length:
            at += 1
            continue
        if before and before[0] is stretch and before[1] <= place:
            turned = turned or _left_out(stretch, before[1], place)
        parts.append(stretch.support(*stretch.wording.span(place, length)))
        before = (stretch, place + length)
        held += length
        at += length
    share = held / len(quote)
    if turned:
        return Held((), (), f"it leaves out {turned!r}", share)
    if held == len(quote) and 1 < len(parts) <= MOST_PARTS:
        return Held((), tuple(parts), "its parts do not stand together", share)
    return Held((), (), "these words stand in no passage", share)
