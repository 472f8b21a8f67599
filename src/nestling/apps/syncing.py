"""``nestling sync``: a folder and a nest in step, once or from now on."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Literal

import click

import nestling
from nestling.apps import options, wire
from nestling.apps.exits import PARTLY
from nestling.apps.meter import Meter
from nestling.apps.terminal import complain, line, print_json, say
from nestling.apps.writing import print_report
from nestling.settings import QUIET

NOT_SYNCED = "not synced"


@click.command(epilog="Example: nestling sync docs/ --nest handbook.nest")
@click.argument("folder")
@click.option(
    "--pattern",
    "patterns",
    metavar="GLOB",
    multiple=True,
    help="Only files of the folder that match, such as '*.md' or 'guides/**'. Given again: one must match.",
)
@click.option("--keep", is_flag=True, help="Remove and rename nothing.")
@click.option("--allow-empty", is_flag=True, help="Let a folder without any file remove its documents.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, document by document, and do nothing.")
@click.option("--watch", is_flag=True, help="Go on, and sync whenever something has changed.")
@click.option(
    "--quiet",
    type=click.FloatRange(min=0, min_open=True),
    default=QUIET,
    show_default=True,
    metavar="SECONDS",
    help="With --watch: for how long nothing must have changed.",
)
@options.of_a_new_nest
@options.on_a_nest
def sync(
    folder: str,
    patterns: tuple[str, ...],
    keep: bool,
    allow_empty: bool,
    dry_run: bool,
    watch: bool,
    quiet: float,
    embedder: str | None,
    child_size: int | None,
    parent_size: int | None,
    overlap: int | None,
    unit: Literal["characters", "tokens"] | None,
    recipe: str | None,
    nest: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Bring the documents of a FOLDER in step with its files.

    What is new is added, what has changed replaced, what is gone removed; a file with another name keeps its
    embeddings. Only documents that were read from this folder are removed. A file that cannot be read is named,
    keeps its documents, and the command ends with 1.

    With --watch it goes on until Ctrl-C or SIGTERM, and ends with 0; with --json it then prints one JSON value a
    line. It needs: pip install 'nestling[watch]'.
    """
    if watch and dry_run:
        raise click.UsageError("--watch and --dry-run exclude each other")
    path = nest or options.NEST_HERE
    if not Path(folder).is_dir():
        raise nestling.NotFoundError(
            f"there is no folder {folder}; check the path, and whether it is mounted"
        )
    sizes, scoring = options.new_nest(recipe, child_size, parent_size, overlap, unit)
    # a dry run makes no nest
    where = ":memory:" if dry_run and not Path(path).exists() else path
    with options.opened(
        where, create=not dry_run, embedder=embedder, recipe=sizes, timeout=timeout
    ) as opened:
        if scoring is not None and scoring != opened.scoring and not dry_run:
            opened.keep_scoring(scoring)
        if watch:
            _watch(opened, folder, patterns, keep, allow_empty, quiet, path, as_json)
            return
        with Meter() as meter:
            report = opened.sync(
                folder,
                pattern=patterns or None,
                delete=not keep,
                allow_empty=allow_empty,
                dry_run=dry_run,
                progress=meter,
            )
    if as_json:
        print_json(wire.sync(path, report, dry_run))
    else:
        if dry_run:
            _print_plan(report)
        print_report(f"{path}, dry run" if dry_run else path, report, NOT_SYNCED)
    if report.failed:
        raise click.exceptions.Exit(PARTLY)


def _watch(
    nest: nestling.Nest,
    folder: str,
    patterns: tuple[str, ...],
    keep: bool,
    allow_empty: bool,
    quiet: float,
    path: str,
    as_json: bool,
) -> None:
    """Sync again and again; ends where the process is asked to."""
    former = signal.signal(signal.SIGTERM, signal.default_int_handler)
    before: nestling.Report | str | None = None
    try:
        with Meter() as meter:
            for outcome in nestling.watch(
                nest,
                folder,
                pattern=patterns or None,
                delete=not keep,
                allow_empty=allow_empty,
                quiet=quiet,
                progress=meter,
            ):
                meter.clear()
                _print_outcome(path, outcome, before, as_json)
                before = str(outcome) if isinstance(outcome, nestling.NestlingError) else outcome
    except KeyboardInterrupt:
        complain("stopped watching; every document stored so far is whole", fresh=True)
    finally:
        signal.signal(signal.SIGTERM, former)


def _print_outcome(
    path: str,
    outcome: nestling.Report | nestling.NestlingError,
    before: nestling.Report | str | None,
    as_json: bool,
) -> None:
    """Print a report that tells of a change, or an error that was not told before."""
    if isinstance(outcome, nestling.NestlingError):
        if str(outcome) == before:
            return
        if as_json:
            print_json(wire.error(type(outcome).__name__, str(outcome), outcome.report), indent=None)
        complain(f"{outcome} (it is tried again)")
        return
    changed = outcome.added or outcome.updated or outcome.removed or outcome.renamed
    told = isinstance(before, nestling.Report) and outcome.failed == before.failed
    if told and not changed:
        return
    if as_json:
        print_json(wire.sync(path, outcome), indent=None)
    else:
        print_report(path, outcome, NOT_SYNCED)


def _print_plan(report: nestling.Report) -> None:
    """One line for each document that would change."""
    for mark, ids in (("+", report.added), ("~", report.updated), ("-", report.removed)):
        for id in ids:
            say(line(f"{mark} {id}"))
    for old, new in report.renamed:
        say(line(f"> {old} -> {new}"))
