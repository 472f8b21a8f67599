"""Adding to a nest behind a server: documents are read here, and sent a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, fields, replace
from os import PathLike

from nestling.changes import given_before
from nestling.connection import LINES_TYPE, Connection, dumps
from nestling.errors import NestlingError, NotFoundError
from nestling.from_json import value_of
from nestling.ingest.batches import count_documents
from nestling.ingest.load import Source, load, path_exists
from nestling.results import Progress, Report
from nestling.types import Failure

# Of one request: so much is lost to the network at most when a connection breaks.
BATCH_BYTES, BATCH_DOCUMENTS = 4_000_000, 1000


def send(
    connection: Connection,
    source: Source | Iterable[Source],
    progress: Callable[[Progress], None] | None,
) -> Report:
    """See `Nest.add`."""
    if isinstance(source, str | PathLike) and not path_exists(source):
        raise NotFoundError(
            f"there is no file or folder {str(source)[:200]!r}; check the path, or give text as a Document"
        )
    report = Report()
    done = Progress(0, count_documents(source), 0, "")
    try:
        for batch in _batches(source, report):
            done = _send(connection, batch, report, done, progress)
    except NestlingError as error:
        _join(report, error.report or Report())
        error.report = report
        raise
    return report


def _batches(source: Source | Iterable[Source], report: Report) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    seen: set[str] = set()
    for item in load(source):
        if isinstance(item, Failure):
            (report.skipped if item.skipped else report.failed).append(item)
        elif item.id in seen:
            report.failed.append(given_before(item))
        else:
            seen.add(item.id)
            line = dumps(asdict(item)).encode()
            if batch and size + len(line) > BATCH_BYTES:
                yield batch
                batch, size = [], 0
            batch.append(line)
            size += len(line)
            if len(batch) == BATCH_DOCUMENTS:
                yield batch
                batch, size = [], 0
    if batch:
        yield batch


def _send(
    connection: Connection,
    batch: list[bytes],
    report: Report,
    before: Progress,
    progress: Callable[[Progress], None] | None,
) -> Progress:
    """Send a batch, and join what came of it to the report; returns how far all is."""
    for name, value in connection.events("/v1/documents", b"\n".join(batch), LINES_TYPE):
        if name == "progress" and progress is not None:
            now = value_of(Progress, value)
            told = replace(
                now,
                documents=before.documents + now.documents,
                total=before.total,
                children=before.children + now.children,
            )
            progress(told)
        elif name == "report":
            made = value_of(Report, value)
            _join(report, made)
            before = replace(
                before, documents=before.documents + len(batch), children=before.children + made.embedded
            )
    if progress is not None:
        progress(before)
    return before


def _join(report: Report, more: Report) -> None:
    for field in fields(Report):
        value = getattr(report, field.name) + getattr(more, field.name)
        setattr(report, field.name, value)
