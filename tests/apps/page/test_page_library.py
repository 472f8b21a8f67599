"""The library in a browser: finding, adding, seeing the nest, deleting and undoing."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from chromium import needed
from handbook import DOCUMENTS
from pages import MANUAL, Visit
from served import Serve, Served

expect = needed("playwright.sync_api").expect
pytestmark = pytest.mark.browser


def drop(page: Any, *paths: Path) -> None:
    """Drop files and folders on the page, as the system does."""
    box = page.locator("#drop").bounding_box()
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    place = {"x": box["x"] + box["width"] - 20, "y": box["y"] + 10, "data": data}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, **place})


def test_finding_documents(server: Served, visit: Visit) -> None:
    """By name and by what the metadata holds; the address keeps both."""
    page = visit(f"{server.url}/#library")
    expect(page.locator("#library-status")).to_have_text(f"{len(DOCUMENTS) + 3} documents")
    page.fill("#named", "manual")
    page.keyboard.press("Enter")
    expect(page.locator(".row h2")).to_have_text(["Manual"])
    assert "year: 2024" in page.locator(".row .tags").text_content()
    page.fill("#named", "")
    page.click("#library summary")
    page.select_option("#library label:has-text('lang') select", label="en (2)")
    page.click("#library >> text=Apply")
    expect(page.locator(".row h2")).to_have_text(["Emoji 😀", "Manual"])
    page.reload()
    expect(page.locator(".row h2")).to_have_text(["Emoji 😀", "Manual"])


def test_adding_files(server: Served, visit: Visit, tmp_path: Path) -> None:
    """Chosen or dropped files are stored as `nestling add` stores them; what fails says why; they can be found."""
    (tmp_path / "tea.md").write_text("---\ntitle: Tea\nkind: drink\n---\n# Tea\n\nSteep it.\n", "utf-8")
    (tmp_path / "cards.jsonl").write_text('{"id": "c1", "text": "A quagga."}\n{"id": "c2"}\n', "utf-8")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\x00\x01\x02")
    page = visit(f"{server.url}/#library")
    page.wait_for_selector(".row")
    page.set_input_files("#files", [tmp_path / name for name in ("tea.md", "cards.jsonl", "bad.txt")])
    expect(page.locator("#upload-status")).to_have_text("2 documents stored, 2 failed.")
    lines = page.locator("#uploads li").all_text_contents()
    assert "added" in lines[0]
    assert "line 2" in lines[1]
    assert "bad.txt" in lines[2]
    expect(page.locator(".row h2", has_text="Tea")).to_be_visible()
    assert "drink (1)" in page.locator("#library label:has-text('kind') option").all_text_contents()
    folder = tmp_path / "dropped"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "okapi.txt").write_text("An okapi was dropped.", "utf-8")
    (folder / ".hidden").write_text("not meant", "utf-8")
    drop(page, folder, tmp_path / "tea.md")
    expect(page.locator("#upload-status")).to_have_text("1 document stored, 1 unchanged.")
    expect(page.locator("#nest")).to_contain_text(f"{len(DOCUMENTS) + 6} documents")
    found = server.http.post("/v1/search", json={"query": "okapi", "k": 1}).json()
    assert found["passages"][0]["source"] == "dropped/deep/okapi.txt"


def test_the_nest_is_drawn_over_the_text(server: Served, visit: Visit) -> None:
    """Every parent framed and every child tinted, in place: the text of all of them is the text."""
    page = visit(f"{server.url}/#library?open=manual.md")
    page.wait_for_selector("#passage")
    page.click("#draw")
    tree = server.http.get("/v1/documents/manual.md").json()
    assert len(tree["parents"]) > 2
    parents = page.locator(".parent")
    expect(parents).to_have_count(len(tree["parents"]))
    expect(page.locator("#draw")).to_have_attribute("aria-pressed", "true")
    for at, parent in enumerate(tree["parents"]):
        texts = parents.nth(at).locator(".child").all_text_contents()
        assert texts == [MANUAL[child["start"] : child["end"]] for child in parent["children"]]
        assert parent["id"] in parents.nth(at).locator(".parent-head").text_content()
    colours = page.locator(".parent >> nth=0 >> .child").evaluate_all(
        "(all) => all.map((each) => getComputedStyle(each).backgroundColor)"
    )
    assert len(set(colours)) == 2
    assert all(one != other for one, other in pairwise(colours))
    page.click(".children summary >> nth=0")
    expect(page.locator(".children >> nth=0 >> li").first).to_be_visible()
    leads = page.locator(".children >> nth=0 >> li").all_text_contents()
    assert tree["parents"][0]["children"][0]["lead"] in leads[0]
    page.keyboard.press("n")
    expect(page.locator(".parent")).to_have_count(0)


def test_deleting_and_undoing(server: Served, visit: Visit) -> None:
    """What was deleted is gone at once, and comes back as it was; the focus is never lost."""
    before = server.http.get("/v1/documents/returns").json()
    page = visit(f"{server.url}/#library")
    page.focus("[data-id=returns] button")
    page.keyboard.press("Enter")
    expect(page.locator("#toast")).to_contain_text("Deleted Returns.")
    assert server.http.get("/v1/documents/returns").status_code == 404
    expect(page.locator("[data-id=returns]")).to_have_count(0)
    expect(page.locator("[data-id=safety] a")).to_be_focused()
    page.keyboard.press("u")
    expect(page.locator("[data-id=returns]")).to_be_visible()
    expect(page.locator("#toast")).to_contain_text("Returns is back.")
    assert server.http.get("/v1/documents/returns").json() == before
    page.click("[data-id=returns] a")
    page.wait_for_selector("#passage")
    page.click("#reader-delete")
    expect(page.locator("#toast")).to_contain_text("Deleted Returns.")
    expect(page.locator("#reader")).to_be_hidden()
    page.click("#toast >> text=Undo")
    expect(page.locator("[data-id=returns]")).to_be_visible()
    assert server.http.get("/v1/documents/returns").json() == before


def test_where_keys_are_needed(serve: Serve, visit: Visit) -> None:
    """The page asks for a key, says when it is not known, keeps it in the tab, and tells what it may not do."""
    server = serve()
    headers = server.bearer("reader", "read")
    page = visit(f"{server.url}/#library", allow="Failed to load resource")
    page.wait_for_selector("#key-dialog[open]")
    assert "a key is needed" in page.text_content("#key-why")
    page.fill("#key", "nk_wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#key-why")).to_contain_text("not known")
    page.fill("#key", headers["Authorization"].removeprefix("Bearer "))
    page.keyboard.press("Enter")
    expect(page.locator("[data-id=returns]")).to_be_visible()
    expect(page.locator("#nest")).to_contain_text("documents")
    page.reload()
    expect(page.locator("[data-id=returns]")).to_be_visible()
    page.click("[data-id=returns] button")
    expect(page.locator("#toast .error")).to_contain_text("'write'")
    assert server.http.get("/v1/documents/returns", headers=headers).status_code == 200
    assert page.evaluate("localStorage.length") == 0


def test_a_key_is_asked_for_once(serve: Serve, visit: Visit) -> None:
    """A request without the key that is refused after it was given is sent again with it."""
    server = serve()
    headers = server.bearer("reader", "read")
    page = visit("about:blank", allow="Failed to load resource")
    late: list[Any] = []
    page.route("**/v1/stats", lambda route: late.append(route), times=1)
    page.goto(f"{server.url}/#library")
    page.fill("#key", headers["Authorization"].removeprefix("Bearer "))
    page.keyboard.press("Enter")
    expect(page.locator("[data-id=returns]")).to_be_visible()
    expect(page.locator("#key-dialog")).to_be_hidden()
    with page.expect_response("**/v1/stats") as refused:
        late.pop().continue_()
    assert refused.value.status == 401
    expect(page.locator("#nest")).to_contain_text("documents")
    expect(page.locator("#key-dialog")).to_be_hidden()
