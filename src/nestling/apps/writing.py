"""The commands that change a nest: add and remove."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

import nestling
from nestling.apps import options, wire
from nestling.apps.exits import NOT_FOUND, PARTLY
from nestling.apps.meter import Meter
from nestling.apps.terminal import complain, line, print_json, say, summary

# Empty documents that are named on the terminal.
MOST_NAMED = 5


@click.command(epilog="Example: nestling add docs/ cards.jsonl --nest handbook.nest")
@click.argument("paths", nargs=-1, required=True)
@options.of_a_new_nest
@options.on_a_nest
def add(
    paths: tuple[str, ...],
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
    """Add files, folders, and cards in JSONL files.

    The nest is made if it does not exist. What has not changed since it was added costs nothing. Inputs that
    cannot be read are named, the rest goes on, and the command ends with 1.

    SPEC names an embedding model: minilm, the built-in one; onnx:DIRECTORY; model2vec:DIRECTORY;
    openai:MODEL@URL for an endpoint.
    """
    path = nest or options.NEST_HERE
    if not any(Path(each).exists() for each in paths):
        raise nestling.NotFoundError(f"there is no file or folder {paths[0]}; check the path")
    sizes, scoring = options.new_nest(recipe, child_size, parent_size, overlap, unit)
    with (
        options.opened(
            path,
            create=True,
            embedder=embedder,
            recipe=sizes,
            timeout=timeout,
        ) as opened,
        Meter() as meter,
    ):
        if scoring is not None and scoring != opened.scoring:
            opened.keep_scoring(scoring)
        # an iterator: how many documents are in a folder is not known beforehand
        report = opened.add(iter(paths), progress=meter)
    if as_json:
        print_json(wire.report(path, report))
    else:
        print_report(path, report)
    if report.failed:
        raise click.exceptions.Exit(PARTLY)


@click.command(epilog="Example: nestling remove dosage.md interactions.md")
@click.argument("ids", nargs=-1, required=True)
@options.on_a_nest
def remove(ids: tuple[str, ...], nest: str | None, timeout: float, as_json: bool) -> None:
    """Remove documents by their IDS.

    All are removed in one transaction. Ids that do not exist are named, the others are removed, and the
    command ends with 4.
    """
    path = options.located(nest)
    with options.opened(path, timeout=timeout) as opened:
        removed = opened.remove(ids)
    missing = [id for id in dict.fromkeys(ids) if id not in set(removed)]
    if as_json:
        print_json(wire.removal(path, removed, missing))
    else:
        say(f"{line(path)}: {len(removed):,} removed")
    for id in missing:
        complain(f"{path} holds no document {id!r}; see `nestling list`")
    if missing:
        raise click.exceptions.Exit(NOT_FOUND)


def print_report(path: str, report: nestling.Report, failed: str = "not added") -> None:
    """Print what was done to which nest; what ``failed`` goes to stderr, with the reason."""
    say(f"{line(path)}: {summary(report)}")
    if report.empty:
        more = f" and {len(report.empty) - MOST_NAMED:,} more" if len(report.empty) > MOST_NAMED else ""
        say(f"  empty, with no text to find: {line(', '.join(report.empty[:MOST_NAMED]))}{more}")
    if report.skipped:
        say(f"  skipped, of no kind that is read: {line(_kinds(report.skipped))}")
    for failure in report.failed:
        complain(f"{failed}: {failure.name}: {failure.reason}")


def _kinds(skipped: Sequence[nestling.Failure]) -> str:
    counts = Counter(Path(failure.name).suffix.lower() or "links" for failure in skipped)
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common())
