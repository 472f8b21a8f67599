"""Vectors as bytes: int8 codes for the scan, float16 for the score."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from nestling.view import Vectors


def pack(vectors: Vectors) -> list[tuple[float, bytes, bytes]]:
    """For each row: scale, int8 codes (``codes * scale`` is within scale/2 of the row), float16 row."""
    peak = np.abs(vectors).max(axis=1, initial=0)
    scale = np.where(peak > 0, peak / 127, 1).astype(np.float32)
    codes = np.rint(vectors / scale[:, None]).astype(np.int8)
    exact = vectors.astype("<f2")
    return [(float(s), c.tobytes(), e.tobytes()) for s, c, e in zip(scale, codes, exact, strict=True)]


def unpack(exact: Iterable[bytes]) -> Vectors:
    """Float16 rows back as float32, shape ``(n, dimension)``."""
    rows = list(exact)
    if not rows:
        return np.zeros((0, 0), np.float32)
    vectors: Vectors = np.frombuffer(b"".join(rows), "<f2").reshape(len(rows), -1).astype(np.float32)
    return vectors
