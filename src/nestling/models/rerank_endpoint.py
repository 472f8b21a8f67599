"""A ``/rerank`` endpoint of the form that Jina, Cohere, vLLM, llama.cpp and Infinity have; answers are checked."""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import httpx

from nestling.errors import ModelError, SettingError
from nestling.models.address import endpoint_url, usable_key
from nestling.models.endpoint import KEY_VARIABLE, RETRIES, TIMEOUT
from nestling.models.patience import post
from nestling.models.spec_text import write_spec
from nestling.models.vectors import check_texts

# What an address has to be, as messages say it.
WANTED = "a /rerank that answers as Jina's or Cohere's does"


class RerankEndpoint:
    """A `Reranker` on a server. Making one sends nothing. Safe to use from several threads.

    Args:
        url: The address up to, or with, ``/rerank``: ``https://api.jina.ai/v1``.
        model: The model's name there.
        api_key: Sent as a bearer token; without it, the environment variable ``NESTLING_API_KEY`` if set. It is
            part of no spec, representation or message.
        timeout: Seconds to wait for an answer; more than 0.
        retries: Further tries after a time-out, a lost connection, or an answer of 408, 429 or 5xx; 0 or more.

    Raises:
        SettingError: An argument is out of its range, or the address holds a user name or password.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
    ) -> None:
        self._url = endpoint_url(url, "/rerank", KEY_VARIABLE)
        if retries < 0:
            raise SettingError(f"retries is {retries}; give at least 0")
        if not timeout > 0:
            raise SettingError(f"timeout is {timeout}; give more than 0 seconds")
        self.name: str = model
        self._key = usable_key(api_key or os.environ.get(KEY_VARIABLE, ""), KEY_VARIABLE)
        self._timeout, self._retries = timeout, retries
        self.spec: str = write_spec("jina", f"{model}@{url}", {})

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """The server's relevance score of each text, in order; all are sent in one request.

        Raises:
            InputError: ``texts`` is not a list of strings.
            ModelError: The server failed, refused, or answered with something else than one score per text.
        """
        check_texts(texts)
        if not texts:
            return []
        body: dict[str, Any] = {"model": self.name, "query": query, "documents": list(texts)}
        try:
            answer = post(self._client, self._url, body, self._retries, WANTED)
            return read_scores(answer, len(texts), self._url)
        except ModelError as error:
            text = str(error)
            raise ModelError(text.replace(self._key, "…") if self._key else text) from error.__cause__

    @cached_property
    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        client = httpx.Client(timeout=self._timeout, headers=headers)
        weakref.finalize(self, client.close)
        return client

    def __repr__(self) -> str:
        return f"RerankEndpoint({self._url!r}, {self.name!r})"


def read_scores(answer: Any, count: int, url: str) -> list[float]:
    """The scores of an answer, in the order of the texts.

    Raises:
        ModelError: The answer does not hold one finite score for each text.
    """
    try:
        found = [(int(each["index"]), float(each["relevance_score"])) for each in answer["results"]]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ModelError(
            f"{url} answered something else than scores ({type(error).__name__}: {error}); "
            f"give the address of {WANTED}"
        ) from error
    scores = dict(found)
    if len(found) != count or sorted(scores) != list(range(count)):
        raise ModelError(
            f"{url} gave {len(found)} scores for {count} texts, or numbered them otherwise than 0 to {count - 1};"
            " check the server, and that it gives all of them"
        )
    for place, score in found:
        if not math.isfinite(score):
            raise ModelError(f"{url} gave the score {score} for text {place} of {count}; check the server")
    return [scores[place] for place in range(count)]
