"""Keeping a nest in step with a folder that changes."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from nestling.errors import (
    FullError,
    InputError,
    LockedError,
    MissingExtraError,
    ModelError,
    NestlingError,
    NotFoundError,
)
from nestling.ingest.listing import Scope, refuse_unlistable
from nestling.ingest.load import is_left_out
from nestling.nest import Nest
from nestling.ranges import amount
from nestling.results import Progress, Report
from nestling.settings import QUIET

if TYPE_CHECKING:
    from watchfiles import Change

# Quiet periods after which a folder that is never quiet is synced all the same.
PATIENCE = 30
# Seconds after which a sync that failed is tried again.
AGAIN = 5.0
# Milliseconds between two looks at whether to stop.
TICK = 200
# What may pass, so that it is worth waiting: another writer, an endpoint, a full disk, a folder that is not there.
_PASSING = (LockedError, FullError, ModelError, InputError, NotFoundError)


def watch(
    nest: Nest,
    folder: str | os.PathLike[str],
    *,
    pattern: str | Sequence[str] | None = None,
    delete: bool = True,
    allow_empty: bool = False,
    quiet: float = QUIET,
    stop: Event | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Iterator[Report | NestlingError]:
    """Sync a folder now, and again whenever something in it has changed, until told to stop.

    Args:
        nest: What is kept in step; `Nest.sync` is called on it.
        folder: As for `Nest.sync`.
        pattern: As for `Nest.sync`.
        delete: As for `Nest.sync`.
        allow_empty: As for `Nest.sync`.
        quiet: Seconds for which nothing must have changed before it is synced, above 0. A folder that is
            never quiet is synced after 30 times as long.
        stop: Ends the watching, within a second where no sync is under way, once it is set by another thread.
        progress: As for `Nest.sync`.

    Yields:
        The report of each sync. Where one failed and it may pass (the nest is locked, the endpoint down, the
        disk full, the folder not there or without any file) its error; it is tried again after 5 seconds, or
        when something changes.

    Raises:
        NotFoundError: There is no such folder when it begins.
        DocumentError: The folder cannot be listed when it begins.
        SettingError: The pattern or the quiet period is none.
        MissingExtraError: watchfiles, or what the nest's model needs, is not installed.
        StoreError: The nest can no longer be written.
    """
    amount("quiet", quiet, unit="seconds", zero=False)
    refuse_unlistable(Scope.of(folder, pattern).path)
    try:
        import watchfiles  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "watchfiles, which tells of changes in folders, is not installed; run: pip install 'nestling[watch]'"
        ) from error

    def sync() -> Report:
        return nest.sync(folder, pattern=pattern, delete=delete, allow_empty=allow_empty, progress=progress)

    return _outcomes(sync, os.fspath(folder), nest._store.path, quiet, stop or Event())


def _outcomes(
    sync: Callable[[], Report], folder: str, nest: str, quiet: float, stop: Event
) -> Iterator[Report | NestlingError]:
    """Sync at first, and when a change is ``quiet`` seconds old."""
    last = first = -math.inf
    due = True
    for changed in _changes(folder, nest, stop):
        now = time.monotonic()
        if changed:
            first = first if due else now
            last, due = now, True
        if due and (now - last >= quiet or now - first >= PATIENCE * quiet):
            outcome = _outcome(sync)
            yield outcome
            due = isinstance(outcome, NestlingError)
            # as if something had changed so long ago that it is quiet after the wait
            last = first = time.monotonic() + AGAIN - quiet


def _outcome(sync: Callable[[], Report]) -> Report | NestlingError:
    try:
        return sync()
    except MissingExtraError:
        raise
    except _PASSING as error:
        return error


def _changes(folder: str, nest: str, stop: Event) -> Iterator[bool]:
    """Several times a second, from when it is watched on: whether something that matters has changed since."""
    import watchfiles

    changed = False
    while not stop.is_set():
        watched, real = _identity(folder), os.path.realpath(folder)
        try:
            for changes in watchfiles.watch(
                real,
                watch_filter=_filter(real, os.path.realpath(nest)),
                stop_event=stop,
                rust_timeout=TICK,
                yield_on_timeout=True,
                ignore_permission_denied=True,
            ):
                yield changed or bool(changes)
                changed = _identity(folder) != watched
                if changed:
                    yield True
                    break  # it is gone, or another folder has taken its place
        except FileNotFoundError:
            yield False
            stop.wait(TICK / 1000)
        except OSError as error:
            raise InputError(
                f"the folder {folder!r} cannot be watched ({error}); allow more watches (on Linux"
                " fs.inotify.max_user_watches), or set WATCHFILES_FORCE_POLLING=true"
            ) from error


def _filter(folder: str, nest: str) -> Callable[[Change, str], bool]:
    own = {nest + end for end in ("", "-wal", "-shm", "-journal")}

    def matters(_: Change, path: str) -> bool:
        inside = Path(os.path.relpath(path, folder))
        return path not in own and not any(map(is_left_out, inside.parts))

    return matters


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        found = os.stat(folder)  # noqa: PTH116
    except OSError:
        return None
    return found.st_dev, found.st_ino
