"""``golden.jsonl``: what a line may hold, and how wrong ones are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from library import write_lines

import nestling
from nestling import GoldenQuestion, GoldSpan


def test_every_kind_of_gold(tmp_path: Path) -> None:
    """A question keeps its gold, filter and tags; an id that is left out is the line's number."""
    path = write_lines(
        tmp_path / "golden.jsonl",
        {"id": "a", "question": "A?", "must_cite_one_of": ["x", "y§2"], "where": {"year": 1}, "tags": ["t"]},
        "",
        {"question": "B?", "relevant": {"x": 2, "y": 0}, "answer": "ignored"},
        {
            "id": 7,
            "question": "C?",
            "spans": [{"document": "x", "start": 0, "end": 3}, {"quote": "some words"}],
        },
        {"id": "d", "question": "D?", "unanswerable": True, "spans": None},
    )
    assert nestling.read_golden(path) == nestling.Golden(
        (
            GoldenQuestion(
                "a", "A?", must_cite_one_of=("x", "y§2"), where={"year": 1}, tags=("t",), place="line 1"
            ),
            GoldenQuestion("3", "B?", {"x": 2, "y": 0}, place="line 3"),
            GoldenQuestion(
                "7", "C?", spans=(GoldSpan("x", 0, 3), GoldSpan(quote="some words")), place="line 4"
            ),
            GoldenQuestion("d", "D?", unanswerable=True, place="line 5"),
        ),
        str(path),
    )


WRONG = [
    ("no json", "not JSON"),
    ([1], "not a JSON object"),
    ({"id": "x"}, "'question' is None"),
    ({"question": "  "}, "'question' is"),
    ({"question": "?", "id": ""}, "'id' holds ''"),
    ({"question": "?", "id": True}, "'id' holds True"),
    ({"question": "?", "relevant": ["a"]}, "'relevant' is"),
    ({"question": "?", "relevant": {"a": 0.5}}, "'relevant' is"),
    ({"question": "?", "must_cite_one_of": "a"}, "'must_cite_one_of' is 'a'; give a list"),
    ({"question": "?", "must_cite_one_of": [1]}, "'must_cite_one_of' holds 1"),
    ({"question": "?", "tags": "a"}, "'tags' is 'a'"),
    ({"question": "?", "unanswerable": 1}, "'unanswerable' is 1"),
    ({"question": "?", "unanswerable": True, "relevant": {"a": 1}}, "unanswerable and has 'relevant'"),
    ({"question": "?", "where": {"$nor": 1}}, r"\$nor is not known"),
    ({"question": "?", "spans": [{"document": "x", "start": 3, "end": 3}]}, "'spans' holds"),
    ({"question": "?", "spans": [{"start": 0, "end": 3}]}, "'spans' holds"),
    ({"question": "?", "spans": [{"document": "x", "start": 1}]}, "'spans' holds"),
    ({"question": "?", "spans": [{"document": "x"}]}, "'spans' holds"),
    ({"question": "?", "spans": [{"quote": " "}]}, "'spans' holds"),
    ({"question": "?", "spans": [{"quote": "x", "page": 3}]}, "'spans' holds"),
    ({"question": "?", "spans": ["x"]}, "'spans' holds"),
]


@pytest.mark.parametrize(("row", "told"), WRONG)
def test_a_wrong_line_is_told_by_its_number(tmp_path: Path, row: Any, told: str) -> None:
    """The message names the file, the line, and what is wrong with it."""
    path = write_lines(tmp_path / "golden.jsonl", {"question": "fine?"}, row)
    with pytest.raises(
        nestling.DocumentError, match=f"(?s)golden.jsonl .*line 2: .*{told}.*mend these lines"
    ):
        nestling.read_golden(path)


def test_all_wrong_lines_are_told_at_once(tmp_path: Path) -> None:
    """One error for the file, which names the first twenty."""
    path = write_lines(tmp_path / "golden.jsonl", *["{"] * 23, {"question": "fine?"})
    with pytest.raises(nestling.DocumentError) as caught:
        nestling.read_golden(path)
    told = str(caught.value)
    assert "line 1:" in told
    assert "line 20:" in told
    assert "line 21:" not in told
    assert "and 3 more" in told


def test_an_id_is_given_once(tmp_path: Path) -> None:
    """The second of two equal ids is wrong, also where one is a number."""
    path = write_lines(tmp_path / "golden.jsonl", {"id": "2", "question": "?"}, {"question": "?"})
    with pytest.raises(nestling.DocumentError, match="line 2: the id '2' is that of line 1"):
        nestling.read_golden(path)


def test_lines_end_at_line_feeds_only(tmp_path: Path) -> None:
    """Other separators are text, a byte order mark is none, and Windows' line ends do no harm."""
    path = tmp_path / "golden.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + '{"question": "a\u2028b\x85c?"}\r\n{"question": "d"}\r\n'.encode())
    assert [q.question for q in nestling.read_golden(path).questions] == ["a\u2028b\x85c?", "d"]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are told by line; a path to nothing is not found."""
    (tmp_path / "golden.jsonl").write_bytes(b'{"question": "a"}\n\xff\n')
    with pytest.raises(nestling.DocumentError, match="line 2 is not UTF-8"):
        nestling.read_golden(tmp_path / "golden.jsonl")
    with pytest.raises(nestling.NotFoundError, match="check the path"):
        nestling.read_golden(tmp_path / "nothing.jsonl")


def test_sample_is_spread_evenly() -> None:
    """A sample has the number asked for, in order; never more than there are."""
    golden = nestling.Golden(tuple(GoldenQuestion(str(i), "?") for i in range(10)), "g")
    assert [q.id for q in golden.sample(4).questions] == ["0", "2", "5", "7"]
    assert golden.sample(10) == golden.sample(99) == golden


def test_low_grades_count_as_not_relevant(tmp_path: Path) -> None:
    """From a least grade on documents are relevant, and a question left without any is reported as such."""
    file = tmp_path / "golden.jsonl"
    first = {"id": "a", "question": "A?", "relevant": {"x": 1, "y": 3}}
    write_lines(file, first, {"id": "b", "question": "B?", "relevant": {"x": 1}})
    first, second = nestling.read_golden(file, least_grade=2).questions
    assert first.relevant == {"x": 0, "y": 3}
    assert first.lacks is None
    assert second.lacks is not None
    assert nestling.read_golden(file).questions[1].lacks is None
    for wrong in (0, True, "2"):
        with pytest.raises(nestling.SettingError, match="least_grade is"):
            nestling.read_golden(file, least_grade=wrong)  # type: ignore[arg-type]
