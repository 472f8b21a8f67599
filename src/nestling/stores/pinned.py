"""A store that is asked for one of its editions, and not written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from nestling.bounds import EVERYTHING, Bounds
from nestling.errors import ReadOnlyError
from nestling.stores.base import Dropped, Entry, Indexed, Place, Store
from nestling.view import Build, Edition, View


class Pinned:
    """See `nestling.stores.base.Store`; every change is refused.

    Attributes:
        whole: The store of all editions.
        edition: The number of the one that is asked.
    """

    def __init__(self, store: Store, edition: int) -> None:
        self.path = store.path
        self.meta = store.meta
        self.bounds = store.bounds
        self.whole = store
        self.edition = edition

    def view(self, edition: int | None = None, within: Bounds = EVERYTHING) -> AbstractContextManager[View]:
        """Hold the state of the last commit, of this edition where no other is named."""
        return self.whole.view(self.edition if edition is None else edition, within)

    def backup(self, to: Path) -> None:
        """Copy the store, all of its editions."""
        self.whole.backup(to)

    def own_files(self) -> frozenset[tuple[int, int]]:
        """As those of the store."""
        return self.whole.own_files()

    def close(self) -> None:
        """Close the store."""
        self.whole.close()

    def reached(self) -> tuple[Edition, ...]:
        """Refused."""
        raise self._refused()

    def together(self) -> AbstractContextManager[None]:
        """Refused."""
        raise self._refused()

    def replace(
        self,
        entry: Entry,
        instead_of: tuple[str, str] | None = None,
        within: Bounds = EVERYTHING,
        *,
        itself: bool = False,
    ) -> None:
        """Refused."""
        raise self._refused()

    def remove(
        self, ids: Iterable[str], files: Mapping[str, str] | None = None, within: Bounds = EVERYTHING
    ) -> list[str]:
        """Refused."""
        raise self._refused()

    def refile(self, places: Iterable[Place], within: Bounds = EVERYTHING) -> None:
        """Refused."""
        raise self._refused()

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

    def mend(self) -> None:
        """Refused."""
        raise self._refused()

    def _refused(self) -> ReadOnlyError:
        return ReadOnlyError(
            f"this is edition {self.edition} of {self.path}, to be asked only; change the nest itself"
        )
