"""How many requests at once, how long, and what becomes of those whose client has gone."""

from __future__ import annotations

import asyncio
import time
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

import nestling
from nestling.apps.server.failing import RefusedError, told
from nestling.apps.server.lanes import RETRY_AFTER
from nestling.apps.server.serving import Serving

# Bytes a second that a body must come with at least, over the time that every request has.
SLOWEST = 100_000
# Answered always, since they tell whether the server is well.
EXEMPT = ("/healthz", "/readyz", "/metrics")
EMPTY: Message = {"type": "http.request", "body": b"", "more_body": False}


class Admission:
    """Wraps an app: no more than so many requests at once, each with a time to begin its answer in.

    A request whose client has gone is cancelled: what waits for a thread is dropped, what is being done ends.
    """

    def __init__(self, app: ASGIApp, serving: Serving) -> None:
        self._app = app
        self._most = serving.max_requests
        self._seconds = serving.max_seconds
        self._now = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] in EXEMPT:
            await self._app(scope, receive, send)
            return
        if self._now >= self._most:
            error = nestling.BusyError(
                f"the server has {self._most} requests at once already; try again in a moment",
                retry_after=RETRY_AFTER,
            )
            await told(error)(scope, receive, send)
            return
        self._now += 1
        try:
            await _Exchange(self._app, self._seconds).run(scope, receive, send)
        finally:
            self._now -= 1


class _Exchange:
    """One request and its answer."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app = app
        self._seconds = seconds
        self._until = time.monotonic() + seconds
        self._received = asyncio.Event()
        self._gone = asyncio.Event()
        self._begun = False

    async def run(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer it, as far as there is anybody to answer."""
        unread = [] if _has_body(scope) else [EMPTY]
        if unread:
            self._received.set()

        async def incoming() -> Message:
            if unread:
                return unread.pop()
            if self._received.is_set():
                # there is nothing more to come; whoever waits for it is cancelled when the client has gone
                await asyncio.Event().wait()
            message = await receive()
            if message["type"] == "http.disconnect":
                self._received.set()
                self._gone.set()
                return await incoming()
            self._until += len(message.get("body", b"")) / SLOWEST
            if not message.get("more_body", False):
                self._received.set()
            return message

        async def outgoing(message: Message) -> None:
            self._begun = True
            # a client that does not read holds nothing for ever
            async with asyncio.timeout(self._seconds):
                await send(message)

        async def watch() -> None:
            await self._received.wait()
            while (await receive())["type"] != "http.disconnect":
                pass
            self._gone.set()

        work = asyncio.create_task(self._answer(scope, incoming, outgoing))
        watcher = asyncio.create_task(watch())
        gone = asyncio.create_task(self._gone.wait())
        try:
            await self._wait(work, gone)
            if not work.done() and not gone.done():
                await self._give_up(work, scope, receive, send)
        finally:
            for task in (work, watcher, gone):
                task.cancel()
            await asyncio.wait((work, watcher, gone))
        if not work.cancelled():
            work.result()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except TimeoutError:
            # of sending: there is nobody to tell
            return

    async def _wait(self, work: asyncio.Task[None], gone: asyncio.Task[bool]) -> None:
        """Until the answer is given, the client gone, or the time up before the answer has begun."""
        while not work.done() and not gone.done():
            left = None if self._begun else self._until - time.monotonic()
            if left is not None and left <= 0:
                return
            # an answer that has begun meanwhile is waited for without end: look again from time to time
            await asyncio.wait((work, gone), timeout=left, return_when=asyncio.FIRST_COMPLETED)

    async def _give_up(self, work: asyncio.Task[None], scope: Scope, receive: Receive, send: Send) -> None:
        work.cancel()
        await asyncio.wait((work,))
        if self._begun:
            return
        error = nestling.BusyError(
            f"there was no answer within {self._seconds:g} s, and the request was given up; what it had begun to"
            " write is finished all the same: ask for less, or try again",
            retry_after=RETRY_AFTER,
        )
        await told(RefusedError(HTTPStatus.GATEWAY_TIMEOUT, error))(scope, receive, send)


def _has_body(scope: Scope) -> bool:
    names = {name for name, _ in scope["headers"]}
    return b"content-length" in names or b"transfer-encoding" in names
