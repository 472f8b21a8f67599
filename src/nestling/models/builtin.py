"""The model inside the package: all-MiniLM-L6-v2, for English, with nothing to download or to set up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nestling.errors import ModelError
from nestling.models.embedder import Vectors
from nestling.models.onnx_text import OnnxText

DIRECTORY = Path(__file__).parent / "minilm"


class MiniLM:
    """The default `Embedder`. Making one reads a few facts; the model is loaded when it is first used.

    A text's vector depends on nothing but the text: not on the texts embedded with it, nor on threads.

    Attributes:
        fingerprint: Names the model file exactly.
        dimension: 384.
        max_tokens: 256, the two special tokens included; the rest of a text is not read.
        languages: English.
        unrelated_below: A question and texts that are all less similar have nothing to do with each other: of 200
            questions of five corpora one is, of those asked of another corpus most are (benchmarks/abstain.py).
        spec: The text by which `nestling.models.spec.embedder_from` makes another like it.

    Raises:
        ModelError: The package is damaged.
    """

    spec: str | None = "minilm"
    unrelated_below: float | None = 0.3

    def __init__(self) -> None:
        facts = read_facts()
        self.fingerprint: str = facts["fingerprint"]
        self.dimension: int = facts["dimension"]
        self.max_tokens: int = facts["max_tokens"]
        self.languages: frozenset[str] | None = frozenset(facts["languages"])
        self._model = OnnxText(
            DIRECTORY / "model.onnx",
            DIRECTORY / "tokenizer.json",
            max_tokens=self.max_tokens,
        )

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found: shape ``(len(texts), 384)``, float32, rows of length 1, in order.

        Raises:
            InputError: ``texts`` is not a list of strings.
            ModelError: The model cannot be loaded or run.
        """
        return self._model.embed(texts).reshape(len(texts), self.dimension)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed questions, which this model treats like documents."""
        return self.embed_documents(texts)

    def count_tokens(self, text: str) -> int:
        """The number of word pieces of ``text``, without special tokens and without cutting."""
        return self._model.count_tokens(text)

    def __repr__(self) -> str:
        return f"MiniLM({self.fingerprint!r})"


def read_facts() -> dict[str, Any]:
    """What ``model.json`` says of the model that ships.

    Raises:
        ModelError: It is missing or damaged.
    """
    try:
        facts: dict[str, Any] = json.loads((DIRECTORY / "model.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(
            f"the built-in model in {DIRECTORY} cannot be read: {error}; install nestling again"
        ) from error
    return facts
