"""Adds, replaces and removes documents for ever, until it is killed. Run by test_killed_writer.py."""

from __future__ import annotations

import sys

import nestling
from wordhash import WordHash


def text(n: int, version: int) -> str:
    """Several parents that all name their version."""
    return "\n\n".join(f"Document {n} in version {version}, paragraph {p}. " * 12 for p in range(1 + n % 7))


def main(path: str) -> None:
    """Write; the first line printed says that it has begun."""
    nest = nestling.open(path, create=True, embedder=WordHash())
    print("begun", flush=True)
    version = 0
    while True:
        version += 1
        nest.add(
            nestling.Document(f"d{n}", text(n, version), metadata={"version": version}) for n in range(25)
        )
        nest.remove([f"d{n}" for n in range(version % 5, 25, 5)])


if __name__ == "__main__":
    main(sys.argv[1])
