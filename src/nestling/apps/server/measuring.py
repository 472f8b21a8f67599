"""The routes that measure: evaluate, compare."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, Request, Response

import nestling
from nestling.apps import wire
from nestling.apps.server import questions, shapes
from nestling.apps.server.access import Reader
from nestling.apps.server.body import JSON_TYPE, described, parsed, received
from nestling.apps.server.failing import RefusedError, json_response
from nestling.apps.server.streams import Tell, told

router = APIRouter(prefix="/v1", tags=["asking"])


@router.post(
    "/evaluate",
    openapi_extra=described(JSON_TYPE, "Evaluate"),
    responses={200: {"model": shapes.Evaluated | shapes.Charted}},
)
async def evaluate(request: Request, caller: Reader) -> Response:
    """Ask golden questions, and hold what is found to their gold.

    With `Accept: text/event-stream`, events `progress` come on the way, and `evaluation` at last.
    """
    body = await received(request, JSON_TYPE, caller.service.serving.max_body)

    def work(tell: Tell) -> tuple[str, wire.JSON]:
        asked = parsed(questions.Evaluate, body)
        golden = nestling.read_golden(asked.questions, name=str(asked.name))
        try:
            nest = caller.nest if asked.edition is None else caller.nest.at(asked.edition)
            found = nest.evaluate(
                golden,
                k=asked.k,
                budgets=asked.budgets,
                where=asked.where,
                min_similarity=asked.min_similarity,
                min_coverage=asked.min_coverage,
                progress=lambda done, total: tell("progress", {"done": done, "total": total}),
            )
        except nestling.DocumentError as error:
            # they can be used, but not on what is stored
            raise RefusedError(HTTPStatus.CONFLICT, error) from error
        charts = {"charts": wire.plain(nestling.charts(found))} if asked.charts else {}
        return "evaluation", {**found.to_json(), "nest": caller.service.name, **charts}

    return await told(request, caller.service.lanes.slow, work, body)


@router.post(
    "/compare", openapi_extra=described(JSON_TYPE, "Compare"), responses={200: {"model": shapes.Compared}}
)
async def compare(request: Request, caller: Reader) -> Response:
    """Two evaluations of the same questions: which is better, by how much, and whether that is known."""
    body = await received(request, JSON_TYPE, caller.service.serving.max_body)

    def work() -> Response:
        given = parsed(questions.Compare, body)
        try:
            found = nestling.compare(given.a, given.b, (given.names[0], given.names[1]))
        except nestling.InputError as error:
            # each is an evaluation, but they are not of the same questions
            raise RefusedError(HTTPStatus.CONFLICT, error) from error
        return json_response(wire.plain(found))

    return await caller.service.lanes.slow.run(work, body)
