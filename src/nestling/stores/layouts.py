"""The layouts that a store holds: in memory while a nest is small, from files beside it once it is large.

Which serves is decided by size alone. Files are only ever a copy: where they are missing, do not fit the nest, are
damaged or cannot be written, rows are read from the nest, and the answer is the same.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from nestling.stores.cache.folder import Folder, Kept
from nestling.stores.catching_up import NOTHING, catch_up, gone_rows, joinable, parts_of
from nestling.stores.layout import Layout
from nestling.stores.reading import Since, current_change, mark_of, segments, since
from nestling.stores.scan import engine
from nestling.stores.segment import CacheDamagedError
from nestling.stores.segment_merging import Part
from nestling.view import Edition

# Children of an edition from which on it is kept in files: opening it takes 20 ms with them, and 70 without.
FILES_FROM = 2_000
# Children, or changes, that are caught up with in memory before they go into a file.
TAIL, CHANGES = 4_096, 5_000
# Children that are put into a file at once where many are read.
DRAFT = 65_536
# Seconds to wait while another process makes the files, which takes half a minute for a million children.
PATIENCE = 120.0
# Seconds after which writing is tried again where it failed.
REFUSED = 60.0
# Float16 vectors of more children than this are not held in memory, but asked of the nest.
EXACT = 50_000


@dataclass(frozen=True, slots=True)
class Known:
    """What was known before a state was held, and so is no newer than it."""

    held: Mapping[int, Layout]
    kept: Kept | None


@dataclass(frozen=True, slots=True)
class State:
    """An edition in the state that ``db`` sees, with what was known before it was held."""

    layouts: Layouts
    db: sqlite3.Connection
    nest: str
    edition: Edition
    known: Known

    @property
    def stamp(self) -> str:
        """By which files know whose they are."""
        return f"{self.nest}/{self.edition.number}"

    def layout(self) -> Layout:
        """Its layout."""
        return self.layouts.of(self)

    def anew(self) -> Layout:
        """Its layout, after files turned out to be damaged."""
        return self.layouts.anew(self)

    def checked(self, edition: Edition) -> Layout | None:
        """The layout of any edition as far as it is known, held to its checksums."""
        return self.layouts.checked(replace(self, edition=edition))

    def serving(self) -> dict[str, Any]:
        """What serves a search of it: files or memory, and what compares vectors; nothing is read for it."""
        found: dict[str, Any] = {
            "rows": "memory",
            "products": engine(),
            "folder": None,
            "bytes": 0,
            "change": None,
        }
        kept = self.known.kept
        if kept is not None and kept.manifest.nest == self.stamp:
            found |= {"rows": "files", "folder": str(kept.folder), "bytes": sum(kept.manifest.sizes)}
            found["change"] = kept.manifest.change
        return found

    def since(self, layout: Layout) -> Since:
        """What a layout lacks."""
        return since(self.db, self.edition.number, layout.change)

    def caught_up(self, layout: Layout, there: Since) -> Layout:
        """Its layout, from an earlier one, in memory."""
        return catch_up(self.db, self.edition.number, layout, there, there.children <= EXACT)


class Layouts:
    """Gives the layout of any edition and state; of the live edition and of one more the last is held."""

    def __init__(self, folder: Path | None) -> None:
        """``folder`` is where files are kept, or None where none are."""
        self._folder = Folder(folder) if folder else None
        self._held: dict[int, Layout] = {}
        self._kept: Kept | None = None
        self._refused = -REFUSED
        self.begin_process()

    def begin_process(self) -> None:
        """To be called after a fork, whose child does not share locks."""
        self._lock = threading.Lock()

    def known(self) -> Known:
        """To be called before a state is held."""
        with self._lock:
            kept = self._folder.look() if self._folder else None
            if kept is not self._kept:
                # files that were replaced, damaged or removed are not read from again
                self._held, self._kept = {}, kept
            return Known(self._held, kept)

    def of(self, state: State) -> Layout:
        """The layout of an edition in a state."""
        number = state.edition.number
        with self._lock:
            held = self._held.get(number)
            if held and held.change == current_change(state.db):
                return held
            layout = self._next(state, state.known.held.get(number) or self._fitting(state, state.known.kept))
            if held is None or held.change < layout.change:
                beside = [] if state.edition.state == "live" else list(self._held.items())[:1]
                self._held = {**dict(beside), number: layout}
            return layout

    def anew(self, state: State) -> Layout:
        """The same after files turned out to be damaged: they are thrown away, and made again."""
        self.discard()
        return self.of(replace(state, known=Known({}, None)))

    def checked(self, state: State) -> Layout | None:
        """What the next search would go on from, caught up without writing files; None where it would read anew.

        Raises:
            CacheDamagedError: Files are damaged.
        """
        with self._lock:
            known = state.known.kept
            kept = known if _fits(known, state) else None
            if kept:
                kept.check(again=True)
            best = state.known.held.get(state.edition.number) or (kept.layout if kept else NOTHING)
            there = state.since(best)
            if there.anew:
                return None
            return best if there.change == best.change else state.caught_up(best, there)

    def discard(self) -> None:
        """Throw away what is held, in files and in memory."""
        with self._lock:
            self._discard()

    def _discard(self) -> None:
        if self._folder:
            self._folder.discard()
        self._held, self._kept = {}, None

    def _fitting(self, state: State, kept: Kept | None) -> Layout:
        """The layout of the files, if they are whole and of an earlier state of this nest."""
        if not _fits(kept, state):
            return NOTHING
        try:
            kept.check()
        except CacheDamagedError:
            self._discard()
            return NOTHING
        return kept.layout

    def _next(self, state: State, best: Layout) -> Layout:
        there = state.since(best)
        if there.change == best.change:
            return best
        if self._folder and state.edition.state == "live" and self._worth_a_file(best, there):
            try:
                written = self._written(self._folder, state, best, there)
                if written:
                    return written
            except CacheDamagedError:
                # a file of it turned out to be damaged when it was to be made part of another
                self._discard()
                best, there = NOTHING, state.since(NOTHING)
        return state.caught_up(best, there)

    def _worth_a_file(self, best: Layout, there: Since) -> bool:
        waiting = there.children + sum(s.count("child") for s in best.segments if not s.name)
        filed = sum(s.count("child") for s in best.segments if s.name)
        if there.anew or not filed or self._kept is None:
            return waiting + filed >= FILES_FROM
        return waiting >= TAIL or there.change - self._kept.manifest.change >= CHANGES

    def _written(self, folder: Folder, state: State, best: Layout, there: Since) -> Layout | None:
        """The layout from files that are brought up to it, or None where that cannot be done now."""
        if time.monotonic() < self._refused + REFUSED:
            return None
        try:
            # who has nothing would do the same work as who is at it
            with folder.lock(PATIENCE if there.anew else 0) as locked:
                if not locked:
                    return None
                kept = folder.look()
                if kept is not None and kept is not state.known.kept:
                    # another process has written since
                    if kept.manifest.change > there.change:
                        return None
                    best = self._fitting(state, kept)
                    self._kept, there = folder.look(), state.since(best)
                    if not self._worth_a_file(best, there):
                        return state.caught_up(best, there)
                self._kept = _write(folder, state, best, there)
                return self._kept.layout
        except OSError:
            self._refused = time.monotonic()
            return None


def _fits(kept: Kept | None, state: State) -> TypeGuard[Kept]:
    """Whether files are of an earlier state of this edition of this nest."""
    return (
        kept is not None
        and kept.manifest.nest == state.stamp
        and kept.manifest.mark == mark_of(state.db, kept.manifest.change)
    )


def _write(folder: Folder, state: State, best: Layout, there: Since) -> Kept:
    """Bring files up to a state, and make them the cache; all that is new goes into one."""
    if there.anew:
        best = NOTHING
    gone = np.concatenate((gone_rows(best), there.gone))
    parts = parts_of(best.segments, gone)
    filed = sum(bool(part.segment.name) for part in parts)
    fresh = parts[filed:]
    for segment in segments(state.db, state.edition.number, there, exact=True):
        fresh.append(Part(segment))
        loose = [part for part in fresh if not part.segment.name]
        if sum(part.segment.count("child") for part in loose) >= DRAFT:
            fresh = [*fresh[: -len(loose)], folder.draft(loose)]
    parts = [*parts[:filed], *fresh]
    first = joinable(parts, filed, lambda part: True)
    last = [folder.draft(parts[first:])] if any(len(part.documents) for part in parts[first:]) else []
    mark = mark_of(state.db, there.change)
    assert mark is not None, "the last change is in the log"
    return folder.keep([*parts[:first], *last], state.stamp, there.change, mark)
