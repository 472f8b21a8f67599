"""Reading what a text cites: markers, and the sentences they speak for."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestling.ingest.sentences import sentences
from nestling.retrieve.citations import marks, read
from nestling.retrieve.cite import marker


def cited(text: str) -> list[tuple[str, list[str]]]:
    """Each sentence of a text with the ids it cites."""
    plain, _, found = read(text, sentences)
    return [
        (" ".join(plain[each.start : each.end].split()), [id for mark in each.marks for id in mark.ids])
        for each in found
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is so. [cite:a] Two is other. [cite:b]", [("One is so.", ["a"]), ("Two is other.", ["b"])]),
        ("One is so [cite:a]. Two is other [cite:b].", [("One is so", ["a"]), ("Two is other", ["b"])]),
        ("One is so [cite:a] [cite:b].", [("One is so", ["a", "b"])]),
        ("One is so [cite:a, cite:b; c].", [("One is so", ["a", "b", "c"])]),
        ("One is so [ Cite : a ].", [("One is so", ["a"])]),
        ("One thing is so [cite:a], but the other is not so [cite:b].",
         [("One thing is so", ["a"]), ("but the other is not so", ["b"])]),
        ("According to [cite:a], one is so.", [("According to , one is so.", ["a"])]),
        ("[cite:a] says that one is so.", [("says that one is so.", ["a"])]),
        ("One is so. Two is other [cite:a].", [("One is so.", []), ("Two is other", ["a"])]),
        ("- One is so [cite:a]\n- Two is so [cite:b]", [("One is so", ["a"]), ("Two is so", ["b"])]),
        ("One is so.\n\n[cite:a] Two is so.", [("One is so.", []), ("Two is so.", ["a"])]),
        ("Dr. Smith paid 3.5 million [cite:a].", [("Dr. Smith paid 3.5 million", ["a"])]),
        ("灯可以退货。[cite:a] 灯泡不行。[cite:b]", [("灯可以退货。", ["a"]), ("灯泡不行。", ["b"])]),
        ("No marker at all.", [("No marker at all.", [])]),
        ("", []),
    ],
)  # fmt: skip
def test_markers_speak_for_what_stands_before_them(text: str, expected: list[tuple[str, list[str]]]) -> None:
    """Inside a sentence, at its end, after its full stop, in front of everything."""
    assert cited(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[cite:]",
        "[cite: ]",
        "[cite:a",
        "(cite:a)",
        "【cite:a】",
        "[сite:a]",
        "cite:a",
        "［cite：a］",
        "[cite a]",
    ],
)
def test_what_only_looks_like_a_marker_is_malformed(text: str) -> None:
    """It is found, and names nothing (C1)."""
    found = marks(f"So it is {text}")
    assert [mark.ids for mark in found] == [()]
    assert found[0].start == 9


@pytest.mark.parametrize(
    "text", ["[citeseer]", "[1]", "see (a)", "we cite: the law", "recite:x", "[citation needed]"]
)
def test_other_brackets_are_left_alone(text: str) -> None:
    """Only what says cite is looked at."""
    assert marks(text) == []


@given(st.text(min_size=1))
def test_every_marker_is_read_back(id: str) -> None:
    """What `marker` writes of an id, `marks` reads, whatever the id is."""
    if not id.isprintable() or id != id.strip():
        return
    found = marks(f"So it is {marker(id)}.")
    assert [mark.whole for mark in found] == [id]


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ("It says “take it with some food” [cite:a].", ["take it with some food"]),
        ('It says "take it. Never on an empty stomach" [cite:a].', ["take it. Never on an empty stomach"]),
        ("Es heißt „vor dem Essen zu nehmen“ [cite:a].", ["vor dem Essen zu nehmen"]),
        ("Il dit « à prendre avec un repas » [cite:a].", [" à prendre avec un repas "]),
        ("It says 'don't take it without food' [cite:a].", ["don't take it without food"]),
        ("The dog's and the cat's owners' food [cite:a].", []),
        ('It is "safe" [cite:a].', []),
        ("> Take it with food,\n> always.\n\nSo it says.", ["Take it with food,\n> always."]),
    ],
)
def test_quotes(text: str, quotes: list[str]) -> None:
    """Quotation marks of many kinds, kept in one sentence; single words and apostrophes are no quotes."""
    _, _, found = read(text, sentences)
    assert [text[first:last] for each in found for first, last in each.quotes] == quotes


@given(
    st.lists(st.sampled_from(["[cite:a]", "[cite:", "]", "One is so", ".", " ", "\n", '"', "“", "”", "> "]))
)
def test_any_text_can_be_read(parts: list[str]) -> None:
    """Spans lie inside the text, in order, and no sentence is of markers alone."""
    text = "".join(parts)
    plain, found, spoken = read(text, sentences)
    assert len(plain) == len(text)
    assert all(0 <= each.start < each.end <= len(text) for each in (*found, *spoken))
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    assert all(a.end <= b.start for a, b in itertools.pairwise(spoken))
    assert all(any(char.isalnum() for char in plain[each.start : each.end]) for each in spoken)
