"""Several segments made into one, without the rows of documents that are gone.

Large arrays come in pieces, so that a file can be written of more than memory holds; words and their postings
are put together in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nestling.stores.segment import Array, Positions, Segment, spread
from nestling.stores.segment_making import dictionary, holding, named, narrowest, offsets
from nestling.types import Level

# Rows copied at once.
SLAB = 8192

_COPIED: dict[Level, tuple[str, ...]] = {
    "document": ("row", "terms", "scale", "weight"),
    "parent": ("row", "terms", "scale", "weight"),
    "child": ("row", "terms", "scale", "codes", "start", "stop"),
}

Pieces = Callable[[], Iterable[Array]]


@dataclass(frozen=True, eq=False)
class Part:
    """A segment, and which of its documents are kept; all where ``alive`` is None."""

    segment: Segment
    alive: NDArray[np.bool_] | None = None

    @cached_property
    def documents(self) -> Positions:
        """Positions of the documents that are kept."""
        if self.alive is None:
            return np.arange(self.segment.count("document"))
        return np.flatnonzero(self.alive)

    @cached_property
    def parents(self) -> Positions:
        """Positions of their parents, in row order."""
        if self.alive is None:
            return np.arange(self.segment.count("parent"))
        return np.sort(spread(*self.segment.below("document", self.documents)))

    @cached_property
    def children(self) -> Positions:
        """Positions of their children, in row order."""
        if self.alive is None:
            return np.arange(self.segment.count("child"))
        return spread(*self.segment.below("parent", self.parents))

    def kept(self, level: Level) -> Positions:
        """Positions of what is kept of a level."""
        found: Positions = getattr(
            self, {"document": "documents", "parent": "parents", "child": "children"}[level]
        )
        return found

    def places(self, level: Level) -> Positions:
        """For each row of a level its position among those that are kept, -1 where it is not."""
        place = np.full(self.segment.count(level), -1, np.intp)
        place[self.kept(level)] = np.arange(len(self.kept(level)))
        return place

    def slabs(self, name: str) -> Iterator[Array]:
        """What is kept of an array, some rows at a time."""
        level: Level = name.partition(".")[0]  # type: ignore[assignment]
        values, kept = self.segment.arrays[name], self.kept(level)
        for at in range(0, len(kept), SLAB):
            yield values[at : at + SLAB] if self.alive is None else values[kept[at : at + SLAB]]


def joined(parts: Sequence[Part]) -> Segment:
    """One segment in memory of several; their rows must follow each other."""
    return Segment({name: np.concatenate(list(pieces())) for name, pieces in merged(parts).items()})


def merged(parts: Sequence[Part]) -> Mapping[str, Pieces]:
    """The arrays of one segment of several, each in pieces; their rows must follow each other."""
    found: dict[str, Pieces] = {}
    exact = all("child.exact" in part.segment.arrays for part in parts)
    documents = _Documents(parts)
    for level, fields in _COPIED.items():
        for name in (f"{level}.{field}" for field in (*fields, *(["exact"] if exact else []))):
            found[name] = documents.slabs(name) if level == "document" else _one_after_the_other(parts, name)
    owners = documents.named() | documents.owners() | _children(parts) | _words(parts)
    return found | {name: _whole(array) for name, array in owners.items()}


def _whole(array: Array) -> Pieces:
    return lambda: [array]


def _one_after_the_other(parts: Sequence[Part], name: str) -> Pieces:
    # an array of no length still tells its type and width
    return lambda: (piece for part in parts for piece in (part.segment.arrays[name][:0], *part.slabs(name)))


class _Documents:
    """Documents are put in row order: an edition may have been given those of an earlier one at any time."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        counts = [len(part.documents) for part in parts]
        which = np.repeat(np.arange(len(parts)), counts)
        local = np.concatenate([part.documents for part in parts])
        rows = np.concatenate([part.segment.arrays["document.row"][part.documents] for part in parts])
        order = np.argsort(rows, kind="stable")
        self.which, self.local = which[order], local[order]
        place = np.empty(len(order), np.intp)
        place[order] = np.arange(len(order))
        self.places = np.split(place, np.cumsum(counts)[:-1])

    def slabs(self, name: str) -> Pieces:
        def pieces() -> Iterator[Array]:
            yield self.parts[0].segment.arrays[name][:0]
            for at in range(0, len(self.which), SLAB):
                yield self._take(name, slice(at, at + SLAB))

        return pieces

    def _take(self, name: str, part: slice) -> Array:
        which, local = self.which[part], self.local[part]
        first = self.parts[which[0]].segment.arrays[name]
        out = np.empty((len(which), *first.shape[1:]), first.dtype)
        for k in np.unique(which):
            out[which == k] = self.parts[k].segment.arrays[name][local[which == k]]
        return out

    def named(self) -> dict[str, Array]:
        ids = [b""] * len(self.which)
        for part, places in zip(self.parts, self.places, strict=True):
            for place, id in zip(places.tolist(), part.segment.ids(part.documents), strict=True):
                ids[place] = id
        return named(ids)

    def owners(self) -> dict[str, Array]:
        begin = np.empty(len(self.which), np.uint32)
        lengths = np.empty(len(self.which), np.uint32)
        owner, before = [], 0
        for part, places in zip(self.parts, self.places, strict=True):
            arrays = part.segment.arrays
            begin[places] = part.places("parent")[arrays["document.begin"][part.documents]] + before
            lengths[places] = (arrays["document.end"] - arrays["document.begin"])[part.documents]
            new = np.zeros(part.segment.count("document"), np.uint32)
            new[part.documents] = places
            owner.append(new[arrays["parent.document"][part.parents]])
            before += len(part.parents)
        return {
            "document.begin": begin,
            "document.end": begin + lengths,
            "parent.document": np.concatenate(owner),
        }


def _children(parts: Sequence[Part]) -> dict[str, Array]:
    owner, lengths, before = [], [], 0
    for part in parts:
        arrays = part.segment.arrays
        lengths.append(np.diff(arrays["parent.first"])[part.parents])
        owner.append(
            (part.places("parent")[arrays["child.parent"][part.children]] + before).astype(np.uint32)
        )
        before += len(part.parents)
    return {
        "child.parent": np.concatenate(owner),
        "parent.first": offsets(np.concatenate(lengths)).astype(np.uint32),
    }


@dataclass(frozen=True, eq=False)
class _Words:
    """The words of one part that are left, with their postings."""

    words: list[bytes]
    lengths: Array
    parents: Array
    documents: Array
    child: Array
    count: Array


def _left(part: Part) -> _Words:
    arrays = part.segment.arrays
    text, at = bytes(arrays["word.text"].data), arrays["word.text_at"].tolist()
    words = [text[begin:end] for begin, end in pairwise(at)]
    lengths, child, count = np.diff(arrays["word.first"]), arrays["posting.child"], arrays["posting.count"]
    parents, documents = arrays["word.parents"], arrays["word.documents"]
    if part.alive is None:
        return _Words(words, lengths, parents, documents, child, count)
    place = part.places("child")[child]
    alive = place >= 0
    word = np.repeat(np.arange(len(words)), lengths)[alive]
    owner = arrays["child.parent"][child[alive]]
    parents = np.bincount(word[holding(word, owner)], minlength=len(words))
    documents = np.bincount(word[holding(word, arrays["parent.document"][owner])], minlength=len(words))
    lengths = np.bincount(word, minlength=len(words))
    left = np.flatnonzero(lengths)
    return _Words(
        [words[i] for i in left.tolist()],
        lengths[left],
        parents[left],
        documents[left],
        place[alive].astype(np.uint32),
        count[alive],
    )


def _words(parts: Sequence[Part]) -> dict[str, Array]:
    found = [_left(part) for part in parts]
    words = sorted(set().union(*(each.words for each in found)))
    number = {word: n for n, word in enumerate(words)}
    numbers = [np.fromiter(map(number.__getitem__, each.words), np.intp, len(each.words)) for each in found]
    totals = {name: np.zeros(len(words), np.int64) for name in ("lengths", "parents", "documents")}
    for each, at in zip(found, numbers, strict=True):
        for name, total in totals.items():
            total[at] += getattr(each, name)
    first = offsets(totals["lengths"])
    child = np.empty(first[-1], np.uint32)
    count = np.empty(first[-1], narrowest(max((int(each.count.max(initial=0)) for each in found), default=0)))
    filled, before = first[:-1].copy(), 0
    for part, each, at in zip(parts, found, numbers, strict=True):
        _fill(each, filled[at], child, count, before)
        filled[at] += each.lengths
        before += len(part.children)
    return {
        **dictionary(words),
        "word.first": first,
        "word.parents": totals["parents"].astype(np.uint32),
        "word.documents": totals["documents"].astype(np.uint32),
        "posting.child": child,
        "posting.count": count,
    }


def _fill(words: _Words, to: Array, child: Array, count: Array, before: int) -> None:
    """Put a part's postings where they belong, some words at a time."""
    own = offsets(words.lengths)
    begin = 0
    while begin < len(words.words):
        end = max(begin + 1, int(np.searchsorted(own, own[begin] + 64 * SLAB, "right")) - 1)
        lengths = words.lengths[begin:end]
        span = slice(int(own[begin]), int(own[end]))
        place = np.repeat(to[begin:end] - own[begin:end], lengths) + np.arange(span.start, span.stop)
        child[place] = words.child[span] + np.uint32(before)
        count[place] = words.count[span]
        begin = end
