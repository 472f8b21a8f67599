"""Cuts fall on grapheme boundaries, judged against a full segmentation."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from nestling.ingest.graphemes import cluster_end, snap, whole

# One or more of every kind of character that the rules of segmentation treat in its own way.
_KINDS = (
    "aé\u0301\u200d👨👩🏽🇩🇪🇫कषि\u094d\u0e01\u0e33한각\u1100\u1161\u11a8\r\n"
    " #*©\u0600ｶ\uff9e\ufe0f中か\u3099\u0d4e\u200c\U000e0020"
)
_TEXTS = st.one_of(st.text(st.sampled_from(_KINDS), max_size=14), st.text(max_size=20))


def _edges(text: str) -> set[int]:
    return {0, *(found.end() for found in regex.finditer(r"\X", text))}


@settings(max_examples=800, deadline=None)
@given(_TEXTS)
def test_whole_agrees_with_a_full_segmentation(text: str) -> None:
    """Every offset is judged as reading the whole text from its beginning would."""
    edges = _edges(text)
    assert [whole(text, cut) for cut in range(len(text) + 1)] == [
        cut in edges for cut in range(len(text) + 1)
    ]


@settings(max_examples=300, deadline=None)
@given(_TEXTS.filter(bool), st.data())
def test_snap_moves_to_the_nearest_allowed_edge(text: str, data: st.DataObject) -> None:
    """A cut moves left to an edge, or right where one cluster fills the piece; it always makes progress."""
    edges = sorted(_edges(text))
    start = data.draw(st.sampled_from(edges[:-1]))
    cut = data.draw(st.integers(start + 1, len(text)))
    left = max(edge for edge in edges if edge <= cut)
    assert snap(text, start, cut) == (left if left > start else cluster_end(text, start))


@pytest.mark.parametrize("cluster", ["👨‍👩‍👧‍👦", "🇩🇪", "e\u0301", "क्षि", "กำ", "\r\n", "👍🏽", "각"])
def test_clusters_have_no_allowed_cut_inside(cluster: str) -> None:
    """S3: family emoji, flags, combining marks, Devanagari and Thai clusters, CRLF."""
    text = f"a{cluster}b"
    assert not any(whole(text, cut) for cut in range(2, len(text) - 1))
