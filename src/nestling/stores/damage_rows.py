"""What can be wrong with one document: its spans, words, fields and vectors, held to its text and to each other."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from nestling.stores.damage_vectors import Packed, Vectored
from nestling.stores.salvage import rows
from nestling.stores.sqlite_errors import READING, is_damage
from nestling.types import Child, Document, Parent
from nestling.view import Damage, Derive, Told
from nestling.where import fields


class _OtherTypeError(Exception):
    """A column holds a value of another type than it must."""


class _Child(NamedTuple):
    row: int
    parent: int
    start: int
    stop: int
    terms: int
    digest: bytes
    lead: str
    words: str | None
    vector: Packed


class _Parent(NamedTuple):
    row: int
    id: str
    start: int
    stop: int
    heading: str
    metadata: str
    vector: Packed
    children: list[_Child]


class _Stored(NamedTuple):
    """One document with all its rows as they are; ``text`` has been read without error."""

    row: int
    id: str
    title: str
    source: str | None
    metadata: str
    language: str
    digest: bytes
    characters: int
    text: str
    parents: list[_Parent]
    vector: Packed
    fields: Counter[tuple[Any, ...]]

    @property
    def children(self) -> list[_Child]:
        """Of all parents."""
        return [child for parent in self.parents for child in parent.children]


def found(db: sqlite3.Connection, derive: Derive | None, told: Told | None) -> Iterator[Damage]:
    """The damages of every document, by id; each kind is told once a document, with its first place."""
    vectored = Vectored.of(db)
    documents, children = rows(db), 0
    for done, (row, id) in enumerate(documents, 1):
        try:
            stored = _read(db, row, id)
            if isinstance(stored, Damage):
                yield stored
                continue
            yield from _once(_of(stored, derive, vectored), id)
            children += len(stored.children)
        except (*READING, _OtherTypeError) as error:
            if isinstance(error, sqlite3.Error) and not is_damage(error):
                raise
            yield Damage(f"the rows of {id} cannot be read: {error}", "derive", id)
        if told is not None:
            told(done, len(documents), children, id)


def _once(damages: Iterator[tuple[str, str]], id: str) -> Iterator[Damage]:
    """From (remedy, sentence) to one damage of a kind; a kind is what its sentence begins with, up to the colon."""
    first: dict[str, tuple[Any, str]] = {}
    counts: Counter[str] = Counter()
    for remedy, sentence in damages:
        kind, _, place = sentence.partition(": ")
        counts[kind] += 1
        first.setdefault(kind, (remedy, place))
    for kind, (remedy, place) in first.items():
        more = f", and {counts[kind] - 1:,} more" if counts[kind] > 1 else ""
        yield Damage(f"{id}: {kind}{place and f' ({place}{more})'}", remedy, id)


def _read(db: sqlite3.Connection, row: int, id: str) -> _Stored | Damage:
    query = (
        "SELECT row, id, title, source, metadata, language, digest, characters, text FROM documents"
        " WHERE row = ?"
    )
    try:
        own = _typed(
            db.execute(query, (row,)).fetchone() or (row, *[None] * 8),
            int,
            str,
            str,
            object,
            str,
            str,
            bytes,
            int,
            str,
        )
    except (*READING, _OtherTypeError) as error:
        if isinstance(error, sqlite3.Error) and not is_damage(error):
            raise
        return Damage(f"{id}: its text cannot be read: {error}", "none", id)
    query = "SELECT scale, codes, exact FROM document_vectors WHERE row = ?"
    vector = Packed(*(db.execute(query, (row,)).fetchone() or (None, None, None)))
    query = "SELECT path, kind, value, element, parent FROM fields WHERE document = ?"
    return _Stored._make((*own, _read_parents(db, row), vector, Counter(db.execute(query, (row,)))))


def _read_parents(db: sqlite3.Connection, document: int) -> list[_Parent]:
    children: dict[int, list[_Child]] = {}
    query = (
        "SELECT c.row, c.parent, c.start, c.stop, c.terms, c.digest, c.lead, w.terms, v.scale, v.codes, v.exact"
        " FROM children c LEFT JOIN words w ON w.rowid = c.row LEFT JOIN child_vectors v ON v.row = c.row"
        " WHERE c.document = ? ORDER BY c.row"
    )
    for values in db.execute(query, (document,)):
        row = _typed(values[:7], int, int, int, int, int, bytes, str)
        child = _Child._make((*row, values[7], Packed(*values[8:])))
        children.setdefault(child.parent, []).append(child)
    query = (
        "SELECT p.row, p.id, p.start, p.stop, p.heading, p.metadata, v.scale, v.codes, v.exact FROM parents p"
        " LEFT JOIN parent_vectors v ON v.row = p.row WHERE p.document = ? ORDER BY p.row"
    )
    return [
        _Parent._make(
            (
                *_typed(values[:6], int, str, int, int, str, str),
                Packed(*values[6:]),
                children.get(values[0], []),
            )
        )
        for values in db.execute(query, (document,))
    ]


def _typed(values: Sequence[Any], *types: type) -> Sequence[Any]:
    # SQLite keeps values of any type in any column
    for value, type in zip(values, types, strict=True):
        if not isinstance(value, type):
            raise _OtherTypeError(f"row {values[0]} holds {value!r:.20} where {type.__name__} belongs")
    return values


def _of(stored: _Stored, derive: Derive | None, vectored: Vectored) -> Iterator[tuple[str, str]]:
    """(remedy, sentence) of each damage; a sentence is a kind, a colon, and the place."""
    if stored.characters != len(stored.text):
        yield "derive", f"its text has {len(stored.text):,} characters, not {stored.characters:,}"
    metadata = _object(stored.metadata)
    if metadata is None:
        yield "none", "its metadata is no JSON object"
    spans = [*_parents(stored), *(each for parent in stored.parents for each in _children(parent))]
    yield from spans
    heads = list(_heads(stored))
    yield from heads
    yield from _words(stored)
    if metadata is not None:
        if stored.fields != _fields(stored, metadata):
            yield "derive", "its fields are not those of its metadata"
        if derive is not None:
            yield from _derived(stored, [] if spans or heads else stored.parents, metadata, derive)
    yield from vectored.damages(
        [
            (_name(parent, n), child.vector)
            for parent in stored.parents
            for n, child in enumerate(parent.children)
        ],
        [(parent.id, parent.vector, len(parent.children)) for parent in stored.parents],
        stored.vector,
    )


def _parents(stored: _Stored) -> Iterator[tuple[str, str]]:
    kind = "its parents do not cover its text"
    end = 0
    for n, parent in enumerate(stored.parents, 1):
        if parent.start != end or parent.stop <= parent.start:
            yield "derive", f"{kind}: {parent.id} begins at {parent.start} and ends at {parent.stop}"
        end = parent.stop
        wanted = stored.id if len(stored.parents) == 1 else f"{stored.id}§{n}"
        if parent.id != wanted:
            yield "derive", f"a parent has another id: {parent.id} instead of {wanted}"
    numbers = [child.row for child in stored.children]
    if numbers != sorted(numbers):
        yield "derive", "its children are not in the order of its text"
    if end != len(stored.text) and (stored.parents or stored.text.strip()):
        yield "derive", f"{kind}: they end at {end} of {len(stored.text)}"


def _children(parent: _Parent) -> Iterator[tuple[str, str]]:
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


def _heads(stored: _Stored) -> Iterator[tuple[str, str]]:
    for parent in stored.parents:
        heading = _json(parent.heading)
        if not isinstance(heading, list) or not all(isinstance(part, str) for part in heading):
            yield "derive", f"a heading is no JSON list of texts: of {parent.id}"
        if _object(parent.metadata) is None:
            yield "derive", f"a parent's metadata is no JSON object: of {parent.id}"


def _words(stored: _Stored) -> Iterator[tuple[str, str]]:
    for parent in stored.parents:
        for n, child in enumerate(parent.children):
            if child.words is None:
                yield "derive", f"a child has no words: {_name(parent, n)}"
            elif child.terms != (count := len(child.words.split())):
                yield "derive", f"a child has not as many words as it says: {_name(parent, n)} has {count}"


def _fields(stored: _Stored, metadata: dict[str, Any]) -> Counter[tuple[Any, ...]]:
    own = [(0, metadata), *((parent.row, _object(parent.metadata) or {}) for parent in stored.parents)]
    return Counter(
        (path, value.kind, value.value, int(element), row)
        for row, values in own
        for path, value, element in fields(values)
    )


def _derived(
    stored: _Stored, held: Sequence[_Parent], metadata: dict[str, Any], derive: Derive
) -> Iterator[tuple[str, str]]:
    """Hold the document, and those of its parents whose spans are sound, to what the text gives."""
    parents = tuple(
        Parent(
            parent.id,
            parent.start,
            parent.stop,
            tuple(json.loads(parent.heading)),
            tuple(Child(_name(parent, n), c.start, c.stop, c.lead) for n, c in enumerate(parent.children)),
        )
        for parent in held
    )
    document = Document(stored.id, stored.text, stored.title, metadata, stored.source)
    wanted = derive(document, parents, stored.language)
    if wanted.digest != stored.digest:
        again = "remove it and add it again, or restore a backup"
        yield "none", f"its title, text or metadata are not what was added; {again}"
    for parent, heading in zip(parents, wanted.headings or (), strict=False):
        if parent.heading != heading:
            yield "derive", f"a heading is not that of the text: of {parent.id}"
    names = [child.id for parent in parents for child in parent.children]
    children = [child for parent in held for child in parent.children]
    together = zip(names, children, wanted.child_digests, wanted.terms, strict=True)
    for name, child, digest, terms in together:
        if child.digest != digest:
            yield "derive", f"a child is not what was embedded: {name}"
        if child.words is not None and child.words != " ".join(terms):
            yield "derive", f"the words of a child are not those of its text: {name}"


def _name(parent: _Parent, n: int) -> str:
    return f"{parent.id}::{n:02d}"


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None


def _object(text: str) -> dict[str, Any] | None:
    value = _json(text)
    return value if isinstance(value, dict) else None
