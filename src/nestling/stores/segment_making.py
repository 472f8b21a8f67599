"""Segments made from rows: vectors to arrays, words to postings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from nestling.stores.segment import Array, Segment


class DocumentRow(NamedTuple):
    """A document that has children, with its vector."""

    row: int
    id: str
    exact: bytes | None


class ParentRow(NamedTuple):
    """A parent, with its vector."""

    row: int
    document: int
    exact: bytes | None


class ChildRow(NamedTuple):
    """A child, with its vector and its terms, joined by spaces."""

    row: int
    parent: int
    start: int
    stop: int
    scale: float
    codes: bytes
    exact: bytes | None
    terms: str


def segment(
    documents: Sequence[DocumentRow], parents: Sequence[ParentRow], children: Sequence[ChildRow]
) -> Segment:
    """A segment of whole documents; each sequence in the order of row numbers, none of them empty.

    Args:
        documents: All with or all without their exact vectors, here and below.
        parents: All of these documents.
        children: All of these parents.
    """
    document_row = np.array([row.row for row in documents], np.int64)
    parent_row = np.array([row.row for row in parents], np.int64)
    owner = np.searchsorted(document_row, np.array([row.document for row in parents])).astype(np.uint32)
    child_parent = np.searchsorted(parent_row, np.array([row.parent for row in children])).astype(np.uint32)
    arrays: dict[str, Array] = {
        "document.row": document_row,
        "parent.row": parent_row,
        "child.row": np.array([row.row for row in children], np.int64),
        "document.begin": _first(owner, len(documents)),
        "document.end": _first(owner, len(documents))
        + np.bincount(owner, minlength=len(documents)).astype("u4"),
        "parent.document": owner,
        "parent.first": offsets(np.bincount(child_parent, minlength=len(parents))).astype(np.uint32),
        "child.parent": child_parent,
        "child.start": np.array([row.start for row in children], np.uint32),
        "child.stop": np.array([row.stop for row in children], np.uint32),
        **named([row.id.encode() for row in documents]),
        **_codes(children, child_parent, owner),
    }
    if children[0].exact is not None:
        for level, rows in (("document", documents), ("parent", parents), ("child", children)):
            exact = np.frombuffer(b"".join(row.exact or b"" for row in rows), "<f2")
            arrays[f"{level}.exact"] = exact.reshape(len(rows), -1)
    return Segment(arrays | _words([row.terms for row in children], child_parent, owner))


def _first(owner: Array, count: int) -> Array:
    """Where each document's parents begin: they stand together, though not always in the order of documents."""
    first = np.zeros(count, np.uint32)
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    first[owner[starts]] = starts
    return first


def offsets(lengths: Array | Sequence[int]) -> Array:
    """Where each of things of these lengths begins, and where the last ends."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


def named(ids: list[bytes]) -> dict[str, Array]:
    """The arrays of ids, in the order of documents."""
    return {
        "document.id": np.frombuffer(b"".join(ids), np.uint8),
        "document.id_at": offsets([len(id) for id in ids]),
        "document.order": _order(ids),
    }


def _order(ids: list[bytes]) -> Array:
    order = np.empty(len(ids), np.uint32)
    order[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids), dtype=np.uint32)
    return order


def _codes(children: Sequence[ChildRow], child_parent: Array, parent_document: Array) -> dict[str, Array]:
    """Codes of children, and how much each child's cosine counts in those of its parent and document.

    Their vectors are the normalised sums of their children's, so their cosines are sums too, over the sum's length.
    """
    codes = np.frombuffer(b"".join(row.codes for row in children), np.int8).reshape(len(children), -1)
    scale = np.array([row.scale for row in children], np.float32)
    arrays: dict[str, Array] = {"child.codes": codes, "child.scale": scale}
    sums, squares = codes * scale[:, None], np.square(scale, dtype=np.float64)
    for level, owner in (("parent", child_parent), ("document", parent_document)):
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        sums = np.add.reduceat(sums, first, axis=0)[np.argsort(owner[first])]
        squares = np.bincount(owner, squares)
        length = np.linalg.norm(sums, axis=1)
        with np.errstate(divide="ignore"):
            arrays[f"{level}.weight"] = np.where(length > 0, 1 / length, 0).astype(np.float32)
            # of a sum that is nothing, nothing is known
            arrays[f"{level}.scale"] = (np.sqrt(squares) / length).astype(np.float32)
    return arrays


class _Numbered(dict[str, int]):
    """Words by the number of their first meeting."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


def _words(texts: Sequence[str], child_parent: Array, parent_document: Array) -> dict[str, Array]:
    split = [text.split() for text in texts]
    lengths = np.array([len(words) for words in split], np.int64)
    numbered = _Numbered()
    met = np.fromiter(map(numbered.__getitem__, chain.from_iterable(split)), np.int64, lengths.sum())
    words = sorted(numbered)
    place = np.empty(len(words), np.int64)
    place[[numbered[word] for word in words]] = np.arange(len(words))
    # one number for a word in a child, in the order of words, then of children
    held = place[met] * len(texts) + np.repeat(np.arange(len(texts)), lengths)
    held.sort()
    begin = np.flatnonzero(np.diff(held, prepend=-1))
    word, child = np.divmod(held[begin], max(len(texts), 1))
    count = np.diff(begin, append=len(held))
    parents = holding(word, child_parent[child])
    documents = holding(word, parent_document[child_parent[child]])
    own = np.bincount(child_parent, lengths, int(child_parent[-1]) + 1).astype(np.uint32)
    return {
        **dictionary([word.encode() for word in words]),
        "word.first": offsets(np.bincount(word, minlength=len(words))),
        "word.parents": np.bincount(word[parents], minlength=len(words)).astype(np.uint32),
        "word.documents": np.bincount(word[documents], minlength=len(words)).astype(np.uint32),
        "posting.child": child.astype(np.uint32),
        "posting.count": count.astype(narrowest(int(count.max(initial=0)))),
        "child.terms": lengths.astype(np.uint32),
        "parent.terms": own,
        "document.terms": np.bincount(parent_document, own, int(parent_document.max()) + 1).astype(np.uint32),
    }


def holding(word: Array, owner: Array) -> Array:
    """The first posting of each word in each owner, where an owner's stand together."""
    new: Array = np.diff(word, prepend=-1) != 0
    new[1:] |= owner[1:] != owner[:-1]
    return np.flatnonzero(new)


def narrowest(largest: int) -> np.dtype[np.unsignedinteger]:
    """The smallest kind of whole number that holds ``largest``."""
    return np.min_scalar_type(largest)


def dictionary(words: Sequence[bytes]) -> dict[str, Array]:
    """The arrays of sorted words."""
    return {
        "word.text": np.frombuffer(b"".join(words), np.uint8),
        "word.text_at": offsets([len(word) for word in words]),
    }
