"""From a document to its parents and children: spans only, never a changed character.

Children are cut first and parents are runs of children, so that a child's text depends on its own
surroundings alone. A section that is large enough begins and ends with a child; runs of small ones share
children.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

from nestling.errors import SettingError
from nestling.ingest.budget import Ruler
from nestling.ingest.cuts import CORE, PROSE, ROWS, WORD, cut, strength, strongest
from nestling.ingest.graphemes import whole
from nestling.ingest.layout import Layout, layout
from nestling.ingest.lead import lead
from nestling.settings import Recipe
from nestling.types import Child, Document, Parent

# Changes whenever the same text would be cut in another way.
SPLITTER: Final = 1

# The share of a child's budget from which a heading, or the beginning of another block, ends a child.
_HEADING_SHARE = 0.3
_BLOCK_SHARE = 0.4
# The least a piece may hold of its budget when a table or code that fits the next is kept whole for it.
_ROWS_SHARE = 0.15
# Sections that together hold less than this share of a parent are put before a large one, not left alone.
_TINY_SHARE = 0.15
# A last piece shorter than this share of the budget is balanced with the one before it.
_TAIL_SHARE = 0.25


def split(
    document: Document, recipe: Recipe, count: Callable[[str], int] | None = None
) -> tuple[Parent, ...]:
    """Divide a document into parents and children.

    Both are contiguous and in order: the parents cover the text, the children cover their parent (and repeat
    up to ``overlap`` of the child before). White space belongs to the piece before it, up to its last line
    end; indentation belongs to its line. No piece is larger than its size in the recipe, unless a single
    grapheme cluster is. Cuts depend on the text around them: an edit changes the children near it, no others.

    Args:
        document: The document.
        recipe: The sizes.
        count: Counts the tokens of a text; needed where ``recipe.unit`` is ``tokens``, else unused.

    Returns:
        The parents. A document that fits ``parent_size`` is one parent with the document's id. An empty
        document, or one of white space only, has none.

    Raises:
        SettingError: The unit is tokens and there is no ``count``.
    """
    if recipe.unit == "tokens" and count is None:
        raise SettingError(
            "recipe.unit is 'tokens' but no token counter was given; pass the embedder's count"
        )
    text = document.text
    if not text or text.isspace():
        return ()
    ruler = Ruler(text, count if recipe.unit == "tokens" else None)
    form = layout(document)
    pieces = _pieces(form, ruler, recipe)
    runs = list(_runs(form, ruler, recipe.parent_size, pieces, 0, len(pieces) - 1))
    only = len(runs) == 1
    leads: dict[object, str] = {}
    parents = []
    for number, (first, last) in enumerate(runs, 1):
        name = document.id if only else f"{document.id}§{number}"
        starts = _starts(ruler, recipe, pieces, first, last)
        children = tuple(
            Child(
                f"{name}::{place:02d}",
                start,
                pieces[first + place + 1],
                _lead(form, document.title, start, leads) if recipe.lead else "",
            )
            for place, start in enumerate(starts)
        )
        parents.append(
            Parent(name, pieces[first], pieces[last], form.common_path(pieces[first], pieces[last]), children)
        )
    return tuple(parents)


def _lead(form: Layout, title: str, start: int, known: dict[object, str]) -> str:
    place = form.place(start, title)
    found = known.get(place)
    if found is None:
        found = known[place] = lead(*place)
    return found


def _pieces(form: Layout, ruler: Ruler, recipe: Recipe) -> list[int]:
    """Return the offsets at which children begin, and the end of the text."""
    offsets = [0]
    half = max(1, recipe.child_size // 2)
    run = 0
    for start, end in pairwise((*form.sections, len(ruler.text))):
        if ruler.reach(start, end, half) < end:
            if run < start:
                _cut_run(form, ruler, recipe, run, start, offsets)
            _cut_run(form, ruler, recipe, start, end, offsets)
            run = end
    if run < len(ruler.text):
        _cut_run(form, ruler, recipe, run, len(ruler.text), offsets)
    return offsets


def _cut_run(form: Layout, ruler: Ruler, recipe: Recipe, start: int, end: int, offsets: list[int]) -> None:
    """Cut ``[start, end)`` into pieces and append where each ends."""
    while start < end:
        hard = ruler.reach(start, end, recipe.child_size)
        soft = hard
        if recipe.overlap:
            soft = ruler.reach(start, end, recipe.child_size - recipe.overlap)
        start = _piece_end(form, ruler, recipe.child_size, start, end, soft, hard)
        offsets.append(start)


def _piece_end(form: Layout, ruler: Ruler, size: int, start: int, end: int, soft: int, hard: int) -> int:
    while soft < end:
        span = soft - start
        tail = int(span * _TAIL_SHARE)
        aim = end - tail if end - soft < tail else soft
        chosen = _structural(form, ruler.text, start, aim)
        if not chosen:
            tiers = ROWS if form.in_rows(aim) else PROSE
            chosen = cut(ruler.text, start, aim, hard, tiers, form.glued)
        if ruler.count is None or chosen > hard or chosen - start < 2 or ruler.fits(start, chosen, size):
            return chosen
        soft = hard = chosen - 1
    return end


def _structural(form: Layout, text: str, start: int, end: int) -> int:
    """Return the heading or block start that should end a piece, or 0."""
    span = end - start
    low = bisect_left(form.marks, start + max(1, int(span * _HEADING_SHARE)))
    high = bisect_right(form.marks, end)
    if low >= high:
        return _before_rows(form, start, end)
    best = max(form.ranks[low:high])
    found = [form.marks[at] for at in range(low, high) if form.ranks[at] == best]
    if not best:
        found = [mark for mark in found if mark >= start + span * _BLOCK_SHARE]
    return strongest(text, found, start + int(span * CORE)) if found else _before_rows(form, start, end)


def _before_rows(form: Layout, start: int, end: int) -> int:
    """Return where a table or code begins (with what announces it) that would be cut and need not be, or 0."""
    if not form.in_rows(end):
        return 0
    at = bisect_right(form.marks, end)
    begin = form.marks[at - 1] if at else 0
    after = form.marks[at] if at < len(form.marks) else form.blocks[-1].end
    span = end - start
    return begin if begin >= start + span * _ROWS_SHARE and after - begin <= span else 0


def _runs(
    form: Layout, ruler: Ruler, size: int, pieces: list[int], first: int, last: int, below: int = 7
) -> Iterator[tuple[int, int]]:
    """Divide pieces ``first`` to ``last`` into runs that fit: by headings ranked below, then by what is near."""
    if ruler.fits(pieces[first], pieces[last], size):
        yield first, last
        return
    ranks = [form.heading_rank(pieces[at]) for at in range(first + 1, last)]
    best = max((rank for rank in ranks if rank < below), default=0)
    if not best:
        yield from _packed(ruler, size, pieces, list(range(first, last + 1)))
        return
    bounds = [first, *(at for at, rank in enumerate(ranks, first + 1) if rank == best), last]
    small = [first]
    for start, end in pairwise(bounds):
        if ruler.fits(pieces[start], pieces[end], size):
            small.append(end)
            continue
        if len(small) > 1 and ruler.fits(pieces[small[0]], pieces[start], max(1, int(size * _TINY_SHARE))):
            start = small[0]
        elif len(small) > 1:
            yield from _packed(ruler, size, pieces, small)
        yield from _runs(form, ruler, size, pieces, start, end, best)
        small = [end]
    if len(small) > 1:
        yield from _packed(ruler, size, pieces, small)


def _packed(ruler: Ruler, size: int, pieces: list[int], bounds: list[int]) -> Iterator[tuple[int, int]]:
    """Join neighbours, each of which fits, into runs that fit."""
    offsets = [pieces[bound] for bound in bounds]
    at = 0
    while at < len(bounds) - 1:
        start = offsets[at]
        end = ruler.reach(start, offsets[-1], size)
        most = max(at + 1, bisect_right(offsets, end) - 1)
        while most > at + 1 and not ruler.fits(start, offsets[most], size):
            most -= 1
        to = most
        if most < len(offsets) - 1:
            low = max(at + 1, bisect_left(offsets, start + int((end - start) * CORE)))
            near = offsets[low : most + 1]
            if len(near) > 1:
                best = max(strength(ruler.text, offset) for offset in near)
                near = [offset for offset in near if strength(ruler.text, offset) == best]
                to = bisect_left(offsets, strongest(ruler.text, near, start))
        yield bounds[at], bounds[to]
        at = to


def _starts(ruler: Ruler, recipe: Recipe, pieces: list[int], first: int, last: int) -> list[int]:
    """Return where the children of a run begin, overlap included."""
    starts = pieces[first:last]
    if not recipe.overlap:
        return starts
    for at in range(1, len(starts)):
        starts[at] = _overlapped(ruler, recipe, starts[at - 1], starts[at], pieces[first + at + 1])
    return starts


def _overlapped(ruler: Ruler, recipe: Recipe, previous: int, start: int, end: int) -> int:
    """Move a child's start left over whole words."""
    low = previous + 1
    if ruler.count is None:
        low = max(low, start - recipe.overlap, end - recipe.child_size)
    words = [found.end() for found in WORD.finditer(ruler.text, low - 1, start) if low <= found.end() < start]
    at = bisect_left(
        words,
        True,
        key=lambda word: (
            whole(ruler.text, word)
            and ruler.fits(word, start, recipe.overlap)
            and ruler.fits(word, end, recipe.child_size)
        ),
    )
    return words[at] if at < len(words) else start
