"""What is counted of requests, for Prometheus."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Where several workers keep their counts, so that any of them can tell the sum.
SHARED = "PROMETHEUS_MULTIPROC_DIR"
# Searches take milliseconds, uploads minutes.
BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)

access = logging.getLogger("nestling.access")


class Metrics:
    """Counts of one worker, told together with those of the others."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self.requests = Counter(
            "nestling_requests", "Requests answered.", ("method", "route", "status"), registry=registry
        )
        self.seconds = Histogram(
            "nestling_request_seconds",
            "From a request's first byte to its answer's last.",
            ("method", "route"),
            buckets=BUCKETS,
            registry=registry,
        )
        self.now = Gauge(
            "nestling_requests_now",
            "Requests being answered.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        _forget_the_dead()

    def text(self) -> bytes:
        """All counts in Prometheus' text format."""
        if SHARED not in os.environ:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)


class Counted:
    """Wraps an app: counts its requests, and logs them where that is wanted, without what was asked."""

    def __init__(self, app: ASGIApp, metrics: Metrics, log: bool) -> None:
        self._app = app
        self._metrics = metrics
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = "gone"

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        started = time.perf_counter()
        self._metrics.now.inc()
        try:
            await self._app(scope, receive, noted)
        finally:
            seconds = time.perf_counter() - started
            self._metrics.now.dec()
            # of the route and not of the address, which holds ids and has no end of values
            route = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if route != "other" else "other"
            self._metrics.requests.labels(method, route, status).inc()
            self._metrics.seconds.labels(method, route).observe(seconds)
            if self._log:
                key = scope.get("nestling.key", "-")
                access.info("%s %s %s %.1f ms key=%s", method, route, status, 1000 * seconds, key)


def _forget_the_dead() -> None:
    """Leave out what workers that were killed were doing."""
    folder = os.environ.get(SHARED)
    for file in Path(folder).glob("gauge_live*_*.db") if folder else ():
        process = int(file.stem.rpartition("_")[2])
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            mark_process_dead(process)  # type: ignore[no-untyped-call]
