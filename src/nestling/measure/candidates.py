"""What tuning tries: whole sets of settings, and the steps from one to the next."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

from nestling.settings import SHAPE, SHAPES, WINDOW, Recipe, Scoring, Shape

# Sizes are tried as multiples of what the nest has, so that they fit characters and tokens alike.
CHILD_STEPS = (0.5, 0.75, 1.5, 2, 3)
PARENT_STEPS = (0.5, 2, 3)
OVERLAP_STEPS = (0, 0.125, 0.25)
# Weights of the two channels; only their ratio counts.
BALANCES = ((1, 0.5), (0.5, 1), (1, 0.25), (0.25, 1), (1, 0), (0, 1))
LEVEL_WEIGHTS = (0, 0.5, 1, 2)
LOANS = (0, 0.3, 0.6, 0.8, 1)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Everything that tuning decides.

    Attributes:
        recipe: How text becomes rows.
        scoring: How their scores are joined.
        shape: Of a context.
        window: Of the shape of that name.
    """

    recipe: Recipe = field(default_factory=Recipe)
    scoring: Scoring = field(default_factory=Scoring)
    shape: Shape = SHAPE
    window: int = WINDOW

    @property
    def key(self) -> str:
        """A text that is equal for equal settings: numbers that are equal are written alike."""
        return _key(self)

    def settings(self) -> dict[str, Any]:
        """The settings as JSON: ``recipe``, ``scoring``, and ``context`` with shape and window."""
        context = {"shape": self.shape, "window": self.window}
        return {"recipe": asdict(self.recipe), "scoring": asdict(self.scoring), "context": context}

    def told(self, base: Candidate) -> str:
        """What is other than in ``base``: ``child_size 600, lexical 0.5``."""
        own, given = _flat(self), _flat(base)
        return ", ".join(f"{name} {_value(own[name])}" for name in own if own[name] != given[name])


@dataclass(frozen=True, slots=True)
class Axis:
    """One thing that is varied while the rest stays: its name, and the candidates."""

    name: str
    candidates: tuple[Candidate, ...]


def whole(candidate: Candidate) -> Candidate:
    """The whole-card baseline: one child a parent, the rest unchanged."""
    recipe = replace(candidate.recipe, child_size=candidate.recipe.parent_size, overlap=0)
    return replace(candidate, recipe=recipe)


def axes(at: Candidate, sizes: Recipe, packing: bool) -> Iterator[Axis]:
    """The steps from a candidate, what costs no embedding first.

    Args:
        at: Where the search stands.
        sizes: The sizes whose multiples are tried.
        packing: Whether shapes and loans matter to what is measured.
    """
    for name, found in _axes(at, sizes, packing):
        others = {candidate.key: candidate for candidate in found if candidate.key != at.key}
        if others:
            yield Axis(name, tuple(others.values()))


def _axes(at: Candidate, sizes: Recipe, packing: bool) -> Iterator[tuple[str, list[Candidate]]]:
    scoring = at.scoring
    yield "channel weights", [_weighed(at, dense=float(d), lexical=float(b)) for d, b in ((1, 1), *BALANCES)]
    for level in ("document", "parent", "child"):
        others = sum(getattr(scoring, each) for each in ("document", "parent", "child") if each != level)
        weights = [weight for weight in LEVEL_WEIGHTS if weight or others]
        yield f"{level} weight", [_weighed(at, **{level: float(weight)}) for weight in weights]
    if packing:
        yield "neighbour lending", [_weighed(at, lent=float(share)) for share in LOANS]
        yield "pack shape", [replace(at, shape=shape, window=WINDOW) for shape in SHAPES]
    # children stay as they are when only the parents' size changes
    child, parent = at.recipe.child_size, at.recipe.parent_size
    parents = [sizes.parent_size, *(int(sizes.parent_size * step) for step in PARENT_STEPS)]
    yield "parent size", [_cut(at, parent_size=max(size, child)) for size in parents]
    yield "lead", [_cut(at, lead=not at.recipe.lead)]
    children = [sizes.child_size, *(max(1, int(sizes.child_size * step)) for step in CHILD_STEPS)]
    yield "child size", [_cut(at, child_size=size, parent_size=max(size, parent)) for size in children]
    yield "overlap", [_cut(at, overlap=int(child * step)) for step in OVERLAP_STEPS]


# the same candidates are asked for theirs again and again
@lru_cache(maxsize=1024)
def _key(candidate: Candidate) -> str:
    return json.dumps(_even(asdict(candidate)), sort_keys=True)


def _weighed(at: Candidate, **weights: float) -> Candidate:
    return replace(at, scoring=replace(at.scoring, **weights))


def _cut(at: Candidate, **sizes: Any) -> Candidate:
    overlap = min(at.recipe.overlap, sizes.get("child_size", at.recipe.child_size) // 4)
    return replace(at, recipe=replace(at.recipe, **({"overlap": overlap} | sizes)))


def _flat(candidate: Candidate) -> dict[str, Any]:
    shape = candidate.shape if candidate.shape != "window" else f"window {candidate.window}"
    return {**asdict(candidate.recipe), **asdict(candidate.scoring), "shape": shape}


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _even(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _even(item) for key, item in value.items()}
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
