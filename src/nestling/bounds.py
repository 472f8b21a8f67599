"""What a scope holds its documents to: values that their metadata must have, and ids that say so.

A document that is added in a scope is stored under its id with a label before it, ``«tenant=acme»handbook.md``, so
that every scope can have a ``handbook.md`` of its own. Inside the scope the label is left out again. A label is
written in one way only: keys sorted, values as JSON has them or as plain text, what is special percent-encoded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any
from urllib.parse import unquote

from nestling.errors import DocumentError, FilterError, SettingError
from nestling.types import Document
from nestling.where import Scalar, Value, scalar

# More keys would mean more than 64 ids to look under for each id.
MOST_KEYS = 6
# How a scope shows a document that another one of the same id hides: before its id as stored.
HIDDEN = "«»"
_LABEL = re.compile("«([^«»]+)»(?=.)", re.DOTALL)
_SPECIAL = re.compile(r"[«»&=%\[\]\s\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The values that documents must have to be in a scope, by key; none: every document is.

    Attributes:
        values: Sorted by key.
    """

    values: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Bounds:
        """Check the keys and values of a scope.

        Raises:
            SettingError: There is none, or are too many; a key cannot be a metadata key, or a value is no text,
                finite number, true or false.
        """
        if not 1 <= len(given) <= MOST_KEYS:
            raise SettingError(
                f"a scope of {len(given)} keys; give one to {MOST_KEYS}, such as scope(tenant='acme')"
            )
        return cls(tuple(sorted((_key(key), _value(key, value)) for key, value in given.items())))

    def __bool__(self) -> bool:
        return bool(self.values)

    def __str__(self) -> str:
        return ", ".join(f"{key}={value.value!r}" for key, value in self.values)

    def narrowed(self, other: Bounds) -> Bounds:
        """Both bounds together.

        Raises:
            SettingError: They say different things of a key.
        """
        if not self or not other:
            return self or other
        own, more = dict(self.values), dict(other.values)
        for key in own.keys() & more.keys():
            if own[key] != more[key]:
                raise SettingError(
                    f"this is a scope of {self} already, and {key} cannot be {more[key].value!r} in it; leave"
                    f" {key} out, or make the scope of the nest itself"
                )
        return Bounds(tuple(sorted((own | more).items())))

    def without(self, other: Bounds) -> Bounds:
        """These, but for what the other says, too."""
        return Bounds(tuple(each for each in self.values if each not in other.values))

    def agrees(self, other: Bounds) -> bool:
        """Whether no key has another value here than there."""
        more = dict(other.values)
        return all(more.get(key, value) == value for key, value in self.values)

    def holds(self, metadata: Mapping[str, Any]) -> bool:
        """Whether the metadata has every value, as itself and not in a list."""
        return all(key in metadata and _is(metadata[key], value) for key, value in self.values)

    @property
    def label(self) -> str:
        """What stands before the id of a document that was added in the scope."""
        pairs = (f"{_quoted(key)}={_quoted(_text(value.value))}" for key, value in self.values)
        return f"«{'&'.join(pairs)}»" if self else ""

    def stamped(self, document: Document) -> Document:
        """A document as it may be stored here: its metadata has the values of the scope and of its id's label.

        Raises:
            DocumentError: Its metadata or its id says otherwise.
        """
        said, name = labelled(document.id)
        if (self and document.id.startswith(HIDDEN)) or (not said and _is_label(document.id)):
            raise DocumentError(
                f"the id {document.id!r} begins like the label of a scope; choose another beginning"
            )
        if any(key in dict(self.values) for key, _ in said.values):
            raise DocumentError(
                f"the id {document.id!r} names a scope, and this is the scope of {self}; give the id without it:"
                f" {name!r}"
            )
        values = (*self.values, *said.values)
        for key, value in values:
            if key in document.metadata and not _is(document.metadata[key], value):
                raise DocumentError(
                    f"its metadata has {key}={document.metadata[key]!r:.80}, and"
                    f" {'the scope' if (key, value) in self.values else 'its id'} says {key}={value.value!r};"
                    f" leave {key} out of the metadata, or add the document elsewhere"
                )
        missing = {key: value.value for key, value in values if key not in document.metadata}
        return replace(document, metadata={**document.metadata, **missing}) if missing else document

    def own(self, id: str) -> str:
        """The id under which a new document is stored."""
        said, name = labelled(id)
        return self.narrowed(said).label + name

    def plain(self, stored: str) -> str:
        """A stored id without what the scope says."""
        said, name = labelled(stored)
        return said.without(self).label + name

    def forms(self, id: str) -> Iterator[str]:
        """Every id under which a document of this plain id can be stored, the scope's own first.

        Others than its own are those that were added from outside, or from a wider scope, and are in the scope by
        their metadata.
        """
        said, name = labelled(id)
        if id.startswith(HIDDEN) or any(key in dict(self.values) for key, _ in said.values):
            return
        for count in range(len(self.values), -1, -1):
            for some in combinations(self.values, count):
                yield said.narrowed(Bounds(some)).label + name


EVERYTHING = Bounds()


def labelled(id: str) -> tuple[Bounds, str]:
    """The label of an id, and what follows it; without a label that is written as `Bounds.label` is, all of it."""
    found = _LABEL.match(id)
    said = _said(found[1]) if found else EVERYTHING
    return (said, id[found.end() :]) if found and said.label == found[0] else (EVERYTHING, id)


def _is_label(id: str) -> bool:
    return id.endswith("»") and bool(labelled(id + "x")[0]) and labelled(id + "x")[1] == "x"


def _said(inside: str) -> Bounds:
    pairs = [part.partition("=") for part in inside.split("&")]
    try:
        return Bounds.of({unquote(key): _read(unquote(value)) for key, _, value in pairs})
    except SettingError:
        return EVERYTHING


def _key(key: object) -> str:
    if not isinstance(key, str) or not key or key.startswith("$") or "." in key or _unstorable(key):
        raise SettingError(
            f"{key!r:.80} cannot be the key of a scope; give the name of a metadata field, without dots"
        )
    return key


def _value(key: str, value: object) -> Value:
    if isinstance(value, str | int | float):
        try:
            return scalar(value, key)
        except FilterError:
            pass
    raise SettingError(f"{key} of a scope is {value!r:.80}; give text, a finite number, true or false")


def _unstorable(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _is(given: object, value: Value) -> bool:
    return isinstance(given, str | int | float) and scalar(given, "metadata") == value


def _quoted(text: str) -> str:
    return _SPECIAL.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), text)


def _text(value: Scalar) -> str:
    """A value so that `_read` gives it back: text stands in quotes where it would be read as something else."""
    if isinstance(value, str):
        return value if _read(value) == value else json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        value = int(value)
    return json.dumps(value)


def _read(text: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, list | dict) else value
