"""``--scope``: every command that opens a nest is held by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Run

import nestling

COMMANDS = {
    "add": ["add", "new.md"],
    "sync": ["sync", "folder"],
    "remove": ["remove", "g.md"],
    "search": ["search", "sells"],
    "context": ["context", "sells"],
    "show": ["show", "g.md"],
    "list": ["list"],
    "stats": ["stats"],
    "eval": ["eval", "golden.jsonl"],
    "compare": ["compare", "nest.nest", "nest.nest", "--golden", "golden.jsonl"],
    "editions": ["editions"],
    "check": ["check"],
    "rebuild": ["rebuild", "--child-size", "100"],
    "switch": ["switch", "1"],
    "prune": ["prune"],
}
REFUSED = {"check", "rebuild", "switch", "prune"}


@pytest.fixture
def tenants(run: Run) -> Path:
    """A nest of two tenants, and files for the commands."""
    with nestling.open("nest.nest", create=True) as nest:
        nest.scope(tenant="acme").add(nestling.Document("a.md", "Acme sells apples."))
        nest.scope(tenant="globex").add(nestling.Document("g.md", "Globex sells grapes."))
    Path("new.md").write_text("New text.")
    Path("folder").mkdir()
    Path("folder", "b.txt").write_text("Another text.")
    question = {"id": "q", "question": "what is sold?", "relevant": {"a.md": 1}}
    Path("golden.jsonl").write_text(json.dumps(question))
    return Path("nest.nest")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_held(run: Run, tenants: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Nothing of another tenant is printed or changed, by the option or by the environment."""
    for extra in (["--scope", "tenant=acme"], []):
        if not extra:
            monkeypatch.setenv("NESTLING_SCOPE", "tenant=acme")
        result = run(*COMMANDS[name], *extra)
        assert "lobex" not in result.output.replace("g.md", "")
        assert "rapes" not in result.output
        if name in REFUSED:
            assert result.exit_code == 5
            assert "the scope of tenant='acme'" in result.stderr
        else:
            assert result.exit_code in (0, 4), result.output
    monkeypatch.delenv("NESTLING_SCOPE")
    with nestling.open(tenants) as nest:
        assert [info.id for info in nest.scope(tenant="globex").list()] == ["g.md"]
        assert all(info.metadata["tenant"] in ("acme", "globex") for info in nest.list())


def test_forms_of_a_scope(run: Run, tenants: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several keys, JSON, values with blanks, and what contradicts or is none."""
    with nestling.open(tenants) as nest:
        nest.scope(tenant="Acme Corp", year=2020).add(nestling.Document("c.md", "cherries"))
    for given in (
        ["--scope", "tenant=Acme Corp"],
        ["--scope", '{"tenant": "Acme Corp", "year": 2020}'],
        ["--scope", "tenant=Acme Corp", "--scope", "year=2020"],
    ):
        assert run("list", *given).stdout.split("\t")[0].endswith("c.md")
    monkeypatch.setenv("NESTLING_SCOPE", "tenant=Acme Corp")
    assert "«year=2020»c.md" in run("list").stdout
    assert run("list", "--scope", 'year="2020"').stdout == ""
    monkeypatch.setenv("NESTLING_SCOPE", "acme")
    assert "neither KEY=VALUE" in run("list").stderr
    for wrong in (["a=1", "a=2"], ["{}"], ["[1]"], ["a=null"], ['{"a": [1]}'], [""]):
        result = run("list", *(part for text in wrong for part in ("--scope", text)))
        assert result.exit_code == 3, wrong
