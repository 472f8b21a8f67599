"""The page for everybody: axe-core finds nothing, in every view, theme and width; nothing is wider than a phone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chromium import needed
from pages import Visit
from served import Served

expect = needed("playwright.sync_api").expect
axe = needed("axe_playwright_python.sync_playwright")
pytestmark = pytest.mark.browser


def search(page: Any, file: Path) -> None:
    """Passages, one explained, and the filters."""
    page.goto(page.url.split("#")[0] + "#search?q=the%20green%20bridge&k=3&where=%7B%22lang%22%3A%22en%22%7D")
    page.wait_for_selector(".card")
    for summary in page.locator("#search summary").all():
        summary.click()


def ask(page: Any, file: Path) -> None:
    """An answer, with the card of a chip."""
    page.keyboard.press("2")
    page.fill("#question", "may I return a bulb?")
    page.keyboard.press("Enter")
    page.wait_for_selector("button.chip")
    page.focus("button.chip >> nth=0")
    page.wait_for_selector("#peek-said")


def library(page: Any, file: Path) -> None:
    """The documents, and one just deleted."""
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.press("3")
    page.click("[data-id=cleaning] button")
    expect(page.locator("#toast button")).to_have_count(2)


def reader(page: Any, file: Path) -> None:
    """A document with its nest."""
    page.click("[data-id='manual.md'] a")
    page.wait_for_selector("#passage")
    page.keyboard.press("n")
    page.wait_for_selector(".parent")


def measure(page: Any, file: Path) -> None:
    """An evaluation, compared with itself."""
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.press("4")
    page.set_input_files("#golden", file)
    page.select_option("#edition-a", "1")
    page.click("#measure-form >> text=Measure")
    page.wait_for_selector(".tiles")
    page.evaluate("document.querySelectorAll('#measure details').forEach((each) => { each.open = true; })")


def keys(page: Any, file: Path) -> None:
    """The help."""
    page.click("#help-button")


STATES: tuple[Callable[[Any, Path], None], ...] = (search, ask, library, reader, measure, keys)


# the elements are the same in every theme and width, their colours are not
EVERYTHING, COLOURS = {"resultTypes": ["violations"]}, {"runOnly": ["color-contrast"]}


@pytest.mark.parametrize(
    ("width", "scheme", "rules"), [(1280, "light", EVERYTHING), (360, "dark", COLOURS)], ids=["light", "dark"]
)
def test_axe_finds_nothing(
    server: Served, visit: Visit, tmp_path: Path, width: int, scheme: str, rules: dict[str, Any]
) -> None:
    """Every view with everything opened is clean, and no wider than the screen."""
    file = tmp_path / "golden.jsonl"
    file.write_text(json.dumps({"question": "red gate", "relevant": {"manual.md": 1}}), "utf-8")
    # colours that are on their way to others are none to judge
    page = visit(f"{server.url}/", width, scheme, bypass_csp=True, reduced_motion="reduce")
    for state in STATES:
        state(page, file)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, state.__name__
        found = axe.Axe().run(page, options=rules)
        assert found.violations_count == 0, f"{state.__name__}: {found.generate_report()}"


def test_what_is_said_and_reached(server: Served, visit: Visit) -> None:
    """Landmarks and live regions are there; the skip link leads to the content; every control is reached by Tab."""
    page = visit(f"{server.url}/#search?q=lamp")
    page.wait_for_selector(".card")
    for role in ("banner", "navigation", "main", "search"):
        assert page.get_by_role(role).count() == 1, role
    assert page.locator("[role=status]:visible").count() >= 1
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    reached = []
    while "open" not in reached:
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid", reached
        assert len(reached) < 20
    assert reached[:2] == ["query", "main"]
