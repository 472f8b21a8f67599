"""Every default once, with its unit and its reason: how text becomes rows, and how their scores are joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nestling.errors import SettingError
from nestling.ranges import amount

# Sizes: children of 200–1,200 characters and parents of 800–4,800 were tried on five corpora with gold
# evidence; 400/1,600 was the best or within .02 of it on each.
CHILD_SIZE = 400
PARENT_SIZE = 1600
# Overlap repeats text in the index without finding more, since neighbours are lent score when packing.
OVERLAP = 0
# The longest lead (title, heading path, table header) put before a child, in characters: with a child of
# 400 it stays inside the 256 tokens of the default model.
LEAD_SIZE = 200
# Seconds for which a watched folder must be quiet before it is synced: programs write a file in several steps,
# and tools write many files in a row.
QUIET = 1.0
# Seconds to wait for another process that is writing, or for a connection: far more than a transaction takes.
TIMEOUT: float = 30
# Passages of a search: as many as are looked through at once.
PASSAGES = 5
# Tokens of a context: room for as many whole parents.
BUDGET = 2000
# How a context takes children, and for `window` how many neighbours on both sides.
Shape = Literal["pack", "parent", "window", "merge"]
SHAPES: tuple[Shape, ...] = ("pack", "parent", "window", "merge")
SHAPE: Shape = "pack"
WINDOW = 1
# Cut-offs of hit, recall and nDCG, and tokens of the contexts in which evidence is looked for: from what is read at
# a glance to a long prompt.
CUTOFFS = (1, 3, 5, 10)
BUDGETS = (500, 1000, 2000, 4000)
# The lowest grade of a judgement that counts as relevant.
LEAST_GRADE = 1
# Minutes until tuning judges what it has found.
MINUTES: float = 10
# What a child gets of its neighbours' mean score when packing, since text beside evidence is often evidence.
# .5 to 1 find alike from 500 tokens on; with less room less is better.
LENT = 0.6
# Words are a little surer than vectors: cards with code gain .005 in nDCG@10 over equal weights, the rest is alike.
LEXICAL = 1.25


@dataclass(frozen=True, slots=True)
class Recipe:
    """How text becomes parents and children.

    Attributes:
        child_size: The most a child holds, in ``unit``; at least 1.
        parent_size: The most a parent holds, in ``unit``; at least ``child_size``.
        overlap: The most of a child that is repeated at the start of the next, in ``unit``, cut at a word;
            less than ``child_size``.
        unit: ``characters`` or ``tokens`` of the embedder.
        lead: Whether a child is embedded and indexed with its title, heading path and table header before it.

    Raises:
        SettingError: A size is not a whole number or is out of its range.
    """

    child_size: int = CHILD_SIZE
    parent_size: int = PARENT_SIZE
    overlap: int = OVERLAP
    unit: Literal["characters", "tokens"] = "characters"
    lead: bool = True

    def __post_init__(self) -> None:
        for name in ("child_size", "parent_size", "overlap"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise SettingError(f"{name} is {value!r}; give a whole number of {self.unit}")
        if self.child_size < 1:
            raise SettingError(f"child_size is {self.child_size}; give at least 1")
        if self.parent_size < self.child_size:
            raise SettingError(
                f"parent_size {self.parent_size} is less than child_size {self.child_size}; "
                "make the parent at least as large as its children"
            )
        if not 0 <= self.overlap < self.child_size:
            raise SettingError(
                f"overlap is {self.overlap}; give 0 or more, and less than child_size {self.child_size}"
            )
        if self.unit not in ("characters", "tokens"):
            raise SettingError(f"unit is {self.unit!r}; give 'characters' or 'tokens'")
        if not isinstance(self.lead, bool):
            raise SettingError(f"lead is {self.lead!r}; give true or false")


@dataclass(frozen=True, slots=True)
class Scoring:
    """How much each of the six lists counts, and what neighbours lend. Nothing of it is in the rows of a nest.

    A list counts its channel's weight times its level's, and less the closer together its scores are
    (`nestling.retrieve.fuse.fuse`). Where only lists of weight 0 can vote, they count alike.

    Attributes:
        dense: Weight of the channel; 0 or more.
        lexical: Weight of the channel; 0 or more.
        document: Weight of the level; 0 or more.
        parent: Weight of the level; 0 or more.
        child: Weight of the level; 0 or more.
        lent: The share of its neighbours' mean score that a child gets besides its own when a context is
            packed, 0 to 1.

    Raises:
        SettingError: A number is out of its range, or all channels or all levels weigh nothing.
    """

    dense: float = 1.0
    lexical: float = LEXICAL
    document: float = 1.0
    parent: float = 1.0
    child: float = 1.0
    lent: float = LENT

    def __post_init__(self) -> None:
        for name in ("dense", "lexical", "document", "parent", "child", "lent"):
            amount(name, getattr(self, name))
        if self.lent > 1:
            raise SettingError(f"lent is {self.lent!r}; give a number from 0 to 1")
        if not self.dense + self.lexical or not self.document + self.parent + self.child:
            raise SettingError("all channels, or all levels, weigh 0; give one of them a weight above 0")
