"""What every embedder checks: that it was given texts, and that it gives unit vectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nestling.errors import InputError, ModelError
from nestling.models.embedder import Vectors


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
