"""The routes of answers: ask, and verify."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from nestling.apps import wire
from nestling.apps.server import questions, shapes
from nestling.apps.server.access import Caller, allowed
from nestling.apps.server.body import JSON_TYPE, described, parsed, received
from nestling.apps.server.failing import json_response
from nestling.apps.server.streams import Tell, streamed, wants_events

router = APIRouter(prefix="/v1", tags=["asking"])

Reader = Annotated[Caller, Depends(allowed("read"))]


@router.post("/ask", openapi_extra=described(JSON_TYPE, "Ask"), responses={200: {"model": shapes.Answered}})
async def ask(request: Request, caller: Reader) -> Response:
    """An answer with citations, each resolved, and each of its sentences held to the passages.

    With `Accept: text/event-stream`, the answer comes as it is written, in events `text`, and whole in the last
    event, `answer`. The server's language model writes it; where it has none, it is sentences of the passages.
    """
    service = caller.service
    body = await received(request, JSON_TYPE, service.serving.max_body)

    def work(tell: Tell) -> tuple[str, wire.JSON]:
        asked = parsed(questions.Ask, body)
        answer = caller.nest.ask(
            asked.question,
            asked.budget,
            model=service.serving.model,
            stream=lambda text: tell("text", {"text": text}),
            where=asked.where,
            min_similarity=asked.min_similarity,
            min_coverage=asked.min_coverage,
        )
        return "answer", wire.answer(answer, asked.context)

    if wants_events(request):
        return await streamed(service.lanes.slow, work, body)
    _, answer = await service.lanes.slow.run(lambda: work(lambda name, value: None), body)
    return json_response(answer)


@router.post(
    "/verify", openapi_extra=described(JSON_TYPE, "Verify"), responses={200: {"model": shapes.Verified}}
)
async def verify(request: Request, caller: Reader) -> Response:
    """What a text cites and claims, held to the nest."""
    body = await received(request, JSON_TYPE, caller.service.serving.max_body)

    def work() -> Response:
        given = parsed(questions.Verify, body)
        return json_response(wire.verification(caller.nest.verify(given.text)))

    return await caller.service.lanes.slow.run(work, body)
