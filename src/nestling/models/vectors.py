"""What every embedder checks: that it was given texts, and that it gives unit vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import numpy as np

from nestling.errors import InputError, ModelError, NestlingError
from nestling.models.embedder import Embedder, Vectors
from nestling.tracing import Span, span


def check_texts(texts: Sequence[str]) -> None:
    """Refuse one string in place of a list of strings, and members that are no text.

    Raises:
        InputError: ``texts`` is not a list of strings.
    """
    if isinstance(texts, str):
        raise InputError(f"texts is the string {texts[:40]!r}; give a list of strings")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"text {place} is of type {type(text).__name__}; give a list of strings")


def unit_rows(rows: Vectors, model: str) -> Vectors:
    """Scale each row of a matrix to length 1; ``model`` is named in errors.

    Raises:
        ModelError: A row is zero or not finite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    bad = np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))
    if len(bad):
        raise ModelError(
            f"{model} gave a vector that is zero or not finite for text {bad[0]} of {len(rows)}; check the model"
        )
    return np.asarray(rows / lengths, dtype=np.float32)


def embedded(embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str], embedder: Embedder) -> Vectors:
    """The vectors of texts, held to what a store relies on, whoever's the embedder is.

    Args:
        embed: `embed_documents` or `embed_queries` of the embedder.
        texts: Any texts.
        embedder: Named in errors.

    Returns:
        Shape ``(len(texts), dimension)``, float32, rows of length 1, in order.

    Raises:
        ModelError: It raised something of its own, gave the wrong shape, or a row that is zero or not finite.
    """
    name = embedder.fingerprint
    with _span(name, len(texts)) as told:
        rows = _checked(embed, texts, embedder)
        told.set({"gen_ai.embeddings.dimension.count": rows.shape[1]})
    return rows


def _checked(embed: Callable[[Sequence[str]], Vectors], texts: Sequence[str], embedder: Embedder) -> Vectors:
    name = embedder.fingerprint
    try:
        rows = np.asarray(embed(texts), np.float32)
    except NestlingError:
        raise
    except Exception as error:
        raise ModelError(f"{name} failed on {len(texts)} texts: {error!r}; mend the embedder") from error
    wanted = (len(texts), embedder.dimension)
    if rows.shape != wanted:
        raise ModelError(
            f"{name} gave shape {rows.shape} for {len(texts)} texts, not {wanted}; mend the embedder"
        )
    return unit_rows(rows, name)


def _span(fingerprint: str, texts: int) -> AbstractContextManager[Span]:
    """One call of a model, named and described as OpenTelemetry has it."""
    kind, _, rest = fingerprint.partition(":")
    remote = kind == "openai"
    model = rest.partition("@")[0] if remote else fingerprint
    conventional = {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": kind if remote else "nestling",
        "gen_ai.request.model": model,
    }
    return span(f"embeddings {model}", conventional, remote=remote, text_count=texts)
