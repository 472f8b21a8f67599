"""Ask in a browser: an answer as it is written, chips that show what they cite, marks where it says more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import chain, repeat

import pytest

from chromium import needed
from models.chat_server import Reply, Service, event, good
from models.chat_server import serve as serve_chat
from nestling.retrieve.prompt import NOT_SAID
from pages import Visit
from served import Serve, Served

expect = needed("playwright.sync_api").expect
pytestmark = pytest.mark.browser

ANSWER = (
    "😀 Every lamp has a warranty of two years. [cite:warranty]"
    " The warranty covers damage by water. [cite:warranty]"
    " You have 30 days to return a lamp. [cite:shipping] It is <b>bold</b>. See [cite:nothing]."
)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A language model on loopback that writes what it is told to."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("NESTLING_LLM_API_KEY", raising=False)
    with serve_chat() as service:
        yield service


@pytest.fixture
def server(serve: Serve, model: Service) -> Served:
    """A server that answers by this model."""
    return serve(model=f"openai:m@{model.url}")


def test_a_streamed_answer_with_chips(server: Served, model: Service, visit: Visit) -> None:
    """Text is there while it is written; then chips show what they cite, and what is unsupported is marked."""
    go_on = threading.Event()
    model.replies.append(Reply(chunks=good(ANSWER), held={8: go_on}))
    page = visit(f"{server.url}/#ask")
    page.fill("#question", "how long is the warranty of a lamp?")
    page.keyboard.press("Enter")
    expect(page.locator("#answer")).to_have_attribute("aria-busy", "true")
    expect(page.locator("#answer .said")).to_contain_text("Every lamp has")
    assert page.locator("#answer .about").count() == 0
    go_on.set()

    page.wait_for_selector("#answer .about")
    expect(page.locator("#answer")).not_to_have_attribute("aria-busy", "true")
    verification = server.http.post("/v1/verify", json={"text": ANSWER}).json()
    bad = [each for each in verification["claims"] if each["verdict"] != "supported"]
    assert len(bad) >= 2
    marked = [" ".join(each.split()) for each in page.locator(".unsupported").all_text_contents()]
    assert "The warranty covers damage by water." in marked
    assert "You have 30 days to return a lamp." in marked
    assert not any("Every lamp" in each for each in marked)
    assert "<b>bold</b>" in page.text_content("#answer")
    assert "not supported" in page.text_content("#ask-status")
    assert "1 citation does not count" in page.text_content("#ask-status")

    chips = page.locator("#answer .chip")
    assert chips.all_text_contents() == ["1", "1", "2", "3!"]
    chips.nth(0).focus()
    expect(page.locator("#peek-said")).to_be_visible()
    assert "two years" in "".join(page.locator("#peek mark").all_text_contents())
    assert "Warranty" in page.text_content("#peek")
    assert chips.nth(0).get_attribute("aria-describedby") == "peek-said"
    page.keyboard.press("Escape")
    expect(page.locator("#peek")).to_be_hidden()
    page.locator(".verdict", has_text="another passage").hover()
    expect(page.locator("#peek")).to_contain_text("Found in returns")
    # away from the card, which stays while the pointer is on it
    page.mouse.move(0, 0)
    expect(page.locator("#peek")).to_be_hidden()
    chips.nth(3).hover()
    expect(page.locator("#peek-said")).to_contain_text("there is no such passage")
    chips.nth(0).click()
    expect(page.locator("#passage mark").first).to_contain_text("warranty of two years")


def test_without_a_model(serve: Serve, visit: Visit) -> None:
    """An extractive answer has a chip after each sentence, and nothing is marked; no answer says why."""
    page = visit(f"{serve().url}/#ask?q=may%20I%20return%20a%20bulb%3F")
    assert page.input_value("#question") == "may I return a bulb?"
    assert page.locator("#answer").is_hidden()
    page.click("#ask-form >> text=Ask")
    page.wait_for_selector("#answer .about")
    expect(page.locator("#ask-status")).to_contain_text("all supported")
    assert page.locator(".unsupported").count() == 0
    page.locator(".chip").first.hover()
    expect(page.locator("#peek-said")).to_contain_text("supported")


def test_by_touch(serve: Serve, visit: Visit) -> None:
    """The first touch of a chip shows its passage, the second opens the document."""
    page = visit(f"{serve().url}/#ask?q=may%20I%20return%20a%20bulb%3F", 360, has_touch=True)
    page.tap("#ask-form >> text=Ask")
    page.wait_for_selector("#answer .about")
    page.tap("button.chip >> nth=0")
    expect(page.locator("#peek-said")).to_be_visible()
    assert page.locator("#reader").is_hidden()
    page.tap("button.chip >> nth=0")
    expect(page.locator("#passage")).to_be_visible()
    expect(page.locator("#peek")).to_be_hidden()


def test_stopping_and_failing(server: Served, model: Service, visit: Visit) -> None:
    """What was written stays, and is said to be unverified; a model that fails is told in a sentence."""
    endless = chain([event("Every "), event("lamp ")], repeat(event("x ")))
    model.replies.append(Reply(chunks=endless, pauses=[0.02] * 10_000))
    page = visit(f"{server.url}/#ask", allow="Failed to load resource")
    page.fill("#question", "how long is the warranty?")
    page.keyboard.press("Enter")
    expect(page.locator("#answer")).to_contain_text("lamp")
    page.click("#stop")
    expect(page.locator("#ask-status")).to_contain_text("Stopped")
    page.focus("#question")
    expect(page.locator("#answer")).to_contain_text("Every lamp")
    assert model.hung_up.wait(60)
    model.replies.append(Reply(NOT_SAID))
    page.keyboard.press("Enter")
    expect(page.locator("#answer")).to_contain_text("No answer: the model found no answer in the passages")
    expect(page.locator("#ask-status")).to_have_text("There is no answer.")
    model.replies.append(Reply(status=400, body={"error": "no such model"}))
    page.fill("#question", "how long is the warranty?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#ask-status.error")
    assert "400" in page.text_content("#ask-status")
    assert page.locator("#answer").is_hidden()
