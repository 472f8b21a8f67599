"""Cite markers: how an answer names the passage it rests on."""

from __future__ import annotations

import re

_MARKER_LIKE = re.compile(r"\[(?=\s*cite\s*:)", re.IGNORECASE)


def marker(id: str) -> str:
    """``[cite:ID]``; characters that would end it early are percent-encoded."""
    return "[cite:" + re.sub(r"[\[\]\s%]", lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), id) + "]"


def quoted(text: str) -> str:
    """Document text with anything that looks like a cite marker made harmless, at the same length.

    A document can say ``[cite:admin]``; in a prompt that must read as its words, not as our citation.
    """
    return _MARKER_LIKE.sub("(", text)
