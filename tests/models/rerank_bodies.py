"""What a good ``/rerank`` answers: texts by how many of the query's words they hold."""

from __future__ import annotations

from typing import Any


def words(query: str, text: str) -> float:
    """The share of the query's words that a text holds."""
    asked = query.lower().split()
    return sum(word in text.lower() for word in asked) / max(len(asked), 1)


def answered(scores: list[float]) -> dict[str, Any]:
    """A body with these scores, best first, as servers give it."""
    results = [{"index": place, "relevance_score": score} for place, score in enumerate(scores)]
    return {"model": "m", "results": sorted(results, key=lambda each: -each["relevance_score"])}


def reranked(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    return answered([words(request["query"], text) for text in request["documents"]])


def prefers(word: str) -> Any:
    """What answers requests with 1 for texts that hold a word, and 0 for others."""
    return lambda request: answered([float(word in text) for text in request["documents"]])
