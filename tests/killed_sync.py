"""Syncs a folder, and is killed on the way. Run by test_killed_sync.py."""

from __future__ import annotations

import sys

import nestling
from wordhash import WordHash


def main(path: str, folder: str) -> None:
    """Sync once; a line is printed for every step of it, then it waits to be killed."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.sync(folder, progress=lambda now: print(now.documents, flush=True))
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
