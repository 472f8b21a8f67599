"""Evaluations, read and laid side by side: the same questions, figure by figure.

An evaluation is what `Nest.evaluate` gives, or its JSON value, which ``nestling eval --out`` writes:
``questions``, each with its ``id``, ``question`` and ``figures`` by name.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from nestling.errors import InputError, NotFoundError
from nestling.measure.bootstrap import Values

Pair = tuple[Mapping[str, Any], Mapping[str, Any]]


class Measured(Protocol):
    """An `Evaluation`."""

    def to_json(self) -> dict[str, Any]:
        """Its JSON value."""
        ...


Result = Mapping[str, Any] | Measured

# Figures of which less is better.
LOWER = ("tokens", "seconds")
# What decides, where it is there: the evidence, else what others publish for rankings.
HEADLINES = ("evidence recall", "document/nDCG@10", "parent/nDCG@10")


@dataclass(frozen=True, slots=True)
class Paired:
    """Two evaluations over the questions they share.

    Attributes:
        pairs: The questions of both, in the order of the first.
        only_a: Ids that only the first has.
        only_b: Ids that only the second has.
        reworded: Ids under which the two asked different questions; not among ``pairs``.
        series: For each figure that some question has in both, its values in both; what decides comes first.
    """

    pairs: tuple[Pair, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    reworded: tuple[str, ...]
    series: dict[str, tuple[Values, Values]]


def read_result(path: str | Path) -> dict[str, Any]:
    """Read the JSON value of an evaluation from a file.

    Raises:
        NotFoundError: There is no such file.
        InputError: It is not an evaluation.
    """
    hint = "give what `nestling eval --out FILE` wrote"
    try:
        found = json.loads(Path(path).read_bytes())
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {path}; write it with `nestling eval --out {path}`") from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as JSON ({error}); {hint}") from error
    _by_id(found, str(path))
    return dict(found)


def pair(a: Result, b: Result, names: tuple[str, str]) -> Paired:
    """Lay two evaluations side by side.

    Args:
        a: The first.
        b: The second.
        names: What to call them in errors.

    Raises:
        InputError: One is not an evaluation, or they have no question in common.
    """
    first, second = _by_id(a, names[0]), _by_id(b, names[1])
    both = [id for id in first if id in second]
    reworded = {id for id in both if first[id].get("question") != second[id].get("question")}
    pairs = tuple((first[id], second[id]) for id in both if id not in reworded)
    if not pairs:
        raise InputError(
            f"{names[0]} and {names[1]} have no question in common; evaluate both with the same golden questions"
        )
    return Paired(
        pairs,
        tuple(id for id in first if id not in second),
        tuple(id for id in second if id not in first),
        tuple(id for id in both if id in reworded),
        _series(pairs),
    )


def figures(question: Mapping[str, Any]) -> dict[str, float]:
    """The figures of one question of an evaluation, with its ``tokens`` (mean over the budgets) and ``seconds``."""
    found = {str(name): float(value) for name, value in question["figures"].items() if _is_number(value)}
    tokens = question.get("tokens")
    spent = [value for value in tokens.values() if _is_number(value)] if isinstance(tokens, Mapping) else []
    if spent:
        found["tokens"] = float(np.mean(spent))
    if _is_number(question.get("seconds")):
        found["seconds"] = float(question["seconds"])
    return found


def _series(pairs: tuple[Pair, ...]) -> dict[str, tuple[Values, Values]]:
    found: dict[str, tuple[list[float], list[float]]] = {}
    for x, y in pairs:
        one, other = figures(x), figures(y)
        for name, value in one.items():
            if name in other:
                values = found.setdefault(name, ([], []))
                values[0].append(value)
                values[1].append(other[name])
    heads = [name for name in HEADLINES if name in found]
    order = [*heads, *(name for name in found if name not in heads)]
    return {name: (np.array(found[name][0]), np.array(found[name][1])) for name in order}


def plain(result: Result) -> Mapping[str, Any]:
    """The JSON value of an evaluation."""
    return result if isinstance(result, Mapping) else result.to_json()


def _by_id(given: Result, name: str) -> dict[str, Mapping[str, Any]]:
    result = plain(given) if isinstance(given, Mapping) or hasattr(given, "to_json") else None
    questions = result.get("questions") if isinstance(result, Mapping) else None
    if not isinstance(questions, list | tuple) or not all(
        isinstance(each, Mapping) and "id" in each and isinstance(each.get("figures"), Mapping)
        for each in questions
    ):
        raise InputError(f"{name} is no evaluation; give what `nestling eval --out FILE` wrote")
    return {str(each["id"]): each for each in questions}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
