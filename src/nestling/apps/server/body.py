"""The bodies of requests: kept on disk until a thread reads them, never larger than is allowed."""

from __future__ import annotations

import json
from http import HTTPStatus
from tempfile import SpooledTemporaryFile
from typing import Any, TypeVar

from fastapi import Request
from pydantic import ValidationError

import nestling
from nestling.apps.server import questions
from nestling.apps.server.failing import RefusedError, wrong_field
from nestling.apps.server.serving import MEGABYTE

JSON_TYPE = "application/json"
LINES_TYPE = "application/x-ndjson"
FILE_TYPE = "application/octet-stream"
# Bodies up to this many bytes stay in memory.
IN_MEMORY = 100_000

Spooled = SpooledTemporaryFile[bytes]
Body = TypeVar("Body", bound=questions.Body)


async def received(request: Request, kind: str, megabytes: float) -> Spooled:
    """The body of a request, at its start, to be given to `Lane.run`, which closes it.

    Raises:
        RefusedError: It is of another kind, or too large.
    """
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != kind:
        what = f"the body is of type {given[:80]!r}" if given else "the body has no type"
        error = nestling.InputError(f"{what}; send {kind}, and name it in Content-Type")
        raise RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, error)
    most = int(megabytes * MEGABYTE)
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > most:
        raise _too_large(megabytes)
    body, size = SpooledTemporaryFile(IN_MEMORY), 0  # noqa: SIM115 - it outlives this function
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > most:
                raise _too_large(megabytes)
            body.write(chunk)
    except BaseException:
        body.close()
        raise
    body.seek(0)
    return body


def parsed(model: type[Body], body: Spooled) -> Body:
    """The JSON object in a body, checked.

    Raises:
        InputError: It is no JSON object, or has names that are not known.
    """
    value = loads(body.read(), whole=model.whole)
    if not isinstance(value, dict):
        raise nestling.InputError(f"the body is {value!r:.80}; send a JSON object")
    try:
        return model.model_validate(value).checked()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        known = ", ".join(model.model_fields)
        raise nestling.SettingError(f"{wrong_field(first)}; the body may hold {known}") from error


def loads(raw: bytes, what: str = "the body", whole: bool = False) -> Any:
    """A JSON value.

    Args:
        raw: Its text.
        what: What it is called in messages.
        whole: Whether 5.0 in it is taken for 5.

    Raises:
        InputError: It is none, or not in UTF-8.
    """
    try:
        text = raw.decode("utf-8")
        return json.loads(text, parse_constant=_no_constant, parse_float=_number if whole else None)
    except UnicodeDecodeError as error:
        raise nestling.InputError(f"{what} is not UTF-8 (byte {error.start}); send it in UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise nestling.InputError(f"{what} is not JSON ({error}); send JSON") from error


def described(kind: str, schema: str) -> dict[str, Any]:
    """What OpenAPI says of a route that reads its body itself; ``schema`` is the name of one."""
    content = {kind: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return {"requestBody": {"required": True, "content": content}}


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() else value


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON value")


def _too_large(megabytes: float) -> RefusedError:
    error = nestling.InputError(f"the body is larger than {megabytes:g} MB; send less at once")
    return RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, error)
