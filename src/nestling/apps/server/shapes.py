"""What OpenAPI says of answers: models made of the value types, as `nestling.apps.wire` writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, create_model

import nestling

# models are made of types that are only known when the program runs
_create: Any = create_model
Model = type[BaseModel]


@cache
def shape(value_type: Any) -> Model:
    """The model of a value type's JSON: an object of its attributes."""
    hints = get_type_hints(value_type)
    of_dataclass = is_dataclass(value_type)
    names = [field.name for field in fields(value_type)] if of_dataclass else list(value_type._fields)
    about = (value_type.__doc__ or "").partition("\n")[0]
    return _model(value_type.__name__, about, **{name: _type(hints[name]) for name in names})


def _type(hint: Any) -> Any:
    """What a type is in JSON."""
    origin, inner = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and (is_dataclass(hint) or hasattr(hint, "_fields")):
        return shape(hint)
    if origin in (Union, UnionType):
        return Union[tuple(_type(each) for each in inner)]  # noqa: UP007
    if origin in (tuple, list):
        return list[_type(inner[0])]  # type: ignore[misc]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, _type(inner[1])]  # type: ignore[misc]
    return hint if origin is not Literal else str


def _model(name: str, about: str, /, *, base: Model = BaseModel, **types: Any) -> Model:
    told = {key: (kind, ...) for key, kind in types.items()}
    model: Model = _create(name, __doc__=about, __base__=base, **told)
    return model


def _or_none(kind: Any) -> Any:
    return Union[kind, None]  # noqa: UP007


Found = _model(
    "Found",
    "What a search found.",
    query=str,
    passages=_type(list[nestling.Passage]),
    abstained=_or_none(str),
)
Explained = _model(
    "Explained", "What a search found, and why.", base=Found, explanation=shape(nestling.Explanation)
)
Error = _model("Error", "What was wrong, and what to do next.", type=str, message=str)
Failed = _model("Failed", "Why a request failed.", error=Error)
Interrupted = _model(
    "Interrupted", "Why adding failed, and what it had stored.", base=Failed, report=shape(nestling.Report)
)
Listed = _model(
    "Listed",
    "Documents by id; `next` is what `after` must be for those that follow, or null; `total`: of all that fit.",
    documents=_type(list[nestling.DocumentInfo]),
    next=_or_none(str),
    total=int,
)
Packed = _model("Packed", "A context.", base=shape(nestling.Context), query=str)
Shown = _model("Shown", "A document.", base=shape(nestling.Tree), id=str, start=int, end=int)
Stored = _model("Stored", "What was stored.", base=shape(nestling.Report), nest=str)
Removed = _model("Removed", "What was removed.", nest=str, removed=list[str], missing=list[str])
Verified = _model("Verified", "What a text cites and claims.", base=shape(nestling.Verification), sound=bool)
Basis = _model("Basis", "What was answered from.", tokens=int, budget=int, passages=list[str])
Answered = _model(
    "Answered",
    "An answer.",
    base=shape(nestling.Answer),
    verification=Verified,
    context=Union[Basis, shape(nestling.Context)],  # noqa: UP007
)
Evaluated = shape(nestling.Evaluation)
Charted = _model(
    "Charted", "An evaluation with its plots.", base=Evaluated, charts=_type(list[nestling.Chart])
)
Compared = shape(nestling.Comparison)
Editions = _model(
    "Editions", "Every edition, by number.", nest=str, editions=_type(list[nestling.EditionInfo])
)
Value = _model("Value", "A value, and how many documents have it.", value=Any, documents=int)
Field = _model(
    "Field",
    "A name in the metadata. `values`: the most frequent; `distinct`: how many; `least` and `most`: of numbers.",
    name=str,
    documents=int,
    distinct=int,
    values=list[Value],  # type: ignore[valid-type]
    least=_or_none(float),
    most=_or_none(float),
)
Fields = _model("Fields", "What the metadata holds.", documents=int, fields=list[Field])  # type: ignore[valid-type]
Checked = _model("Checked", "What is damaged.", nest=str, ok=bool, damage=list[str])
Counts = _model(
    "Counts",
    "What is in the nest.",
    nest=str,
    documents=int,
    parents=int,
    children=int,
    languages=dict[str, int],
    bytes=int,
    edition=int,
    change=int,
    recipe=dict[str, Any],
    scoring=dict[str, float],
    embedder=str,
)
Health = _model("Health", "How the server is.", status=str)
