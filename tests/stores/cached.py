"""Nests that are cached whatever their size, and answers to compare: with files and without, in many questions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
from entries import entry, query, terms

from nestling.stores import layouts, reading
from nestling.stores.cache import segment_file
from nestling.stores.layouts import Layouts
from nestling.stores.sqlite import SQLiteStore
from nestling.types import LEVELS
from nestling.where import parse

WORDS = [f"word{n}" for n in range(60)]
# small enough that a few documents are cut into several files, joined and hollowed out
MAPPED = 40_000
SMALL = {"FILES_FROM": 1, "TAIL": 12, "CHANGES": 9, "DRAFT": 20}


def small_sizes(patch: Any) -> None:
    """Let nests of a few children be kept in files; ``patch`` sets attributes."""
    for name, size in SMALL.items():
        patch(layouts, name, size)
    patch(reading, "CHUNK", 8)
    # some files are mapped as a whole, and of some single values are read
    patch(segment_file, "MAPPED", MAPPED)


def written(store: SQLiteStore, n: int, chance: random.Random) -> None:
    """Store a document of a few parents and children."""
    parents = [
        [" ".join(chance.choices(WORDS, k=chance.randint(1, 9))) + " " for _ in range(chance.randint(1, 3))]
        for _ in range(chance.randint(1, 3))
    ]
    store.replace(entry(f"d{n:03d}", parents, metadata={"third": n % 3}))


def changed(store: SQLiteStore, chance: random.Random, documents: int = 40) -> None:
    """Add, replace or remove one of so many documents."""
    n = chance.randrange(documents)
    if chance.random() < 0.3:
        store.remove([f"d{n:03d}"])
    else:
        written(store, n, chance)


def answers(store: SQLiteStore, seed: int = 0) -> list[Any]:
    """What a store answers, of one state, on all levels and channels, with and without filters."""
    with store.view() as view:
        return answers_of(view, seed)


def answers_of(view: Any, seed: int = 0) -> list[Any]:
    """The same of a view."""
    chance = random.Random(seed)
    # of every word, so that all postings are read; vectors are, since all rows are asked for
    every = view.match("child", terms(" ".join(WORDS)), 1000, None)
    found = [view.change, every.rows.tolist(), every.scores.tolist()]
    for where in (None, {"third": 1}, {"third": {"$ne": 2}}):
        text = " ".join(chance.choices(WORDS, k=4))
        for level in LEVELS:
            for n in (3, 1000):
                near = view.nearest(level, query(text), n, parse(where))
                met = view.match(level, terms(text), n, parse(where))
                found += [ranked.tolist() for pair in (near, met) for ranked in pair]
        parents = view.nearest("parent", query(text), 1000, None).rows
        children = view.nearest("child", query(text), 1000, None).rows
        found += [
            view.coverage(terms(text), parents).tolist(),
            view.similarity(query(text), children).tolist(),
        ]
        none = np.zeros(0, np.int64)
        found += [each.tolist() for each in view.family(children, none, none, parse(where))]
    return found


def catch_up(store: SQLiteStore) -> None:
    """Let a store read what has changed, and write what it writes then."""
    with store.view() as view:
        view.match("child", terms("word1"), 1, None)


def uncached(path: Path) -> SQLiteStore:
    """A store of the same nest that reads everything from it and keeps no files."""
    store = SQLiteStore(path)
    store._layouts = Layouts(None)
    return store


def plain_answers(path: Path, seed: int = 0) -> list[Any]:
    """What is answered without files."""
    store = uncached(path)
    try:
        return answers(store, seed)
    finally:
        store.close()
