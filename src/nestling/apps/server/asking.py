"""The routes that ask: search, context, ask, verify."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from nestling.apps import wire
from nestling.apps.server import questions, shapes
from nestling.apps.server.access import Reader
from nestling.apps.server.body import JSON_TYPE, described, parsed, received
from nestling.apps.server.failing import json_response
from nestling.apps.server.streams import Tell, told

router = APIRouter(prefix="/v1", tags=["asking"])


@router.post(
    "/search",
    openapi_extra=described(JSON_TYPE, "Search"),
    responses={200: {"model": shapes.Found | shapes.Explained}},
)
async def search(request: Request, caller: Reader) -> Response:
    """The passages that answer a question, best first."""
    body = await received(request, JSON_TYPE, caller.service.serving.max_body)

    def work() -> Response:
        asked = parsed(questions.Search, body)
        found = caller.nest.search(
            asked.query,
            asked.k,
            where=asked.where,
            offset=asked.offset,
            min_similarity=asked.min_similarity,
            min_coverage=asked.min_coverage,
        )
        return json_response(wire.results(asked.query, found, asked.explain))

    return await caller.service.lanes.read.run(work, body)


@router.post(
    "/context", openapi_extra=described(JSON_TYPE, "Pack"), responses={200: {"model": shapes.Packed}}
)
async def context(request: Request, caller: Reader) -> Response:
    """The passages for a question, packed into a budget of tokens, with cite markers, ready for a prompt."""
    body = await received(request, JSON_TYPE, caller.service.serving.max_body)

    def work() -> Response:
        asked = parsed(questions.Pack, body)
        packed = caller.nest.context(
            asked.query,
            asked.budget,
            shape=asked.shape,
            window=asked.window,
            where=asked.where,
            min_similarity=asked.min_similarity,
            min_coverage=asked.min_coverage,
        )
        return json_response(wire.context(asked.query, packed))

    return await caller.service.lanes.read.run(work, body)


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

    return await told(request, service.lanes.slow, work, body)


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
