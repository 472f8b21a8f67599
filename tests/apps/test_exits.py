"""Exit codes by class of error, and how an error is told."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from commands import Run

import nestling
from nestling.apps.exits import EXITS, code_of

CODES = {
    "InputError": 3,
    "DocumentError": 3,
    "FilterError": 3,
    "SettingError": 3,
    "NotFoundError": 4,
    "StoreError": 5,
    "NotANestError": 5,
    "NewerNestError": 5,
    "ReadOnlyError": 5,
    "ScopeError": 5,
    "FullError": 5,
    "LockedError": 6,
    "ModelError": 7,
    "MissingExtraError": 7,
    "EmbedderMismatchError": 7,
    "ServerError": 8,
    "AccessError": 8,
    "BusyError": 8,
}


def test_every_error_has_its_code() -> None:
    """Each public error class ends with the code that is documented for it or its base."""
    public = [name for name in nestling.__all__ if name.endswith("Error") and name != "NestlingError"]
    assert {name: code_of(getattr(nestling, name)("")) for name in public} == CODES
    assert len({exit.code for exit in EXITS}) == len(EXITS)


@pytest.mark.parametrize("name", CODES)
def test_an_error_is_one_line_and_no_traceback(
    run: Run, cards: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Whatever a nest raises is one clean line on stderr, and with --json an object on stdout."""

    def failing(self: nestling.Nest) -> None:
        raise getattr(nestling, name)("the \x1b[1mfile\nbroke; mend it")

    monkeypatch.setattr(nestling.Nest, "stats", failing)
    result = run("stats")
    assert (result.exit_code, result.stdout) == (CODES[name], "")
    assert result.stderr == "nestling: the ␛[1mfile broke; mend it\n"
    result = run("stats", "--json")
    assert result.exit_code == CODES[name]
    assert json.loads(result.stdout) == {
        "error": {"type": name, "message": "the \x1b[1mfile\nbroke; mend it"}
    }
    assert result.stderr == "nestling: the ␛[1mfile broke; mend it\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["search"], "Missing argument 'QUERY...'; see `nestling search --help`"),
        (["serch", "x"], "No such command 'serch'"),
        (["search", "x", "--bad"], "No such option"),
        (["search", "x", "-k", "many"], "'many' is not a valid integer"),
        (["context", "x", "--shape", "round"], "'round' is not one of"),
        (["stats", "--timeout", "-1"], "--timeout"),
    ],
)
def test_usage(run: Run, arguments: list[str], told: str) -> None:
    """A command that cannot be read ends with 2 and says how it is written, also in JSON."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("nestling: ")
    assert told in result.stderr
    result = run(*arguments, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["type"] == "UsageError"


def test_settings_out_of_range(run: Run, cards: Path) -> None:
    """Numbers out of their range end with 3."""
    for options in (["-k", "-1"], ["--offset", "-1"], ["--min-similarity", "2"], ["--min-coverage", "-0.1"]):
        result = run("search", "x", *options)
        assert result.exit_code == 3, options
    assert run("context", "x", "--budget", "0").exit_code == 3


def test_a_file_that_is_not_a_nest(run: Run) -> None:
    """A text file and another program's database are no nests: 5, and both are left as they were."""
    Path("notes.txt").write_text("not a database, but long enough to be looked at\n" * 50)
    with sqlite3.connect("other.db") as db:
        db.execute("CREATE TABLE t (a)")
    db.close()
    for name in ("notes.txt", "other.db"):
        before = Path(name).read_bytes()
        for command in (["stats"], ["search", "x"], ["add", "notes.txt"], ["remove", "x"]):
            result = run(*command, "--nest", name)
            assert result.exit_code == 5, (name, command)
            assert f"nestling: {name} is not a nest" in result.stderr
        assert Path(name).read_bytes() == before


def test_a_newer_nest(run: Run, cards: Path) -> None:
    """A nest of a newer schema is refused with the way to upgrade."""
    with sqlite3.connect(cards) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    result = run("list")
    assert result.exit_code == 5
    assert "schema 99" in result.stderr
    assert "pip install -U nestling" in result.stderr


def test_a_nest_of_another_model(run: Run, cards: Path) -> None:
    """A nest of another model is refused by name."""
    with sqlite3.connect(cards) as db:
        db.execute("UPDATE editions SET embedder = 'other-model'")
    db.close()
    result = run("search", "x")
    assert result.exit_code == 7
    assert "other-model" in result.stderr
    assert "wordhash-64" in result.stderr
