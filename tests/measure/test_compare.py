"""Two evaluations side by side: verdicts that say no more than is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nestling.errors import InputError, NotFoundError, SettingError
from nestling.measure.bootstrap import paired
from nestling.measure.compare import compare, regressions, verdict
from nestling.measure.pairing import read_result

RECALL = "evidence recall"


def result(figures: dict[str, list[float]], first: int = 0, **others: Any) -> dict[str, Any]:
    """An evaluation with these figures of questions numbered from ``first``."""
    n = len(next(iter(figures.values())))
    questions = [
        {
            "id": f"q{first + i}",
            "question": f"Question {first + i}?",
            "figures": {name: values[i] for name, values in figures.items()},
            "seconds": 0.01,
            "tokens": {"500": 400 + i, "1000": 900 + i},
        }
        for i in range(n)
    ]
    return {"nest": "a.nest", "recipe": {"child_size": 400}, "questions": questions, **others}


def noise(n: int, seed: int = 0) -> np.ndarray:
    """Scores of 0 to 1."""
    return np.random.default_rng(seed).random(n)


def test_a_clear_difference_has_a_winner() -> None:
    """Who finds more, by how many points, with interval and n; and from the other side the same."""
    a = noise(200) * 0.8
    b = a + 0.05 + noise(200, 1) * 0.1
    found = compare(result({RECALL: a.tolist()}), result({RECALL: b.tolist()}), ("old", "new"))
    row = found.rows[0]
    assert row.verdict.startswith("new finds 10.1 points more, 95 % interval 9.")
    assert row.verdict.endswith("n = 200")
    assert row.low is not None
    assert row.low > 0
    assert (row.wins, row.losses, row.ties) == (200, 0, 0)
    back = compare(result({RECALL: b.tolist()}), result({RECALL: a.tolist()}), ("new", "old")).rows[0]
    assert back.verdict.split(", ")[0] == row.verdict.split(", ")[0]
    assert back.difference == pytest.approx(-row.difference)
    assert (back.wins, back.losses) == (0, 200)


def test_a_small_difference_asks_for_more_questions() -> None:
    """Where the interval holds zero there is no winner, and so many questions as are asked for would tell."""
    generator = np.random.default_rng(5)
    a = generator.random(40)
    b = a + generator.normal(0.03, 0.3, 40)
    found = paired(a, b)
    assert found.low < 0 < found.high
    told = verdict(RECALL, b - a, found)
    assert told.startswith("no winner: you need about ")
    asked = int(told.split("about ")[1].split(" ")[0].replace(",", ""))
    assert asked > 40


def test_no_number_is_made_up() -> None:
    """So close that no number of questions would tell; equal on all; a single question."""
    close = np.tile([0.3, -0.3], 50) + 1e-5
    assert "10,000 questions would not tell" in verdict(RECALL, close, paired(np.zeros(100), close))
    same = compare(result({RECALL: [0.5, 0.6]}), result({RECALL: [0.5, 0.6]}))
    assert same.rows[0].verdict == "no difference: the same on all 2 questions"
    alike = compare(result({RECALL: [0.5]}), result({RECALL: [0.5]}))
    assert alike.rows[0].verdict == "no difference: the same on the one question"
    one = compare(result({RECALL: [0.5]}), result({RECALL: [0.6]})).rows[0]
    assert one.verdict == "no winner: one question cannot tell, n = 1"
    assert one.low is None


def test_questions_are_paired_by_id() -> None:
    """Order does not matter; questions of one side, and reworded ones, are named and not compared."""
    a = result({RECALL: [0.1, 0.2, 0.3, 0.4]})
    b = result({RECALL: [0.2, 0.3, 0.4, 0.5]}, first=1)
    b["questions"].reverse()
    b["questions"][-1]["question"] = "Another question?"
    found = compare(a, b)
    assert (found.only_a, found.only_b, found.reworded) == (("q0",), ("q4",), ("q1",))
    assert found.compared == 2
    assert found.rows[0].n == 2
    assert found.rows[0].verdict == "no difference: the same on all 2 questions"


def test_a_figure_counts_where_both_have_it() -> None:
    """A question without spans has no evidence recall, and is not taken for zero."""
    a, b = (result({RECALL: [0.5, 0.5], "document/nDCG@10": [1.0, 0.5]}) for _ in range(2))
    del a["questions"][0]["figures"][RECALL]
    rows = {row.figure: row for row in compare(a, b).rows}
    assert rows[RECALL].n == 1
    assert rows["document/nDCG@10"].n == 2
    assert list(rows)[:2] == [RECALL, "document/nDCG@10"]


def test_less_is_better_of_tokens_and_seconds() -> None:
    """They are told in their own units, and a win is to take less."""
    a, b = result({RECALL: [0.5] * 30}), result({RECALL: [0.5] * 30})
    for question in b["questions"]:
        question["seconds"] = 0.025
        question["tokens"] = {"500": 300, "1000": 700}
    rows = {row.figure: row for row in compare(a, b).rows}
    assert rows["seconds"].verdict == "B takes 15.0 ms more, 95 % interval 15.0 to 15.0, n = 30"
    assert rows["seconds"].losses == 30
    assert rows["tokens"].verdict.startswith("B takes 164.5 tokens less")
    assert rows["tokens"].wins == 30


def test_says_what_differs_and_what_changed_most() -> None:
    """Settings one by one; questions by the size of their change."""
    a = result({RECALL: [0.1, 0.5, 0.9]}, embedder="m")
    b = result({RECALL: [0.2, 0.5, 0.1]}, embedder="m", recipe={"child_size": 800})
    found = compare(a, b)
    assert found.differing == {"recipe.child_size": (400, 800)}
    assert [(change.id, change.a, change.b) for change in found.changed] == [
        ("q2", 0.9, 0.1),
        ("q0", 0.1, 0.2),
    ]


def test_a_regression_is_a_drop_that_is_large_and_sure() -> None:
    """It must exceed its limit, and its interval must exclude "no drop"."""
    before = (noise(100) * 0.5 + 0.4).tolist()
    slightly = [value - 0.01 for value in before]
    clearly = [value - 0.05 for value in before]
    shaky = [value - (0.9 if i < 2 else -0.001) for i, value in enumerate(before[:20])]
    base = result({RECALL: before})
    assert regressions(base, result({RECALL: before}), {RECALL: 0}) == []
    assert regressions(base, result({RECALL: slightly}), {RECALL: 0.02}) == []
    assert regressions(base, result({RECALL: shaky}), {RECALL: 0.02}) == []
    (told,) = regressions(base, result({RECALL: clearly}), {RECALL: 0.02})
    assert told.startswith("evidence recall fell from ")
    assert "by 5.0, 95 % interval 5.0 to 5.0, n = 100, where 2 are allowed" in told
    assert regressions(result({RECALL: clearly}), base, {RECALL: 0}) == []


def test_regression_of_tokens_is_a_rise() -> None:
    """More tokens are worse."""
    a, b = result({RECALL: [0.5] * 30}), result({RECALL: [0.5] * 30})
    for question in b["questions"]:
        question["tokens"] = {"500": 500, "1000": 1000}
    (told,) = regressions(a, b, {"tokens": 10})
    assert told.startswith("tokens rose from 664.5 to 750.0 tokens: by 85.5")


@pytest.mark.parametrize("limit", [-0.1, "0.1", float("nan"), True])
def test_a_limit_is_a_number(limit: Any) -> None:
    """Anything else is refused with what to give."""
    one = result({RECALL: [0.5]})
    with pytest.raises(SettingError, match="give a number, 0 or more"):
        regressions(one, one, {RECALL: limit})


def test_an_unknown_figure_is_named_with_those_there_are() -> None:
    """A gate on a figure that nobody measured does not pass silently."""
    one = result({RECALL: [0.5]})
    with pytest.raises(SettingError, match=r"'recal' is not in both results; give one of evidence recall"):
        regressions(one, one, {"recal": 0.1})


def test_nothing_in_common_is_an_error() -> None:
    """Evaluations of other questions cannot be compared."""
    with pytest.raises(InputError, match="no question in common"):
        compare(result({RECALL: [0.5]}), result({RECALL: [0.5]}, first=5))


def test_reading_says_what_is_wrong(tmp_path: Path) -> None:
    """A missing file, text, and other JSON are told apart; an evaluation is read."""
    file = tmp_path / "a.json"
    with pytest.raises(NotFoundError, match="nestling eval --out"):
        read_result(file)
    file.write_text("{")
    with pytest.raises(InputError, match="cannot be read as JSON"):
        read_result(file)
    for other in ("[]", '{"questions": [1]}', '{"questions": [{"id": 1}]}'):
        file.write_text(other)
        with pytest.raises(InputError, match="is no evaluation"):
            read_result(file)
    file.write_text(json.dumps(result({RECALL: [0.5]})))
    assert read_result(file)["questions"][0]["id"] == "q0"
