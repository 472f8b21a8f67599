"""Log events of the library as JSON lines on stderr, where the environment asks for them."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import click

from nestling.apps import wire

LOG_VARIABLE = "NESTLING_LOG"
LEVELS = {"info": logging.INFO, "warning": logging.WARNING}


class Lines(logging.Formatter):
    """One JSON object a line: when, how grave, which event, and its fields (docs/observing.md)."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of an event, without its end."""
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": getattr(record, "event", record.getMessage()),
            **getattr(record, "fields", {}),
        }
        return wire.dumps(told, ascii_only=True, indent=None)


@contextmanager
def logged() -> Iterator[None]:
    """Let a block log what the environment asks for.

    Raises:
        UsageError: It asks for something else.
    """
    asked = os.environ.get(LOG_VARIABLE, "").strip().lower()
    if not asked:
        yield
        return
    if asked not in LEVELS:
        raise click.UsageError(f"{LOG_VARIABLE} is {asked!r}; set it to one of {', '.join(LEVELS)}")
    logger, handler = logging.getLogger("nestling"), logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(LEVELS[asked])
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
