"""Promise 7: a scope sees and writes its own documents only, and nothing that is given to it can widen it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nestling
from nestling import Document, Nest
from nestling.bounds import Bounds, labelled
from nestling.stores.sqlite import SQLiteStore
from tenants import QUERIES, Deed, done, found, seen
from wordhash import WordHash

TENANTS = ("acme", "globex")
# ids that other tenants use, that look like labels, passages and hidden ones, and that SQL or globs would widen
IDS = (
    "x",
    "h.md",
    "x§1",
    "«tenant=globex»x",
    "«tenant=acme»x",
    "«tenant=globex»",
    "«»x",
    "«user=eve»x",
    "«user=eve»«tenant=globex»x",
    "«tenant=globex&user=eve»h.md",
    "«tenant=%67lobex»x",
    "«»«tenant=globex»x",
    "%",
    "*",
    "' OR 1=1 --",
)
METADATA = (
    {},
    {"tenant": "globex"},
    {"tenant": "acme"},
    {"tenant": ["acme", "globex"]},
    {"tenant": None},
    {"tenant": {"": "globex"}},
    {"tenant.": "globex", "": {"tenant": "globex"}},
    {"user": "eve"},
    {"user": ["eve", "bob"]},
    {"lang": "de", "tags": ["a"]},
)
WHERE = (
    None,
    {},
    {"tenant": "globex"},
    {"$not": {"tenant": "acme"}},
    {"$or": [{"tenant": "acme"}, {"tenant": "globex"}, {"tenant": {"$exists": False}}]},
    {"tenant": {"$in": ["acme", "globex"]}},
    {"tenant": {"$contains": "globex"}},
    {"tenant": {"$gte": ""}},
    {"tenant": {"$nin": []}},
    {"$not": {"$not": {"$or": [{"tenant": "globex"}, {"lang": {"$exists": False}}]}}},
    {"user": "eve"},
    {"$where": "1"},
)
TEXTS = ("red apples", "red apples and red pears", "secret", "x " * 300, "", "Der Apfel ist rot und süß.")
WHOLE = ("check", "prune", "rollback", "rebuild")

documents = st.builds(
    Document,
    st.sampled_from(IDS),
    st.sampled_from(TEXTS),
    st.sampled_from(("", "Title")),
    st.sampled_from(METADATA),
)
asked = st.tuples(st.sampled_from(QUERIES), st.sampled_from(WHERE))
deeds = st.one_of(
    st.builds(Deed, st.just("add"), st.lists(documents, max_size=4)),
    st.builds(
        Deed,
        st.just("add"),
        st.lists(documents, max_size=4),
        st.sampled_from(({"user": "eve"}, {"tenant": "globex"}, {"user": "eve", "lang": "de"})),
    ),
    st.builds(Deed, st.just("remove"), st.lists(st.sampled_from(IDS), max_size=4)),
    st.builds(Deed, st.just("show"), st.sampled_from(IDS)),
    st.builds(Deed, st.just("list"), st.sampled_from(WHERE)),
    st.builds(Deed, st.sampled_from(("search", "context")), asked),
    st.builds(Deed, st.just("evaluate"), st.tuples(st.sampled_from(IDS), st.sampled_from(WHERE))),
    st.builds(
        Deed,
        st.just("sync"),
        st.dictionaries(
            st.sampled_from(("x.md", "h.md", "«user=eve»x.md", "«tenant=globex»h.md", "cards.jsonl")),
            st.sampled_from(TEXTS),
        ),
    ),
    st.builds(Deed, st.just("whole"), st.sampled_from(WHOLE)),
)
# what the owner adds that is no tenant's: under plain ids, of others, and of several at once
owned = st.lists(
    st.builds(
        Document,
        st.sampled_from(("x", "h.md", "x.md", "«»x", "«user=eve»x", "«tenant=umbra»x")),
        st.sampled_from(TEXTS),
        st.just(""),
        st.sampled_from(({}, {"tenant": "umbra"}, {"tenant": ["acme", "globex"]}, {"user": "eve"})),
    ),
    max_size=3,
)


class Worlds:
    """One nest for all, and for each tenant another one in which it is alone."""

    def __init__(self, folder: Path) -> None:
        self.nest = nestling.open(":memory:", create=True, embedder=WordHash())
        self.alone = {
            each: nestling.open(":memory:", create=True, embedder=WordHash()).scope(tenant=each)
            for each in TENANTS
        }
        # one for all: who syncs another's files is told nothing of them either
        self.folder = folder

    def do(self, tenant: str, deed: Deed) -> None:
        """A deed tells its tenant the same, whoever else is there."""
        here = done(self.nest.scope(tenant=tenant), deed, self.folder)
        assert here == done(self.alone[tenant], deed, self.folder)

    def hold(self) -> None:
        """Each tenant sees the same as where it is alone."""
        for tenant, alone in self.alone.items():
            assert seen(self.nest.scope(tenant=tenant)) == seen(alone)


steps = st.lists(st.one_of(st.tuples(st.sampled_from(TENANTS), deeds), owned), min_size=2, max_size=8)


def live(steps: list[Any]) -> None:
    """Go through what tenants and the owner do, and hold each tenant to what it sees alone."""
    with TemporaryDirectory() as folder:
        worlds = Worlds(Path(folder))
        for step in steps:
            if isinstance(step, list):
                worlds.nest.add(step)
            else:
                worlds.do(*step)
            worlds.hold()
        assert worlds.nest.check() == []


@settings(max_examples=35)
@given(steps)
def test_tenants_do_not_know_of_each_other(steps: list[Any]) -> None:
    """Whatever others add, sync, remove or ask, a scope tells, holds and ranks as if it were alone in the nest."""
    live(steps)


@pytest.mark.slow
@settings(max_examples=600)
@given(steps)
def test_tenants_do_not_know_of_each_other_at_length(steps: list[Any]) -> None:
    """The same, for minutes."""
    live(steps)


@pytest.fixture
def tenants(nest: Nest) -> tuple[Nest, Nest]:
    """Two scopes with a document of the same id and text, and one of their own each."""
    acme, globex = nest.scope(tenant="acme"), nest.scope(tenant="globex")
    acme.add([Document("terms.md", "The same boilerplate."), Document("a.md", "Acme sells apples.")])
    globex.add([Document("terms.md", "The same boilerplate."), Document("g.md", "Globex sells grapes.")])
    return acme, globex


def ids(nest: Nest) -> list[str]:
    """What a nest lists."""
    return [info.id for info in nest.list()]


def test_same_parent_in_two_tenants(nest: Nest, tenants: tuple[Nest, Nest], embedder: WordHash) -> None:
    """Each has its own, with its own citation; removing one leaves the other (L8)."""
    acme, globex = tenants
    assert [p.cite for p in nest.search("boilerplate", 2)] == [
        "[cite:«tenant=acme»terms.md]",
        "[cite:«tenant=globex»terms.md]",
    ]
    assert [p.cite for p in acme.search("boilerplate", 1)] == ["[cite:terms.md]"]
    # not taken over from each other, which a report would tell
    assert embedder.calls.count("The same boilerplate.") == 2
    assert acme.remove("terms.md") == ["terms.md"]
    assert (ids(acme), ids(globex)) == (["a.md"], ["g.md", "terms.md"])
    assert [p.text for p in globex.search("boilerplate", 1)] == ["The same boilerplate."]
    assert nest.check() == []


def test_metadata_cannot_name_another_tenant(tenants: tuple[Nest, Nest]) -> None:
    """A document whose metadata has the key otherwise is refused, and the others are stored (R6)."""
    acme, globex = tenants
    before = seen(globex)
    evil = [
        Document(f"evil{n}", "grapes", metadata={"tenant": value})
        for n, value in enumerate(("globex", ["acme", "globex"], ["acme"], None, {"a": 1}, True, 1))
    ]
    report = acme.add([*evil, Document("good", "grapes", metadata={"tenant": "acme"})])
    assert report.added == ["good"]
    assert [each.name for each in report.failed] == [each.id for each in evil]
    assert "leave tenant out" in report.failed[0].reason
    assert seen(globex) == before


def test_given_metadata_gets_the_values(nest: Nest) -> None:
    """What is added has them, is found by them from outside, and is unchanged when it is added again."""
    scope = nest.scope(tenant="acme", plan=2)
    scope.add(Document("a", "one", metadata={"lang": "en"}))
    (info,) = nest.list({"tenant": "acme", "plan": 2})
    assert info.metadata == {"lang": "en", "plan": 2, "tenant": "acme"}
    assert info.id == "«plan=2&tenant=acme»a"
    assert scope.add(Document("a", "one", metadata={"lang": "en"})).unchanged == ["a"]
    assert scope.add(Document("a", "one", metadata={"lang": "en", "plan": 2})).unchanged == ["a"]


def test_sees_what_was_added_from_outside(nest: Nest) -> None:
    """A document whose metadata says so is in the scope, is replaced where it is, and leaves with its metadata."""
    nest.add([Document("a", "one", metadata={"tenant": "acme"}), Document("b", "two")])
    acme = nest.scope(tenant="acme")
    assert ids(acme) == ["a"]
    assert acme.add([Document("a", "three"), Document("b", "four")]).updated == ["a"]
    assert ids(nest) == ["a", "b", "«tenant=acme»b"]
    nest.add(Document("a", "three", metadata={"tenant": "globex"}))
    assert ids(acme) == ["b"]
    assert acme.add(Document("a", "five")).added == ["a"]
    tree = nest.show("a")
    assert tree is not None
    assert tree.document.text == "three"


@pytest.mark.parametrize("name", ["together", "remove"])
def test_a_document_that_leaves_meanwhile_is_left_alone(
    nest: Nest, path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Where the owner gives it to another tenant just before it is replaced or removed, it stays as it is."""
    nest.add(Document("a", "one", metadata={"tenant": "acme"}))
    written = getattr(SQLiteStore, name)

    def after_the_owner(store: SQLiteStore, *arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(SQLiteStore, name, written)
        with nestling.open(path, embedder=WordHash()) as owner:
            owner.add(Document("a", "two", metadata={"tenant": "globex"}))
        return written(store, *arguments, **options)

    monkeypatch.setattr(SQLiteStore, name, after_the_owner)
    acme = nest.scope(tenant="acme")
    if name == "together":
        acme.add(Document("a", "three"))
        assert [p.text for p in acme.search("three")] == ["three"]
    else:
        assert acme.remove("a") == []
        assert ids(acme) == []
    assert [p.text for p in nest.scope(tenant="globex").search("two")] == ["two"]


def test_a_list_is_no_membership(nest: Nest) -> None:
    """Neither a list with the value nor another type of it is in a scope."""
    nest.add([Document(f"d{n}", "word", metadata={"t": v}) for n, v in enumerate((["1"], 1, 1.0, "1", True))])
    assert ids(nest.scope(t="1")) == ["d3"]
    assert ids(nest.scope(t=1)) == ids(nest.scope(t=1.0)) == ["d1", "d2"]
    assert ids(nest.scope(t=True)) == ["d4"]
    assert [p.id for p in nest.scope(t="1").search("word", 9)] == ["d3"]


def test_two_of_one_id_are_told_apart(nest: Nest) -> None:
    """Where the owner adds a document under an id that the scope has already, both can be shown and removed."""
    acme = nest.scope(tenant="acme")
    acme.add(Document("a", "the scope's apples"))
    nest.add(Document("a", "the owner's apples", metadata={"tenant": "acme"}))
    assert ids(acme) == ["a", "«»a"]
    assert {p.id: p.text for p in acme.search("apples", 9)} == {
        "a": "the scope's apples",
        "«»a": "the owner's apples",
    }
    assert [failure.name for failure in acme.add(Document("«»a", "else")).failed] == ["«»a"]
    assert acme.remove(["a"]) == ["a"]
    assert ids(acme) == ["a"]
    assert acme.show("«»a") is None


def test_scopes_narrow(nest: Nest) -> None:
    """A scope of a scope is within both, in whichever order, and cannot say otherwise."""
    eve = nest.scope(tenant="acme").scope(user="eve")
    eve.add(Document("note", "apples"))
    nest.scope(tenant="acme").add(Document("note", "pears", metadata={"user": "bob"}))
    nest.scope(tenant="globex").scope(user="eve").add(Document("note", "grapes"))
    assert ids(nest.scope(user="eve").scope(tenant="acme")) == ids(eve) == ["note"]
    assert ids(nest.scope(tenant="acme")) == ["note", "«user=eve»note"]
    assert ids(nest.scope(user="eve")) == ["«tenant=acme»note", "«tenant=globex»note"]
    assert ids(eve.scope(tenant="acme")) == ["note"]
    with pytest.raises(nestling.SettingError, match="tenant cannot be 'globex'"):
        eve.scope(tenant="globex")
    assert nest.scope(tenant="acme").add(Document("«user=eve»note", "changed")).updated == ["«user=eve»note"]
    assert [p.text for p in eve.search("changed")] == ["changed"]
    assert repr(eve).endswith("test.nest', tenant='acme', user='eve')")


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"a": None},
        {"a": float("nan")},
        {"a": ["x"]},
        {"a": {}},
        {"a": "\ud800"},
        {"a.b": 1},
        {"$or": 1},
        {"": 1},
        {str(n): n for n in range(7)},
    ],
)
def test_refuses_what_is_no_scope(nest: Nest, values: dict[str, Any]) -> None:
    """No key at all, a value that is not known, and keys that are paths are errors, not a scope of everything."""
    with pytest.raises(nestling.SettingError):
        nest.scope(**values)


def test_what_concerns_the_whole_nest_is_refused(tenants: tuple[Nest, Nest], nest: Nest) -> None:
    """Damage, editions and settings of the nest are not a scope's, and stay as they are."""
    acme, _ = tenants
    number = nest.rebuild(nestling.Recipe(child_size=100, parent_size=200), switch=False).edition
    before = [(each.number, each.state) for each in nest.editions()]
    for ask in (
        acme.check,
        acme.prune,
        lambda: acme.rebuild(nestling.Recipe(child_size=50, parent_size=200)),
        lambda: acme.switch(number),
        lambda: acme.keep_scoring(nestling.Scoring(dense=0)),
    ):
        with pytest.raises(nestling.ScopeError, match="without the scope"):
            ask()
    assert [(each.number, each.state) for each in nest.editions()] == before
    nest.switch(number)
    with pytest.raises(nestling.ScopeError):
        acme.rollback()
    assert [each.documents for each in acme.editions()] == [2, 2]


def test_an_edition_in_a_scope(tenants: tuple[Nest, Nest], nest: Nest) -> None:
    """One edition can be asked in a scope, from either side, and holds its bounds."""
    acme, _ = tenants
    nest.rebuild(nestling.Recipe(child_size=100, parent_size=200))
    for scope in (acme.at(1), nest.at(1).scope(tenant="acme"), acme.at(2)):
        assert ids(scope) == ["a.md", "terms.md"]
        assert [p.id for p in scope.search("grapes apples boilerplate", 9)] == ["a.md", "terms.md"]
        with pytest.raises(nestling.ReadOnlyError):
            scope.add(Document("new", "text"))


def test_syncs_its_own_documents_only(nest: Nest, tmp_path: Path) -> None:
    """Two tenants and the owner sync one folder; what goes from one stays with the others."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\napples")
    (folder / "b.md").write_text("# B\n\nbananas")
    acme, globex = nest.scope(tenant="acme"), nest.scope(tenant="globex")
    for each in (acme, globex, nest):
        assert each.sync(folder).added == ["a.md", "b.md"]
    (folder / "a.md").rename(folder / "c.md")
    (folder / "b.md").unlink()
    report = acme.sync(folder)
    assert ([tuple(each) for each in report.renamed], report.removed) == ([("a.md", "c.md")], ["b.md"])
    assert ids(acme) == ["c.md"]
    assert ids(globex) == ["a.md", "b.md"]
    assert ids(nest) == ["a.md", "b.md", "«tenant=acme»c.md", "«tenant=globex»a.md", "«tenant=globex»b.md"]
    assert acme.add(folder / "c.md").unchanged == ["c.md"]
    assert nest.check() == []


def test_cards_and_front_matter_are_held_to_it(nest: Nest, tmp_path: Path) -> None:
    """What files say of themselves is metadata like any other."""
    (tmp_path / "evil.md").write_text("---\ntenant: globex\n---\n\n# Evil\n")
    lines = [{"id": "one", "text": "1"}, {"id": "two", "text": "2", "metadata": {"tenant": "globex"}}]
    (tmp_path / "cards.jsonl").write_text("\n".join(map(json.dumps, lines)))
    report = nest.scope(tenant="acme").add([tmp_path / "evil.md", tmp_path / "cards.jsonl"])
    assert report.added == ["one"]
    assert len(report.failed) == 2
    assert all("tenant='globex'" in each.reason for each in report.failed)


def test_ranks_like_a_nest_of_its_own(nest: Nest) -> None:
    """Scores, evidence and explanation do not depend on what others have: IDF, lengths, languages."""
    own = [Document(f"d{n}", f"topic{n} apple banana cherry".rsplit(" ", n % 3)[0]) for n in range(12)]
    alone = nestling.open(":memory:", create=True, embedder=WordHash()).scope(tenant="acme")
    alone.add(own)
    nest.add([Document(f"o{n}", "apple " * (n % 7 + 1) + "Die Äpfel sind rot und süß") for n in range(40)])
    nest.scope(tenant="acme").add(own)
    for query in ("apple", "cherry banana", "topic3", "äpfel"):
        assert found(nest.scope(tenant="acme"), query, None) == found(alone, query, None)
    assert nest.scope(tenant="acme").stats()["languages"] == alone.stats()["languages"]


def test_owner_is_held_to_labels(nest: Nest) -> None:
    """An id with a label gets the values that it says, from whoever adds it; metadata cannot say otherwise."""
    report = nest.add(
        [
            Document("«tenant=acme»a", "apples"),
            Document("«tenant=acme»b", "apples", metadata={"tenant": "globex"}),
            Document("«tenant=acme»", "apples"),
            Document("«Война и мир».md", "pears"),
        ]
    )
    assert (report.added, len(report.failed)) == (["«tenant=acme»a", "«Война и мир».md"], 2)
    assert ids(nest.scope(tenant="acme")) == ["a"]
    assert ids(nest.scope(tenant="globex")) == []


def test_watches_in_a_scope(tenants: tuple[Nest, Nest], tmp_path: Path) -> None:
    """A folder that is watched is synced with the scope."""
    acme, _ = tenants
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "n.md").write_text("nectarines")
    stop = Event()
    reports: Iterator[Any] = nestling.watch(acme, tmp_path / "docs", stop=stop)
    assert next(reports).added == ["n.md"]
    stop.set()
    assert ids(acme) == ["a.md", "n.md", "terms.md"]


def test_does_not_name_who_holds_a_lock(path: Path) -> None:
    """The command of the process that writes may name another tenant; a scope only says that it waited."""
    with nestling.open(path, create=True, embedder=WordHash(), timeout=0) as nest:
        script = (
            "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None);"
            "db.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.read()"
        )
        command = [sys.executable, "-c", script, str(path), "--scope", "tenant=globex"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "held\n"
            with pytest.raises(nestling.LockedError) as caught:
                nest.scope(tenant="acme").add(Document("a", "text"))
            other.communicate("")
    assert "globex" not in f"{caught.value} {caught.value.__cause__} {caught.value.report}"
    assert "locked by another process" in str(caught.value)


values = st.one_of(
    st.text(max_size=8), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans()
)
keys = st.text(min_size=1, max_size=4).filter(lambda key: "." not in key and not key.startswith("$"))
bounds = st.dictionaries(keys, values, min_size=1, max_size=3).map(Bounds.of)


@given(bounds, st.text(min_size=1, max_size=12))
def test_labels_are_read_back(bound: Bounds, id: str) -> None:
    """A label is unlike any other's, and is found again before whatever follows."""
    assert labelled(bound.label + id) == (bound, id)
    assert bound.plain(bound.label + id) == id


@given(bounds, st.one_of(st.sampled_from(IDS), st.text(min_size=1, max_size=6)), bounds)
def test_forms_lead_back(bound: Bounds, id: str, more: Bounds) -> None:
    """Every id under which a plain one may be stored is shown as that one, and the own form is the first."""
    for name in (id, more.label + id):
        forms = list(bound.forms(name))
        assert len(set(forms)) == len(forms)
        assert all(bound.plain(form) == name for form in forms)
        assert not forms or forms[0] == bound.own(name)
