"""The routes that ask: search, context, evaluate, compare, stats, check."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import PurePath
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

import nestling
from nestling.apps import wire
from nestling.apps.server import questions, shapes
from nestling.apps.server.access import Caller, allowed
from nestling.apps.server.body import JSON_TYPE, described, parsed, received
from nestling.apps.server.failing import RefusedError, json_response
from nestling.apps.server.streams import Tell, streamed, wants_events

router = APIRouter(prefix="/v1", tags=["asking"])

Reader = Annotated[Caller, Depends(allowed("read"))]


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

    lane = caller.service.lanes.slow
    if wants_events(request):
        return await streamed(lane, work, body)
    _, found = await lane.run(lambda: work(lambda name, value: None), body)
    return json_response(found)


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


@router.get("/stats", responses={200: {"model": shapes.Counts}})
async def stats(caller: Reader) -> Response:
    """Counts of documents, parents and children, languages, sizes, the embedder."""

    def work() -> Response:
        counts = caller.nest.stats()
        if (search := counts["search"]) and search["folder"]:
            # whoever asks need not know where on the machine the nest is
            counts["search"] = {**search, "folder": PurePath(search["folder"]).name}
        return json_response(wire.stats(caller.service.name, counts))

    return await caller.service.lanes.read.run(work)


@router.get("/check", responses={200: {"model": shapes.Checked}})
async def check(caller: Annotated[Caller, Depends(allowed("admin"))]) -> Response:
    """What is damaged. Reads the whole nest."""

    def work() -> Response:
        return json_response(wire.check(caller.service.name, caller.nest.check()))

    return await caller.service.lanes.slow.run(work)
