"""What judging a text needs to know of language: given from outside, so that it is the one analyzer's."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Forms = tuple[str, ...]


class Analysis(NamedTuple):
    """How a nest reads text.

    Attributes:
        content: A text's content words in order, each once, as all the terms it may be indexed by.
        terms: All terms of a text.
        sentences: The spans of a text's sentences.
    """

    content: Callable[[str], list[Forms]]
    terms: Callable[[str], frozenset[str]]
    sentences: Callable[[str], list[tuple[int, int]]]
