"""docs/http.md says what the server does: every example is sent, and what comes is what is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from test_docs import agree, examples, shape

from served import Served

PAGE = (Path(__file__).parents[3] / "docs" / "http.md").read_text(encoding="utf-8")
REQUEST = re.compile(
    r"```http\n([A-Z]+) (\S+)\n((?:[\w-]+: [^\n]*\n)*)\n?(.*?)```\n+(.*?)(?=\n```http|\n#|\Z)", re.DOTALL
)
EXAMPLES = [found.groups() for found in REQUEST.finditer(PAGE)]


def route_table() -> set[tuple[str, str]]:
    """The methods and paths in the table of routes."""
    return set(re.findall(r"`(GET|POST|PUT|DELETE) (/[^`]*)`", PAGE.split("\n## ")[0]))


def test_every_route_is_in_the_table_and_has_an_example(server: Served) -> None:
    """No route is left out, and no example is of none."""
    described = {
        (method.upper(), path)
        for path, methods in server.http.get("/openapi.json").json()["paths"].items()
        for method in methods
    }
    assert route_table() - {("GET", "/openapi.json"), ("GET", "/")} == described
    shown = {(method, path.partition("?")[0]) for method, path, *_ in EXAMPLES}
    for method, path in described:
        pattern = re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)) + r"\Z")
        assert any(method == m and pattern.match(p) for m, p in shown), (method, path)


def test_every_example_is_answered_as_shown(server: Served) -> None:
    """Each request is accepted, and its answer has the names of what follows it, or of the section it names."""
    assert len(EXAMPLES) >= 18
    for method, path, head, body, after in EXAMPLES:
        headers = dict(line.split(": ", 1) for line in head.splitlines())
        headers.pop("Authorization", None)
        answer = server.http.request(method, path, headers=headers, content=body.encode() or None)
        place = (method, path, answer.text)
        assert answer.status_code < 300, place
        if "event-stream" in headers.get("Accept", ""):
            compare_events(answer.text, after)
            continue
        named = re.search(r"\(json\.md#(\w+)\)", after)
        inline = re.search(r"```json\n(.*?)```", after, re.DOTALL)
        if named:
            documented: Any = examples(named[1])[0]
        elif inline:
            documented = json.loads(inline[1])
        else:
            continue
        came = answer.json()
        if path == "/v1/evaluate":
            # figures are named after what was asked for
            assert list(documented) == list(came)
            documented, came = documented["recipe"], came["recipe"]
        assert agree(shape(documented), shape(came)), place


def compare_events(text: str, after: str) -> None:
    """Events come by the names and in the order shown, each with the names of its value."""
    shown = re.findall(r"event: (\w+)\ndata: (.*)", after)
    came = re.findall(r"event: (\w+)\ndata: (.*)", text)
    assert came[-1][0] == shown[-1][0]
    assert {name for name, _ in came} <= {name for name, _ in shown}
    for name, data in shown[:-1]:
        for other, value in came:
            assert other != name or json.loads(value).keys() == json.loads(data).keys()


@pytest.mark.parametrize(
    "status", [400, 401, 403, 404, 405, 409, 413, 415, 429, 500, 501, 502, 503, 504, 507]
)
def test_every_status_is_in_the_table(status: int) -> None:
    """What the server answers with is listed, with the class of the error."""
    table = PAGE.split("\n## Errors")[1].split("\n## ")[0]
    assert re.search(rf"^\| (?:\d+, )*{status}\b", table, re.MULTILINE)


def test_every_limit_is_as_said() -> None:
    """The defaults in the table are those of the options."""
    from nestling.apps.serve import serve

    defaults = {option.opts[0]: option.default for option in serve.params}
    table = dict(re.findall(r"^\| `(--[\w-]+)` \| ([\d,]+)", PAGE, re.MULTILINE))
    assert len(table) == 5
    for name, said in table.items():
        assert float(said.replace(",", "")) == float(defaults[name]), name
