"""A nest in any order of use is what a dictionary of documents is: promises 1, 3, 4, 5, 9, and a clean check."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

import nestling
from nestling import Document, Nest, Recipe
from wordhash import WordHash

RECIPE = Recipe(60, 150)
IDS = st.sampled_from(["a", "b", "c.md", "ä/2", "e"])
PIECES = [
    "red fox ",
    "blue whale. ",
    "\n\n",
    "# Head\n\n",
    "| a | b |\n|---|---|\n",
    "é👨‍👩‍👧 ",
    "\0\r\u2028",
    "中文字。",
    "x" * 70,
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
METADATA = st.fixed_dictionaries(
    {},
    optional={"n": st.integers(0, 3), "tags": st.lists(st.sampled_from("xy"), max_size=2), "none": st.none()},
)
DOCUMENTS = st.builds(
    Document, id=IDS, text=TEXTS, title=st.sampled_from(["", "Title"]), metadata=METADATA, source=st.none()
)
QUESTIONS = st.sampled_from(["fox", "blue whale", "head", "中文", "nothing of it", "xxx", "?!"])
FILTERS = st.sampled_from(
    [None, {"n": {"$gte": 2}}, {"tags": "x"}, {"$not": {"n": 1}}, {"none": {"$exists": True}}]
)


def fits(metadata: Any, where: Any) -> bool:
    """What each of the filters means, said again in Python."""
    if where is None:
        return True
    if "tags" in where:
        return "x" in metadata.get("tags", [])
    if "none" in where:
        return "none" in metadata
    return metadata.get("n") != 1 if "$not" in where else metadata.get("n", 0) >= 2


class NestMachine(RuleBasedStateMachine):
    """One handle writes, another that was opened first only reads; both must know all that the dictionary knows."""

    @initialize()
    def begin(self) -> None:
        """An empty nest in a file."""
        self.folder = Path(tempfile.mkdtemp(prefix="stateful"))
        self.path = self.folder / "x.nest"
        self.model: dict[str, Document] = {}
        self.writer = nestling.open(self.path, create=True, embedder=WordHash(), recipe=RECIPE)
        self.reader = nestling.open(self.path, embedder=WordHash())

    def teardown(self) -> None:
        """Close, and leave nothing."""
        if hasattr(self, "writer"):
            with nestling.open(":memory:", embedder=WordHash(), recipe=self.writer.recipe) as fresh:
                fresh.add(list(self.model.values()))
                for question in ("fox", "blue whale head", "中文"):
                    assert list(self.reader.search(question, 50)) == list(fresh.search(question, 50))
                    assert self.reader.context(question, 60) == fresh.context(question, 60)
            self.writer.close()
            self.reader.close()
            shutil.rmtree(self.folder)

    @rule(given_=st.lists(DOCUMENTS, max_size=4))
    def add(self, given_: list[Document]) -> None:
        """New, other and equal documents together; the report tells them apart."""
        wanted: dict[str, set[str]] = {"added": set(), "updated": set(), "unchanged": set()}
        firsts: dict[str, Document] = {}
        for document in given_:
            firsts.setdefault(document.id, document)
        for id, document in firsts.items():
            old = self.model.get(id)
            same = old is not None and (old.title, old.text, old.metadata) == (
                document.title,
                document.text,
                document.metadata,
            )
            wanted["unchanged" if same else "updated" if old else "added"].add(id)
            if not same:
                self.model[id] = document
        report = self.writer.add(given_)
        assert {name: set(getattr(report, name)) for name in wanted} == wanted
        assert len(report.failed) == len(given_) - len(firsts)

    @rule()
    def add_all_again(self) -> None:
        """What is there already costs nothing."""
        before = self.writer.stats()
        report = self.writer.add(list(self.model.values()))
        assert report.unchanged == list(self.model)
        assert (report.embedded, report.added, report.updated) == (0, [], [])
        assert self.writer.stats() == before

    @rule(id=IDS, at=st.floats(0, 1), piece=st.sampled_from(PIECES))
    def edit(self, id: str, at: float, piece: str) -> None:
        """An edit somewhere in a text embeds no more children than there are, and replaces the document."""
        if id in self.model:
            old = self.model[id]
            cut = int(at * len(old.text))
            self.model[id] = Document(id, old.text[:cut] + piece + old.text[cut:], old.title, old.metadata)
            report = self.writer.add(self.model[id])
            assert report.updated == [id]
            tree = self.writer.show(id)
            assert tree is not None
            assert report.embedded + report.reused == sum(len(parent.children) for parent in tree.parents)

    @rule(ids=st.lists(IDS, max_size=3))
    def remove(self, ids: list[str]) -> None:
        """Those that exist go, in the order given."""
        wanted = [id for id in dict.fromkeys(ids) if id in self.model]
        assert self.writer.remove(ids) == wanted
        for id in wanted:
            del self.model[id]

    @rule(reader=st.booleans())
    def reopen(self, reader: bool) -> None:
        """Nothing lives only in memory."""
        if reader:
            self.reader.close()
            self.reader = nestling.open(self.path, embedder=WordHash())
        else:
            self.writer.close()
            self.writer = nestling.open(self.path, embedder=WordHash())

    @rule(recipe=st.sampled_from([RECIPE, Recipe(30, 80)]))
    def rebuild(self, recipe: Recipe) -> None:
        """Other sizes, or the same again."""
        other = recipe != self.writer.recipe
        assert self.writer.rebuild(recipe).switched == other
        assert self.reader.recipe == recipe

    @rule()
    def roll_back(self) -> None:
        """To the edition before, if there is one, whatever was added and removed since."""
        if len(self.writer.editions()) > 1:
            self.writer.rollback()

    @rule()
    def prune(self) -> None:
        """Only the live edition is left."""
        self.writer.prune()
        assert [edition.state for edition in self.reader.editions()] == ["live"]

    @rule(question=QUESTIONS, k=st.integers(0, 12), where=FILTERS, offset=st.integers(0, 3))
    def search(self, question: str, k: int, where: Any, offset: int) -> None:
        """K passages where k parents match, each of the model's text, the same from both handles and each time."""
        found = self.reader.search(question, k, where=where, offset=offset)
        trees = [
            self.writer.show(id) for id, document in self.model.items() if fits(document.metadata, where)
        ]
        parents = sum(len(tree.parents) for tree in trees if tree is not None)
        assert len(found) == max(0, min(k, parents - offset))
        assert len({passage.id for passage in found}) == len(found)
        for passage in found:
            document = self.model[passage.document_id]
            assert passage.text == document.text[passage.start : passage.end]
            assert fits(document.metadata, where)
            for evidence in passage.evidence:
                assert (
                    passage.text[evidence.start : evidence.end]
                    == document.text[evidence.document_start : evidence.document_end]
                )
        for nest in (self.reader, self.writer):
            again = nest.search(question, k + offset, where=where)
            assert list(again)[offset:] == list(found)

    @rule(where=FILTERS)
    def list(self, where: Any) -> None:
        """The documents that fit, by id."""
        wanted = sorted(id for id, document in self.model.items() if fits(document.metadata, where))
        assert [info.id for info in self.reader.list(where)] == wanted

    @rule(id=IDS)
    def show(self, id: str) -> None:
        """The text comes back; parents cover it, children cover their parent."""
        tree = self.reader.show(id)
        assert (tree is not None) == (id in self.model)
        if tree is not None:
            assert tree.document == self.model[id]
            assert _joined(tree.parents) in ([], [(0, len(tree.document.text))])
            for parent in tree.parents:
                assert _joined(parent.children) == [(parent.start, parent.end)]

    @rule()
    def copy(self) -> None:
        """A backup and an export hold the same."""
        for name in ("copy", "lines.jsonl"):
            (self.folder / name).unlink(missing_ok=True)
        self.reader.backup(self.folder / "copy")
        with nestling.open(self.folder / "copy", embedder=WordHash()) as copy:
            assert copy.check() == []
            assert _documents(copy) == self.model
        assert self.reader.export(self.folder / "lines.jsonl").documents == len(self.model)
        with nestling.open(":memory:", embedder=WordHash()) as again:
            again.add(self.folder / "lines.jsonl")
            assert _documents(again) == self.model

    @invariant()
    def is_sound(self) -> None:
        """Check finds nothing, in the file and in the memory of the handle that catches up."""
        if hasattr(self, "reader"):
            assert self.reader.check() == []


def _joined(spans: Any) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for span in spans:
        if joined and joined[-1][1] == span.start:
            joined[-1] = (joined[-1][0], span.end)
        else:
            joined.append((span.start, span.end))
    return joined


def _documents(nest: Nest) -> dict[str, Document]:
    trees = [nest.show(info.id) for info in nest.list()]
    return {tree.document.id: tree.document for tree in trees if tree is not None}


def run(examples: int, steps: int) -> None:
    """Let hypothesis look for a way of use that goes wrong."""
    run_state_machine_as_test(
        NestMachine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_nest_is_a_dictionary_of_documents() -> None:
    """Eight lives of a nest, of up to twenty steps each."""
    run(8, 20)


@pytest.mark.slow
def test_a_nest_is_a_dictionary_of_documents_for_long() -> None:
    """Hundreds of lives, of up to a hundred steps each."""
    run(300, 100)
