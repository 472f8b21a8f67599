"""What may be stored, and what is said of the rest."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nestling.errors import DocumentError
from nestling.ingest.check import checked
from nestling.types import Document

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), _JSON, max_size=4))
def test_json_metadata_is_kept_as_given(metadata: dict[str, Any]) -> None:
    """R5: nulls, empty lists, nested objects come back equal, and JSON can hold them."""
    stored = checked(Document("d", "text", metadata=metadata)).metadata
    assert stored == metadata
    assert json.loads(json.dumps(stored)) == metadata


def test_dates_become_text_and_tuples_lists() -> None:
    """Dates and datetimes are stored as ISO 8601."""
    given_ = {
        "day": date(2024, 2, 3),
        "at": datetime(2024, 2, 3, 4, 5, tzinfo=UTC),
        "tags": ("x", {"d": date(2020, 1, 1)}),
    }
    assert checked(Document("d", "t", metadata=given_)).metadata == {
        "day": "2024-02-03",
        "at": "2024-02-03T04:05:00+00:00",
        "tags": ["x", {"d": "2020-01-01"}],
    }


def test_metadata_is_a_copy() -> None:
    """Changing a dict after it was checked does not change the document."""
    metadata: dict[str, Any] = {"tags": ["x"]}
    document = checked(Document("d", "t", metadata=metadata))
    metadata["tags"].append("y")
    assert document.metadata == {"tags": ["x"]}


@pytest.mark.parametrize("text", ["", "\ufeffbom", "a\r\nb\rc", "a\0b", "\u2028\x85", "👨‍👩‍👧‍👦"])
def test_text_is_stored_as_given(text: str) -> None:
    """S8: odd characters and empty text are no reason to refuse."""
    assert checked(Document("d", text)).text == text


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (Document("", "t"), "at least one character"),
        (Document(7, "t"), "at least one character"),  # type: ignore[arg-type]
        (Document("a§12", "t"), "ids of passages"),
        (Document("a\ud800", "t"), "surrogate"),
        (Document("d", None), "give text"),  # type: ignore[arg-type]
        (Document("d", "x\udc00"), "offset 1"),
        (Document("d", "t", title=3), "title is of type int"),  # type: ignore[arg-type]
        (Document("d", "t", source=3), "source is of type int"),  # type: ignore[arg-type]
        (Document("d", "t", metadata=[1]), "give a dict"),  # type: ignore[arg-type]
        (Document("d", "t", metadata={"a": float("nan")}), "finite"),
        (Document("d", "t", metadata={"a": [float("inf")]}), r"'a'\]\[0\]"),
        (Document("d", "t", metadata={1: "x"}), "keys are text"),  # type: ignore[dict-item]
        (Document("d", "t", metadata={"a": {2, 3}}), "of type set"),
        (Document("d", "t", metadata={"a": "\ud800"}), "surrogate"),
    ],
)
def test_refusals_say_what_and_what_to_do(document: Document, message: str) -> None:
    """Each refusal names the document and the place in it."""
    with pytest.raises(DocumentError, match=message):
        checked(document)


def test_metadata_that_holds_itself_is_refused() -> None:
    """A list inside itself is an error, not a crash."""
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(DocumentError, match="deeper than 64"):
        checked(Document("d", "t", metadata={"a": loop}))


@pytest.mark.parametrize("identity", ["a§", "a§b", "§x", "a::00", "folder/ü.md", " "])
def test_any_other_id_is_taken(identity: str) -> None:
    """Only § with digits at the end is reserved."""
    assert checked(Document(identity, "t")).id == identity
