"""Search in a browser: cards, evidence, explanation, filters, the document, the address; by keyboard."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, quote

import pytest

from chromium import needed
from pages import EMOJI, EVIL, Visit
from served import Served

expect = needed("playwright.sync_api").expect
pytestmark = pytest.mark.browser

IN_VIEW = """(element) => {
    const box = element.getBoundingClientRect();
    const frame = document.getElementById("reader-text").getBoundingClientRect();
    return box.top >= frame.top - 1 && box.top < frame.bottom;
}"""


def search(server: Served, **asked: Any) -> Any:
    """What the API finds."""
    return server.http.post("/v1/search", json=asked).json()


def test_by_keyboard(server: Served, visit: Visit) -> None:
    """A question, passages with evidence, why, and the document with the passage in view, without a mouse."""
    page = visit(server.url)
    page.keyboard.press("/")
    page.keyboard.type("how is the tower painted?")
    page.keyboard.press("Enter")
    page.wait_for_selector(".card")
    found = search(server, query="how is the tower painted?", k=10)["passages"]
    assert page.text_content("#search-status") == f"{len(found)} passages"
    assert page.locator(".card h2").all_text_contents() == [each["title"] for each in found]
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    first = page.locator(".card").nth(0)
    expect(first.locator("a.open")).to_be_focused()
    best = found[0]
    assert best["heading"][-1] in first.locator(".place").text_content()
    evidence = [best["text"][each["start"] : each["end"]] for each in best["evidence"]]
    assert "".join(first.locator(".text mark").all_text_contents()) == "".join(evidence)

    assert not first.locator(".why table").is_visible()
    page.keyboard.press("e")
    rows = first.locator(".why tbody tr")
    assert rows.count() == 6
    assert f"score {best['score']:.3f}" in first.locator(".why > p").text_content()

    page.keyboard.press("o")
    page.wait_for_selector("#passage")
    assert (
        page.locator("#reader-text").text_content()
        == server.http.get("/v1/documents/manual.md").json()["document"]["text"]
    )
    assert page.locator("#passage").text_content() == best["text"]
    assert page.locator("#passage mark").first.evaluate(IN_VIEW)
    assert page.locator("#reader-text").evaluate("(text) => text.scrollTop") > 0
    # the driver hears of an address later than the page
    assert parse_qs(page.evaluate("location.hash").split("?")[1])["open"] == [best["id"]]
    page.keyboard.press("Escape")
    expect(page.locator("#reader")).to_be_hidden()
    expect(first.locator("a.open")).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(first.locator("a.open")).to_be_focused()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.locator("#letters").uncheck()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.keyboard.press("j")
    expect(first.locator("a.open")).to_be_focused()


def test_an_address_is_a_search(server: Served, visit: Visit) -> None:
    """Question, number, filter, gate and open document come back from the address, and by going back."""
    where = quote(json.dumps({"lang": "en", "year": {"$gte": 2021}, "$not": {"lang": "de"}}))
    page = visit(f"{server.url}/#search?q=green%20bridge&k=2&where={where}&cov=0.1&open=manual.md%C2%A72")
    page.wait_for_selector("#passage")
    page.click("#reader-close")
    expect(page.locator("#query")).to_have_value("green bridge")
    expect(page.locator("#k")).to_have_value("2")
    expect(page.locator(".filter")).to_have_text(["lang: en ×", "year: from 2021 ×", '$not: {"lang":"de"} ×'])
    page.wait_for_selector(".card")
    assert {each.split("§")[0] for each in page.locator(".place bdi:first-child").all_text_contents()} == {
        "manual.md"
    }
    page.click("summary:has-text('Filters')")
    page.fill("#query", "red gate")
    page.keyboard.press("Enter")
    expect(page.locator(".card .text").first).to_contain_text("red")
    page.click(".filter >> nth=2")
    expect(page.locator(".filter")).to_have_count(2)
    page.go_back()
    page.go_back()
    expect(page.locator("#query")).to_have_value("green bridge")
    expect(page.locator(".card .text").first).to_contain_text("green")


def test_filters_are_of_what_exists(server: Served, visit: Visit) -> None:
    """A choice narrows what is found; taking it back widens it."""
    page = visit(f"{server.url}/#search?q=lamp")
    page.wait_for_selector(".card")
    page.click("summary:has-text('Filters')")
    page.select_option("label:has-text('page') select", label="7 (1)")
    page.click("text=Apply")
    expect(page.locator(".card")).to_have_count(1)
    assert page.locator(".card h2").text_content() == "Warranty"
    page.click(".filter")
    expect(page.locator(".card").nth(1)).to_be_visible()


def test_what_was_dropped_and_why(server: Served, visit: Visit) -> None:
    """Where the gate leaves nothing, it says which figure fell short; each dropped passage has its reason."""
    page = visit(f"{server.url}/#search?q=lamp%20painted%20purple&cov=0.99")
    page.wait_for_selector(".how[open]")
    explained = search(server, query="lamp painted purple", k=10, min_coverage=0.99, explain=True)
    assert page.text_content("#search-status") == explained["abstained"]
    told = page.locator(".how").text_content()
    assert explained["explanation"]["dropped"]
    for id, reason in explained["explanation"]["dropped"].items():
        assert f"{id}: {reason}" in told


def test_more_passages(server: Served, visit: Visit) -> None:
    """The next ones follow without a repeat, and the focus goes to the first of them."""
    page = visit(f"{server.url}/#search?q=the%20lamp&k=3")
    page.wait_for_selector(".card")
    page.click("#more")
    expect(page.locator(".card")).to_have_count(6)
    ids = [each["id"] for each in search(server, query="the lamp", k=6)["passages"]]
    shown = page.locator(".place bdi:first-child").all_text_contents()
    assert shown == ids
    assert (
        page.evaluate(
            "[...document.querySelectorAll('.card')].indexOf(document.activeElement.closest('.card'))"
        )
        == 3
    )


def test_emoji_are_cut_where_python_cuts(server: Served, visit: Visit) -> None:
    """Evidence among characters of two UTF-16 units is marked exactly, in the card and in the document."""
    page = visit(f"{server.url}/#search?q=zeppelin%20lands")
    page.wait_for_selector(".card")
    best = search(server, query="zeppelin lands")["passages"][0]
    evidence = "".join(best["text"][each["start"] : each["end"]] for each in best["evidence"])
    assert "zeppelin 🎈" in evidence
    assert len(evidence) < len(best["text"])
    assert "".join(page.locator(".card >> nth=0 >> mark").all_text_contents()) == evidence
    page.click(".card a.open >> nth=0")
    page.wait_for_selector("#passage")
    assert page.locator("#passage").text_content() == best["text"]
    assert "".join(page.locator("#passage mark").all_text_contents()) == evidence
    page.keyboard.press("n")
    page.wait_for_selector(".parent")
    tree = server.http.get("/v1/documents/emoji").json()
    spans = [(child["start"], child["end"]) for parent in tree["parents"] for child in parent["children"]]
    assert page.locator(".child").all_text_contents() == [EMOJI[start:end] for start, end in spans]


def test_a_hostile_document_stays_text(server: Served, visit: Visit) -> None:
    """Markup in id, title, text and metadata is shown as it is, and bidi controls end with their element."""
    page = visit(f"{server.url}/#search?q=kraken")
    page.wait_for_selector(".card")
    assert page.locator(".card h2 >> nth=0").text_content() == EVIL
    assert page.locator(".card .text >> nth=0").text_content() == EVIL
    page.click(".card a.open >> nth=0")
    page.wait_for_selector("#passage")
    assert page.locator("#reader-title").text_content() == EVIL
    assert f"<b>field</b>: {EVIL[:40]}" in page.locator("#reader-about").text_content()
    page.keyboard.press("n")
    page.keyboard.press("Escape")
    page.goto(f"{server.url}/#library")
    page.wait_for_selector(".row")
    assert EVIL in page.locator(".row h2").all_text_contents()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 1
    assert page.locator("b, script:not([src])").count() == 0
    isolated = (
        "[...document.querySelectorAll('h2 bdi, .tag, .quiet bdi')].map(e => getComputedStyle(e).unicodeBidi)"
    )
    assert set(page.evaluate(isolated)) == {"isolate"}


def test_errors_are_sentences(server: Served, visit: Visit) -> None:
    """What the API refuses is told in its own words, and the page goes on."""
    page = visit(f"{server.url}/#search?q=lamp&sim=7", allow="Failed to load resource")
    page.wait_for_selector("#search-status.error")
    assert (
        page.text_content("#search-status")
        == search(server, query="lamp", min_similarity=7)["error"]["message"]
    )
    page.goto(f"{server.url}/#search?q=lamp&open=nothing")
    page.wait_for_selector("#reader-text.error")
    assert "nothing" in page.text_content("#reader-text")
