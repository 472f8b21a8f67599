"""What a change costs: one word in a long document, a renamed file, and a folder in which nothing has changed.

``python benchmarks/edit.py``; ``--quick`` with hashed words in place of the model. The text is Python's own
reference, which every Python has.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from pydoc_data.topics import topics

import nestling

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from wordhash import WordHash

# about 200 pages of 2,000 characters
CHARACTERS = 400_000
WORD = "Moreover "
FILES = 2_000


def main() -> None:
    """Print one line a measurement."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="hashed words in place of the built-in model")
    model = WordHash() if arguments.parse_args().quick else nestling.MiniLM()
    with tempfile.TemporaryDirectory() as folder:
        with nestling.open(Path(folder) / "book.nest", create=True, embedder=model) as nest:
            edits(nest, Path(folder) / "book")
        with nestling.open(Path(folder) / "many.nest", create=True, embedder=WordHash()) as nest:
            unchanged(nest, Path(folder) / "many")


def book() -> str:
    """Topics of the reference one after the other, as Markdown chapters."""
    return "\n\n".join(f"# {name}\n\n{text.strip()}" for name, text in sorted(topics.items()))[:CHARACTERS]


def edits(nest: nestling.Nest, folder: Path) -> None:
    """One document, to which one thing after the other is done."""
    folder.mkdir()
    file, text = folder / "book.md", "# The book\n\n" + book()
    file.write_text(text, "utf-8")
    report, seconds = timed(lambda: nest.sync(folder))
    print(f"a document of {len(text):,} characters: {report.embedded:,} children embedded in {seconds:.1f} s")
    start, middle = text.index("\n\n", 20) + 2, text.index(" ", len(text) // 2) + 1
    for name, place in (("at its start", start), ("in the middle", middle), ("at its end", len(text))):
        text = text[:place] + WORD + text[place:]
        file.write_text(text, "utf-8")
        show(f"a word inserted {name}", nest, folder)
    text = text[:start] + "".join(f"Sentence {n} of a new page. " for n in range(70)) + "\n\n" + text[start:]
    file.write_text(text, "utf-8")
    show("a page inserted at its start", nest, folder)
    text = text.replace("# The book", "# The new book", 1)
    file.write_text(text, "utf-8")
    show("another title, which stands before every child", nest, folder)
    file = file.rename(folder / "renamed.md")
    show("the file renamed, its title being in the text", nest, folder)
    plain = folder / "plain.txt"
    plain.write_text(book(), "utf-8")
    nest.sync(folder)
    plain.rename(folder / "other.txt")
    show("plain text renamed, its title being its name", nest, folder)


def unchanged(nest: nestling.Nest, folder: Path) -> None:
    """A folder of many files, synced again."""
    chance = random.Random(1)
    parts = [part for text in topics.values() for part in text.split("\n\n")]
    for n in range(FILES):
        file = folder / f"{n % 20:02d}" / (f"{n}.md" if n % 2 else f"{n}.txt")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Title of {n}\n\n" + "\n\n".join(chance.choices(parts, k=12)), "utf-8")
    size = sum(file.stat().st_size for file in folder.rglob("*.*"))
    nest.sync(folder)
    _, seconds = min((timed(lambda: nest.sync(folder)) for _ in range(3)), key=lambda each: each[1])
    print(
        f"{FILES:,} unchanged files of {size / 1e6:.1f} MB: {seconds:.2f} s, {1e3 * seconds / FILES:.2f} ms a file"
    )


def show(what: str, nest: nestling.Nest, folder: Path) -> None:
    """Sync, and print what it took."""
    report, seconds = timed(lambda: nest.sync(folder))
    assert report.updated or report.renamed, what
    print(f"{what}: {report.embedded:,} of {report.embedded + report.reused:,} embedded, {seconds:.2f} s")


def timed(call: Callable[[], nestling.Report]) -> tuple[nestling.Report, float]:
    """What a call gave, and its wall time."""
    began = time.perf_counter()
    report = call()
    return report, time.perf_counter() - began


if __name__ == "__main__":
    main()
