"""The commands on editions: editions, rebuild, switch, rollback, prune."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import click

import nestling
from nestling.apps import options, wire
from nestling.apps.comparing import print_comparison
from nestling.apps.exits import PARTLY
from nestling.apps.meter import Meter
from nestling.apps.terminal import line, print_json, say, table


@click.command(epilog="Example: nestling editions --nest handbook.nest")
@options.on_a_nest
def editions(nest: str | None, timeout: float, as_json: bool) -> None:
    """List the editions of a nest.

    With state, documents, children, sizes, embedder, and when they were begun and last went live; in a pipe
    tab-separated, without the heads.
    """
    path = options.located(nest)
    with options.opened(path, timeout=timeout) as opened:
        found = opened.editions()
    if as_json:
        print_json({"nest": path, "editions": wire.plain(list(found))})
        return
    rows = (
        (
            str(each.number),
            each.state,
            str(each.documents),
            str(each.children),
            _sizes(each.recipe),
            each.embedder,
            each.made or "",
            each.switched or "",
        )
        for each in found
    )
    table(rows, ("edition", "state", "documents", "children", "sizes", "embedder", "made", "switched"))


@click.command(epilog="Example: nestling rebuild --child-size 600 --golden golden.jsonl")
@click.option("--embedder", metavar="SPEC", help="The embedding model; else that of the live edition.")
@click.option("--child-size", type=int, metavar="N", help="The most a child holds; else as it is.")
@click.option("--parent-size", type=int, metavar="N", help="The most a parent holds; else as it is.")
@click.option("--overlap", type=int, metavar="N", help="How much of a child the next repeats; else as it is.")
@click.option("--unit", type=click.Choice(["characters", "tokens"]), help="What sizes count; else as it is.")
@click.option(
    "--recipe", metavar="FILE", help="The settings that `nestling tune --out` wrote; instead of sizes."
)
@click.option("--golden", metavar="PATH", help="Questions that must not find clearly less.")
@click.option(
    "--allowed-loss",
    type=float,
    default=0.0,
    show_default=True,
    metavar="N",
    help="How much less they may find: 0.02 is two points.",
)
@click.option("--no-switch", is_flag=True, help="Build it, and leave the other live.")
@options.on_a_nest
def rebuild(
    embedder: str | None,
    child_size: int | None,
    parent_size: int | None,
    overlap: int | None,
    unit: Literal["characters", "tokens"] | None,
    recipe: str | None,
    golden: str | None,
    allowed_loss: float,
    no_switch: bool,
    nest: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Build a new edition from the stored texts, and switch to it.

    No source files are needed, and the nest is searched and added to meanwhile. What was interrupted is gone on
    with by the same command. Where the questions of --golden find clearly less, it is not switched to, and the
    command ends with 1.
    """
    path = options.located(nest)
    given = {"child_size": child_size, "parent_size": parent_size, "overlap": overlap, "unit": unit}
    sizes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    wanted, scoring = options.settings_of(recipe, sizes)
    questions = nestling.read_golden(golden) if golden else None
    with options.opened(path, timeout=timeout) as opened, Catching() as meter:
        done = opened.rebuild(
            replace(opened.recipe, **sizes) if sizes else wanted,
            embedder=embedder,
            golden=questions,
            allowed_loss=allowed_loss,
            switch=not no_switch,
            progress=meter,
        )
        if scoring is not None and not done.losses and not no_switch and scoring != opened.scoring:
            opened.keep_scoring(scoring)
    if as_json:
        print_json({"nest": path, **wire.plain(done)})
    else:
        _print(path, done)
    if done.losses:
        raise click.exceptions.Exit(PARTLY)


@click.command(epilog="Example: nestling switch 2")
@click.argument("edition", type=int)
@options.on_a_nest
def switch(edition: int, nest: str | None, timeout: float, as_json: bool) -> None:
    """Make an EDITION live, after it was given the documents that it lacks.

    The one that was live stays, and is what `nestling rollback` goes back to.
    """
    path = options.located(nest)
    with options.opened(path, timeout=timeout) as opened, Catching() as meter:
        opened.switch(edition, progress=meter)
    _print_live(path, edition, as_json)


@click.command(epilog="Example: nestling rollback --nest handbook.nest")
@options.on_a_nest
def rollback(nest: str | None, timeout: float, as_json: bool) -> None:
    """Switch to the edition that was live before.

    It is given first what was added since. Again, and the other is live again.
    """
    path = options.located(nest)
    with options.opened(path, timeout=timeout) as opened, Catching() as meter:
        edition = opened.rollback(progress=meter)
    _print_live(path, edition, as_json)


@click.command(epilog="Example: nestling prune --nest handbook.nest")
@options.on_a_nest
def prune(nest: str | None, timeout: float, as_json: bool) -> None:
    """Remove every edition but the live one.

    Unfinished ones, too. There is no way back to them then; their room in the file is given back or used again.
    """
    path = options.located(nest)
    with options.opened(path, timeout=timeout) as opened, Catching() as meter:
        pruned = opened.prune(progress=meter)
    if as_json:
        print_json({"nest": path, "pruned": list(pruned)})
    else:
        say(
            f"{line(path)}: {len(pruned):,} editions removed{': ' if pruned else ''}{', '.join(map(str, pruned))}"
        )


class Catching(Meter):
    """Shows how many documents an edition holds, or has lost, and how long the rest will take."""

    _first: int | None = None

    def _text(self, now: nestling.Progress, seconds: float) -> str:
        self._first = now.documents if self._first is None else self._first
        done, total = now.documents - self._first, now.total or now.documents
        text = super()._text(now, seconds)
        left = (total - now.documents) * seconds / done if done else None
        if left is None or total < now.documents:
            return text
        return f"{text} · {f'{left / 60:,.0f} min' if left >= 90 else f'{left:,.0f} s'} left"


def _print(path: str, done: nestling.Rebuilt) -> None:
    if done.comparison is not None:
        print_comparison(done.comparison)
        say()
    say(
        f"{line(path)}: {done.documents:,} documents indexed · {done.embedded:,} children embedded,"
        f" {done.reused:,} reused"
    )
    say(line(done.verdict))


def _print_live(path: str, edition: int, as_json: bool) -> None:
    if as_json:
        print_json({"nest": path, "edition": edition})
    else:
        say(f"{line(path)}: edition {edition} is live")


def _sizes(recipe: nestling.Recipe) -> str:
    more = f", overlap {recipe.overlap}" if recipe.overlap else ""
    unit = "" if recipe.unit == "characters" else f" {recipe.unit}"
    return f"{recipe.child_size}/{recipe.parent_size}{unit}{more}{'' if recipe.lead else ', no lead'}"
