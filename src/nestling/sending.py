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
    return _Sending(connection, progress, count_documents(source)).send(source)


class _Sending:
    """One call of `Nest.add`."""

    def __init__(
        self, connection: Connection, progress: Callable[[Progress], None] | None, total: int | None
    ) -> None:
        self._connection = connection
        self._progress = progress
        self._report = Report()
        self._done = Progress(0, total, 0, "")

    def send(self, source: Source | Iterable[Source]) -> Report:
        """Send all, a batch at a time."""
        try:
            for batch in self._batches(source):
                self._send(batch)
        except NestlingError as error:
            _join(self._report, error.report or Report())
            error.report = self._report
            raise
        self._tell(self._done)
        return self._report

    def _batches(self, source: Source | Iterable[Source]) -> Iterator[list[bytes]]:
        batch: list[bytes] = []
        size = 0
        seen: set[str] = set()
        for item in load(source):
            if isinstance(item, Failure):
                self._fail(item)
            elif item.id in seen:
                self._fail(given_before(item))
            else:
                seen.add(item.id)
                line = dumps(asdict(item)).encode()
                if batch and (size + len(line) > BATCH_BYTES or len(batch) == BATCH_DOCUMENTS):
                    yield batch
                    batch, size = [], 0
                batch.append(line)
                size += len(line)
        if batch:
            yield batch

    def _fail(self, failure: Failure) -> None:
        (self._report.skipped if failure.skipped else self._report.failed).append(failure)
        self._done = replace(self._done, documents=self._done.documents + 1)

    def _send(self, batch: list[bytes]) -> None:
        for name, value in self._connection.events("/v1/documents", b"\n".join(batch), LINES_TYPE):
            if name == "progress":
                self._tell(self._after(value_of(Progress, value)))
            elif name == "report":
                made = value_of(Report, value)
                _join(self._report, made)
                self._done = self._after(Progress(len(batch), None, made.embedded, self._done.name))

    def _after(self, more: Progress) -> Progress:
        """How far it is, once so much more is done."""
        done = self._done
        documents, children = done.documents + more.documents, done.children + more.children
        return Progress(documents, done.total, children, more.name)

    def _tell(self, now: Progress) -> None:
        if self._progress is not None:
            self._progress(now)


def _join(report: Report, more: Report) -> None:
    for field in fields(Report):
        value = getattr(report, field.name) + getattr(more, field.name)
        setattr(report, field.name, value)
