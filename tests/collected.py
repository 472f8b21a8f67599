"""Spans that a test can look at: kept in memory, by name, and as a tree."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from nestling.tracing import CAPTURE


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """A tracer provider that keeps spans in memory, for the time of a test."""
    monkeypatch.delenv(CAPTURE, raising=False)
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    # the real one can be set only once in a process
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    yield exporter
    provider.shutdown()


def named(exporter: InMemorySpanExporter, name: str) -> ReadableSpan:
    """The only span of this name."""
    (found,) = (each for each in exporter.get_finished_spans() if each.name == name)
    return found


def tree(exporter: InMemorySpanExporter) -> dict[str, list[str]]:
    """The names of all spans by the name of their parent, in the order of their beginning; the root's is ""."""
    finished = sorted(exporter.get_finished_spans(), key=lambda each: each.start_time or 0)
    names = {each.context.span_id: each.name for each in finished}
    found: dict[str, list[str]] = {}
    for each in finished:
        found.setdefault(names[each.parent.span_id] if each.parent else "", []).append(each.name)
    return found


def told(span: ReadableSpan) -> dict[str, object]:
    """The attributes of a span."""
    return dict(span.attributes or {})


def everything(exporter: InMemorySpanExporter) -> str:
    """All that was exported, as text."""
    return "\n".join(each.to_json() for each in exporter.get_finished_spans())
