"""The pages of the command line say what it does."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from commands import Run

from nestling.apps import wire
from nestling.apps.cli import main

ROOT = Path(__file__).parents[2]
# objects whose names are the user's, not ours
FREE = {"metadata", "languages", "votes", "dropped", "reranked", "figures", "tokens"}

COMMANDS = {
    "search": ["search", "topic2"],
    "context": ["context", "topic2"],
    "ask": ["ask", "topic2"],
    "verify": ["verify", "answer.txt"],
    "show": ["show", "manual.md"],
    "list": ["list"],
    "add": ["add", "a.txt", "nothing.txt"],
    "sync": ["sync", "folder"],
    "remove": ["remove", "nothing"],
    "stats": ["stats"],
    "check": ["check"],
    "backup": ["backup", "copy.nest"],
    "export": ["export", "lines.jsonl"],
    "keys add": ["keys", "add", "web", "--rights", "read"],
    "keys list": ["keys", "list"],
    "keys remove": ["keys", "remove", "web"],
    "errors": ["list", "--where", "broken"],
}


def commands(group: click.Group) -> list[tuple[str, ...]]:
    """The words of every command, also of those in groups."""
    found: list[tuple[str, ...]] = []
    for name, command in group.commands.items():
        inner = commands(command) if isinstance(command, click.Group) else [()]
        found += [(name, *words) for words in inner]
    return found


def examples(section: str) -> list[Any]:
    """The JSON examples of a section of docs/json.md."""
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    text = page.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]


def shape(value: Any) -> Any:
    """The names in a JSON value, with what is under them; lists by their first item, if they have one."""
    if isinstance(value, dict):
        return {key: "free" if key in FREE else shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value and isinstance(value[0], dict) else []
    return "value"


def agree(documented: Any, produced: Any) -> bool:
    """Whether two shapes have the same names; a list that is empty in one of them says nothing."""
    if isinstance(documented, dict) and isinstance(produced, dict):
        return documented.keys() == produced.keys() and all(
            agree(documented[key], produced[key]) for key in documented
        )
    if isinstance(documented, list) and isinstance(produced, list):
        return not documented or not produced or agree(documented[0], produced[0])
    return bool(documented == produced)


@pytest.mark.parametrize("section", COMMANDS)
def test_json_page_has_the_names_that_are_produced(run: Run, manual: str, section: str) -> None:
    """Every example has exactly the names, in the order, of what the command prints."""
    Path("a.txt").write_text("A text.")
    Path("folder").mkdir()
    Path("folder", "b.txt").write_text("Another text.")
    if section.startswith("keys") and section != "keys add":
        run(*COMMANDS["keys add"])
    Path("answer.txt").write_text("A sentence about topic2 and the rest of it [cite:manual.md].")
    produced = json.loads(run(*COMMANDS[section], "--json").stdout)
    documented = examples(section)[0]
    assert list(documented) == list(produced)
    assert agree(shape(documented), shape(produced)), (shape(documented), shape(produced))


def test_json_page_has_the_names_of_an_explanation(run: Run, manual: str) -> None:
    """The explanation, its votes, and an interrupted add are as documented."""
    produced = json.loads(run("search", "topic2", "--explain", "--json").stdout)
    documented = examples("search")[1]
    assert agree(shape(documented), shape(produced))
    vote = documented["explanation"]["votes"]["dosage.md§3"][0]
    assert vote.keys() == next(iter(produced["explanation"]["votes"].values()))[0].keys()


def test_json_page_has_the_names_of_a_repair(run: Run, manual: str) -> None:
    """What check answers with --repair is as documented."""
    produced = json.loads(run("check", "--repair", "--json").stdout)
    assert list(examples("check")[1]) == list(produced)


def test_json_page_has_a_section_for_every_command() -> None:
    """No command is left out."""
    page = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    names = {" ".join(words) for words in commands(main)}
    assert set(re.findall(r"^## (\w+(?: \w+)?)$", page, re.MULTILINE)) == {*names, "errors"}


def test_json_cannot_steer_a_terminal() -> None:
    """Controls are escaped in both forms of the output, and the value is the same when read back."""
    value = {"a": "\x1b[1m\x7f\x9b\u202e é 中"}
    for ascii_only in (False, True):
        text = wire.dumps(value, ascii_only)
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
        assert json.loads(text) == value


def test_cli_page_is_up_to_date() -> None:
    """docs/cli.md is what scripts/cli_reference.py makes of the commands."""
    script = [sys.executable, str(ROOT / "scripts" / "cli_reference.py"), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", commands(main), ids=" ".join)
def test_help_has_an_example(run: Run, words: tuple[str, ...]) -> None:
    """Every command explains itself and gives an example that can be read by it."""
    text = run(*words, "--help").stdout
    assert f"Example: nestling {' '.join(words)}" in text
    assert "--json" in text
