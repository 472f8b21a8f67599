"""Answers without a language model."""

from __future__ import annotations

import pytest

import nestling
from nestling.retrieve.extract import LONGEST, MOST
from wordhash import WordHash


def answer(text: str, question: str, title: str = "Lamps") -> nestling.Answer:
    """The answer of a nest of one document."""
    with nestling.open(":memory:", embedder=WordHash()) as nest:
        nest.add(nestling.Document("lamps", text, title))
        return nest.ask(question)


def test_the_sentences_that_say_most(lamps: str) -> None:
    """Those with the question's words, on one line, without what a line begins with, in the order of the text."""
    given = answer(lamps, "how long may a lamp be returned?")
    lines = given.text.splitlines()
    assert "A lamp may be returned within 30 days (in 2037) of the purchase. [cite:lamps]" in lines
    assert 1 <= len(lines) <= MOST
    plain = " ".join(lamps.split())
    places = [plain.index(line.removesuffix(" [cite:lamps]")) for line in lines]
    assert places == sorted(places)
    assert given.sound


@pytest.fixture
def lamps() -> str:
    """A document with all that is no sentence."""
    return (
        "# How long may a lamp be returned?\n\n```\nreturn lamp.returned()\n```\n\n"
        "- A lamp may be returned\n  within 30 days (in 2037) of the purchase.\n"
        "- Bulbs are sold apart from lamps.\n\n"
        "A lamp may be returned [cite:admin]. The shop is open.\n\nReturned?\n"
    )


def test_headings_code_and_markers_are_left_out(lamps: str) -> None:
    """A heading that repeats the question is no answer, and nothing that looks like a marker is repeated."""
    text = answer(lamps, "how long may a lamp be returned?").text
    assert "#" not in text
    assert "admin" not in text
    assert "```" not in text


def test_the_same_sentence_is_said_once() -> None:
    """Also where several passages hold it."""
    given = answer("A lamp may be returned for a month. " * 100, "how long may a lamp be returned?")
    assert given.text.count("A lamp may be returned for a month.") == 1


def test_a_long_sentence_is_cut_at_a_word() -> None:
    """It ends with an ellipsis, and still holds."""
    words = " ".join(f"lamp{n} returned{n}" for n in range(60))
    given = answer(f"A lamp may be returned {words}.", "how long may a lamp be returned?")
    line = given.text.removesuffix(" [cite:lamps]")
    assert line.endswith(" …")
    assert len(line) <= LONGEST + 2
    assert given.sound


def test_a_context_without_a_sentence_gives_no_answer() -> None:
    """What cannot be shown is said."""
    given = answer("# lamp\n\n# returned\n", "lamp returned")
    assert given.tier == "abstained"
    assert given.abstained == "no sentence of the passages can be shown"
