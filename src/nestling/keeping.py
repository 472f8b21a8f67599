"""Keeping a nest: out to a file of lines, and what is damaged found and mended."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import BinaryIO

from nestling.adding import add_again
from nestling.errors import (
    EmbedderMismatchError,
    FullError,
    LockedError,
    ModelError,
    ReadOnlyError,
    SettingError,
    StoreError,
)
from nestling.ingest.prepare import document_digest, text_digest
from nestling.ingest.split import SPLITTER, split
from nestling.ingest.terms import ANALYZER, terms
from nestling.models.known import Embedders
from nestling.new_file import new_file
from nestling.results import Exported, Progress, Repair
from nestling.stores.base import Store
from nestling.types import Document, Failure, Parent
from nestling.view import Damage, Derived, Edition

# Rounds of repairing: what one document's damage hid of another's comes to light in the next.
ROUNDS = 3

# JSON leaves these as they are; some programs end a line there, and some terminals obey
_NOT_PLAIN = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def export(store: Store, to: str | os.PathLike[str] | BinaryIO) -> Exported:
    """Write every document as a card, one a line; it is `nestling.nest.Nest.export`."""
    if not isinstance(to, str | os.PathLike):
        return _write(store, to)
    with new_file(Path(to).absolute()) as draft, draft.open("xb") as file:
        return _write(store, file)


def card(document: Document) -> str:
    """A document as a line of JSON, which `nestling.ingest.cards` reads back without loss."""
    names = ("id", "title", "text", "metadata", "source")
    text = json.dumps({name: getattr(document, name) for name in names}, ensure_ascii=False, allow_nan=False)
    return _NOT_PLAIN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _write(store: Store, file: BinaryIO) -> Exported:
    written, failed = 0, list[Failure]()
    broken: OSError | None = None
    with store.view() as view:
        for found in view.stored():
            if isinstance(found, Failure):
                failed.append(found)
                continue
            try:
                file.write(card(found).encode() + b"\n")
            except OSError as error:
                # inside the view it would be taken for an error of the nest's file
                broken = error
                break
            written += 1
    if broken is not None:
        raise broken
    return Exported(written, failed)


def backup(store: Store, to: str | os.PathLike[str]) -> None:
    """Copy a nest to a new file; it is `nestling.nest.Nest.backup`."""
    store.backup(Path(to).absolute())


# --- what is damaged


class Deriving:
    """What stored documents are held to; see `nestling.view.Derive`.

    Words are held to the text where an edition's were made by today's rules; headings likewise, and where its sizes
    are in tokens, only if its embedder can be made.
    """

    def __init__(self, embedders: Embedders) -> None:
        self._embedders = embedders
        self._counts: dict[int, Callable[[str], int] | None] = {}

    def digest(self, document: Document) -> bytes:
        """Of its title, text and metadata."""
        return document_digest(document)

    def rows(self, document: Document, parents: Sequence[Parent], language: str, edition: Edition) -> Derived:
        """What the text gives at the spans of these parents."""
        texts = [child.lead + document.text[child.start : child.end] for p in parents for child in p.children]
        return Derived(
            [text_digest(text) for text in texts],
            [terms(text, language) for text in texts] if edition.build.analyzer == ANALYZER else None,
            self._headings(document, parents, edition),
        )

    def _headings(
        self, document: Document, parents: Sequence[Parent], edition: Edition
    ) -> list[tuple[str, ...]] | None:
        count = self._count(edition)
        if count is None or edition.build.splitter != SPLITTER:
            return None
        cut = split(document, edition.build.recipe, count)
        # another release of the Markdown parser may cut elsewhere, which damages nothing
        same = [(p.start, p.end) for p in cut] == [(p.start, p.end) for p in parents]
        return [parent.heading for parent in cut] if same else None

    def _count(self, edition: Edition) -> Callable[[str], int] | None:
        """How the edition's sizes count tokens; None where that is not to be had."""
        if edition.build.recipe.unit != "tokens":
            return len
        if edition.number not in self._counts:
            try:
                self._counts[edition.number] = self._embedders.of(edition).count_tokens
            except (EmbedderMismatchError, ModelError, SettingError):
                self._counts[edition.number] = None
        return self._counts[edition.number]


def check(store: Store, embedders: Embedders, progress: Callable[[Progress], None] | None) -> list[str]:
    """What is damaged, a sentence each; it is `nestling.nest.Nest.check`."""
    return [damage.sentence for damage in damages(store, embedders, progress)]


def damages(store: Store, embedders: Embedders, progress: Callable[[Progress], None] | None) -> list[Damage]:
    """Everything that is damaged."""

    def told(done: int, total: int, children: int, id: str) -> None:
        if progress is not None:
            progress(Progress(done, total, children, id))

    with store.view() as view:
        return view.check(Deriving(embedders), told)


# --- repairing


def repair(
    store: Store,
    embedders: Embedders,
    backup: str | os.PathLike[str] | bool,
    progress: Callable[[Progress], None] | None,
) -> Repair:
    """Make anew what can be made from the stored texts; it is `nestling.nest.Nest.repair`.

    Args:
        store: The nest's.
        embedders: The models of its editions.
        backup: Where to copy the nest first; True: beside it; False: nowhere.
        progress: Called after each document that is looked at.
    """
    first = left = damages(store, embedders, progress)
    repaired: dict[str, None] = {}
    copy = _copied(store, backup) if first else None
    for _ in range(ROUNDS):
        before = left
        if any(damage.remedy == "mend" for damage in left):
            _tried(store.mend)
            left = damages(store, embedders, progress)
        for edition, ids in _droppable(left):
            _tried(partial(store.unindex, edition, ids))
        for id, anew in _repairable(left):
            document = _unchanged(store, id)
            if document is not None and _tried(partial(add_again, store, embedders, document, anew)):
                repaired[id] = None
        if left:
            left = damages(store, embedders, progress)
        if not left or left == before:
            break
    return Repair([d.sentence for d in first], list(repaired), [d.sentence for d in left], copy)


def _droppable(found: Sequence[Damage]) -> list[tuple[int, list[str]]]:
    """Editions that are not live, each with the documents whose rows it can do without until it is caught up."""
    lost = {damage.document for damage in found if damage.remedy == "none"}
    ids: dict[int, dict[str, None]] = {}
    for damage in found:
        if damage.remedy == "drop" and damage.document not in lost:
            ids.setdefault(damage.edition, {})[damage.document] = None
    return [(edition, list(each)) for edition, each in ids.items()]


def _repairable(found: Sequence[Damage]) -> list[tuple[str, bool]]:
    """Documents to be made anew, and whether their vectors too: those first, so that none takes a bad one over."""
    lost = {damage.document for damage in found if damage.remedy == "none"}
    remedies: dict[str, bool] = {}
    for damage in found:
        if damage.remedy in ("derive", "embed") and damage.document not in lost:
            remedies[damage.document] = remedies.get(damage.document, False) or damage.remedy == "embed"
    return sorted(remedies.items(), key=lambda item: (not item[1], item[0]))


def _unchanged(store: Store, id: str) -> Document | None:
    """The document as it is stored, if that is what was added: no other text is to be declared sound."""
    found: list[Document] = []

    def read() -> None:
        with store.view() as view:
            digest, _ = view.known([id])[id]
            documents = (each for each in view.stored([id]) if isinstance(each, Document))
            found.extend(document for document in documents if document_digest(document) == digest)

    return found[0] if _tried(read) and found else None


def _tried(work: Callable[[], None]) -> bool:
    """Do what damage may prevent; whatever it leaves is found by the next check."""
    try:
        work()
    except (FullError, LockedError, ReadOnlyError):
        raise
    except StoreError:
        return False
    return True


def _copied(store: Store, backup: str | os.PathLike[str] | bool) -> str | None:
    if backup is False or (backup is True and store.path == ":memory:"):
        return None
    to = _beside(store.path) if backup is True else os.fspath(backup)
    store.backup(Path(to).absolute())
    return to


def _beside(path: str) -> str:
    names = (f"{path}.before-repair{f'-{n}' if n > 1 else ''}" for n in count(1))
    return next(name for name in names if not os.path.lexists(name))
