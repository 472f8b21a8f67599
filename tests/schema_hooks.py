"""What schemathesis must be told of the server: how an upload is sent. It is read by its own process."""

from __future__ import annotations

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context: object, value: object) -> bytes:
    """An upload, which its schema says is text."""
    return str(value).encode("utf-8", "replace")
