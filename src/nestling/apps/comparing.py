"""The command that compares: two evaluations of the same questions."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import nestling
from nestling.apps import options, wire
from nestling.apps.terminal import clipped, columns, line, paint, print_json, say, table

SQLITE = b"SQLite format 3\0"
# Ids that are named of questions that cannot be compared.
MOST_IDS = 5


@click.command(epilog="Example: nestling compare before.json after.json")
@click.argument("a")
@click.argument("b")
@click.option("--golden", metavar="PATH", help="The golden questions, where A or B is a nest.")
@options.least_grade_option
@options.scope_option
@options.timeout_option
@options.json_option
def compare(a: str, b: str, golden: str | None, least_grade: int, timeout: float, as_json: bool) -> None:
    """Compare A with B, question by question.

    Each is a file that `nestling eval --out` wrote, or a nest, which is then asked the questions of --golden;
    NEST@2 is edition 2 of a nest.
    For each figure: both means, their difference with its 95 % interval, and on how many questions which is
    better; and a verdict in words, which says where there are too few questions to tell.
    """
    first, second = (_evaluation(path, golden, least_grade, timeout) for path in (a, b))
    found = nestling.compare(first, second, _names(a, b))
    if as_json:
        print_json(wire.plain(found))
    else:
        print_comparison(found)


def _evaluation(path: str, golden: str | None, least_grade: int, timeout: float) -> nestling.Evaluation:
    nest, edition = _edition(path)
    if not _is_nest(nest):
        return nestling.Evaluation.read(path)
    if golden is None:
        raise click.UsageError(f"{nest} is a nest: give the questions to ask it with --golden")
    with options.opened(nest, timeout=timeout) as opened:
        asked = opened if edition is None else opened.at(edition)
        return asked.evaluate(nestling.read_golden(golden, least_grade=least_grade))


def _edition(path: str) -> tuple[str, int | None]:
    """The path of a nest, and which edition of it is meant: ``NEST@2``, unless a file is called so."""
    nest, _, number = path.rpartition("@")
    if nest and number.isdecimal() and not Path(path).exists():
        return nest, int(number)
    return path, None


def _is_nest(path: str) -> bool:
    try:
        with Path(path).open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE
    except OSError:
        return False


def _names(a: str, b: str) -> tuple[str, str]:
    """The names of the files or editions, where they tell the two apart."""
    one, other = _edition(a), _edition(b)
    if one[0] == other[0] and one != other:
        return _named(one[1]), _named(other[1])
    first, second = Path(a).stem, Path(b).stem
    return (first, second) if first != second else ("A", "B")


def _named(edition: int | None) -> str:
    return "live" if edition is None else f"edition {edition}"


def print_comparison(found: nestling.Comparison) -> None:
    """Print a comparison: a table and verdicts on a terminal, else every figure as a tab-separated line."""
    a, b = found.names
    tty = sys.stdout.isatty()
    if tty:
        _print_scope(found)
    rows = []
    for row in found.rows:
        ends = ("", "") if row.low is None else (_number(row.low, True), _number(row.high or 0.0, True))
        interval = [f"{ends[0]} to {ends[1]}"] if tty else list(ends)
        figures = [row.figure, _number(row.a), _number(row.b), _number(row.difference, True), *interval]
        rows.append(
            [*figures, *map(str, (row.n, row.wins, row.losses, row.ties)), *([] if tty else [row.verdict])]
        )
    table(rows, ["figure", a, b, "difference", "95 % interval", "n", f"{b} better", f"{a} better", "equal"])
    if tty:
        _print_verdicts(found)


def _print_scope(found: nestling.Comparison) -> None:
    for name, values in found.differing.items():
        say(clipped(f"{name}: {values[0]} → {values[1]}", columns()))
    say(f"{found.compared:,} questions in both")
    left_out = {
        f"only in {found.names[0]}": found.only_a,
        f"only in {found.names[1]}": found.only_b,
        "not compared, since their text differs": found.reworded,
    }
    for what, ids in left_out.items():
        if ids:
            more = " …" if len(ids) > MOST_IDS else ""
            say(clipped(f"{len(ids):,} {what}: {', '.join(ids[:MOST_IDS])}{more}", columns()))
    say()


def _print_verdicts(found: nestling.Comparison) -> None:
    say()
    for number, row in enumerate(found.rows):
        decided = row.low is not None and row.high is not None and (row.low > 0 or row.high < 0)
        if number == 0 or decided:
            say(paint(line(f"{row.figure}: {row.verdict}"), bold=number == 0 or None))
    accidents = round(len(found.rows) * (1 - 0.95))
    if accidents:
        say(f"no winner by the others; of {len(found.rows)} figures about {accidents} have one by accident")
    if found.changed:
        say(paint(f"\nchanged most, by {line(found.rows[0].figure)}", bold=True))
    for change in found.changed:
        told = f"{change.a:.2f} → {change.b:.2f} · {change.id}: {change.question}"
        say(f"  {clipped(told, columns() - 2)}")


def _number(value: float, signed: bool = False) -> str:
    text = f"{value:+.3f}" if signed else f"{value:.3f}"
    return text if abs(value) < 100 else f"{value:+.0f}" if signed else f"{value:.0f}"
