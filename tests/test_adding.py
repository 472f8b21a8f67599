"""The life of documents in a nest: adding, re-adding, failing, removing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nestling
from nestling import Document, Nest, StoreError
from nestling.stores.base import Entry
from nestling.stores.sqlite import SQLiteStore
from wordhash import WordHash


def cards(n: int, words: str = "common text") -> list[Document]:
    """Short documents."""
    return [Document(f"card-{i:03d}", f"{words} number {i}.", f"Card {i}", {"n": i}) for i in range(n)]


def long_text(paragraphs: int, seed: int = 0) -> str:
    """Paragraphs of different sentences."""
    return "\n\n".join(
        " ".join(f"Sentence {seed} {p} {s} speaks of topic{(p * 7 + s) % 50}." for s in range(6))
        for p in range(paragraphs)
    )


def test_adding_the_same_folder_twice_changes_nothing(nest: Nest, tmp_path: Path, embedder: WordHash) -> None:
    """The second run embeds nothing, stores nothing, and all ids stay (L1)."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# Title A\n\nText of a.\n", "utf-8")
    (folder / "b.txt").write_text(long_text(40), "utf-8")
    first = nest.add(folder)
    assert first.added == ["a.md", "b.txt"]
    assert first.embedded == len(embedder.calls) > 10
    before = nest.stats()
    second = nest.add(folder)
    assert (second.added, second.updated, second.unchanged) == ([], [], ["a.md", "b.txt"])
    assert (second.embedded, second.reused, len(embedder.calls)) == (0, 0, first.embedded)
    assert nest.stats() == before


def test_new_text_replaces_the_old_everywhere(nest: Nest) -> None:
    """After an edit no search finds the document by its old words (L2)."""
    nest.add([Document("card-1", "alpha beta"), Document("card-2", "alpha")])
    assert nest.add(Document("card-1", "gamma delta")).updated == ["card-1"]
    found = nest.search("alpha", k=5)
    assert found[0].id == "card-2"
    votes = found.explain().votes.get("card-1", ())
    assert not [vote for vote in votes if vote.channel == "lexical"]
    assert nest.search("gamma")[0].text == "gamma delta"


def test_metadata_alone_is_updated_without_embedding(nest: Nest, embedder: WordHash) -> None:
    """A document whose metadata changed is replaced; its children keep their vectors."""
    nest.add(Document("a", long_text(30), metadata={"v": 1}))
    embedded = len(embedder.calls)
    report = nest.add(Document("a", long_text(30), metadata={"v": 2}))
    assert (report.updated, report.embedded) == (["a"], 0)
    assert report.reused == embedded == len(embedder.calls)
    assert nest.search("topic1", where={"v": 2})
    assert not nest.search("topic1", where={"v": 1})


def test_one_word_at_the_start_embeds_a_handful(nest: Nest, embedder: WordHash) -> None:
    """In a 200-page document only the children near the edit are embedded again (L10)."""
    text = long_text(1200)
    nest.add(Document("book", text))
    total = len(embedder.calls)
    report = nest.add(Document("book", "Preface. " + text))
    assert total > 800
    assert report.embedded <= 10
    assert report.reused >= total - 10


def test_equal_text_is_embedded_once(nest: Nest, embedder: WordHash) -> None:
    """Two documents of the same title and text share vectors and stay two documents (L7)."""
    report = nest.add([Document("a", "the same text", "T"), Document("b", "the same text", "T")])
    assert report.embedded == 1
    assert len(embedder.calls) == 1
    assert [p.cite for p in nest.search("same text")] == ["[cite:a]", "[cite:b]"]
    nest.remove("a")
    assert [p.id for p in nest.search("same text")] == ["b"]


def test_an_embedder_that_fails_leaves_whole_documents(path: Path) -> None:
    """Documents before the failure are stored, it and those after are not; a second run finishes (L5)."""
    documents = cards(100)
    documents[57] = Document("card-057", "POISON", "Card")
    with nestling.open(path, create=True, embedder=WordHash(fail_on="POISON")) as nest:
        with pytest.raises(nestling.ModelError) as caught:
            nest.add(documents)
        report = caught.value.report
        assert report is not None
        assert report.added == [f"card-{i:03d}" for i in range(57)]
        assert [info.id for info in nest.list()] == report.added
        assert nest.check() == []
    with nestling.open(path, embedder=WordHash()) as nest:
        report = nest.add(documents)
        assert (len(report.unchanged), len(report.added)) == (57, 43)


def test_one_that_cannot_be_stored_leaves_the_others(nest: Nest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where storing one of several documents fails, those before it are there, and nothing of it."""
    replace = SQLiteStore.replace

    def refusing(self: SQLiteStore, entry: Entry, *args: Any, **more: Any) -> None:
        replace(self, entry, *args, **more)
        if entry.document.id == "c":
            raise StoreError("no room for c")

    monkeypatch.setattr(SQLiteStore, "replace", refusing)
    with pytest.raises(StoreError, match="no room for c"):
        nest.add([Document(id, f"Text of {id}.") for id in "abcd"])
    assert [document.id for document in nest.list()] == ["a", "b"]
    assert nest.check() == []


def test_duplicate_ids_in_one_call_are_reported(nest: Nest) -> None:
    """The first is kept, the second is named as a failure, the rest goes on."""
    report = nest.add([Document("a", "first"), Document("a", "second"), Document("b", "third")])
    assert report.added == ["a", "b"]
    assert [(f.name, "given before" in f.reason) for f in report.failed] == [("a", True)]
    assert nest.search("first")[0].text == "first"


def test_bad_inputs_are_reported_and_the_rest_goes_on(nest: Nest, tmp_path: Path) -> None:
    """A binary file, a broken line, a missing path and a wrong type each become a failure with a reason."""
    (tmp_path / "bin.txt").write_bytes(b"\x00\xff\x00\x81" * 50)
    lines = [
        json.dumps({"id": "ok", "text": "fine words", "color": "red"}),
        "{broken",
        json.dumps({"id": "x"}),
    ]
    (tmp_path / "cards.jsonl").write_text("\n".join(lines), "utf-8")
    report = nest.add([tmp_path / "bin.txt", tmp_path / "cards.jsonl", tmp_path / "none.md", 7])
    assert report.added == ["ok"]
    assert len(report.failed) == 5
    assert any("cards.jsonl" in f.name + f.reason and "2" in f.name + f.reason for f in report.failed)
    assert all(f.reason for f in report.failed)
    assert nest.search("fine")[0].metadata == {"color": "red"}


def test_empty_documents_are_stored_and_reported(nest: Nest) -> None:
    """Nothing to find in them, yet they are listed, shown as given, and removable (S8)."""
    report = nest.add([Document("e", ""), Document("w", " \r\n\t"), Document("x", "a")])
    assert (report.added, report.empty) == (["e", "w", "x"], ["e", "w"])
    tree = nest.show("w")
    assert tree is not None
    assert (tree.document.text, tree.parents) == (" \r\n\t", ())
    assert [p.id for p in nest.search("a", k=9)] == ["x"]
    assert nest.check() == []
    assert nest.remove(["e", "w"]) == ["e", "w"]


def test_removes_many_and_says_which(nest: Nest) -> None:
    """Existing ids come back in the order given; the others are nothing (L4)."""
    nest.add(cards(20))
    assert nest.remove(["card-003", "no", "card-001", "card-003"]) == ["card-003", "card-001"]
    assert len(nest.remove([f"card-{i:03d}" for i in range(8000)])) == 18
    assert nest.stats()["children"] == 0
    assert nest.remove("gone") == []


def test_progress_is_told(nest: Nest) -> None:
    """The callback sees every document and child, the total where it is known, and never goes back."""
    seen: list[nestling.Progress] = []
    nest.add([*cards(5), Document("long", long_text(900))], progress=seen.append)
    assert seen[-1].documents == seen[-1].total == 6
    assert seen[-1].children == nest.stats()["children"]
    assert all(a.documents <= b.documents and a.children <= b.children for a, b in pairwise(seen))
    assert len({progress.children for progress in seen}) > 2
    seen.clear()
    nest.add((document for document in cards(7)), progress=seen.append)
    assert seen[-1] == nestling.Progress(7, None, 2, "card-006")


def test_a_wrong_vector_from_a_model_is_refused(path: Path) -> None:
    """Not finite, or of the wrong shape: an error names the embedder, and nothing is stored (X4)."""

    class Broken(WordHash):
        def embed_documents(self, texts):  # type: ignore[no-untyped-def]
            return super().embed_documents(texts) * float("nan")

    class Short(WordHash):
        def embed_documents(self, texts):  # type: ignore[no-untyped-def]
            return super().embed_documents(texts)[:-1]

    for model, message in ((Broken(), "not finite"), (Short(), r"shape \(0, 64\) for 1 texts")):
        with nestling.open(":memory:", embedder=model) as nest:
            with pytest.raises(nestling.ModelError, match=message):
                nest.add(Document("a", "words"))
            assert nest.list() == []


@settings(max_examples=60)
@given(st.text(max_size=3000), st.integers(20, 300), st.integers(1, 4))
def test_any_text_comes_back_exactly(text: str, child: int, times: int) -> None:
    """Whatever the text, the stored document, its parents and children are spans that cover it (promise 1)."""
    recipe = nestling.Recipe(child_size=child, parent_size=child * times)
    with nestling.open(":memory:", embedder=WordHash(), recipe=recipe) as nest:
        nest.add(Document("d", text))
        tree = nest.show("d")
        assert tree is not None
        assert tree.document.text == text
        assert nest.check() == []
        for passage in nest.search(text[:50] or "x", k=10**9):
            assert passage.text == text[passage.start : passage.end]
            for evidence in passage.evidence:
                assert (
                    passage.text[evidence.start : evidence.end]
                    == text[evidence.document_start : evidence.document_end]
                )


def test_a_mistyped_path_raises(nest: Nest) -> None:
    """One path that does not exist is an error; among others it is reported."""
    with pytest.raises(nestling.NotFoundError, match="no file or folder 'docs/typo'"):
        nest.add("docs/typo")
    assert len(nest.add(["docs/typo"]).failed) == 1


def test_two_files_of_one_id_do_not_overwrite_each_other(nest: Nest, tmp_path: Path) -> None:
    """The second is refused while the first exists; a file that moved takes its document along."""
    for name in ("pa", "pb"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(f"Text of {name}.\n", "utf-8")
    assert nest.add(tmp_path / "pa").added == ["README.md"]
    report = nest.add(tmp_path / "pb")
    assert "is another file" in report.failed[0].reason
    assert nest.search("text")[0].text == "Text of pa.\n"
    (tmp_path / "pa" / "README.md").unlink()
    assert nest.add(tmp_path / "pb").updated == ["README.md"]


def test_what_is_no_text_in_a_folder_is_skipped(nest: Nest, tmp_path: Path) -> None:
    """Pictures and the nest's own file are no failures; a broken link is told as one."""
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    (tmp_path / "a.txt").write_text("words", "utf-8")
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nothing")
    report = nest.add(tmp_path)
    assert (report.added, report.failed) == (["a.txt"], [])
    assert sorted(Path(f.name).name for f in report.skipped) == ["a.png", "gone.txt"]
    assert "link to nothing" in next(f.reason for f in report.skipped if "gone" in f.name)


def test_the_nest_itself_is_never_opened_as_a_source(nest: Nest, path: Path) -> None:
    """Opening it would drop the locks of this process; it is refused by name."""
    report = nest.add([path, Document("a", "x")])
    assert [f.reason for f in report.failed] == ["this is the nest itself; name the files to add to it"]
    assert report.added == ["a"]


def test_an_iterable_that_breaks_off_keeps_what_it_gave(nest: Nest) -> None:
    """Its own error comes through, and the documents before it are stored."""

    def broken() -> Iterator[Document]:
        yield from cards(5)
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError, match="the source broke"):
        nest.add(broken())
    assert len(nest.list()) == 5


def test_ids_and_metadata_that_cannot_be_kept_are_refused(nest: Nest) -> None:
    """A NUL in an id, a number no filter can compare, half a surrogate pair: reported, nothing harmed."""
    nest.add(Document("a", "precious"))
    report = nest.add(
        [Document("a\0b", "x"), Document("b", "x", metadata={"n": 10**400}), Document("c", "\ud800")]
    )
    assert len(report.failed) == 3
    assert [info.id for info in nest.list()] == ["a"]
    assert nest.remove("a\0b") == []
    assert nest.show("\ud800") is None
    with pytest.raises(nestling.SettingError, match="1 is no document's id"):
        nest.remove([1])  # type: ignore[list-item]


def test_a_moment_equals_itself_in_a_filter(nest: Nest) -> None:
    """Times with a zone are kept and compared as the same text."""
    noon = datetime(2024, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    nest.add(Document("a", "x", metadata={"at": noon, "clock": time(9, 30)}))
    assert nest.list({"at": noon})
    assert nest.list({"at": {"$lt": datetime(2024, 1, 1, 10, 30, tzinfo=UTC)}, "clock": time(9, 30)})


@pytest.mark.parametrize("factor", [7, 1e6])
def test_vectors_of_any_length_are_brought_to_one(factor: float) -> None:
    """A model that does not normalise gives cosines all the same; a vector of zeros is refused."""

    class Long(WordHash):
        def embed_documents(self, texts):  # type: ignore[no-untyped-def]
            return super().embed_documents(texts) * factor

    class Zero(WordHash):
        def embed_documents(self, texts):  # type: ignore[no-untyped-def]
            return super().embed_documents(texts) * 0

    with nestling.open(":memory:", embedder=Long()) as nest:
        nest.add(Document("a", "some words"))
        assert nest.search("some words")[0].similarity == pytest.approx(1, abs=1e-3)
    with nestling.open(":memory:", embedder=Zero()) as nest, pytest.raises(nestling.ModelError, match="zero"):
        nest.add(Document("a", "some words"))
