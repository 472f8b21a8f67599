"""A connection to a Nestling server: requests, events, and its errors as ours."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, time
from typing import Any

import httpx
import numpy as np

import nestling
from nestling.errors import AccessError, BusyError, InputError, NestlingError, ServerError, SettingError
from nestling.from_json import value_of
from nestling.results import Report
from nestling.where import iso

KEY_VARIABLE = "NESTLING_KEY"
# Seconds of silence after which a server is given up: it answers, or says that it is still at it, well before.
SILENCE = 120.0

JSON_TYPE = "application/json"
LINES_TYPE = "application/x-ndjson"
EVENTS_TYPE = "text/event-stream"


class Connection:
    """A server, and the key to it. Threads may share it.

    Args:
        url: Its address.
        key: Sent with every request; without it, the environment variable ``NESTLING_KEY`` if set.
        timeout: Seconds to wait for a connection.

    Raises:
        SettingError: The address holds a user name or password, or is none.
    """

    def __init__(self, url: str, key: str | None, timeout: float) -> None:
        self.url = url.rstrip("/")
        try:
            address = httpx.URL(self.url)
        except httpx.InvalidURL as error:
            raise SettingError(f"{url!r:.200} is no address ({error}); give http://HOST:PORT") from error
        if address.userinfo or not address.host or address.query or address.fragment:
            raise SettingError("the address is to be http://HOST:PORT and no more; give the key as key=…")
        given = key or os.environ.get(KEY_VARIABLE)
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {given.strip()}"} if given else {},
            timeout=httpx.Timeout(SILENCE, connect=timeout, pool=None),
            transport=None,
        )

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> Any:
        """The JSON that a request is answered with.

        Raises:
            NestlingError: The error that it is answered with, or the server cannot be reached.
        """
        content = None if body is None else dumps(body).encode()
        headers = {} if body is None else {"Content-Type": JSON_TYPE}
        with self._reaching():
            response = self._http.request(
                method, self.url + path, content=content, params=params, headers=headers
            )
        return self._answer(response)

    def events(self, path: str, content: bytes, kind: str = JSON_TYPE) -> Iterator[tuple[str, Any]]:
        """The events that a POST is answered with, name and value, as they come.

        Raises:
            NestlingError: The error that it is answered with, or that comes as an event; or the server cannot be
                reached, or breaks off.
        """
        headers = {"Content-Type": kind, "Accept": EVENTS_TYPE}
        with (
            self._reaching(),
            self._http.stream("POST", self.url + path, content=content, headers=headers) as response,
        ):
            if response.status_code >= 400:
                response.read()
                self._answer(response)
            name, ended = "", False
            for line in response.iter_lines():
                if line.startswith("event: "):
                    name = line[7:]
                    ended = name not in ("progress", "text")
                elif line.startswith("data: "):
                    value = self._json(line[6:])
                    if name == "error":
                        raise _error(value, 0, None)
                    yield name, value
            if not ended:
                raise ServerError(f"{self.url} broke off its answer; try again")

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def _answer(self, response: httpx.Response) -> Any:
        if response.status_code < 400:
            return self._json(response.text)
        try:
            told = response.json()
            told["error"]["type"], told["error"]["message"]
        except (ValueError, LookupError, TypeError):
            # of something between us and the server
            raise ServerError(
                f"{self.url} answered {response.status_code} {response.reason_phrase}; is it a Nestling server?"
            ) from None
        raise _error(told, response.status_code, response.headers.get("retry-after"))

    def _json(self, text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError as error:
            raise ServerError(f"{self.url} did not answer in JSON; is it a Nestling server?") from error

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except httpx.TimeoutException as error:
            raise ServerError(f"{self.url} did not answer in time; try again") from error
        except httpx.HTTPError as error:
            raise ServerError(f"{self.url} cannot be reached ({error}); is the server running?") from error
        except RuntimeError as error:
            if not self._http.is_closed:
                raise
            raise ServerError(f"the connection to {self.url} is closed; open it again") from error


def dumps(value: Any) -> str:
    """JSON of what a caller gave, in one line, as a nest in a file would take it.

    Raises:
        SettingError: It has no place in JSON.
    """
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise SettingError(f"this cannot be sent to a server ({error}); give plain values") from error


def _plain(value: Any) -> Any:
    if isinstance(value, date | time):
        return iso(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, set | frozenset):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{value!r:.80} is no JSON value")


def _error(told: Mapping[str, Any], status: int, retry_after: str | None) -> NestlingError:
    """The error that a server tells, of its class here."""
    name, message = told["error"]["type"], told["error"]["message"]
    kind = getattr(nestling, name, None) if name in nestling.__all__ else None
    if not (isinstance(kind, type) and issubclass(kind, NestlingError)):
        kind = {400: InputError, 401: AccessError, 403: AccessError}.get(status, ServerError)
    error: NestlingError = kind(message)
    if isinstance(error, BusyError) and retry_after and retry_after.isdecimal():
        error.retry_after = float(retry_after)
    if told.get("report") is not None:
        error.report = value_of(Report, told["report"])
    return error
