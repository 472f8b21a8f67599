"""The app of one worker."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

import nestling
from nestling.apps.server import asking, documents, files, looking, measuring, probes, shapes
from nestling.apps.server.admission import Admission
from nestling.apps.server.description import describe
from nestling.apps.server.failing import tell_errors
from nestling.apps.server.guard import Guard
from nestling.apps.server.keys import Keys
from nestling.apps.server.lanes import Lanes
from nestling.apps.server.metrics import Counted, Metrics
from nestling.apps.server.page import page_router
from nestling.apps.server.rates import Rates
from nestling.apps.server.service import Service
from nestling.apps.server.serving import Serving, open_nest

ABOUT = (
    "Parent-document retrieval: search small, answer big. Every answer is the JSON of the command line"
    ' (docs/json.md); every error is `{"error": {"type", "message"}}`.'
)


def worker() -> ASGIApp:
    """The app of a worker process, as the process that started it says."""
    serving = Serving.found()
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(name)s: %(message)s"))
    # not the events of the nest, which name documents: NESTLING_LOG asks for those
    for name in ("nestling.access", "nestling.server"):
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
    return make_app(serving)


def make_app(serving: Serving) -> ASGIApp:
    """An app that serves a nest, which is opened when the app starts."""
    keys, metrics = Keys(serving.path), Metrics()

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        service = Service(
            serving, open_nest(serving), keys, Rates(serving.folder), Lanes(serving.max_requests), metrics
        )
        app.state.service = service
        _note_stop(service)
        try:
            yield
        finally:
            service.stopping = True
            service.close()

    app = FastAPI(
        title="Nestling",
        version=nestling.__version__,
        description=ABOUT,
        lifespan=life,
        # their pages load scripts of another host
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    parts = (asking, measuring, documents, files, looking, probes)
    described = [part.router for part in parts]
    tell_errors(app, [route for router in described for route in router.routes])
    failed: dict[int | str, dict[str, Any]] = {
        "default": {"model": shapes.Interrupted | shapes.Failed, "description": "Why it failed"}
    }
    for router in described:
        app.include_router(router, responses=failed)
    app.include_router(page_router())
    app.openapi = lambda: describe(app)  # type: ignore[method-assign]
    return Counted(Guard(Admission(_Told(app), serving), keys), metrics, serving.access_log)


class _Told:
    """Wraps an app that has told an error it did not foresee, and raises it all the same."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; its error is told and logged by then."""
        begun = False

        async def noted(message: Any) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception:
            if scope["type"] != "http" or not begun:
                raise


def _note_stop(service: Service) -> None:
    """Note when the process is asked to stop, before the server waits for what is running."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        before = signal.getsignal(number)

        def stop(signum: int, frame: Any, before: Any = before) -> None:
            service.stopping = True
            if callable(before):
                before(signum, frame)

        signal.signal(number, stop)
