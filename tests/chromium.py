"""A Chromium for the tests: the one that Playwright installed, or the system's."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

# the shell has no window, starts sooner and needs a third less of the processor
SYSTEM = ("chromium-headless-shell", "chromium", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
# Milliseconds after which something that should have happened in a page has not.
PATIENCE = 60_000
# Where these tests must not be passed over for want of a browser, as in `.ci/run`.
REQUIRED = os.environ.get("NESTLING_BROWSER") == "required"


def needed(module: str) -> Any:
    """A module that the tests of a page need; missing, they are skipped, or fail where required."""
    if REQUIRED:
        return importlib.import_module(module)
    return pytest.importorskip(module, reason=f"{module} is not installed")


@contextmanager
def chromium() -> Iterator[Any]:
    """Start it, and close it when the block ends."""
    playwright = needed("playwright.sync_api")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as started:
        browser = launched(started.chromium, playwright.Error)
        browser.new_context().close()
        yield browser
        browser.close()


def launched(kind: Any, error: type[Exception]) -> Any:
    """The browser, running."""
    try:
        return kind.launch(args=FLAGS)
    except error as missing:
        if "Executable doesn't exist" not in str(missing):
            raise
        system = next(filter(None, map(shutil.which, SYSTEM)), None)
        if system is None and not REQUIRED:
            pytest.skip("there is no Chromium; `make browser` installs one")
        if system is None:
            raise
        return kind.launch(executable_path=system, args=FLAGS)
