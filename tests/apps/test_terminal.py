"""What reaches a terminal: clean text, the lines around the evidence, the meter."""

from __future__ import annotations

import io
import re

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestling
from nestling.apps.excerpt import excerpt
from nestling.apps.meter import Meter
from nestling.apps.terminal import clean, clipped, print_text, width

WORDS = [f"word{n}" for n in range(300)]


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        """Yes."""
        return True


def passage(text: str, *spans: tuple[int, int], title: str = "Title") -> nestling.Passage:
    """A passage with evidence at these spans; the first scores highest."""
    evidence = tuple(nestling.Evidence(a, b, a, b, 1 - n / 10) for n, (a, b) in enumerate(spans))
    return nestling.Passage(
        "d", "d", title, (), text, 0, len(text), 1.0, 0.5, 1.0, 1, evidence, {}, None, "[cite:d]"
    )


def around(*words: str) -> tuple[str, tuple[int, int]]:
    """A long text with these words in its middle, and where they are."""
    before, marked = " ".join(WORDS), " ".join(words)
    return f"{before} {marked} {before}", (len(before) + 1, len(before) + 1 + len(marked))


def plain(lines: list[str]) -> list[str]:
    """Lines without colour."""
    return [click.unstyle(line) for line in lines]


@given(st.text())
def test_clean_keeps_length_and_lets_no_control_through(text: str) -> None:
    """Cleaning replaces one character by one, so that offsets hold, and leaves only tabs and line feeds."""
    cleaned = clean(text)
    assert len(cleaned) == len(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", cleaned)


def test_clean_shows_what_it_replaced() -> None:
    """An escape sequence is shown as what it is instead of being obeyed."""
    assert clean("a\x1b[31mb\x07\x9bc\u202ed") == "a␛[31mb␇�c�d"
    assert clean("नमस्ते 👨‍👩‍👧 é\t\n") == "नमस्ते 👨‍👩‍👧 é\t\n"


@given(st.text(), st.integers(2, 40))
def test_clipped_fits(text: str, room: int) -> None:
    """A clipped text is one line and no wider than its room."""
    cut = clipped(text, room)
    assert width(cut) <= room
    assert "\n" not in cut


def test_wide_and_combining_characters_have_their_width() -> None:
    """A Chinese character takes two columns, a combining mark none."""
    assert width("中文") == 4
    assert width("e\u0301") == 1


def test_short_passage_is_shown_whole() -> None:
    """What fits is not cut, and line breaks become spaces."""
    assert plain(excerpt(passage("One line.\n\nAnother line.", (0, 9)), (), 80, 4)) == [
        "One line. Another line."
    ]


def test_long_passage_is_cut_around_the_evidence() -> None:
    """The evidence is inside, with a little text before it, and what is left out is marked."""
    text, span = around("the", "needle", "itself")
    lines = plain(excerpt(passage(text, span), (), 60, 3))
    assert len(lines) <= 3
    assert all(width(line) <= 60 for line in lines)
    shown = " ".join(lines)
    assert shown.startswith("… word")
    assert "word299 the needle itself word0" in shown
    assert shown.endswith(" …")


def test_long_evidence_is_cut_around_the_words_of_the_query() -> None:
    """Where the evidence itself does not fit, the part with most of the query's words is shown."""
    text, _ = around("closing", "files", "safely")
    shown = " ".join(plain(excerpt(passage(text, (0, len(text))), ("close/clos", "file"), 60, 2)))
    assert "closing files" in shown


def test_best_evidence_is_shown() -> None:
    """Of several spans of evidence the one that scored highest is shown."""
    text, span = around("the", "needle")
    shown = " ".join(plain(excerpt(passage(text, span, (0, 5)), (), 60, 2)))
    assert "needle" in shown


def test_evidence_is_coloured_and_the_words_of_the_query_bold() -> None:
    """Evidence is green, query words in it bold, other text dim."""
    line = excerpt(passage("Before. Files close here.", (8, 25)), ("file",), 80, 1)[0]
    assert line == (
        click.style("Before.", dim=True)
        + click.style(" Files", fg="green", bold=True)
        + click.style(" close here.", fg="green")
    )


def test_headings_that_are_told_already_are_left_out() -> None:
    """A heading line that only repeats the title is not shown again."""
    text = "# Title\n\n## Other\n\nBody."
    assert plain(excerpt(passage(text, (0, len(text))), (), 80, 3)) == ["## Other Body."]
    assert plain(excerpt(passage("# Title", (0, 7)), (), 80, 3)) == ["# Title"]


def test_evidence_cannot_bring_its_own_escapes() -> None:
    """Escape sequences in a passage are shown, never sent."""
    text = "a \x1b[2J b \x9b1m"
    assert plain(excerpt(passage(text, (0, len(text))), (), 80, 1)) == ["a ␛[2J b �1m"]


@pytest.mark.parametrize("text", ["", " \n ", "中" * 5000, "x" * 5000, "\x00" * 50, "é" * 3])
@pytest.mark.parametrize("columns", [20, 97])
def test_any_text_fits(text: str, columns: int) -> None:
    """No text is too odd to be laid out: every line fits, and there are no more than asked."""
    lines = plain(excerpt(passage(text, (0, len(text))), (), columns, 2))
    assert len(lines) <= 2
    assert all(width(line) <= max(columns, 42) for line in lines)


def test_stored_text_on_a_terminal_is_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal stored text is cleaned, carriage returns of line ends dropped, and the line ended."""
    screen = Screen()
    monkeypatch.setattr("sys.stdout", screen)
    print_text("a\r\nb\x1b[1m")
    assert screen.getvalue() == "a\nb␛[1m\n"


def test_meter_shows_how_far_and_wipes_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the meter draws a bar where the total is known, counters where not, and leaves nothing."""
    screen = Screen()
    with Meter(screen) as meter:
        meter(nestling.Progress(5, 10, 300, "a"))
    assert "━━━━━━━━━━━━────────────" in screen.getvalue()
    assert "5 of 10 documents · 300 children (" in screen.getvalue()
    assert screen.getvalue().endswith(" \r")
    screen = Screen()
    with Meter(screen) as meter:
        meter(nestling.Progress(5, None, 300, "a"))
    assert "5 documents · 300 children (" in screen.getvalue()


def test_meter_is_silent_in_a_pipe() -> None:
    """Where there is no terminal, nothing is written."""
    pipe = io.StringIO()
    with Meter(pipe) as meter:
        meter(nestling.Progress(5, 10, 300, "a"))
    assert pipe.getvalue() == ""
