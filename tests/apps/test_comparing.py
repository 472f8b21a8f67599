"""The command that compares."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import CARDS, Run

import nestling
from nestling.apps.comparing import print_comparison

GOLDEN = [
    {"id": "food", "question": "with food or on an empty stomach?", "relevant": {"stomach": 1}},
    {"id": "long", "question": "how long may a fever last?", "relevant": {"fever": 1}},
    {"id": "water", "question": "viel trinken bei Fieber", "relevant": {"fieber": 1}},
]


@pytest.fixture
def golden(run: Run) -> str:
    """A file of questions in the folder of the commands."""
    Path("golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in GOLDEN), "utf-8")
    return "golden.jsonl"


def evaluated(run: Run, golden: str, nest: str, file: str) -> None:
    """Write an evaluation to a file."""
    done = run("eval", golden, "--nest", nest, "--out", file)
    assert done.exit_code == 0, done.output


def test_compares_two_files(run: Run, cards: Path, golden: str) -> None:
    """Figures are tab-separated lines in a pipe, each with its verdict."""
    evaluated(run, golden, "nest.nest", "before.json")
    evaluated(run, golden, "nest.nest", "after.json")
    done = run("compare", "before.json", "after.json")
    assert done.exit_code == 0
    first = done.stdout.splitlines()[0].split("\t")
    assert first[0] == "document/nDCG@10"
    assert first[-1] == "no difference: the same on all 3 questions"


def test_a_terminal_gets_a_table_and_verdicts(
    run: Run,
    cards: Path,
    golden: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What differs, who is left out, the verdict that decides, and what changed most."""
    evaluated(run, golden, "nest.nest", "before.json")
    before: dict[str, Any] = json.loads(Path("before.json").read_text())
    after: dict[str, Any] = json.loads(Path("before.json").read_text())
    after["embedder"] = "another"
    for question in after["questions"]:
        question["figures"]["document/nDCG@10"] = 0.0
    del before["questions"][0]
    found = nestling.compare(before, after, ("before", "after"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    print_comparison(found)
    shown = capsys.readouterr().out
    assert "embedder: wordhash-64 → another" in shown
    assert "2 questions in both\n1 only in after: food" in shown
    assert "document/nDCG@10: before finds 100.0 points more" in shown
    assert "1.00 → 0.00 · long: how long may a fever last?" in shown


def test_json_is_the_comparison(run: Run, cards: Path, golden: str) -> None:
    """Names are those of the files; what differs between the two is told."""
    evaluated(run, golden, "nest.nest", "before.json")
    changed: dict[str, Any] = json.loads(Path("before.json").read_text())
    for question in changed["questions"]:
        question["figures"]["document/nDCG@10"] = 0.0
    changed["recipe"]["child_size"] = 800
    Path("after.json").write_text(json.dumps(changed))
    found = json.loads(run("compare", "before.json", "after.json", "--json").stdout)
    assert found["names"] == ["before", "after"]
    assert found["differing"] == {"recipe.child_size": [400, 800]}
    assert found["rows"][0]["wins"] == 0
    assert found["rows"][0]["losses"] > 0
    assert {change["id"] for change in found["changed"]} <= {row["id"] for row in GOLDEN}


def test_compares_nests_on_golden_questions(run: Run, cards: Path, golden: str) -> None:
    """A nest is asked the questions of --golden; a file and a nest can be mixed."""
    with nestling.open("other.nest", create=True) as other:
        other.add(CARDS)
    evaluated(run, golden, "other.nest", "other.json")
    done = run("compare", "nest.nest", "other.json", "--golden", golden, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["compared"] == 3
    assert found["names"] == ["nest", "other"]
    assert found["differing"]["nest"] == ["nest.nest", "other.nest"]


def test_a_nest_needs_questions(run: Run, cards: Path) -> None:
    """Without --golden a nest cannot be asked: the command is refused with what to add."""
    done = run("compare", "nest.nest", "nest.nest")
    assert done.exit_code == 2
    assert "--golden" in done.stderr


def test_what_cannot_be_compared_is_said(run: Run, cards: Path) -> None:
    """A missing file ends with 4, another file with 3."""
    assert run("compare", "a.json", "b.json").exit_code == 4
    Path("a.json").write_text("{}")
    done = run("compare", "a.json", "a.json")
    assert done.exit_code == 3
    assert "is no evaluation; give what `nestling eval --out FILE` wrote" in done.stderr
