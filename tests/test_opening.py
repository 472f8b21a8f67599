"""Opening a nest: the right file, model and recipe, or a clear refusal."""

from __future__ import annotations

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
    with pytest.raises(nestling.EmbedderMismatchError, match=r"wordhash-64, not other-64.*new nest"):
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
