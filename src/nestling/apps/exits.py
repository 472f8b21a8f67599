"""What the command line ends with: one exit code for each class of error, and how an error is told."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple, NoReturn

import click

import nestling
from nestling.apps import wire
from nestling.apps.terminal import complain, print_json, summary


class Exit(NamedTuple):
    """One exit code.

    Attributes:
        code: Of the process.
        errors: Names of the error classes, subclasses included, that end with it.
        meaning: For the documentation.
    """

    code: int
    errors: tuple[str, ...]
    meaning: str


OK = 0
PARTLY = 1
USAGE = 2
NOT_FOUND = 4
INTERRUPTED = 130
BROKEN_PIPE = 141

# the first that fits an error counts
EXITS = (
    Exit(OK, (), "all was done; a search that finds nothing, or a question without an answer, is done, too"),
    Exit(
        PARTLY,
        (),
        "done, but `add` or `sync` could not store every input, `export` not read every document, `check` found"
        " damage, `rebuild` did not switch, or `ask` or `verify` found something that does not hold",
    ),
    Exit(USAGE, (), "the command cannot be read: an unknown option, a missing argument"),
    Exit(3, ("InputError",), "what was given cannot be used: a filter, a size, a document"),
    Exit(NOT_FOUND, ("NotFoundError",), "there is no such nest, document or passage"),
    Exit(6, ("LockedError",), "another process kept the nest locked for longer than `--timeout`: try again"),
    Exit(5, ("StoreError",), "the nest cannot serve: not a nest, newer, damaged, read-only, disk full"),
    Exit(
        7,
        ("ModelError", "EmbedderMismatchError"),
        "a model failed, or the embedding model is another than the nest's",
    ),
    Exit(8, ("ServerError",), "a server cannot be reached, is busy, or refuses the key"),
    Exit(INTERRUPTED, (), "stopped by Ctrl-C"),
    Exit(BROKEN_PIPE, (), "the reader of the output went away"),
)


def code_of(error: nestling.NestlingError) -> int:
    """The exit code of an error's class."""
    for exit in EXITS:
        if any(isinstance(error, getattr(nestling, name)) for name in exit.errors):
            return exit.code
    return PARTLY


def fail(error: nestling.NestlingError, as_json: bool) -> NoReturn:
    """Tell an error in one line on stderr, with ``as_json`` also as JSON on stdout, and end.

    Where adding was interrupted, what had been done by then is told, too.
    """
    if as_json:
        print_json(wire.error(type(error).__name__, str(error), error.report))
    if error.report is not None:
        complain(f"before the error: {summary(error.report)}")
    complain(str(error))
    raise click.exceptions.Exit(code_of(error))


def refuse(error: click.ClickException, as_json: bool) -> NoReturn:
    """Tell that the command cannot be read, and how it is written, and end."""
    message = error.format_message()
    if as_json:
        print_json(wire.error("UsageError", message))
    context = getattr(error, "ctx", None)
    hint = f"; see `{context.command_path} --help`" if context is not None else ""
    complain(f"{message.rstrip('.')}{hint}")
    raise click.exceptions.Exit(error.exit_code)


_WHOLE = "; every document stored so far is whole, run it again to go on"
_KEPT = {
    **dict.fromkeys(("add", "import", "demo", "sync"), _WHOLE),
    **dict.fromkeys(("rebuild", "switch", "rollback", "prune"), _WHOLE),
    "backup": "; no file was made",
    "export": "; no file was made",
}


def interrupted(command: str | None) -> NoReturn:
    """End after Ctrl-C."""
    complain(f"stopped{_KEPT.get(command or '', '')}", fresh=True)
    raise click.exceptions.Exit(INTERRUPTED)


def unread() -> NoReturn:
    """End quietly when the reader of the output has gone (``nestling list | head -1``)."""
    # what is still buffered must not fail again when the interpreter ends
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise click.exceptions.Exit(BROKEN_PIPE)
