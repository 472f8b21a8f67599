"""A command line on a fast embedder, and a nest to use it on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from commands import CARDS, Run

import nestling
from nestling.apps.cli import main
from wordhash import WordHash


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in an empty folder, with the fast embedder in place of the built-in model."""
    opened = nestling.open

    def with_word_hash(path: Any, **options: Any) -> nestling.Nest:
        options.setdefault("embedder", None)
        return opened(path, **{**options, "embedder": options["embedder"] or WordHash()})

    monkeypatch.setattr(nestling, "open", with_word_hash)
    monkeypatch.delenv("NESTLING_NEST", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, **options: Any) -> Result:
        return CliRunner().invoke(main, list(arguments), prog_name="nestling", **options)

    return run


@pytest.fixture
def cards(run: Run) -> Path:
    """``nest.nest`` in the folder of the commands, with four short documents."""
    with nestling.open("nest.nest", create=True) as nest:
        nest.add(CARDS)
    return Path("nest.nest")


@pytest.fixture
def manual(run: Run) -> str:
    """A document of several parents in ``nest.nest``; its text."""
    sections = "".join(
        f"## Part {n}\n\n" + f"Sentence about topic{n} and the rest of it. " * 60 + "\n\n" for n in range(4)
    )
    text = f"# Manual\n\n{sections}"
    with nestling.open("nest.nest", create=True) as nest:
        nest.add(nestling.Document("manual.md", text, "Manual", source="manual.md"))
    return text
