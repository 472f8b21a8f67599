"""The commands on editions."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import CARDS, Run

import nestling
from nestling.apps import editions
from wordhash import WordHash

GOLDEN = [
    {"id": "food", "question": "with food or on an empty stomach?", "relevant": {"stomach": 1}},
    {"id": "long", "question": "how long may a fever last?", "relevant": {"fever": 1}},
]


@pytest.fixture
def golden(run: Run) -> str:
    """A file of questions in the folder of the commands."""
    Path("golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in GOLDEN), "utf-8")
    return "golden.jsonl"


def lines(run: Run) -> list[list[str]]:
    """What `editions` prints: number, state, documents, children, sizes, embedder."""
    return [text.split("\t")[:6] for text in run("editions").stdout.splitlines()]


def test_rebuild_switch_rollback_and_prune(run: Run, cards: Path) -> None:
    """The whole way, as it is told on the terminal."""
    done = run("rebuild", "--child-size", "20", "--parent-size", "60")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("nest.nest: 4 documents indexed")
    assert done.stdout.endswith("switched from edition 1 to edition 2\n")
    first, second = lines(run)
    assert first == ["1", "retired", "4", "4", "400/1600", "wordhash-64"]
    assert (second[:3], second[4:]) == (["2", "live", "4"], ["20/60", "wordhash-64"])
    assert run("rollback").stdout == "nest.nest: edition 1 is live\n"
    assert run("switch", "2").stdout == "nest.nest: edition 2 is live\n"
    assert run("prune").stdout == "nest.nest: 1 editions removed: 1\n"
    assert [row[0] for row in lines(run)] == ["2"]
    assert run("rollback").exit_code == 4
    assert run("switch", "7").exit_code == 4


def test_sizes_that_are_not_given_stay(run: Run, cards: Path) -> None:
    """Only what is named is changed."""
    assert run("rebuild", "--child-size", "200").exit_code == 0
    assert run("rebuild", "--overlap", "10").exit_code == 0
    with nestling.open("nest.nest") as nest:
        assert nest.recipe == nestling.Recipe(child_size=200, overlap=10)


def test_a_file_of_settings(run: Run, cards: Path) -> None:
    """What `tune --out` wrote gives the sizes, and the weights once it is live."""
    settings = {"recipe": {"child_size": 50}, "scoring": {"dense": 0.5}}
    Path("tuned.json").write_text(json.dumps(settings))
    assert run("rebuild", "--recipe", "tuned.json", "--child-size", "9").exit_code == 2
    assert run("rebuild", "--recipe", "tuned.json", "--no-switch").exit_code == 0
    with nestling.open("nest.nest") as nest:
        assert nest.scoring == nestling.Scoring()
    assert run("rebuild", "--recipe", "tuned.json").exit_code == 0
    with nestling.open("nest.nest") as nest:
        assert (nest.recipe.child_size, nest.scoring.dense) == (50, 0.5)


def test_the_gate_ends_with_1(run: Run, cards: Path, golden: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where questions find clearly less, the table says so, the old one stays live, and the command tells."""
    done = run("rebuild", "--child-size", "20", "--golden", golden, "--allowed-loss", "0.5")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("document/nDCG@10\t")
    rebuild = nestling.Nest.rebuild

    def worse(nest: nestling.Nest, *arguments: object, **options: object) -> nestling.Rebuilt:
        done = rebuild(nest, nestling.Recipe(30), switch=False)
        return nestling.Rebuilt(done.edition, 4, 0, 4, False, "it was not switched to", ("it fell",))

    monkeypatch.setattr(nestling.Nest, "rebuild", worse)
    assert run("rebuild", "--child-size", "30").exit_code == 1


def test_two_editions_are_compared(run: Run, cards: Path, golden: str) -> None:
    """NEST@N is an edition of a nest, unless a file is called so."""
    run("rebuild", "--child-size", "20", "--no-switch")
    done = run("compare", "nest.nest@1", "nest.nest@2", "--golden", golden, "--json")
    found = json.loads(done.stdout)
    assert found["names"] == ["edition 1", "edition 2"]
    assert found["differing"]["recipe.child_size"] == [400, 20]
    live = json.loads(run("compare", "nest.nest", "nest.nest@2", "--golden", golden, "--json").stdout)
    assert live["names"] == ["live", "edition 2"]
    assert run("compare", "nest.nest@1", "nest.nest@9", "--golden", golden).exit_code == 4
    Path("a@1").write_text("{}")
    assert "no evaluation" in run("compare", "a@1", "nest.nest", "--golden", golden).stderr


def test_json_is_as_documented(run: Run, cards: Path, golden: str) -> None:
    """Each command prints exactly the names of its example."""
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text("utf-8")
    commands = {
        "rebuild": ["rebuild", "--child-size", "20", "--golden", golden, "--allowed-loss", "1"],
        "editions": ["editions"],
        "switch": ["switch", "2"],
        "rollback": ["rollback"],
        "prune": ["prune"],
    }
    for name, command in commands.items():
        produced = json.loads(run(*command, "--json").stdout)
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        documented = json.loads(re.findall(r"```json\n(.*?)```", section, re.DOTALL)[0])
        assert list(documented) == list(produced)
        if name == "editions":
            assert [list(each) for each in documented["editions"]] == [list(produced["editions"][0])]
        if name == "rebuild":
            assert list(documented["comparison"]) == list(produced["comparison"])


def test_the_meter_tells_the_time_left() -> None:
    """From what was done since it began, not from what was there before."""
    meter = editions.Catching()
    texts = [
        meter._text(nestling.Progress(done, 400, done, "x"), seconds)
        for done, seconds in ((100, 1), (200, 10))
    ]
    assert "left" not in texts[0]
    assert texts[1].endswith("200 of 400 documents · 200 children (20/s) · 20 s left")


def test_a_nest_without_its_model_is_built_anew(tmp_path: Path) -> None:
    """Nobody has the old model any more: the command line refuses by naming this command, which then works."""
    path = tmp_path / "old.nest"
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add(CARDS)

    def nestling_(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "nestling", *arguments, "--nest", str(path)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    refused = nestling_("search", "fever")
    assert refused.returncode == 7
    (told,) = re.findall(r"`nestling (rebuild --embedder) SPEC --nest", refused.stderr)
    done = nestling_(*told.split(), "minilm")
    assert done.returncode == 0, done.stderr
    assert "fever" in nestling_("search", "fever").stdout
