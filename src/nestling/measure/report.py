"""The report: one HTML page with its style and plots inside, without script, that loads nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from nestling.measure.charts import Chart, charts
from nestling.measure.evaluation import Answer, Evaluation, Figure

# Worst questions that are shown, and passages of each.
WORST, FOUND = 20, 3
MOST_SKIPPED = 100

# what no page may hold: controls but tab and line feed, lone surrogates
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def html_report(found: Evaluation) -> str:
    """An evaluation as one HTML page: plots, tables, the worst questions with what was found instead.

    It needs nothing else: no script, no network. Text of documents and questions is escaped.
    """
    style = files("nestling.measure").joinpath("report.css").read_text("utf-8")
    title = f"{_name(found.nest)} on {_name(found.settings['golden'])}"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<link rel="icon" href="data:,">
<title>{_clean(title)}</title>
<style>{style}</style>
</head>
<body>
<h1>{_text(title)}</h1>
{_made(found)}
<main>
{"".join(_sections(found))}
</main>
</body>
</html>
"""


def _sections(found: Evaluation) -> Iterator[str]:
    yield _tiles(found)
    yield '<h2>Plots</h2>\n<div class="plots">'
    yield from map(_chart, charts(found))
    yield "</div>"
    yield from _worst(found)
    yield from _answered(found)
    yield from _tags(found)
    yield "<h2>All figures</h2>"
    yield _figures([each for each in found.summary if each.tag is None])
    for tag in _named(found):
        table = _figures([each for each in found.summary if each.tag == tag])
        yield f"<details><summary>All figures of {_text(tag)}</summary>{table}</details>"
    yield from _skipped(found)


def _made(found: Evaluation) -> str:
    """How the figures came about."""
    answerable = sum(each.answerable for each in found.questions)
    unanswerable = len(found.questions) - answerable
    recipe = found.recipe
    gate = [
        f"{name} {found.settings[name]:g}"
        for name in ("min_similarity", "min_coverage")
        if found.settings[name] is not None
    ]
    parts = [
        f"{len(found.questions):,} questions"
        + (f", {unanswerable:,} of them unanswerable" if unanswerable else ""),
        f"{len(found.skipped):,} not counted" if found.skipped else "",
        f"children of {recipe['child_size']:,} and parents of {recipe['parent_size']:,} {recipe['unit']}",
        found.embedder,
        f"gate: {', '.join(gate) or 'none'}",
        f"filter: {found.settings['where']}" if found.settings["where"] else "",
        f"Nestling {found.nestling}",
    ]
    note = (
        "Every figure is a mean over n questions with its 95 % bootstrap interval; latencies are quantiles."
    )
    return f'<p class="quiet">{" · ".join(_text(part) for part in parts if part)}</p>\n<p class="quiet">{note}</p>'


def _tiles(found: Evaluation) -> str:
    last = max(found.settings["k"], default=0)
    names = {
        "evidence recall": "evidence recall, mean of budgets",
        f"document/nDCG@{last}": f"documents, nDCG@{last}",
        f"document/hit@{last}": f"documents, hit@{last}",
        f"parent/nDCG@{last}": f"passages, nDCG@{last}",
        f"parent/hit@{last}": f"passages, hit@{last}",
        "gate precision": "gate, precision",
        "gate recall": "gate, recall",
        "latency p50": "search, p50",
    }
    tiles = []
    for name, label in names.items():
        figure = found.figure(name)
        if figure is not None:
            value, _, interval = str(figure).partition(" (")
            told = f"{interval.removesuffix(')')} · " if interval else ""
            tiles.append(
                f'<div><dt>{label}</dt><dd class="value">{value}</dd>'
                f'<dd class="quiet">{told}n = {figure.n:,}</dd></div>'
            )
    return f'<dl class="tiles">{"".join(tiles)}</dl>\n'


def _chart(chart: Chart) -> str:
    return (
        f"<figure><h3>{_text(chart.title)}</h3><figcaption>{_text(chart.caption)}</figcaption>{chart.svg}"
        f"<details><summary>In numbers</summary>{_table(chart.heads, chart.rows)}</details></figure>\n"
    )


def _worst(found: Evaluation) -> Iterator[str]:
    worst = found.worst(WORST)
    if worst:
        yield "<h2>Worst questions, and what was found instead</h2>\n"
        for each in worst:
            name, value = each.headline or ("", 0.0)
            yield _question(each, f"{name} {value:.2f}")


def _answered(found: Evaluation) -> Iterator[str]:
    """Unanswerable questions that got an answer, the surest first."""
    wrong = [each for each in found.questions if not each.answerable and not each.abstained]
    if wrong:
        yield "<h2>Unanswerable questions that were answered</h2>\n"
        wrong.sort(key=lambda each: (-(each.similarity or 0.0), -each.coverage))
        for each in wrong[:WORST]:
            similarity = "" if each.similarity is None else f"similarity {each.similarity:.2f} · "
            yield _question(each, f"{similarity}coverage {each.coverage:.2f}")


def _question(each: Answer, told: str) -> str:
    items = "".join(
        f"<li><strong>{_text(p.title or p.id)}</strong> {_text(p.id) if p.title else ''}<br>{_text(p.text)}</li>"
        for p in each.found[:FOUND]
    )
    found = f"<ol>{items}</ol>" if items else "<p>Nothing was found.</p>"
    tags = f" · {_text(', '.join(each.tags))}" if each.tags else ""
    return (
        f'<article><h3>{_text(each.question)}</h3><p class="quiet">{_text(each.id)} · {_text(told)}{tags}</p>'
        f"{found}</article>\n"
    )


def _tags(found: Evaluation) -> Iterator[str]:
    last = max(found.settings["k"], default=0)
    wanted = (
        "evidence recall",
        f"document/nDCG@{last}",
        f"parent/nDCG@{last}",
        "document/MRR",
        "gate recall",
    )
    tags = _named(found)
    shown = [name for name in wanted if any(found.figure(name, tag) for tag in tags)]
    if tags:
        rows = []
        for tag in tags:
            asked = found.figure("latency p50", tag)
            rows.append(
                [
                    tag,
                    *(str(found.figure(name, tag) or "") for name in shown),
                    f"{asked.n:,}" if asked else "",
                ]
            )
        yield "<h2>By tag</h2>\n"
        yield _table(["tag", *shown, "n"], rows)


def _named(found: Evaluation) -> list[str]:
    return list(dict.fromkeys(each.tag for each in found.summary if each.tag is not None))


def _figures(figures: Sequence[Figure]) -> str:
    return _table(["figure", "mean (95 % interval)", "n"], [[f.figure, str(f), f"{f.n:,}"] for f in figures])


def _skipped(found: Evaluation) -> Iterator[str]:
    if found.skipped:
        items = "".join(f"<li>{_text(s.id)}: {_text(s.reason)}</li>" for s in found.skipped[:MOST_SKIPPED])
        more = len(found.skipped) - MOST_SKIPPED
        items += f"<li>and {more:,} more</li>" if more > 0 else ""
        yield f"<h2>Questions that were not counted</h2><ul>{items}</ul>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{_text(each)}</th>' for each in heads)
    body = "".join(
        f'<tr><th scope="row">{_text(row[0])}</th>{"".join(f"<td>{_text(cell)}</td>" for cell in row[1:])}</tr>'
        for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide" tabindex="0">{table}</div>\n'


def _name(path: str) -> str:
    return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or "a nest"


def _clean(text: str) -> str:
    return escape(_UNPRINTABLE.sub("�", text))


def _text(text: str) -> str:
    return f"<bdi>{_clean(text)}</bdi>"
