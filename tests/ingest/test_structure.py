"""Blocks cover the text, and know where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nestling.ingest import structure
from nestling.ingest.structure import Block, blocks, first_title

_LINES = [
    "# One\n",
    "## Two ##\n",
    "text\n",
    "\n",
    "```\n",
    "- item\n",
    "  - deep\n",
    "| a | b |\n",
    "|---|---|\n",
]
_LINES += [
    "Setext\n===\n",
    "    code\n",
    "> quote\n",
    "<!-- c -->\n",
    "---\n",
    "a: b\n",
    "\r\n",
    "\r",
    "\u2028",
    "\x0b",
    "\x00",
]
_TEXTS = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(_LINES), max_size=60).map("".join))


def _kinds(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in blocks(text, True)]


@settings(max_examples=300, deadline=None)
@given(_TEXTS, st.sampled_from([True, False, None]))
def test_blocks_cover_the_text_in_order(text: str, markdown: bool | None) -> None:
    """S5, S8: nothing is lost between blocks, whatever the line ends."""
    found = blocks(text, markdown)
    assert "".join(text[block.start : block.end] for block in found) == text
    assert all(block.start < block.end for block in found)


@settings(max_examples=300, deadline=None)
@given(_TEXTS)
def test_reading_by_windows_changes_nothing(text: str) -> None:
    """A text read a few lines at a time has the blocks it has when read at once."""
    assert list(structure._raw_blocks(text, 12)) == list(structure._raw_blocks(text))


def test_fence_content_is_no_heading() -> None:
    """S5: a comment inside a fence belongs to the code, tab and all."""
    text = "# Real\n\n```sh\n# comment\n\tindented\n```\nafter\n"
    assert _kinds(text) == [
        ("heading", "# Real\n\n"),
        ("code", "```sh\n# comment\n\tindented\n```\n"),
        ("paragraph", "after\n"),
    ]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("## Closed ##", "Closed"),
        ("## **Bold** and `code`", "Bold and code"),
        ("# [Link](http://x.y) here", "Link here"),
        ("# A &amp; B", "A & B"),
        ("# ![logo](x.png) Name", "logo Name"),
        ("# <span id='a'></span>Anchor", "Anchor"),
        ("Two\nlines\n===", "Two lines"),
    ],
)
def test_heading_titles_are_plain_text(line: str, title: str) -> None:
    """S5: closing marks, emphasis, links, code and tags are no part of a title."""
    (block,) = blocks(line, True)
    assert (block.kind, block.path) == ("heading", (title,))


def test_headings_make_paths() -> None:
    """A block stands under the headings above it; a heading closes those of its level and below."""
    text = "# A\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\nd\n\nE\n===\n\ne\n"
    paths = [block.path for block in blocks(text, True) if block.kind == "paragraph"]
    assert paths == [("A", "B"), ("A", "B", "C"), ("A", "D"), ("E",)]


def test_heading_without_text_is_a_heading() -> None:
    """S5: a bare ``##`` closes the section above and adds nothing to the path."""
    found = blocks("# A\n\n## B\n\nb\n\n##\n\nc\n", True)
    assert [(block.kind, block.path) for block in found[-2:]] == [("heading", ("A",)), ("paragraph", ("A",))]


def test_kinds_of_blocks() -> None:
    """S5: front matter, indented code, comments, nested lists, quotes and rules are told apart."""
    text = (
        "---\ntitle: x\n---\n\nText\n\n    code\n\n<!-- note -->\n\n- a\n  - b\n    - c\n- d\n\n> q\n\n***\n\n"
        "| h |\n|---|\n| r |\n"
    )
    assert [block.kind for block in blocks(text, True)] == [
        "front_matter", "paragraph", "code", "html", "list", "quote", "rule", "table",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "header"),
    [
        ("| A | B |\n|---|---|\n| 1 | 2 |\n", "| A | B |\n|---|---|\n"),
        (
            "| | Year | |\n|---|---|---|\n| | 2018 | 2019 |\n| Sales | 1 | 2 |\n",
            "| | Year | |\n|---|---|---|\n| | 2018 | 2019 |\n",
        ),
        (
            "| | **Q2** |\n|---|---|\n|(millions)|**2019**|\n| Sales | 1 |\n",
            "| | **Q2** |\n|---|---|\n|(millions)|**2019**|\n",
        ),
        ("| Both | |\n| A | B |\n|---|---|\n| 1 | 2 |\n", "| Both | |\n| A | B |\n|---|---|\n"),
        ("| A | B |\r\n|---|---|\r\n| 1 | 2 |\r\n", "| A | B |\r\n|---|---|\r\n"),
        ("| A |\n|---|\n", "| A |\n|---|\n"),
    ],
)
def test_table_headers(table: str, header: str) -> None:
    """S6: the rows that name the columns, one or two of them, with the delimiter row."""
    (block,) = blocks(table, True)
    assert (block.kind, block.header) == ("table", header)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_offsets_hold_for_every_line_end(end: str) -> None:
    """S8: CRLF and lone CR are line ends; U+2028, U+0085, VT and FF are not."""
    text = end.join(["# A\u2028b", "", "one\x0btwo\x85three\x0cfour", "", "## C", "", "\x00 nul", ""])
    found = blocks(text, True)
    assert [block.kind for block in found] == ["heading", "paragraph", "heading", "paragraph"]
    assert text[found[2].start :].startswith("## C")
    assert text[found[1].start :].startswith("one")


def test_byte_order_mark_does_not_hide_the_first_heading() -> None:
    """S8: a text that begins with U+FEFF is read as if it did not."""
    text = "\ufeff# Title\n\ntext\n"
    assert blocks(text, True)[0] == Block("heading", 0, 10, ("Title",), 1)


def test_plain_text_is_paragraphs() -> None:
    """Plain text has no headings; blank lines belong to the paragraph before them."""
    text = "# no heading\n\n\nnext\n \nlast"
    assert [text[block.start : block.end] for block in blocks(text, False)] == [
        "# no heading\n\n\n",
        "next\n \n",
        "last",
    ]


def test_empty_text_has_no_blocks() -> None:
    """S8: nothing gives nothing; white space is one paragraph."""
    assert blocks("", True) == []
    assert blocks(" \n\n", True) == [Block("paragraph", 0, 3)]


def test_first_title_is_the_first_level_one_heading() -> None:
    """A title is looked for past lower headings and code."""
    assert first_title("## Low\n\n```\n# no\n```\n\n# *Yes*\n\n# Not this\n") == "Yes"
    assert first_title("just text") == ""
