"""From golden questions and a nest to an evaluation."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from library import MANUAL, library, parent_of, span, write_lines

import nestling
from nestling import Golden, GoldenQuestion, GoldSpan
from nestling.measure.evidence import merged, shares

QUESTIONS = (
    GoldenQuestion("iron", "iron absorbed on an empty stomach", {"iron": 1}, tags=("cards",)),
    GoldenQuestion("tower", "how is the tower painted", spans=(span("The tower is painted blue."),)),
    GoldenQuestion("any", "take it with food", must_cite_one_of=("ibuprofen", "iron"), tags=("cards", "any")),
    GoldenQuestion("wrong", "the bridge is painted", {"iron": 1}),
    GoldenQuestion("zebra", "zebra quagga okapi", unanswerable=True),
    GoldenQuestion("none", "no gold"),
    GoldenQuestion("zero", "no grade", {"iron": 0}),
)
GOLDEN = Golden(QUESTIONS, "golden")


def evaluated(golden: Golden = GOLDEN, **options: Any) -> nestling.Evaluation:
    """An evaluation of the library."""
    return library().evaluate(golden, **options)


def test_figures_of_each_kind_of_gold() -> None:
    """Each question has the figures that its gold allows, and what they are can be told from the search."""
    found = {each.id: each for each in evaluated(k=(1, 3), budgets=(50, 4000)).questions}
    assert list(found) == ["iron", "tower", "any", "wrong", "zebra"]
    ranked = {"hit@1", "hit@3", "recall@1", "recall@3", "nDCG@1", "nDCG@3", "MRR", "MAP"}
    both = {f"{level}/{name}" for level in ("document", "parent") for name in ranked}
    assert found["iron"].figures.keys() == both
    assert set(found["iron"].figures.values()) == {1.0}
    assert found["any"].figures.keys() == {name for name in both if "hit" in name or "MRR" in name}
    evidence = {f"evidence {name}@{b}" for name in ("recall", "precision", "IoU") for b in (50, 4000)}
    assert found["tower"].figures.keys() == both | evidence | {"evidence recall"}
    assert found["tower"].figures["parent/hit@1"] == 1.0
    assert found["tower"].tokens.keys() == {"50", "4000"}
    assert found["zebra"].figures == {"gate recall": 0.0}
    assert found["wrong"].figures["document/hit@1"] == 0.0
    assert [found["wrong"].found[0].title, found["wrong"].found[0].text[:3]] == ["Manual", "## "]


def test_rankings_are_those_of_the_search() -> None:
    """The reciprocal rank of a document is that of its best passage; of a parent, its own."""
    nest = library()
    parent = parent_of(nest, "bridge is painted")
    question = GoldenQuestion("q", "cleaned every week", {parent: 1})
    found = nest.evaluate(Golden((question,))).questions[0].figures
    passages = [passage.id for passage in nest.search("cleaned every week", 100)]
    documents = list(dict.fromkeys(id.partition("§")[0] for id in passages))
    assert found["parent/MRR"] == pytest.approx(1 / (1 + passages.index(parent)), abs=1e-6)
    assert found["document/MRR"] == pytest.approx(1 / (1 + documents.index("manual.md")), abs=1e-6)


def test_evidence_is_that_of_the_context() -> None:
    """Recall, precision and IoU are those of the pieces of the context at that budget; tokens are its."""
    nest = library()
    question = GoldenQuestion("q", "how is the gate cleaned", spans=(GoldSpan("manual.md", 0, 700),))
    found = nest.evaluate(Golden((question,)), budgets=(100, 300)).questions[0]
    recalls = []
    for budget in (100, 300):
        context = nest.context(question.question, budget)
        expected = shares({"manual.md": [(0, 700)]}, merged(context.pieces))
        recalls.append(expected.recall)
        assert found.tokens[str(budget)] == context.tokens <= budget
        assert found.figures[f"evidence recall@{budget}"] == pytest.approx(expected.recall, abs=1e-6)
        assert found.figures[f"evidence precision@{budget}"] == pytest.approx(expected.precision, abs=1e-6)
        assert found.figures[f"evidence IoU@{budget}"] == pytest.approx(expected.iou, abs=1e-6)
    assert found.figures["evidence recall"] == pytest.approx(sum(recalls) / 2, abs=1e-6)


def test_the_gate() -> None:
    """Precision is over what was refused, recall over what should be; signals are told as without a gate."""
    open_, gated = evaluated(), evaluated(min_coverage=0.9)
    before, after = ({each.id: each for each in found.questions} for found in (open_, gated))
    assert after["zebra"].abstained
    assert not before["zebra"].abstained
    assert after["zebra"].figures == {"gate recall": 1.0, "gate precision": 1.0}
    assert (after["zebra"].found, after["zebra"].coverage) == ((), before["zebra"].coverage)
    refused = [each for each in after.values() if each.abstained]
    precision, recall = gated.figure("gate precision"), gated.figure("gate recall")
    assert precision is not None
    assert recall is not None
    assert (precision.n, precision.mean) == (len(refused), pytest.approx(1 / len(refused), abs=1e-6))
    assert (recall.n, recall.mean) == (1, 1.0)
    for each in refused:
        if each.answerable:
            assert set(each.figures.values()) == {0.0}
    assert all(after[id].similarity == before[id].similarity for id in after)


def test_tags_and_what_was_skipped() -> None:
    """A question counts under each of its tags; one without gold is told, and counts nowhere."""
    found = evaluated()
    assert {(row.tag, row.n) for row in found.summary if row.figure == "latency p50"} == {
        (None, 5),
        ("any", 1),
        ("cards", 2),
    }
    assert [skipped.id for skipped in found.skipped] == ["none", "zero"]
    assert "no gold" in found.skipped[0].reason
    assert "grade above 0" in found.skipped[1].reason


def test_filters_join() -> None:
    """A question's filter holds together with that of the evaluation."""
    golden = Golden((GoldenQuestion("q", "empty stomach", {"iron": 1}, where={"year": {"$gte": 2000}}),))
    assert [p.id for p in evaluated(golden).questions[0].found][:2] == ["iron", "ibuprofen"]
    found = evaluated(golden, where={"year": 2024}).questions[0]
    assert "iron" not in [p.id for p in found.found]
    assert found.figures["document/hit@10"] == 0.0


def test_worst_questions() -> None:
    """The lowest come first; those that are right are not among them."""
    found = evaluated()
    assert next(each.id for each in found.worst(2)) == "wrong"
    assert "iron" not in [each.id for each in found.worst(99)]
    assert found.worst(0) == []
    tower = next(each for each in found.questions if each.id == "tower")
    assert tower.headline == ("evidence recall", tower.figures["evidence recall"])
    assert found.questions[0].headline == ("document/nDCG@10", 1.0)
    assert found.questions[2].headline == ("document/MRR", 1.0)
    assert found.questions[4].headline is None


def test_progress_and_path(tmp_path: Path) -> None:
    """Golden questions may be a path; progress is told after each question."""
    path = write_lines(
        tmp_path / "golden.jsonl", *({"question": "?", "relevant": {"iron": 1}} for _ in "abc")
    )
    told: list[tuple[int, int]] = []
    found = library().evaluate(path, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert found.settings["golden"] == str(path)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"k": (0,)}, nestling.SettingError),
        ({"k": (True,)}, nestling.SettingError),
        ({"budgets": (0,)}, nestling.SettingError),
        ({"budgets": (1.5,)}, nestling.SettingError),
        ({"min_coverage": 2}, nestling.SettingError),
        ({"where": {"$x": 1}}, nestling.FilterError),
        ({"golden": Golden(QUESTIONS[-2:])}, nestling.DocumentError),
        ({"golden": Golden(())}, nestling.DocumentError),
    ],
)
def test_what_cannot_be_measured(options: dict[str, Any], error: type[Exception]) -> None:
    """Numbers out of range, a broken filter, and questions of which none has gold are refused."""
    with pytest.raises(error, match=";"):
        evaluated(**options)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The missing package is told before anything is searched."""
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    monkeypatch.setattr(nestling.Nest, "search", None)
    with pytest.raises(nestling.MissingExtraError, match=r"nestling\[eval\]"):
        evaluated()


def test_searching_loads_nothing_of_it() -> None:
    """Measuring is imported when it is asked for."""
    import subprocess

    script = "import sys, nestling.nest; print([m for m in sys.modules if 'measure' in m])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_json_and_back(tmp_path: Path) -> None:
    """An evaluation survives JSON, whose names are those of docs/measuring.md."""
    found = evaluated(min_coverage=0.5)
    value = found.to_json()
    path = tmp_path / "result.json"
    path.write_text(json.dumps(value, allow_nan=False), "utf-8")
    assert nestling.Evaluation.read(path) == nestling.Evaluation.from_json(value) == found
    assert list(value) == [
        "nestling",
        "nest",
        "recipe",
        "embedder",
        "settings",
        "skipped",
        "questions",
        "summary",
    ]
    names = "id question tags answerable figures similarity coverage abstained found seconds tokens"
    assert list(value["questions"][0]) == names.split()
    assert list(value["questions"][0]["found"][0]) == ["id", "title", "text"]
    assert list(value["summary"][0]) == ["figure", "n", "mean", "low", "high", "tag"]
    assert value["skipped"][0].keys() == {"id", "reason"}


def test_what_is_no_evaluation(tmp_path: Path) -> None:
    """Other JSON, and files that are none, are refused with what to give."""
    for value in ({}, {**evaluated().to_json(), "questions": [{}]}, {**evaluated().to_json(), "summary": 3}):
        with pytest.raises(nestling.InputError, match="nestling eval"):
            nestling.Evaluation.from_json(value)
    with pytest.raises(nestling.NotFoundError):
        nestling.Evaluation.read(tmp_path / "nothing.json")


def test_deterministic_but_for_the_clock() -> None:
    """The same questions of the same nest give the same figures and intervals."""

    def timeless(found: nestling.Evaluation) -> Any:
        rows = [row for row in found.summary if not row.figure.startswith("latency")]
        return rows, [(each.figures, each.found, each.tokens) for each in found.questions]

    assert timeless(evaluated()) == timeless(evaluated())


def test_text_of_what_was_found_is_short() -> None:
    """At most five passages of eighty characters are kept."""
    nest = library()
    nest.add([nestling.Document(f"m{i}", MANUAL, "Again") for i in range(3)])
    found = nest.evaluate(Golden((GoldenQuestion("q", "gate bridge tower", {"m1": 1}),))).questions[0]
    assert len(found.found) == 5
    assert {len(passage.text) for passage in found.found} == {80}
