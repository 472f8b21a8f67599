"""The commands that ask: search and context."""

from __future__ import annotations

from collections.abc import Sequence

import click

import nestling
from nestling.apps import options, wire
from nestling.apps.excerpt import excerpt
from nestling.apps.terminal import (
    clean,
    clipped,
    columns,
    complain,
    line,
    paint,
    print_json,
    print_text,
    rows,
    say,
)
from nestling.settings import BUDGET, PASSAGES, SHAPE, SHAPES, WINDOW, Shape

# Lines of text of a passage: where there is no screen, at least, at most.
LINES, FEWEST_LINES, MOST_LINES = 4, 2, 6
# Lines of a passage that are not text: its name, its scores, an empty one.
OTHER_LINES = 3


@click.command(epilog="Example: nestling search how do I close a file -k 3 --where lang=en")
@click.argument("query", nargs=-1, required=True)
@click.option("-k", default=PASSAGES, show_default=True, metavar="N", help="How many passages.")
@click.option("--offset", default=0, metavar="N", help="Leave out the N best: page 2 of 5 is --offset 5.")
@options.filtered
@options.gated
@click.option("--explain", is_flag=True, help="Show which channel and level gave what score.")
@options.reranker_option
@options.on_a_nest
def search(
    query: tuple[str, ...],
    k: int,
    offset: int,
    where: tuple[str, ...],
    min_similarity: float | None,
    min_coverage: float | None,
    explain: bool,
    nest: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Find the passages that answer QUERY, best first.

    On a terminal the evidence is green and the query's words in it bold. The score orders the passages of one
    query; similarity and coverage are comparable between queries.
    """
    with options.opened(options.located(nest), timeout=timeout) as opened:
        found = opened.search(
            asked(query),
            k,
            offset=offset,
            where=options.filter_of(where),
            min_similarity=min_similarity,
            min_coverage=min_coverage,
        )
    if as_json:
        print_json(wire.results(asked(query), found, explain))
        return
    print_results(found, offset)
    if explain:
        for text in str(found.explain()).splitlines():
            say(clean(text))


@click.command(epilog="Example: nestling context how do I close a file --budget 1000")
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--budget", default=BUDGET, show_default=True, metavar="TOKENS", help="Tokens of the whole text."
)
@click.option(
    "--shape",
    type=click.Choice(SHAPES),
    default=SHAPE,
    show_default=True,
    help="Children by score; whole parents; children with neighbours; parents, then their sections.",
)
@click.option(
    "--window", default=WINDOW, show_default=True, metavar="N", help="Neighbours of the shape `window`."
)
@options.filtered
@options.gated
@options.reranker_option
@options.on_a_nest
def context(
    query: tuple[str, ...],
    budget: int,
    shape: Shape,
    window: int,
    where: tuple[str, ...],
    min_similarity: float | None,
    min_coverage: float | None,
    nest: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Print the passages for QUERY as text for a prompt.

    They are packed into a token budget, with cite markers, and `…` where text is left out.
    """
    with options.opened(options.located(nest), timeout=timeout) as opened:
        packed = opened.context(
            asked(query),
            budget,
            shape=shape,
            window=window,
            where=options.filter_of(where),
            min_similarity=min_similarity,
            min_coverage=min_coverage,
        )
    if as_json:
        print_json(wire.context(asked(query), packed))
    elif packed.text:
        print_text(f"{packed.text}\n")
    else:
        complain(packed.abstained or "nothing was found")


def asked(query: Sequence[str]) -> str:
    """The words of a query as one text; bytes that are no text, as some terminals give them, are replaced."""
    return " ".join(query).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def print_results(found: nestling.Results, offset: int = 0) -> None:
    """Print passages so that, on a terminal, all of them fit on the screen if they can."""
    screen = rows()
    lines = LINES
    if screen is not None and found:
        lines = max(FEWEST_LINES, min(MOST_LINES, (screen - 1) // len(found) - OTHER_LINES))
    terms = found.explain().terms
    for number, passage in enumerate(found, offset + 1):
        _print_passage(number, passage, terms, lines)
    if not found:
        say(f"abstained: {line(found.abstained)}" if found.abstained else "nothing was found")
    for note in found.explain().notes:
        if not note.startswith("abstained"):
            complain(note)


def _print_passage(number: int, passage: nestling.Passage, terms: Sequence[str], lines: int) -> None:
    room = columns()
    names = passage.heading[1:] if passage.heading[:1] == (passage.title,) else passage.heading
    name = " › ".join(filter(None, (passage.title, *names))) or passage.document_id
    say(f"{number}. {paint(clipped(name, room - len(str(number)) - 2), bold=True)}")
    similarity = "" if passage.similarity is None else f" · similarity {passage.similarity:.2f}"
    hits = f"{passage.hits} hit{'' if passage.hits == 1 else 's'}"
    figures = f"score {passage.score:.2f}{similarity} · coverage {passage.coverage:.2f} · {hits}"
    say(f"   {paint(line(passage.cite), fg='cyan')}  {paint(figures, dim=True)}")
    for text in excerpt(passage, terms, room - 3, lines):
        say(f"   {text}")
    say()
