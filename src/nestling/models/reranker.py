"""The seam of rerankers: what Nestling asks of one, in two names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from nestling.errors import ModelError, NestlingError


@runtime_checkable
class Reranker(Protocol):
    """Judges how well texts answer a query. A plain attribute does for the name."""

    @property
    def name(self) -> str:
        """What the model is called."""
        ...

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One finite number for each text, in order; higher is better, on any scale.

        Args:
            query: As asked.
            texts: One or more, each with its title and headings above it.
        """
        ...


def judged(reranker: Reranker, query: str, texts: Sequence[str]) -> list[float]:
    """The scores that a reranker gives, whoever's it is.

    Raises:
        ModelError: It raised something of its own, or did not give one finite number for each text.
    """
    try:
        scores = [float(score) for score in reranker.scores(query, texts)]
    except NestlingError:
        raise
    except Exception as error:
        raise ModelError(
            f"{reranker.name} failed: {error!r}; mend the reranker, or search without it"
        ) from error
    if len(scores) != len(texts):
        raise ModelError(
            f"{reranker.name} gave {len(scores)} scores for {len(texts)} texts; mend the reranker,"
            " so that it gives one for each"
        )
    for place, score in enumerate(scores):
        if not math.isfinite(score):
            raise ModelError(
                f"{reranker.name} gave the score {score} for text {place} of {len(texts)}; mend the reranker,"
                " so that every score is finite"
            )
    return scores
