"""`nestling keys`: what is said where there are none."""

from __future__ import annotations

from pathlib import Path

from commands import Run


def test_no_keys_is_said(run: Run, cards: Path) -> None:
    """An empty list tells who is served; of a nest that is not there it is an error, and makes no file."""
    none = run("keys", "list", "--nest", "nest.nest")
    assert (none.exit_code, none.stdout) == (0, "")
    assert "no key to nest.nest: anyone on this machine is served" in none.stderr
    assert run("keys", "add", "web", "--nest", "nest.nest").exit_code == 0
    assert run("keys", "remove", "web", "--nest", "nest.nest").exit_code == 0
    assert "no key to nest.nest: nobody is served" in run("keys", "list", "--nest", "nest.nest").stderr
    typo = run("keys", "list", "--nest", "typo.nest")
    assert typo.exit_code != 0
    assert "there is no nest at typo.nest" in typo.stderr
    assert not list(Path().glob("typo*"))
