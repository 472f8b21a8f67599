"""Three documents to ask golden questions of: two cards and a manual of several parents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nestling
from wordhash import WordHash

MANUAL = "# Manual\n\n" + "".join(
    f"## Part {n}\n\nThe {word} is painted {colour}. "
    + f"More about the {word} and how it is cleaned every week. " * 30
    + "\n\n"
    for n, (word, colour) in enumerate((("gate", "red"), ("bridge", "green"), ("tower", "blue")))
)
DOCUMENTS = (
    nestling.Document("iron", "Iron is absorbed best on an empty stomach.", "Iron", {"year": 2021}),
    nestling.Document(
        "ibuprofen", "Take it with food.\n An empty  stomach is bad.", "Ibuprofen", {"year": 2024}
    ),
    nestling.Document("manual.md", MANUAL, "Manual", {"year": 2024}),
)


def library() -> nestling.Nest:
    """A nest of them in memory, with the fast embedder."""
    nest = nestling.open(":memory:", embedder=WordHash())
    nest.add(DOCUMENTS)
    return nest


def span(words: str, document: str = "manual.md") -> nestling.GoldSpan:
    """The first place of these words."""
    start = next(d.text for d in DOCUMENTS if d.id == document).index(words)
    return nestling.GoldSpan(document, start, start + len(words))


def parent_of(nest: nestling.Nest, words: str) -> str:
    """The id of the manual's parent that holds these words."""
    tree = nest.show("manual.md")
    assert tree is not None
    return next(p.id for p in tree.parents if words in tree.document.text[p.start : p.end])


def write_lines(path: Path, *rows: Mapping[str, Any] | str) -> Path:
    """A file of these rows, one a line; text as it stands."""
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), "utf-8")
    return path
