"""The routes that tell whether the server is well, and what it did."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from nestling.apps.server import shapes
from nestling.apps.server.access import Admin
from nestling.apps.server.failing import json_response
from nestling.apps.server.lanes import stopping
from nestling.apps.server.service import Service

router = APIRouter(tags=["server"])


@router.get("/healthz", responses={200: {"model": shapes.Health}})
async def healthz() -> Response:
    """Whether the process answers at all."""
    return json_response({"status": "ok"})


@router.get("/readyz", responses={200: {"model": shapes.Health}})
async def readyz(request: Request) -> Response:
    """Whether requests should be sent here: the nest can be read, and the server does not stop."""
    service: Service = request.app.state.service
    if service.stopping:
        raise stopping()
    await run_in_threadpool(lambda: service.nest.recipe)
    return json_response({"status": "ready"})


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(caller: Admin) -> Response:
    """Counts for Prometheus, over all workers."""
    text = await run_in_threadpool(caller.service.metrics.text)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
