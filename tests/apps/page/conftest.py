"""The page in a real browser, against a real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import nestling
from chromium import PATIENCE, chromium
from handbook import DOCUMENTS
from pages import EMOJI, EVIL, MANUAL, Visit
from served import Serve, Served
from wordhash import WordHash


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, started once a module: its event loop would be in the way of others that come after."""
    with chromium() as started:
        yield started


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Serve]:
    """Serve a shop's handbook, a manual, and texts that are hard to show, with the options of `Serving`."""
    opened = nestling.open

    def with_word_hash(path: Any, **options: Any) -> nestling.Nest:
        return opened(path, **{"embedder": WordHash(), **options})

    monkeypatch.setattr(nestling, "open", with_word_hash)
    path = tmp_path / "handbook.nest"
    with nestling.open(path, create=True) as nest:
        nest.add(
            [
                *DOCUMENTS,
                nestling.Document("manual.md", MANUAL, "Manual", {"lang": "en", "year": 2024}, "manual.md"),
                nestling.Document("emoji", EMOJI, "Emoji 😀", {"lang": "en", "year": 2020}),
                nestling.Document(EVIL[:60], EVIL, EVIL, {"<b>field</b>": EVIL[:40], "lang": "xx"}, EVIL),
            ]
        )
    with ExitStack() as stack:

        def served(**options: Any) -> Served:
            return stack.enter_context(Served(path, tmp_path / "shared", **options))

        yield served


@pytest.fixture
def server(serve: Serve) -> Served:
    """A server as it is without options."""
    return serve()


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    """Open an address in a fresh tab; in the end no console message may be left but those a test allows."""
    told: list[str] = []
    allowed: list[str] = []
    with ExitStack() as stack:

        def visited(
            address: str, width: int = 1280, scheme: str = "light", allow: str = "", **options: Any
        ) -> Any:
            if allow:
                allowed.extend(allow.split("|"))
            viewport = {"width": width, "height": 800}
            context = browser.new_context(viewport=viewport, color_scheme=scheme, **options)
            stack.callback(context.close)
            context.set_default_timeout(PATIENCE)
            page = context.new_page()
            page.on("console", lambda message: told.append(message.text))
            page.on("pageerror", lambda error: told.append(str(error)))
            page.goto(address)
            return page

        yield visited
    assert [each for each in told if not any(word in each for word in allowed)] == []
