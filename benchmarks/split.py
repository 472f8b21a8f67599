"""How fast documents are split: MB/s of plain text and of Markdown.

Run ``python benchmarks/split.py`` for text that comes with Python, or ``python benchmarks/split.py FOLDER`` for
the text and Markdown files of a folder.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pydoc_data.topics import topics

from nestling.ingest.load import load
from nestling.ingest.split import split
from nestling.settings import Recipe
from nestling.types import Document


def documents(folder: str | None) -> Iterator[tuple[str, list[Document]]]:
    """Yield kinds of text, each with its documents."""
    if folder is not None:
        found = [each for each in load(folder) if isinstance(each, Document)]
        for kind in sorted({(each.source or "").rpartition(".")[2] for each in found}):
            yield f".{kind}", [each for each in found if (each.source or "").endswith(f".{kind}")]
        return
    plain = "\n\n".join(topics.values())
    markdown = "\n\n".join(f"## {name}\n\n{text}" for name, text in topics.items())
    yield "plain text", [Document("plain", plain * 10, source="topics.rst")]
    yield "Markdown", [Document("markdown", markdown * 4, source="topics.md")]


def main() -> None:
    """Print a table."""
    print(
        f"{'text':<12} {'MB':>6} {'MB/s':>6} {'children':>9} {'mean size':>9} {'parents':>8} {'mean size':>9}"
    )
    for kind, found in documents(sys.argv[1] if len(sys.argv) > 1 else None):
        size = sum(len(document.text) for document in found)
        start = time.perf_counter()
        parents = [parent for document in found for parent in split(document, Recipe())]
        seconds = time.perf_counter() - start
        children = sum(len(parent.children) for parent in parents)
        print(
            f"{kind:<12} {size / 1e6:>6.1f} {size / 1e6 / seconds:>6.1f} {children:>9} "
            f"{size / max(1, children):>9.0f} {len(parents):>8} {size / max(1, len(parents)):>9.0f}"
        )


if __name__ == "__main__":
    main()
