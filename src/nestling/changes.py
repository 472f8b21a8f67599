"""Inputs told apart: what is not stored as it is, what only has another place, what stays, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nestling.errors import DocumentError
from nestling.ingest.load import Files, are_two_files, is_new_place
from nestling.ingest.prepare import document_digest
from nestling.results import Report
from nestling.stores.base import Place, Store
from nestling.types import Document, Failure


@dataclass(frozen=True, slots=True)
class Change:
    """A document that is not stored as it is.

    Attributes:
        document: As it is to be stored.
        file: The absolute path of the file it was read from, or None.
        known: Whether its id is stored.
        former: Id and file of the stored document whose place it takes, that file having another name now.
    """

    document: Document
    file: str | None
    known: bool
    former: tuple[str, str] | None


class Changes:
    """What the inputs of one call change.

    Attributes:
        files: Where whoever reads the inputs notes the files of documents.
    """

    def __init__(
        self,
        store: Store,
        report: Report,
        ours: Mapping[str, str] | None = None,
        former: Callable[[Document], str | None] | None = None,
    ) -> None:
        """Begin.

        Args:
            store: What the inputs are held to.
            report: Gets what stays as it is, and what is refused.
            ours: The files of stored documents, by id, that another file may replace.
            former: Tells under which of these ids a new document was stored before, if under any.
        """
        self.files = Files()
        self._store = store
        self._report = report
        self._ours = ours or {}
        self._former = former
        self._seen: set[str] = set()

    def among(self, inputs: Sequence[Document | Failure]) -> tuple[list[Change], list[Place]]:
        """The documents that are not stored as they are, and new places of those that are."""
        given = self._given(inputs)
        with self._store.view() as view:
            stored, recorded = view.known(list(given)), view.files(list(given))
        changed: list[Change] = []
        moved: list[Place] = []
        for id, (document, file) in given.items():
            digest, source = stored.get(id, (None, None))
            if digest is not None and digest == document_digest(document):
                self._report.unchanged.append(id)
                if file is not None and is_new_place(file, recorded.get(id), source == document.source):
                    moved.append(Place(id, digest, file, document.source))
            elif id not in self._ours and are_two_files(source, document.source):
                reason = (
                    f"its id {id!r} is that of {source}, which is another file; add the folder above both,"
                    f" so that their ids differ, or remove {id!r} first"
                )
                self._report.failed.append(Failure(document.source or id, reason))
            else:
                known = digest is not None
                changed.append(Change(document, file, known, None if known else self._place(document)))
        return changed, moved

    def _given(self, inputs: Sequence[Document | Failure]) -> dict[str, tuple[Document, str | None]]:
        """The documents, with their files, by id; failures, and ids that were given before, are reported."""
        given: dict[str, tuple[Document, str | None]] = {}
        for item in inputs:
            if isinstance(item, Failure):
                (self._report.skipped if item.skipped else self._report.failed).append(item)
                continue
            file = self.files.take(item)
            if item.id in self._seen:
                self._report.failed.append(given_before(item))
            else:
                self._seen.add(item.id)
                try:
                    given[item.id] = self._store.bounds.stamped(item), file
                except DocumentError as error:
                    self._report.failed.append(Failure(item.source or item.id, str(error)))
        return given

    def _place(self, document: Document) -> tuple[str, str] | None:
        id = None if self._former is None else self._former(document)
        return None if id is None else (id, self._ours[id])


def given_before(document: Document) -> Failure:
    """What is reported of a document whose id another one of the same call has."""
    reason = f"the id {document.id!r} was given before in this call; give every document its own"
    return Failure(document.source or document.id, reason)
