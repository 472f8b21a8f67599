"""Segments: made at once or joined of parts, they are the same; their checksums tell any change."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from nestling.stores.layout import Layout, with_gone
from nestling.stores.segment import Segment, row_sums, spread
from nestling.stores.segment_making import ChildRow, DocumentRow, ParentRow, segment
from nestling.stores.segment_merging import Part, joined

DIMENSION = 12
TEXTS = st.lists(st.sampled_from(["a", "b", "ä", "long", "z"]), max_size=4).map(" ".join)
# documents, each of parents, each of children's terms
NESTS = st.lists(
    st.lists(st.lists(TEXTS, min_size=1, max_size=3), min_size=1, max_size=3), min_size=1, max_size=8
)


def made(nest: list[list[list[str]]], documents: list[int], exact: bool = True) -> Segment:
    """A segment of some of the documents, whose row numbers are those in the whole."""
    chance = np.random.default_rng(3)
    rows: tuple[list[DocumentRow], list[ParentRow], list[ChildRow]] = ([], [], [])
    parent = child = 0
    for document, parents in enumerate(nest):
        for children in parents:
            parent += 1
            for n, terms in enumerate(children):
                child += 1
                codes = chance.integers(-127, 128, DIMENSION, dtype=np.int8)
                half = codes.astype("<f2").tobytes() if exact else None
                if document in documents:
                    rows[2].append(ChildRow(child, parent, n, n + 1, 0.01 + n, codes.tobytes(), half, terms))
            if document in documents:
                rows[1].append(ParentRow(parent, document + 1, half))
        if document in documents:
            rows[0].append(DocumentRow(document + 1, f"id {-document % 5} {document}", half))
    return segment(*rows)


def same(one: Segment, other: Segment) -> bool:
    """Whether all arrays are equal, in type and in value; sums of vectors nearly so."""
    assert one.arrays.keys() == other.arrays.keys()
    for name, array in one.arrays.items():
        assert array.dtype == other.arrays[name].dtype, name
        np.testing.assert_allclose(array, other.arrays[name], rtol=1e-5, err_msg=name)
    return True


@given(nest=NESTS, cuts=st.sets(st.integers(1, 7)), gone=st.sets(st.integers(0, 7)), exact=st.booleans())
@settings(max_examples=60)
def test_parts_joined_are_the_whole(
    nest: list[list[list[str]]], cuts: set[int], gone: set[int], exact: bool
) -> None:
    """However documents are cut into segments, and whichever are gone, what is joined is what is made at once."""
    ends = [0, *sorted(cut for cut in cuts if cut < len(nest)), len(nest)]
    spans = [list(range(begin, end)) for begin, end in pairwise(ends)]
    parts = [Part(made(nest, span, exact), np.array([n not in gone for n in span])) for span in spans]
    left = [n for n in range(len(nest)) if n not in gone]
    if left:
        assert same(joined(parts), made(nest, left, exact))


@given(nest=NESTS, gone=st.sets(st.integers(0, 7)))
@settings(max_examples=40)
def test_a_layout_finds_its_rows(nest: list[list[list[str]]], gone: set[int]) -> None:
    """Positions, owners and what is below agree, over several segments, with rows as they were made."""
    half = max(1, len(nest) // 2)
    spans = [span for span in (list(range(half)), list(range(half, len(nest)))) if span]
    segments = tuple(made(nest, span) for span in spans)
    dead = np.array([n + 1 for n in gone if n < len(nest)], np.int64)
    layout = Layout(1, segments, with_gone(segments, dead))
    assert layout.counts["document"] == len(nest) - len(dead)
    left = [n for n in reversed(range(len(nest))) if n not in gone]
    documents = layout.positions("document", np.arange(len(nest), 0, -1))
    assert layout.rows("document", documents).tolist() == [n + 1 for n in left]
    children = layout.children_of(layout.parents_of(documents))
    owners = layout.owners("child", children, "document")
    assert owners.tolist() == [
        at for at, n in zip(documents.tolist(), left, strict=True) for part in nest[n] for _ in part
    ]
    family = layout.family(children)
    assert layout.rows("document", owners).tolist() == family.document.tolist()
    assert layout.positions("child", family.child).tolist() == children.tolist()
    assert layout.ids(documents) == [f"id {-n % 5} {n}".encode() for n in left]


@given(
    scores=st.lists(st.integers(0, 3), min_size=1, max_size=60),
    n=st.integers(0, 20),
    chance=st.integers(0, 5),
)
def test_best_breaks_ties_by_id_then_position(scores: list[int], n: int, chance: int) -> None:
    """With any number of equal scores, over segments, the list is the head of all that is sorted."""
    nest = [[[""] * (1 + at % 3)] for at in range(30)]
    segments = (made(nest, list(range(12))), made(nest, list(range(12, 30))))
    layout = Layout(1, segments, with_gone(segments, np.zeros(0, np.int64)))
    size = min(len(scores), layout.size("child"))
    positions = np.sort(np.random.default_rng(chance).permutation(layout.size("child"))[:size])
    given = np.array(scores[:size], np.float64)
    ids = layout.ids(layout.owners("child", positions, "document"))
    wanted = sorted(range(size), key=lambda i: (-given[i], ids[i], positions[i]))[:n]
    assert layout.best("child", positions, given, n).tolist() == wanted


def test_words_are_found_by_their_letters() -> None:
    """Each word is found, and nothing that lies between or beyond them."""
    found = made([[["a b ä", "a a z"]]], [0])
    for word, children, counts in (("a", [0, 1], [1, 2]), ("ä", [0], [1]), ("z", [1], [1])):
        number = found.word(word)
        assert number is not None
        child, count = found.postings(number)
        assert (child.tolist(), count.tolist()) == (children, counts)
    for word in ("", "A", "aa", "c", "zz", "\U0010ffff"):
        assert found.word(word) is None
    assert found.ids(np.array([0])) == [b"id 0 0"]


@given(st.integers(1, 40), st.integers(0, 2**32), st.integers(0, 3000), st.integers(0, 3000))
def test_checksums_tell_flipped_bits(dimension: int, seed: int, one: int, other: int) -> None:
    """One flipped bit, or two anywhere in a row, change its checksum."""
    vectors = np.random.default_rng(seed).normal(size=(3, dimension)).astype(np.float16)
    damaged = vectors.copy()
    bits = damaged.view(np.uint16)
    places = {one % (16 * dimension), other % (16 * dimension)}
    for place in places:
        bits[1, place // 16] ^= np.uint16(1 << place % 16)
    before, after = row_sums(vectors), row_sums(damaged)
    assert (before != after).tolist() == [False, True, False]


def test_spread_gives_each_range() -> None:
    """Ranges one after the other, empty ones too."""
    assert spread(np.array([5, 1, 9]), np.array([7, 1, 12])).tolist() == [5, 6, 9, 10, 11]
    assert spread(np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []
