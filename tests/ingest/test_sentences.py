"""The sentences of a text."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestling.ingest.sentences import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is so. Two is not! Three?", ["One is so.", "Two is not!", "Three?"]),
        ("Dr. Smith paid 3.5 million. He left.", ["Dr. Smith paid 3.5 million.", "He left."]),
        ("It may be long (e.g.\na whole line) or not.", ["It may be long (e.g.\na whole line) or not."]),
        ("A sentence goes on\nin the next line. Then", ["A sentence goes on\nin the next line.", "Then"]),
        ("# Title\nText begins.", ["# Title", "Text begins."]),
        ("- one\n- two\n\nThree", ["- one", "- two", "Three"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |", "|---|---|", "| 1 | 2 |"]),
        ("灯可以退货。灯泡不行。", ["灯可以退货。", "灯泡不行。"]),
        ("  \n ", []),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    """Full stops of abbreviations and line ends inside a paragraph end none; items, rows and headings do."""
    assert [text[start:end] for start, end in sentences(text)] == expected


@given(st.text(alphabet="ab.!? \n\r-|#。\u2028e"))
def test_nothing_but_white_space_is_lost(text: str) -> None:
    """Spans are in order, apart, and hold every character that is no white space."""
    spans = sentences(text)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
