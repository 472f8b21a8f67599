"""Fixtures that several rooms use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import nestling
from wordhash import WordHash

# the machines that run the tests are slow and shared: time is measured in benchmarks/, not here
settings.register_profile("nestling", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("nestling")


@pytest.fixture
def embedder() -> WordHash:
    """A fast embedder whose calls can be looked at."""
    return WordHash()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a nest can be made."""
    return tmp_path / "test.nest"


@pytest.fixture
def nest(path: Path, embedder: WordHash) -> Iterator[nestling.Nest]:
    """An empty nest in a file."""
    with nestling.open(path, create=True, embedder=embedder) as nest:
        yield nest
