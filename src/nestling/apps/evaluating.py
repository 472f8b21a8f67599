"""The command that measures: eval."""

from __future__ import annotations

import json
from pathlib import Path

import click

import nestling
from nestling.apps import options
from nestling.apps.exits import PARTLY
from nestling.apps.figures import print_evaluation
from nestling.apps.meter import Meter
from nestling.apps.terminal import complain, print_json
from nestling.settings import CUTOFFS


@click.command("eval", epilog="Example: nestling eval golden.jsonl --html report.html")
@click.argument("golden")
@click.option("--add", is_flag=True, help="First add the documents that GOLDEN comes with.")
@options.limit_option
@options.least_grade_option
@click.option(
    "-k",
    "ks",
    type=int,
    multiple=True,
    default=CUTOFFS,
    show_default=True,
    metavar="N",
    help="A cut-off of hit, recall and nDCG. Given again: each.",
)
@options.budgets("A context's size. Given again: each.")
@options.filtered
@options.gated
@click.option("--out", metavar="FILE", help="Write the figures of every question as JSON.")
@click.option("--html", metavar="FILE", help="Write a page with plots, the worst questions, and all figures.")
@click.option("--baseline", metavar="FILE", help="What `--out` wrote before, for `--fail-under`.")
@click.option(
    "--fail-under",
    "limits",
    metavar="FIGURE=DROP",
    multiple=True,
    help="End with 1 where FIGURE really drops by more than DROP from the baseline. Given again: each.",
)
@options.reranker_option
@options.on_a_nest
def eval_(
    golden: str,
    add: bool,
    limit: int | None,
    least_grade: int,
    ks: tuple[int, ...],
    budgets: tuple[int, ...],
    where: tuple[str, ...],
    min_similarity: float | None,
    min_coverage: float | None,
    out: str | None,
    html: str | None,
    baseline: str | None,
    limits: tuple[str, ...],
    nest: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Ask the questions in GOLDEN and measure what is found.

    GOLDEN is a file of one question a line (docs/measuring.md), a JSON file of SQuAD's shape, or a folder with
    corpus.jsonl, queries.jsonl and qrels, as BEIR has them. Every figure comes with the number of questions
    and a 95 % interval.
    """
    allowed = _limits(limits, baseline)
    before = nestling.Evaluation.read(baseline) if baseline else None
    for file in filter(None, (out, html)):
        _check_folder(file)
    questions = nestling.read_golden(golden, least_grade=least_grade)
    path = (nest or options.NEST_HERE) if add else options.located(nest)
    with options.opened(path, create=add, timeout=timeout) as opened:
        if add:
            with Meter() as meter:
                opened.add(nestling.read_corpus(golden), progress=meter)
        with (asked := _Questions()):
            found = opened.evaluate(
                questions.sample(limit) if limit else questions,
                k=ks,
                budgets=budgets,
                where=options.filter_of(where),
                min_similarity=min_similarity,
                min_coverage=min_coverage,
                progress=asked.tell,
            )
    if out:
        _write(out, json.dumps(found.to_json(), ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    if html:
        _write(html, nestling.html_report(found))
    if as_json:
        print_json(found.to_json())
    else:
        print_evaluation(found)
    regressed = found.regressions(before, allowed) if before else ()
    for sentence in regressed:
        complain(sentence)
    if regressed:
        raise click.exceptions.Exit(PARTLY)


class _Questions(Meter):
    """Shows how many questions are asked."""

    def tell(self, done: int, total: int) -> None:
        """Take the progress of `Nest.evaluate`."""
        self(nestling.Progress(done, total, 0, ""))

    def _text(self, now: nestling.Progress, seconds: float) -> str:
        left = seconds / max(now.documents, 1) * ((now.total or 0) - now.documents)
        return f"{now.documents:,} of {now.total:,} questions · {left:,.0f} s left"


def _limits(given: tuple[str, ...], baseline: str | None) -> dict[str, float]:
    if bool(given) != bool(baseline):
        raise click.UsageError("--baseline and --fail-under belong together: give both")
    limits: dict[str, float] = {}
    for text in given:
        figure, _, drop = text.rpartition("=")
        try:
            limits[figure] = float(drop)
        except ValueError:
            figure = ""
        if not figure:
            raise click.UsageError(f"--fail-under {text}: write FIGURE=DROP, such as document/nDCG@10=0.02")
    return limits


def _check_folder(file: str) -> None:
    if not Path(file).absolute().parent.is_dir():
        raise nestling.NotFoundError(f"{file} cannot be written: its folder does not exist; make it first")


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, "utf-8", "backslashreplace")
    except OSError as error:
        raise nestling.InputError(
            f"{file} cannot be written ({error.strerror}); give another path"
        ) from error
