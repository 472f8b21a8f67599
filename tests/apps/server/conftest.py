"""Servers for the tests, on the quick embedder of the commands' tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import nestling
from served import Serve, Served
from wordhash import WordHash

CARDS = (
    nestling.Document(
        "stomach", "Take it with food, never on an empty stomach.", "Dosage", {"lang": "en", "year": 2023}
    ),
    nestling.Document(
        "fever", "See a doctor when a fever lasts for more than three days.", "Fever", {"lang": "en"}
    ),
    nestling.Document("fieber", "Bei Fieber viel trinken und ruhen.", "Fieber", {"lang": "de", "year": 2019}),
)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Serve]:
    """Serve ``handbook.nest``, which holds three cards, with the options of `Serving`."""
    opened = nestling.open

    def with_word_hash(path: Any, **options: Any) -> nestling.Nest:
        if not str(path).startswith("http"):
            options["embedder"] = options.get("embedder") or WordHash()
        return opened(path, **options)

    monkeypatch.setattr(nestling, "open", with_word_hash)
    monkeypatch.delenv("NESTLING_KEY", raising=False)
    path = tmp_path / "handbook.nest"
    with nestling.open(path, create=True) as nest:
        nest.add(CARDS)
    with ExitStack() as stack:

        def served(**options: Any) -> Served:
            return stack.enter_context(Served(path, tmp_path / "shared", **options))

        yield served


@pytest.fixture
def server(serve: Serve) -> Served:
    """A server as it is without options."""
    return serve()
