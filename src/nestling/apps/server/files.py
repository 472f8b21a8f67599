"""The route of files: stored as `nestling add FILE` stores them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

import nestling
from nestling.apps import wire
from nestling.apps.server import shapes
from nestling.apps.server.access import Writer
from nestling.apps.server.body import FILE_TYPE, received
from nestling.apps.server.documents import watched
from nestling.apps.server.streams import Tell, told

router = APIRouter(prefix="/v1/files", tags=["documents"])

Name = Annotated[
    str, Path(min_length=1, description="Of the file, or its path in a folder; its suffix says what it is.")
]
_FILE = {"required": True, "content": {FILE_TYPE: {"schema": {"type": "string", "format": "binary"}}}}


@router.put("/{name:path}", openapi_extra={"requestBody": _FILE}, responses={200: {"model": shapes.Stored}})
async def put_file(name: Name, request: Request, caller: Writer) -> Response:
    """Store what a file holds, read by its suffix: a document whose id is the name, or cards.

    With `Accept: text/event-stream`, events `progress` come on the way, and `report` at last.
    """
    body = await received(request, FILE_TYPE, caller.service.serving.max_body)

    def work(tell: Tell) -> tuple[str, wire.JSON]:
        found = nestling.read_file(name, body.read())
        wrong = [each for each in found if isinstance(each, nestling.Failure)]
        documents = [each for each in found if isinstance(each, nestling.Document)]
        report = caller.nest.add(documents, progress=watched(caller, tell, len(found), wrong))
        report.failed.extend(wrong)
        return "report", wire.report(caller.service.name, report)

    return await told(request, caller.service.lanes.upload, work, body)
