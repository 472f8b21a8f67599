"""A store inside the bounds of a scope: nothing else is read or written, and ids are those of the scope.

This is the one place where a scope is held. Whoever asks for documents gets those within the bounds, from a view
of the store that has no others; what is written is looked at once more before it goes there. What concerns the
whole nest is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from nestling.bounds import EVERYTHING, Bounds, labelled
from nestling.errors import DocumentError, LockedError, ScopeError
from nestling.stores.base import Dropped, Entry, Indexed, OutsideError, Place, Store
from nestling.stores.pinned import Pinned
from nestling.stores.scoped_view import ScopedView
from nestling.types import Parent
from nestling.view import Build, Edition

# How often a document is looked for again because it came into the scope, or left it, meanwhile.
ATTEMPTS = 5


def scoped(store: Store, bounds: Bounds) -> Store:
    """The part of a store within bounds; of what is scoped already, within both.

    Raises:
        SettingError: They contradict those that hold already.
    """
    if isinstance(store, Pinned):
        return Pinned(scoped(store.whole, bounds), store.edition)
    if isinstance(store, Scoped):
        return Scoped(store.whole, store.bounds.narrowed(bounds))
    return Scoped(store, bounds)


class Scoped:
    """See `nestling.stores.base.Store`.

    Attributes:
        path: As that of the store.
        bounds: Within which everything is.
        whole: The store.
    """

    def __init__(self, store: Store, bounds: Bounds) -> None:
        self.path = store.path
        self.bounds = bounds
        self.whole = store

    @property
    def meta(self) -> Mapping[str, Any]:
        """As that of the store."""
        return self.whole.meta

    @contextmanager
    def view(self, edition: int | None = None, within: Bounds = EVERYTHING) -> Iterator[ScopedView]:
        """Hold what the last commit has within the bounds."""
        bounds = self.bounds.narrowed(within)
        with self._discreet(), self.whole.view(edition, bounds) as view:
            yield ScopedView(view, bounds)

    def reached(self) -> tuple[Edition, ...]:
        """As those of the store."""
        return self.whole.reached()

    def own_files(self) -> frozenset[tuple[int, int]]:
        """As those of the store."""
        return self.whole.own_files()

    def close(self) -> None:
        """Close the store."""
        self.whole.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """As in the store."""
        with self._discreet(), self.whole.together():
            yield

    def replace(
        self,
        entry: Entry,
        instead_of: tuple[str, str] | None = None,
        within: Bounds = EVERYTHING,
        *,
        itself: bool = False,
    ) -> None:
        """Store a document that is within the bounds, under the id that it has there or will have.

        Raises:
            DocumentError: It is not within the bounds, or its id is that of a document which is not.
        """
        bounds = self.bounds.narrowed(within)
        id = entry.document.id
        for _ in range(ATTEMPTS):
            with self.view(within=within) as view:
                stored = view.stored_id(id) or bounds.own(id)
                former = None if instead_of is None else view.stored_id(instead_of[0])
            given = _renamed(entry, stored)
            _check(given, bounds, id)
            try:
                old = (former, instead_of[1]) if former is not None and instead_of is not None else None
                with self._discreet():
                    return self.whole.replace(given, old, bounds, itself=itself)
            except OutsideError:
                continue
        raise DocumentError(f"the id {id!r} cannot be used in the scope of {bounds}; choose another")

    def remove(
        self, ids: Iterable[str], files: Mapping[str, str] | None = None, within: Bounds = EVERYTHING
    ) -> list[str]:
        """Remove documents that are within the bounds; returns the ids that existed, as they were given."""
        bounds = self.bounds.narrowed(within)
        with self.view(within=within) as view:
            stored = {id: found for id in ids if (found := view.stored_id(id)) is not None}
        places = None if files is None else {stored[id]: files[id] for id in stored}
        with self._discreet():
            gone = set(self.whole.remove(stored.values(), places, bounds))
        return [id for id, found in stored.items() if found in gone]

    def refile(self, places: Iterable[Place], within: Bounds = EVERYTHING) -> None:
        """Set file and source of documents that are within the bounds."""
        with self.view(within=within) as view:
            found = [(view.stored_id(place.id), place) for place in places]
        known = [replace(place, id=stored) for stored, place in found if stored is not None]
        with self._discreet():
            self.whole.refile(known, self.bounds.narrowed(within))

    def keep(self, key: str, value: Any) -> None:
        """Refused."""
        raise self._refused()

    def begin(self, build: Build) -> int:
        """Refused."""
        raise self._refused()

    def resume(self, edition: int) -> None:
        """Refused."""
        raise self._refused()

    def index(self, edition: int, rows: Mapping[int, Indexed]) -> int:
        """Refused."""
        raise self._refused()

    def unindex(self, edition: int, ids: Iterable[str]) -> None:
        """Refused."""
        raise self._refused()

    def mend(self) -> None:
        """Refused."""
        raise self._refused()

    def backup(self, to: Path) -> None:
        """Refused."""
        raise self._refused()

    def switch(self, edition: int) -> None:
        """Refused."""
        raise self._refused()

    def retire(self) -> list[int]:
        """Refused."""
        raise self._refused()

    def drop(self, edition: int, after: int) -> Dropped:
        """Refused."""
        raise self._refused()

    def shrink(self) -> None:
        """Refused."""
        raise self._refused()

    @contextmanager
    def _discreet(self) -> Iterator[None]:
        """Leave out who holds a lock: the command of a process may name another scope."""
        try:
            yield
        except LockedError:
            raise LockedError(
                f"{self.path} is locked by another process; try again when it is done, or wait longer with a larger"
                " timeout"
            ) from None

    def _refused(self) -> ScopeError:
        return ScopeError(
            f"this is the scope of {self.bounds} in {self.path}, and that would change the whole nest; ask it"
            " without the scope"
        )


def _renamed(entry: Entry, stored: str) -> Entry:
    """The entry under the id that it is stored by, with its parents and children."""
    given = entry.document.id
    rows = {
        edition: replace(indexed, parents=tuple(_parent(each, given, stored) for each in indexed.parents))
        for edition, indexed in entry.rows.items()
    }
    return replace(entry, document=replace(entry.document, id=stored), rows=rows)


def _parent(parent: Parent, given: str, stored: str) -> Parent:
    children = (replace(child, id=stored + child.id[len(given) :]) for child in parent.children)
    return replace(parent, id=stored + parent.id[len(given) :], children=tuple(children))


def _check(entry: Entry, bounds: Bounds, id: str) -> None:
    """Refuse what would not be within the bounds, or not within what its id says."""
    said, _ = labelled(entry.document.id)
    keys = {key for key, _ in bounds.values}
    own = any(keys & parent.metadata.keys() for each in entry.rows.values() for parent in each.parents)
    if own or not bounds.holds(entry.document.metadata) or not said.holds(entry.document.metadata):
        raise DocumentError(
            f"document {id!r} is not within the scope of {bounds}: its metadata says otherwise;"
            " add it elsewhere"
        )
