"""The command that keeps a folder and a nest in step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Run

import nestling


@pytest.fixture
def docs(run: Run) -> Path:
    """A folder of two texts."""
    folder = Path("docs")
    folder.mkdir()
    (folder / "a.md").write_text("# Alpha\n\nThe first text.\n")
    (folder / "b.txt").write_text("The second text.\n")
    return folder


def test_sync_says_what_it_did(run: Run, docs: Path) -> None:
    """A nest is made, then followed; a file that is broken is named, and the command ends with 1."""
    result = run("sync", "docs")
    assert (result.exit_code, result.stdout) == (
        0,
        "nest.nest: 2 added · 2 children embedded, 0 reused\n",
    )
    (docs / "a.md").rename(docs / "c.md")
    (docs / "b.txt").write_bytes(b"\x00")
    result = run("sync", "docs")
    assert (result.exit_code, result.stdout) == (
        1,
        "nest.nest: 1 renamed, 1 failed · 0 children embedded, 1 reused\n",
    )
    assert result.stderr.startswith("nestling: not synced: docs/b.txt: this is a binary file")
    (docs / "b.txt").unlink()
    report = json.loads(run("sync", "docs", "--json").stdout)
    assert (report["nest"], report["dry_run"], report["removed"]) == ("nest.nest", False, ["b.txt"])


def test_dry_run_names_every_document_and_makes_no_nest(run: Run, docs: Path) -> None:
    """What would be done is listed, one a line."""
    result = run("sync", "docs", "--dry-run")
    assert result.stdout == "+ a.md\n+ b.txt\nnest.nest, dry run: 2 added · 2 children embedded, 0 reused\n"
    assert not Path("nest.nest").exists()
    run("sync", "docs")
    (docs / "a.md").rename(docs / "c.md")
    (docs / "b.txt").unlink()
    result = run("sync", "docs", "--dry-run")
    assert result.stdout.splitlines()[:2] == ["- b.txt", "> a.md -> c.md"]
    assert json.loads(run("sync", "docs", "--dry-run", "--json").stdout)["renamed"] == [
        {"old": "a.md", "new": "c.md"}
    ]
    assert len(json.loads(run("list", "--json").stdout)["documents"]) == 2


def test_what_is_kept(run: Run, docs: Path) -> None:
    """--keep removes nothing, --pattern looks at some files only, an emptied folder wants to be allowed."""
    run("sync", "docs")
    (docs / "a.md").unlink()
    (docs / "b.txt").unlink()
    assert run("sync", "docs", "--keep").exit_code == 0
    result = run("sync", "docs")
    assert result.exit_code == 3
    assert "--allow-empty" in result.stderr
    (docs / "c.md").write_text("# Third\n")
    result = run("sync", "docs", "--pattern", "*.md", "--pattern", "*.rst")
    assert result.stdout.startswith("nest.nest: 1 added, 1 removed · ")
    (docs / "c.md").unlink()
    assert run("sync", "docs", "--allow-empty").stdout.startswith("nest.nest: 2 removed · ")


def test_what_cannot_be_synced_makes_no_nest(run: Run, docs: Path) -> None:
    """No folder, a file, watching a dry run: refused, and nothing is made."""
    assert run("sync", "nothing").exit_code == 4
    assert run("sync", "docs/b.txt").exit_code == 4
    result = run("sync", "docs", "--watch", "--dry-run")
    assert (result.exit_code, "exclude each other" in result.stderr) == (2, True)
    assert not Path("nest.nest").exists()


def test_a_new_nest_takes_sizes(run: Run, docs: Path) -> None:
    """As with `add`."""
    assert run("sync", "docs", "--child-size", "50", "--parent-size", "60").exit_code == 0
    assert json.loads(run("stats", "--json").stdout)["recipe"]["child_size"] == 50


def test_watching_tells_changes_and_errors_once(
    run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What repeats itself is not printed again; errors of a round go to stderr, with --json also to stdout."""
    broken = nestling.Report(failed=[nestling.Failure("docs/x.txt", "this is a binary file; convert it")])
    outcomes = [
        nestling.Report(added=["a.md"], embedded=1),
        nestling.Report(unchanged=["a.md"]),
        nestling.LockedError("nest.nest is locked by another process; try again"),
        nestling.LockedError("nest.nest is locked by another process; try again"),
        broken,
        broken,
        nestling.Report(removed=["a.md"]),
    ]
    monkeypatch.setattr(nestling, "watch", lambda *_, **__: iter(outcomes))
    result = run("sync", "docs", "--watch")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "nest.nest: 1 added · 1 children embedded, 0 reused",
        "nest.nest: 1 failed · 0 children embedded, 0 reused",
        "nest.nest: 1 removed · 0 children embedded, 0 reused",
    ]
    assert result.stderr.splitlines() == [
        "nestling: nest.nest is locked by another process; try again (it is tried again)",
        "nestling: not synced: docs/x.txt: this is a binary file; convert it",
    ]
    lines = [json.loads(line) for line in run("sync", "docs", "--watch", "--json").stdout.splitlines()]
    assert [line.get("error", {}).get("type") for line in lines] == [None, "LockedError", None, None]
