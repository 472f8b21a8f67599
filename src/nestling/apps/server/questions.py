"""What requests hold. Numbers and filters are checked by the nest, so that its sentences tell what is wrong."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, WithJsonSchema

import nestling

# Characters of a question: ten thousand words, and far more than a model reads.
LONGEST = 100_000
# Passages of one answer, or lines of one page; there are further pages.
MOST = 1000
# Golden questions of one evaluation.
MOST_QUESTIONS = 2000

_LARGEST = 1.7e308


def _whole(least: int, most: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "integer", "minimum": least, "maximum": most})


def _listed(**schema: Any) -> WithJsonSchema:
    return WithJsonSchema({"type": "array", "items": schema})


def _or_null(**schema: Any) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [schema, {"type": "null"}]})


Query = Annotated[Any, WithJsonSchema({"type": "string", "maxLength": LONGEST})]
Text = Annotated[Any, WithJsonSchema({"type": "string"})]
# what the schema says of it, which pydantic cannot refer to, takes its place in app.py
Filter = Annotated[Any, WithJsonSchema({})]
FILTER = {"anyOf": [{"$ref": "#/components/schemas/Where"}, {"type": "null"}], "default": None}
Similarity = Annotated[Any, _or_null(type="number", minimum=-1, maximum=1)]
Coverage = Annotated[Any, _or_null(type="number", minimum=0, maximum=1)]
Shape = Annotated[Any, WithJsonSchema({"type": "string", "enum": ["pack", "parent", "window", "merge"]})]

TWO_NAMES = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Search(_Body):
    """A question, and how many passages to answer it with."""

    query: Query
    k: Annotated[Any, _whole(0, MOST)] = 5
    where: Filter = None
    offset: Annotated[Any, _whole(0, 10**9)] = 0
    min_similarity: Similarity = None
    min_coverage: Coverage = None
    explain: Annotated[Any, WithJsonSchema({"type": "boolean"})] = False


class Pack(_Body):
    """A question, and how many tokens of text to answer it with."""

    query: Query
    budget: Annotated[Any, _whole(1, 1_000_000)] = 2000
    shape: Shape = "pack"
    window: Annotated[Any, _whole(0, MOST)] = 1
    where: Filter = None
    min_similarity: Similarity = None
    min_coverage: Coverage = None


class Ask(_Body):
    """A question to be answered; ``context``: whether all that it was answered from comes with the answer."""

    question: Query
    budget: Annotated[Any, _whole(1, 1_000_000)] = 2000
    where: Filter = None
    min_similarity: Similarity = None
    min_coverage: Coverage = None
    context: Annotated[Any, WithJsonSchema({"type": "boolean"})] = False


class Verify(_Body):
    """A text, whoever wrote it, to be held to the nest."""

    text: Query


class Put(_Body):
    """A document without its id, which is in the address."""

    text: Text
    title: Text = ""
    metadata: Annotated[Any, WithJsonSchema({"type": "object"})] = {}
    source: Annotated[Any, _or_null(type="string")] = None


class Remove(_Body):
    """Documents to be removed."""

    ids: Annotated[Any, _listed(type="string")]


class Evaluate(_Body):
    """Golden questions, as in the lines of golden.jsonl (docs/measuring.md), and how to ask them."""

    questions: Annotated[Any, _listed(type="object")]
    name: Text = ""
    edition: Annotated[Any, _or_null(type="integer", minimum=1)] = None
    charts: Annotated[Any, WithJsonSchema({"type": "boolean"})] = False
    k: Annotated[Any, _listed(type="integer", minimum=1, maximum=MOST)] = [1, 3, 5, 10]
    budgets: Annotated[Any, _listed(type="integer", minimum=1, maximum=1_000_000)] = [500, 1000, 2000, 4000]
    where: Filter = None
    min_similarity: Similarity = None
    min_coverage: Coverage = None


class Compare(_Body):
    """Two evaluations of the same questions, as `/v1/evaluate` gives them, and what to call them."""

    a: Annotated[Any, WithJsonSchema({"type": "object"})]
    b: Annotated[Any, WithJsonSchema({"type": "object"})]
    names: Annotated[Any, WithJsonSchema(TWO_NAMES)] = ["A", "B"]


def check_length(name: str, value: Any) -> None:
    """Refuse a text that is longer than a server reads.

    Raises:
        SettingError: It is.
    """
    if isinstance(value, str) and len(value) > LONGEST:
        raise nestling.SettingError(
            f"the {name} has {len(value):,} characters; a server reads at most {LONGEST:,}: give less"
        )


def check_list(name: str, value: Any) -> list[Any]:
    """The value, which must be a list.

    Raises:
        SettingError: It is none.
    """
    if not isinstance(value, list):
        raise nestling.SettingError(f"{name} is {value!r:.80}; give a list")
    return value


def check_flag(name: str, value: Any) -> bool:
    """The value, which must be true or false.

    Raises:
        SettingError: It is neither.
    """
    if not isinstance(value, bool):
        raise nestling.SettingError(f"{name} is {value!r:.80}; give true or false")
    return value


_ANY = {"$ref": "#/components/schemas/Where"}
_FILTERS = {"type": "array", "items": _ANY, "minItems": 1}
_SCALAR = {
    "anyOf": [
        {"type": ["string", "boolean", "null"]},
        {"type": "number", "minimum": -_LARGEST, "maximum": _LARGEST},
    ]
}
_BOUND = {
    "anyOf": [{"type": "string"}, {"type": "number", "minimum": -_LARGEST, "maximum": _LARGEST}],
}
_SCALARS = {"type": "array", "items": _SCALAR}
_OPERATORS = {
    **dict.fromkeys(("$eq", "$ne", "$contains"), _SCALAR),
    **dict.fromkeys(("$in", "$nin"), _SCALARS),
    **dict.fromkeys(("$gt", "$gte", "$lt", "$lte"), _BOUND),
    "$exists": {"type": "boolean"},
}
# what `nestling.where` takes
WHERE = {
    "title": "Where",
    "description": "A metadata filter: fields with values or operators, and $and, $or, $not. See docs/http.md.",
    "type": "object",
    "properties": {
        "$and": _FILTERS,
        "$or": _FILTERS,
        "$not": _ANY,
    },
    "patternProperties": {
        "^[^$]|^$": {
            "anyOf": [
                *_SCALAR["anyOf"],
                {
                    "type": "object",
                    "properties": _OPERATORS,
                    "additionalProperties": False,
                    "minProperties": 1,
                },
            ]
        }
    },
    "additionalProperties": False,
}

# a line of an upload
CARD = {
    "title": "Card",
    "description": "One document a line. Names that are not known here join the metadata.",
    "type": "object",
    "properties": {
        "id": {"type": ["string", "integer"], "minLength": 1},
        "text": {"type": "string"},
        "title": {"type": "string"},
        "metadata": {"type": "object"},
        "source": {"type": ["string", "null"]},
    },
    "required": ["id", "text"],
}
