"""How far adding is, on a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TextIO

import nestling
from nestling.apps.terminal import COLUMNS, clipped, width


class Meter:
    """Shows on a terminal's stderr how far adding is; silent anywhere else. Use it in a ``with``."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._started = time.monotonic()
        self._shown = 0.0
        self._written = 0

    def __call__(self, now: nestling.Progress) -> None:
        """Take the progress of `Nest.add`; redrawn at most ten times a second."""
        clock = time.monotonic()
        if not self._stream.isatty() or clock - self._shown < 0.1:
            return
        self._shown = clock
        self._draw(self._text(now, clock - self._started))

    def _text(self, now: nestling.Progress, seconds: float) -> str:
        rate = f"{now.children:,} children ({now.children / max(seconds, 0.1):,.0f}/s)"
        if now.total and now.documents <= now.total:
            done = 24 * now.documents // now.total
            fine = (self._stream.encoding or "").lower().startswith("utf")
            bar = ("━" if fine else "#") * done + ("─" if fine else "-") * (24 - done)
            return f"{bar} {now.documents:,} of {now.total:,} documents · {rate}"
        return f"{now.documents:,} documents · {rate}"

    def _draw(self, text: str) -> None:
        room = shutil.get_terminal_size((COLUMNS, 24)).columns - 1
        text = clipped(text, room)
        self._stream.write("\r" + text + " " * max(0, self._written - width(text)) + "\r")
        self._stream.flush()
        self._written = width(text)

    def clear(self) -> None:
        """Wipe what is shown, so that something else can be printed."""
        if self._written:
            self._draw("")

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
