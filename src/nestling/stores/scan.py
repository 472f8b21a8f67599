"""Cosines of many vectors to one from int8 codes: by numkong's SIMD where it is installed, else numpy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nestling.view import Scores, Vectors

Rough = NDArray[np.float32]
Codes = NDArray[np.int8]
# Rows at once, so that what is made of them stays in the processor's cache: of numpy's float32 copy, and of
# numkong's products.
BLOCK, SIMD_BLOCK = 512, 32_768
# Rounding moves each part of a vector by up to half a step, evenly; of a unit vector's product that is a standard
# deviation of step / sqrt(12). Six of them are not exceeded.
DEVIATIONS = 6 / np.sqrt(12)
# A group's best is looked at in place of the group's rows.
GROUP = 64
# Scores are rounded to this many decimals, so that equal content ties exactly however it was computed.
DECIMALS = 6


class Question:
    """A unit vector to compare with, and how far off its products with codes can be."""

    def __init__(self, vector: Vectors) -> None:
        self.vector = vector
        self._floats = np.ascontiguousarray(vector, np.float32)
        self._simd = simd()
        self._step = 0.0
        if self._simd is not None:
            peak = float(np.abs(self._floats).max(initial=0))
            self._step = peak / 127 if peak > 0 else 1.0
            self._codes = np.rint(self._floats / self._step).astype(np.int8)[None]

    def error(self, scale: Rough) -> Scores:
        """The furthest that the cosine to a row of this scale is from what its codes give."""
        error: Scores = DEVIATIONS * np.sqrt(np.square(scale, dtype=np.float64) + self._step**2)
        return error

    def compare(self, codes: Codes, scale: Rough, out: Rough) -> None:
        """Write the approximate cosines of all rows into ``out``."""
        if self._simd is None:
            self._by_numpy(codes, scale, out)
        else:
            self._by_simd(self._simd, codes, scale, out)

    def _by_numpy(self, codes: Codes, scale: Rough, out: Rough) -> None:
        buffer = np.empty((BLOCK, codes.shape[1]), np.float32)
        for begin in range(0, len(codes), BLOCK):
            block = codes[begin : begin + BLOCK]
            part = buffer[: len(block)]
            part[:] = block
            np.dot(part, self._floats, out=out[begin : begin + len(block)])
        out *= scale

    def _by_simd(self, products: Callable[..., Any], codes: Codes, scale: Rough, out: Rough) -> None:
        for begin in range(0, len(codes), SIMD_BLOCK):
            block = slice(begin, begin + SIMD_BLOCK)
            products(self._codes, codes[block], "dot", out=out[None, block], out_dtype="float32")
            out[block] *= scale[block]
        out *= np.float32(self._step)


@cache
def simd() -> Callable[..., Any] | None:
    """Numkong's products of many rows, or None where it is not installed."""
    try:
        import numkong
    except ImportError:
        return None
    found: Callable[..., Any] = numkong.cdist
    return found


def engine() -> str:
    """What scans: ``numkong`` or ``numpy``."""
    return "numpy" if simd() is None else "numkong"


def best_at_least(scores: NDArray[Any], n: int) -> float:
    """A bound that at least ``n`` of these scores reach, close to the ``n``-th best; -inf where there are fewer.

    Each of ``n`` groups has a best score that reaches the ``n``-th best of the groups'.
    """
    if len(scores) <= n:
        return -np.inf
    groups = max(len(scores) // GROUP, min(8 * n, len(scores)))
    best = scores[: len(scores) // groups * groups].reshape(-1, groups).max(axis=0)
    return float(np.partition(best, len(best) - n)[len(best) - n])
