"""Answers in a browser: what each chip says, going back to them, and where there is none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from models.chat_server import Reply, Service
from models.chat_server import serve as serve_chat
from nestling.retrieve.prompt import NOT_SAID
from pages import Visit
from served import Serve, Served

expect = pytest.importorskip("playwright.sync_api", reason="playwright is not installed").expect
# slow: a browser waits for what a busy machine is late with
pytestmark = [pytest.mark.browser, pytest.mark.slow]

# one passage cited three times: a quote of it, one that is none, and a sentence
ANSWER = (
    "“Every lamp has a warranty of two years” [cite:warranty]. It adds:"
    " “Every lamp has a warranty of nine hundred years” [cite:warranty]."
    " The warranty covers faults of material and workmanship [cite:warranty]."
    " You have 30 days to return a lamp [cite:shipping]."
)
BROKEN = """async () => {
    const words = new TextEncoder().encode('event: text\\ndata: {"text": "Every lamp"}\\n\\n');
    const stream = () => new ReadableStream({
        start(all) { all.enqueue(words); setTimeout(() => all.error(new TypeError("network error")), 100); },
    });
    window.fetch = async () => new Response(stream(), { headers: { "Content-Type": "text/event-stream" } });
}"""


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


def test_each_chip_speaks_for_its_own_claim(server: Served, model: Service, visit: Visit) -> None:
    """A passage that is cited for a claim that holds and one that does not has both verdicts, each in its place."""
    model.replies.append(Reply(ANSWER))
    page = visit(f"{server.url}/#ask")
    expect(page.locator("#ask-status")).to_contain_text("every sentence of it is checked")
    page.fill("#question", "how long is the warranty?")
    page.keyboard.press("Enter")
    page.wait_for_selector("#answer .about")
    assert page.text_content("#ask-status") == "2 of 4 claims not supported by the passages."
    said = [chip.get_attribute("aria-label") for chip in page.locator("#answer .chip").all()]
    assert [each.partition(": ")[2] for each in said] == [
        "supported",
        "not in the passages",
        "supported",
        "found in another passage",
    ]
    page.locator("#answer .chip").nth(3).focus()
    expect(page.locator("#peek-said")).to_contain_text("it stands in returns")
    expect(page.locator("#peek .hint")).to_be_in_viewport()
    # a verdict follows the quotation mark, and a full stop its chip
    text = " ".join(page.text_content("#answer .said").split())
    assert "nine hundred years”⚠ not in the passages 1." in text


def test_going_back_to_an_answer(server: Served, model: Service, visit: Visit) -> None:
    """The answers of a visit come back with their questions, without asking again; others wait to be asked."""
    page = visit(f"{server.url}/#ask?q=who%20are%20you%3F")
    expect(page.locator("#ask-status")).to_contain_text("Not asked yet")
    for question in ("how long is the warranty?", "may I return a bulb?"):
        model.replies.append(Reply(f"You asked: {question} So it is."))
        page.fill("#question", question)
        page.keyboard.press("Enter")
        expect(page.locator("#answer .said")).to_contain_text(question)
        page.wait_for_selector("#answer .about")
    page.go_back()
    expect(page.locator("#answer .said")).to_contain_text("how long is the warranty?")
    assert page.input_value("#question") == "how long is the warranty?"
    page.go_back()
    expect(page.locator("#answer")).to_be_hidden()
    assert page.input_value("#question") == "who are you?"
    page.keyboard.press("Escape")
    page.click("nav >> text=Library")
    page.go_back()
    assert page.input_value("#question") == "who are you?"
    assert len(model.requests) == 2


def test_stopping_by_keyboard(server: Served, model: Service, visit: Visit) -> None:
    """The button that stops goes, and the focus with it to the question."""
    model.replies.append(Reply("Every lamp", delay=1.5))
    page = visit(f"{server.url}/#ask")
    page.fill("#question", "how long is the warranty?")
    page.keyboard.press("Enter")
    expect(page.locator("#answer")).to_have_attribute("aria-busy", "true")
    assert page.locator("#answer").is_hidden()
    page.focus("#stop")
    page.keyboard.press("Enter")
    expect(page.locator("#ask-status")).to_have_text("Stopped.")
    expect(page.locator("#question")).to_be_focused()


def test_an_answer_that_breaks_off(server: Served, visit: Visit) -> None:
    """A connection that is lost on the way is told in a sentence, and that nothing of it was verified."""
    page = visit(f"{server.url}/#ask")
    page.evaluate(BROKEN)
    page.fill("#question", "how long is the warranty?")
    page.keyboard.press("Enter")
    expect(page.locator("#ask-status.error")).to_contain_text("The answer broke off")
    assert "What was written so far was not verified." in page.text_content("#ask-status")
    expect(page.locator("#answer")).to_contain_text("Every lamp")
    assert page.locator("#stop").is_hidden()


def test_no_answer_leads_on(server: Served, model: Service, visit: Visit) -> None:
    """Where there is no answer, what is nearest is one step away, and nobody is said to have written it."""
    model.replies.append(Reply(NOT_SAID))
    page = visit(f"{server.url}/#ask")
    page.fill("#question", "who owns the lamp?")
    page.keyboard.press("Enter")
    expect(page.locator("#answer")).to_contain_text("No answer:")
    assert page.text_content("#answer .about") == ""
    page.click("#answer >> text=Search for it")
    expect(page.locator("#query")).to_have_value("who owns the lamp?")
    expect(page.locator(".card").first).to_be_visible()
