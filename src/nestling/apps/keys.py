"""The commands that keep keys: add, list, remove."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

import nestling
from nestling.apps import options, wire
from nestling.apps.server.rights import RIGHTS
from nestling.apps.terminal import complain, line, print_json, say, table

if TYPE_CHECKING:
    from nestling.apps.server.keys import Keys


@click.group(epilog="Example: nestling keys add web --rights read --rate 600")
def keys() -> None:
    """Keep the keys of a served nest.

    They are kept, hashed, in NEST.keys beside the nest. While that file exists, nothing is served without a key.
    """


@keys.command(epilog="Example: nestling keys add acme --rights write --scope tenant=acme --rate 60")
@click.argument("name")
@click.option(
    "--rights",
    type=click.Choice(RIGHTS),
    default="read",
    show_default=True,
    help="What it may do: ask; also change documents; also see metrics and check.",
)
@click.option(
    "--scope",
    metavar="KEY=VALUE",
    multiple=True,
    help="It sees and writes only documents with this metadata value; also a JSON object. Given again: all hold.",
)
@click.option("--rate", type=click.IntRange(min=1), metavar="N", help="Requests a minute; else any number.")
@options.nest_option
@options.json_option
def add(
    name: str, rights: str, scope: tuple[str, ...], rate: int | None, nest: str | None, as_json: bool
) -> None:
    """Make a key called NAME and print it, this once.

    It is sent as `Authorization: Bearer KEY`.
    """
    path = options.local(nest)
    wanted: dict[str, Any] = {}
    with nestling.open(path) as opened:
        for values in map(options.scope_of, scope):
            opened = opened.scope(**values)
            wanted |= values
    made = keys_of(path).add(name, rights, wanted or None, rate)
    if as_json:
        print_json(wire.key(path, name, made))
    else:
        say(made)
        complain(f"this is the key {name!r}; it is shown only now: keep it safe")


@keys.command("list", epilog="Example: nestling keys list")
@options.nest_option
@options.json_option
def list_(nest: str | None, as_json: bool) -> None:
    """List the keys by name, without the keys themselves."""
    path = options.local(nest)
    found = keys_of(path).list()
    if as_json:
        print_json(wire.keys(path, found))
        return
    if not found:
        nestling.open(path).close()  # a nest that is not there has no keys, too
        who = (
            "nobody is served"
            if keys_of(path).wanted
            else "anyone on this machine is served, and nobody else"
        )
        complain(f"there is no key to {path}: {who}")
    lines = (
        (each.name, each.rights, _scope(each.scope), str(each.rate or "any"), each.made) for each in found
    )
    table(lines, ("name", "rights", "scope", "a minute", "made"))


@keys.command(epilog="Example: nestling keys remove acme")
@click.argument("name")
@options.nest_option
@options.json_option
def remove(name: str, nest: str | None, as_json: bool) -> None:
    """Remove the key called NAME; a running server refuses it from then on."""
    path = options.local(nest)
    keys_of(path).remove(name)
    if as_json:
        print_json(wire.removal(path, [name], []))
    else:
        say(f"{line(path)}: the key {line(name)} is removed")


def keys_of(nest: str) -> Keys:
    """The keys of a nest."""
    from nestling.apps.server.keys import Keys  # SQLite is not needed for every command

    return Keys(nest)


def _scope(scope: Mapping[str, Any] | None) -> str:
    return "all" if scope is None else " ".join(f"{key}={value}" for key, value in scope.items())
