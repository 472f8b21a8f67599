"""What is put before a child, and what gives way when it is too long."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from nestling.ingest.lead import lead


def test_title_and_headings_are_joined() -> None:
    """The lead reads from the document down to the section."""
    assert lead("Fiverr policy", ("Data", "Sharing")) == "Fiverr policy › Data › Sharing: "


def test_title_that_is_the_first_heading_is_said_once() -> None:
    """A file whose title came from its first heading does not repeat it."""
    assert lead("Guide", ("Guide", "Install")) == "Guide › Install: "


def test_nothing_to_say_is_an_empty_lead() -> None:
    """No title and no headings give no lead, not even punctuation."""
    assert lead("", ()) == ""
    assert lead(" ", ("",)) == ""


def test_line_breaks_in_titles_become_spaces() -> None:
    """A title is one line in the lead."""
    assert lead("Two\nlines", ()) == "Two lines: "


def test_table_header_follows_the_names() -> None:
    """S6: a later piece of a table is embedded with the rows that name its columns."""
    assert lead("Doses", (), "| Drug | mg |\n|---|---|\n") == "Doses:\n| Drug | mg |\n|---|---|\n"


def test_middle_headings_give_way_first() -> None:
    """S9: the first and the most specific parts are kept."""
    made = lead("Title", ("A" * 60, "B" * 60, "Specific"), limit=80)
    assert made == "Title › … › Specific: "


def test_long_title_is_cut_at_a_word_and_marked() -> None:
    """S9: a title longer than the limit is shortened, with a mark."""
    made = lead("many words " * 50, (), limit=40)
    assert made.endswith("…: ")
    assert len(made) <= 40
    assert made.startswith("many words")


def test_long_header_keeps_the_lowest_row() -> None:
    """The row next to the body names the columns; the rows above it and the delimiter row go first."""
    header = "| " + "Group " * 10 + "| |\n|---|---|\n| Drug | mg |\n"
    assert lead("", (), header, limit=40) == "| Drug | mg |\n"


@settings(max_examples=300, deadline=None)
@given(
    st.text(max_size=80),
    st.lists(st.text(max_size=40), max_size=6),
    st.text(max_size=80),
    st.integers(0, 120),
)
def test_a_lead_never_exceeds_its_limit(title: str, heading: list[str], header: str, limit: int) -> None:
    """Whatever it is made of, the limit holds."""
    assert len(lead(title, heading, header, limit)) <= limit
