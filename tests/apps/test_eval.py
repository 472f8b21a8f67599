"""``nestling eval``: figures on a terminal, in a pipe, in JSON, in files, and against a baseline."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from commands import CARDS, Run
from test_docs import agree, examples, shape
from test_process import nestling as process
from test_process import on_terminal

import nestling

GOLDEN = (
    {
        "id": "food",
        "question": "can I take it on an empty stomach",
        "relevant": {"stomach": 1},
        "tags": ["dosage"],
    },
    {"id": "days", "question": "when should I see a doctor", "spans": [{"quote": "more than three days"}]},
    {"id": "trinken", "question": "Bei Fieber viel trinken", "must_cite_one_of": ["fieber", "fever"]},
    {"id": "none", "question": "what is no gold"},
    {"id": "zebra", "question": "zebra quagga okapi", "unanswerable": True},
)


@pytest.fixture
def golden(cards: Path) -> str:
    """Questions about the cards, beside their nest."""
    Path("golden.jsonl").write_text("\n".join(map(json.dumps, GOLDEN)), "utf-8")
    return "golden.jsonl"


def test_a_line_a_figure_in_a_pipe(run: Run, golden: str) -> None:
    """Tab-separated: name, tag, n, mean, and both ends of the interval."""
    result = run("eval", golden)
    assert result.exit_code == 0, result.stderr
    lines = {tuple(line.split("\t")[:2]): line.split("\t")[2:] for line in result.stdout.splitlines()}
    assert lines["document/hit@1", ""][:2] == ["3", "1.0"]
    assert lines["document/hit@1", "dosage"] == ["1", "1.0", *lines["document/hit@1", "dosage"][2:]]
    assert lines["evidence recall@500", ""][:2] == ["1", "1.0"]
    assert ("tokens@4000", "") in lines
    assert result.stderr == ""


def test_json_is_as_documented(run: Run, golden: str) -> None:
    """Its names are those of docs/json.md, and `--out` writes the same but for the clock."""
    result = run("eval", golden, "--json", "-k", "2", "--budget", "300", "--out", "result.json")
    value = json.loads(result.stdout)
    documented: dict[str, Any] = examples("eval")[0]
    for names in (documented, value):
        names["recipe"] = "free"
        for question in names["questions"]:
            question["figures"] = question["tokens"] = "free"
    assert agree(shape(documented), shape(value))
    written = nestling.Evaluation.read("result.json")
    assert (written.settings["k"], written.settings["budgets"]) == ([2], [300])
    assert [each.id for each in written.questions] == ["food", "days", "trinken", "zebra"]


def test_html(run: Run, golden: str) -> None:
    """The page is written, and says what it is about."""
    assert run("eval", golden, "--html", "report.html").exit_code == 0
    text = Path("report.html").read_text("utf-8")
    assert "nest.nest on golden.jsonl" in text
    assert text.count("<svg") >= 5


def test_gate_filter_and_limit_are_passed_on(run: Run, golden: str) -> None:
    """Options reach the evaluation."""
    options = ("--min-coverage", "0.9", "--min-similarity", "0.1", "--where", "lang=en", "--limit", "2")
    value = json.loads(run("eval", golden, "--json", *options).stdout)
    assert value["settings"]["min_coverage"] == 0.9
    assert value["settings"]["min_similarity"] == 0.1
    assert value["settings"]["where"] == {"lang": "en"}
    assert [each["id"] for each in value["questions"]] == ["food", "trinken"]


def test_add_brings_the_documents(run: Run, tmp_path: Path) -> None:
    """With --add a folder of documents and questions needs no nest before."""
    folder = tmp_path / "faq"
    folder.mkdir()
    (folder / "corpus.jsonl").write_text(
        "\n".join(json.dumps({"_id": d.id, "text": d.text}) for d in CARDS[:3])
    )
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "empty stomach"}))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\tstomach\t1\n")
    assert run("eval", "faq").exit_code == 4
    value = json.loads(run("eval", "faq", "--add", "--json").stdout)
    assert value["questions"][0]["figures"]["document/MRR"] == 1.0
    assert json.loads(run("stats", "--json").stdout)["documents"] == 3


def test_a_regression_ends_with_1(run: Run, golden: str) -> None:
    """A figure that really fell is named; one that did not, or is allowed to, is not."""
    path = Path("many.jsonl")
    path.write_text("\n".join(json.dumps({**GOLDEN[0], "id": str(n)}) for n in range(8)))
    assert run("eval", str(path), "--out", "before.json").exit_code == 0
    limits = ("--baseline", "before.json", "--fail-under", "document/hit@1=0.1")
    result = run("eval", str(path), *limits)
    assert (result.exit_code, result.stderr) == (0, "")
    with nestling.open("nest.nest") as nest:
        nest.add(nestling.Document("stomach", "Nothing of what is asked.", "Other"))
    result = run("eval", str(path), *limits, "--out", "after.json")
    assert result.exit_code == 1
    assert result.stderr.startswith("nestling: document/hit@1 fell from 100.0 to 0.0")
    assert Path("after.json").exists()
    assert (
        run("eval", str(path), "--baseline", "before.json", "--fail-under", "document/hit@1=1").exit_code == 0
    )


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["nothing.jsonl"], 4, "there is no file or folder nothing.jsonl"),
        (["broken.jsonl"], 3, "line 1: not JSON"),
        (["stale.jsonl"], 3, "line 1: the nest holds no document or passage 'gone'"),
        (["golden.jsonl", "--out", "no/folder.json"], 4, "its folder does not exist"),
        (["golden.jsonl", "--html", "."], 3, "cannot be written"),
        (["golden.jsonl", "-k", "0"], 3, "k holds 0"),
        (["golden.jsonl", "--limit", "0"], 2, "--limit"),
        (["golden.jsonl", "--add"], 3, "add those with `nestling add PATH`"),
        (["golden.jsonl", "--baseline", "golden.jsonl"], 2, "give both"),
        (["golden.jsonl", "--fail-under", "MRR=1"], 2, "give both"),
        (["golden.jsonl", "--baseline", "x", "--fail-under", "MRR"], 2, "write FIGURE=DROP"),
        (["golden.jsonl", "--baseline", "x", "--fail-under", "MRR=0"], 4, "there is no file x"),
        (["golden.jsonl", "--baseline", "golden.jsonl", "--fail-under", "MRR=0"], 3, "golden.jsonl"),
    ],
)
def test_what_cannot_be_done(run: Run, golden: str, arguments: list[str], code: int, told: str) -> None:
    """Mistakes end with their code and one line, before anything is asked."""
    Path("broken.jsonl").write_text("{")
    Path("stale.jsonl").write_text('{"question": "?", "relevant": {"gone": 1}}')
    result = run("eval", *arguments)
    assert (result.exit_code, result.stdout if code != 3 else "") == (code, "")
    assert told in result.stderr
    assert result.stderr.count("\n") == 1


def test_with_the_built_in_model(tmp_path: Path) -> None:
    """From nothing to figures, as a user does it; on a terminal in tables, with the worst question."""
    lines = [{"id": d.id, "title": d.title, "text": d.text} for d in CARDS[:3]]
    (tmp_path / "cards.jsonl").write_text("\n".join(map(json.dumps, lines)))
    wrong = {"id": "bad", "question": "fever and a doctor", "relevant": {"stomach": 1}}
    (tmp_path / "golden.jsonl").write_text("\n".join(map(json.dumps, [*GOLDEN, wrong])))
    assert process(tmp_path, "add", "cards.jsonl").returncode == 0
    text = click.unstyle(on_terminal(tmp_path, "eval", "golden.jsonl", "--min-similarity", "0.2"))
    for told in ("nest.nest: 5 questions of golden.jsonl", "documents", "@10", "500 tokens", "gate recall"):
        assert told in text, told
    assert "1 questions were not counted" in text
    assert "bad: fever and a doctor" in text
    assert re.search(r"latency p50 +\d+ ms", text)
