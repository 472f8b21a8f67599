"""Gold text in a context, counted by character."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestling.measure.evidence import Shares, merged, shares

SPANS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 30), st.integers(1, 9)).map(
        lambda s: (s[0], s[1], s[1] + s[2])
    ),
    max_size=6,
)


def characters(spans: list[tuple[str, int, int]]) -> set[tuple[str, int]]:
    """Every character of the spans."""
    return {(document, i) for document, start, end in spans for i in range(start, end)}


@given(SPANS.filter(bool), SPANS)
def test_shares_are_those_of_sets_of_characters(
    gold: list[tuple[str, int, int]], shown: list[tuple[str, int, int]]
) -> None:
    """Recall, precision and intersection over union equal the naive ones, however spans overlap."""
    wanted, seen = characters(gold), characters(shown)
    expected = (
        len(wanted & seen) / len(wanted),
        len(wanted & seen) / len(seen) if seen else 0.0,
        len(wanted & seen) / len(wanted | seen),
    )
    assert shares(merged(gold), merged(shown)) == pytest.approx(expected)


@given(SPANS)
def test_merged_spans_are_apart_and_hold_the_same(spans: list[tuple[str, int, int]]) -> None:
    """Merging loses no character, and leaves a gap between any two spans."""
    found = merged(spans)
    assert characters([(d, *each) for d, kept in found.items() for each in kept]) == characters(spans)
    for kept in found.values():
        assert all(first[1] < second[0] for first, second in pairwise(kept))


def test_nothing_shown() -> None:
    """An empty context has no precision to be proud of."""
    assert shares({"a": [(0, 3)]}, {}) == Shares(0.0, 0.0, 0.0)
