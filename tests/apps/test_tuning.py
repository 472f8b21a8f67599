"""The command that tunes, from golden questions to a nest that uses what was found."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import Run

import nestling
import shelves
from nestling.apps.tuning import print_tuned

SHORT = nestling.Recipe(child_size=120, parent_size=240, lead=False)


@pytest.fixture
def shelf(run: Run) -> str:
    """A nest in which titles were left out, its documents as cards, and its questions in a file."""
    with nestling.open("nest.nest", create=True, recipe=SHORT) as nest:
        nest.add(shelves.documents())
    cards = [{"id": d.id, "text": d.text, "title": d.title} for d in shelves.documents()]
    Path("cards.jsonl").write_text("".join(json.dumps(card) + "\n" for card in cards), "utf-8")
    shelves.write(Path("golden.jsonl"), shelves.golden())
    return "golden.jsonl"


def test_from_questions_to_a_better_nest(run: Run, shelf: str) -> None:
    """The verdict is told, the settings written, and a nest built by them finds more."""
    before = Path("nest.nest").read_bytes()
    done = run("tune", shelf, "--budget", "60", "--out", "tuned.json", "--state", "tuning.state")
    assert done.exit_code == 0, done.output
    assert Path("nest.nest").read_bytes() == before
    assert "verdict\tuse these settings: +" in done.stdout
    assert "nestling rebuild --nest nest.nest --recipe tuned.json" in done.stdout
    settings = json.loads(Path("tuned.json").read_text())
    assert settings["recipe"]["lead"] is True
    assert run("rebuild", "--nest", "nest.nest", "--recipe", "tuned.json").exit_code == 0
    with nestling.open("nest.nest") as new:
        assert new.recipe == nestling.Recipe(**settings["recipe"])
        assert new.scoring == nestling.Scoring(**settings["scoring"])
        assert new.search("warranty of the oak desk", 1)[0].document_id == "oak desk"


def test_json_is_what_was_found(run: Run, shelf: str) -> None:
    """With --json all of it; a second call with the same state embeds nothing."""
    arguments = ("tune", shelf, "--limit", "24", "--budget", "60", "--state", "tuning.state", "--json")
    first, second = (json.loads(run(*arguments).stdout) for _ in range(2))
    assert first["embedded"] > 0
    assert second["embedded"] == 0
    for changing in ("embedded", "seconds"):
        first.pop(changing), second.pop(changing)
    assert first == second
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text("utf-8")
    documented = json.loads(page.split("\n## tune\n")[1].split("```json\n")[1].split("```")[0])
    assert list(documented) == [*first, "embedded", "seconds"]
    for name in ("settings", "questions", "gate"):
        assert list(documented[name]) == list(first[name])
    for name in ("standings", "tried"):
        assert list(documented[name][0]) == list(first[name][0])


def test_weights_alone_are_stored_in_the_nest_that_is_there(run: Run, cards: Path) -> None:
    """A nest of the same recipe takes the weights of the file, and embeds nothing for it."""
    with nestling.open("nest.nest") as nest:
        documents = [{"id": info.id, "text": "x"} for info in nest.list()][:1]
    Path("one.jsonl").write_text(json.dumps(documents[0]) + "\n")
    settings = {"recipe": {"child_size": 400}, "scoring": {"dense": 0.5}}
    Path("tuned.json").write_text(json.dumps(settings))
    assert run("add", "one.jsonl", "--recipe", "tuned.json").exit_code == 0
    with nestling.open("nest.nest") as nest:
        assert nest.scoring == nestling.Scoring(dense=0.5)


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("{", 3, "holds no settings"),
        ('{"recipe": {"size": 1}}', 3, "holds no settings"),
        ('{"scoring": {}}', 3, "holds no settings"),
        ('{"recipe": {"child_size": 0}}', 3, "give at least 1"),
        ('{"recipe": {"child_size": 100}}', 3, "was built with"),
    ],
)
def test_a_file_that_holds_no_settings(run: Run, cards: Path, text: str, code: int, told: str) -> None:
    """It is named with what is wrong."""
    Path("a.txt").write_text("text")
    Path("tuned.json").write_text(text)
    done = run("add", "a.txt", "--recipe", "tuned.json")
    assert done.exit_code == code
    assert told in done.stderr


def test_recipe_and_sizes_exclude_each_other(run: Run) -> None:
    """Which of them would count?"""
    Path("a.txt").write_text("text")
    assert run("add", "a.txt", "--recipe", "tuned.json", "--child-size", "100").exit_code == 2
    assert run("add", "a.txt", "--recipe", "tuned.json").exit_code == 4


def test_time_that_is_over_is_said(run: Run, shelf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is of what was done by then, and stderr says how to go on."""
    with nestling.open("nest.nest") as nest:
        found = nestling.tune(nest, nestling.read_golden(shelf).sample(24), budgets=(60,))
    unfinished: Any = nestling.Tuned(**{**{n: getattr(found, n) for n in found.__slots__}, "finished": False})
    monkeypatch.setattr(nestling, "tune", lambda *_, **__: unfinished)
    done = run("tune", shelf)
    assert "were over before the search was done; with --state FILE" in done.stderr
    assert "the same command goes on" in run("tune", shelf, "--state", "s").stderr


def test_a_terminal_gets_tables(
    run: Run, shelf: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Settings under heads, what was tried, and the verdict."""
    with nestling.open("nest.nest") as nest:
        found = nestling.tune(nest, nestling.read_golden(shelf).sample(24), budgets=(60,))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    print_tuned(found)
    shown = capsys.readouterr().out
    assert "held out" in shown
    assert "whole card" in shown
    assert "questions choose" in shown


def test_output_that_cannot_be_written_is_refused_first(run: Run, shelf: str) -> None:
    """Not after half an hour."""
    done = run("tune", shelf, "--out", "nowhere/tuned.json")
    assert done.exit_code == 4
    assert "its folder does not exist" in done.stderr
