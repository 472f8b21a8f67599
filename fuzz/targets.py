"""What is fuzzed: functions of bytes that raise where a promise does not hold. They need no fuzzer themselves."""

from __future__ import annotations

import contextlib
import json
import re
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np
import regex

import nestling
from nestling.apps.options import filter_of
from nestling.ingest.language import detect, known_languages
from nestling.ingest.split import split
from nestling.ingest.terms import query_terms, terms
from nestling.settings import Recipe
from nestling.types import Document, Parent
from nestling.where import parse

LANGUAGES = sorted(known_languages())


def fuzz_split(data: bytes) -> None:
    """Any text under any recipe is cut without loss, within its sizes, never inside a grapheme (promise 1).

    Six bytes choose the recipe and the kind of text; the others are the text.
    """
    head, text = data[:6].ljust(6, b"\0"), data[6:].decode("utf-8", "replace")
    child = 1 + head[0] % 120
    recipe = Recipe(
        child,
        child + head[1] * 2,
        min(head[2] % 60, child - 1),
        "tokens" if head[3] % 4 == 0 else "characters",
    )
    document = Document("doc", text, "Title" * (head[5] % 3), source="doc.md" if head[4] % 2 else None)
    parents = split(document, recipe, _tokens)
    assert parents == split(document, recipe, _tokens), "not the same again"
    _exact(text, parents, recipe)


def _tokens(text: str) -> int:
    return sum(1 + len(word) // 4 for word in text.split())


def _exact(text: str, parents: tuple[Parent, ...], recipe: Recipe) -> None:
    if not text.strip():
        assert parents == (), "an empty text has a parent"
        return
    size = _tokens if recipe.unit == "tokens" else len
    clusters = [found.span() for found in regex.finditer(r"\X", text)]
    edges = {0, *(end for _, end in clusters)}
    largest = max(size(text[start:end]) for start, end in clusters)
    assert [parent.start for parent in parents] == [0, *(parent.end for parent in parents[:-1])], "a gap"
    assert parents[-1].end == len(text), "the end is lost"
    for parent in parents:
        assert size(text[parent.start : parent.end]) <= max(recipe.parent_size, largest), "a parent too large"
        spans = [(child.start, child.end) for child in parent.children]
        assert (spans[0][0], spans[-1][1]) == (parent.start, parent.end), "children do not cover their parent"
        for (start, end), (next_start, next_end) in pairwise(spans):
            assert start < next_start <= end < next_end, "children out of order"
            assert size(text[next_start:end]) <= recipe.overlap, "too much overlap"
        for start, end in spans:
            assert {start, end} <= edges, "a cut inside a grapheme"
            assert size(text[start:end]) <= max(recipe.child_size, largest), "a child too large"


def fuzz_query(data: bytes) -> None:
    """Any text is a query, and any filter is one or is refused as one: nothing but a NestlingError is raised.

    The first line is the query, the rest the filter, as on the command line; a byte before chooses a language.
    """
    text = data[1:].decode("utf-8", "replace")
    if data[:1] > b"\x7f":
        # half a surrogate pair, as JSON and file names may hold
        text = text.replace("\ufffd", "\udc80")
    language = LANGUAGES[data[0] % len(LANGUAGES)] if data else ""
    query, _, filter = text.partition("\n")
    found = terms(query, language)
    assert all(regex.fullmatch(r"[\p{L}\p{M}\p{N}]{1,64}", term) for term in found), found
    assert all(forms and all(forms) for forms in query_terms(query, [language, "en"]))
    assert detect(query) in {"", *LANGUAGES}
    where = None
    with contextlib.suppress(nestling.FilterError):
        where = filter_of((filter,)) if filter else None
        parse(where)
        assert filter_of((filter, filter)) == {"$and": [where, where]} or not filter
    with contextlib.suppress(ValueError, RecursionError), contextlib.suppress(nestling.FilterError):
        parse(json.loads(filter))
    nest = _nest()
    with contextlib.suppress(nestling.InputError):
        passages = nest.search(query, 3, where=where)
        assert len(passages) <= 3
        if where is None and query.strip():
            assert len(passages) == 3, "fewer passages than match"
        passages.explain()
        nest.context(query, 30, where=where)


@cache
def _nest() -> nestling.Nest:
    nest = nestling.open(":memory:", embedder=_Words())
    nest.add(
        Document(f"d{n}", text, metadata={"n": n, "tags": ["x", str(n)], "deep": {"a": None, "b": n / 2}})
        for n, text in enumerate(("One red fox.", "Zwei blaue Wale.", "三只小猪。", "XJ-4410-B", "Ein Text"))
    )
    return nest


class _Words:
    """Each word adds to one of 16 dimensions."""

    fingerprint, dimension, max_tokens, languages, spec = "words-16", 16, 512, None, None

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        """Count hashed words."""
        vectors = np.full((len(texts), self.dimension), 0.1, np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text):
                vectors[row, zlib.crc32(word.encode("utf-8", "replace")) % self.dimension] += 1
        return vectors

    embed_queries = embed_documents

    def count_tokens(self, text: str) -> int:
        """Words."""
        return len(text.split())


TARGETS: dict[str, Callable[[bytes], None]] = {"split": fuzz_split, "query": fuzz_query}
