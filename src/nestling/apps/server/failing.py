"""How errors are told: one status for each class, and one JSON shape."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Route

import nestling
from nestling.apps import wire

log = logging.getLogger("nestling.server")

# the first that fits an error counts
STATUSES: tuple[tuple[str, int], ...] = (
    ("InputError", HTTPStatus.BAD_REQUEST),
    ("NotFoundError", HTTPStatus.NOT_FOUND),
    ("LockedError", HTTPStatus.SERVICE_UNAVAILABLE),
    ("ReadOnlyError", HTTPStatus.CONFLICT),
    ("ScopeError", HTTPStatus.FORBIDDEN),
    ("FullError", HTTPStatus.INSUFFICIENT_STORAGE),
    ("StoreError", HTTPStatus.INTERNAL_SERVER_ERROR),
    ("MissingExtraError", HTTPStatus.NOT_IMPLEMENTED),
    ("ModelError", HTTPStatus.BAD_GATEWAY),
    ("EmbedderMismatchError", HTTPStatus.INTERNAL_SERVER_ERROR),
    ("AccessError", HTTPStatus.FORBIDDEN),
    ("BusyError", HTTPStatus.SERVICE_UNAVAILABLE),
    ("ServerError", HTTPStatus.INTERNAL_SERVER_ERROR),
)


class RefusedError(Exception):
    """A request that is refused for a reason of HTTP: a status of its own, told as an error of the tree."""

    def __init__(self, status: int, error: nestling.NestlingError, **headers: str) -> None:
        super().__init__(str(error))
        self.status = int(status)
        self.error = error
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON value in the shape of the command line, in one line."""
    # half a surrogate pair, which UTF-8 lacks, becomes the escape that JSON has for it
    body = wire.dumps(value, indent=None).encode("utf-8", "backslashreplace")
    return Response(body, status, headers, media_type="application/json")


def status_of(error: nestling.NestlingError) -> int:
    """The status of an error's class."""
    for name, status in STATUSES:
        if isinstance(error, getattr(nestling, name)):
            return int(status)
    return int(HTTPStatus.INTERNAL_SERVER_ERROR)


def told(error: Exception) -> Response:
    """An error as the answer to a request."""
    if isinstance(error, RefusedError):
        headers = {**retry_header(error.error), **error.headers}
        return json_response(error_json(error.error), error.status, headers)
    if isinstance(error, nestling.NestlingError):
        if (status := status_of(error)) == HTTPStatus.INTERNAL_SERVER_ERROR:
            log.error("the nest failed", exc_info=error)
        return json_response(error_json(error), status, retry_header(error))
    return json_response(unforeseen(error), HTTPStatus.INTERNAL_SERVER_ERROR)


def unforeseen(error: BaseException) -> wire.JSON:
    """An error of which only the log tells more."""
    log.error("a request failed", exc_info=error)
    return wire.error("ServerError", "the server failed, and wrote why to its log; ask who runs it")


def error_json(error: nestling.NestlingError) -> wire.JSON:
    """An error by name and message, with what had been done where adding was interrupted."""
    return wire.error(type(error).__name__, str(error), error.report)


def retry_header(error: nestling.NestlingError) -> dict[str, str]:
    """When to come again, in whole seconds, where that makes sense."""
    if isinstance(error, nestling.BusyError):
        return {"Retry-After": str(max(1, math.ceil(error.retry_after)))}
    return {"Retry-After": "1"} if isinstance(error, nestling.LockedError) else {}


def tell_errors(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Let an app of these routes tell all errors in the one shape."""

    async def known(request: Request, error: Exception) -> Response:
        return told(error)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        wrong = wrong_field({**first, "loc": first["loc"][1:]})
        return told(nestling.SettingError(f"{wrong}; see /openapi.json"))

    async def unrouted(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        headers = dict(error.headers or {})
        wrong: nestling.NestlingError = nestling.InputError(error.detail)
        if error.status_code == HTTPStatus.NOT_FOUND:
            wrong = nestling.NotFoundError("there is nothing at this address; /openapi.json names all routes")
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = known = ", ".join(sorted(_methods(request, routes)))
            wrong = nestling.InputError(
                f"this address takes {known}, not {request.method}; /openapi.json names all routes"
            )
        return json_response(error_json(wrong), error.status_code, headers)

    for kind in (RefusedError, nestling.NestlingError, Exception):
        app.add_exception_handler(kind, known)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, unrouted)


def wrong_field(error: Mapping[str, Any]) -> str:
    """What is wrong with which field, of what pydantic found."""
    place = ".".join(str(part) for part in error["loc"])
    match error["type"]:
        case "missing":
            return f"{place} is missing"
        case "extra_forbidden":
            return f"there is no {place!r} here"
        case "less_than_equal":
            return f"{place} is {error['input']:.80}; give {error['ctx']['le']:,} at most"
        case "greater_than_equal":
            return f"{place} is {error['input']:.80}; give {error['ctx']['ge']:,} or more"
    return f"{place}: {error['msg']}"


async def refuse_unknown(request: Request) -> None:
    """Refuse a parameter that a route does not have: a filter that is misspelt must not mean everything."""
    known = [each.alias for each in request.scope["route"].dependant.query_params]
    for name in request.query_params:
        if name not in known:
            takes = f"this address takes {', '.join(known)}" if known else "this address takes none"
            raise nestling.SettingError(f"there is no parameter {name[:100]!r} here; {takes}")


def _methods(request: Request, routes: Sequence[BaseRoute]) -> set[str]:
    """The methods of all routes of an address."""
    at_address = (route for route in routes if route.matches(request.scope)[0] is not Match.NONE)
    found = {method for route in at_address if isinstance(route, Route) for method in route.methods or ()}
    return found | {"HEAD"} if "GET" in found else found
