"""JSON schemas of what cannot be told by types: filters, golden questions, lines of an upload."""

from __future__ import annotations

import sys

_NO = {"unanswerable": {"const": False}}
_WORDS = {"type": "string", "pattern": r"\S"}
_SPAN = {
    "type": "object",
    "properties": {"document": _WORDS, "quote": _WORDS},
    "required": ["quote"],
    "additionalProperties": False,
}
GOLDEN = {
    "title": "GoldenQuestion",
    "description": "As a line of golden.jsonl (docs/measuring.md), where spans may also be given by offsets.",
    "type": "object",
    "properties": {
        "question": _WORDS,
        "relevant": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
        "must_cite_one_of": {"type": "array", "items": {"type": "string", "minLength": 1}},
        "spans": {"type": "array", "items": _SPAN},
        "unanswerable": {"type": "boolean"},
    },
    "required": ["question"],
    "anyOf": [
        {"required": ["relevant"], "properties": {"relevant": {"minProperties": 1}, **_NO}},
        {"required": ["must_cite_one_of"], "properties": {"must_cite_one_of": {"minItems": 1}, **_NO}},
        {"required": ["spans"], "properties": {"spans": {"minItems": 1}, **_NO}},
        {
            "required": ["unanswerable"],
            "properties": {
                "unanswerable": {"const": True},
                "relevant": {"maxProperties": 0},
                "must_cite_one_of": {"maxItems": 0},
                "spans": {"maxItems": 0},
            },
        },
    ],
}

# exactly, as the largest float is
_LARGEST = int(sys.float_info.max)
_NUMBER = {"type": "number", "minimum": -_LARGEST, "maximum": _LARGEST}
_SCALAR = {"anyOf": [{"type": ["string", "boolean", "null"]}, _NUMBER]}
_BOUND = {"anyOf": [{"type": "string"}, _NUMBER]}
_SCALARS = {"type": "array", "items": _SCALAR}
_ANY = {"$ref": "#/components/schemas/Where"}
_FILTERS = {"type": "array", "items": _ANY, "minItems": 1}
_OPERATORS = {
    **dict.fromkeys(("$eq", "$ne", "$contains"), _SCALAR),
    **dict.fromkeys(("$in", "$nin"), _SCALARS),
    **dict.fromkeys(("$gt", "$gte", "$lt", "$lte"), _BOUND),
    "$exists": {"type": "boolean"},
}
_TESTS = {"type": "object", "properties": _OPERATORS, "additionalProperties": False, "minProperties": 1}
# what `nestling.where` takes
WHERE = {
    "title": "Where",
    "description": "A metadata filter: fields with values or operators, and $and, $or, $not. See docs/http.md.",
    "type": "object",
    "properties": {"$and": _FILTERS, "$or": _FILTERS, "$not": _ANY},
    "patternProperties": {"^[^$]|^$": {"anyOf": [*_SCALAR["anyOf"], _TESTS]}},
    "additionalProperties": False,
}
# what a body says of its filter; the name refers to WHERE
FILTER = {"anyOf": [{"$ref": "#/components/schemas/Where"}, {"type": "null"}], "default": None}
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
LINES = {"title": "Lines", "description": "One Card a line: JSON objects, with line feeds between them."}
