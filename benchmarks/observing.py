"""What watching costs: searching with no tracer provider, with one that collects, and with events logged.

    python benchmarks/observing.py [--rounds N]

The nest holds the Python reference, by the built-in model. The ways take turns, question by question, in one run,
so that whatever else the machine does falls on all of them; read the ratios.
"""

from __future__ import annotations

import argparse
import io
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from unittest import mock

import numpy as np
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import nestling
from nestling import tracing
from nestling.apps.demo import language_reference

QUESTIONS = (
    "why does a default list argument keep its values from one call to the next?",
    "what happens when a finally clause returns?",
    "how do I pad a number with zeros?",
    "how does the with statement call a context manager",
)


@contextmanager
def untouched() -> Iterator[None]:
    """Without the spans' code at all, as far as it can be taken out."""

    def nothing(*names: object, **own: object) -> tracing._Off:
        return tracing._OFF

    with ExitStack() as stack:
        for module in ("observing", "retrieve.find", "retrieve.context", "models.vectors"):
            stack.enter_context(mock.patch(f"nestling.{module}.span", nothing))
        yield


@contextmanager
def off() -> Iterator[None]:
    """As it is where nobody has set up a provider."""
    yield


@contextmanager
def traced() -> Iterator[None]:
    """Spans collected in memory."""
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    def collecting() -> TracerProvider:
        return provider

    with mock.patch.object(trace, "get_tracer_provider", collecting):
        yield


@contextmanager
def logged() -> Iterator[None]:
    """Events written as text."""
    logger, handler = logging.getLogger("nestling"), logging.StreamHandler(io.StringIO())
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    yield
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)


WAYS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "spans taken out": untouched,
    "nobody collects": off,
    "traced": traced,
    "logged": logged,
}


def run() -> None:
    """Print the median of each way, and its ratio to the first."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=100)
    rounds = arguments.parse_args().rounds
    times: dict[str, list[float]] = {name: [] for name in WAYS}
    with nestling.open(":memory:") as nest:
        nest.add(language_reference())
        for round in range(rounds):
            for question in QUESTIONS:
                first = round % len(WAYS)
                for name in [*WAYS][first:] + [*WAYS][:first]:
                    with WAYS[name]():
                        began = time.perf_counter()
                        nest.search(question)
                        times[name].append(time.perf_counter() - began)
        print(f"{nest.stats()['children']:,} children, {rounds * len(QUESTIONS):,} searches each way")
    bare = float(np.median(times["spans taken out"]))
    for name, seconds in times.items():
        median = float(np.median(seconds))
        print(f"{name:<16} p50 {1000 * median:7.3f} ms   × {median / bare:.3f}")


if __name__ == "__main__":
    run()
