"""Any OpenAI-compatible ``/embeddings`` endpoint as an embedder, with its answers checked."""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import httpx
import numpy as np

from nestling.errors import ModelError, SettingError
from nestling.models.address import endpoint_url, usable_key
from nestling.models.embedder import Vectors
from nestling.models.patience import post
from nestling.models.spec_text import write_languages, write_spec
from nestling.models.vectors import check_texts, unit_rows

KEY_VARIABLE = "NESTLING_API_KEY"
# Texts per request: well inside what the common servers accept, and a retry repeats little.
BATCH = 64
# Seconds until a silent server counts as failed: a large batch on a processor takes tens of seconds.
TIMEOUT = 60.0
# Further tries after the first: with doubling waits about 8 s of patience, more where the server asks for it.
RETRIES = 4
# What today's hosted models read; it only tells the splitter how long a child may be.
MAX_TOKENS = 8192
CHARACTERS_PER_TOKEN = 4


class Endpoint:
    """An `Embedder` on a server. Making one sends nothing. Safe to use from several threads.

    Args:
        url: The address up to, or with, ``/embeddings``: ``https://api.openai.com/v1``.
        model: The model's name there.
        dimension: Ask for vectors shortened to this length (sent as ``dimensions``, which only some models can
            do). Without it nothing is asked, and the length is learnt from the first answer.
        api_key: Sent as a bearer token; without it, the environment variable ``NESTLING_API_KEY`` if set. It is
            part of no fingerprint, spec, representation or message.
        batch: Texts per request; at least 1.
        timeout: Seconds to wait for an answer; more than 0.
        retries: Further tries after a time-out, a lost connection, or an answer of 408, 429 or 5xx; 0 or more.
        max_tokens: The tokens of a text that the model reads; 8192 where not given.
        query_prefix: Put before every question.
        document_prefix: Put before every text to be found.
        languages: ISO 639-1 codes the model can represent, or None for any.

    Raises:
        SettingError: An argument is out of its range, or the address holds a user name or password.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        dimension: int | None = None,
        api_key: str | None = None,
        batch: int = BATCH,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        max_tokens: int | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
        languages: Iterable[str] | None = None,
    ) -> None:
        self._url = embeddings_url(url)
        limits = (("dimension", dimension, 1), ("batch", batch, 1), ("retries", retries, 0))
        for name, value, least in (*limits, ("max_tokens", max_tokens, 1)):
            if value is not None and value < least:
                raise SettingError(f"{name} is {value}; give at least {least}")
        if not timeout > 0:
            raise SettingError(f"timeout is {timeout}; give more than 0 seconds")
        self._model, self._batch, self._timeout, self._retries = model, batch, timeout, retries
        self._key = usable_key(api_key or os.environ.get(KEY_VARIABLE, ""), KEY_VARIABLE)
        self._asked, self._found = dimension, dimension
        self._query_prefix, self._document_prefix = query_prefix, document_prefix
        self.max_tokens: int = max_tokens or MAX_TOKENS
        self.languages: frozenset[str] | None = None if languages is None else frozenset(languages)
        decisive = {
            "dimension": dimension,
            "query_prefix": query_prefix or None,
            "document_prefix": document_prefix or None,
        }
        others = {"max_tokens": max_tokens, "languages": write_languages(self.languages)}
        self.fingerprint: str = write_spec("openai", f"{model}@{url}", decisive)
        self.spec: str | None = write_spec("openai", f"{model}@{url}", decisive | others)

    @cached_property
    def dimension(self) -> int:
        """Length of a vector; asks the server if no answer has come yet.

        Raises:
            ModelError: The server failed.
        """
        return self._found or self._ask(["dimension"]).shape[1]

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found: shape ``(len(texts), dimension)``, float32, rows of length 1, in order.

        Raises:
            InputError: ``texts`` is not a list of strings.
            ModelError: The server failed, refused, or answered with something else than one vector per text.
        """
        return self._embed(texts, self._document_prefix)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions: same shape and promises as `embed_documents`."""
        return self._embed(texts, self._query_prefix)

    def count_tokens(self, text: str) -> int:
        """An estimate, since the server's tokenizer is not known: a token for every 4 characters begun."""
        return math.ceil(len(text) / CHARACTERS_PER_TOKEN)

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        check_texts(texts)
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        starts = range(0, len(texts), self._batch)
        parts = [
            self._ask([prefix + text for text in texts[start : start + self._batch]]) for start in starts
        ]
        return np.concatenate(parts)

    def _ask(self, texts: list[str]) -> Vectors:
        body: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        if self._asked is not None:
            body["dimensions"] = self._asked
        try:
            answer = post(self._client, self._url, body, self._retries)
        except ModelError as error:
            raise ModelError(self._without_key(str(error))) from error.__cause__
        rows = unit_rows(read_vectors(answer, len(texts), self._url), self._url)
        self._found = self._found or rows.shape[1]
        if rows.shape[1] != self._found:
            raise ModelError(
                f"{self._url} gave vectors of length {rows.shape[1]}, not {self._found}; "
                f"check that the server still runs the model {self._model!r}"
            )
        return rows

    @cached_property
    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        client = httpx.Client(timeout=self._timeout, headers=headers)
        weakref.finalize(self, client.close)
        return client

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "…") if self._key else text

    def __repr__(self) -> str:
        return f"Endpoint({self._url!r}, {self._model!r})"


def embeddings_url(url: str) -> str:
    """The address of the endpoint itself, ``/embeddings`` put to the path where it is missing.

    Raises:
        SettingError: It is no http address, or holds a user name or password.
    """
    return endpoint_url(url, "/embeddings", KEY_VARIABLE)


def read_vectors(answer: Any, count: int, url: str) -> Vectors:
    """The vectors of an answer, in the order of the texts: shape ``(count, dimension)``, not normalised.

    Raises:
        ModelError: The answer does not hold one vector of one length for each text.
    """
    try:
        with np.errstate(over="ignore"):  # a number too large for float32 is found out later, as infinite
            places = {
                int(each["index"]): np.asarray(each["embedding"], np.float32) for each in answer["data"]
            }
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(
            f"{url} answered something else than embeddings ({type(error).__name__}: {error}); "
            "give the address of an OpenAI-compatible /embeddings"
        ) from error
    if sorted(places) != list(range(count)):
        raise ModelError(
            f"{url} gave {len(places)} vectors for {count} texts, numbered otherwise than 0 to {count - 1}; "
            "check the server, or lower batch"
        )
    shapes = {vector.shape for vector in places.values()}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1:
        raise ModelError(f"{url} gave vectors of shapes {sorted(shapes)} in one answer; check the server")
    return np.stack([places[place] for place in range(count)])
