"""The command that tunes: better settings for a nest, if there are any."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

import nestling
from nestling.apps import options
from nestling.apps.meter import Meter
from nestling.apps.terminal import clipped, columns, complain, line, paint, print_json, say, table
from nestling.settings import MINUTES

# Candidates that are named beside the standings.
MOST_TRIED = 8


@click.command(
    epilog="Example: nestling tune golden.jsonl --minutes 30 --state tuning.state --out tuned.json"
)
@click.argument("golden")
@click.option("--minutes", type=float, default=MINUTES, show_default=True, metavar="N", help="When to stop.")
@options.limit_option
@options.least_grade_option
@options.budgets("A context in which evidence is looked for. Given again: each.")
@click.option(
    "--out", metavar="FILE", help="Write the settings to use as JSON, for `nestling rebuild --recipe`."
)
@click.option("--state", metavar="FILE", help="Keep what was done in FILE; the same command goes on with it.")
@options.on_a_nest
def tune(
    golden: str,
    minutes: float,
    limit: int | None,
    least_grade: int,
    budgets: tuple[int, ...],
    out: str | None,
    state: str | None,
    nest: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Look for settings that find more on the questions in GOLDEN.

    Sizes, overlap, titles before children, weights of channels and levels, lending and pack shape are tried on
    one half of the questions; the other half decides. The nest is only read. Where nothing is clearly better,
    it says so.
    """
    if out and not Path(out).absolute().parent.is_dir():
        raise nestling.NotFoundError(f"{out} cannot be written: its folder does not exist; make it first")
    questions = nestling.read_golden(golden, least_grade=least_grade)
    path = options.located(nest)
    with options.opened(path, timeout=timeout) as opened, (meter := _Trials()):
        found = nestling.tune(
            opened,
            questions.sample(limit) if limit else questions,
            minutes=minutes,
            state=state,
            budgets=budgets,
            progress=meter.tell,
        )
    if out:
        _write(out, found.settings())
    if as_json:
        print_json(found.to_json())
        return
    print_tuned(found)
    if found.winner:
        say(_next(found, path, out))
    if not found.finished:
        again = "; the same command goes on" if state else "; with --state FILE, the same command would go on"
        complain(f"the {minutes:g} minutes were over before the search was done{again}")


class _Trials(Meter):
    """Shows which candidate is being asked, and how long it will take at most."""

    def tell(self, now: nestling.TuneProgress) -> None:
        """Take the progress of `nestling.tune`."""
        self._now = now
        self(nestling.Progress(now.tried, None, now.asked, now.now))

    def _text(self, now: nestling.Progress, seconds: float) -> str:
        done = self._now
        left = f"{done.seconds / 60:.0f} min" if done.seconds >= 90 else f"{done.seconds:.0f} s"
        return (
            f"{done.tried} tried, about {done.left} to come, {left} left · best {done.best:.3f}"
            f" · {done.asked}/{done.of} {done.now}"
        )


def print_tuned(found: nestling.Tuned) -> None:
    """Print what tuning found: how the settings compare on a terminal, tab-separated lines elsewhere."""
    budgets = f" {', '.join(f'{budget:,}' for budget in found.budgets)}" if found.budgets else ""
    if sys.stdout.isatty():
        say(paint(line(f"{found.measure}{budgets}"), bold=True))
        say(
            f"{found.questions[0]:,} questions choose, {found.questions[1]:,} decide ·"
            f" {len(found.tried):,} candidates in {found.seconds:,.0f} s, {found.embedded:,} texts embedded"
        )
        if found.skipped:
            say(f"{len(found.skipped):,} questions without gold are not counted")
        say()
    table([_row(each) for each in found.standings], _HEADS)
    if not sys.stdout.isatty():
        say(f"verdict\t{line(found.verdict)}")
        say(f"gate\t{line(found.gate.verdict)}")
        return
    _print_settings(found)
    say()
    say(paint(line(found.verdict), bold=True))
    say(line(found.gate.verdict))


_HEADS = ("settings", "chosen by", "held out", "difference", "better in", "tokens", "children", "vectors")


def _row(each: nestling.Standing) -> list[str]:
    difference, cost = each.difference, each.cost
    return [
        each.name,
        "" if each.tuning is None else f"{each.tuning:.3f}",
        "" if each.held_out is None else f"{each.held_out:.3f}",
        ""
        if difference is None
        else f"{100 * difference.mean:+.1f} ({100 * difference.low:+.1f} to {100 * difference.high:+.1f})",
        "" if difference is None else f"{100 * difference.better:.0f} %",
        "" if each.tokens is None else f"{each.tokens:,.0f}",
        "" if cost is None else f"{cost.children:,}",
        "" if cost is None else f"{cost.bytes / 1e6:.1f} MB",
    ]


def _print_settings(found: nestling.Tuned) -> None:
    say()
    for each in found.standings:
        if each.told:
            say(clipped(f"{each.name}: {each.told}", columns()))
    best = sorted((tried for tried in found.tried if not tried.given_up), key=lambda tried: -tried.score)
    if best:
        say(paint("\nbest on the half that chooses", bold=True))
    for tried in best[:MOST_TRIED]:
        say(f"  {clipped(f'{tried.score:.3f} · {tried.told}', columns() - 2)}")


def _next(found: nestling.Tuned, nest: str, out: str | None) -> str:
    """What to do with a winner."""
    now, best = found.standings[0].candidate, found.use
    file = out or "FILE (what --out writes)"
    lines = []
    if best.recipe != now.recipe:
        lines.append(f"build the nest anew beside itself: nestling rebuild --nest {nest} --recipe {file}")
    elif best.scoring != now.scoring:
        lines.append(f"store the weights, embedding nothing: nestling rebuild --nest {nest} --recipe {file}")
    if best.shape != now.shape:
        lines.append(f"ask for contexts of that shape: nestling context QUESTION --shape {best.shape}")
    return "\n".join(line(text) for text in lines)


def _write(file: str, settings: dict[str, Any]) -> None:
    try:
        Path(file).write_text(json.dumps(settings, ensure_ascii=False, indent=2) + "\n", "utf-8")
    except OSError as error:
        raise nestling.InputError(
            f"{file} cannot be written ({error.strerror}); give another path"
        ) from error
