"""Write docs/cli.md from the commands themselves; with ``--check``, fail where it is not up to date."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from nestling.apps.cli import main as cli
from nestling.apps.exits import EXITS

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
HEAD = """# The command line

<!-- Made by scripts/cli_reference.py; do not edit. -->

One verb for each method of the nest. `nestling --help` and `nestling VERB --help` say the same as this page.

The nest is `--nest PATH`, else `$NESTLING_NEST`, else `./nest.nest` if it exists; `add` makes it. Options may
stand anywhere after the verb; what follows `--` is no option.
"""
OUTPUT = """## Output

Results go to stdout, everything else to stderr. On a terminal there are colours (`NO_COLOR=1` or `TERM=dumb`
turns them off) and, while adding, a meter; in a pipe there is neither, and `list` prints tab-separated lines.
Control characters and escape sequences of stored text never reach a terminal. In a pipe, `show` and `context`
print text exactly as it is stored.

With `--json`, stdout is one JSON value, described in [json.md](json.md), also where the command fails.

An error is one line on stderr, `nestling: …`, that says what was wrong and what to do next, and an exit code:
"""


def page() -> str:
    """The whole page."""
    commands = [pair for name, command in cli.commands.items() for pair in _commands(name, command)]
    verbs = " · ".join(f"[{name}](#nestling-{name.replace(' ', '-')})" for name, _ in commands)
    parts = [HEAD, verbs + "\n", *(_command(name, command) for name, command in commands), OUTPUT + _exits()]
    return "\n".join(parts)


def _commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command, or those of a group."""
    if isinstance(command, click.Group):
        for inner, each in command.commands.items():
            yield from _commands(f"{name} {inner}", each)
    else:
        yield name, command


def _command(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"nestling {name}")
    usage = " ".join((context.command_path, *command.collect_usage_pieces(context)))
    example = (command.epilog or "").removeprefix("Example: ")
    return "\n".join(
        (
            f"## nestling {name}\n",
            f"{inspect.cleandoc(command.help or '')}\n",
            f"```\n{usage}\n```\n",
            *_options(command),
            f"\n```sh\n{example}\n```\n",
        )
    )


def _options(command: click.Command) -> Iterator[str]:
    # not by click's own layout, which differs from release to release
    yield "| option | |"
    yield "|---|---|"
    for option in command.params:
        if isinstance(option, click.Option):
            name = " ".join(filter(None, (", ".join(option.opts), _value(option))))
            default = f" Default: {option.default}." if option.show_default else ""
            yield f"| `{name}` | {option.help}{default} |".replace("\n", " ")


def _value(option: click.Option) -> str:
    if isinstance(option.type, click.Choice):
        return "\\|".join(option.type.choices)
    return "" if option.is_flag else option.metavar or "VALUE"


def _exits() -> str:
    rows = []
    for exit in EXITS:
        names = ", ".join(f"`{name}`" for name in exit.errors)
        rows.append((exit.code, f"| {exit.code} | {names} | {exit.meaning} |"))
    return "\n".join(("\n| code | errors | when |", "|---|---|---|", *(row for _, row in sorted(rows)), ""))


def run() -> None:
    """Write the page or check it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true", help="write nothing; fail if the page is stale")
    text = page()
    if not arguments.parse_args().check:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        sys.exit(f"{PAGE.name} is not up to date; run python scripts/cli_reference.py")


if __name__ == "__main__":
    run()
