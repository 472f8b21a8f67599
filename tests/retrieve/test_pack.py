"""Packing children into a budget."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestling.retrieve.pack import SHAPES, Children, Packer, Shape, Tray, cut
from nestling.retrieve.render import body, joined, shown, table_header


def words(text: str) -> int:
    """Counts words, as a simple tokenizer."""
    return len(text.split())


@dataclass(frozen=True)
class Family:
    """Children of ten words each, made of a list of parents' sizes for each document."""

    children: Children
    texts: list[str]

    def fill(self, budget: int, shape: Shape = "pack", window: int = 1) -> Tray:
        """Pack, with a head of two words."""
        packer = Packer(self.children, self.texts.__getitem__, lambda i, _: "head line", words)
        return packer.fill(budget, shape, window)


def family(documents: list[list[int]], score: list[float], overlap: int = 0) -> Family:
    """Documents of parents of so many children; ``overlap`` words are repeated by the next child."""
    document, parent, start, stop, texts = [], [], [], [], []
    number = 0
    for d, parents in enumerate(documents):
        at = 0
        for size in parents:
            for _ in range(size):
                first = at - (overlap * 6 if at else 0)
                text = "".join(
                    f"w{(first // 6 + i) % 1000:03d}. " for i in range(10 + (overlap if at else 0))
                )
                document.append(d)
                parent.append(number)
                start.append(first)
                stop.append(first + len(text))
                texts.append(text)
                at = first + len(text)
            number += 1
    arrays = [np.array(values, np.int64) for values in (document, parent, parent, start, stop)]
    return Family(Children(np.array(score, np.float64), *arrays), texts)


def test_takes_by_score_until_the_budget_is_full() -> None:
    """Two children of ten words and their heads fit 24 words; of the third, the start."""
    given_family = family([[1], [1], [1]], [0.5, 0.9, 0.7])
    assert sorted(given_family.fill(24).taken) == [1, 2]
    tray = given_family.fill(24 + 2 + 12)
    assert sorted(tray.taken) == [0, 1, 2]
    assert tray.used <= 38


def test_a_budget_below_one_child_gives_the_start_of_the_best() -> None:
    """Evidence first, cut at a sentence or word (C4)."""
    tray = family([[3]], [0.1, 0.9, 0.2]).fill(8)
    assert list(tray.taken) == [1]
    # two words of head, one for the ellipsis, five of text
    assert tray.taken[1] == 60 + 5 * 6 - 1
    assert family([[3]], [0.1, 0.9, 0.2]).fill(2).taken == {}


def test_a_parent_nearly_all_taken_is_taken_whole() -> None:
    """With four of five children in, the fifth is added where it fits, though its score is nothing."""
    given_family = family([[5]], [0.9, 0.8, 0.0, 0.7, 0.6])
    assert sorted(given_family.fill(100).taken) == [0, 1, 2, 3, 4]
    assert sorted(given_family.fill(42).taken) == [0, 1, 3, 4]


def test_children_without_a_score_are_not_taken() -> None:
    """A context is not filled up with what nothing speaks for."""
    assert sorted(family([[4], [3]], [0.9, 0, 0, 0, 0, 0, 0]).fill(1000).taken) == [0]


def test_shapes_take_what_they_say() -> None:
    """The whole parent; a window over parents' edges; parents and sections that are half taken."""
    given_family = family([[3, 3]], [0.0, 0.0, 0.9, 0.0, 0.0, 0.0])
    assert sorted(given_family.fill(1000, "parent").taken) == [0, 1, 2]
    assert sorted(given_family.fill(1000, "window", 1).taken) == [1, 2, 3]
    assert sorted(given_family.fill(1000, "window", 0).taken) == [2]
    assert sorted(given_family.fill(1000, "merge").taken) == [2]
    assert sorted(family([[3, 3]], [0.8, 0.0, 0.9, 0.0, 0.0, 0.0]).fill(1000, "merge").taken) == [0, 1, 2]


def test_merge_takes_an_enclosing_section() -> None:
    """Once half of a section is taken, the rest of it comes too."""
    given_family = family([[2, 2, 2]], [0.9, 0.8, 0.7, 0.0, 0.0, 0.0])
    section = Children(
        given_family.children.score,
        given_family.children.document,
        given_family.children.parent,
        np.array([1, 1, 1, 1, 2, 2]),
        given_family.children.start,
        given_family.children.stop,
    )
    assert sorted(Family(section, given_family.texts).fill(1000, "merge").taken) == [0, 1, 2, 3]


@given(
    st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=3), min_size=1, max_size=4),
    st.integers(1, 200),
    st.sampled_from(SHAPES),
    st.integers(0, 3),
    st.data(),
)
def test_never_over_budget_and_no_text_twice(
    documents: list[list[int]], budget: int, shape: Shape, overlap: int, data: st.DataObject
) -> None:
    """What is shown fits the budget, its spans do not overlap, and each lies in its parent."""
    n = sum(sum(parents) for parents in documents)
    score = data.draw(st.lists(st.floats(0, 1), min_size=n, max_size=n))
    given_family = family(documents, score, overlap)
    tray = given_family.fill(budget, shape)
    order = shown(given_family.children, tray)
    total = 0
    for part in order:
        for (_, a), (b, _) in zip(part.spans, part.spans[1:], strict=False):
            assert a < b
        total += 2 + sum(round((b - a) / 6) for a, b in part.spans)
    if overlap == 0:
        assert total <= max(budget, 0)
        assert total == tray.used


def test_shows_the_best_document_first_and_text_in_order() -> None:
    """Documents by their best child; inside, text order; touching children joined."""
    given_family = family([[2], [4]], [0.5, 0.0, 0.1, 0.9, 0.0, 0.3])
    order = shown(given_family.children, given_family.fill(1000))
    assert [(part.index, len(part.spans)) for part in order] == [(2, 2), (0, 1)]
    assert order[0].spans[0] == (0, 120)


def test_joins_spans_that_touch_or_overlap() -> None:
    """No text is repeated and none is lost (C5)."""
    assert joined([(0, 5), (5, 9), (8, 12), (14, 20)]) == ((0, 12), (14, 20))


def test_marks_what_is_left_out() -> None:
    """An ellipsis stands where text is left out, and only there; on its own line where whole lines are."""
    assert body(((10, 20),), 10, "0123456789", {}) == "0123456789"
    assert body(((11, 13), (15, 17)), 10, "0123456789", {}) == "… 12 … 56 …"
    lines = "one\ntwo\nthree\nfour\n"
    assert body(((4, 8), (14, 19)), 0, lines, {}) == "…\ntwo\n…\nfour"
    assert body(((0, 4),), 0, lines, {}) == "one\n…"


def test_says_the_header_of_a_table_again() -> None:
    """A span that begins inside a table is shown below the rows that name its columns."""
    table = "| a |\n|---|\n| 1 |\n| 2 |\n"
    assert table_header("Title › Part:\n| a |\n|---|\n") == table_header("| a |\n|---|\n") == "| a |\n|---|\n"
    assert table_header("Title › Part: ") == table_header("") == ""
    assert body(((18, 24),), 0, table, {18: "| a |\n|---|\n"}) == "…\n| a |\n|---|\n| 2 |"


@pytest.mark.parametrize(
    ("text", "budget", "expected"),
    [
        ("One two. Three four five six.", 3, "One two."),
        ("one two three four", 3, "one two three"),
        ("一。二。三", 1, ""),
        ("", 5, ""),
    ],
)
def test_cuts_at_sentences_then_words(text: str, budget: int, expected: str) -> None:
    """The longest start that fits and ends well."""
    count = words if " " in text else len
    assert cut(text, budget, count) == expected or count(cut(text, budget, count)) <= budget


@given(st.text(max_size=200), st.integers(0, 50))
def test_a_cut_is_a_start_within_the_budget(text: str, budget: int) -> None:
    """Whatever the text, what is left is a start of it and fits."""
    part = cut(text, budget, len)
    assert text.startswith(part)
    assert len(part) <= budget
    assert not re.search(r"\u200d\Z", part)
