"""Who asks, and what they may: a key, or, while there are none, anyone on this machine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security.utils import get_authorization_scheme_param

import nestling
from nestling.apps.server.failing import RefusedError
from nestling.apps.server.keys import Key
from nestling.apps.server.service import Service

ANYONE = Key("", "anyone on this machine", "admin", None, None, "")


@dataclass(frozen=True)
class Caller:
    """Who asks.

    Attributes:
        key: What is known of the key.
        nest: The nest, as far as the key reaches.
        service: What all requests share.
    """

    key: Key
    nest: nestling.Nest
    service: Service


def allowed(right: str) -> Callable[[Request], Awaitable[Caller]]:
    """A dependency that gives the caller, where it has this right."""

    async def caller(request: Request) -> Caller:
        service: Service = request.app.state.service
        key = _key(request, service)
        request.scope["nestling.key"] = key.name
        if not key.may(right):
            raise nestling.AccessError(
                f"the key {key.name!r} has the rights of {key.rights!r}, and this needs {right!r};"
                " make another with `nestling keys add`"
            )
        _count(key, service)
        return Caller(key, service.nest_of(key), service)

    return caller


Reader = Annotated[Caller, Depends(allowed("read"))]
Writer = Annotated[Caller, Depends(allowed("write"))]
Admin = Annotated[Caller, Depends(allowed("admin"))]


def _key(request: Request, service: Service) -> Key:
    if not service.keys.wanted and service.serving.loopback:
        return ANYONE
    scheme, given = get_authorization_scheme_param(request.headers.get("authorization"))
    key = service.keys.find(given) if scheme.lower() == "bearer" else None
    if key is None:
        what = "the key is not known here" if given else "a key is needed"
        error = nestling.AccessError(
            f"{what}; send one that `nestling keys add` made, as `Authorization: Bearer KEY`"
        )
        raise RefusedError(HTTPStatus.UNAUTHORIZED, error, WWW_Authenticate="Bearer")
    return key


def _count(key: Key, service: Service) -> None:
    if key.rate is None:
        return
    wait = service.rates.take(key.number, key.rate)
    if wait:
        error = nestling.BusyError(
            f"the key {key.name!r} may ask {key.rate} times a minute; wait {wait:.1f} s", retry_after=wait
        )
        raise RefusedError(HTTPStatus.TOO_MANY_REQUESTS, error)
