"""A folder and a nest brought in step: what is there is added, then what has gone is removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike

from nestling.adding import Adding, Told
from nestling.changes import Changes
from nestling.errors import NestlingError
from nestling.ingest.folder import Folder
from nestling.ingest.listing import Scope
from nestling.models.known import Embedders
from nestling.observing import changing, removed
from nestling.results import Progress, Report
from nestling.stores.base import Store


def sync(
    store: Store,
    embedders: Embedders,
    folder: str | PathLike[str],
    pattern: str | Sequence[str] | None,
    delete: bool,
    allow_empty: bool,
    dry_run: bool,
    progress: Callable[[Progress], None] | None,
) -> Report:
    """See `Nest.sync`."""
    scope = Scope.of(folder, pattern, store.own_files())
    with store.view() as view:
        found = Folder(scope, view.files(), lambda id: view.text(id) or "")
    if delete and not allow_empty:
        found.refuse_empty()
    report = Report()
    changes = Changes(store, report, found.stored, found.former if delete else None)
    adding = Adding(store, embedders, changes, report, Told(progress, found.count()), dry_run)
    try:
        with changing("nestling.sync", store.path, report):
            adding.take(found.documents(changes.files))
            gone = found.gone() if delete else {}
            report.removed += store.remove(gone, gone) if gone and not dry_run else gone
        if not dry_run:
            removed(store.path, report.removed)
    except NestlingError as error:
        error.report = report
        raise
    return report
