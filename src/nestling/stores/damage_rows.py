"""What can be wrong with one document: its spans, words, fields and vectors, held to its text and to each other."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from nestling.errors import FilterError
from nestling.stores.damage_vectors import Vectored
from nestling.stores.salvage import rows
from nestling.stores.sqlite_errors import READING, is_damage
from nestling.stores.stored_rows import Held, OtherTypeError, ParentRow, Stored, read
from nestling.types import Child, Document, Parent
from nestling.view import Damage, Derive, Edition, Told
from nestling.where import fields


def found(
    db: sqlite3.Connection, editions: Sequence[Edition], derive: Derive | None, told: Told | None
) -> Iterator[Damage]:
    """The damages of every document, by id; each kind is told once a document and edition, with its first place."""
    vectored = Vectored.of_each(db)
    builds = {edition.number: edition for edition in editions}
    live = next(edition for edition in editions if edition.state == "live")
    documents, children = rows(db), 0
    for done, (row, id) in enumerate(documents, 1):
        try:
            stored = read(db, row, id)
            if isinstance(stored, Damage):
                yield stored
                continue
            yield from _once(_own(stored, live, derive), id)
            for held in stored.held:
                # rows of an edition that does not exist are told apart
                if held.edition in builds:
                    edition = builds[held.edition]
                    damages = _of(stored, held, edition, derive, vectored.get(held.edition, Vectored(0)))
                    yield from _once(damages, id, 0 if edition == live else held.edition)
            children += sum(len(held.children) for held in stored.held if held.edition == live.number)
        except (*READING, OtherTypeError) as error:
            if isinstance(error, sqlite3.Error) and not is_damage(error):
                raise
            yield Damage(f"the rows of {id} cannot be read: {error}", "derive", id)
        if told is not None:
            told(done, len(documents), children, id)


def _once(damages: Iterator[tuple[str, str]], id: str, edition: int = 0) -> Iterator[Damage]:
    """From (remedy, sentence) to one damage of a kind; a kind is what its sentence begins with, up to the colon.

    What is damaged in an ``edition`` that is not live can be dropped: it is made anew before a switch to it.
    """
    first: dict[str, tuple[Any, str]] = {}
    counts: Counter[str] = Counter()
    for remedy, sentence in damages:
        kind, _, place = sentence.partition(": ")
        counts[kind] += 1
        first.setdefault(kind, (remedy, place))
    where = f"in edition {edition}, " if edition else ""
    for kind, (remedy, place) in first.items():
        more = f", and {counts[kind] - 1:,} more" if counts[kind] > 1 else ""
        sentence = f"{id}: {where}{kind}{place and f' ({place}{more})'}"
        yield Damage(sentence, "drop" if edition else remedy, id, edition)


def _own(stored: Stored, live: Edition, derive: Derive | None) -> Iterator[tuple[str, str]]:
    """(remedy, sentence) of each damage of what is the document's in all editions."""
    if stored.characters != len(stored.text):
        yield "derive", f"its text has {len(stored.text):,} characters, not {stored.characters:,}"
    if all(held.edition != live.number for held in stored.held):
        yield "derive", f"it is not in edition {live.number}, which is live"
    metadata = _object(stored.metadata)
    if metadata is None:
        yield "none", "its metadata is no JSON object"
        return
    if stored.fields != _fields(stored, metadata):
        yield "derive", "its fields are not those of its metadata"
    if derive is not None and derive.digest(_document(stored, metadata)) != stored.digest:
        again = "remove it and add it again, or restore a backup"
        yield "none", f"its title, text or metadata are not what was added; {again}"


def _of(
    stored: Stored, held: Held, edition: Edition, derive: Derive | None, vectored: Vectored
) -> Iterator[tuple[str, str]]:
    """(remedy, sentence) of each damage of an edition's rows; a sentence is a kind, a colon, and the place."""
    spans = [*_parents(stored, held), *(each for parent in held.parents for each in _children(parent))]
    yield from spans
    heads = list(_heads(held))
    yield from heads
    yield from _words(held)
    metadata = _object(stored.metadata)
    if metadata is not None and derive is not None and not spans and not heads:
        yield from _derived(stored, held, _document(stored, metadata), edition, derive)
    yield from vectored.damages(
        [
            (_name(parent, n), child.vector)
            for parent in held.parents
            for n, child in enumerate(parent.children)
        ],
        [(parent.id, parent.vector, len(parent.children)) for parent in held.parents],
        held.vector,
    )


def _document(stored: Stored, metadata: dict[str, Any]) -> Document:
    return Document(stored.id, stored.text, stored.title, metadata, stored.source)


def _parents(stored: Stored, held: Held) -> Iterator[tuple[str, str]]:
    kind = "its parents do not cover its text"
    end = 0
    for n, parent in enumerate(held.parents, 1):
        if parent.start != end or parent.stop <= parent.start:
            yield "derive", f"{kind}: {parent.id} begins at {parent.start} and ends at {parent.stop}"
        end = parent.stop
        wanted = stored.id if len(held.parents) == 1 else f"{stored.id}§{n}"
        if parent.id != wanted:
            yield "derive", f"a parent has another id: {parent.id} instead of {wanted}"
    numbers = [child.row for child in held.children]
    if numbers != sorted(numbers):
        yield "derive", "its children are not in the order of its text"
    if end != len(stored.text) and (held.parents or stored.text.strip()):
        yield "derive", f"{kind}: they end at {end} of {len(stored.text)}"


def _children(parent: ParentRow) -> Iterator[tuple[str, str]]:
    kind, children = "the children of a parent do not cover it", parent.children
    if not children:
        yield "derive", f"{kind}: {parent.id} has none"
        return
    if children[0].start != parent.start or children[-1].stop != parent.stop:
        yield (
            "derive",
            f"{kind}: those of {parent.id} begin at {children[0].start}, end at {children[-1].stop}",
        )
    for before, after in pairwise(children):
        if not before.start < after.start <= before.stop < after.stop:
            yield (
                "derive",
                f"{kind}: in {parent.id} one ends at {before.stop}, the next begins at {after.start}",
            )


def _heads(held: Held) -> Iterator[tuple[str, str]]:
    for parent in held.parents:
        heading = _json(parent.heading)
        if not isinstance(heading, list) or not all(isinstance(part, str) for part in heading):
            yield "derive", f"a heading is no JSON list of texts: of {parent.id}"
        if _object(parent.metadata) is None:
            yield "derive", f"a parent's metadata is no JSON object: of {parent.id}"


def _words(held: Held) -> Iterator[tuple[str, str]]:
    for parent in held.parents:
        for n, child in enumerate(parent.children):
            if child.words is None:
                yield "derive", f"a child has no words: {_name(parent, n)}"
            elif child.terms != (count := len(child.words.split())):
                yield "derive", f"a child has not as many words as it says: {_name(parent, n)} has {count}"


def _fields(stored: Stored, metadata: dict[str, Any]) -> Counter[tuple[Any, ...]]:
    parents = [parent for held in stored.held for parent in held.parents]
    own = [(0, metadata), *((parent.row, _object(parent.metadata) or {}) for parent in parents)]
    return Counter(
        (path, value.kind, value.value, int(element), row)
        for row, values in own
        for path, value, element in fields(values)
    )


def _derived(
    stored: Stored, held: Held, document: Document, edition: Edition, derive: Derive
) -> Iterator[tuple[str, str]]:
    """Hold an edition's rows, whose spans are sound, to what the text gives."""
    parents = tuple(
        Parent(
            parent.id,
            parent.start,
            parent.stop,
            tuple(json.loads(parent.heading)),
            tuple(Child(_name(parent, n), c.start, c.stop, c.lead) for n, c in enumerate(parent.children)),
        )
        for parent in held.parents
    )
    wanted = derive.rows(document, parents, stored.language, edition)
    for parent, heading in zip(parents, wanted.headings or (), strict=False):
        if parent.heading != heading:
            yield "derive", f"a heading is not that of the text: of {parent.id}"
    names = [child.id for parent in parents for child in parent.children]
    for name, child, digest in zip(names, held.children, wanted.child_digests, strict=True):
        if child.digest != digest:
            yield "derive", f"a child is not what was embedded: {name}"
    for name, child, terms in zip(names, held.children, wanted.terms or (), strict=wanted.terms is not None):
        if child.words is not None and child.words != " ".join(terms):
            yield "derive", f"the words of a child are not those of its text: {name}"


def _name(parent: ParentRow, n: int) -> str:
    return f"{parent.id}::{n:02d}"


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None


def _object(text: str) -> dict[str, Any] | None:
    value = _json(text)
    if not isinstance(value, dict):
        return None
    try:
        json.dumps(value, ensure_ascii=False).encode()
        list(fields(value))
    except (FilterError, UnicodeEncodeError):
        # JSON, but not of values that can be stored: half a surrogate pair, a number without end
        return None
    return value
