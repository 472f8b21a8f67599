"""The folder of a cache: loaded when it fits the nest, grown under a lock, thrown away when it is damaged.

It is never the truth: what cannot be read or does not fit counts as not being there, and what cannot be written
is done without.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np

from nestling.stores.cache import manifest
from nestling.stores.cache.manifest import Manifest
from nestling.stores.cache.segment_file import Identity, SegmentFile, identity, map_file, write
from nestling.stores.layout import Layout, with_gone
from nestling.stores.segment import CacheDamagedError
from nestling.stores.segment_merging import Part, merged

# Seconds between two looks at a lock that another process holds.
POLL = 0.05


@dataclass(frozen=True, eq=False)
class Kept:
    """A cache as it was loaded: where, its manifest, its files, and the layout they make."""

    folder: Path
    manifest: Manifest
    files: tuple[SegmentFile, ...]
    layout: Layout

    def check(self, again: bool = False) -> None:
        """Check each file, once, or ``again`` and whole.

        Raises:
            CacheDamagedError: One is damaged.
        """
        for file in self.files:
            file.check(again)


class Folder:
    """The cache beside one nest. Its methods are called by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kept: Kept | None = None
        self._seen: list[Identity] | None = None
        self._drafts: list[SegmentFile] = []

    def look(self) -> Kept | None:
        """What is there now, or None; what was loaded before and did not change is not loaded again."""
        try:
            status = identity((self.path / manifest.NAME).stat())
            seen = (
                [status, *(identity(file.path.stat()) for file in self._kept.files)] if self._kept else None
            )
            if seen is None or seen != self._seen:
                self._kept = self._load()
                self._seen = [status, *(file.identity for file in self._kept.files)]
        except (OSError, ValueError, TypeError, KeyError, CacheDamagedError):
            # whatever is wrong with it, it is made anew
            self._kept, self._seen = None, None
        return self._kept

    def _load(self) -> Kept:
        found = manifest.read(self.path)
        known = {file.path.name: file for file in self._kept.files} if self._kept else {}
        files = []
        for name, size in zip(found.segments, found.sizes, strict=True):
            file = known.get(name)
            if file is None or identity(file.path.stat()) != file.identity:
                file = map_file(self.path / name, name)
            if file.identity[-1] != size:
                raise CacheDamagedError(f"{file.path} is not of the size it was written with")
            files.append(file)
        segments = tuple(file.segment for file in files)
        gone = with_gone(segments, np.array(found.gone, np.int64))
        return Kept(self.path, found, tuple(files), Layout(found.change, segments, gone))

    def discard(self) -> None:
        """Let nobody load what is there any more; files are removed when others take their place."""
        self._kept, self._seen = None, None
        with suppress(OSError):
            (self.path / manifest.NAME).unlink()

    @contextmanager
    def lock(self, patience: float) -> Iterator[bool]:
        """Hold the right to write, if it can be had within so many seconds; gives whether it is held."""
        try:
            self.path.mkdir(exist_ok=True)
            file = (self.path / "lock").open("ab")
        except OSError:
            yield False
            return
        with file:
            until = time.monotonic() + patience
            while not (held := _try_lock(file.fileno())) and time.monotonic() < until:
                time.sleep(POLL)
            yield held

    def draft(self, parts: Sequence[Part]) -> Part:
        """Write parts into one file that no manifest names yet; only while the lock is held.

        Raises:
            OSError: It cannot be written.
            CacheDamagedError: A file that it is made of is damaged.
        """
        return Part(self._write(parts).segment)

    def keep(self, parts: Sequence[Part], nest: str, change: int, mark: str) -> Kept:
        """Make these parts the cache; only while the lock is held.

        Args:
            parts: In row order; those whose segment is in a file of this folder stay in it, others get one.
            nest: Of which nest and edition they are.
            change: The state they are of.
            mark: Of that change.

        Raises:
            OSError: They cannot be written; what was there still is.
            CacheDamagedError: A file that they are made of is damaged; likewise.
        """
        held = (*self._drafts, *(self._kept.files if self._kept else ()))
        known = {file.path.name: file for file in held}
        files = [known.get(part.segment.name) or self._write([part]) for part in parts]
        gone = [
            part.segment.arrays["document.row"][~part.alive]
            for part in parts
            if part.segment.name in known and part.alive is not None
        ]
        rows = np.concatenate([np.zeros(0, np.int64), *gone])
        names = [file.path.name for file in files]
        sizes = [file.identity[-1] for file in files]
        found = Manifest(nest, change, mark, names, sizes, rows.tolist())
        manifest.publish(self.path, found)
        self._clean(names)
        segments = tuple(file.segment for file in files)
        layout = Layout(change, segments, with_gone(segments, rows))
        self._kept = Kept(self.path, found, tuple(files), layout)
        self._seen = [identity((self.path / manifest.NAME).stat()), *(file.identity for file in files)]
        return self._kept

    def _write(self, parts: Sequence[Part]) -> SegmentFile:
        for part in parts:
            if part.segment.lookups:
                # what is damaged would get a fresh checksum
                part.segment.lookups.check()
        name = f"{uuid4().hex}.segment"
        draft = self.path / f"{name}.tmp"
        try:
            write(draft, merged(parts))
            draft.replace(self.path / name)
        finally:
            draft.unlink(missing_ok=True)
        file = map_file(self.path / name, name)
        file.check()
        self._drafts.append(file)
        return file

    def _clean(self, names: Iterable[str]) -> None:
        self._drafts = []
        kept = {*names, manifest.NAME, "lock"}
        for file in self.path.iterdir():
            if file.name not in kept:
                with suppress(OSError):
                    file.unlink()


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
