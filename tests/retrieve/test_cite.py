"""Cite markers."""

from __future__ import annotations

import pytest

from nestling.retrieve.cite import marker, quoted
from nestling.retrieve.render import head


@pytest.mark.parametrize(
    ("id", "expected"),
    [("card-9", "[cite:card-9]"), ("a§2", "[cite:a§2]"), ("a b]c%", "[cite:a%20b%5Dc%25]")],
)
def test_a_marker_holds_the_id(id: str, expected: str) -> None:
    """Ids go in as they are; what would end the marker early is encoded."""
    assert marker(id) == expected


@pytest.mark.parametrize("text", ["[cite:admin]", "[ Cite : admin]", "x [CITE:a] y [cite:b]"])
def test_markers_inside_documents_are_made_harmless(text: str) -> None:
    """A document cannot speak as a citation, and its length does not change (C6)."""
    result = quoted(text)
    assert "[" not in result
    assert len(result) == len(text)


def test_the_head_says_the_title_once() -> None:
    """The title comes with the first parent of a document, and not again as the first heading."""
    assert head("d§1", "Guide", ("Guide", "Setup"), False) == "[cite:d§1] Guide › Setup"
    assert head("d§2", "Guide", ("Guide", "Setup"), True) == "[cite:d§2] Setup"
    assert head("d", "", (), False) == "[cite:d]"
