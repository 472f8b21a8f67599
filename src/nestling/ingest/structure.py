r"""The top-level structure of a text: headings, paragraphs, lists, code, tables; lossless, by offsets.

Markdown is read by markdown-it, of which only the block level is used. It counts lines, so line numbers are
turned into offsets here, by its own notion of a line (``\n``, ``\r\n``, ``\r`` and nothing else). Long texts
are read a window at a time, always restarting at the beginning of a block, where no state is open: the answer
is the same as for the whole, and memory stays bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from nestling.ingest.sniff import looks_like_markdown

Kind = Literal["heading", "paragraph", "list", "code", "table", "html", "front_matter", "quote", "rule"]

# Characters parsed at a time. A block longer than this doubles the window for itself, up to the largest: what
# goes on beyond that is read as if it began anew, since markdown-it needs some hundred bytes for every cell.
_WINDOW = 1 << 18
_LARGEST_WINDOW = 1 << 21

_KINDS: dict[str, Kind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "html_block": "html",
    "blockquote_open": "quote",
    "hr": "rule",
}
# At the very beginning, between two lines of three hyphens, where the first thing inside is a key; group 1 is
# what is inside.
FRONT_MATTER = re.compile(
    r"\A\ufeff?---[ \t]*(?:\r\n?|\n)(?=\s*(?:#[^\r\n]*[\r\n]\s*)*[\w\"'][^\r\n:]*:)"
    r"(.*?)(?<=[\r\n])---[ \t]*(?:\r\n?|\n|\Z)",
    re.S,
)
# Characters; what is longer is text that happens to begin with a rule.
FRONT_MATTER_SIZE = 65_536
_LINE = re.compile(r"\r\n?|\n")
_BLANK = re.compile(r"[^\S\r\n]*(?:\r\n?|\n)\s*(?=\S)")
_PARAGRAPH = re.compile(r"(?:\r\n?|\n)[^\S\r\n]*(?:\r\n?|\n)(?:[^\S\r\n]*(?:\r\n?|\n))*")
_MARKUP = re.compile(r"[\\`*_\[\]<>&!\r\n]")


@dataclass(frozen=True, slots=True)
class Block:
    """One top-level block of a text, with the blank lines after it.

    Attributes:
        kind: What it is.
        start: Offset of its first character.
        end: Offset after its last character; the next block starts here.
        path: Titles of the headings it stands under, outermost first; a heading's own title is its last.
        level: 1 to 6 for a heading, else 0.
        header: For a table its header rows (one or two, and the delimiter row) as they stand in the text;
            else empty.
    """

    kind: Kind
    start: int
    end: int
    path: tuple[str, ...] = ()
    level: int = 0
    header: str = ""


def blocks(text: str, markdown: bool | None = None) -> list[Block]:
    """Divide a text into its top-level blocks.

    Args:
        text: Any text.
        markdown: Whether to read it as Markdown; None decides by what it looks like.

    Returns:
        Blocks in order that cover the whole text without gaps: blank lines belong to the block before them,
        leading ones to the first. Plain text is paragraphs separated by blank lines. Empty for empty text.
    """
    if not text:
        return []
    if markdown is None:
        markdown = looks_like_markdown(text)
    if not markdown:
        cuts = [0, *(found.end() for found in _PARAGRAPH.finditer(text)), len(text)]
        return [Block("paragraph", a, b) for a, b in pairwise(cuts) if a < b]
    return _under_headings(_covering(_joined_headers(text, list(_raw_blocks(text))), len(text)))


def first_title(text: str) -> str:
    """Return the title of a Markdown text's first level-1 heading, reading no further; empty without one."""
    for block in _raw_blocks(text, 8192):
        if block.level == 1 and block.path[0]:
            return block.path[0]
    return ""


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _raw_blocks(text: str, window: int = _WINDOW) -> Iterator[Block]:
    """Yield the blocks where markdown-it sees them; a heading's path is only its own title."""
    start, size = (1 if text.startswith("\ufeff") else 0), window
    front = FRONT_MATTER.match(text, 0, FRONT_MATTER_SIZE)
    if front:
        start = front.end()
        yield Block("front_matter", 0, start)
    while start < len(text):
        end = _window_end(text, start + size)
        found = list(_window(text, start, end))
        if end < len(text) and len(found) < 2 and size < _LARGEST_WINDOW:
            size *= 2
            continue
        start = found.pop().start if end < len(text) and len(found) > 1 else end
        size = window
        yield from found


def _window_end(text: str, end: int) -> int:
    line = _LINE.search(text, end) if end < len(text) else None
    return line.end() if line else len(text)


def _window(text: str, start: int, end: int) -> Iterator[Block]:
    part = text[start:end]
    lines = [0, *(found.end() for found in _LINE.finditer(part)), len(part)]
    tokens = _parser().parse(part)
    for position, token in enumerate(tokens):
        kind = _KINDS.get(token.type)
        if token.level or kind is None or token.map is None:
            continue
        first, last = (lines[min(line, len(lines) - 1)] for line in token.map)
        block = Block(kind, start + first, start + last)
        if kind == "heading":
            title = _plain(tokens[position + 1])
            block = replace(block, path=(title,), level=int(token.tag[1]))
        elif kind == "table":
            block = replace(block, header=_header(part[first:last]))
        yield block


def _plain(inline: Token) -> str:
    """Return a heading's content without its markup, on one line."""
    if not _MARKUP.search(inline.content):
        return inline.content.strip()
    words: list[str] = []
    for token in _inline_parser().parseInline(inline.content)[0].children or []:
        if token.type in ("softbreak", "hardbreak"):
            words.append(" ")
        elif token.type in ("text", "code_inline", "image", "text_special"):
            words.append(token.content)
    return " ".join("".join(words).split())


def _header(table: str) -> str:
    """Return a table's header row and delimiter row, and its first body row where that goes on the header.

    Markdown has one header row. Two-row headers are written with the upper row's cells spread over several
    columns, and the lower row as the first of the body: both have no stub (or the lower is all bold).
    """
    ends = [found.end() for found in _LINE.finditer(table)]
    if len(ends) < 3:
        return table[: ends[1]] if len(ends) == 2 else table
    upper, lower = _cells(table[: ends[0]]), _cells(table[ends[1] : ends[2]])
    if len(upper) < 2 or upper[0] or len(lower) < 2:
        return table[: ends[1]]
    named = [cell for cell in lower[1:] if cell]
    if named and (not lower[0] or all(cell.startswith("**") for cell in named)):
        return table[: ends[2]]
    return table[: ends[1]]


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().removeprefix("|").removesuffix("|").split("|")]


def _joined_headers(text: str, found: list[Block]) -> list[Block]:
    """Join a one-line paragraph of cells that touches a table below it: the upper row of a two-row header."""
    joined: list[Block] = []
    for block in found:
        above = joined[-1] if joined else None
        if block.kind == "table" and above and above.kind == "paragraph" and above.end == block.start:
            row = text[above.start : above.end]
            if "|" in row and len(_LINE.findall(row)) == 1:
                joined.pop()
                block = replace(block, start=above.start, header=row + block.header)
        joined.append(block)
    return joined


def _covering(found: list[Block], length: int) -> list[Block]:
    """Stretch the blocks so that nothing lies between them."""
    if not found:
        return [Block("paragraph", 0, length)]
    starts = [0, *(block.start for block in found[1:]), length]
    return [
        replace(block, start=start, end=end)
        for block, (start, end) in zip(found, pairwise(starts), strict=True)
    ]


def _under_headings(found: list[Block]) -> list[Block]:
    """Give every block the path of headings it stands under."""
    open_headings: list[tuple[int, str]] = []
    placed: list[Block] = []
    path: tuple[str, ...] = ()
    for block in found:
        if block.kind == "heading":
            while open_headings and open_headings[-1][0] >= block.level:
                open_headings.pop()
            open_headings.append((block.level, block.path[0]))
            path = tuple(title for _, title in open_headings if title)
        placed.append(replace(block, path=path) if block.path != path else block)
    return placed
