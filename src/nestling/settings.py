"""Every default once, with its unit and its reason; and the recipe, which decides how text becomes rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nestling.errors import SettingError

# Sizes: children of 200–1,200 characters and parents of 800–4,800 were tried on five corpora with gold
# evidence; 400/1,600 was the best or within .02 of it on each.
CHILD_SIZE = 400
PARENT_SIZE = 1600
# Overlap repeats text in the index without finding more, since neighbours are lent score when packing.
OVERLAP = 0
# The longest lead (title, heading path, table header) put before a child, in characters: with a child of
# 400 it stays inside the 256 tokens of the default model.
LEAD_SIZE = 200


@dataclass(frozen=True, slots=True)
class Recipe:
    """How text becomes parents and children.

    Attributes:
        child_size: The most a child holds, in ``unit``; at least 1.
        parent_size: The most a parent holds, in ``unit``; at least ``child_size``.
        overlap: The most of a child that is repeated at the start of the next, in ``unit``, cut at a word;
            less than ``child_size``.
        unit: ``characters`` or ``tokens`` of the embedder.

    Raises:
        SettingError: A size is not a whole number or is out of its range.
    """

    child_size: int = CHILD_SIZE
    parent_size: int = PARENT_SIZE
    overlap: int = OVERLAP
    unit: Literal["characters", "tokens"] = "characters"

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
