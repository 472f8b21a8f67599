"""Golden questions held to a nest: what must exist, and what counts as found at which level."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from library import MANUAL, library, parent_of, span

import nestling
from nestling import GoldenQuestion, GoldSpan
from nestling.measure.gold import Gold, Need, settle
from nestling.measure.held import occurrences

NONE = Need(None, None)


def settled(nest: nestling.Nest, **gold: Any) -> Gold:
    """The gold of one question."""
    return settle([GoldenQuestion("q", "?", **gold)], nest, "golden")[0]


def same(grades: dict[str, int]) -> Need:
    """A need where any suffices and all are wanted."""
    return Need(grades, grades)


def test_spans_count_for_the_parents_they_overlap() -> None:
    """A span's document and every parent that holds a character of it are relevant, with the document's grade."""
    nest = library()
    tower = parent_of(nest, "tower is painted")
    gold = settled(nest, spans=(span("The tower is painted blue."),))
    assert (gold.document, gold.parent) == (same({"manual.md": 1}), same({tower: 1}))
    tree = nest.show("manual.md")
    assert tree is not None
    border = tree.parents[0].end
    gold = settled(nest, relevant={"manual.md": 3}, spans=(GoldSpan("manual.md", border - 1, border + 1),))
    assert gold.parent == same({tree.parents[0].id: 3, tree.parents[1].id: 3})
    assert gold.spans == {"manual.md": [(border - 1, border + 1)]}


def test_a_document_of_several_parents_says_nothing_of_parents() -> None:
    """Then parents are not judged; a document of one parent is that parent; a parent's id tells its document."""
    nest = library()
    gold = settled(nest, relevant={"manual.md": 1, "iron": 2})
    assert (gold.document, gold.parent) == (same({"manual.md": 1, "iron": 2}), NONE)
    gold = settled(nest, relevant={"manual.md": 0, "iron": 2})
    assert gold.parent == same({"iron": 2})
    gate, bridge = parent_of(nest, "gate is painted"), parent_of(nest, "bridge is painted")
    gold = settled(nest, relevant={gate: 1, bridge: 2, "manual.md": 1})
    assert (gold.document, gold.parent) == (same({"manual.md": 2}), same({gate: 1, bridge: 2}))


def test_any_that_must_be_cited_suffices() -> None:
    """Several ids are asked for hits alone; a document's id takes any of its parents; one id is all there is."""
    nest = library()
    tree = nest.show("manual.md")
    assert tree is not None
    parents = [parent.id for parent in tree.parents]
    gold = settled(nest, must_cite_one_of=("iron", "manual.md"))
    assert gold.document == Need({"iron": 1, "manual.md": 1}, None)
    assert gold.parent == Need(dict.fromkeys(["iron", *parents], 1), None)
    assert settled(nest, must_cite_one_of=("iron",)).parent == same({"iron": 1})
    gold = settled(nest, must_cite_one_of=(parents[1],), relevant={"iron": 1})
    assert gold.document == Need({"manual.md": 1}, {"iron": 1})
    assert gold.parent == Need({parents[1]: 1}, {"iron": 1})


def test_unanswerable_needs_nothing() -> None:
    """No ranking is held to it."""
    assert settled(library(), unanswerable=True) == Gold(NONE, NONE, {})


def test_quotes_are_found() -> None:
    """In their document, or in the only one that has them, whatever the white space."""
    nest = library()
    start = MANUAL.index("The bridge is painted")
    expected = {"manual.md": [(start, start + len("The bridge is painted"))]}
    for quote in ("The bridge is painted", " The\n bridge   is painted\n"):
        for document in (None, "manual.md"):
            assert settled(nest, spans=(GoldSpan(document, quote=quote),)).spans == expected
    gold = settled(nest, spans=(GoldSpan("ibuprofen", quote="food. An empty stomach"),))
    assert gold.spans == {"ibuprofen": [(13, 37)]}
    assert settled(nest, spans=(GoldSpan("iron", 0, 4, "Iron"),)).spans == {"iron": [(0, 4)]}


@pytest.mark.parametrize(
    ("gold", "told"),
    [
        ({"relevant": {"nothing": 1}}, "the nest holds no document or passage 'nothing'"),
        ({"must_cite_one_of": ("iron§9",)}, "no document or passage 'iron§9'"),
        ({"spans": (GoldSpan("nothing", 0, 1),)}, "no document or passage 'nothing'"),
        (
            {"spans": (GoldSpan("manual.md§1", 0, 1),)},
            "'manual.md§1' is a passage; give the document, 'manual.md'",
        ),
        ({"spans": (GoldSpan("iron", 10, 99),)}, "the span 10 to 99 is not inside 'iron', which ends at 42"),
        ({"spans": (GoldSpan("iron", 0, 4, "iron"),)}, "'iron' does not hold 'iron' from 0 to 4"),
        ({"spans": (GoldSpan(quote="no such words"),)}, "the quote 'no such words' is not in any document"),
        ({"spans": (GoldSpan("iron", quote="with food"),)}, "the quote 'with food' is not in 'iron'"),
        (
            {"spans": (GoldSpan(quote="empty stomach"),)},
            "more than once, in 'ibuprofen' at 23 and in 'iron' at 28",
        ),
        ({"spans": (GoldSpan("manual.md", quote="every week"),)}, "found more than once, in 'manual.md'"),
    ],
)
def test_what_the_nest_does_not_hold(gold: dict[str, Any], told: str) -> None:
    """Each mistake is named with its line, and what to do."""
    question = GoldenQuestion("q", "?", **gold, place="line 3")
    with pytest.raises(nestling.DocumentError) as caught:
        settle([GoldenQuestion("p", "?", {"iron": 1}), question], library(), "golden.jsonl")
    assert "golden.jsonl and the nest do not fit together" in str(caught.value)
    assert "line 3: " in str(caught.value)
    assert told in str(caught.value)
    assert "mend the questions" in str(caught.value)


def test_ids_made_in_python_are_unique() -> None:
    """Two questions of one id could not be told apart in a comparison."""
    question = GoldenQuestion("q", "?", {"iron": 1})
    with pytest.raises(nestling.DocumentError, match="the id 'q' is given twice"):
        settle([question, question], library(), "")


@given(st.text("ab \n.(", max_size=40), st.text("ab \n.(", min_size=1, max_size=4).filter(str.strip))
def test_occurrences_are_all_places_up_to_two(text: str, quote: str) -> None:
    """A quote is found wherever its words stand with any white space between, overlapping places too."""
    words = quote.split()

    def at(start: int) -> bool:
        place = start
        for n, word in enumerate(words):
            if n:
                before = place
                while text[place : place + 1].isspace():
                    place += 1
                if place == before:
                    return False
            if not text.startswith(word, place):
                return False
            place += len(word)
        return True

    assert [start for start, _ in occurrences(quote, text)] == [i for i in range(len(text)) if at(i)][:2]
