"""What fuzzing has found interesting so far stays within the promises; `make fuzz` looks for more."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def _fuzz_on_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(Path(__file__).parents[1])
    yield
    for name in [name for name in sys.modules if name == "fuzz" or name.startswith("fuzz.")]:
        del sys.modules[name]


@pytest.mark.usefixtures("_fuzz_on_path")
@pytest.mark.parametrize("target", ["split", "query"])
def test_the_kept_corpus_holds(target: str) -> None:
    """Every input that was kept is answered, or refused with an error of ours."""
    from fuzz.corpus import read
    from fuzz.targets import TARGETS

    inputs = read(target)
    assert len(inputs) > 20
    for data in inputs:
        try:
            TARGETS[target](data)
        except BaseException as error:
            error.add_note(f"the input is {data!r}")
            raise
