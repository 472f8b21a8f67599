"""What requests hold, as OpenAPI describes it and as it is checked.

What a nest checks is left to it, so that its sentences tell what is wrong. Here is checked what only a server
limits, and what only JSON can get wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, WithJsonSchema

import nestling
from nestling.apps.server.schemas import GOLDEN
from nestling.settings import BUDGET, BUDGETS, CUTOFFS, PASSAGES, SHAPE, SHAPES, WINDOW

# Characters of a question: ten thousand words, and far more than a model reads.
LONGEST = 100_000
# Passages of one answer; there are further pages.
MOST = 1000
# Documents of one page of a list. The nest goes through all of them for each page.
MOST_LISTED = 10_000
# Tokens of a context: more than language models read.
MOST_TOKENS = 1_000_000
# Passages that can be passed over.
FURTHEST = 1_000_000_000
# Golden questions of one evaluation.
MOST_QUESTIONS = 2000


@dataclass(frozen=True, slots=True)
class _Checked:
    """Checks a value, whose name is given too, and returns it as it is used."""

    check: Callable[[str, Any], Any]


def _whole(least: int, most: int) -> tuple[WithJsonSchema, _Checked]:
    def check(name: str, value: Any) -> Any:
        if isinstance(value, int) and value > most:
            raise nestling.SettingError(f"{name} is {value}; a server takes at most {most:,}")
        return value

    return WithJsonSchema({"type": "integer", "minimum": least, "maximum": most}), _Checked(check)


def _text(longest: int | None = None) -> tuple[WithJsonSchema, _Checked]:
    def check(name: str, value: Any) -> Any:
        if longest is not None and isinstance(value, str) and len(value) > longest:
            raise nestling.SettingError(
                f"the {name} has {len(value):,} characters; a server takes at most {longest:,}"
            )
        return value

    schema = {"type": "string"} if longest is None else {"type": "string", "maxLength": longest}
    return WithJsonSchema(schema), _Checked(check)


def _list(of: dict[str, Any], most: int, least: int = 0) -> tuple[WithJsonSchema, _Checked]:
    def check(name: str, value: Any) -> Any:
        if not isinstance(value, list):
            raise nestling.SettingError(f"{name} is {value!r:.80}; give a list")
        if not least <= len(value) <= most:
            raise nestling.SettingError(
                f"{name} has {len(value):,} items; a server takes {least} to {most:,} at once: send a part of them"
            )
        return value

    return WithJsonSchema({"type": "array", "items": of, "minItems": least, "maxItems": most}), _Checked(
        check
    )


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise nestling.SettingError(f"{name} is {value!r:.80}; give true or false")
    return value


def _evaluation(name: str, value: Any) -> nestling.Evaluation:
    try:
        return nestling.Evaluation.from_json(value)
    except nestling.DocumentError as error:
        raise nestling.DocumentError(f"{name}: {error}") from error


def _or_null(**schema: Any) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": [schema, {"type": "null"}]})


_TOKENS = {"type": "integer", "minimum": 1, "maximum": MOST_TOKENS}
Query = Annotated[Any, *_text(LONGEST)]
Text = Annotated[Any, *_text()]
# what the schema says of these, which pydantic cannot refer to, takes its place in description.py
Filter = Annotated[Any, WithJsonSchema({})]
Similarity = Annotated[Any, _or_null(type="number", minimum=-1, maximum=1)]
Coverage = Annotated[Any, _or_null(type="number", minimum=0, maximum=1)]
Shape = Annotated[Any, WithJsonSchema({"type": "string", "enum": list(SHAPES)})]
Flag = Annotated[Any, WithJsonSchema({"type": "boolean"}), _Checked(_flag)]
Tokens = Annotated[Any, *_whole(1, MOST_TOKENS)]
Ks = Annotated[Any, *_list({"type": "integer", "minimum": 1, "maximum": MOST}, 20)]
Budgets = Annotated[Any, *_list(_TOKENS, 20)]
Evaluation = Annotated[Any, WithJsonSchema({}), _Checked(_evaluation)]


class Body(BaseModel):
    """What a request holds; other names are refused.

    Attributes:
        whole: Whether 5.0 in it is taken for 5, since JSON has one kind of number. Not in what is stored as it is.
    """

    model_config = ConfigDict(extra="forbid")
    whole: ClassVar[bool] = True

    def checked(self) -> Self:
        """The same, each value as it is used.

        Raises:
            SettingError: A value is beyond what a server takes, or not of its kind.
        """
        for name, field in type(self).model_fields.items():
            for each in field.metadata:
                if isinstance(each, _Checked):
                    setattr(self, name, each.check(name, getattr(self, name)))
        return self


class Search(Body):
    """A question, and how many passages to answer it with."""

    query: Query
    k: Annotated[Any, *_whole(0, MOST)] = PASSAGES
    where: Filter = None
    offset: Annotated[Any, *_whole(0, FURTHEST)] = 0
    min_similarity: Similarity = None
    min_coverage: Coverage = None
    explain: Flag = False


class Pack(Body):
    """A question, and how many tokens of text to answer it with."""

    query: Query
    budget: Tokens = BUDGET
    shape: Shape = SHAPE
    window: Annotated[Any, *_whole(0, MOST)] = WINDOW
    where: Filter = None
    min_similarity: Similarity = None
    min_coverage: Coverage = None


class Ask(Body):
    """A question to be answered; ``context``: whether all that it was answered from comes with the answer."""

    question: Query
    budget: Tokens = BUDGET
    where: Filter = None
    min_similarity: Similarity = None
    min_coverage: Coverage = None
    context: Flag = False


class Verify(Body):
    """A text, whoever wrote it, to be held to the nest."""

    text: Query


class Put(Body):
    """A document without its id, which is in the address."""

    whole = False

    text: Text
    title: Text = ""
    metadata: Annotated[Any, WithJsonSchema({"type": "object"})] = {}
    source: Annotated[Any, _or_null(type="string")] = None


class Remove(Body):
    """Documents to be removed."""

    ids: Annotated[Any, *_list({"type": "string"}, 1_000_000)]


class Evaluate(Body):
    """Golden questions, and how to ask them."""

    questions: Annotated[Any, *_list(GOLDEN, MOST_QUESTIONS, 1)]
    name: Text = ""
    edition: Annotated[Any, _or_null(type="integer", minimum=1)] = None
    charts: Flag = False
    k: Ks = list(CUTOFFS)
    budgets: Budgets = list(BUDGETS)
    where: Filter = None
    min_similarity: Similarity = None
    min_coverage: Coverage = None


class Compare(Body):
    """Two evaluations of the same questions, as `/v1/evaluate` gives them, and what to call them."""

    a: Evaluation
    b: Evaluation
    names: Annotated[Any, *_list({"type": "string"}, 2, 2)] = ["A", "B"]
