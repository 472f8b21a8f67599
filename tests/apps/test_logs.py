"""Events as JSON lines on stderr, where the environment asks for them."""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path

import pytest
from commands import Run

PAGE = Path(__file__).parents[2] / "docs" / "observing.md"


def test_events_are_json_lines(run: Run, cards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ``NESTLING_LOG=info`` each event is one line on stderr; stdout stays what it is."""
    quiet = run("search", "fever", "--json")
    monkeypatch.setenv("NESTLING_LOG", "info")
    done = run("search", "fever", "--json")
    assert done.stdout == quiet.stdout
    assert quiet.stderr == ""
    opened, searched = map(json.loads, done.stderr.splitlines())
    assert opened["event"] == "opened"
    assert list(searched)[:3] == ["time", "level", "event"]
    assert datetime.fromisoformat(searched["time"]).tzinfo is not None
    assert searched["level"] == "info"
    assert searched["parent_id"] == json.loads(done.stdout)["passages"][0]["id"]
    assert searched["ms"] > 0
    assert "fever" not in done.stderr.replace('"parent_id": "fever"', "")


def test_lines_cannot_steer_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids with control characters are escaped, and an event stays on its line."""
    Path("a\x1b[1m\nb.txt").write_text("A text.")
    monkeypatch.setenv("NESTLING_LOG", "info")
    done = run("add", "a\x1b[1m\nb.txt")
    lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    assert [line["event"] for line in lines] == ["opened", "added"]
    assert lines[1]["document"] == "a\x1b[1m\nb.txt"
    assert "\x1b" not in done.stderr


def test_warnings_only(run: Run, cards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ``warning`` what goes well is not told, and asking ends with the command."""
    monkeypatch.setenv("NESTLING_LOG", "warning")
    assert run("search", "fever").stderr == ""
    monkeypatch.delenv("NESTLING_LOG")
    assert run("search", "fever").stderr == ""


def test_another_level_is_refused(run: Run, cards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A typing error is named, with what there is."""
    monkeypatch.setenv("NESTLING_LOG", "loud")
    done = run("search", "fever")
    assert done.exit_code == 2
    assert "NESTLING_LOG is 'loud'; set it to one of info, warning" in done.stderr


def test_the_page_names_every_field(run: Run, cards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example and the table of docs/observing.md have what is printed."""
    page = PAGE.read_text("utf-8")
    monkeypatch.setenv("NESTLING_LOG", "info")
    Path("a.txt").write_text("A text.")
    printed = run("add", "a.txt").stderr + run("search", "fever").stderr + run("context", "fever").stderr
    printed += run("remove", "a.txt").stderr
    events = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    assert {event["event"] for event in events} == {"opened", "added", "searched", "packed", "removed"}
    (example,) = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL))
    assert list(example) == list(next(event for event in events if event["event"] == "searched"))
    for event in events:
        (row,) = (line for line in page.splitlines() if re.match(rf"\| [^|]*`{event['event']}`", line))
        for name in [*event][3:]:
            assert f"`{name}`" in row, (event["event"], name)
