"""Sending a request until it is answered: waits that double, with jitter, or that the server asks for."""

from __future__ import annotations

import logging
import random
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from nestling.errors import ModelError
from nestling.observing import event

# Seconds before the first retry; doubled before each further one.
FIRST_WAIT = 0.5
# The longest wait in seconds, also where the server asks for more: a minute's quota has come back by then.
LONGEST_WAIT = 60.0
# The characters of an answer that a message quotes.
QUOTED = 200
# What is asked where the caller does not say.
EMBEDDINGS = "an OpenAI-compatible /embeddings"


def post(client: httpx.Client, url: str, body: dict[str, Any], retries: int, wanted: str = EMBEDDINGS) -> Any:
    """Post JSON and return the JSON of the answer.

    Args:
        client: With the headers and the time-out to use.
        url: Where to.
        body: What to send.
        retries: Further tries after a time-out, a lost connection, or an answer of 408, 429 or 5xx.
        wanted: What the address is to be, for the message.

    Raises:
        ModelError: No try succeeded, the server refused, or its answer is not JSON.
    """
    for tried in range(retries + 1):
        try:
            response = client.post(url, json=body)
        except (httpx.TransportError, httpx.DecodingError) as error:
            if tried == retries:
                raise ModelError(
                    f"{url} could not be reached in {tried + 1} tries ({type(error).__name__}: {error}); "
                    "check the address and that the server runs"
                ) from error
            wait(url, tried, None, type(error).__name__)
            continue
        if not transient(response.status_code):
            return read_answer(response, url, wanted)
        if tried < retries:
            wait(url, tried, response.headers.get("Retry-After"), str(response.status_code))
    raise ModelError(
        f"{url} answered {response.status_code} in {retries + 1} tries: {response.text[:QUOTED]}; "
        "try again later, or send less at a time"
    )


def wait(url: str, tried: int, asked: str | None, reason: str) -> None:
    """Sleep after try number ``tried`` (from 0) for as long as `wait_after` says, and log it with the reason."""
    seconds = wait_after(tried, asked)
    event(
        "retry",
        logging.WARNING,
        host=httpx.URL(url).host,
        tried=tried + 1,
        reason=reason,
        seconds=round(seconds, 3),
    )
    time.sleep(seconds)


def transient(status: int) -> bool:
    """Whether the same request may succeed later."""
    return status in (408, 429) or status >= 500


def read_answer(response: httpx.Response, url: str, wanted: str) -> Any:
    """The JSON of an answer; ``wanted`` is what the address is to be, for the message.

    Raises:
        ModelError: The server refused, or answered something else.
    """
    if not response.is_success:
        raise ModelError(
            f"{url} answered {response.status_code}: {response.text[:QUOTED]}; "
            "check the address, the model's name and the key"
        )
    try:
        return response.json()
    except ValueError as error:
        raise ModelError(
            f"{url} answered no JSON but {response.text[:QUOTED]!r}; give the address of {wanted}"
        ) from error


def wait_after(tried: int, asked: str | None) -> float:
    """Seconds to wait after try number ``tried`` (from 0), given the ``Retry-After`` of the answer, if any."""
    seconds = retry_after(asked)
    if seconds is None:
        seconds = FIRST_WAIT * 2**tried * random.uniform(0.5, 1.5)
    return min(max(seconds, 0.0), LONGEST_WAIT)


def retry_after(asked: str | None) -> float | None:
    """The seconds that a ``Retry-After`` asks for, in seconds or as a date; None if it is neither."""
    if asked is None:
        return None
    if asked.strip().isdecimal():
        return float(asked)
    try:
        date = parsedate_to_datetime(asked)
    except ValueError:
        return None
    return (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
