"""The routes of what there is: counts, damage, editions, and the metadata to choose from."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from nestling.apps import wire
from nestling.apps.server import shapes
from nestling.apps.server.access import Admin, Reader
from nestling.apps.server.documents import filter_of
from nestling.apps.server.failing import json_response
from nestling.apps.server.fields import fields

router = APIRouter(prefix="/v1", tags=["asking"])


@router.get("/stats", responses={200: {"model": shapes.Counts}})
async def stats(caller: Reader) -> Response:
    """Counts of documents, parents and children, languages, sizes, the embedder."""

    def work() -> Response:
        return json_response(wire.stats(caller.service.name, caller.nest.stats()))

    return await caller.service.lanes.read.run(work)


@router.get("/check", responses={200: {"model": shapes.Checked}})
async def check(caller: Admin) -> Response:
    """What is damaged. Reads the whole nest."""

    def work() -> Response:
        return json_response(wire.check(caller.service.name, caller.nest.check()))

    return await caller.service.lanes.slow.run(work)


@router.get("/metadata", responses={200: {"model": shapes.Fields}})
async def metadata(
    caller: Reader, where: Annotated[str | None, Query(description="A filter, as JSON.")] = None
) -> Response:
    """The names in the documents' metadata, each with its values and how many documents have them."""

    def work() -> Response:
        found = caller.nest.list(filter_of(where))
        return json_response({"documents": len(found), "fields": fields(each.metadata for each in found)})

    return await caller.service.lanes.read.run(work)


@router.get("/editions", responses={200: {"model": shapes.Editions}})
async def editions(caller: Reader) -> Response:
    """Every edition of the nest, by number."""

    def work() -> Response:
        return json_response(
            {"nest": caller.service.name, "editions": wire.plain(list(caller.nest.editions()))}
        )

    return await caller.service.lanes.read.run(work)
