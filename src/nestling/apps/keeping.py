"""The commands that keep a nest safe: backup, export, import."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import nestling
from nestling.apps import options, wire
from nestling.apps.exits import PARTLY
from nestling.apps.terminal import complain, line, print_json, say
from nestling.apps.writing import add

STDOUT = "-"
LINES = (".jsonl", ".ndjson")


@click.command(epilog="Example: nestling backup handbook.backup.nest --nest handbook.nest")
@click.argument("to")
@options.on_a_nest
def backup(to: str, nest: str | None, timeout: float, as_json: bool) -> None:
    """Copy the nest to the new file TO, while others may go on reading and writing.

    The copy is the nest at one instant. It is made whole or not at all, and never in the place of another file.
    """
    path = options.located(nest)
    with options.opened(path, timeout=timeout) as opened:
        opened.backup(to)
    size = Path(to).stat().st_size
    if as_json:
        print_json(wire.backup(path, to, size))
    else:
        say(f"{line(path)}: {size:,} bytes in {line(to)}")


@click.command(epilog="Example: nestling export handbook.jsonl --nest handbook.nest")
@click.argument("to")
@options.on_a_nest
def export(to: str, nest: str | None, timeout: float, as_json: bool) -> None:
    """Write every document as one line of JSON to the new file TO, or to stdout where TO is -.

    Each line is a card with id, title, text, metadata and source. `nestling import` and `nestling add` read
    them back without loss. Documents that cannot be read are named, the rest goes on, and the command ends
    with 1.
    """
    if to == STDOUT and as_json:
        raise click.UsageError("--json and - both write to stdout: give a file")
    path = options.located(nest)
    with options.opened(path, timeout=timeout) as opened:
        done = opened.export(sys.stdout.buffer if to == STDOUT else to)
    if as_json:
        print_json(wire.export(path, to, done))
    elif to != STDOUT:
        say(f"{line(path)}: {done.documents:,} documents in {line(to)}")
    for failure in done.failed:
        complain(f"not exported: {failure.name}: {failure.reason}")
    if done.failed:
        raise click.exceptions.Exit(PARTLY)


@click.pass_context
def _import(ctx: click.Context, /, paths: tuple[str, ...], **given: object) -> None:
    for path in paths:
        if not path.lower().endswith(LINES):
            raise nestling.InputError(
                f"{path} is no JSONL file; give what `nestling export` wrote, or use `nestling add`"
            )
    ctx.invoke(add, paths=paths, **given)


import_ = click.Command(
    "import",
    params=add.params,
    callback=_import,
    help="""Add the documents of JSONL files, as `nestling export` writes them.

    It does what `nestling add` does with such files, and takes nothing else.""",
    epilog="Example: nestling import handbook.jsonl --nest copy.nest",
)
