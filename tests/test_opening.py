"""Opening a nest: the right file, model and recipe, or a clear refusal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import nestling
from nestling import Document
from wordhash import WordHash


class Other(WordHash):
    """Another model of the same dimension."""

    fingerprint = "other-64"


def test_a_missing_nest_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without create, opening fails and leaves no file (promise 8)."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nestling.NotFoundError, match="create=True"):
        nestling.open("none.nest")
    assert list(tmp_path.iterdir()) == []


def test_another_model_is_refused(path: Path) -> None:
    """The same dimension is not enough: both models are named, and what to do (promise 6, L11)."""
    nestling.open(path, create=True, embedder=WordHash()).close()
    with pytest.raises(
        nestling.EmbedderMismatchError, match=r"wordhash-64, not other-64.*nestling rebuild --embedder"
    ):
        nestling.open(path, embedder=Other())
    with nestling.open(path) as nest:
        assert nest.list() == []
        assert nest.stats()["embedder"] == "wordhash-64"
        with pytest.raises(nestling.EmbedderMismatchError, match=r"give it to nestling\.open"):
            nest.search("x")
    with pytest.raises(nestling.EmbedderMismatchError):
        nestling.open(path, create=True, embedder=Other())


def test_a_folder_and_a_wrong_timeout_are_named(tmp_path: Path) -> None:
    """A folder is no nest; a time-out below 0, or none at all, is out of range."""
    for create in (True, False):
        with pytest.raises(nestling.NotANestError, match="is a folder"):
            nestling.open(tmp_path, create=create)
    for timeout in (-1, float("nan"), float("inf"), "5"):
        with pytest.raises(nestling.SettingError, match="timeout is"):
            nestling.open(":memory:", timeout=timeout)  # type: ignore[arg-type]


def test_reading_leaves_nothing_behind(path: Path) -> None:
    """After a search of a closed nest only the nest is in the folder."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add(Document("a", "x"))
    with nestling.open(path, embedder=WordHash()) as nest:
        assert nest.search("x")
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_another_recipe_is_refused(path: Path) -> None:
    """An existing nest keeps its sizes; asking for others says which it has."""
    sizes = nestling.Recipe(child_size=200, parent_size=800)
    nestling.open(path, create=True, embedder=WordHash(), recipe=sizes).close()
    with nestling.open(path, embedder=WordHash()) as nest:
        assert nest.recipe == sizes
    with nestling.open(path, create=True, embedder=WordHash(), recipe=sizes) as nest:
        assert nest.recipe == sizes
    with pytest.raises(nestling.SettingError, match="child_size=200"):
        nestling.open(path, embedder=WordHash(), recipe=nestling.Recipe())


@pytest.mark.parametrize(
    "sizes",
    [
        {"child_size": 0},
        {"child_size": "400"},
        {"child_size": True},
        {"parent_size": 100},
        {"overlap": 400},
        {"overlap": -1},
        {"unit": "words"},
    ],
)
def test_a_recipe_out_of_range_says_so(sizes: dict[str, object]) -> None:
    """Sizes are checked against each other with the reason (S2)."""
    with pytest.raises(nestling.SettingError):
        nestling.Recipe(**sizes)  # type: ignore[arg-type]


def test_everything_is_there_after_reopening(path: Path) -> None:
    """Documents, ranking and embedder's name outlive the process (L12)."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add([Document("a", "apple pie"), Document("b", "banana bread")])
        before = [(p.id, p.score) for p in nest.search("apple bread")]
    with nestling.open(path, embedder=WordHash()) as nest:
        assert [(p.id, p.score) for p in nest.search("apple bread")] == before
        assert nest.add(Document("a", "apple pie")).unchanged == ["a"]


def test_memory_nests_are_apart() -> None:
    """Each one is its own, and gone when closed."""
    one, other = (nestling.open(":memory:", embedder=WordHash()) for _ in range(2))
    one.add(Document("a", "x"))
    assert other.list() == []
    one.close()
    other.close()
    with pytest.raises(nestling.StoreError, match="closed"):
        one.search("x")


def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Going to another folder that has a nest of the same name changes nothing."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        nestling.open("h.nest", create=True, embedder=WordHash()).close()
    monkeypatch.chdir(tmp_path / "one")
    with nestling.open("h.nest", embedder=WordHash()) as nest:
        monkeypatch.chdir(tmp_path / "two")
        nest.add(Document("a", "x"))
        assert nest.stats()["documents"] == 1
    with nestling.open("h.nest", embedder=WordHash()) as other:
        assert other.list() == []


def test_a_forked_process_writes_safely(path: Path) -> None:
    """A child that inherited the nest connects anew; what both add is there."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add(Document("parent", "x"))
        child = os.fork()
        if not child:
            code = 1
            try:
                nest.add(Document("child", "y"))
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
    with nestling.open(path, embedder=WordHash()) as nest:
        assert [info.id for info in nest.list()] == ["child", "parent"]
        assert nest.check() == []


def test_many_processes_make_one_nest(tmp_path: Path) -> None:
    """However many create it at once, all open the same whole nest, and no draft is left."""
    script = (
        "import sys; sys.path[:0] = sys.argv[2:]; import nestling; from wordhash import WordHash;"
        "[nestling.open(f'{sys.argv[1]}/{n}.nest', create=True, embedder=WordHash()).close() for n in range(15)]"
    )
    command = [sys.executable, "-c", script, str(tmp_path), str(Path(__file__).parent)]
    makers = [subprocess.Popen(command) for _ in range(4)]
    assert [maker.wait(timeout=60) for maker in makers] == [0] * 4
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(f"{n}.nest" for n in range(15))


def test_a_nest_that_was_replaced_is_not_written(path: Path) -> None:
    """What would go into a deleted file is refused."""
    with nestling.open(path, create=True, embedder=WordHash()) as nest:
        nest.add(Document("a", "x"))
        path.unlink()
        with pytest.raises(nestling.StoreError, match="deleted or replaced"):
            nest.add(Document("b", "y"))


def test_a_path_of_any_characters(tmp_path: Path) -> None:
    """Characters that mean something in an address are part of the name."""
    for name in ("a ?#%&=.nest", "ü 家.nest", "x" * 200 + ".nest"):
        with nestling.open(tmp_path / name, create=True, embedder=WordHash()) as nest:
            nest.add(Document("a", "x"))
        assert (tmp_path / name).exists()
    with pytest.raises(nestling.StoreError):
        nestling.open(tmp_path / ("x" * 300), create=True, embedder=WordHash())
