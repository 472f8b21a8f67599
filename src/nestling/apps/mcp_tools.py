"""The tools that assistants are offered: what each is called, what it takes, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nestling
from nestling.apps import mcp_answers as answers
from nestling.apps import wire
from nestling.apps.mcp_answers import Answer
from nestling.settings import BUDGET, PASSAGES

# Passages of one search.
MOST_PASSAGES = 50
# Passages before and after the one that is read.
MOST_NEIGHBOURS = 20
# Tokens of one context.
MOST_TOKENS = 20_000
# Documents of one page of a list.
MOST_DOCUMENTS = 200


@dataclass(frozen=True)
class Tool:
    """What a tool is called, what it takes, and what it does.

    Attributes:
        name: As it is called.
        title: For people.
        description: For a model.
        parameters: JSON schemas of its arguments, by name.
        required: The arguments that must be given.
        run: Called with the nest and the checked arguments.
    """

    name: str
    title: str
    description: str
    parameters: dict[str, wire.JSON]
    required: tuple[str, ...]
    run: Callable[[nestling.Nest, dict[str, Any]], Answer]

    @property
    def schema(self) -> wire.JSON:
        """The JSON schema of all arguments; others are refused."""
        return {
            "type": "object",
            "properties": self.parameters,
            "required": list(self.required),
            "additionalProperties": False,
        }


_QUERY = {
    "type": "string",
    "maxLength": 10_000,
    "description": "A question or words, in any language; say what is looked for, in full.",
}
_WHERE = {
    "type": "object",
    "description": (
        'A metadata filter that narrows what is looked at: {"lang": "en"}, {"year": {"$gte": 2020}},'
        ' {"$and": [{…}, {…}]}. `list` shows the metadata that documents have.'
    ),
}
_GATE: dict[str, wire.JSON] = {
    "where": _WHERE,
    "min_similarity": {
        "type": "number",
        "minimum": -1,
        "maximum": 1,
        "description": "Leave out passages whose best part's cosine to the query is below it.",
    },
    "min_coverage": {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
        "description": "Leave out passages that hold a smaller share of the query's words, weighed by rarity.",
    },
}


def _whole(least: int, most: int, default: int, description: str) -> wire.JSON:
    return {
        "type": "integer",
        "minimum": least,
        "maximum": most,
        "default": default,
        "description": description,
    }


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "search",
            "Search",
            "Find the passages that answer a query, best first, each whole, with a marker to cite it by.",
            {
                "query": _QUERY,
                "k": _whole(1, MOST_PASSAGES, PASSAGES, "How many passages."),
                "offset": _whole(0, 10_000, 0, "How many of the best to leave out: page 2 of 5 is offset 5."),
                **_GATE,
            },
            ("query",),
            answers.search,
        ),
        Tool(
            "context",
            "Context",
            "Get what the documents say on a query, as much as fits into a number of tokens: the best parts of the"
            " best passages, in the order of their documents, with markers to cite them by. Better than search"
            " where the answer may need several passages.",
            {
                "query": _QUERY,
                "budget": _whole(1, MOST_TOKENS, BUDGET, "Tokens of the whole text."),
                **_GATE,
            },
            ("query",),
            answers.context,
        ),
        Tool(
            "read",
            "Read",
            "Read a passage by its id or marker, with those before and after it; or a document by its id, from its"
            " beginning; or its outline: the headings, each with the marker to read on by.",
            {
                "id": {
                    "type": "string",
                    "maxLength": 10_000,
                    "description": "Of a passage or document, or its marker.",
                },
                "before": _whole(0, MOST_NEIGHBOURS, 0, "How many passages before it."),
                "after": _whole(0, MOST_NEIGHBOURS, 0, "How many passages after it."),
                "outline": {
                    "type": "boolean",
                    "default": False,
                    "description": "Headings instead of text, from there on.",
                },
            },
            ("id",),
            answers.read,
        ),
        Tool(
            "list",
            "List",
            "List the documents by id, with title, metadata and size.",
            {
                "where": _WHERE,
                "after": {
                    "type": "string",
                    "description": "Only ids after this one: the last of the page before, or its marker.",
                },
                "limit": _whole(1, MOST_DOCUMENTS, answers.DOCUMENTS, "How many documents."),
            },
            (),
            answers.list_,
        ),
    )
}
