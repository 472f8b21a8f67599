"""One answer of a ``/chat/completions`` endpoint, read as it comes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import httpx

from nestling.models.language_model import Generated
from nestling.models.patience import QUOTED

# Characters after which a model is taken to be running in circles.
LONGEST_ANSWER = 100_000
# Bytes of one line of a stream: far more than a piece of text takes.
LONGEST_LINE = 1_000_000


class NoCompletionError(Exception):
    """What a server answered cannot be used, and asking again will not help."""


class BrokenOffError(Exception):
    """An answer ended before its end."""


class Completion:
    """An answer while it is read.

    Args:
        on_text: Called with each piece of it.
    """

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._parts: list[str] = []
        self._finish: str | None = None
        self._usage: Any = None
        self.length = 0
        """Characters that were passed on."""

    def read(self, response: httpx.Response) -> Generated:
        """Read a response to its end.

        Raises:
            NoCompletionError: The server refused, or answered something else; the message goes on from its name.
            BrokenOffError: The answer ended before its end.
            httpx.TransportError: The connection was lost.
        """
        if not response.is_success:
            response.read()
            raise NoCompletionError(
                f"answered {response.status_code}: {response.text[:QUOTED]}; "
                "check the address, the model's name and the key"
            )
        if "text/event-stream" in response.headers.get("Content-Type", ""):
            ended = self._read_events(response.iter_bytes())
        else:  # from a server that does not stream
            response.read()
            self._take(_json(response.text), "message")
            ended = True
        text = "".join(self._parts)
        if not ended and self._finish is None:
            raise BrokenOffError("the stream ended without saying so")
        if not text.strip():
            raise NoCompletionError("answered nothing; check the model, or let it write more tokens")
        stopped = None if self._finish in (None, "stop") else self._finish
        return Generated(text, self._count("prompt_tokens"), self._count("completion_tokens"), stopped)

    def _read_events(self, chunks: Iterable[bytes]) -> bool:
        for data in events(chunks):
            if data.strip() == "[DONE]":
                return True
            self._take(_json(data), "delta")
        return False

    def _take(self, value: Any, key: str) -> None:
        if isinstance(value, dict) and value.get("error"):
            error = value["error"]
            said = error.get("message") if isinstance(error, dict) else error
            raise BrokenOffError(str(said)[:QUOTED])
        try:
            self._usage = value.get("usage") or self._usage
            choice = value["choices"][0] if value["choices"] else {}
            text = (choice.get(key) or {}).get("content") or ""
            self._finish = choice.get("finish_reason") or self._finish
            if not isinstance(text, str):
                raise TypeError(f"its content is {type(text).__name__}")
        except (LookupError, TypeError, AttributeError) as error:
            raise NoCompletionError(
                f"answered something else than a completion ({type(error).__name__}: {error}); "
                "give the address of an OpenAI-compatible /chat/completions"
            ) from error
        if text:
            self._parts.append(text)
            self.length += len(text)
            if self.length > LONGEST_ANSWER:
                raise NoCompletionError(
                    f"wrote more than {LONGEST_ANSWER:,} characters and does not end; set max_tokens"
                )
            self._on_text(text)

    def _count(self, name: str) -> int | None:
        value = self._usage.get(name) if isinstance(self._usage, dict) else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def _json(data: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NoCompletionError(
            f"answered no JSON but {data[:QUOTED]!r}; "
            "give the address of an OpenAI-compatible /chat/completions"
        ) from error


def events(chunks: Iterable[bytes]) -> Iterator[str]:
    """The data of each server-sent event; one that the stream breaks off in is none."""
    data: list[str] = []
    for line in _lines(chunks):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    # only line feeds end a line here: U+2028 and its like may stand inside JSON
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.removesuffix(b"\r").decode("utf-8", "replace")
        if len(rest) > LONGEST_LINE:
            raise NoCompletionError(f"sent a line of more than {LONGEST_LINE:,} bytes; check the server")
