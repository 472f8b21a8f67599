"""Answers that come bit by bit: server-sent events, told from the thread that works."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial

from fastapi import Request, Response
from fastapi.responses import StreamingResponse

import nestling
from nestling.apps import wire
from nestling.apps.server.failing import error_json, json_response, unforeseen
from nestling.apps.server.lanes import Closed, Lane, stopping

KIND = "text/event-stream"
# Seconds of silence after which a comment is sent, so that nobody on the way takes the stream for dead.
SILENCE = 15.0

Tell = Callable[[str, wire.JSON], None]
# Works, tells events on the way, and returns the name and value of the last one.
Work = Callable[[Tell], tuple[str, wire.JSON]]


class LeftError(nestling.NestlingError):
    """Nobody listens any longer."""


async def told(request: Request, lane: Lane, work: Work, body: Closed) -> Response:
    """What comes of work: all its events where the client asked for events, else the value of the last one."""
    if KIND in request.headers.get("accept", ""):
        return await streamed(lane, work, body)
    _, value = await lane.run(lambda: work(lambda name, value: None), body)
    return json_response(value)


async def streamed(lane: Lane, work: Work, body: Closed) -> Response:
    """The events of work as a response; an error before the first of them is an ordinary answer.

    Where the client goes, the next call of ``tell`` raises.
    """
    queue: asyncio.Queue[bytes | None] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    left = threading.Event()

    def tell(name: str, value: wire.JSON) -> None:
        if left.is_set():
            raise LeftError("the client has gone")
        loop.call_soon_threadsafe(queue.put_nowait, event(name, value))

    task = asyncio.create_task(lane.run(partial(work, tell), body))
    task.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        first = await _next(queue)
        if first is None and (error := task.exception()):
            raise error
    except BaseException:
        left.set()
        task.cancel()
        raise
    return StreamingResponse(_events(first, queue, task, left), media_type=KIND)


def event(name: str, value: wire.JSON) -> bytes:
    """One server-sent event."""
    # JSON in one line holds no line end
    return f"event: {name}\ndata: {wire.dumps(value, indent=None)}\n\n".encode("utf-8", "backslashreplace")


async def _events(
    first: bytes | None,
    queue: asyncio.Queue[bytes | None],
    task: asyncio.Task[tuple[str, wire.JSON]],
    left: threading.Event,
) -> AsyncIterator[bytes]:
    item = first
    try:
        while item is not None:
            yield item
            item = await _next(queue)
        yield event(*_last(task))
    finally:
        left.set()
        task.cancel()


async def _next(queue: asyncio.Queue[bytes | None]) -> bytes | None:
    try:
        return await asyncio.wait_for(queue.get(), SILENCE)
    except TimeoutError:
        return b": still at it\n\n"


def _last(task: asyncio.Task[tuple[str, wire.JSON]]) -> tuple[str, wire.JSON]:
    if task.cancelled():
        return "error", error_json(stopping())
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, nestling.NestlingError):
        return "error", error_json(error)
    return "error", unforeseen(error)
