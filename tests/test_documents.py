"""The documents: their examples run, their links lead somewhere, and nothing public is missing from them."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from fnmatch import fnmatch
from pathlib import Path

import pytest
from opentelemetry import trace

import nestling

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


EXAMPLES = {
    f"{page.name}-{n}": code
    for page in PAGES
    for n, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL))
}


@pytest.mark.parametrize("code", EXAMPLES.values(), ids=EXAMPLES.keys())
def test_python_examples_run(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each example works as it stands, with the built-in model, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    # what is set there stays for the life of a process, and would collect the spans of all further tests
    monkeypatch.setattr(trace, "set_tracer_provider", lambda provider: None)
    exec(compile(code, "example", "exec"), {"__name__": "example"})


def test_the_readmes_commands_run(tmp_path: Path) -> None:
    """The commands of the first minute work one after the other, and print what was asked for."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "dosage.md").write_text("# Dosage\n\nNever on an empty stomach.\n", "utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    commands = re.findall(r"^\$ nestling (.*?)(?:  +#.*)?$", readme, re.MULTILINE)
    assert len(commands) >= 3
    for command in commands:
        script = f'"{sys.executable}" -m nestling {command}'
        done = subprocess.run(script, shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)
        if not command.startswith("add"):
            assert "empty stomach" in done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link is a file of the project."""
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


def test_files_that_are_named_exist() -> None:
    """A module, test or script that the documents name is there."""
    for page in PAGES:
        for name in re.findall(r"`((?:tests|scripts|benchmarks)/[\w/]+\.py)`", page.read_text("utf-8")):
            assert (ROOT / name).exists(), f"{page.name}: {name}"


def test_contributors_are_told_of_every_module() -> None:
    """The table of what to open names each module, and no other."""
    table = (ROOT / "CONTRIBUTING.md").read_text("utf-8").split("\n| to change |")[1].split("\n\n")[0]
    named = {name.split("/")[-1] for name in re.findall(r"`(?!tests/|benchmarks/)([\w/*]+\.py)`", table)}
    modules = {path.name for path in (ROOT / "src").rglob("*.py")} - {"__main__.py"}
    assert {name for name in modules if not any(fnmatch(name, each) for each in named)} == set()
    assert {each for each in named if not any(fnmatch(name, each) for name in modules)} == set()


def test_make_targets_that_are_named_exist() -> None:
    """Every ``make x`` in the documents is a target."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"(?:`|\$ )make ([a-z-]+)", page.read_text("utf-8")))
        assert named <= targets, page.name


def test_every_setting_is_documented() -> None:
    """Each field of the recipe and each variable of the environment has its line in the design."""
    design = (ROOT / "docs" / "design.md").read_text("utf-8")
    source = "".join(file.read_text("utf-8") for file in (ROOT / "src").rglob("*.py"))
    for field in fields(nestling.Recipe):
        assert re.search(rf"`Recipe\.{field.name}` \| `?{field.default}`? ", design)
    for variable in set(re.findall(r"\bNESTLING_[A-Z_]+\b", source)):
        assert f"`{variable}`" in design


def test_every_error_is_explained_to_users() -> None:
    """Errors of the store are in the page on durability, all of them in the drawing of the tree."""
    durability = (ROOT / "docs" / "durability.md").read_text("utf-8")
    for name in nestling.__all__:
        value = getattr(nestling, name)
        if (
            isinstance(value, type)
            and issubclass(value, nestling.StoreError)
            and value is not nestling.StoreError
        ):
            assert f"`{name}`" in durability
