"""What a stranger meets: an empty nest, a server that is away, keys, addresses that do not fit, hard text."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from test_page_library import drop

import nestling
from nestling.ingest.load import READERS
from pages import Visit
from served import Serve, Served

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
# slow: a browser waits for what a busy machine is late with
pytestmark = [pytest.mark.browser, pytest.mark.slow]

NO_SERVER = "Failed to load resource"
PIECES = ["a", "é", "e\u0301", "中", "😀", "𝔘", ".", " ", " ", "\n"]
CUT = """async (cases) => {
    const { Points, wordStart, wordEnd } = await import("/points.js");
    return cases.map(([text, at, most]) => {
        const points = new Points(text);
        return [wordStart(points, at, most), wordEnd(points, at, most)];
    });
}"""


def word_start(text: str, at: int, most: int) -> int:
    """The first border before a word from a place on; none: the place."""
    found = (n for n in range(at, at + most) if 0 < n < len(text) and is_border(text, n, before=True))
    return next(found, at) if at else at


def word_end(text: str, at: int, most: int) -> int:
    """The last border after a word up to a place; none: the place."""
    found = (n for n in range(at, at - most, -1) if 0 < n < len(text) and is_border(text, n, before=False))
    return next(found, at) if at < len(text) else at


def is_border(text: str, at: int, *, before: bool) -> bool:
    """Whether white space is on one side only."""
    left, right = text[at - 1].isspace(), text[at].isspace()
    return left and not right if before else right and not left


def test_an_empty_nest_says_what_to_do(tmp_path: Path, visit: Visit) -> None:
    """Every view tells that there is nothing yet, and where to begin; after the first file it is gone."""
    path = tmp_path / "empty.nest"
    nestling.open(path, create=True).close()
    with Served(path, tmp_path / "shared") as server:
        page = visit(server.url)
        expect(page.locator("#search-status")).to_contain_text("The nest is empty. Add files in the Library")
        page.fill("#query", "anything")
        page.keyboard.press("Enter")
        expect(page.locator("#search-status")).to_contain_text("The nest is empty")
        page.keyboard.press("Escape")
        page.keyboard.press("3")
        expect(page.locator("#library-status")).to_contain_text("The nest is empty. Add files above")
        (tmp_path / "tea.md").write_text("# Tea\n\nSteep it.\n", "utf-8")
        page.set_input_files("#files", tmp_path / "tea.md")
        expect(page.locator("#library-status")).to_have_text("1 document")
        page.fill("#named", "coffee")
        page.keyboard.press("Enter")
        expect(page.locator("#library-status")).to_have_text("No document fits.")
        page.click("nav >> text=Search")
        expect(page.locator("#search-status")).to_contain_text("Ask in your own words")


def test_a_server_that_is_away_and_comes_back(server: Served, visit: Visit) -> None:
    """Each view says so in a sentence, and needs no reload once the server answers again."""
    page = visit(f"{server.url}/#search?q=lamp", allow=NO_SERVER)
    page.wait_for_selector(".card")
    page.route("**/v1/**", lambda route: route.abort())
    page.fill("#query", "bulb")
    page.keyboard.press("Enter")
    expect(page.locator("#search-status")).to_contain_text("cannot be reached")
    page.keyboard.press("Escape")
    for key, view in (("3", "library"), ("4", "measure")):
        page.keyboard.press(key)
        expect(page.locator(f"#{view}-status")).to_contain_text("cannot be reached")
    page.unroute("**/v1/**")
    page.go_back()
    expect(page.locator(".row").first).to_be_visible()
    expect(page.locator("#library-status")).not_to_contain_text("cannot be reached")
    page.keyboard.press("4")
    expect(page.locator("#edition-b option")).to_have_count(1)
    expect(page.locator("#measure-status")).to_be_empty()
    page.go_back()
    page.go_back()
    expect(page.locator(".card").first).to_be_visible()


def test_the_question_stays(server: Served, visit: Visit) -> None:
    """Escape leaves the field, and what was asked stays with its passages."""
    page = visit(f"{server.url}/#search?q=lamp")
    page.wait_for_selector(".card")
    page.focus("#query")
    page.keyboard.press("Escape")
    assert page.input_value("#query") == "lamp"
    assert page.evaluate("document.activeElement.id") != "query"


def test_the_focus_is_never_lost(server: Served, visit: Visit) -> None:
    """Setting a filter leaves it in its field, taking one back on the next, the last on the filters."""
    page = visit(f"{server.url}/#search?q=lamp&where=%7B%22page%22%3A7%7D")
    page.wait_for_selector(".filter")
    page.focus("#search-form summary")
    page.keyboard.press("Enter")
    page.select_option("#search-filters label:has-text('page') select", label="any")
    page.select_option("#search-filters label:has-text('lang') select", label="en (2)")
    page.focus("#search-filters label:has-text('lang') select")
    page.evaluate("document.getElementById('search-form').requestSubmit()")
    expect(page.locator(".filter")).to_have_text(["lang: en ×"])
    field = "document.activeElement.closest('label')?.textContent.startsWith('lang')"
    assert page.evaluate(field)
    page.focus(".filter")
    page.keyboard.press("Enter")
    expect(page.locator(".filter")).to_have_count(0)
    expect(page.locator("#search-form summary")).to_be_focused()


def test_an_address_opens_with_its_evidence(server: Served, visit: Visit) -> None:
    """Who is sent the address of an open passage sees marked what the sender saw marked."""
    sender = visit(f"{server.url}/#search?q=how%20is%20the%20tower%20painted%3F")
    sender.click(".card a.open >> nth=0")
    sender.wait_for_selector("#passage mark")
    seen = sender.locator("#passage mark").all_text_contents()
    reader = visit(sender.url)
    reader.wait_for_selector("#passage mark")
    assert reader.locator("#passage mark").all_text_contents() == seen


def test_addresses_that_do_not_fit(server: Served, visit: Visit) -> None:
    """A filter that is none is said to be none; a document that is gone offers nothing to do with it."""
    page = visit(f"{server.url}/#search?q=lamp&where=%7Bzz", allow=NO_SERVER)
    expect(page.locator("#search-status.error")).to_contain_text("The filter in the address is not one: {zz")
    assert page.locator(".card").count() == 0
    page.goto(f"{server.url}/#library?where=%5B1%5D")
    expect(page.locator("#library-status.error")).to_contain_text("[1]")
    page.goto(f"{server.url}/#search?q=lamp&open=gone")
    expect(page.locator("#reader-text.error")).to_contain_text("no document or passage “gone”")
    assert not page.locator("#reader-delete").is_visible()
    assert not page.locator("#draw").is_visible()
    page.click("#reader-close")
    page.click(".card a.open >> nth=0")
    expect(page.locator("#reader-delete")).to_be_visible()


def test_what_only_resembles_the_question(server: Served, visit: Visit) -> None:
    """Where no word of the question was found it says so; where one was, it does not."""
    page = visit(f"{server.url}/#search?q=lamp")
    expect(page.locator("#search-status")).to_have_text(re.compile(r"^\d+ passages$"))
    page.fill("#query", "qwzx")
    page.keyboard.press("Enter")
    found = server.http.post("/v1/search", json={"query": "qwzx", "k": 10}).json()["passages"]
    assert found, "the vectors of this embedder always resemble"
    assert not any(each["coverage"] for each in found)
    expect(page.locator("#search-status")).to_contain_text("None holds a word of the question")


def test_excerpts_do_not_cut_words(server: Served, visit: Visit) -> None:
    """Where a word begins or ends nearby, an excerpt does; the child that matched best is set off."""
    chance = random.Random(7)
    cases = []
    for _ in range(300):
        text = "".join(chance.choices(PIECES, k=chance.randint(1, 24)))
        cases.append([text, chance.randint(0, len(text)), chance.randint(0, 8)])
    page = visit(f"{server.url}/#search?q=how%20is%20the%20tower%20painted%3F")
    page.wait_for_selector(".card")
    found = page.evaluate(CUT, cases)
    assert found == [[word_start(*case), word_end(*case)] for case in cases]
    best = page.locator(".card >> nth=0 >> mark.best")
    assert best.count() == 1
    assert "painted blue" in best.text_content()


def test_columns_stay_columns(server: Served, visit: Visit) -> None:
    """Fenced code, tables and sessions are in letters of one width, also where they are marked; prose is not."""
    columns = [
        "```py\nx = 1  # 😀\n\n```\n",
        "| a | b |\n|---|---|\n",
        "  >>> f()\n  42\n",
        "~~~\nopen | end",
    ]
    text = f"😀 prose\n{columns[0]}a | b\n{columns[1]}>>\n\n{columns[2]}\nprose\n{columns[3]}"
    server.http.put("/v1/documents/code", json={"text": text}).raise_for_status()
    page = visit(f"{server.url}/#search?q=prose&k=1&open=code")
    page.wait_for_selector("#passage mark")
    assert page.text_content("#reader-text") == text
    assert page.locator("#reader-text .columns").all_text_contents() == columns
    families = (
        "(all) => [...new Set(all.map((each) => getComputedStyle(each).fontFamily.includes('monospace')))]"
    )
    assert page.locator("#reader-text .columns").evaluate_all(families) == [True]
    assert page.locator("#reader-text mark:not(.columns)").evaluate_all(families) == [False]


def test_a_key_is_asked_for_in_plain_words(serve: Serve, visit: Visit) -> None:
    """Nothing of headers and commands; after Cancel the view says what is missing; a key can be changed."""
    server = serve()
    keys = {
        name: server.bearer(name, name)["Authorization"].removeprefix("Bearer ") for name in ("read", "write")
    }
    page = visit(f"{server.url}/#library", allow=NO_SERVER)
    expect(page.locator("#key-why")).to_have_text(re.compile("a key is needed: ask whoever runs it"))
    page.click("#key-cancel")
    expect(page.locator("#library-status.error")).to_contain_text("a key is needed")
    expect(page.locator("#nest")).to_have_text("no key")
    assert not page.locator("#key-button").is_visible()
    page.reload()
    page.fill("#key", keys["read"])
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-id=returns]")
    page.click("[data-id=returns] button")
    expect(page.locator("#toast .error")).to_contain_text("'write'")
    page.click("#key-button")
    page.fill("#key", keys["write"])
    page.keyboard.press("Enter")
    expect(page.locator("#toast")).to_be_empty()
    page.click("[data-id=returns] button")
    expect(page.locator("#toast")).to_contain_text("Deleted Returns.")


def test_a_folder_is_dropped_as_add_reads_it(server: Served, visit: Visit, tmp_path: Path) -> None:
    """Files of kinds that are not read are skipped, not stored; a file that holds some bad cards tells both."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    for name in ("page.html", "picture.PNG"):
        (folder / name).write_bytes(b"<b>\x89</b>")
    (folder / "notes").write_text("A note about the okapi.", "utf-8")
    (folder / "cards.jsonl").write_text(
        '{"id": "c1", "text": "A quagga."}\n{"id": "c2", "text": "An okapi."}\n{"id": "c3"}\n', "utf-8"
    )
    page = visit(f"{server.url}/#library")
    page.wait_for_selector(".row")
    drop(page, folder)
    expect(page.locator("#upload-status")).to_have_text("3 documents stored, 1 failed, 2 skipped.")
    told = sorted(" ".join(each.split()) for each in page.locator("#uploads li").all_text_contents())
    assert told[0].startswith("shelf/cards.jsonl 2 added; line 3: ")
    assert told[1] == "shelf/notes added"
    assert told[2:] == [
        f"shelf/{name} skipped: files of this kind are not read" for name in ("page.html", "picture.PNG")
    ]
    assert server.http.get("/v1/documents/shelf%2Fpage.html").status_code == 404


def test_the_page_knows_the_kinds_that_are_read(server: Served, visit: Visit) -> None:
    """The suffixes in the page are those of `nestling add`."""
    kinds: Any = visit(f"{server.url}/#library").get_attribute("#files", "data-kinds")
    assert set(kinds.split()) == set(READERS) - {""}
