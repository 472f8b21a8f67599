"""From the JSON that a server answers with back to the value types that it was made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from nestling.errors import ServerError

T = TypeVar("T")


def value_of(kind: type[T], given: Any) -> T:
    """The value whose JSON was given; names that are not known here are left out.

    Raises:
        ServerError: It is no JSON of this type.
    """
    try:
        value: T = _read(kind, given)
    except (TypeError, LookupError, AttributeError) as error:
        raise ServerError(
            f"the server's answer is no {kind.__name__} ({error!r:.100}); is it another version of Nestling?"
        ) from error
    return value


def _read(kind: Any, given: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields")):
        return kind(**{name: _read(hint, given[name]) for name, hint in _hints(kind) if name in given})
    if origin in (Union, UnionType):
        return None if given is None else _read(next(each for each in inner if each is not type(None)), given)
    if origin is tuple:
        return tuple(_read(inner[0], each) for each in given)
    if origin is list:
        return [_read(inner[0], each) for each in given]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: _read(inner[1], each) for key, each in given.items()}
    return given


@cache
def _hints(kind: Any) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else kind._fields
    return tuple((name, hints[name]) for name in names)
