"""A folder and a nest in step: what is added, replaced, renamed and removed, and what never is."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nestling
from nestling import Document, Nest, Renamed, Report
from wordhash import WordHash

LONG = "\n\n".join(f"Paragraph {n} speaks of topic{n} and of nothing else at all. " * 4 for n in range(12))


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder with text, Markdown in a folder below, and cards."""
    folder = tmp_path / "docs"
    write(folder / "a.txt", "The first text.\n")
    write(folder / "guides" / "b.md", f"# Title of b\n\n{LONG}\n")
    write(folder / "guides" / "c.md", "# Title of c\n\nThe third text.\n")
    cards(folder / "cards.jsonl", c1="Card one.", c2="Card two.")
    return folder


def write(path: Path, text: str) -> Path:
    """A file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def cards(path: Path, **texts: str) -> None:
    """A file of cards by their ids; each says itself where it came from."""
    lines = [json.dumps({"id": id, "text": text, "source": "https://x.y"}) for id, text in texts.items()]
    path.write_text("\n".join(lines), "utf-8")


def ids(nest: Nest) -> list[str]:
    """What is stored."""
    return [info.id for info in nest.list()]


def text(nest: Nest, id: str) -> str:
    """The stored text of a document."""
    tree = nest.show(id)
    assert tree is not None
    return tree.document.text


def done(report: Report) -> dict[str, object]:
    """What a report tells, without what is empty and without what was left alone."""
    names = ("added", "updated", "renamed", "removed", "failed", "skipped")
    return {name: value for name in names if (value := getattr(report, name))}


ALL = ["a.txt", "c1", "c2", "guides/b.md", "guides/c.md"]


def test_a_folder_is_followed(nest: Nest, docs: Path, embedder: WordHash) -> None:
    """Edited is replaced, deleted removed, renamed re-filed with its embeddings, untouched untouched (L9)."""
    assert nest.sync(docs).added == ["a.txt", "c1", "c2", "guides/b.md", "guides/c.md"]
    write(docs / "a.txt", "Another first text.\n")
    (docs / "guides" / "c.md").unlink()
    (docs / "guides" / "b.md").rename(docs / "handbook.md")
    embedder.calls.clear()
    report = nest.sync(docs)
    assert done(report) == {
        "updated": ["a.txt"],
        "renamed": [Renamed("guides/b.md", "handbook.md")],
        "removed": ["guides/c.md"],
    }
    assert report.unchanged == ["c1", "c2"]
    assert embedder.calls == ["a: Another first text.\n"]
    assert report.reused > 10
    assert ids(nest) == ["a.txt", "c1", "c2", "handbook.md"]
    assert nest.search("topic7")[0].document_id == "handbook.md"
    assert nest.check() == []


def test_a_second_sync_changes_nothing(nest: Nest, docs: Path, embedder: WordHash) -> None:
    """Nothing is embedded or written, whatever happened to the times of the files (L1)."""
    nest.sync(docs)
    before = nest.stats()
    for file in docs.rglob("*.*"):
        os.utime(file, (1, 1))
    embedder.calls.clear()
    report = nest.sync(docs)
    assert (done(report), report.unchanged, embedder.calls) == ({}, ALL, [])
    assert nest.stats() == before


def test_content_counts_and_not_the_time(nest: Nest, docs: Path) -> None:
    """An edit that keeps size and time is seen."""
    times = (docs / "a.txt").stat()
    nest.sync(docs)
    write(docs / "a.txt", "The fifth text.\n")
    os.utime(docs / "a.txt", ns=(times.st_atime_ns, times.st_mtime_ns))
    assert done(nest.sync(docs)) == {"updated": ["a.txt"]}


def test_add_and_sync_of_a_folder_are_the_same(nest: Nest, docs: Path) -> None:
    """Ids, titles, sources and texts are equal; what was added is followed by a sync."""
    nest.add(docs)
    before = nest.list()
    assert done(nest.sync(docs)) == {}
    with nestling.open(":memory:", embedder=WordHash()) as other:
        other.sync(docs)
        assert other.list() == before
    (docs / "a.txt").unlink()
    cards(docs / "cards.jsonl", c2="Card two.")
    assert done(nest.sync(docs)) == {"removed": ["a.txt", "c1"]}


def test_a_dry_run_tells_the_same_and_does_nothing(nest: Nest, docs: Path, embedder: WordHash) -> None:
    """The report is that of the sync that follows, to the count of children; nothing is written or embedded."""
    foreseen = nest.sync(docs, dry_run=True)
    assert (ids(nest), embedder.calls) == ([], [])
    assert nest.sync(docs) == foreseen
    write(docs / "a.txt", f"Other text.\n\n{LONG}")
    (docs / "guides" / "b.md").rename(docs / "b.md")
    write(docs / "guides" / "c.md", "")
    cards(docs / "cards.jsonl", c2="Card two, edited.", c3="Card two, edited.")
    before, calls = nest.stats(), len(embedder.calls)
    foreseen = nest.sync(docs, dry_run=True)
    assert (nest.stats(), len(embedder.calls)) == (before, calls)
    assert nest.sync(docs) == foreseen
    assert foreseen.embedded > 10
    assert foreseen.empty == ["guides/c.md"]


def test_other_documents_are_never_removed(nest: Nest, docs: Path, tmp_path: Path) -> None:
    """Not those of other folders, of a file named by itself, or given by hand, whatever they say of themselves."""
    write(tmp_path / "docs2" / "other.txt", "Beside the folder, with its name as the beginning.")
    write(docs / "guides" / "single.txt", "Added by its own name.")
    by_hand = [
        Document("gone.txt", "By hand.", source=str(docs / "gone.txt")),
        Document("c9", "By hand, too.", source=str(docs / "cards.jsonl")),
        Document("guides/d.md", "By hand as well."),
    ]
    nest.add([tmp_path / "docs2", docs / "guides" / "single.txt", *by_hand])
    nest.sync(docs)
    (docs / "guides" / "single.txt").unlink()
    assert done(nest.sync(docs)) == {"removed": ["guides/single.txt"]}
    kept = ["c9", "gone.txt", "guides/d.md", "other.txt", "single.txt"]
    assert ids(nest) == sorted([*ALL, *kept])
    assert len(nest.sync(docs, pattern="**", dry_run=True).unchanged) == len(ALL)


def test_one_given_by_hand_is_not_taken_for_a_file_of_its_id(nest: Nest, docs: Path) -> None:
    """Also where both come in one call, or the content is equal: the file's end is not its end."""
    by_hand = Document("a.txt", "The first text.\n", "a")
    report = nest.add([by_hand, docs])
    assert [failure.name for failure in report.failed] == [str(docs / "a.txt")]
    nest.sync(docs)
    (docs / "a.txt").unlink()
    assert done(nest.sync(docs)) == {}
    assert text(nest, "a.txt") == "The first text.\n"


def test_a_document_replaced_by_hand_is_no_longer_the_folders(nest: Nest, docs: Path) -> None:
    """What was given by hand under the id of a file that is gone stays; a file that is there takes its place."""
    nest.sync(docs)
    (docs / "a.txt").unlink()
    nest.add(Document("a.txt", "Kept by hand."))
    assert done(nest.sync(docs)) == {}
    assert text(nest, "a.txt") == "Kept by hand."
    write(docs / "a.txt", "Of the folder again.")
    assert done(nest.sync(docs)) == {"updated": ["a.txt"]}
    (docs / "a.txt").unlink()
    assert done(nest.sync(docs)) == {"removed": ["a.txt"]}


def test_the_file_of_another_folder_is_not_overwritten(nest: Nest, docs: Path, tmp_path: Path) -> None:
    """A document of the same id whose file exists elsewhere is reported, as by `add`."""
    other = write(tmp_path / "other" / "a.txt", "Of the other folder.")
    nest.sync(other.parent)
    (failure,) = nest.sync(docs).failed
    assert (failure.name, "is another file" in failure.reason) == (str(docs / "a.txt"), True)
    other.unlink()
    assert nest.sync(docs).updated == ["a.txt"]


def test_a_pattern_leaves_other_files_alone(nest: Nest, docs: Path) -> None:
    """Documents of files that do not match are neither added nor removed."""
    nest.sync(docs)
    for file in ("a.txt", "guides/b.md", "guides/c.md", "cards.jsonl"):
        (docs / file).unlink()
    write(docs / "new.txt", "New.")
    write(docs / "new.md", "New, too.")
    assert done(nest.sync(docs, pattern="*.md", dry_run=True)) == {
        "added": ["new.md"],
        "removed": ["guides/b.md", "guides/c.md"],
    }
    assert done(nest.sync(docs, pattern=["guides/*", "*.md"])) == {
        "added": ["new.md"],
        "removed": ["guides/b.md", "guides/c.md"],
    }
    assert ids(nest) == ["a.txt", "c1", "c2", "new.md"]


def test_without_delete_everything_stays(nest: Nest, docs: Path, embedder: WordHash) -> None:
    """Files are added and replaced; a renamed file is a second document, with the vectors of the first."""
    nest.sync(docs)
    (docs / "a.txt").unlink()
    (docs / "guides" / "b.md").rename(docs / "b.md")
    embedder.calls.clear()
    assert done(nest.sync(docs, delete=False)) == {"added": ["b.md"]}
    assert ids(nest) == ["a.txt", "b.md", "c1", "c2", "guides/b.md", "guides/c.md"]
    assert embedder.calls == []
    for file in [*docs.rglob("*.md"), docs / "cards.jsonl"]:
        file.unlink()
    assert done(nest.sync(docs, delete=False)) == {}


def test_a_name_in_the_title_is_embedded_anew(nest: Nest, docs: Path, embedder: WordHash) -> None:
    """A text without a title of its own is renamed all the same; its title is its name, and in every child."""
    write(docs / "plain.txt", LONG)
    nest.sync(docs)
    (docs / "plain.txt").rename(docs / "guides" / "plain.txt")
    moved = nest.sync(docs)
    assert (done(moved), moved.embedded) == ({"renamed": [Renamed("plain.txt", "guides/plain.txt")]}, 0)
    (docs / "guides" / "plain.txt").rename(docs / "other.txt")
    named = nest.sync(docs)
    assert (done(named), named.reused) == ({"renamed": [Renamed("guides/plain.txt", "other.txt")]}, 0)
    assert named.embedded == moved.reused
    tree = nest.show("other.txt")
    assert tree is not None
    assert tree.document.title == "other"


def test_a_copy_is_no_renaming(nest: Nest, docs: Path) -> None:
    """While the old file is there the new one is added; of several with one text each is renamed once."""
    nest.sync(docs)
    write(docs / "copy.txt", "The first text.\n")
    assert done(nest.sync(docs)) == {"added": ["copy.txt"]}
    for name in ("a.txt", "copy.txt"):
        (docs / name).rename(docs / "guides" / name)
    write(docs / "third.txt", "The first text.\n")
    assert done(nest.sync(docs)) == {
        "added": ["third.txt"],
        "renamed": [Renamed("a.txt", "guides/a.txt"), Renamed("copy.txt", "guides/copy.txt")],
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Readme.md", "README.md"),
        (unicodedata.normalize("NFC", "Überblick é.md"), unicodedata.normalize("NFD", "Überblick é.md")),
    ],
)
def test_a_name_that_looks_the_same_is_another(
    nest: Nest, docs: Path, embedder: WordHash, old: str, new: str
) -> None:
    """Case and Unicode form count in ids, as the file system gives them; a change of them embeds nothing."""
    file = write(docs / old, "# Of its own title\n\nWords.\n")
    nest.sync(docs)
    file.rename(docs / new)
    embedder.calls.clear()
    assert done(nest.sync(docs, pattern=["*.md", "Ü*"])) == {"renamed": [Renamed(old, new)]}
    assert embedder.calls == []


def test_a_pattern_matches_both_unicode_forms(nest: Nest, docs: Path) -> None:
    """What is typed in one form finds a file whose name is in the other."""
    write(docs / unicodedata.normalize("NFD", "Überblick.md"), "Words.")
    assert len(nest.sync(docs, pattern=unicodedata.normalize("NFC", "Über*")).added) == 1


def test_cards_follow_their_file(nest: Nest, docs: Path, embedder: WordHash) -> None:
    """A card that left its file is removed, one that moved to another stays, a renamed file changes nothing."""
    nest.sync(docs)
    cards(docs / "cards.jsonl", c2="Card two, edited.")
    cards(docs / "a-cards.jsonl", c1="Card one, edited.", c3="Card three.")
    assert done(nest.sync(docs)) == {"added": ["c3"], "updated": ["c1", "c2"]}
    (docs / "a-cards.jsonl").rename(docs / "guides" / "more.ndjson")
    embedder.calls.clear()
    assert done(nest.sync(docs)) == {}
    assert embedder.calls == []
    cards(docs / "guides" / "more.ndjson", c3="Card three.")
    assert done(nest.sync(docs)) == {"removed": ["c1"]}
    (docs / "guides" / "more.ndjson").unlink()
    assert done(nest.sync(docs)) == {"removed": ["c3"]}


def test_what_cannot_be_read_keeps_its_documents(nest: Nest, docs: Path) -> None:
    """A binary file, a broken line, a link to nothing: reported, kept, and tried again the next time."""
    link = docs / "link.md"
    target = write(docs.parent / "target.md", "Behind a link.")
    link.symlink_to(target)
    assert "link.md" in nest.sync(docs).added
    (docs / "a.txt").write_bytes(b"\xff\xfe\x00")
    (docs / "cards.jsonl").write_text('{"id": "c2", "text": "Card two."}\n{"id": "c1", "te', "utf-8")
    target.unlink()
    report = nest.sync(docs)
    assert [Path(failure.name).name for failure in report.failed] == ["a.txt", "cards.jsonl"]
    assert [Path(failure.name).name for failure in report.skipped] == ["link.md"]
    assert (report.removed, report.updated) == ([], [])
    assert ids(nest) == sorted([*ALL, "link.md"])
    write(docs / "a.txt", "Mended.")
    cards(docs / "cards.jsonl", c2="Card two.")
    link.unlink()
    assert done(nest.sync(docs)) == {"updated": ["a.txt"], "removed": ["c1", "link.md"]}


def test_a_folder_below_that_cannot_be_listed_keeps_its_documents(
    nest: Nest, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is reported, and nothing under it is taken for gone."""
    nest.sync(docs)
    scandir = os.scandir

    def refusing(path: str | Path) -> object:
        if Path(path).name == "guides":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    # the tests may run as root, whom no permission stops
    monkeypatch.setattr(os, "scandir", refusing)
    (docs / "a.txt").unlink()
    report = nest.sync(docs)
    assert [failure.name for failure in report.failed] == [str(docs / "guides")]
    assert report.removed == ["a.txt"]
    assert ids(nest) == ALL[1:]


def test_an_emptied_folder_is_refused(nest: Nest, docs: Path) -> None:
    """Without any file it is taken for an unmounted disk, until the user says otherwise; a vanished one always."""
    nest.sync(docs)
    nest.add(Document("by hand", "Words."))
    docs.rename(docs.with_name("away"))
    with pytest.raises(nestling.NotFoundError, match=r"no folder .*docs.*mounted"):
        nest.sync(docs, allow_empty=True)
    docs.mkdir()
    write(docs / ".hidden.md", "Not read.")
    for dry_run in (False, True):
        with pytest.raises(nestling.InputError, match=r"holds no file.*5 documents.*allow_empty=True"):
            nest.sync(docs, dry_run=dry_run)
    with pytest.raises(nestling.InputError, match="that matches"):
        nest.sync(docs, pattern="*.md")
    assert done(nest.sync(docs, delete=False)) == {}
    assert len(ids(nest)) == 6
    assert len(nest.sync(docs, allow_empty=True).removed) == 5
    assert ids(nest) == ["by hand"]
    assert done(nest.sync(docs)) == {}


def test_a_folder_that_vanishes_meanwhile_removes_nothing(
    nest: Nest, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that are listed and then not there failed; they are not gone."""
    nest.sync(docs)
    (docs / "a.txt").unlink()
    vanish = after_listing(monkeypatch, lambda: docs.rename(docs.with_name("away")))
    with pytest.raises(nestling.NotFoundError) as caught:
        nest.sync(docs)
    assert vanish == [True]
    assert caught.value.report is not None
    assert len(caught.value.report.failed) == 3
    assert ids(nest) == ALL


def test_what_happens_between_listing_and_reading(
    nest: Nest, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that went fails and is removed by the next sync; one that is back by the end was never gone."""
    nest.sync(docs)
    moved = write(docs.parent / "aside.txt", (docs / "a.txt").read_text("utf-8"))
    (docs / "a.txt").unlink()

    def change() -> None:
        moved.rename(docs / "a.txt")
        (docs / "guides" / "c.md").unlink()

    after_listing(monkeypatch, change)
    report = nest.sync(docs)
    assert [Path(failure.name).name for failure in report.failed] == ["c.md"]
    assert (report.removed, ids(nest)) == ([], ALL)
    monkeypatch.undo()
    assert done(nest.sync(docs)) == {"removed": ["guides/c.md"]}


def after_listing(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> list[bool]:
    """Let something happen once, between listing and reading; returns whether it has."""
    from nestling.ingest import folder

    happened: list[bool] = []
    steadily = folder._steadily

    def changing(*arguments: object) -> object:
        if not happened:
            happened.append(True)
            change()
        return steadily(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(folder, "_steadily", changing)
    return happened


def test_a_file_that_is_written_while_it_is_read(
    nest: Nest, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not stored as it was half way, and cards that were not met then are not taken for gone."""
    nest.sync(docs)
    write(docs / "a.txt", "First half")
    from nestling.ingest import folder

    def writing(path: Path, root: Path, files: object) -> object:
        for each in read(path, root, files):  # type: ignore[arg-type]
            if path.name == "a.txt":
                write(path, "First half and second half.")
            yield each
        if path.name == "cards.jsonl":
            cards(path, c1="Card one.", c2="Card two.", c3="Card three.")

    read = folder.read
    monkeypatch.setattr(folder, "read", writing)
    cards(docs / "cards.jsonl", c1="Card one.")
    report = nest.sync(docs)
    assert [Path(failure.name).name for failure in report.failed] == ["a.txt", "cards.jsonl"]
    assert all("written to" in failure.reason for failure in report.failed)
    assert (report.removed, text(nest, "a.txt")) == ([], "The first text.\n")
    monkeypatch.undo()
    assert done(nest.sync(docs)) == {"added": ["c3"], "updated": ["a.txt"]}


def test_what_a_folder_leaves_out_is_gone_for_a_sync(nest: Nest, docs: Path) -> None:
    """A file that becomes hidden or of no readable kind is removed; links to folders are not followed."""
    nest.sync(docs)
    (docs / "a.txt").rename(docs / ".a.txt")
    (docs / "guides" / "c.md").rename(docs / "guides" / "c.pdf")
    (docs / "loop").symlink_to(docs, target_is_directory=True)
    (docs / "circle.md").symlink_to(docs / "circle.md")
    report = nest.sync(docs)
    assert report.removed == ["a.txt", "guides/c.md"]
    assert [Path(failure.name).name for failure in report.skipped] == ["circle.md", "c.pdf"]
    nest.add(docs / ".a.txt")
    assert done(nest.sync(docs, pattern="*.txt", allow_empty=True)) == {}
    assert ".a.txt" in ids(nest)


def test_the_nest_may_be_inside_the_folder(docs: Path, embedder: WordHash) -> None:
    """Its own files are passed over, whatever they are called."""
    with nestling.open(docs / "nest.txt", create=True, embedder=embedder) as nest:
        assert nest.sync(docs).added == ALL
        assert done(nest.sync(docs)) == {}
        with pytest.raises(nestling.InputError, match="no folder"):
            nest.sync(docs / "nest.txt")


def test_a_folder_is_the_same_from_wherever_it_is_named(
    nest: Nest, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative and an absolute path name one folder; a moved one takes along what is found in it."""
    monkeypatch.chdir(docs.parent)
    nest.sync("docs")
    monkeypatch.chdir(docs)
    (docs / "a.txt").unlink()
    assert done(nest.sync(".")) == {"removed": ["a.txt"]}
    (docs / "guides" / "c.md").unlink()
    assert done(nest.sync(docs)) == {"removed": ["guides/c.md"]}
    moved = docs.rename(docs.with_name("moved"))
    assert done(nest.sync(moved)) == {}
    (tree,) = [nest.show("guides/b.md")]
    assert tree is not None
    assert tree.document.source == str(moved / "guides" / "b.md")
    (moved / "guides" / "b.md").unlink()
    assert done(nest.sync(moved)) == {"removed": ["guides/b.md"]}


def test_an_embedder_that_fails_removes_nothing(docs: Path, path: Path) -> None:
    """What came before is stored and reported; the next sync does the rest."""
    with nestling.open(path, create=True, embedder=WordHash(fail_on="POISON")) as nest:
        nest.sync(docs)
        (docs / "a.txt").unlink()
        write(docs / "b.txt", "Fine.")
        write(docs / "guides" / "new.md", "POISON")
        with pytest.raises(nestling.ModelError) as caught:
            nest.sync(docs)
        assert caught.value.report is not None
        assert caught.value.report.added == ["b.txt"]
        assert ids(nest) == ["a.txt", "b.txt", *ALL[1:]]
    with nestling.open(path, embedder=WordHash()) as nest:
        assert done(nest.sync(docs)) == {"added": ["guides/new.md"], "removed": ["a.txt"]}


def test_progress_counts_files(nest: Nest, docs: Path) -> None:
    """The total is known where every file is one document."""
    seen: list[nestling.Progress] = []
    nest.sync(docs, progress=seen.append)
    assert (seen[-1].documents, seen[-1].total) == (5, None)
    (docs / "cards.jsonl").unlink()
    seen.clear()
    nest.sync(docs, progress=seen.append)
    assert (seen[-1].documents, seen[-1].total) == (3, 3)


@pytest.mark.parametrize("pattern", ["", "/etc/*", "../*", "a//b", "guides/", 7, [7], []])
def test_a_pattern_that_matches_nothing_ever_is_refused(nest: Nest, docs: Path, pattern: object) -> None:
    """It is named, and nothing is done."""
    with pytest.raises(nestling.SettingError, match="pattern"):
        nest.sync(docs, pattern=pattern)  # type: ignore[arg-type]
    assert ids(nest) == []


def test_a_sync_reaches_an_edition_that_is_built(nest: Nest, docs: Path) -> None:
    """What is added, replaced, renamed and removed is so in both, and a dry run foresees the work for both."""
    nest.sync(docs)
    nest.rebuild(nestling.Recipe(child_size=100, parent_size=300), switch=False)
    write(docs / "a.txt", "Another first text.\n")
    write(docs / "new.md", f"# New\n\n{LONG}\n\n{'And more of it. ' * 30}")
    (docs / "guides" / "b.md").rename(docs / "handbook.md")
    (docs / "guides" / "c.md").unlink()
    foreseen = nest.sync(docs, dry_run=True)
    assert nest.sync(docs) == foreseen
    assert done(foreseen) == {
        "added": ["new.md"],
        "updated": ["a.txt"],
        "renamed": [Renamed("guides/b.md", "handbook.md")],
        "removed": ["guides/c.md"],
    }
    built = nest.at(2)
    assert [(each.state, each.documents) for each in nest.editions()] == [("live", 5), ("building", 5)]
    for each in (nest, built):
        assert "handbook.md" in {p.document_id for p in each.search("topic7")}
    assert nest.check() == []
    nest.switch(2)
    assert nest.prune() == [1]
    (docs / "new.md").unlink()
    assert done(nest.sync(docs)) == {"removed": ["new.md"]}
    assert nest.check() == []


def test_files_are_noted_though_the_editions_change_meanwhile(path: Path, docs: Path) -> None:
    """A build that begins under a sync has documents made ready anew; their files and former ids are kept."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.sync(docs)
        (docs / "guides" / "b.md").rename(docs / "handbook.md")
        write(docs / "new.txt", "New words.\n")
        begun: list[nestling.Rebuilt] = []

        class Interrupting(WordHash):
            def embed_documents(self, texts):  # type: ignore[no-untyped-def]
                if not begun:
                    begun.append(nest.rebuild(nestling.Recipe(100, 300), switch=False))
                return super().embed_documents(texts)

        with nestling.open(path, embedder=Interrupting()) as other:
            report = other.sync(docs)
        assert begun
        assert (report.added, report.renamed) == (["new.txt"], [Renamed("guides/b.md", "handbook.md")])
        assert [each.documents for each in nest.editions()] == [6, 6]
        (docs / "handbook.md").unlink()
        (docs / "new.txt").unlink()
        assert done(nest.sync(docs)) == {"removed": ["handbook.md", "new.txt"]}
        assert nest.check() == []


NAMES = st.sampled_from(["a.md", "b.md", "x/a.md", "x/c.txt", "y/d.txt"])
TEXTS = st.sampled_from(["", "# One\n\nwords", "# Two\n\nother words", "plain words", LONG])


@settings(max_examples=40)
@given(st.lists(st.tuples(st.dictionaries(NAMES, TEXTS), st.booleans()), min_size=1, max_size=4))
def test_a_synced_nest_is_a_new_one(
    tmp_path_factory: pytest.TempPathFactory, states: list[tuple[dict[str, str], bool]]
) -> None:
    """Whatever a folder went through, the nest holds what a new nest of it would, and what was there by hand."""
    folder = tmp_path_factory.mktemp("docs")
    with nestling.open(":memory:", embedder=WordHash()) as nest:
        nest.add(Document("hand", "By hand."))
        for files, dry_first in states:
            for file in [each for each in folder.rglob("*") if each.is_file()]:
                file.unlink()
            for name, content in files.items():
                write(folder / name, content)
            if dry_first:
                foreseen = nest.sync(folder, allow_empty=True, dry_run=True)
            report = nest.sync(folder, allow_empty=True)
            if dry_first:
                assert done(report) == done(foreseen)
            with nestling.open(":memory:", embedder=WordHash()) as new:
                new.add(Document("hand", "By hand."))
                new.add(folder)
                assert nest.list() == new.list()
                for info in new.list():
                    assert nest.show(info.id) == new.show(info.id)
            assert nest.check() == []
