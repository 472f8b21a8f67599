"""Editions: built beside the live one, judged, switched to, rolled back, pruned; nothing is lost on the way."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import nestling
from nestling import Document, Golden, GoldenQuestion, GoldSpan, Nest, Recipe
from wordhash import WordHash

QUESTIONS = 15
SMALL = Recipe(child_size=100, parent_size=300)


class Other(WordHash):
    """Another model, of another dimension."""

    fingerprint = "other-16"
    dimension = 16


class Blind(WordHash):
    """A model that tells no texts apart."""

    fingerprint = "blind-64"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same vector for all."""
        self.calls += texts
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        vectors[:, 0] = 1
        return vectors


def documents(n: int = 12, first: int = 0) -> list[Document]:
    """Documents of several parents each, and an empty one."""
    found = [
        Document(
            f"d{i:02d}",
            "\n\n".join(f"Topic{i} is told here, in part {p} of it. " * 8 for p in range(6)),
            f"T{i}",
        )
        for i in range(first, first + n)
    ]
    return [*found, Document(f"empty{first}", "  ")]


def states(nest: Nest) -> list[tuple[int, str, int]]:
    """Number, state and documents of each edition."""
    return [(each.number, each.state, each.documents) for each in nest.editions()]


def test_a_new_edition_is_what_a_new_nest_would_be(nest: Nest, embedder: WordHash) -> None:
    """After a rebuild everything is found as in a nest that was built so from the start."""
    nest.add(documents())
    calls = len(embedder.calls)
    done = nest.rebuild(SMALL)
    assert (done.edition, done.documents, done.switched, done.losses) == (2, 13, True, ())
    assert done.embedded == len(embedder.calls) - calls > 0
    assert states(nest) == [(1, "retired", 13), (2, "live", 13)]
    assert nest.recipe == SMALL
    assert nest.check() == []
    with nestling.open(":memory:", embedder=WordHash(), recipe=SMALL) as fresh:
        fresh.add(documents())
        for query in ("topic3", "part 2 of topic7", "told here"):
            assert list(nest.search(query, 30)) == list(fresh.search(query, 30))
            assert nest.context(query, 150) == fresh.context(query, 150)
        assert nest.show("d03§2") == fresh.show("d03§2")
        assert nest.list() == fresh.list()
        changing = ("bytes", "change", "edition")
        assert {k: v for k, v in nest.stats().items() if k not in changing} == {
            k: v for k, v in fresh.stats().items() if k not in changing
        }


def test_filters_and_own_metadata_are_of_the_live_edition(nest: Nest) -> None:
    """A filter leaves the documents it left before, under the new passages."""
    given = [Document(d.id, d.text, d.title, {"n": int(d.id[1:])}) for d in documents() if d.text.strip()]
    nest.add(given)
    before = {p.document_id for p in nest.search("topic", 50, where={"n": {"$lt": 3}})}
    nest.rebuild(SMALL)
    after = nest.search("topic", 50, where={"n": {"$lt": 3}})
    assert {p.document_id for p in after} == before == {"d00", "d01", "d02"}
    assert len(after) > 3


def test_vectors_are_taken_over_under_the_same_embedder_only(nest: Nest, embedder: WordHash) -> None:
    """Equal text is not embedded again by the model that embedded it, and always by another."""
    nest.add(documents())
    children = nest.stats()["children"]
    calls = len(embedder.calls)
    done = nest.rebuild(Recipe(parent_size=4000))
    assert (done.embedded, done.reused) == (len(embedder.calls) - calls, children - done.embedded)
    assert done.embedded < children / 2
    other = Other()
    done = nest.rebuild(embedder=other)
    assert (done.embedded, done.reused) == (len(other.calls), 0)
    assert nest.stats()["embedder"] == "other-16"
    assert nest.search("topic3")[0].document_id == "d03"
    assert nest.check() == []


def test_building_again_what_is_live_does_nothing(nest: Nest) -> None:
    """The same call after a switch, or none of the settings changed: nothing is built."""
    nest.add(documents(2))
    done = nest.rebuild()
    assert (done.edition, done.switched, done.embedded) == (1, False, 0)
    nest.rebuild(SMALL)
    done = nest.rebuild(SMALL)
    assert (done.edition, done.switched, done.verdict) == (
        2,
        False,
        "edition 2, which is live, is built so already",
    )
    assert len(nest.editions()) == 2


def test_a_failed_build_goes_on_where_it_was(nest: Nest) -> None:
    """What was built is kept when the embedder fails; the same call does the rest."""
    nest.add(documents())
    failing = Other(fail_on="Topic7 ")
    with pytest.raises(nestling.ModelError):
        nest.rebuild(SMALL, embedder=failing)
    assert states(nest) == [(1, "live", 13), (2, "building", 7)]
    assert nest.search("topic3")[0].document_id == "d03"
    done = nest.rebuild(SMALL, embedder=(well := Other()))
    assert (done.edition, done.documents, done.switched) == (2, 6, True)
    assert set(well.calls) & {call for call in failing.calls if "Topic6 " in call} == set()
    assert nest.check() == []


def test_additions_reach_both(nest: Nest) -> None:
    """While an edition is built, what is added, changed or removed is so in both."""
    nest.add(documents())
    nest.rebuild(SMALL, switch=False)
    nest.add([*documents(3, 50), Document("d00", "Wholly new words instead.")])
    nest.remove(["d01", "d50"])
    assert states(nest) == [(1, "live", 15), (2, "building", 15)]
    built = nest.at(2)
    assert built.recipe == SMALL
    for each in (nest, built):
        assert each.search("topic51")[0].document_id == "d51"
        assert each.search("wholly new words")[0].id == "d00"
        assert "d01" not in {p.document_id for p in each.search("topic1", 100)}
    assert nest.check() == []
    nest.switch(2)
    assert nest.check() == []


def test_a_read_edition_is_not_written(nest: Nest, tmp_path: Path) -> None:
    """A nest at an edition answers, and refuses every change before anything is embedded."""
    nest.add(documents(2))
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "new.txt").write_text("New words.", "utf-8")
    other = Other()
    nest.rebuild(embedder=other, switch=False)
    built, calls = nest.at(2), len(other.calls)
    changes: list[Any] = [
        lambda: built.add(Document("x", "y")),
        lambda: built.sync(folder),
        lambda: built.remove("d00"),
        lambda: built.keep_scoring(nestling.Scoring()),
        lambda: built.rebuild(SMALL),
        lambda: built.switch(2),
        lambda: built.rollback(),
        lambda: built.prune(),
    ]
    for change in changes:
        with pytest.raises(nestling.NestlingError, match=r"to be asked only|was live before"):
            change()
    assert len(other.calls) == calls
    with pytest.raises(nestling.NotFoundError, match="has no edition 7"):
        nest.at(7)


def test_an_adder_without_the_new_model_leaves_it_to_the_builder(path: Path) -> None:
    """Nothing is added the less for a model that is not to be had, or fails; switching catches up."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add(documents(3))
        nest.rebuild(embedder=Other(fail_on="Topic51 "), switch=False)
        with nestling.open(path, embedder=WordHash()) as adder:
            assert len(adder.add(Document("late", "Late words.")).added) == 1
        assert len(nest.add(documents(2, 50)).added) == 3
        assert states(nest) == [(1, "live", 8), (2, "building", 4)]
        with pytest.raises(nestling.ModelError):
            nest.switch(2)
        assert nest.rebuild(embedder=Other()).documents >= 1
        assert states(nest) == [(1, "retired", 8), (2, "live", 8)]
        assert nest.search("late words")[0].id == "late"


def test_rolling_back_catches_up(nest: Nest) -> None:
    """The edition that was live before comes back with what was added since; again, and the other comes back."""
    nest.add(documents(3))
    nest.rebuild(SMALL)
    nest.add(Document("since", "Words added since."))
    assert states(nest) == [(1, "retired", 4), (2, "live", 5)]
    assert nest.rollback() == 1
    assert nest.recipe == Recipe()
    assert nest.search("words added since")[0].id == "since"
    assert states(nest) == [(1, "live", 5), (2, "retired", 5)]
    assert nest.rollback() == 2
    assert nest.check() == []


def test_without_a_way_back_it_says_so(nest: Nest) -> None:
    """A nest of one edition, or one beside which only unfinished ones are, has nothing to roll back to."""
    with pytest.raises(nestling.NotFoundError, match="no other edition"):
        nest.rollback()
    nest.add(documents(2))
    nest.rebuild(SMALL, switch=False)
    with pytest.raises(nestling.NotFoundError, match="no other edition"):
        nest.rollback()
    for number in (0, 3, "2"):
        with pytest.raises((nestling.NotFoundError, nestling.SettingError)):
            nest.switch(number)  # type: ignore[arg-type]


def test_pruning_leaves_the_live_edition(path: Path) -> None:
    """Retired and unfinished editions go with all their rows, and the file gets smaller."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add(documents(60))
        nest.rebuild(SMALL)
        nest.rebuild(Recipe(child_size=50, parent_size=200), switch=False)
        before, found = nest.stats()["bytes"], list(nest.search("topic3", 20))
        told: list[nestling.Progress] = []
        children = sum(each.children for each in nest.editions() if each.state != "live")
        assert nest.prune(progress=told.append) == [1, 3]
        assert (told[-1].documents, told[-1].total, told[-1].children) == (122, 122, children)
        assert [each.documents for each in told] == sorted(each.documents for each in told)
        assert len({each.documents for each in told}) > 5
        assert states(nest) == [(2, "live", 61)]
        assert nest.check() == []
        assert nest.stats()["bytes"] < 0.6 * before
        assert list(nest.search("topic3", 20)) == found
        assert nest.prune() == []
        nest.add(Document("after", "Words after that."))
        assert nest.search("words after that")[0].id == "after"
    with closing(sqlite3.connect(path)) as db:
        for table in ("parents", "children", "indexed", "document_vectors"):
            assert db.execute(f"SELECT DISTINCT edition FROM {table}").fetchall() == [(2,)]
        owners = "SELECT count(*) FROM child_vectors UNION ALL SELECT count(*) FROM children"
        assert len({row[0] for row in db.execute(owners)}) == 1


def test_a_nest_that_is_open_follows_a_switch(path: Path) -> None:
    """Where another process switches, the next search is by the new edition's model, or says what to give."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest, nestling.open(path) as blank:
        nest.add(documents(3))
        with nestling.open(path, embedder=WordHash()) as other:
            other.rebuild(embedder=Other())
        for each in (nest, blank):
            with pytest.raises(
                nestling.EmbedderMismatchError, match=r"edition 2 .*other-16; give it to nestling"
            ):
                each.search("topic1")
        nest.rebuild(embedder=WordHash())
        assert nest.search("topic1")[0].document_id == "d01"
        assert [each.number for each in nest.editions() if each.state == "live"] == [1]


def test_the_built_in_model_takes_over_without_the_old_one(path: Path) -> None:
    """A nest whose model is gone is built anew with another, and open nests follow by its spec."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add(documents(2))
        with nestling.open(path) as opened:
            assert opened.rebuild(embedder="minilm").switched
            assert opened.search("topic1")[0].document_id == "d01"
        assert nest.search("topic1")[0].document_id == "d01"
        assert nest.embedder.fingerprint.startswith("all-MiniLM")


@pytest.mark.parametrize(("column", "searched"), [("splitter", True), ("analyzer", False)])
def test_older_rules_are_built_anew(path: Path, column: str, searched: bool) -> None:
    """A nest of older rules is read where that is right, not mixed with new rows, and can be built anew."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add(documents(3))
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"UPDATE editions SET {column} = 0")
        db.commit()
    with nestling.open(path, embedder=WordHash()) as nest:
        assert len(nest.list()) == 4
        if searched:
            assert nest.search("topic1")[0].document_id == "d01"
        else:
            with pytest.raises(nestling.StoreError, match="nestling rebuild --nest"):
                nest.search("topic1")
        with pytest.raises(nestling.StoreError, match="nestling rebuild --nest"):
            nest.add(Document("new", "words"))
        done = nest.rebuild()
        assert (done.switched, done.embedded) == (True, 0)
        assert nest.search("topic1")[0].document_id == "d01"
        assert nest.add(Document("new", "words")).added == ["new"]
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"UPDATE editions SET {column} = 99")
            db.commit()
        with pytest.raises(nestling.NewerNestError, match="pip install -U"):
            nest.add(Document("newer", "words"))


def golden(passages: bool = False) -> Golden:
    """A question for each of some documents, by span or by passage."""
    return Golden(
        tuple(
            GoldenQuestion(str(n), f"topic{n}", must_cite_one_of=(f"d{n:02d}§1",))
            if passages
            else GoldenQuestion(
                str(n), f"topic{n}", spans=(GoldSpan(f"d{n:02d}", quote=f"Topic{n} is told here, in part 2"),)
            )
            for n in range(QUESTIONS)
        )
    )


@pytest.fixture
def asked(nest: Nest) -> Nest:
    """A nest with an answer to each of the golden questions, asked by vectors only."""
    given = [
        Document(d.id, d.text + f"\n\nTopic{n} is told here, in part 2: once.", d.title)
        for n, d in enumerate(documents(QUESTIONS)[:-1])
    ]
    nest.add(
        [
            Document(d.id, d.text.replace("is told here, in part 2 of", "is told of, in part 2 of"))
            for d in given
        ]
    )
    nest.keep_scoring(nestling.Scoring(lexical=0))
    return nest


def test_a_clear_loss_is_not_switched_to(asked: Nest) -> None:
    """The gate keeps the old edition live where the questions find clearly less; it can still be switched to."""
    done = asked.rebuild(embedder=Blind(), golden=golden())
    assert not done.switched
    assert "fell from" in done.losses[0]
    assert "was not switched to" in done.verdict
    assert "nestling switch 2" in done.verdict
    assert done.comparison is not None
    assert done.comparison.names == ("edition 1", "edition 2")
    assert states(asked) == [(1, "live", QUESTIONS), (2, "building", QUESTIONS)]
    asked.switch(2)
    assert states(asked)[1] == (2, "live", QUESTIONS)


def test_what_is_not_worse_is_switched_to(asked: Nest) -> None:
    """Questions that name passages are held to their documents, since other sizes have other passages."""
    done = asked.rebuild(SMALL, golden=golden(passages=True), allowed_loss=1.0)
    assert done.switched
    assert done.comparison is not None
    assert done.comparison.rows[0].figure == "document/nDCG@10"
    assert done.comparison.compared == QUESTIONS


def test_questions_that_do_not_fit_are_refused_first(asked: Nest) -> None:
    """Before anything is built: unknown ids, questions that nothing answers, a limit that is none."""
    wrong = Golden((GoldenQuestion("1", "x", must_cite_one_of=("nothing",)),))
    none = Golden((GoldenQuestion("1", "x", unanswerable=True),))
    for questions in (wrong, none):
        with pytest.raises(nestling.DocumentError):
            asked.rebuild(SMALL, golden=questions)
    for limit in (-0.1, "1", float("nan")):
        with pytest.raises(nestling.SettingError, match="allowed_loss"):
            asked.rebuild(SMALL, golden=golden(), allowed_loss=limit)  # type: ignore[arg-type]
    assert len(asked.editions()) == 1


def test_progress_counts_documents(nest: Nest) -> None:
    """It starts from what is there, ends at all of them, and never goes back."""
    nest.add(documents(30))
    told: list[nestling.Progress] = []
    done = nest.rebuild(SMALL, progress=told.append)
    assert (told[-1].documents, told[-1].total, told[-1].children) == (31, 31, done.embedded)
    assert [each.documents for each in told] == sorted(each.documents for each in told)


def test_removing_the_edition_under_its_builder_is_told(nest: Nest) -> None:
    """The builder of an edition that another process pruned ends with an error, and the nest serves on."""
    nest.add(documents(30))
    pruned = []

    def prune(_: nestling.Progress) -> None:
        if not pruned:
            pruned.append(nest.prune())

    with pytest.raises(nestling.StoreError, match="retired or removed while it was built"):
        nest.rebuild(SMALL, progress=prune)
    assert pruned == [[2]]
    assert states(nest) == [(1, "live", 31)]
    assert nest.check() == []


def test_threads_search_and_add_through_a_switch(nest: Nest) -> None:
    """No search fails or mixes editions, and no addition is lost, while the nest is rebuilt again and again."""
    nest.add(documents(10))
    wrong: list[object] = []
    done = threading.Event()
    added: list[str] = []

    def search() -> None:
        while not done.is_set():
            found = nest.search("topic3 told", 5)
            if found[0].document_id != "d03":
                wrong.append(list(found))

    def add() -> None:
        while not done.is_set():
            added.extend(nest.add(Document(f"x{len(added)}", f"Another word{len(added)}.")).added)

    workers = [threading.Thread(target=each) for each in (search, search, add)]
    for worker in workers:
        worker.start()
    try:
        for n in range(3):
            nest.rebuild(Recipe(child_size=100 + n, parent_size=300), embedder=Other() if n == 1 else None)
        nest.rollback()
    finally:
        done.set()
        for worker in workers:
            worker.join()
    assert wrong == []
    assert len(added) > 3
    for edition in nest.editions():
        if edition.state == "live":
            assert edition.documents == 11 + len(added)
    assert nest.check() == []
