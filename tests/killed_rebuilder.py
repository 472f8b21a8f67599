"""Rebuilds, switches, rolls back and prunes for ever, until it is killed. Run by test_killed_writer.py."""

from __future__ import annotations

import sys

import nestling
from wordhash import WordHash


def main(path: str) -> None:
    """Rebuild; the first line printed says that it has begun."""
    nest = nestling.open(path, embedder=WordHash())
    print("begun", flush=True)
    turn = 0
    while True:
        turn += 1
        sizes = nestling.Recipe(child_size=100 + turn % 3 * 50, parent_size=300)
        nest.rebuild(sizes)
        if turn % 2:
            nest.rollback()
        if turn % 3 == 0:
            nest.prune()


if __name__ == "__main__":
    main(sys.argv[1])
