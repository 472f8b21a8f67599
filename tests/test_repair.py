"""Damage of every kind, planted with plain SQL: check names it, and repair undoes what can be undone."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import nestling
from nestling import Document, Nest
from wordhash import WordHash

MANUAL = "# Manual\n\nFirst of all.\n\n" + "\n\n".join(
    f"## Part {n}\n\n" + " ".join(f"Sentence {i} about topic{n} and its rest." for i in range(60))
    for n in range(3)
)
DOCUMENTS = [
    Document(
        "a.md", MANUAL, "The manual", {"lang": "en", "tags": ["x", "y"], "n": {"deep": 1.5}}, "docs/a.md"
    ),
    Document("b", "A short text about cats and dogs.", "Short", {"year": 2020, "open": True}),
    Document("c", "A short text about cats and dogs.", "Short", {"year": 2021, "open": None}),
    Document("empty", " \n", "Nothing"),
]
QUESTIONS = ("topic1 sentence 7", "cats", "manual part 2", "dogs about nothing", "topic2")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A nest that is sound; rows 1 to 3 of the documents are a.md, b and c."""
    path = tmp_path_factory.mktemp("sound") / "sound.nest"
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add(DOCUMENTS)
    return path


@pytest.fixture
def damaged(sound: Path, tmp_path: Path) -> Path:
    """A copy of it to be damaged."""
    shutil.copy(sound, tmp_path / "x.nest")
    return tmp_path / "x.nest"


def plant(path: Path, script: str) -> None:
    """Change the file as no part of Nestling would."""
    db = sqlite3.connect(path)
    db.create_function("swap", 3, lambda blob, old, new: blob.replace(old.encode(), new.encode()))
    db.executescript(script)
    db.close()


def answers(nest: Nest) -> list[Any]:
    """All that the nest says: documents, trees, passages with their scores, filters."""
    said: list[Any] = [list(nest.list()), [nest.show(info.id) for info in nest.list()]]
    said += [list(nest.search(question, k=20)) for question in QUESTIONS]
    said += [
        [info.id for info in nest.list(where)] for where in ({"year": 2020}, {"tags": "x"}, {"n.deep": 1.5})
    ]
    return said


@pytest.fixture(scope="module")
def wanted() -> Iterator[list[Any]]:
    """What a fresh nest of the same documents says."""
    with nestling.open(":memory:", embedder=WordHash()) as fresh:
        fresh.add(DOCUMENTS)
        yield answers(fresh)


REPAIRABLE = {
    # spans and ids
    "UPDATE parents SET stop = stop + 1 WHERE id = 'b'": (
        "b: its parents do not cover its text (they end at 34 of 33"
    ),
    "UPDATE parents SET start = start + 2 WHERE row = 2": (
        "a.md: its parents do not cover its text (a.md§2 begins at"
    ),
    "DELETE FROM parents WHERE id = 'c'": "c: its parents do not cover its text (they end at 0 of 33",
    "UPDATE parents SET id = 'a.md§9' WHERE row = 2": (
        "a.md: a parent has another id (a.md§9 instead of a.md§2"
    ),
    "UPDATE children SET start = start + 1 WHERE row = 3": (
        "a.md: the children of a parent do not cover it (in a.md§1"
    ),
    "UPDATE children SET stop = stop + 9999 WHERE row = (SELECT max(row) FROM children WHERE document = 1)": (
        "a.md: the children of a parent do not cover it (those of a.md§"
    ),
    "DELETE FROM children WHERE row = 2": (
        "a.md: the children of a parent do not cover it (in a.md§1 one ends at"
    ),
    "DELETE FROM children WHERE document = 2": "b: the children of a parent do not cover it (b has none",
    "UPDATE children SET start = start + 1 WHERE row = 3; UPDATE children SET stop = stop + 1 WHERE row = 2": (
        "a.md: a child is not what was embedded (a.md§1::01, and 1 more)"
    ),
    "UPDATE children SET row = 9000 WHERE row = 2; UPDATE words SET row = 9000 WHERE row = 2;"
    " UPDATE child_vectors SET row = 9000 WHERE row = 2": (
        "a.md: its children are not in the order of its text"
    ),
    # what is kept beside the spans
    "UPDATE documents SET characters = 7 WHERE id = 'b'": "b: its text has 33 characters, not 7",
    "UPDATE children SET digest = zeroblob(16) WHERE row = 2": (
        "a.md: a child is not what was embedded (a.md§1::01)"
    ),
    "UPDATE children SET lead = 'other: ' WHERE row = 2": (
        "a.md: a child is not what was embedded (a.md§1::01)"
    ),
    "UPDATE parents SET heading = '[\"Manuel\"]' WHERE row = 1": (
        "a.md: a heading is not that of the text (of a.md§1)"
    ),
    "UPDATE parents SET heading = '[1]' WHERE row = 2": (
        "a.md: a heading is no JSON list of texts (of a.md§2)"
    ),
    "UPDATE parents SET heading = CAST(X'FF' AS TEXT) WHERE row = 2": (
        "the rows of a.md cannot be read: Could not dec"
    ),
    "UPDATE children SET lead = X'00' WHERE row = 2": (
        "the rows of a.md cannot be read: row 2 holds b'\\x00' where str"
    ),
    "UPDATE parents SET start = 'x' WHERE row = 2": (
        "the rows of a.md cannot be read: row 2 holds 'x' where int"
    ),
    "UPDATE parents SET metadata = '[' WHERE row = 2": (
        "a.md: a parent's metadata is no JSON object (of a.md§2)"
    ),
    # words
    "DELETE FROM words WHERE row = 1": "a.md: a child has no words (a.md§1::00)",
    "UPDATE words SET terms = 'wrong' WHERE row = 1": (
        "a.md: the words of a child are not those of its text (a.md§1::0"
    ),
    "UPDATE words SET terms = replace(terms, 'cat', 'cow')": (
        "b: the words of a child are not those of its text (b::00)"
    ),
    "UPDATE children SET terms = terms + 1 WHERE row = 1": (
        "a.md: a child has not as many words as it says (a.md§1::00"
    ),
    "UPDATE documents SET language = 'xx' WHERE id = 'a.md'": (
        "a.md: the words of a child are not those of its text"
    ),
    "INSERT INTO words VALUES (999, 'stray')": "words of child row 999, which does not exist",
    # vectors
    "DELETE FROM child_vectors WHERE row = 1": "a.md: a vector is missing (of a.md§1::00)",
    "DELETE FROM parent_vectors WHERE row = 1": "a.md: a vector is missing (of a.md§1)",
    "DELETE FROM document_vectors": "a.md: a vector is missing (of the document)",
    "UPDATE child_vectors SET exact = zeroblob(3) WHERE row = 1": (
        "a.md: a vector is of the wrong size (of a.md§1::00)"
    ),
    "UPDATE child_vectors SET codes = zeroblob(3) WHERE row = 1": (
        "a.md: a vector is of the wrong size (of a.md§1::00)"
    ),
    "UPDATE child_vectors SET exact = CAST(X'007C' || substr(exact, 3) AS BLOB)": (
        "b: a vector is not finite (of b::00)"
    ),
    "UPDATE child_vectors SET exact = zeroblob(128) WHERE row = 2": (
        "a.md: a vector is not of length 1 (of a.md§1::01)"
    ),
    "UPDATE child_vectors SET exact = CAST(X'003E' || substr(exact, 3) AS BLOB) WHERE row = 1": (
        "a.md: a vector is not of length 1 (of a.md§1::00)"
    ),
    "UPDATE child_vectors SET codes = zeroblob(64) WHERE row = 1": (
        "a.md: the codes of a vector are not near it (of a.md"
    ),
    "UPDATE child_vectors SET scale = scale * 2 WHERE row = 1": (
        "a.md: the codes of a vector are not near it (of a.md§1"
    ),
    "UPDATE parent_vectors SET scale = 9e999 WHERE row = 2": "a.md: a vector is not finite (of a.md§2)",
    "UPDATE child_vectors SET (scale, codes, exact) = (SELECT scale, codes, exact FROM document_vectors"
    " WHERE row = 3) WHERE row = 1": (
        "a.md: a vector is not the mean of its children's (of a.md§1, and 1 more)"
    ),
    "UPDATE parent_vectors SET (scale, codes, exact) = (SELECT scale, codes, exact FROM child_vectors"
    " WHERE row = 1) WHERE row = 2": "a.md: a vector is not the mean of its children's (of a.md§2)",
    # fields
    "DELETE FROM fields WHERE path = 'year' AND document = 2": "b: its fields are not those of its metadata",
    "INSERT INTO fields VALUES ('year', 'number', 2020, 0, 3, 0)": (
        "c: its fields are not those of its metadata"
    ),
    "UPDATE fields SET value = 'z' WHERE value = 'x'": "a.md: its fields are not those of its metadata",
    "UPDATE fields SET parent = 2 WHERE path = 'lang'": "a.md: its fields are not those of its metadata",
    # rows without owners
    "INSERT INTO parents VALUES (900, 1, 'ghost', 900, 0, 5, '[]', '{}')": "parent ghost has no document",
    "INSERT INTO children VALUES (900, 1, 900, 1, 0, 5, 0, X'00', '')": (
        "child row 900 has no parent in its document"
    ),
    "UPDATE children SET document = 3 WHERE row = 1": "child row 1 has no parent in its document",
    "INSERT INTO child_vectors SELECT 900, scale, codes, exact FROM child_vectors WHERE row = 1;"
    "INSERT INTO child_vectors SELECT 901, scale, codes, exact FROM child_vectors WHERE row = 1": (
        "a vector of child row 900, which does not exist (and 1 more of this kind)"
    ),
    "INSERT INTO parent_vectors SELECT 900, scale, codes, exact FROM parent_vectors WHERE row = 1": (
        "a vector of parent row 900, which does not exist"
    ),
    "INSERT INTO document_vectors SELECT 900, 1, scale, codes, exact FROM document_vectors WHERE row = 1": (
        "a vector of document row 900, which does not exist"
    ),
    "INSERT INTO fields VALUES ('year', 'number', 1, 0, 900, 0)": (
        "a field of document row 900, which does not exist"
    ),
    "INSERT INTO files VALUES (900, '/x')": "the file of document row 900, which does not exist",
    "INSERT INTO fields VALUES ('year', 'number', 1, 0, 2, 900)": "a field of parent row 900, which does not exist",
    # editions
    "DELETE FROM indexed WHERE document = 2": "b: it is not in edition 1, which is live",
    "INSERT INTO indexed VALUES (900, 1)": "an edition holds document row 900, which does not exist",
    "INSERT INTO indexed VALUES (2, 900)": "rows in indexed of edition 900, which does not exist",
    "UPDATE parents SET edition = 900 WHERE id = 'b'": "rows in parents of edition 900, which does not exist",
    "UPDATE children SET edition = 900 WHERE document = 2": "rows in children of edition 900, which does not exist",
    "UPDATE document_vectors SET edition = 900 WHERE row = 2": (
        "rows in document_vectors of edition 900, which does not exist"
    ),
    # books
    "UPDATE sqlite_sequence SET seq = 0 WHERE name = 'editions'": (
        "the row numbers of editions would be used again"
    ),
    "DELETE FROM meta WHERE key = 'nest'": "the nest has lost its own id",
    "UPDATE sqlite_sequence SET seq = 0 WHERE name = 'children'": (
        "the row numbers of children would be used again"
    ),
    "DELETE FROM changes WHERE change = 2": "the log of changes has lost entries",
    "DELETE FROM changes WHERE change = (SELECT max(change) FROM changes)": (
        "the log of changes has lost entries"
    ),
    "DELETE FROM changes": "the log of changes is empty",
    "UPDATE changes SET document = 77 WHERE change = 2": (
        "the log of changes says that document row 77 was added, which"
    ),
    "UPDATE changes SET added = 0 WHERE change = 2": (
        "the log of changes says that document row 2 was removed, which ex"
    ),
    "UPDATE changes SET document = 1 WHERE change = 2": (
        "the log of changes does not tell that document b was added"
    ),
    # what the tables are found by
    "DROP INDEX fields_value": "the index fields_value is missing",
    "DROP TABLE parent_vectors": "the table parent_vectors is missing",
    "DROP TABLE indexed": "the table indexed is missing",
    "DROP TABLE files": "the table files is missing",
    "DROP TABLE words": "the table words is missing",
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '(document,', '(start,')"
    " WHERE name = 'children_document'": "damaged pages: ",
}
LOST = {
    "UPDATE documents SET text = replace(text, 'cats', 'cows') WHERE id = 'b'": (
        "b: its title, text or metadata are not what"
    ),
    "UPDATE documents SET text = substr(text, 1, 9), characters = 9 WHERE id = 'b'": "b: its title, text or",
    "UPDATE documents SET text = CAST(X'FF41' AS TEXT) WHERE id = 'b'": (
        "b: its text cannot be read: Could not decode"
    ),
    "UPDATE documents SET title = 'Shirt' WHERE id = 'b'": (
        "b: its title, text or metadata are not what was added"
    ),
    "UPDATE documents SET metadata = '{\"year\": 2019}' WHERE id = 'b'": (
        "b: its fields are not those of its metadata"
    ),
    "UPDATE documents SET text = CAST(text AS BLOB) WHERE id = 'b'": (
        "b: its text cannot be read: row 2 holds b'A short"
    ),
    "UPDATE documents SET metadata = '{' WHERE id = 'b'": "b: its metadata is no JSON object",
    "UPDATE documents SET metadata = '{\"\\ud800\": 1}' WHERE id = 'b'": "b: its metadata is no JSON object",
    "UPDATE documents SET metadata = '{\"year\": 1e999}' WHERE id = 'b'": "b: its metadata is no JSON object",
    "UPDATE documents SET digest = zeroblob(16) WHERE id = 'b'": (
        "b: its title, text or metadata are not what was added"
    ),
}


def test_a_sound_nest_gives_nothing(sound: Path) -> None:
    """Nothing is found, and repair does nothing and makes no copy."""
    with nestling.open(sound, embedder=WordHash()) as nest:
        told: list[nestling.Progress] = []
        assert nest.check(progress=told.append) == []
        assert [(now.documents, now.total, now.name) for now in told][-1] == (4, 4, "empty")
        assert nest.repair() == nestling.Repair([], [], [], None)
    assert [file.name for file in sound.parent.iterdir()] == [sound.name]


@pytest.mark.parametrize("script", REPAIRABLE)
def test_what_can_be_made_anew_is(damaged: Path, script: str, wanted: list[Any]) -> None:
    """The damage is named; after repair nothing is, and the nest answers like a fresh one."""
    plant(damaged, script)
    with nestling.open(damaged, embedder=WordHash()) as nest:
        found = nest.check()
        assert any(sentence.startswith(REPAIRABLE[script]) for sentence in found), found
        done = nest.repair()
        assert done.found == found
        assert done.left == []
        assert nest.check() == []
        assert answers(nest) == wanted
        assert nest.add(DOCUMENTS).unchanged == [document.id for document in DOCUMENTS]
        # and it goes on as a nest does
        nest.add(Document("new", "Something new about birds."))
        nest.remove(["c", "empty"])
        assert nest.check() == []
        assert nest.search("birds", k=1)[0].id == "new"
    with nestling.open(damaged, embedder=WordHash()) as nest:
        assert nest.check() == []
    # what was there before is beside it
    assert done.backup == f"{damaged}.before-repair"
    with nestling.open(done.backup, embedder=WordHash()) as copy:
        assert copy.check() == found


@pytest.mark.parametrize("script", LOST)
def test_what_is_lost_is_told_and_left(damaged: Path, script: str) -> None:
    """A document that is not what was added is not declared sound; the others are as they were."""
    plant(damaged, script + "; DELETE FROM child_vectors WHERE row = 1")
    with nestling.open(damaged, embedder=WordHash()) as nest:
        found = nest.check()
        assert any(sentence.startswith(LOST[script]) for sentence in found), found
        done = nest.repair(backup=False)
        assert done.backup is None
        assert done.repaired == ["a.md"]
        assert done.left
        assert all(sentence.startswith("b: ") for sentence in done.left)
        assert nest.check() == done.left
        nest.remove("b")
        nest.add(DOCUMENTS)
        assert nest.check() == []


def test_a_damage_is_told_once_a_document(damaged: Path) -> None:
    """However many children are hit, there is one sentence that names the first and counts the others."""
    plant(damaged, "DELETE FROM child_vectors")
    with nestling.open(damaged, embedder=WordHash()) as nest:
        children = nest.list()[0].children
        assert nest.check() == [
            f"a.md: a vector is missing (of a.md§1::00, and {children - 1:,} more)",
            "b: a vector is missing (of b::00)",
            "c: a vector is missing (of c::00)",
        ]


def test_only_vectors_that_are_damaged_go_through_the_model(damaged: Path) -> None:
    """Words and spans are made anew without the model; of vectors, those of the damaged document only."""
    plant(damaged, "UPDATE children SET terms = 0 WHERE document = 1; DELETE FROM fields")
    model = WordHash()
    with nestling.open(damaged, embedder=model) as nest:
        assert nest.repair(backup=False).repaired == ["a.md", "b", "c"]
        assert model.calls == []
        plant(
            damaged,
            "DELETE FROM child_vectors WHERE row = (SELECT row FROM children WHERE document ="
            " (SELECT row FROM documents WHERE id = 'b'))",
        )
        assert nest.repair(backup=False).repaired == ["b"]
        assert model.calls == ["Short: A short text about cats and dogs."]


def test_a_model_that_fails_leaves_the_rest_to_the_next_time(damaged: Path, wanted: list[Any]) -> None:
    """Repair stops with the model's error; what was done stays done, and the next one finishes."""
    plant(damaged, "DELETE FROM child_vectors")
    with nestling.open(damaged, embedder=WordHash(fail_on="cats")) as nest:
        with pytest.raises(nestling.ModelError):
            nest.repair()
        assert [sentence[:2] for sentence in nest.check()] == ["b:", "c:"]
    with nestling.open(damaged, embedder=WordHash()) as nest:
        done = nest.repair()
        assert (done.repaired, done.left) == (["b", "c"], [])
        assert done.backup == f"{damaged}.before-repair-2"
        assert answers(nest) == wanted


def test_the_backup_is_made_where_it_is_wanted(damaged: Path, tmp_path: Path) -> None:
    """At the path given; where it cannot be made, nothing is changed."""
    plant(damaged, "DELETE FROM fields")
    (tmp_path / "there").write_text("mine")
    with nestling.open(damaged, embedder=WordHash()) as nest:
        with pytest.raises(nestling.InputError, match="there is there already"):
            nest.repair(backup=tmp_path / "there")
        assert len(nest.check()) == 3
        assert nest.repair(backup=tmp_path / "copy").backup == str(tmp_path / "copy")
    with nestling.open(tmp_path / "copy", embedder=WordHash()) as copy:
        assert len(copy.check()) == 3


def test_a_nest_in_tokens_is_checked_without_its_model(tmp_path: Path) -> None:
    """Headings are held to the text only where tokens can be counted; all else is looked at all the same."""
    path = tmp_path / "tokens.nest"
    recipe = nestling.Recipe(20, 60, unit="tokens")
    with nestling.open(path, create=True, embedder=WordHash(), recipe=recipe) as nest:
        nest.add(DOCUMENTS)
        assert nest.check() == []
    plant(path, "UPDATE parents SET heading = '[\"Manuel\"]' WHERE row = 1")
    with nestling.open(path, embedder=WordHash()) as nest:
        assert nest.check() == ["a.md: a heading is not that of the text (of a.md§1)"]
    plant(path, "UPDATE children SET digest = X'00' WHERE row = 1")
    with nestling.open(path) as nest:
        assert nest.check() == ["a.md: a child is not what was embedded (a.md§1::00)"]


def test_rows_in_memory_are_held_to_the_file(damaged: Path) -> None:
    """What a search keeps in memory is checked too, and read anew by repair."""
    with nestling.open(damaged, embedder=WordHash()) as nest:
        assert len(nest.search("cats", k=9)) > 2
        assert nest.check() == []
        # behind the back of the log of changes
        plant(damaged, "UPDATE child_vectors SET scale = scale + 1e-5 WHERE row = 1")
        # what is known of a parent and a document comes from its children
        assert nest.check() == [
            f"the {level} rows kept for searching are not those of the file"
            for level in ("document", "parent", "child")
        ]
        assert nest.repair().left == []
        assert nest.check() == []


@pytest.fixture
def cached(damaged: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The copy, with files beside it for searching, as a large nest has."""
    monkeypatch.setattr("nestling.stores.layouts.FILES_FROM", 1)
    with nestling.open(damaged, embedder=WordHash()) as nest:
        nest.search("cats")
        assert nest.stats()["search"]["rows"] == "files"
        assert nest.check() == []
    return damaged


def test_files_kept_for_searching_are_held_to_the_nest(cached: Path, wanted: list[Any]) -> None:
    """Rows that changed behind the back of the log are found there, too."""
    plant(cached, "UPDATE child_vectors SET scale = scale + 1e-5 WHERE row = 1")
    with nestling.open(cached, embedder=WordHash()) as nest:
        # what is known of a parent and a document comes from its children
        assert nest.check() == [
            f"the {level} rows kept for searching are not those of the file"
            for level in ("document", "parent", "child")
        ]
        assert nest.repair(backup=False).left == []
        assert answers(nest) == wanted
        assert nest.check() == []


@pytest.mark.parametrize("share", [0.0, 0.2, 0.4, 0.6, 1.0])
def test_damaged_files_kept_for_searching_are_never_an_error(
    cached: Path, wanted: list[Any], share: float
) -> None:
    """Check tells, repair throws them away, and a search answers from the nest with or without it."""
    (file,) = Path(f"{cached}-cache").glob("*.segment")
    data = bytearray(file.read_bytes())
    at = int(share * (len(data) - 200))
    data[at : at + 200] = bytes(255 - byte for byte in data[at : at + 200])
    file.write_bytes(data)
    with nestling.open(cached, embedder=WordHash()) as nest:
        found = nest.check()
        if share == 1:
            assert found == [], "a file whose end is not whole is none"
        else:
            assert [sentence[:21] for sentence in found] == ["the cache is damaged:"]
        assert nest.repair(backup=False).left == []
        assert (file.parent / "manifest").exists() == (share == 1)
    file.write_bytes(data)
    with nestling.open(cached, embedder=WordHash()) as nest:
        assert answers(nest) == wanted
        assert nest.check() == []


class Narrow(WordHash):
    """A model of fewer dimensions."""

    dimension = 32
    fingerprint = "wordhash-32"


@pytest.fixture
def editions(damaged: Path) -> Path:
    """The copy with three editions: the retired first one, the live second, and a third, of another model."""
    with nestling.open(damaged, embedder=WordHash()) as nest:
        assert nest.rebuild(nestling.Recipe(60, 150)).switched
        assert not nest.rebuild(embedder=Narrow(), switch=False).switched
        assert [edition.state for edition in nest.editions()] == ["retired", "live", "building"]
        assert nest.check() == []
    return damaged


@pytest.mark.parametrize("edition", [1, 3])
@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("DELETE FROM child_vectors WHERE row IN (SELECT row FROM children WHERE {})", "a vector is missing"),
        ("UPDATE parents SET stop = stop + 1 WHERE {}", "its parents do not cover its text"),
        ("UPDATE children SET digest = x'00' WHERE {}", "a child is not what was embedded"),
        ("UPDATE parents SET heading = '[\"Manuel\"]' WHERE {}", "a heading is not that of the text"),
        (
            "UPDATE words SET terms = 'x ' || substr(terms, 3) WHERE row IN (SELECT row FROM children WHERE {})",
            "the words of a child are not those of its text",
        ),
    ],
)
def test_what_is_damaged_in_another_edition_is_dropped_from_it(
    editions: Path, edition: int, script: str, sentence: str
) -> None:
    """The live one is left alone, without the model; a switch to the other makes anew what it lacks."""
    plant(editions, script.format(f"edition = {edition} AND document = 1"))
    model, other = WordHash(), Narrow()
    with nestling.open(editions, embedder=model) as nest:
        nest._embedders.keep(other)  # type: ignore[attr-defined]
        before = answers(nest)
        found = nest.check()
        assert any(each.startswith(f"a.md: in edition {edition}, {sentence}") for each in found), found
        done = nest.repair(backup=False)
        assert (done.repaired, done.left) == ([], [])
        assert answers(nest) == before
        assert model.calls == other.calls == []
        assert [info.documents for info in nest.editions()] == [4 - (n == edition) for n in (1, 2, 3)]
        nest.switch(edition)
        assert nest.check() == []
        assert nest.search("topic1 sentence 7", k=1)[0].document_id == "a.md"


def test_what_is_damaged_in_the_live_edition_is_made_anew_in_those_that_build(editions: Path) -> None:
    """Additions reach both, so repair does; the retired one lacks the document until it is wanted again."""
    plant(editions, "DELETE FROM child_vectors WHERE row IN (SELECT row FROM children WHERE edition = 2)")
    other = Narrow()
    with nestling.open(editions, embedder=WordHash()) as nest:
        nest._embedders.keep(other)  # type: ignore[attr-defined]
        done = nest.repair(backup=False)
        assert (done.repaired, done.left) == (["a.md", "b", "c"], [])
        assert other.calls == [], "its vectors are sound, and are taken over"
        assert [info.documents for info in nest.editions()] == [1, 4, 4]
        nest.rollback()
        assert nest.check() == []


def test_words_of_an_edition_of_older_rules_are_not_held_to_todays(damaged: Path) -> None:
    """What the analyzer gave then is not known; the rest is checked all the same."""
    plant(
        damaged,
        "UPDATE editions SET analyzer = analyzer - 1, splitter = splitter - 1;"
        " UPDATE words SET terms = replace(terms, 'cat', 'cow')",
    )
    with nestling.open(damaged, embedder=WordHash()) as nest:
        assert nest.check() == []
        plant(damaged, "UPDATE children SET digest = x'00' WHERE row = 1")
        (found,) = nest.check()
        assert found == "a.md: a child is not what was embedded (a.md§1::00)"
        # nothing is mixed into what other rules made: it is left, and told
        assert nest.repair(backup=False).left == [found]


def test_a_nest_in_memory_is_repaired_without_a_copy() -> None:
    """There is no file beside it to copy it to."""
    with nestling.open(":memory:", embedder=WordHash()) as nest:
        nest.add(DOCUMENTS)
        with nest._store._writing() as db:  # type: ignore[attr-defined]
            db.execute("DELETE FROM fields")
        done = nest.repair()
        assert (done.repaired, done.left, done.backup) == (["a.md", "b", "c"], [], None)


class _Meanwhile(WordHash):
    """While the model works on a text, another process changes its document."""

    def __init__(self, work: Callable[[], object]) -> None:
        super().__init__()
        self.work = work

    def embed_documents(self, texts: Sequence[str]) -> Any:
        """Let it."""
        self.work()
        return super().embed_documents(texts)


@pytest.mark.parametrize("change", ["replace", "remove"])
def test_what_another_process_changes_meanwhile_stays_changed(damaged: Path, change: str) -> None:
    """Repair puts no older text in place of a newer one, and brings nothing back."""
    plant(damaged, "DELETE FROM child_vectors WHERE row = (SELECT row FROM children WHERE document = 2)")
    with nestling.open(damaged, embedder=WordHash()) as other:

        def work() -> None:
            other.add(Document("b", "Newer text.")) if change == "replace" else other.remove("b")

        with nestling.open(damaged, embedder=_Meanwhile(work)) as nest:
            assert nest.repair(backup=False).left == []
            tree = nest.show("b")
            assert (tree.document.text if tree else None) == ("Newer text." if change == "replace" else None)
            assert nest.check() == []
