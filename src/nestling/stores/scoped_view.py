"""A view within bounds, with the ids of the scope: what all documents of the scope have is left out of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nestling.bounds import HIDDEN, Bounds
from nestling.errors import ScopeError
from nestling.types import Document, Level, Parent
from nestling.view import (
    Edition,
    Family,
    Ranked,
    Rows,
    Scores,
    StoredDocument,
    StoredParent,
    Terms,
    Vectors,
    View,
)
from nestling.where import Where


class ScopedView:
    """See `nestling.view.View`; what is not named here cannot be asked."""

    def __init__(self, view: View, bounds: Bounds) -> None:
        """``view`` holds nothing but what is within the bounds."""
        self.change = view.change
        self.edition = view.edition
        self._view = view
        self._bounds = bounds
        self._label = bounds.label

    def stored(self, id: str) -> str | None:
        """The id under which a document of the scope is stored, or None where there is none."""
        if id.startswith(HIDDEN):
            found = id.removeprefix(HIDDEN)
            return found if self._view.known([found]) and self.shown(found) == id else None
        forms = list(self._bounds.forms(id))
        known = self._view.known(forms)
        return next((form for form in forms if form in known), None)

    def shown(self, stored: str) -> str:
        """The id of a stored document in the scope; one that another hides is marked."""
        own = stored.removeprefix(self._label)
        if own != stored and not own.startswith("«"):
            return own
        plain = self._bounds.plain(stored)
        forms = list(self._bounds.forms(plain))
        if stored not in forms:
            return HIDDEN + stored
        before = forms[: forms.index(stored)]
        return HIDDEN + stored if before and self._view.known(before) else plain

    def nearest(self, level: Level, vector: Vectors, n: int, where: Where | None) -> Ranked:
        """As in the view."""
        return self._view.nearest(level, vector, n, where)

    def match(self, level: Level, terms: Terms, n: int, where: Where | None) -> Ranked:
        """As in the view."""
        return self._view.match(level, terms, n, where)

    def family(self, children: Rows, parents: Rows, documents: Rows, where: Where | None) -> Family:
        """As in the view."""
        return self._view.family(children, parents, documents, where)

    def similarity(self, vector: Vectors, children: Rows) -> Scores:
        """As in the view."""
        return self._view.similarity(vector, children)

    def coverage(self, terms: Terms, parents: Rows) -> Scores:
        """As in the view."""
        return self._view.coverage(terms, parents)

    def parents(self, rows: Sequence[int]) -> dict[int, StoredParent]:
        """Parents by the ids of the scope."""
        found = self._view.parents(rows)
        shown = {id: self.shown(id) for id in {each.document_id for each in found.values()}}
        return {
            row: replace(
                each,
                id=shown[each.document_id] + each.id[len(each.document_id) :],
                document_id=shown[each.document_id],
            )
            for row, each in found.items()
        }

    def languages(self) -> Mapping[str, int]:
        """As in the view."""
        return self._view.languages()

    def known(self, ids: Sequence[str]) -> dict[str, tuple[bytes, str | None]]:
        """Digest and source by the ids of the scope."""
        stored = self._all_stored(ids)
        found = self._view.known(list(stored.values()))
        return {id: found[name] for id, name in stored.items() if name in found}

    def text(self, id: str) -> str | None:
        """The stored text."""
        stored = self.stored(id)
        return None if stored is None else self._view.text(stored)

    def files(self, ids: Sequence[str] | None = None) -> dict[str, str]:
        """Paths by the ids of the scope."""
        if ids is None:
            return {self.shown(name): path for name, path in self._view.files().items()}
        stored = self._all_stored(ids)
        found = self._view.files(list(stored.values()))
        return {id: found[name] for id, name in stored.items() if name in found}

    def leads(self, children: Sequence[int]) -> dict[int, str]:
        """As in the view."""
        return self._view.leads(children)

    def embedded(self, digests: Sequence[bytes], embedder: str) -> dict[bytes, Vectors]:
        """As in the view."""
        return self._view.embedded(digests, embedder)

    def editions(self) -> tuple[Edition, ...]:
        """All editions, by number."""
        return self._view.editions()

    def sizes(self) -> dict[int, tuple[int, int]]:
        """As in the view."""
        return self._view.sizes()

    def lacking(self, after: int, characters: int) -> list[StoredDocument]:
        """Refused: editions are built of all documents."""
        raise self._refused()

    def read(self, id: str) -> tuple[Document, tuple[Parent, ...]] | None:
        """A document and its parents by an id of the scope."""
        forms = [id.removeprefix(HIDDEN)] if id.startswith(HIDDEN) else self._bounds.forms(id)
        for form in forms:
            found = self._view.read(form)
            if found is None:
                continue
            document, parents = found
            shown = self.shown(document.id)
            if shown + form[len(document.id) :] == id:
                return replace(document, id=shown), tuple(
                    _renamed(parent, document.id, shown) for parent in parents
                )
        return None

    def documents(self, where: Where | None) -> Iterator[dict[str, Any]]:
        """Documents by the ids of the scope."""
        rows = [{**row, "id": self.shown(row["id"])} for row in self._view.documents(where)]
        return iter(sorted(rows, key=lambda row: row["id"]))

    def stats(self) -> dict[str, Any]:
        """As in the view."""
        return self._view.stats()

    def check(self) -> list[str]:
        """Refused: damage is told by what it hits, whosever that is."""
        raise self._refused()

    def _all_stored(self, ids: Sequence[str]) -> dict[str, str]:
        found = ((id, self.stored(id)) for id in ids)
        return {id: name for id, name in found if name is not None}

    def _refused(self) -> ScopeError:
        return ScopeError(
            f"this is the scope of {self._bounds}, and that concerns the whole nest; ask it without the scope"
        )


def _renamed(parent: Parent, stored: str, shown: str) -> Parent:
    children = (replace(child, id=shown + child.id[len(stored) :]) for child in parent.children)
    return replace(parent, id=shown + parent.id[len(stored) :], children=tuple(children))
