"""The commands that look at what is stored: show, list, stats, check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

import nestling
from nestling.apps import options, wire
from nestling.apps.exits import PARTLY
from nestling.apps.terminal import clipped, columns, line, paint, print_json, print_text, say, table


@click.command(epilog="Example: nestling show dosage.md --tree")
@click.argument("id")
@click.option("--tree", is_flag=True, help="Show its parents and their children instead of the text.")
@options.on_a_nest
def show(id: str, tree: bool, nest: str | None, timeout: float, as_json: bool) -> None:
    """Print the text of a document or passage by its ID.

    In a pipe it comes out exactly as it is stored.
    """
    path = options.located(nest)
    with options.opened(path, timeout=timeout) as opened:
        found = opened.show(id)
    if found is None:
        raise nestling.NotFoundError(f"{path} holds no document or passage {id!r}; see `nestling list`")
    if as_json:
        print_json(wire.tree(id, found))
    elif tree:
        for text in _tree(found):
            say(text)
    else:
        start, end = wire.span(id, found)
        print_text(found.document.text[start:end])


@click.command("list", epilog="Example: nestling list --where lang=en")
@options.filtered
@options.on_a_nest
def list_(where: tuple[str, ...], nest: str | None, timeout: float, as_json: bool) -> None:
    """List the documents by id.

    With title, language, characters, parents and children; in a pipe tab-separated, without the heads.
    """
    with options.opened(options.located(nest), timeout=timeout) as opened:
        found = opened.list(options.filter_of(where))
    if as_json:
        print_json(wire.documents(found))
    else:
        lines = (
            (d.id, d.title, d.language, str(d.characters), str(d.parents), str(d.children)) for d in found
        )
        table(lines, ("id", "title", "language", "characters", "parents", "children"))


@click.command(epilog="Example: nestling stats --nest handbook.nest")
@options.on_a_nest
def stats(nest: str | None, timeout: float, as_json: bool) -> None:
    """Count documents, parents, children and bytes.

    Tells the recipe and the embedder of the nest, too.
    """
    path = options.located(nest)
    with options.opened(path, timeout=timeout) as opened:
        counts = opened.stats()
    if as_json:
        print_json(wire.stats(path, counts))
        return
    told = {name: value for name, value in counts.items() if value is not None}
    for name, value in {"nest": path, **told}.items():
        say(f"{name:<10}  {line(_told(value))}")


@click.command(epilog="Example: nestling check && echo all is well")
@options.on_a_nest
def check(nest: str | None, timeout: float, as_json: bool) -> None:
    """Read the whole nest and tell what is damaged.

    Nothing is written. Ends with 1 where something is damaged.
    """
    path = options.located(nest)
    with options.opened(path, timeout=timeout) as opened:
        damage = opened.check()
    if as_json:
        print_json(wire.check(path, damage))
    else:
        for sentence in damage or (f"{path} is sound",):
            say(line(sentence))
    if damage:
        raise click.exceptions.Exit(PARTLY)


def _tree(tree: nestling.Tree) -> Iterator[str]:
    document, room = tree.document, columns()
    children = sum(len(parent.children) for parent in tree.parents)
    size = f"{len(document.text):,} characters · {len(tree.parents):,} parents · {children:,} children"
    yield f"{paint(line(document.id), bold=True)}  {line(document.title)}".rstrip()
    yield paint(size, dim=True)
    for parent in tree.parents:
        last = parent is tree.parents[-1]
        heading = line(" › ".join(parent.heading))
        yield f"{'└─' if last else '├─'} {paint(line(parent.id), bold=True)}  {_sizes(parent)}  {heading}".rstrip()
        for child in parent.children:
            stem = f"{'  ' if last else '│ '} {'└─' if child is parent.children[-1] else '├─'}"
            head = f"{stem} {line(child.id.rpartition('::')[2])}  {_sizes(child)}  "
            yield head + paint(
                clipped(document.text[child.start : child.end], max(20, room - len(head))), dim=True
            )


def _sizes(span: nestling.Parent | nestling.Child) -> str:
    return f"[{span.start:,}–{span.end:,}) {span.end - span.start:,}"


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key or 'unknown'} {_told(item)}" for key, item in value.items()) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)
