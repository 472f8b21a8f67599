"""Measuring in a browser: a golden file, its plots, and two editions question by question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nestling
from chromium import needed
from pages import Visit
from served import Served

expect = needed("playwright.sync_api").expect
pytestmark = pytest.mark.browser

QUESTIONS = [
    {"id": "red", "question": "how is the gate painted?", "spans": [{"quote": "The gate is painted red."}]},
    {
        "id": "blue",
        "question": "how is the tower painted?",
        "spans": [{"quote": "The tower is painted blue."}],
    },
    {"id": "two", "question": "how many years of warranty?", "relevant": {"warranty": 1}},
    {"id": "evil", "question": "<b>who</b> won?", "unanswerable": True},
    {"id": "none", "question": "no gold"},
]


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A file of golden questions."""
    file = tmp_path / "golden.jsonl"
    file.write_text("\n".join(json.dumps(each) for each in QUESTIONS), "utf-8")
    return file


def test_an_evaluation_and_its_plots(server: Served, visit: Visit, golden: Path) -> None:
    """Figures, the plots of the report, what was not counted; also before the editions are known."""
    page = visit("about:blank")
    page.route("**/v1/editions", lambda route: None)
    page.goto(f"{server.url}/#measure")
    page.set_input_files("#golden", golden)
    page.click("#measure-form >> text=Measure")
    page.wait_for_selector(".tiles")
    expect(page.locator("#measure-status")).to_have_text("4 questions asked, 1 not counted.")
    measured = server.http.post("/v1/evaluate", json={"questions": QUESTIONS, "charts": True}).json()
    assert page.locator("figure h3").all_text_contents() == [each["title"] for each in measured["charts"]]
    for at, chart in enumerate(measured["charts"][:-1]):  # the last one is of times
        plot = page.locator(".plot svg").nth(at)
        for shape in ("circle", "rect", "line", "polyline", "text"):
            assert plot.locator(shape).count() == chart["svg"].count(f"<{shape} "), (chart["title"], shape)
        assert plot.locator("text").all_text_contents()
        assert plot.evaluate("(svg) => svg.getBoundingClientRect().height") > 150
    figure = next(each for each in measured["summary"] if each["figure"] == "evidence recall")
    assert f"{figure['mean']:.3f}" in page.text_content(".tiles")
    with page.expect_download() as download:
        page.click("text=Save the evaluation")
    saved = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert nestling.Evaluation.from_json(saved).figure("evidence recall") is not None


def test_two_editions_question_by_question(
    server: Served, visit: Visit, golden: Path, tmp_path: Path
) -> None:
    """The verdict of `nestling compare`, and for every question what either edition found."""
    with nestling.open(server.serving.path) as nest:
        nest.rebuild(nestling.Recipe(child_size=60, parent_size=120), switch=False)
    page = visit(f"{server.url}/#measure")
    expect(page.locator("#edition-a option")).to_have_count(4)
    page.set_input_files("#golden", golden)
    page.select_option("#edition-b", "2")
    page.select_option("#edition-a", "1")
    page.click("#measure-form >> text=Measure")
    page.wait_for_selector(".tiles")
    both = [
        server.http.post("/v1/evaluate", json={"questions": QUESTIONS, "edition": n}).json() for n in (1, 2)
    ]
    names = ["edition 1", "edition 2"]
    compared = server.http.post("/v1/compare", json={"a": both[0], "b": both[1], "names": names}).json()
    first = compared["rows"][0]
    assert page.text_content(".verdict-line") == f"{first['figure']}: {first['verdict']}"
    assert page.locator(".pairs > li").count() == first["n"] == 2
    page.select_option("#comparison select", "document/nDCG@10")
    expect(page.locator(".pairs > li")).to_have_count(3)
    pair = page.locator(".pairs > li", has=page.locator("summary", has_text="tower"))
    pair.evaluate(
        "(item) => { for (let at = item; at; at = at.parentElement) if ('open' in at) at.open = true; }"
    )
    pair.locator("summary").click()
    assert pair.locator("h3").all_text_contents() == names
    found = [next(each for each in one["questions"] if each["id"] == "blue")["found"] for one in both]
    for side, passages in zip(pair.locator(".sides > div").all(), found, strict=True):
        assert side.locator("strong").all_text_contents() == [each["title"] for each in passages[:3]]
    file = tmp_path / "before.json"
    file.write_text(json.dumps(both[0]), "utf-8")
    page.select_option("#edition-a", "saved")
    page.set_input_files("#saved", file)
    page.click("#measure-form >> text=Measure")
    expect(page.locator("#comparison h2").first).to_have_text("edition 2 against saved")


def test_files_that_cannot_be_used(server: Served, visit: Visit, tmp_path: Path) -> None:
    """No file, a line that is no JSON, gold that does not fit: each is a sentence."""
    page = visit(f"{server.url}/#measure", allow="Failed to load resource")
    expect(page.locator("#edition-b option")).to_have_count(1)
    page.click("#measure-form >> text=Measure")
    expect(page.locator("#measure-status.error")).to_contain_text("Choose a file")
    file = tmp_path / "golden.jsonl"
    for text, told in (
        ('{"question": "x"}\n{"question"', "golden.jsonl, line 2 is not JSON"),
        ('{"question": "x", "relevant": {"missing-id": 1}}', "missing-id"),
    ):
        file.write_text(text, "utf-8")
        page.set_input_files("#golden", file)
        page.click("#measure-form >> text=Measure")
        expect(page.locator("#measure-status.error")).to_contain_text(told)
