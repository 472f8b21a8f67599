"""Inputs that fuzzing found worth keeping: a line of Base64 each, a file a target."""

from __future__ import annotations

import base64
from pathlib import Path


def read(target: str) -> list[bytes]:
    """The inputs kept for a target."""
    lines = (Path(__file__).parent / f"{target}.txt").read_text("ascii").splitlines()
    return [base64.b64decode(line, validate=True) for line in lines]
