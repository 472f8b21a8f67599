"""OpenTelemetry spans of what the rooms do, and next to nothing where nobody collects them (docs/observing.md).

Nothing is imported here: where no other code has imported OpenTelemetry and set up a tracer provider, there is
nobody to collect a span, and `span` answers with one object that does nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from opentelemetry import trace as otel

Value = str | bool | int | float | Sequence[str]

# Asks for the text of queries and messages in error reports; the name and the values are OpenTelemetry's.
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CAPTURING = ("true", "1", "span_only", "span_and_event")


class Span(Protocol):
    """A block as it is collected; false where it is not, so that costly values need not be made."""

    def __bool__(self) -> bool:
        """Whether it is collected."""
        ...

    def set(self, conventional: Mapping[str, Value] | None = None, /, **own: Value | None) -> None:
        """Note attributes: of conventions by their full name, own ones under ``nestling.``; None is left out."""
        ...


class _Off:
    def __bool__(self) -> bool:
        return False

    def set(self, conventional: Mapping[str, Value] | None = None, /, **own: Value | None) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass


_OFF = _Off()


class _On:
    def __init__(self, collected: otel.Span) -> None:
        self._collected = collected

    def __bool__(self) -> bool:
        return self._collected.is_recording()

    def set(self, conventional: Mapping[str, Value] | None = None, /, **own: Value | None) -> None:
        self._collected.set_attributes(_attributes(conventional, own))


def span(
    name: str,
    conventional: Mapping[str, Value] | None = None,
    /,
    *,
    remote: bool = False,
    **own: Value | None,
) -> AbstractContextManager[Span]:
    """Let a block be a span, a child of the one that it runs in.

    An error that leaves the block is noted by its class. Its message may quote what was asked or stored, and is
    noted only where text is asked for.

    Args:
        name: Of few values: no ids.
        conventional: Attributes that a convention names.
        remote: Whether the block waits for another process.
        own: Further attributes, as for `Span.set`.
    """
    trace = sys.modules.get("opentelemetry.trace")
    # the last name of the module that is used here; another thread may be importing it
    if trace is None or not hasattr(trace, "use_span"):
        return _OFF
    provider = trace.get_tracer_provider()
    if isinstance(provider, trace.ProxyTracerProvider):
        return _OFF
    kind = trace.SpanKind.CLIENT if remote else trace.SpanKind.INTERNAL
    return _collected(_tracer(provider), name, kind, _attributes(conventional, own))


def captures_text() -> bool:
    """Whether the environment asks for the text of queries in spans and logs."""
    return os.environ.get(CAPTURE, "").strip().lower() in _CAPTURING


def trace_ids() -> dict[str, str]:
    """``trace_id`` and ``span_id`` of the span that runs, in hexadecimal; empty where there is none."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None or not hasattr(trace, "use_span"):
        return {}
    current = trace.get_current_span().get_span_context()
    if not current.is_valid:
        return {}
    return {"trace_id": f"{current.trace_id:032x}", "span_id": f"{current.span_id:016x}"}


_latest: tuple[otel.TracerProvider, otel.Tracer] | None = None


def _tracer(provider: otel.TracerProvider) -> otel.Tracer:
    """The tracer of a provider; one is made for each provider, since making one takes longer than a span."""
    global _latest
    latest = _latest
    if latest is None or latest[0] is not provider:
        from nestling import __version__

        latest = _latest = (provider, provider.get_tracer("nestling", __version__))
    return latest[1]


@contextmanager
def _collected(
    tracer: otel.Tracer, name: str, kind: otel.SpanKind, attributes: dict[str, Value]
) -> Iterator[Span]:
    from opentelemetry.trace import Status, StatusCode

    with tracer.start_as_current_span(
        name, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as collected:
        try:
            yield _On(collected)
        except BaseException as error:
            collected.set_attribute("error.type", type(error).__qualname__)
            collected.set_status(Status(StatusCode.ERROR))
            if captures_text():
                collected.record_exception(error)
            raise


def _attributes(
    conventional: Mapping[str, Value] | None, own: Mapping[str, Value | None]
) -> dict[str, Value]:
    named = {f"nestling.{name}": value for name, value in own.items() if value is not None}
    return {**(conventional or {}), **named}
