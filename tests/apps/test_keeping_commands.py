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


def test_check_repairs(run: Run, cards: Path) -> None:
    """What is damaged is named, mended, and the nest as it was is beside it."""
    with sqlite3.connect("nest.nest") as db:
        db.execute("DELETE FROM child_vectors WHERE row = 1")
        db.execute("DELETE FROM fields WHERE path = 'year'")
    db.close()
    done = run("check", "--json")
    assert done.exit_code == 1
    found = json.loads(done.stdout)["damage"]
    plain = run("check")
    assert plain.stdout.splitlines() == found
    assert "mend it with `nestling check --repair`" in plain.stderr
    done = run("check", "--repair")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "nest.nest was copied to nest.nest.before-repair first",
        *(f"found: {sentence}" for sentence in found),
        "nest.nest is sound",
    ]
    assert run("check", "--nest", "nest.nest.before-repair").stdout.splitlines() == found
    assert run("check", "--repair").stdout == "nest.nest is sound\n"
    assert not Path("nest.nest.before-repair-2").exists()


def test_check_leaves_what_is_lost(run: Run, cards: Path) -> None:
    """A text that is not what was added is told and left, and the command ends with 1."""
    with sqlite3.connect("nest.nest") as db:
        db.execute("UPDATE documents SET text = 'other' WHERE id = 'fever'")
    db.close()
    done = run("check", "--repair", "--no-backup")
    assert done.exit_code == 1
    assert "left: fever: its title, text or metadata are not what was added" in done.stdout
    assert "nest.nest is still damaged; restore a backup" in done.stderr
    assert not Path("nest.nest.before-repair").exists()
    again = json.loads(run("check", "--repair", "--no-backup", "--json").stdout)
    assert (again["ok"], again["repaired"], again["backup"]) == (False, [], None)
    assert run("check", "--no-backup").exit_code == 2
