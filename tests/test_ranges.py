"""Numbers that callers give are taken in their range, and refused by name outside of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from nestling.errors import SettingError
from nestling.ranges import amount, whole, wholes


def test_numbers_in_range_come_back() -> None:
    """Also numpy's, as Python's own; the limits are in the range."""
    taken = whole("k", np.int64(3), 0)
    assert (taken, type(taken)) == (3, int)
    assert whole("k", 1, 1) == 1
    assert wholes("budgets", (500, np.int32(1)), 1) == (500, 1)
    assert wholes("budgets", [], 1) == ()
    assert (amount("minutes", 0), amount("minutes", 0.5, zero=False)) == (0, 0.5)


@pytest.mark.parametrize("value", [-1, 1.0, True, "1", None, np.float64(1)])
def test_what_is_no_whole_number_is_refused(value: Any) -> None:
    """What is wrong is said by its name, alone and among others."""
    with pytest.raises(SettingError, match=r"^k is .*; give a whole number, 0 or more$"):
        whole("k", value, 0)
    with pytest.raises(SettingError, match=r"^budgets holds .*; give whole numbers, 0 or more$"):
        wholes("budgets", (500, value), 0)


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, True, "1", None, [1]])
def test_what_is_no_amount_is_refused(value: Any) -> None:
    """Infinity and what is not a number, too; and 0 where it must be above."""
    with pytest.raises(SettingError, match=r"^timeout is .*; give seconds, 0 or more$"):
        amount("timeout", value, unit="seconds")
    for given in (value, 0, 0.0):
        with pytest.raises(SettingError, match=r"^quiet is .*; give seconds above 0$"):
            amount("quiet", given, unit="seconds", zero=False)
