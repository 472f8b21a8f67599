"""The command line on the quick embedder. Run by test_watching.py, as a process to be signalled."""

from __future__ import annotations

import sys
from typing import Any

import nestling
from nestling.apps.cli import main
from nestling.opening import open_nest
from wordhash import WordHash


def with_word_hash(path: str, **options: Any) -> nestling.Nest:
    """Open a nest with that embedder, whatever was asked for."""
    return open_nest(path, **{**options, "embedder": WordHash()})


if __name__ == "__main__":
    nestling.open = with_word_hash  # type: ignore[assignment]
    sys.exit(main())
