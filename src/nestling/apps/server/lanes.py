"""Where work is done: threads for each kind of it, and no more waiting than can be served."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import PurePath
from typing import Any, Protocol, TypeVar

import nestling
from nestling.apps.server.failing import RefusedError

T = TypeVar("T")

# Answers and evaluations at once: their threads mostly wait for a language model.
SLOW = 8
# How much less a writer's threads weigh than a reader's: one step is a quarter. Where both want all of two cores,
# 10 steps served 50 readers 1.4 times as often, and halved what was written; half of them give readers enough.
STEP = 5
# Seconds after which somebody who was sent away may come again.
RETRY_AFTER = 1.0


class Closed(Protocol):
    """What is open and to be closed."""

    def close(self) -> None:
        """Close it."""
        ...


class Lane:
    """Some threads, and the work that waits for them in order of arrival.

    Args:
        name: What it does, as in "too much to read".
        threads: How many.
        waiting: How much work may wait.
        begin: What each thread does first.
        path: Of the nest; errors name the file only, as whoever asks need not know where on the machine it is.
    """

    def __init__(
        self, name: str, threads: int, waiting: int, begin: Callable[[], object] | None = None, path: str = ""
    ) -> None:
        self.name = name
        self._path = path
        self._room = threads + waiting
        self._taken = 0
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=f"nestling-{name}", initializer=begin)

    async def run(self, work: Callable[[], T], body: Closed | None = None) -> T:
        """Do work in a thread.

        Where the one who waits is cancelled, work that has not begun is dropped; else it is done to its end.

        Args:
            work: What to do.
            body: What it reads; it is closed in any case, and not before the work is done or dropped.

        Raises:
            BusyError: Too much is waiting already, or the server stops.
        """
        try:
            future = self._submitted(work)
        except BaseException:
            if body is not None:
                body.close()
            raise
        if body is not None:
            future.add_done_callback(lambda _: body.close())
        return await asyncio.wrap_future(future)

    def _submitted(self, work: Callable[[], T]) -> Future[T]:
        with self._lock:
            if self._taken >= self._room:
                raise nestling.BusyError(
                    f"the server has too much to {self.name}; try again in a moment", retry_after=RETRY_AFTER
                )
            self._taken += 1
        try:
            future = self._pool.submit(self._placeless, work)
        except RuntimeError as error:
            self._leave(None)
            raise stopping() from error
        future.add_done_callback(self._leave)
        return future

    def _placeless(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except (nestling.NestlingError, RefusedError) as error:
            told = error.error if isinstance(error, RefusedError) else error
            for place in filter(None, (os.path.abspath(self._path), self._path)):  # noqa: PTH100 - as it is told
                told.args = tuple(str(each).replace(place, PurePath(place).name) for each in told.args)
            raise

    def close(self) -> None:
        """Drop what waits, and wait for what is being done."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _leave(self, done: Future[Any] | None) -> None:
        with self._lock:
            self._taken -= 1


class Lanes:
    """The lanes of one worker: readers, one writer, one bulk upload, and what takes long.

    Single writes do not wait for a bulk upload: both take turns at the nest, some 250 children at a time.
    """

    def __init__(self, most: int, path: str = "") -> None:
        self.read = Lane("read", reading_threads(), most, path=path)
        self.write = Lane("write", 1, most, step_back, path)
        self.upload = Lane("upload", 1, most, step_back, path)
        self.slow = Lane("answer", SLOW, most, path=path)

    def close(self) -> None:
        """Let all work that has begun end."""
        for lane in (self.read, self.slow, self.upload, self.write):
            lane.close()


def step_back() -> None:
    """Let other threads go first where there are too few processors, as far as the system knows threads apart.

    Threads that this one starts, to embed, do so too.
    """
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), min(19, os.nice(0) + STEP))


def reading_threads() -> int:
    """As many as there are processors: a search is all computing."""
    return max(2, os.cpu_count() or 1)


def stopping() -> nestling.BusyError:
    """What is told to those who come while the server stops."""
    return nestling.BusyError("the server is stopping; ask again when it is back", retry_after=5.0)
