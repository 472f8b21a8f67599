"""The commands ask and verify."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Run

import nestling
from handbook import DOCUMENTS
from models.chat_server import Reply, Service, serve
from nestling.models import patience

TRUE = "You have 30 days to return a lamp [cite:returns]."
FALSE = "You have 90 days to return a lamp [cite:returns]. So it is [cite:card-9]."


@pytest.fixture
def handbook(run: Run) -> Path:
    """``nest.nest`` with the handbook of a shop."""
    with nestling.open("nest.nest", create=True) as nest:
        nest.add(DOCUMENTS)
    return Path("nest.nest")


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A chat server on loopback."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(patience, "FIRST_WAIT", 0.001)
    monkeypatch.delenv("NESTLING_LLM", raising=False)
    with serve() as running:
        yield running


def test_ask_without_a_model(run: Run, handbook: Path) -> None:
    """Sentences with markers, what they cite with title and page, and how it was made."""
    done = run("ask", "how", "many", "days", "to", "return", "a", "lamp")
    assert done.exit_code == 0
    assert "You have 30 days to return a lamp. [cite:returns]\n" in done.stdout
    assert "[cite:returns] Returns, page 4\n" in done.stdout
    assert "full · sentences of the passages" in done.stdout


def test_ask_a_model(run: Run, handbook: Path, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """By option or by variable; a good answer ends with 0, one that does not hold with 1 and says what."""
    service.answer = lambda system, prompt: TRUE
    monkeypatch.setenv("NESTLING_LLM", f"openai:small@{service.url}")
    good = run("ask", "how long?")
    assert good.exit_code == 0
    assert good.stdout.startswith(f"{TRUE}\n\n[cite:returns] Returns, page 4\n")
    assert "full · by small · 10 + 9 tokens · 1 citation · 1 supported" in good.stdout
    service.answer = lambda system, prompt: FALSE
    bad = run("ask", "how long?", "--model", f"openai:other@{service.url}")
    assert bad.exit_code == 1
    assert "[cite:card-9] is no passage of the nest\n" in bad.stdout
    assert "fabricated: You have 90 days to return a lamp\n  not there: 90\n" in bad.stdout
    assert service.requests[-1]["model"] == "other"


def test_ask_abstains(run: Run, handbook: Path) -> None:
    """No answer is an answer: the reason, and 0, as for a search that finds nothing."""
    done = run("ask", "how long?", "--min-similarity", "1")
    assert done.exit_code == 0
    assert done.stdout.startswith("abstained: the best similarity 0.")
    told = json.loads(run("ask", "how long?", "--min-similarity", "1", "--json").stdout)
    assert (told["tier"], told["text"], told["context"]["passages"]) == ("abstained", "", [])


def test_ask_in_json(run: Run, handbook: Path, service: Service) -> None:
    """One value, nothing streamed before it, also where the model fails."""
    service.answer = lambda system, prompt: FALSE
    options = ("--model", f"openai:small@{service.url}", "--json")
    done = run("ask", "how long?", *options)
    told = json.loads(done.stdout)
    assert done.exit_code == 1
    assert told["verification"]["sound"] is False
    assert [each["standing"] for each in told["verification"]["citations"]] == ["sound", "unknown"]
    service.replies.append(Reply(status=404, body={"error": "no model"}))
    failed = run("ask", "how long?", *options)
    assert failed.exit_code == 7
    assert json.loads(failed.stdout)["error"]["type"] == "ModelError"


def test_an_answer_that_breaks_off_ends_its_line(run: Run, handbook: Path, service: Service) -> None:
    """What came is shown, then the error on a line of its own."""
    service.replies.append(Reply(chunks=[b'data: {"choices": [{"delta": {"content": "You have"}}]}\n\n']))
    done = run("ask", "how long?", "--model", f"openai:small@{service.url}")
    assert done.exit_code == 7
    assert done.stdout == "You have\n"
    assert "broke off after 8 characters" in done.stderr


def test_what_a_model_writes_cannot_steer_the_terminal(run: Run, handbook: Path, service: Service) -> None:
    """Escape sequences come out as pictures, in the answer and below it."""
    service.answer = lambda system, prompt: "Well \x1b]0;owned\x07 [cite:\x1b[31mx]."
    done = run("ask", "how long?", "--model", f"openai:small@{service.url}")
    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout


def test_verify_a_file_and_what_is_piped(run: Run, handbook: Path) -> None:
    """0 where all of it holds, 1 where not, in words and in JSON."""
    Path("good.txt").write_text(f"\ufeff{TRUE}", "utf-8")
    good = run("verify", "good.txt")
    assert (good.exit_code, good.stdout) == (
        0,
        "[cite:returns] Returns, page 4\n\n1 citation · 1 supported\n",
    )
    bad = run("verify", "-", input=FALSE)
    assert bad.exit_code == 1
    assert "fabricated: You have 90 days" in bad.stdout
    assert bad.stdout.endswith("2 citations, 1 sound · 1 fabricated\n")
    told = json.loads(run("verify", "-", "--json", input=FALSE).stdout)
    assert told["sound"] is False
    assert told["claims"][0]["verdict"] == "fabricated"


def test_verify_what_cannot_be_read(run: Run, handbook: Path) -> None:
    """A file that is not there, a folder, and bytes that are no text."""
    assert run("verify", "nothing.txt").exit_code == 4
    assert run("verify", ".").exit_code == 3
    Path("bytes").write_bytes(b"\xff\xfe\x00")
    assert "cannot be read as UTF-8" in run("verify", "bytes").stderr
