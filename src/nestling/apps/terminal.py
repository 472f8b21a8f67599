"""What reaches the terminal: clean text, colours where they are wanted."""

from __future__ import annotations

import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import click

import nestling
from nestling.apps import wire

# Text is laid out to at most this many columns, also where there is no terminal.
COLUMNS = 100

# controls but tab and line feed, bidirectional overrides, lone surrogates
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean(text: str) -> str:
    """Text that no terminal obeys, of the same length: controls as their pictures (``␛``), others as ``�``."""
    return _UNSAFE.sub(lambda found: chr(0x2400 + ord(found[0])) if found[0] < " " else "�", text)


def line(text: str) -> str:
    """Clean text on one line."""
    return clean(" ".join(text.split()))


def paint(text: str, **style: Any) -> str:
    """Clean text in a style; the style is left out where the output is no terminal, or NO_COLOR is set."""
    return click.style(clean(text), **style)


def say(text: str = "") -> None:
    """Print a line made of clean or painted text."""
    click.echo(text)


def print_json(value: wire.JSON, indent: int | None = 2) -> None:
    """Print a JSON value, in one line without ``indent``."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    click.echo(wire.dumps(value, ascii_only=encoding != "utf8", indent=indent))


def print_text(text: str) -> None:
    """Print stored text: clean on a terminal, character for character into a pipe or file."""
    if not sys.stdout.isatty():
        sys.stdout.write(text)
    elif text:
        click.echo(clean(text.replace("\r\n", "\n")), nl=not text.endswith("\n"))


def complain(message: str, fresh: bool = False) -> None:
    """Print a line on stderr; ``fresh``: on a line of its own after ``^C``."""
    click.echo(f"{chr(10) if fresh and sys.stderr.isatty() else ''}nestling: {line(message)}", err=True)


def prepare(context: click.Context) -> None:
    """Never fail on a character that the output cannot show; no colour where NO_COLOR asks for none."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        context.color = False


def columns() -> int:
    """How wide text is laid out."""
    return min(COLUMNS, shutil.get_terminal_size((COLUMNS, 24)).columns) if sys.stdout.isatty() else COLUMNS


def rows() -> int | None:
    """How many lines a screen has; None where the output is no terminal."""
    return shutil.get_terminal_size((COLUMNS, 24)).lines if sys.stdout.isatty() else None


def width(text: str) -> int:
    """Columns that clean text takes: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def clipped(text: str, room: int) -> str:
    """Clean text on one line, cut to ``room`` columns with ``…``."""
    text = line(text)
    if width(text) <= room:
        return text
    while text and width(text) >= room:
        text = text[:-1]
    return f"{text.rstrip()}…"


def table(rows: Iterable[Sequence[str]], heads: Sequence[str]) -> None:
    """Print rows: aligned under their heads on a terminal, else tab-separated and without heads."""
    cells = [[line(cell) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            say("\t".join(row))
        return
    # the first cell is an id, to be copied
    cells = [[row[0], *(clipped(cell, 40) for cell in row[1:])] for row in [list(heads), *cells]]
    widths = [max(width(row[i]) for row in cells) for i in range(len(heads))]
    for n, row in enumerate(cells):
        text = "  ".join(cell + " " * (w - width(cell)) for cell, w in zip(row, widths, strict=True))
        say(paint(text.rstrip(), bold=n == 0 or None))


def summary(done: nestling.Report) -> str:
    """What adding did, in one line."""
    parts = [
        f"{len(ids):,} {name}"
        for name, ids in (
            ("added", done.added),
            ("updated", done.updated),
            ("renamed", done.renamed),
            ("removed", done.removed),
            ("unchanged", done.unchanged),
            ("empty", done.empty),
            ("failed", done.failed),
        )
        if ids
    ]
    if not parts:
        return "nothing to add"
    return f"{', '.join(parts)} · {done.embedded:,} children embedded, {done.reused:,} reused"


def finish() -> None:
    """Send what is still buffered, so that a reader that has gone is noticed now."""
    sys.stdout.flush()
