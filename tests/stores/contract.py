"""What every store must do. A store's tests inherit `StoreContract` and give a ``store`` fixture."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from typing import Any

import bm25s
import numpy as np
import pytest
from entries import BUILD, OTHER, entry, indexed, query, terms
from hypothesis import given
from hypothesis import strategies as st

from nestling.bounds import Bounds
from nestling.stores.base import EditionsChangedError, OutsideError, Place, Store
from nestling.types import LEVELS, Level
from nestling.view import Ranked, View
from nestling.where import parse

WORDS = [*"abcdefghijklmnopqr", "cat", "dog", "owl"]


def ids(store: Store, level: Level, ranked: Ranked) -> list[str]:
    """Names of the rows of a list: document ids for documents, parent ids for the other levels."""
    empty = ranked.rows[:0]
    with store.view() as view:
        touched: dict[str, Any] = dict.fromkeys(LEVELS, empty) | {level: ranked.rows}
        family = view.family(touched["child"], touched["parent"], touched["document"], None)
        stored = view.parents(sorted(set(family.parent.tolist())))
        rows = getattr(family, level).tolist()
        owner = dict(zip(rows, family.parent.tolist(), strict=True))
        found = [stored[owner[row]] for row in ranked.rows.tolist()]
        return [parent.document_id if level == "document" else parent.id for parent in found]


def nearest(store: Store, text: str, level: Level = "child", n: int = 10, where: Any = None) -> Ranked:
    """The nearest rows to a text."""
    with store.view() as view:
        return view.nearest(level, query(text), n, parse(where))


def match(store: Store, text: str, level: Level = "child", n: int = 10, where: Any = None) -> Ranked:
    """The rows that match a text."""
    with store.view() as view:
        return view.match(level, terms(text), n, parse(where))


def state(store: Store) -> list[dict[str, Any]]:
    """What a new reader sees."""
    with store.view() as view:
        return list(view.documents(None))


def everything(view: View, names: list[str]) -> dict[str, Any]:
    """What a view answers to all that can be asked of it, but for what it says of the whole store."""
    told: dict[str, Any] = {}
    children = np.arange(1, 200)
    for level in LEVELS:
        for where in (None, {"x": 1}, {"$not": {"t": "a"}}):
            near = view.nearest(level, query("one common word"), 9, parse(where))
            met = view.match(level, terms("one common word"), 9, parse(where))
            told[f"{level} {where}"] = [each.tolist() for each in (*near, *met)]
    family = view.family(children, children, children, None)
    told["similarity"] = view.similarity(query("one"), family.child).tolist()
    told["coverage"] = view.coverage(terms("one common"), np.arange(1, 100)).tolist()
    told["family"] = [each.tolist() for each in family]
    told["parents"] = view.parents(family.parent.tolist())
    told["leads"] = view.leads(family.child.tolist())
    told["languages"] = dict(view.languages())
    told["known"] = view.known(names)
    told["texts"] = [view.text(name) for name in names]
    told["files"] = (view.files(), view.files(names))
    told["read"] = [view.read(name + end) for name in names for end in ("", "§1", "§2")]
    digests = [digest for name in names for digest in indexed(name, PARTS[name]).child_digests]
    told["embedded"] = {k: v.tolist() for k, v in view.embedded(digests, BUILD.embedder).items()}
    told["sizes"] = view.sizes()
    told["documents"] = [list(view.documents(parse(where))) for where in (None, {"x": 1}, {"$not": {"x": 1}})]
    told["stats"] = {k: v for k, v in view.stats().items() if k not in ("bytes", "change", "search")}
    return told


PARTS = {
    "a1": [["one common ", "two"], ["three common"]],
    "a2": [["common word"]],
    "a3": [],
    "b1": [["one common ", "two"], ["three common one"]],
    "b2": [["only here", "common"]],
    "list": [["one common"]],
    "own": [["one"], ["common"]],
    "none": [["one common word"]],
    "number": [["one"]],
}


def of_several(store: Store) -> None:
    """Documents that are within ``t=a``, and such as are not, by turns, in two editions."""
    store.begin(OTHER)
    metadata: dict[str, dict[str, Any]] = {
        "b1": {"t": "b", "x": 1},
        "a1": {"t": "a", "x": 1},
        "list": {"t": ["a", "b"]},
        "a2": {"t": "a", "u": 2},
        "own": {"t": "a"},
        "none": {"x": 1, "t": None},
        "a3": {"t": "a", "u": 2.0, "x": 1},
        "b2": {"t": "b", "u": 2},
        "number": {"t": 1},
    }
    for name, own_metadata in metadata.items():
        own = [{"page": 1}, {"t": "a"}] if name == "own" else None
        made = entry(name, PARTS[name], metadata=own_metadata, own=own, language=name[0], editions=(1, 2))
        store.replace(replace(made, file=f"/x/{name}"))


class StoreContract:
    """Runs on every store."""

    def test_within_bounds_nothing_else_is_stored(self, store: Store) -> None:
        """A view within bounds answers to everything as if the other documents were removed."""
        of_several(store)
        names = list(PARTS)
        for values, inside in (({"t": "a"}, {"a1", "a2", "a3"}), ({"t": "a", "u": 2}, {"a2", "a3"})):
            with store.view(within=Bounds.of(values)) as view:
                told = everything(view, names)
                # by row number nothing else can be had either
                assert view.parents(list(range(1, 200))) == told["parents"]
                assert view.leads(list(range(1, 200))) == told["leads"]
                assert len(view.similarity(query("one"), np.arange(1, 200))) == len(told["leads"])
            with store.view(2, Bounds.of(values)) as view:
                other = everything(view, names)
            store.remove(set(names) - inside)
            with store.view() as view:
                assert told == everything(view, names)
                assert told["stats"]["documents"] == len(inside)
            with store.view(2) as view:
                assert other == everything(view, names)
        with store.view(within=Bounds.of({"t": "b"})) as view:
            assert everything(view, names)["known"] == {}

    def test_within_bounds_follows_changes(self, store: Store) -> None:
        """What comes, goes or is changed is seen by the next view."""
        a, b = Bounds.of({"t": "a"}), Bounds.of({"t": "b"})
        for values, wanted in (
            ({"t": "a"}, ["d", "e"]),
            ({"t": "b"}, ["e"]),
            ({}, ["e"]),
            ({"t": "a"}, ["d", "e"]),
        ):
            store.replace(entry("d", [["one"]], metadata=values))
            store.replace(entry("e", [["one"]], metadata={"t": "a"}))
            with store.view(within=a) as view:
                assert [row["id"] for row in view.documents(None)] == wanted
                assert len(view.match("child", terms("one"), 9, None).rows) == len(wanted)
            with store.view(within=b) as view:
                assert len(view.nearest("child", query("one"), 9, None).rows) == (values == {"t": "b"})

    def test_within_bounds_nothing_else_is_written(self, store: Store) -> None:
        """What is outside is neither replaced, removed, renamed nor refiled."""
        a = Bounds.of({"t": "a"})
        inside = replace(entry("in", [["one"]], metadata={"t": "a"}), file="/x/in")
        store.replace(inside)
        for name, values in (("b", {"t": "b"}), ("list", {"t": ["a"]}), ("none", {})):
            store.replace(replace(entry(name, [["two"]], metadata=values), file=f"/x/{name}"))
        with store.view() as view:
            before = list(view.documents(None)), view.files()
        for name in ("b", "list", "none"):
            with pytest.raises(OutsideError):
                store.replace(entry(name, [["three"]], metadata={"t": "a"}), within=a)
            store.replace(inside, (name, f"/x/{name}"), a)
            digest = entry(name, [["two"]], metadata={"t": "b"}).digest
            store.refile([Place(name, digest, "/y", "y")], a)
        assert store.remove(["b", "list", "none", "nothing"], within=a) == []
        assert store.remove(["b"], {"b": "/x/b"}, a) == []
        with store.view() as view:
            assert (list(view.documents(None)), view.files()) == before
        store.refile([Place("in", inside.digest, "/y/in", "y")], a)
        store.replace(entry("new", [["one"]], metadata={"t": "a"}), ("in", "/y/in"), a)
        assert store.remove(["b", "new"], within=a) == ["new"]
        with store.view() as view:
            assert [row["id"] for row in view.documents(None)] == ["b", "list", "none"]
            assert view.check() == []

    def test_reads_back_what_was_stored(self, store: Store) -> None:
        """A document comes back to the character, by its id and by a parent's."""
        text = [["a\x00b\r\n", "\u2028 ü 👨‍👩‍👧‍👦\ufeff"], ["  end\n"]]
        given = entry("d", text, metadata={"a": None, "b": [], "c": {"d": 1}, "tags": ["x", "y"]})
        store.replace(given)
        with store.view() as view:
            for id in ("d", "d§2"):
                found = view.read(id)
                assert found is not None
                document, parents = found
                assert document == given.document
                assert parents == given.rows[1].parents
            assert view.read("nothing") is None

    def test_replaces_a_document_in_all_tables(self, store: Store) -> None:
        """After other text took its place, nothing finds a document by its old words (L2)."""
        store.replace(entry("card", [["alpha beta"]]))
        store.replace(entry("other", [["zeta"]]))
        store.replace(entry("card", [["gamma delta"]]))
        for level in LEVELS:
            assert ids(store, level, match(store, "alpha", level)) == []
            assert ids(store, level, match(store, "gamma", level)) == ["card"]
            assert len(nearest(store, "alpha", level).rows) == 2
        with store.view() as view:
            assert view.stats()["children"] == 2
            assert view.check() == []

    def test_removes_in_one_call(self, store: Store) -> None:
        """8,000 documents go in one call, and none of their rows stay (L4)."""
        for n in range(50):
            store.replace(entry(f"d{n}", [[f"word{n} common"]], metadata={"n": n}))
        gone = store.remove([f"d{n}" for n in range(8000)])
        assert gone == [f"d{n}" for n in range(50)]
        with store.view() as view:
            stats = view.stats()
            assert (stats["documents"], stats["parents"], stats["children"]) == (0, 0, 0)
            assert view.check() == []
        assert len(match(store, "common").rows) == 0
        assert len(nearest(store, "common").rows) == 0

    def test_holds_a_document_of_7000_children(self, store: Store) -> None:
        """No limit of rows a statement or a batch is met (L3)."""
        store.replace(entry("long", [[f"w{n} " for n in range(i, i + 4)] for i in range(0, 7000, 4)]))
        assert ids(store, "parent", match(store, "w6999", "parent")) == ["long§1750"]
        with store.view() as view:
            assert view.stats()["children"] == 7000
            assert view.check() == []

    def test_keeps_identical_documents_apart(self, store: Store) -> None:
        """Equal texts under two ids are two documents; removing one leaves the other (L7, L8)."""
        store.replace(entry("a", [["same words"]]))
        store.replace(entry("b", [["same words"]]))
        assert ids(store, "child", match(store, "same")) == ["a", "b"]
        store.remove(["a"])
        assert ids(store, "child", match(store, "same")) == ["b"]
        assert ids(store, "child", nearest(store, "same words")) == ["b"]

    def test_writes_together_or_not_at_all(self, store: Store) -> None:
        """What is written in one block is there at once when it ends; where the block fails, none of it is."""
        before = state(store)
        with suppress(ZeroDivisionError), store.together():
            store.replace(entry("a", [["one"]]))
            store.remove(["a"])
            store.replace(entry("b", [["two"]]))
            raise ZeroDivisionError
        assert state(store) == before
        with store.together():
            store.replace(entry("a", [["one"]]))
            # one that is refused leaves the others
            with pytest.raises(OutsideError):
                store.replace(entry("a", [["one"]]), within=Bounds.of({"t": "z"}))
            store.replace(entry("b", [["two"]]))
        assert [each["id"] for each in state(store)] == ["a", "b"]
        assert len(match(store, "one").rows) == 1

    def test_remembers_files(self, store: Store) -> None:
        """The file goes and comes with its document; without one there is none."""
        store.replace(replace(entry("a", [["one"]]), file="/x/a"))
        store.replace(replace(entry("b", [["two"]]), file="/x/b"))
        store.replace(entry("c", [["three"]]))
        with store.view() as view:
            assert view.files() == {"a": "/x/a", "b": "/x/b"}
            assert view.files(["b", "c", "d"]) == {"b": "/x/b"}
            assert (view.text("a"), view.text("d")) == ("one", None)
        store.replace(entry("a", [["one"]]))
        store.remove(["b"])
        store.replace(entry("b", [["two"]]))
        with store.view() as view:
            assert view.files() == {}
            assert view.check() == []

    def test_removes_only_what_is_of_the_file(self, store: Store) -> None:
        """Where files are given, documents of others and of none stay, also as the former id of another."""
        store.replace(replace(entry("a", [["one"]]), file="/x/a"))
        store.replace(replace(entry("b", [["two"]]), file="/y/b"))
        store.replace(entry("c", [["three"]]))
        names = ("a", "b", "c", "d")
        assert store.remove(names, {name: f"/x/{name}" for name in names}) == ["a"]
        store.replace(entry("new", [["two"]]), instead_of=("b", "/x/b"))
        with store.view() as view:
            assert [row["id"] for row in view.documents(None)] == ["b", "c", "new"]
        store.replace(replace(entry("newer", [["two"]]), file="/y/newer"), instead_of=("b", "/y/b"))
        with store.view() as view:
            assert [row["id"] for row in view.documents(None)] == ["c", "new", "newer"]
            assert view.files() == {"newer": "/y/newer"}
            assert view.check() == []

    def test_files_are_of_all_editions(self, store: Store) -> None:
        """They are known whichever is asked, stay through a switch, and go with the document from all."""
        store.replace(replace(entry("a", [["one"]]), file="/x/a"))
        number = store.begin(OTHER)
        with store.view(number) as view:
            (lacking,) = view.lacking(0, 1000)
            assert view.files() == {"a": "/x/a"}
        store.index(number, {lacking.row: entry("a", [["one"]]).rows[1]})
        renamed = replace(entry("new", [["one"]], editions=(1, number)), file="/x/new")
        store.replace(renamed, instead_of=("a", "/x/a"))
        store.switch(number)
        for edition in (1, number):
            with store.view(edition) as view:
                assert [row["id"] for row in view.documents(None)] == ["new"]
                assert view.sizes()[edition] == (1, 1)
                assert view.files() == {"new": "/x/new"}
                assert view.check() == []

    def test_refiles_what_is_still_the_same(self, store: Store) -> None:
        """File and source change, nothing else; a document of another digest is left alone."""
        given = replace(entry("a", [["one"]]), file="/x/a")
        store.replace(given)
        store.replace(entry("b", [["two"]]))
        store.refile(
            [
                Place("a", given.digest, "/y/a", "y"),
                Place("b", b"else", "/y/b", "y"),
                Place("c", b"", "/y/c", "y"),
            ]
        )
        with store.view() as view:
            assert view.files() == {"a": "/y/a"}
            found = view.read("a")
            assert found is not None
            assert found[0] == replace(given.document, source="y")
            assert view.stats()["documents"] == 2

    def test_nearest_is_the_float_ranking(self, store: Store) -> None:
        """The list is that of exact cosines over all rows, for every level."""
        chance = np.random.default_rng(7)
        vectors = chance.normal(size=(600, 64)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = vectors.astype(np.float16).astype(np.float32)
        for n in range(100):
            parts = [[f"{n} {i}" for i in range(3)], [f"{n} {i}" for i in range(3)]]
            store.replace(entry(f"d{n:03d}", parts, vectors=vectors[n * 6 : n * 6 + 6]))
        wanted = vectors[17]
        with store.view() as view:
            found = view.nearest("child", wanted, 50, None)
            exact = np.sort(vectors @ wanted)[::-1][:50]
            np.testing.assert_allclose(found.scores, exact, atol=1e-5)
            np.testing.assert_allclose(view.similarity(wanted, found.rows), found.scores, atol=1e-6)
            parents = np.array([v / np.linalg.norm(v) for v in vectors.reshape(200, 3, 64).sum(axis=1)])
            found = view.nearest("parent", wanted, 20, None)
            np.testing.assert_allclose(found.scores, np.sort(parents @ wanted)[::-1][:20], atol=1e-3)

    def test_match_is_bm25(self, store: Store) -> None:
        """Scores equal those of bm25s (Lucene's variant, k1 1.2, b 0.75) on each level."""
        chance = random.Random(5)
        texts = [" ".join(chance.choices(WORDS, k=chance.randint(1, 12))) + " " for _ in range(60)]
        for n in range(0, 60, 6):
            part = texts[n : n + 6]
            store.replace(entry(f"d{n:02d}", [part[:2], part[2:]]))
        levels: dict[Level, list[str]] = {
            "child": texts,
            "parent": ["".join(texts[i + a : i + b]) for i in range(0, 60, 6) for a, b in ((0, 2), (2, 6))],
            "document": ["".join(texts[i : i + 6]) for i in range(0, 60, 6)],
        }
        for level, units in levels.items():
            reference = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
            reference.index([unit.split() for unit in units], show_progress=False)
            scores = np.sort(reference.get_scores(["cat", "dog", "owl"]))[::-1]
            found = match(store, "cat dog owl", level, n=100)
            # bm25s leaves out the constant factor k1 + 1
            np.testing.assert_allclose(found.scores / 2.2, scores[scores > 0], rtol=1e-4)

    def test_any_form_of_a_word_matches(self, store: Store) -> None:
        """A query word has a form for each language of the nest; a row that holds any of them matches."""
        store.replace(entry("a", [["hous"]]))
        store.replace(entry("b", [["haus"]]))
        with store.view() as view:
            found = view.match("child", [("hous", "haus")], 10, None)
        assert ids(store, "child", found) == ["a", "b"]
        assert found.scores[0] == found.scores[1]

    def test_coverage_is_the_share_of_idf(self, store: Store) -> None:
        """All words found is 1, none is 0, and a rare word weighs more than a common one."""
        store.replace(entry("a", [["rare common"]]))
        store.replace(entry("b", [["common"]]))
        store.replace(entry("c", [["rare"]]))
        store.replace(entry("d", [["common nothing"]]))
        with store.view() as view:
            rows = view.nearest("parent", query("x"), 10, None).rows
            names = {row: parent.id for row, parent in view.parents(rows.tolist()).items()}
            shares = view.coverage(terms("rare common"), rows)
            found = dict(zip((names[row] for row in rows.tolist()), shares, strict=True))
            absent = view.coverage(terms("absent"), rows)
        assert found["a"] == 1
        assert found["c"] > found["b"] == found["d"] > 0
        assert not absent.any()

    def test_ties_go_by_id_then_position(self, store: Store) -> None:
        """Equal rows come in the order of document ids, then of the text, even where a list is cut (promise 9)."""
        for id in ("m", "z", "a", "k"):
            store.replace(entry(id, [["same word"], ["same word"]]))
        whole = ["a§1", "a§2", "k§1", "k§2", "m§1", "m§2", "z§1", "z§2"]
        for n in (1, 3, 8):
            assert ids(store, "child", match(store, "same", n=n)) == whole[:n]
            assert ids(store, "parent", nearest(store, "same word", "parent", n=n)) == whole[:n]

    def test_filters_before_it_ranks(self, store: Store) -> None:
        """A filter that leaves 2 of many documents gives those 2, on every level (R3)."""
        for n in range(300):
            store.replace(entry(f"d{n:03d}", [["common"]], metadata={"rare": n in (7, 250)}))
        for level in LEVELS:
            for ask in (nearest, match):
                found = ask(store, "common", level, where={"rare": True})
                assert ids(store, level, found) == ["d007", "d250"]

    def test_a_parents_own_metadata_hides_the_documents(self, store: Store) -> None:
        """A page number on a parent decides for that parent; the document's holds for the others."""
        own = [{"page": 1}, {"page": 2, "lang": {"ui": "de"}}, {}]
        store.replace(entry("d", [["x"], ["x"], ["x"]], metadata={"page": 9, "lang": {"ui": "en"}}, own=own))
        for where, expected in (
            ({"page": 2}, ["d§2"]),
            ({"page": 9}, ["d§3"]),
            ({"lang.ui": "en"}, ["d§1", "d§3"]),
            ({"lang": {"$exists": True}}, ["d§1", "d§2", "d§3"]),
            ({"page": {"$gte": 2}}, ["d§2", "d§3"]),
        ):
            assert ids(store, "parent", match(store, "x", "parent", where=where)) == expected
        with store.view() as view:
            rows = view.nearest("parent", query("x"), 3, None).rows
            merged = {parent.id: parent.metadata for parent in view.parents(rows.tolist()).values()}
        assert merged["d§2"] == {"page": 2, "lang": {"ui": "de"}}

    def test_family_is_whole_and_in_order(self, store: Store) -> None:
        """All children of the documents touched, by document id and position, whichever row names them."""
        store.replace(entry("b", [["b1 ", "b2 "], ["b3 "]]))
        store.replace(entry("a", [["a1 "], ["a2 "]]))
        store.replace(entry("c", [["c1 "]]))
        child = match(store, "b3").rows
        parent = match(store, "a1", "parent").rows
        with store.view() as view:
            family = view.family(child, parent, child[:0], None)
            texts = view.parents(family.parent.tolist())
            documents = [texts[row].document_id for row in family.parent.tolist()]
        assert documents == ["a", "a", "b", "b", "b"]
        assert family.start.tolist() == [0, 3, 0, 3, 6]
        assert family.stop.tolist() == [3, 6, 3, 6, 9]

    def test_a_view_does_not_change(self, store: Store) -> None:
        """What was read stays readable while the block lasts, whatever is written meanwhile."""
        store.replace(entry("a", [["word"]]))
        with store.view() as view:
            before = view.match("child", terms("word"), 5, None)
            assert view.parents(
                [int(view.family(before.rows, before.rows[:0], before.rows[:0], None).parent[0])]
            )
        assert len(before.rows) == 1

    def test_finds_vectors_of_embedded_text(self, store: Store) -> None:
        """The vector of a text comes back by its digest, as long as a child with it exists."""
        store.replace(entry("a", [["one", "two"]]))
        given = indexed("a", [["one", "two"]])
        with store.view() as view:
            found = view.embedded([*given.child_digests, b"\0" * 16], "wordhash-64")
            assert view.embedded(given.child_digests, "another-64") == {}
        assert set(found) == set(given.child_digests)
        np.testing.assert_array_equal(
            found[given.child_digests[1]], given.vectors[1].astype(np.float16).astype(np.float32)
        )
        store.remove(["a"])
        with store.view() as view:
            assert view.embedded(given.child_digests, "wordhash-64") == {}

    def test_counts_languages(self, store: Store) -> None:
        """After additions, replacements and removals, documents are counted by language; empty ones too."""
        expected: dict[str, str] = {}
        steps = [
            ("a", "en"),
            ("b", "de"),
            ("c", "en"),
            ("a", "fr"),
            ("d", ""),
            ("b", None),
            ("e", "de"),
            ("f", "en"),
        ]
        for id, language in steps:
            if language is None:
                store.remove([id])
                del expected[id]
            else:
                store.replace(entry(id, [["x"]] if id != "d" else [], language=language))
                expected[id] = language
            with store.view() as view:
                counts = {
                    each: list(expected.values()).count(each) for each in sorted(set(expected.values()))
                }
                assert dict(view.languages()) == counts

    def test_lists_documents_by_id(self, store: Store) -> None:
        """Documents come by id with their counts, the empty ones too, filtered by their own metadata."""
        store.replace(entry("b", [["x", "y"], ["z"]], metadata={"n": 1}))
        store.replace(entry("a", [], metadata={"n": 2}))
        with store.view() as view:
            rows = list(view.documents(None))
            assert [row["id"] for row in rows] == ["a", "b"]
            assert (rows[1]["parents"], rows[1]["children"], rows[1]["characters"]) == (2, 3, 3)
            assert [row["id"] for row in view.documents(parse({"n": 2}))] == ["a"]

    def test_an_edition_is_filled_and_switched_to(self, store: Store) -> None:
        """A view reads the rows of one edition; after the switch the live one is the other."""
        store.replace(entry("a", [["alpha beta "], ["gamma"]], metadata={"n": 1}))
        store.replace(entry("b", [], metadata={"n": 2}))
        number = store.begin(OTHER)
        assert (number, store.begin(OTHER), store.begin(BUILD)) == (2, 2, 1)
        with store.view(number) as view:
            lacking = view.lacking(0, 10**6)
            assert [(each.document.id, each.language) for each in lacking] == [("a", "en"), ("b", "en")]
            assert len(view.lacking(0, 1)) == 1
            assert [each.document.id for each in view.lacking(lacking[0].row, 1)] == ["b"]
        rows = {
            lacking[0].row: indexed("a", [["alpha "], ["beta gamma"]], own=[{"n": 7}, {}]),
            lacking[1].row: indexed("b", []),
            10**6: indexed("none", [["delta"]]),
        }
        assert store.index(number, rows) == 2
        assert store.index(number, rows) == 0
        assert ids(store, "child", match(store, "beta")) == ["a§1"]
        assert ids(store, "parent", match(store, "alpha", "parent", where={"n": 7})) == []
        store.switch(number)
        assert ids(store, "child", match(store, "beta")) == ["a§2"]
        assert ids(store, "parent", match(store, "alpha", "parent", where={"n": 7})) == ["a§1"]
        assert len(nearest(store, "alpha", "document").rows) == 1
        with store.view() as view:
            assert (view.edition.number, view.edition.build) == (2, OTHER)
            assert [(each.number, each.state) for each in view.editions()] == [(1, "retired"), (2, "live")]
            assert view.sizes() == {1: (2, 2), 2: (2, 2)}
            assert view.lacking(0, 1) == []
            assert view.check() == []
        with store.view(1) as view:
            assert view.edition.build == BUILD
            assert len(view.match("child", terms("beta"), 5, None).rows) == 1
            found = view.read("a§2")
        assert found is not None
        assert [(parent.start, parent.end) for parent in found[1]] == [(0, 11), (11, 16)]

    def test_only_a_whole_edition_is_switched_to(self, store: Store) -> None:
        """One that lacks a document, is retired, or is not there stays where it is."""
        store.replace(entry("a", [["alpha"]]))
        number = store.begin(OTHER)
        for wrong in (number, 7):
            with pytest.raises(EditionsChangedError):
                store.switch(wrong)
        with store.view(number) as view:
            row = view.lacking(0, 1)[0].row
        assert store.retire() == [number]
        with pytest.raises(EditionsChangedError):
            store.index(number, {row: indexed("a", [["alpha"]])})
        store.resume(number)
        store.index(number, {row: indexed("a", [["alpha"]])})
        store.retire()
        with pytest.raises(EditionsChangedError):
            store.switch(number)
        assert [each.number for each in store.reached()] == [1]

    def test_what_was_prepared_for_other_editions_is_refused(self, store: Store) -> None:
        """An addition is for exactly the editions that are reached then, or nothing of it is stored."""
        store.replace(entry("a", [["alpha"]]))
        number = store.begin(OTHER)
        with pytest.raises(EditionsChangedError):
            store.replace(entry("a", [["beta"]]))
        assert ids(store, "child", match(store, "alpha")) == ["a"]
        both = entry("a", [["beta"]], editions=(1, number))
        store.replace(both)
        # the rows of one that is building may be left for later, those of the live one may not
        store.replace(replace(both, rows={1: both.rows[1]}))
        with pytest.raises(EditionsChangedError):
            store.replace(replace(both, rows={number: both.rows[1]}))
        with store.view(number) as view:
            assert [each.document.id for each in view.lacking(0, 1)] == ["a"]

    def test_a_document_is_removed_from_every_edition(self, store: Store) -> None:
        """Retired ones, too, hold no row of what is gone."""
        number = store.begin(OTHER)
        store.replace(entry("a", [["alpha"]], editions=(1, number)))
        store.replace(entry("b", [["beta"]], editions=(1, number)))
        store.retire()
        store.remove(["a"])
        with store.view(number) as view:
            assert view.sizes() == {1: (1, 1), 2: (1, 1)}
            assert len(view.match("child", terms("alpha"), 5, None).rows) == 0
            assert len(view.match("child", terms("beta"), 5, None).rows) == 1
            assert view.check() == []

    def test_an_edition_that_is_not_live_can_do_without_a_document(self, store: Store) -> None:
        """It lacks it from then on; the live one must hold everything."""
        number = store.begin(OTHER)
        store.replace(entry("a", [["alpha"]], editions=(1, number)))
        store.replace(entry("b", [["beta"]], editions=(1, number)))
        store.unindex(number, ["a", "nothing"])
        with store.view(number) as view:
            assert [each.document.id for each in view.lacking(0, 1000)] == ["a"]
            assert len(view.match("child", terms("alpha"), 5, None).rows) == 0
            assert view.sizes() == {1: (2, 2), number: (1, 1)}
            assert view.check() == []
        with pytest.raises(EditionsChangedError, match="is live by now"):
            store.unindex(1, ["a"])

    def test_a_document_in_the_place_of_itself(self, store: Store) -> None:
        """Nothing is done where it is another by now, or gone."""
        old, new = entry("a", [["alpha"]]), entry("a", [["beta"]])
        store.replace(new)
        store.replace(old, itself=True)
        assert ids(store, "child", match(store, "beta")) == ["a"]
        with store.view() as view:
            before = view.change
        store.replace(new, itself=True)
        with store.view() as view:
            assert view.change > before
        store.remove(["a"])
        store.replace(new, itself=True)
        assert ids(store, "child", match(store, "beta")) == []

    def test_a_retired_edition_is_dropped_bit_by_bit(self, store: Store) -> None:
        """It is gone with all its rows, and every step leaves a sound nest; the live one cannot be dropped."""
        number = store.begin(OTHER)
        for n in range(50):
            store.replace(entry(f"d{n}", [["alpha"]], own=[{"n": n}], editions=(1, number)))
        assert store.drop(1, 0) == (0, 0, None)
        store.retire()
        after: int | None = 0
        steps = removed = 0
        while after is not None:
            documents, children, after = store.drop(number, after)
            assert documents == children
            removed += documents
            steps += 1
            with store.view() as view:
                assert view.check() == []
        assert (steps > 2, removed) == (True, 50)
        store.shrink()
        with store.view() as view:
            assert view.sizes() == {1: (50, 50)}
        assert ids(store, "parent", match(store, "alpha", "parent", where={"n": 7})) == ["d7"]

    def test_an_edition_that_is_read_while_it_is_filled(self, store: Store) -> None:
        """Rows of documents that were there before are found in it at once, in the order of ties."""
        for id in ("b", "a", "c"):
            store.replace(entry(id, [["alpha"]]))
        number = store.begin(OTHER)
        with store.view(number) as view:
            rows = {each.document.id: each.row for each in view.lacking(0, 10**6)}
        for held, id in enumerate(("c", "a", "b")):
            with store.view(number) as view:
                assert len(view.nearest("document", query("alpha"), 5, None).rows) == held
                assert len(view.match("child", terms("alpha"), 5, None).rows) == held
            store.index(number, {rows[id]: indexed(id, [["alpha"]])})
        store.replace(entry("d", [["alpha"]], editions=(1, number)))
        store.remove(["a"])
        with store.view(number) as view:
            found = view.match("parent", terms("alpha"), 5, None).rows.tolist()
            stored = view.parents(found)
        assert [stored[row].document_id for row in found] == ["b", "c", "d"]

    @pytest.mark.parametrize("seed", range(3))
    def test_catching_up_equals_a_fresh_read(self, store: Store, seed: int) -> None:
        """Searches between changes see the same as a search of a store that was written once (R13)."""
        chance = random.Random(seed)
        state: dict[str, list[list[str]]] = {}
        for _ in range(25):
            id = f"d{chance.randrange(8)}"
            if chance.random() < 0.3:
                store.remove([id])
                state.pop(id, None)
            else:
                state[id] = [[f"{word} " for word in chance.choices(WORDS, k=3)] for _ in range(2)]
                store.replace(entry(id, state[id]))
            nearest(store, "cat", n=5)
        found = {level: ids(store, level, nearest(store, "cat dog", level, 30)) for level in LEVELS}
        words = {level: ids(store, level, match(store, "cat dog", level, 30)) for level in LEVELS}
        store.remove(list(state))
        for id in sorted(state, reverse=True):
            store.replace(entry(id, state[id]))
        assert found == {level: ids(store, level, nearest(store, "cat dog", level, 30)) for level in LEVELS}
        assert words == {level: ids(store, level, match(store, "cat dog", level, 30)) for level in LEVELS}


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, 2.0]),
    st.sampled_from(["1", "a", "b"]),
)
METADATA = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.one_of(SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.sampled_from(["x", "y"]), SCALARS)),
)
TESTS = st.one_of(
    SCALARS,
    st.fixed_dictionaries({"$in": st.lists(SCALARS, max_size=3)}),
    st.fixed_dictionaries({"$nin": st.lists(SCALARS, max_size=3)}),
    st.builds(
        lambda op, value: {op: value}, st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), st.integers(-3, 3)
    ),
    st.fixed_dictionaries({"$exists": st.booleans()}),
    st.fixed_dictionaries({"$contains": SCALARS}),
)
FILTERS = st.recursive(
    st.dictionaries(st.sampled_from(["a", "b", "c", "a.x", "b.y"]), TESTS, min_size=1, max_size=2),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"$and": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"$or": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"$not": inner}),
    ),
    max_leaves=4,
)


def holds(where: dict[str, Any], metadata: dict[str, Any]) -> bool:
    """The filter's meaning, written plainly, to compare stores with."""
    return all(_clause(key, value, metadata) for key, value in where.items())


def _clause(key: str, value: Any, metadata: dict[str, Any]) -> bool:
    if key == "$and":
        return all(holds(branch, metadata) for branch in value)
    if key == "$or":
        return any(holds(branch, metadata) for branch in value)
    if key == "$not":
        return not holds(value, metadata)
    tests = value if isinstance(value, dict) else {"$in": [value]}
    return all(_test(op, bound, key, metadata) for op, bound in tests.items())


def _test(operator: str, bound: Any, path: str, metadata: dict[str, Any]) -> bool:
    value: Any = metadata
    for part in path.split("."):
        if not isinstance(value, dict) or part not in value:
            return operator == "$exists" and not bound
        value = value[part]
    if operator == "$exists":
        return bool(bound)
    elements = value if isinstance(value, list) else [] if isinstance(value, dict) else [value]
    if operator == "$contains":
        return isinstance(value, list) and any(_same(bound, each) for each in elements)
    if operator in ("$in", "$nin"):
        inside = any(_same(one, each) for one in bound for each in elements)
        return inside if operator == "$in" else value is not None and not inside
    compare = {"$gt": np.greater, "$gte": np.greater_equal, "$lt": np.less, "$lte": np.less_equal}[operator]
    numbers = [each for each in elements if isinstance(each, int | float) and not isinstance(each, bool)]
    return any(bool(compare(each, bound)) for each in numbers)


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other


class FilterContract:
    """Filters mean the same on every store."""

    @given(metadata=st.lists(METADATA, min_size=1, max_size=4), where=FILTERS)
    def test_filters_like_the_plain_meaning(
        self, empty_store: Any, metadata: list[dict[str, Any]], where: dict[str, Any]
    ) -> None:
        """Any filter on any metadata leaves exactly the documents for which it holds (R4, R5)."""
        with empty_store() as store:
            for n, each in enumerate(metadata):
                store.replace(entry(f"d{n}", [["word"]], metadata=each))
            expected = [f"d{n}" for n, each in enumerate(metadata) if holds(where, each)]
            assert ids(store, "parent", match(store, "word", "parent", where=where)) == expected
            with store.view() as view:
                assert [row["id"] for row in view.documents(parse(where))] == expected
