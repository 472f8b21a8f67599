"""The report: complete, harmless, and right in a real browser."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from library import library, span

import nestling
from chromium import chromium
from nestling import Golden, GoldenQuestion
from nestling.measure.plots import Mark, Series, histogram, lines

EVIL = "<script>alert(1)</script> \x1b[1m \u202e \x00 & \" ' </title>"


def evaluation() -> nestling.Evaluation:
    """Thirty questions, every third of them unanswerable, with a gate; one without gold; an evil one."""
    questions = [
        GoldenQuestion(
            f"tower{i}", f"how is the tower painted {i}", spans=(span("The tower is painted blue."),)
        )
        for i in range(9)
    ]
    questions += [
        GoldenQuestion(f"iron{i}", f"iron stomach {i}", {"iron": 1}, tags=("cards",)) for i in range(9)
    ]
    questions += [
        GoldenQuestion(f"no{i}", f"zebra {'food' * (i % 2)} {i}", unanswerable=True) for i in range(9)
    ]
    questions += [GoldenQuestion("evil", EVIL, {"iron": 1}, tags=(EVIL,)), GoldenQuestion("none", EVIL)]
    with library() as nest:
        nest.add(nestling.Document("evil", EVIL, EVIL))
        return nest.evaluate(Golden(tuple(questions), "golden.jsonl"), min_coverage=0.2)


class Page(HTMLParser):
    """Elements of a page, and whether they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the element and the addresses in it."""
        self.seen.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action")]
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element that closes itself."""
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """The last element that is open is the one that ends."""
        assert self.open.pop() == tag


def parsed(text: str) -> Page:
    """A page that is well formed."""
    page = Page()
    page.feed(text)
    page.close()
    assert page.open == []
    return page


def test_the_page_is_whole_and_loads_nothing() -> None:
    """Plots, tables and lists are there; no script, no address; text is escaped, controls are pictured."""
    text = nestling.html_report(evaluation())
    page = parsed(text)
    assert page.seen.count("svg") == 6
    assert "script" not in page.seen
    assert page.addresses == ["data:,"]
    assert not re.search("https?://|url\\(|@import", text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    for told in (
        "Worst questions",
        "By tag",
        "All figures",
        "not counted",
        "gate 0.2",
        "n = 9",
        "In numbers",
    ):
        assert told in text, told


def test_every_figure_is_in_the_page_with_n_and_interval() -> None:
    """The table of all figures is the summary."""
    found = evaluation()
    text = nestling.html_report(found)
    for row in found.summary:
        assert str(row) in text
        if row.low is not None:
            assert "–" in str(row)


def test_little_to_show() -> None:
    """One question without spans, k or budgets, in a nest where nothing matches, still makes a page."""
    with library() as nest:
        for golden in (GoldenQuestion("q", "zebra", unanswerable=True), GoldenQuestion("q", "", {"iron": 1})):
            found = nest.evaluate(Golden((golden,)), k=(), budgets=())
            parsed(nestling.html_report(found))
            parsed(
                nestling.html_report(
                    replace(found, nest=EVIL, settings={**found.settings, "where": {"a": EVIL}})
                )
            )


def test_plots_stay_inside_their_frame() -> None:
    """No point, bar or label is outside of the picture, whatever the values."""
    plots = [
        lines(
            "t", "x", ["1", "2"], [Series("a", [(0.0, 0.0, 0.0), (1.0, 1.0, 1.0)]), Series("b", [None, None])]
        ),
        histogram(
            "t", "x", [0, 0.5, 1], [("a", [0, 0]), ("b", [1, 0])], [Mark(-3, "low"), Mark(9, "a high one")]
        ),
        histogram("t", "x", [0, 0.5, 1], [("a", [0.001, 0.999])]),
    ]
    for plot in plots:
        parsed(plot)
        for name, most in (("x", 360), ("y", 220)):
            for value in re.findall(rf' c?{name}[12]?="([^"]+)"', plot):
                assert 0 <= float(value) <= most


@pytest.mark.browser
def test_in_a_browser(tmp_path: Path) -> None:
    """No console message, no request but the page, nothing wider than a phone; plots are drawn in both colours."""
    file = tmp_path / "report.html"
    file.write_text(nestling.html_report(evaluation()), "utf-8", "backslashreplace")
    with chromium() as browser:
        shots = []
        for width, scheme in ((360, "light"), (360, "dark"), (1280, "light")):
            context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
            page = context.new_page()
            told: list[str] = []
            requests: list[str] = []
            page.on("console", lambda message, told=told: told.append(message.text))
            page.on("pageerror", lambda error, told=told: told.append(str(error)))
            page.on("request", lambda request, requests=requests: requests.append(request.url))
            page.goto(file.as_uri())
            page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate("document.title").endswith("golden.jsonl")
            assert page.evaluate(
                "[...document.querySelectorAll('svg')].every(each => each.getBoundingClientRect().width > 250)"
            )
            letters = (
                "[...document.querySelectorAll('svg text')].map(each => each.getBoundingClientRect().height)"
            )
            assert min(page.evaluate(letters)) > 9
            assert (told, requests) == ([], [file.as_uri()])
            shots.append(page.screenshot(path=tmp_path / f"{width}-{scheme}.png", full_page=True))
        assert len(set(shots)) == 3
