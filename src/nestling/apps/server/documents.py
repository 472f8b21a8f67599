"""The routes of documents: list, show, put, remove, and many at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

import nestling
from nestling.apps import wire
from nestling.apps.server import questions, shapes
from nestling.apps.server.access import Caller, Reader, Writer
from nestling.apps.server.body import JSON_TYPE, LINES_TYPE, Spooled, described, loads, parsed, received
from nestling.apps.server.failing import json_response
from nestling.apps.server.lanes import stopping
from nestling.apps.server.serving import MEGABYTE
from nestling.apps.server.streams import Tell, told

router = APIRouter(prefix="/v1", tags=["documents"])

Id = Annotated[str, Path(min_length=1, description="Of the document; percent-encoded, slashes too.")]

# Seconds between two events of progress.
OFTEN = 0.2
PAGE = 100


@router.get("/documents", responses={200: {"model": shapes.Listed}})
async def list_documents(
    caller: Reader,
    where: Annotated[str | None, Query(description="A filter, as JSON.")] = None,
    after: Annotated[str, Query(description="Only ids after this one: the `next` of the page before.")] = "",
    limit: Annotated[int, Query(ge=1, le=questions.MOST_LISTED)] = PAGE,
    named: Annotated[str, Query(description="Only those with all of these words in id or title.")] = "",
) -> Response:
    """Documents without their texts, by id, a page at a time."""

    def work() -> Response:
        words = named.casefold().split()
        fitting = [each for each in caller.nest.list(filter_of(where)) if _is_named(each, words)]
        found = [document for document in fitting if document.id > after]
        more = found[limit - 1].id if len(found) > limit else None
        return json_response({**wire.documents(found[:limit]), "next": more, "total": len(fitting)})

    return await caller.service.lanes.read.run(work)


@router.get("/documents/{id:path}", responses={200: {"model": shapes.Shown}})
async def show(id: Id, caller: Reader) -> Response:
    """A document with its parents and their children, by its id or a passage's."""

    def work() -> Response:
        found = caller.nest.show(id)
        if found is None:
            raise _missing(caller, id)
        return json_response(wire.tree(id, found))

    return await caller.service.lanes.read.run(work)


@router.put(
    "/documents/{id:path}",
    openapi_extra=described(JSON_TYPE, "Put"),
    responses={200: {"model": shapes.Stored}, 201: {"model": shapes.Stored, "description": "Added"}},
)
async def put(id: Id, request: Request, caller: Writer) -> Response:
    """Store a document, whole or not at all. What has not changed costs nothing."""
    body = await received(request, JSON_TYPE, caller.service.serving.max_body)

    def work() -> Response:
        given = parsed(questions.Put, body)
        report = caller.nest.add(nestling.Document(id, given.text, given.title, given.metadata, given.source))
        if report.failed:
            raise nestling.DocumentError(report.failed[0].reason)
        status = HTTPStatus.CREATED if report.added else HTTPStatus.OK
        return json_response(wire.report(caller.service.name, report), status)

    return await caller.service.lanes.write.run(work, body)


@router.delete("/documents/{id:path}", responses={200: {"model": shapes.Removed}})
async def delete(id: Id, caller: Writer) -> Response:
    """Remove a document."""

    def work() -> Response:
        removed = caller.nest.remove(id)
        if not removed:
            raise _missing(caller, id)
        return json_response(wire.removal(caller.service.name, removed, []))

    return await caller.service.lanes.write.run(work)


@router.post(
    "/remove", openapi_extra=described(JSON_TYPE, "Remove"), responses={200: {"model": shapes.Removed}}
)
async def remove(request: Request, caller: Writer) -> Response:
    """Remove documents in one transaction; ids that do not exist are named, the others are removed."""
    body = await received(request, JSON_TYPE, caller.service.serving.max_body)

    def work() -> Response:
        ids = parsed(questions.Remove, body).ids
        removed = caller.nest.remove(ids)
        missing = [id for id in dict.fromkeys(ids) if id not in set(removed)]
        return json_response(wire.removal(caller.service.name, removed, missing))

    return await caller.service.lanes.write.run(work, body)


@router.post(
    "/documents", openapi_extra=described(LINES_TYPE, "Lines"), responses={200: {"model": shapes.Stored}}
)
async def upload(request: Request, caller: Writer) -> Response:
    """Store many documents, each whole or not at all: one JSON object a line, with `id`, `text` and the rest.

    With `Accept: text/event-stream`, events `progress` come on the way, and `report` at last. Lines that hold no
    document are in `failed`; the others are stored.
    """
    serving = caller.service.serving
    body = await received(request, LINES_TYPE, serving.max_upload)

    def work(tell: Tell) -> tuple[str, wire.JSON]:
        report = _store(caller, body, int(serving.max_body * MEGABYTE), tell)
        return "report", wire.report(caller.service.name, report)

    return await told(request, caller.service.lanes.upload, work, body)


def _store(caller: Caller, body: Spooled, longest: int, tell: Tell) -> nestling.Report:
    total = sum(1 for line in body if line.strip())
    body.seek(0)
    wrong: list[nestling.Failure] = []
    report = caller.nest.add(_cards(body, longest, wrong), progress=watched(caller, tell, total, wrong))
    report.failed.extend(wrong)
    return report


def watched(
    caller: Caller, tell: Tell, total: int, wrong: Sequence[nestling.Failure]
) -> Callable[[nestling.Progress], None]:
    """What tells how far adding is, from time to time, and ends it where the server is stopped."""
    last = 0.0

    def progress(now: nestling.Progress) -> None:
        nonlocal last
        if caller.service.stopping:
            raise stopping()
        if time.monotonic() - last > OFTEN:
            last = time.monotonic()
            done = replace(now, documents=now.documents + len(wrong), total=total)
            tell("progress", wire.plain(done))

    return progress


def _cards(body: Spooled, longest: int, wrong: list[nestling.Failure]) -> Iterator[dict[str, Any]]:
    """The lines of an upload; those that hold no object join the wrong ones."""
    for number, line in enumerate(body, 1):
        if not line.strip():
            continue
        try:
            if len(line) > longest:
                raise nestling.InputError(f"it is larger than {longest:,} bytes; leave it out, or split it")
            card = loads(line, "it")
            if not isinstance(card, dict):
                raise nestling.InputError('it is no JSON object; write {"id": …, "text": …}')
        except nestling.InputError as error:
            wrong.append(nestling.Failure(f"line {number}", str(error)))
        else:
            yield card


def _is_named(document: nestling.DocumentInfo, words: Sequence[str]) -> bool:
    name = f"{document.id}\n{document.title}".casefold()
    return all(word in name for word in words)


def filter_of(text: str | None) -> Any:
    """The filter in an address, or None where there is none.

    Raises:
        FilterError: It is not JSON.
    """
    if text is None:
        return None
    try:
        return loads(text.encode(), "where")
    except nestling.InputError as error:
        raise nestling.FilterError(str(error)) from error


def _missing(caller: Caller, id: str) -> nestling.NotFoundError:
    return nestling.NotFoundError(
        f"{caller.service.name} holds no document or passage {id!r:.200}; GET /v1/documents lists them"
    )
