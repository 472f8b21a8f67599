"""Numbers that callers give, held to their range before anything is done with them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral

from nestling.errors import SettingError


def whole(name: str, value: int, least: int) -> int:
    """A whole number, ``least`` or more; numpy's are taken, too.

    Raises:
        SettingError: It is none; the message calls it by ``name``.
    """
    if not _is_whole(value) or value < least:
        raise SettingError(f"{name} is {value!r}; give a whole number, {least} or more")
    return int(value)


def wholes(name: str, values: Iterable[int], least: int) -> tuple[int, ...]:
    """Whole numbers, each ``least`` or more.

    Raises:
        SettingError: One is none; the message calls them by ``name``.
    """
    found = tuple(values)
    for value in found:
        if not _is_whole(value) or value < least:
            raise SettingError(f"{name} holds {value!r}; give whole numbers, {least} or more")
    return tuple(map(int, found))


def amount(name: str, value: float, *, unit: str = "a number", zero: bool = True) -> float:
    """A finite number that is 0 or more, or where ``zero`` is false, above 0.

    Raises:
        SettingError: It is none; the message calls it by ``name`` and asks for ``unit``.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value < math.inf or not (value or zero):
        raise SettingError(f"{name} is {value!r}; give {unit}{', 0 or more' if zero else ' above 0'}")
    return value


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
