"""Watches a folder until it is told to stop. Run by test_watching.py, as a process to be signalled."""

from __future__ import annotations

import sys

import nestling
from nestling.apps.cli import main
from wordhash import WordHash

if __name__ == "__main__":
    opened = nestling.open

    def with_word_hash(path, **options):  # type: ignore[no-untyped-def]
        return opened(path, **{**options, "embedder": WordHash()})

    nestling.open = with_word_hash  # type: ignore[assignment]
    sys.exit(main())
