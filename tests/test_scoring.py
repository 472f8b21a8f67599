"""Weights and leads are values: they change what is found, are kept by the nest, and leave the defaults alone."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

import nestling
from nestling import Document, Recipe, Scoring
from wordhash import WordHash

WORD = "stomach"
# a word that the tests' embedder takes for the other one
LIKE_IT = next(w for n in range(10**6) if crc32((w := f"w{n}").encode()) % 64 == crc32(WORD.encode()) % 64)
DOCUMENTS = [
    Document("words", f"{WORD} " + " ".join(f"filler{n}" for n in range(60)), "A"),
    Document("vectors", LIKE_IT),
    *(Document(f"other{n}", f"nothing of that kind, number {n}", "C") for n in range(5)),
]


def test_weights_decide_between_channels(nest: nestling.Nest) -> None:
    """A channel of weight 0 does not count; the weights of both only matter as a ratio."""
    nest.add(DOCUMENTS)
    lexical = nest.with_scoring(Scoring(dense=0)).search(WORD, 7)
    dense = nest.with_scoring(Scoring(lexical=0)).search(WORD, 7)
    assert (lexical[0].id, dense[0].id) == ("words", "vectors")
    assert len(lexical) == len(dense) == 7
    twice = nest.with_scoring(Scoring(dense=2, lexical=2 * Scoring().lexical)).search(WORD, 7)
    assert [(p.id, p.score) for p in twice] == [(p.id, p.score) for p in nest.search(WORD, 7)]


def test_asking_with_the_default_weights_changes_nothing(nest: nestling.Nest) -> None:
    """Asking with `Scoring()` is asking without."""
    nest.add(DOCUMENTS)
    assert nest.scoring == Scoring()
    for passage, same in zip(nest.search("empty"), nest.with_scoring(Scoring()).search("empty"), strict=True):
        assert passage == same


def test_lists_of_weight_zero_count_where_nothing_else_can(nest: nestling.Nest) -> None:
    """A query without words is still answered by vectors, whatever they weigh."""
    nest.add(DOCUMENTS)
    assert nest.with_scoring(Scoring(dense=0)).search("?!", 3)[0].score > 0


def test_neighbours_lend_what_they_are_told_to(embedder: WordHash) -> None:
    """With lending, what stands beside the evidence is shown before the beginning of the document."""
    parts = [f"plain text number {n} here. " * 3 for n in range(9)]
    parts[4] = "the needle is in this one. " * 3
    text = "\n\n".join(parts)
    beside = text.index("number 5")
    with nestling.open(":memory:", embedder=embedder, recipe=Recipe(child_size=90, parent_size=900)) as nest:
        nest.add(Document("long", text))
        shown = {}
        for lent in (0.0, 1.0):
            pieces = nest.with_scoring(Scoring(lent=lent)).context("needle", 70).pieces
            shown[lent] = any(piece.start <= beside < piece.end for piece in pieces)
    assert shown == {0.0: False, 1.0: True}


def test_kept_weights_are_there_after_reopening(path: Path, embedder: WordHash) -> None:
    """Stored in one transaction, used at once, by whoever opens the nest next, and changeable again."""
    with nestling.open(path, create=True, embedder=embedder) as nest:
        nest.add(DOCUMENTS)
        tried = nest.with_scoring(Scoring(lexical=0))
        assert tried.scoring != nest.scoring == Scoring()
        nest.keep_scoring(Scoring(dense=0.25, lent=0.5))
        assert nest.scoring == Scoring(dense=0.25, lent=0.5)
        assert tried.scoring == Scoring(lexical=0)
    with nestling.open(path, embedder=embedder) as nest:
        assert nest.scoring == Scoring(dense=0.25, lent=0.5)
        assert nest.check() == []
        nest.keep_scoring(Scoring())
        assert nest.scoring == Scoring()


def test_nests_from_before_there_were_weights_open(path: Path, embedder: WordHash) -> None:
    """A recipe without ``lead``, and no scoring at all, mean the defaults."""
    with nestling.open(path, create=True, embedder=embedder) as nest:
        nest.add(DOCUMENTS)
    with sqlite3.connect(path) as db:
        recipe = json.loads(db.execute("SELECT recipe FROM editions").fetchone()[0])
        assert recipe.pop("lead") is True
        db.execute("UPDATE editions SET recipe = ?", (json.dumps(recipe),))
    db.close()
    with nestling.open(path, embedder=embedder, recipe=Recipe()) as nest:
        assert nest.recipe == Recipe()
        assert nest.scoring == Scoring()


def test_leads_can_be_left_out(embedder: WordHash) -> None:
    """Then children are embedded and indexed bare; spans are the same."""
    document = Document("a", "# Head\n\nOne sentence here.\n\n## Sub\n\nAnother one there.", "Title")
    trees = {}
    for lead in (True, False):
        embedder.calls.clear()
        recipe = Recipe(child_size=30, parent_size=60, lead=lead)
        with nestling.open(":memory:", embedder=embedder, recipe=recipe) as nest:
            nest.add(document)
            tree = nest.show("a")
            assert tree is not None
            trees[lead] = [(child.start, child.end) for parent in tree.parents for child in parent.children]
            found = len(nest.search("title"))
        assert any(text.startswith("Title") for text in embedder.calls) is lead
        assert (found > 0) is True
    assert trees[True] == trees[False]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"dense": -1}, "dense is -1; give a number, 0 or more"),
        ({"child": "1"}, "child is '1'; give a number"),
        ({"lexical": float("nan")}, "give a number, 0 or more"),
        ({"parent": True}, "give a number, 0 or more"),
        ({"lent": 1.1}, "lent is 1.1; give a number from 0 to 1"),
        ({"dense": 0, "lexical": 0}, "give one of them a weight above 0"),
        ({"document": 0, "parent": 0, "child": 0}, "give one of them a weight above 0"),
    ],
)
def test_weights_are_numbers_from_zero(settings: Any, told: str) -> None:
    """Anything else is refused with what to give."""
    with pytest.raises(nestling.SettingError, match=told):
        Scoring(**settings)


def test_lead_is_true_or_false() -> None:
    """Anything else is refused."""
    with pytest.raises(nestling.SettingError, match="give true or false"):
        Recipe(lead="no")  # type: ignore[arg-type]
