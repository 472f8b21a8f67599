"""What the splitter needs to know of a document's structure, as sorted offsets."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from nestling.ingest.cuts import LINE
from nestling.ingest.sniff import looks_like_markdown, markdown_by_name
from nestling.ingest.structure import Block, blocks
from nestling.types import Document

# A short paragraph that announces the block after it, and stays with it.
_ANNOUNCING = re.compile(r"[^\n\r]{1,160}:\**\s*\Z|\*\*[^\n\r]{1,160}\*\*\s*\Z")


@dataclass(frozen=True, slots=True)
class Layout:
    """The structure of one document.

    Attributes:
        blocks: Its blocks; empty for plain text.
        starts: Where they start.
        marks: Starts of the blocks a piece may begin with.
        ranks: For each mark 6 to 1 for a heading of level 1 to 6, 0 for any other block.
        glued: Where a piece should not begin: text after a heading, a table after the line that announces it,
            the first row after a header, a line after or before a fence.
        sections: 0, and the marks that are headings.
    """

    blocks: list[Block]
    starts: list[int]
    marks: list[int]
    ranks: list[int]
    glued: frozenset[int]
    sections: list[int]

    def heading_rank(self, offset: int) -> int:
        """Return the rank of the heading a piece begins with: 6 to 1, or 0 for none."""
        at = bisect_left(self.marks, offset)
        return self.ranks[at] if at < len(self.marks) and self.marks[at] == offset else 0

    def at(self, offset: int) -> Block | None:
        """Return the block an offset lies in; None in plain text."""
        return self.blocks[bisect_right(self.starts, offset) - 1] if self.blocks else None

    def in_rows(self, offset: int) -> bool:
        """Tell whether an offset lies in a table or in code, past its first line's start."""
        block = self.at(offset)
        return block is not None and block.kind in ("table", "code") and offset > block.start

    def place(self, offset: int, title: str) -> tuple[str, tuple[str, ...], str]:
        """Return what the lead of a child that begins here has to say.

        Args:
            offset: Where the child begins.
            title: The document's title.

        Returns:
            Title, heading path and table header, without what stands at the beginning of the child.
        """
        block = self.at(offset)
        if block is None:
            return title, (), ""
        if block.kind == "heading" and offset == block.start:
            path = block.path[:-1]
            said = not path and block.path and block.path[-1].casefold() == title.strip().casefold()
            return ("" if said else title), path, ""
        past_header = offset >= block.start + len(block.header)
        return title, block.path, block.header if past_header else ""

    def common_path(self, start: int, end: int) -> tuple[str, ...]:
        """Return the headings that everything in a span stands under, front matter aside."""
        first, last = bisect_right(self.starts, start) - 1, bisect_left(self.starts, end)
        paths = [block.path for block in self.blocks[max(0, first) : last] if block.kind != "front_matter"]
        if not paths:
            return ()
        low, high = min(paths), max(paths)
        shared = next((at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), None)
        return low[:shared]


def layout(document: Document) -> Layout:
    """Read a document's structure.

    Args:
        document: A document; its source's suffix decides whether it is Markdown, else its beginning.

    Returns:
        The structure; that of plain text is empty, since paragraphs are found while cutting.
    """
    markdown = markdown_by_name(document.source)
    if markdown is None:
        markdown = looks_like_markdown(document.text)
    found = blocks(document.text, True) if markdown else []
    marks, ranks, glued = [], [], []
    for at, block in enumerate(found[1:], 1):
        if _glued(document.text, found[at - 1], block):
            glued.append(block.start)
        else:
            marks.append(block.start)
            ranks.append(7 - block.level if block.level else 0)
    for block in found:
        if block.kind in ("table", "code"):
            glued += _held_lines(document.text, block)
    sections = [0, *(mark for mark, rank in zip(marks, ranks, strict=True) if rank)]
    return Layout(found, [block.start for block in found], marks, ranks, frozenset(glued), sections)


def _held_lines(text: str, block: Block) -> list[int]:
    """Return where the lines begin that stay with the header of a table or with a fence."""
    if block.kind == "table":
        body = text.index(block.header, block.start) + len(block.header)
        return [line.end() for line in LINE.finditer(text, block.start, body)]
    code = text[block.start : block.end].rstrip()
    if not code.lstrip().startswith(("```", "~~~")):
        return []
    lines = [block.start + line.end() for line in LINE.finditer(code)]
    return [lines[0], lines[-1]] if len(lines) > 1 else []


def _glued(text: str, above: Block, block: Block) -> bool:
    if above.kind == "heading":
        return True
    if above.kind != "paragraph" or block.kind not in ("table", "code", "list"):
        return False
    return above.end - above.start <= 200 and bool(_ANNOUNCING.fullmatch(text[above.start : above.end]))
