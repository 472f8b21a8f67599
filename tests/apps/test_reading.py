"""The commands that only read: search, context, show, list, stats, check."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from commands import CARDS, EVIL, Run


def test_search_prints_name_marker_figures_and_text(run: Run, cards: Path) -> None:
    """A passage is shown with its title, cite marker, scores and text, and no colour in a pipe."""
    result = run("search", "empty", "stomach", "-k", "1")
    assert result.exit_code == 0
    assert result.stdout.startswith("1. Dosage\n   [cite:stomach]  score 1.00 · similarity ")
    assert "Take it with food, never on an empty stomach." in result.stdout
    assert "\x1b" not in result.stdout
    assert result.stderr == ""


def test_search_json_is_the_passages(run: Run, cards: Path) -> None:
    """With --json the passages come with ids as given and evidence that points into the text."""
    answer = json.loads(run("search", "empty stomach", "--json").stdout)
    assert answer["query"] == "empty stomach"
    first = answer["passages"][0]
    assert first["id"] == first["document_id"] == "stomach"
    assert first["metadata"] == {"lang": "en", "year": 2023}
    evidence = first["evidence"][0]
    assert first["text"][evidence["start"] : evidence["end"]] == CARDS[0].text


def test_search_k_and_offset(run: Run, cards: Path) -> None:
    """Pages follow each other without repeats, and are numbered on."""
    ids = [p["id"] for p in json.loads(run("search", "fever food", "-k", "4", "--json").stdout)["passages"]]
    page = [
        p["id"]
        for p in json.loads(run("search", "fever food", "-k", "2", "--offset", "2", "--json").stdout)[
            "passages"
        ]
    ]
    assert len(ids) == 4
    assert page == ids[2:]
    assert run("search", "fever food", "-k", "2", "--offset", "2").stdout.startswith("3. ")


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        (["lang=de"], {"fieber"}),
        (["year=2023"], {"stomach"}),
        (['year="2023"'], set()),
        (['{"year": {"$lt": 2020}}'], {"fieber"}),
        (["lang=en", '{"year": {"$exists": true}}'], {"stomach"}),
    ],
)
def test_where_takes_pairs_and_json(run: Run, cards: Path, filters: list[str], ids: set[str]) -> None:
    """--where is KEY=VALUE with JSON scalars, or a JSON object; several must all hold."""
    options = [part for text in filters for part in ("--where", text)]
    found = json.loads(run("list", *options, "--json").stdout)["documents"]
    assert {document["id"] for document in found} == ids
    found = json.loads(run("search", "fever", *options, "--json").stdout)["passages"]
    assert {passage["document_id"] for passage in found} == ids


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("lang", "KEY=VALUE"),
        ("{lang: de}", "not JSON"),
        ('{"lang": {"$is": "de"}}', "'$is' of lang is not an operator"),
        ('{"lang": ["de"]}', "$in"),
    ],
)
def test_where_that_is_no_filter(run: Run, cards: Path, text: str, named: str) -> None:
    """A filter that cannot be used is named with what to write instead, and ends with 3."""
    result = run("search", "fever", "--where", text)
    assert result.exit_code == 3
    assert result.stdout == ""
    assert result.stderr.startswith("nestling: ")
    assert named in result.stderr


def test_gate_tells_why_nothing_is_shown(run: Run, cards: Path) -> None:
    """Where no passage reaches what was asked, the answer says which figure fell short, and ends with 0."""
    result = run("search", "zebra", "--min-coverage", "1")
    assert result.exit_code == 0
    assert "below min_coverage 1" in result.stdout
    answer = json.loads(run("search", "zebra", "--min-coverage", "1", "--json").stdout)
    assert answer["passages"] == []
    assert "below min_coverage 1" in answer["abstained"]


def test_explain(run: Run, cards: Path) -> None:
    """--explain tells the terms, the channels and what each list gave."""
    text = run("search", "empty stomach", "--explain").stdout
    assert "channels: dense, lexical" in text
    assert "  child    lexical rank   1" in text
    explanation = json.loads(run("search", "empty stomach", "--explain", "--json").stdout)["explanation"]
    assert explanation["votes"]["stomach"][0].keys() == {"level", "channel", "rank", "score", "vote", "weight"}


def test_context_prints_what_fits(run: Run, manual: str) -> None:
    """Context is the text for a prompt, within the budget, with markers; --json adds the spans."""
    result = run("context", "topic2", "--budget", "150")
    assert result.exit_code == 0
    assert "[cite:manual.md§" in result.stdout
    packed = json.loads(run("context", "topic2", "--budget", "150", "--shape", "window", "--json").stdout)
    assert packed["tokens"] <= packed["budget"] == 150
    assert packed["pieces"][0].keys() == {"document_id", "start", "end"}
    assert any("topic2" in manual[piece["start"] : piece["end"]] for piece in packed["pieces"])


def test_context_of_nothing(run: Run, cards: Path) -> None:
    """Where nothing is to be shown stdout stays empty, so that no apology gets into a prompt."""
    result = run("context", "zebra", "--min-coverage", "1")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "below min_coverage 1" in result.stderr


def test_show_prints_stored_text_exactly(run: Run, cards: Path, manual: str) -> None:
    """In a pipe a document comes out character for character, and a passage is its span of it."""
    assert run("show", "manual.md").stdout == manual
    assert run("show", "evil").stdout_bytes == EVIL.encode()
    tree = json.loads(run("show", "manual.md§2", "--json").stdout)
    assert run("show", "manual.md§2").stdout == manual[tree["start"] : tree["end"]]
    assert tree["document"]["text"] == manual
    assert tree["parents"][1]["start"] == tree["start"]


def test_show_tree(run: Run, manual: str) -> None:
    """--tree shows every parent and child with its span and first words."""
    tree = json.loads(run("show", "manual.md", "--json").stdout)
    text = run("show", "manual.md", "--tree").stdout
    children = sum(len(parent["children"]) for parent in tree["parents"])
    assert len(tree["parents"]) > 3
    assert len(text.splitlines()) == 2 + len(tree["parents"]) + children
    assert f"└─ manual.md§{len(tree['parents'])}  [" in text
    assert "Sentence about topic3" in text


def test_list_is_tab_separated_in_a_pipe(run: Run, cards: Path) -> None:
    """In a pipe each document is a line of tab-separated cells, by id."""
    rows = [line.split("\t") for line in run("list").stdout.splitlines()]
    assert [row[0] for row in rows] == ["evil", "fever", "fieber", "stomach"]
    assert rows[3] == ["stomach", "Dosage", rows[3][2], str(len(CARDS[0].text)), "1", "1"]


def test_stats(run: Run, cards: Path) -> None:
    """Stats count what is there and name the nest and its model."""
    counts = json.loads(run("stats", "--json").stdout)
    assert (counts["nest"], counts["documents"], counts["embedder"]) == ("nest.nest", 4, "wordhash-64")
    lines = run("stats").stdout.splitlines()
    assert lines[0].split() == ["nest", "nest.nest"]
    assert ["documents", "4"] in [line.split() for line in lines]


def test_check_of_a_sound_nest(run: Run, cards: Path) -> None:
    """A sound nest is called sound and ends with 0."""
    assert run("check").stdout == "nest.nest is sound\n"
    assert json.loads(run("check", "--json").stdout) == {"nest": "nest.nest", "ok": True, "damage": []}


def test_check_of_a_damaged_nest(run: Run, cards: Path) -> None:
    """Damage is told a sentence a line and ends with 1, also with --json."""
    with sqlite3.connect(cards) as db:
        db.execute("DELETE FROM child_vectors WHERE row = 2")
    db.close()
    result = run("check")
    assert result.exit_code == 1
    assert "no vector of child row 2" in result.stdout
    result = run("check", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["ok"] is False


@pytest.mark.parametrize(
    "command", [["search", "x"], ["context", "x"], ["show", "a"], ["list"], ["stats"], ["check"]]
)
def test_reading_makes_nothing(run: Run, tmp_path: Path, command: list[str]) -> None:
    """A nest that does not exist is not made by reading; the answer is 4."""
    result = run(*command, "--nest", "none.nest")
    assert result.exit_code == 4
    assert "there is no nest at none.nest" in result.stderr
    assert list(tmp_path.iterdir()) == []
