"""``nestling demo``: from nothing to cited passages, on text that every Python brings along."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

import nestling
from nestling.apps import options, wire
from nestling.apps.meter import Meter
from nestling.apps.searching import print_results
from nestling.apps.terminal import line, paint, print_json, say
from nestling.apps.writing import print_report

DEMO_NEST = "demo.nest"
SOURCE = "pydoc_data.topics"
QUESTIONS = (
    "why does a default list argument keep its values from one call to the next?",
    "what happens when a finally clause returns?",
    "how do I pad a number with zeros?",
)
PASSAGES = 2

# a line, and a line of one and the same mark under it that is at least as long
_UNDERLINED = re.compile(r"^(?P<text>\S.*)\n(?P<mark>[*=\-~^\"])(?P=mark){2,}$", re.MULTILINE)
_MARKS = '*=-~^"'


@click.command(epilog="Example: nestling demo --nest python.nest")
@click.option(
    "--nest", metavar="PATH", default=DEMO_NEST, show_default=True, help="Where to make it, or go on with it."
)
@options.json_option
def demo(nest: str, as_json: bool) -> None:
    """Add Python's own language reference, and ask it three questions.

    Nothing is downloaded: the reference is part of every Python. The nest stays, to go on with.
    """
    documents = list(language_reference())
    if not as_json:
        say(paint(f"Adding the Python language reference, {len(documents)} documents, to {nest}", bold=True))
    with nestling.open(nest, create=True) as opened:
        started = time.monotonic()
        with Meter() as meter:
            report = opened.add(documents, progress=meter)
        seconds = time.monotonic() - started
        if as_json:
            found = [wire.results(question, opened.search(question, PASSAGES)) for question in QUESTIONS]
            print_json({**wire.report(nest, report), "searches": found})
            return
        print_report(nest, report)
        say(f"  in {seconds:.1f} s\n")
        for question in QUESTIONS:
            _ask(opened, question)
    say(_next(nest))


def language_reference() -> Iterator[nestling.Document]:
    """The topics that ``help()`` shows, as documents with Markdown headings."""
    from pydoc_data.topics import topics

    for name in _distinct(topics):
        text = topics[name]
        found = _UNDERLINED.search(text)
        title = _plain(found["text"]) if found else name
        yield nestling.Document(f"{name}.md", _markdown(text), title, {"topic": name}, f"{SOURCE}/{name}.md")


def _distinct(topics: Mapping[str, str]) -> list[str]:
    """The topics that are not sections of a larger one, which would be found twice."""
    kept: dict[str, set[str]] = {}
    for name, text in sorted(topics.items(), key=lambda item: -len(item[1])):
        paragraphs = {" ".join(part.split()) for part in text.split("\n\n") if len(part) > 80}
        if not any(len(paragraphs & larger) > 0.9 * len(paragraphs) for larger in kept.values()):
            kept[name] = paragraphs
    return sorted(kept)


def _markdown(text: str) -> str:
    """Underlined headings as Markdown writes them, so that passages know where they stand."""
    return _UNDERLINED.sub(
        lambda found: f"{'#' * (_MARKS.index(found['mark']) + 1)} {found['text']}", text.strip() + "\n"
    )


def _plain(heading: str) -> str:
    return re.sub(r"[*`]", "", heading).strip()


def _ask(nest: nestling.Nest, question: str) -> None:
    started = time.monotonic()
    found = nest.search(question, PASSAGES)
    milliseconds = 1000 * (time.monotonic() - started)
    say(f"{paint(f'? {question}', bold=True)}  {paint(f'{milliseconds:.0f} ms', dim=True)}\n")
    print_results(found)


def program() -> str:
    """How this program can be started again: by its name where that is found, else by its path."""
    started = Path(sys.argv[0])
    if shutil.which("nestling") or started.name != "nestling":
        return "nestling"
    return os.path.relpath(started)


def _next(nest: str) -> str:
    """What to type after the demo."""
    named, nestling = line(nest), program()
    lines = (
        (f"{nestling} search --nest {named} your question", "passages for a reader"),
        (f"{nestling} context --nest {named} your question --budget 1000", "passages for a prompt"),
        (f"{nestling} ask --nest {named} your question", "an answer, cited and checked"),
        (f"{nestling} show --nest {named} lambda.md --tree", "a document, its parents and children"),
        (f"{nestling} serve --nest {named}", "all of it in a browser, at http://127.0.0.1:8000"),
        (f"{nestling} add yourdocs/", f"your own text, in ./{options.NEST_HERE}"),
        (f"{nestling} search your question", "of it"),
    )
    width = max(len(command) for command, _ in lines)
    commands = "\n".join(f"  {command:{width}}   {what}" for command, what in lines)
    return f"""{paint("Next", bold=True)}
{commands}

  import nestling
  nest = nestling.open("{named}")
  for passage in nest.search("your question"):
      print(passage.cite, passage.text)"""
