"""The commands that change a nest: add, remove; and which nest it is."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from commands import Run

import nestling


@pytest.fixture
def folder(run: Run) -> Path:
    """Files of every fate: two texts, an empty one, a binary one, cards of which one line is broken."""
    folder = Path("docs")
    folder.mkdir()
    (folder / "a.md").write_text("# Alpha\n\nThe first text.\n")
    (folder / "b.txt").write_text("The second text.\n")
    (folder / "empty.txt").write_text("")
    (folder / "binary.txt").write_bytes(bytes(range(256)) * 20)
    (folder / "cards.jsonl").write_text(
        '{"id": "c1", "text": "A card."}\n{"id": "c2", "text"\n{"id": "c3", "text": "Third."}\n'
    )
    return folder


def test_add_makes_a_nest_and_says_which(run: Run, folder: Path) -> None:
    """Without a name the nest is ./nest.nest; what could not be read is named with the reason, the rest is in."""
    result = run("add", "docs")
    assert result.exit_code == 1
    assert result.stdout.startswith("nest.nest: 5 added, 1 empty, 2 failed · ")
    assert "empty, with no text to find: empty.txt" in result.stdout
    complaints = result.stderr.splitlines()
    assert len(complaints) == 2
    assert complaints[0].startswith("nestling: not added: docs/binary.txt: ")
    assert complaints[1].startswith("nestling: not added: docs/cards.jsonl: line 2: not JSON")
    assert [row.split("\t")[0] for row in run("list").stdout.splitlines()] == [
        "a.md",
        "b.txt",
        "c1",
        "c3",
        "empty.txt",
    ]


def test_add_again_is_free(run: Run, folder: Path) -> None:
    """What has not changed is unchanged and not embedded; what has is updated."""
    run("add", "docs")
    (folder / "b.txt").write_text("Another second text.\n")
    report = json.loads(run("add", "docs", "--json").stdout)
    assert (report["nest"], report["added"], report["updated"]) == ("nest.nest", [], ["b.txt"])
    assert report["unchanged"] == ["a.md", "c1", "c3", "empty.txt"]
    assert report["embedded"] == 1
    assert [failure["name"] for failure in report["failed"]] == ["docs/binary.txt", "docs/cards.jsonl"]


def test_add_files_by_name_and_duplicate_ids(run: Run, folder: Path) -> None:
    """Two inputs with one id: the first is stored, the second reported; a missing one is reported, too."""
    (folder / "more").mkdir()
    (folder / "more" / "a.md").write_text("# Other\n")
    result = run("add", "docs/a.md", "docs/more/a.md", "docs/nothing.md")
    assert result.exit_code == 1
    assert "docs/more/a.md: the id 'a.md' was given before" in result.stderr
    assert "docs/nothing.md: there is no such file" in result.stderr


def test_add_of_nothing_makes_no_nest(run: Run, tmp_path: Path) -> None:
    """Where none of the paths exists, no nest is made."""
    result = run("add", "nothing/")
    assert result.exit_code == 4
    assert result.stderr == "nestling: there is no file or folder nothing/; check the path\n"
    assert list(tmp_path.iterdir()) == []


def test_add_of_an_empty_folder(run: Run) -> None:
    """A folder without files is no error; the answer says that there was nothing."""
    Path("bare").mkdir()
    result = run("add", "bare")
    assert (result.exit_code, result.stdout) == (0, "nest.nest: nothing to add\n")


def test_nest_by_option_then_variable_then_here(run: Run, folder: Path) -> None:
    """--nest is stronger than $NESTLING_NEST, which is stronger than ./nest.nest."""
    variable = {"NESTLING_NEST": "variable.nest"}
    assert run("add", "docs/a.md", "--nest", "option.nest", env=variable).stdout.startswith(
        "option.nest: 1 added"
    )
    assert run("add", "docs/a.md", env=variable).stdout.startswith("variable.nest: 1 added")
    assert run("stats").exit_code == 4
    assert run("add", "docs/a.md").stdout.startswith("nest.nest: 1 added")
    for env, options, nest in (
        (variable, ["--nest", "option.nest"], "option.nest"),
        (variable, [], "variable.nest"),
        ({}, [], "nest.nest"),
        ({"NESTLING_NEST": ""}, [], "nest.nest"),
    ):
        assert json.loads(run("stats", "--json", *options, env=env).stdout)["nest"] == nest


def test_no_nest_at_all(run: Run) -> None:
    """Without a nest the message tells the three ways to one."""
    result = run("search", "x")
    assert result.exit_code == 4
    assert "`nestling add PATH…`" in result.stderr
    assert "--nest or NESTLING_NEST" in result.stderr


def test_sizes_are_of_a_new_nest(run: Run, folder: Path) -> None:
    """Sizes make the recipe of a new nest, hold for an existing one, and are refused where they differ."""
    sizes = ["--child-size", "10", "--parent-size", "40", "--overlap", "2", "--unit", "tokens"]
    assert run("add", "docs/a.md", *sizes).exit_code == 0
    recipe = json.loads(run("stats", "--json").stdout)["recipe"]
    assert recipe == {"child_size": 10, "parent_size": 40, "overlap": 2, "unit": "tokens", "lead": True}
    assert run("add", "docs/b.txt", *sizes).exit_code == 0
    assert run("add", "docs/b.txt").exit_code == 0
    result = run("add", "docs/b.txt", "--child-size", "20")
    assert result.exit_code == 3
    assert "child_size=10" in result.stderr
    assert run("add", "docs/a.md", "--nest", "new.nest", "--child-size", "0").exit_code == 3
    assert not Path("new.nest").exists()


def test_remove(run: Run, cards: Path) -> None:
    """Documents are removed together; ids that do not exist are named and end with 4."""
    result = run("remove", "fever", "evil")
    assert (result.exit_code, result.stdout) == (0, "nest.nest: 2 removed\n")
    result = run("remove", "fever", "stomach", "--json")
    assert result.exit_code == 4
    assert json.loads(result.stdout) == {"nest": "nest.nest", "removed": ["stomach"], "missing": ["fever"]}
    assert result.stderr == "nestling: nest.nest holds no document 'fever'; see `nestling list`\n"
    assert [row.split("\t")[0] for row in run("list").stdout.splitlines()] == ["fieber"]


def test_locked_nest(run: Run, cards: Path) -> None:
    """A nest that another process is writing is waited for, then the message says how long; it ends with 6."""
    db = sqlite3.connect(cards, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    result = run("remove", "fever", "--timeout", "0.1")
    assert result.exit_code == 6
    assert "nest.nest is locked by " in result.stderr
    assert "waited 0.1 s" in result.stderr
    assert run("search", "fever").exit_code == 0
    db.close()


def test_interrupted_add_tells_what_is_stored(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the model fails, what had been done is told, also in JSON, and the command ends with 7."""

    def failing(self: nestling.Nest, source: object, progress: object = None) -> nestling.Report:
        error = nestling.ModelError("the endpoint does not answer; start it")
        error.report = nestling.Report(added=["a.md"], embedded=1)
        raise error

    monkeypatch.setattr(nestling.Nest, "add", failing)
    result = run("add", "docs", "--json")
    assert result.exit_code == 7
    answer = json.loads(result.stdout)
    assert answer["error"] == {"type": "ModelError", "message": "the endpoint does not answer; start it"}
    assert answer["report"]["added"] == ["a.md"]
    assert "before the error: 1 added · 1 children embedded" in result.stderr


def test_stopped_add(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends with 130 and one line that says what is kept."""

    def stopped(self: nestling.Nest, source: object, progress: object = None) -> nestling.Report:
        raise KeyboardInterrupt

    monkeypatch.setattr(nestling.Nest, "add", stopped)
    result = run("add", "docs")
    assert result.exit_code == 130
    assert result.stderr.startswith("nestling: stopped; every document stored so far is whole")


def test_demo(run: Run) -> None:
    """The demo adds Python's own reference, asks three questions, says what is next, and can be run again."""
    result = run("demo")
    assert result.exit_code == 0
    assert result.stdout.count("\n? ") == 3
    assert result.stdout.count("[cite:") == 6
    assert "nestling search --nest demo.nest" in result.stdout
    assert "nestling serve --nest demo.nest" in result.stdout
    again = json.loads(run("demo", "--json", env={"NESTLING_NEST": "mine.nest"}).stdout)
    assert (again["nest"], again["added"], again["embedded"]) == ("demo.nest", [], 0)
    assert len(again["unchanged"]) > 50
    assert [len(search["passages"]) for search in again["searches"]] == [2, 2, 2]
    assert not Path("mine.nest").exists()
