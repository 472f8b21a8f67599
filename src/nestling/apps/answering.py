"""The commands that answer and verify: ask and verify."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

import nestling
from nestling.apps import options, wire
from nestling.apps.exits import PARTLY
from nestling.apps.searching import asked
from nestling.apps.terminal import clean, clipped, columns, complain, line, paint, print_json, say
from nestling.settings import BUDGET

MODEL_VARIABLE = "NESTLING_LLM"
# How a verdict is shown.
_COLOURS = {"supported": "green", "uncited": "yellow", "stitched": "yellow"}
_STANDINGS = {
    "outside": "was not in the context",
    "unknown": "is no passage of the nest",
    "document": "is a document; cite a passage",
    "child": "is a child; cite its parent",
    "malformed": "is no marker",
}


@click.command(epilog="Example: nestling ask how do I close a file --budget 1000")
@click.argument("question", nargs=-1, required=True)
@click.option("--budget", default=BUDGET, show_default=True, metavar="TOKENS", help="Tokens of the context.")
@click.option(
    "--model",
    metavar="SPEC",
    envvar=MODEL_VARIABLE,
    help=f"The language model, openai:MODEL@URL; else ${MODEL_VARIABLE}; else sentences of the passages.",
)
@options.filtered
@options.gated
@options.reranker_option
@options.on_a_nest
def ask(
    question: tuple[str, ...],
    budget: int,
    model: str | None,
    where: tuple[str, ...],
    min_similarity: float | None,
    min_coverage: float | None,
    nest: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Answer QUESTION from the nest, with citations.

    The answer comes as it is written. Below it: what it cites, and every citation or sentence that does not hold.
    Ends with 1 where not all of it holds.
    """
    shown = _Shown()
    with options.opened(options.located(nest), timeout=timeout) as opened:
        try:
            answer = opened.ask(
                asked(question),
                budget,
                model=model or None,
                stream=None if as_json else shown,
                where=options.filter_of(where),
                min_similarity=min_similarity,
                min_coverage=min_coverage,
            )
        finally:
            shown.end()
    if as_json:
        print_json(wire.answer(answer))
    else:
        for note in answer.notes:
            complain(note)
        if answer.abstained:
            say(f"abstained: {line(answer.abstained)}")
        else:
            say()
            _print_verification(answer.verification)
            say(paint(_told(answer), dim=True))
    if not answer.sound:
        raise click.exceptions.Exit(PARTLY)


@click.command(epilog="Example: nestling verify answer.txt --nest handbook.nest")
@click.argument("file")
@options.on_a_nest
def verify(file: str, nest: str | None, timeout: float, as_json: bool) -> None:
    """Hold the text in FILE (`-`: what is piped in) to the nest.

    Each [cite:ID] marker must name a passage, and each sentence or quote must stand in the passage it cites. Ends
    with 1 where something does not hold.
    """
    text = _read(file)
    with options.opened(options.located(nest), timeout=timeout) as opened:
        found = opened.verify(text)
    if as_json:
        print_json(wire.verification(found))
    else:
        _print_verification(found)
        say(paint(_counted(found), bold=True))
    if not found.sound:
        raise click.exceptions.Exit(PARTLY)


class _Shown:
    """Prints an answer as it comes, clean; its last line is ended."""

    def __init__(self) -> None:
        self._last = "\n"

    def __call__(self, text: str) -> None:
        click.echo(clean(text.replace("\r\n", "\n")), nl=False)
        sys.stdout.flush()
        self._last = text[-1:]

    def end(self) -> None:
        if self._last != "\n":
            say()


def _read(file: str) -> str:
    """The text of a file, or of the standard input.

    Raises:
        NotFoundError: There is no such file.
        DocumentError: It is not text.
    """
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return raw.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise nestling.NotFoundError(f"there is no file {file}; check the path") from error
    except (OSError, ValueError) as error:
        raise nestling.DocumentError(
            f"{file} cannot be read as UTF-8 text ({error}); check the file"
        ) from error


def _print_verification(found: nestling.Verification) -> None:
    cited: dict[str, nestling.Citation] = {}
    for citation in found.citations:
        cited.setdefault(citation.id or citation.marker, citation)
    for citation in cited.values():
        say(_citation(citation))
    problems = [claim for claim in found.claims if claim.verdict != "supported"]
    for claim in problems:
        head = f"{claim.verdict}: "
        say(paint(head, fg=_COLOURS.get(claim.verdict, "red")) + clipped(claim.text, columns() - len(head)))
        if claim.reason:
            say(paint(f"  {claim.reason}", dim=True))
    if cited or problems:
        say()


def _citation(citation: nestling.Citation) -> str:
    marker = paint(line(citation.marker), fg="cyan")
    if citation.standing != "sound":
        return f"{marker} {paint(_STANDINGS[citation.standing], fg='red')}"
    names = citation.heading[1:] if citation.heading[:1] == (citation.title,) else citation.heading
    name = " › ".join(filter(None, (citation.title, *names))) or citation.document_id or ""
    page = "" if citation.page is None else f", page {citation.page}"
    return f"{marker} {clipped(f'{name}{page}', columns() - len(line(citation.marker)) - 1)}"


def _counted(found: nestling.Verification) -> str:
    sound = sum(each.standing == "sound" for each in found.citations)
    cited = f"{len(found.citations)} citation{'' if len(found.citations) == 1 else 's'}"
    count = cited if sound == len(found.citations) else f"{cited}, {sound} sound"
    return " · ".join((count, *_counts([claim.verdict for claim in found.claims])))


def _counts(verdicts: Sequence[str]) -> Iterable[str]:
    return (f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))


def _told(answer: nestling.Answer) -> str:
    made = f"by {line(answer.model)}" if answer.model else "sentences of the passages"
    tokens = (
        f" · {answer.prompt_tokens:,} + {answer.answer_tokens:,} tokens"
        if answer.prompt_tokens is not None and answer.answer_tokens is not None
        else ""
    )
    return f"{answer.tier} · {made}{tokens} · {_counted(answer.verification)}"
