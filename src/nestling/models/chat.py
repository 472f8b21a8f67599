"""Any OpenAI-compatible ``/chat/completions`` endpoint as a language model, streamed, with its answers checked."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any

import httpx

from nestling.errors import ModelError, SettingError
from nestling.models.address import endpoint_url, usable_key
from nestling.models.completion import BrokenOffError, Completion, NoCompletionError
from nestling.models.language_model import Generated
from nestling.models.patience import QUOTED, transient, wait
from nestling.models.spec_text import write_spec

KEY_VARIABLE = "NESTLING_LLM_API_KEY"
# Seconds of silence until a server counts as failed: a long prompt on a processor is read for a minute or more.
TIMEOUT = 120.0
# Further tries after the first: with doubling waits about 4 s of patience, more where the server asks for it.
RETRIES = 3


class ChatEndpoint:
    """A `LanguageModel` on a server. Making one sends nothing. Safe to use from several threads.

    Args:
        url: The address up to, or with, ``/chat/completions``: ``https://api.openai.com/v1``.
        model: The model's name there.
        api_key: Sent as a bearer token; without it, the environment variable ``NESTLING_LLM_API_KEY`` if set. It
            is part of no spec, representation or message.
        temperature: 0 to 2; None leaves it to the server, as some models demand.
        max_tokens: The most that the model may write; None leaves it to the server.
        timeout: Seconds to wait for an answer to begin, and then for each further piece; more than 0.
        retries: Further tries, as long as nothing of an answer has been passed on, after a time-out, a lost
            connection, or an answer of 408, 429 or 5xx; 0 or more.

    Raises:
        SettingError: An argument is out of its range, or the address holds a user name or password.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        temperature: float | None = 0.0,
        max_tokens: int | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
    ) -> None:
        self._url = endpoint_url(url, "/chat/completions", KEY_VARIABLE)
        if temperature is not None and not 0 <= temperature <= 2:
            raise SettingError(f"temperature is {temperature}; give a number from 0 to 2, or None")
        for name, value, least in (("max_tokens", max_tokens, 1), ("retries", retries, 0)):
            if value is not None and value < least:
                raise SettingError(f"{name} is {value}; give at least {least}")
        if not timeout > 0:
            raise SettingError(f"timeout is {timeout}; give more than 0 seconds")
        self.name: str = model
        self._key = usable_key(api_key or os.environ.get(KEY_VARIABLE, ""), KEY_VARIABLE)
        self._temperature, self._max_tokens = temperature, max_tokens
        self._timeout, self._retries = timeout, retries
        told = "default" if temperature is None else (temperature or None)
        self.spec: str = write_spec(
            "openai", f"{model}@{url}", {"temperature": told, "max_tokens": max_tokens}
        )

    def generate(self, system: str, prompt: str, on_text: Callable[[str], None]) -> Generated:
        """Ask, and pass the answer on as it comes.

        Raises:
            ModelError: The server failed, refused, broke off in the middle, or answered with something else.
        """
        messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        body: dict[str, Any] = {"model": self.name, "messages": messages, "stream": True}
        body["stream_options"] = {"include_usage": True}
        if self._temperature is not None:
            body["temperature"] = self._temperature
        if self._max_tokens is not None:
            body["max_tokens"] = self._max_tokens
        try:
            return self._patiently(body, on_text)
        except ModelError as error:
            text = str(error)
            raise ModelError(text.replace(self._key, "…") if self._key else text) from error.__cause__

    def _patiently(self, body: dict[str, Any], on_text: Callable[[str], None]) -> Generated:
        said, reason, cause = "", "", None
        for tried in range(self._retries + 1):
            completion, asked = Completion(on_text), None
            try:
                with self._client.stream("POST", self._url, json=body) as response:
                    if not transient(response.status_code):
                        return completion.read(response)
                    response.read()
                    asked = response.headers.get("Retry-After")
                    reason = str(response.status_code)
                    said, cause = f"answered {response.status_code}: {response.text[:QUOTED]}", None
            except (httpx.TransportError, httpx.DecodingError, BrokenOffError) as error:
                reason = type(error).__name__
                cause, said = error, f"failed ({reason}: {error})"
                if completion.length:
                    raise ModelError(
                        f"{self._url} broke off after {completion.length} characters of its answer"
                        f" ({type(error).__name__}: {error}); ask again"
                    ) from error
            except NoCompletionError as error:
                raise ModelError(f"{self._url} {error}") from error
            if tried < self._retries:
                wait(self._url, tried, asked, reason)
        raise ModelError(
            f"{self._url} {said}, in {self._retries + 1} tries; "
            "check the address and that the server runs, or try again later"
        ) from cause

    @cached_property
    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        client = httpx.Client(timeout=self._timeout, headers=headers)
        weakref.finalize(self, client.close)
        return client

    def __repr__(self) -> str:
        return f"ChatEndpoint({self._url!r}, {self.name!r})"
