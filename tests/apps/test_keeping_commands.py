"""The commands that keep a nest safe."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from commands import CARDS, Run

import nestling


def test_backup(run: Run, cards: Path) -> None:
    """The copy is a nest; what is there already is not overwritten, and the exit code says so."""
    done = run("backup", "copy.nest")
    assert done.exit_code == 0
    assert done.stdout == f"nest.nest: {Path('copy.nest').stat().st_size:,} bytes in copy.nest\n"
    assert run("check", "--nest", "copy.nest").stdout == "copy.nest is sound\n"
    before = Path("copy.nest").read_bytes()
    again = run("backup", "copy.nest")
    assert again.exit_code == 3
    assert "copy.nest is there already and is left as it is; give the path of a new file" in again.stderr
    assert Path("copy.nest").read_bytes() == before


def test_export_and_import(run: Run, cards: Path) -> None:
    """A nest is written to lines and read back from them; through stdout it is the same."""
    assert run("export", "all.jsonl").stdout == f"nest.nest: {len(CARDS)} documents in all.jsonl\n"
    piped = run("export", "-")
    assert piped.stdout_bytes == Path("all.jsonl").read_bytes()
    assert piped.stderr == ""
    done = run("import", "all.jsonl", "--nest", "again.nest", "--child-size", "200")
    assert (done.exit_code, done.stdout) == (
        0,
        f"again.nest: {len(CARDS)} added · {len(CARDS)} children embedded, 0 reused\n",
    )
    with nestling.open("again.nest") as again, nestling.open("nest.nest") as first:
        assert again.list() == first.list()
        assert again.show("evil") == first.show("evil")
        assert again.recipe.child_size == 200


def test_import_takes_lines_only(run: Run, cards: Path) -> None:
    """Another file is refused, with the command that takes it."""
    Path("text.md").write_text("# Text")
    done = run("import", "text.md", "--nest", "other.nest")
    assert done.exit_code == 3
    assert "text.md is no JSONL file; give what `nestling export` wrote, or use `nestling add`" in done.stderr
    assert not Path("other.nest").exists()
    assert run("import", "nothing.jsonl", "--nest", "other.nest").exit_code == 4


def test_stdout_is_for_lines_or_for_json(run: Run, cards: Path) -> None:
    """Both at once is a command that cannot be read."""
    done = run("export", "-", "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout)["error"]["type"] == "UsageError"


def test_export_of_a_damaged_nest(run: Run, cards: Path) -> None:
    """What cannot be read is named on stderr, and the command ends with 1."""
    with sqlite3.connect("nest.nest") as db:
        db.execute("UPDATE documents SET text = CAST(X'FF' AS TEXT) WHERE id = 'fever'")
    db.close()
    done = run("export", "rest.jsonl")
    assert done.exit_code == 1
    assert "not exported: fever: it cannot be read" in done.stderr
    assert len(Path("rest.jsonl").read_bytes().splitlines()) == len(CARDS) - 1
