"""Numbers as Python gives them, in lists and arrays of objects, beside what NumPy makes of them.

NumPy makes doubles of whole numbers that stand beside fractions, and of those of 64 bits beside
negative ones. Beyond 2^53 they may become others, and two of them the same.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError
from suffice.sums.block import HELD, HELD_RULE, HELD_STEP

__all__ = ["faithful", "first_rounded", "is_rounded", "require_faithful"]


def is_rounded(cell: Any) -> bool:
    """Tell whether a cell is a whole number that the double nearest to it is not.

    Examples
    --------
    >>> is_rounded(2**53 + 1), is_rounded(2**60), is_rounded(Decimal("9007199254740993.5"))
    (True, False, False)
    """
    cell = cell.item() if isinstance(cell, np.integer) else cell
    if isinstance(cell, Decimal):
        whole = cell.is_finite() and cell == cell.to_integral_value()
    else:
        whole = isinstance(cell, int)
    try:
        return whole and cell != float(cell)
    except OverflowError:
        return True


def first_rounded(given: Any, values: NDArray[Any]) -> tuple[int, ...] | None:
    """Return the place of the first whole number that NumPy made another one of.

    Examples
    --------
    >>> cells = [[0.5, 2**53 + 1]]
    >>> first_rounded(cells, np.array(cells))
    (0, 1)
    """
    if values.dtype.kind != "f" or (hasattr(given, "dtype") and given.dtype == values.dtype):
        return None
    far = np.argwhere(np.abs(values) >= HELD).tolist()
    cells = np.asarray(given, dtype=object).reshape(values.shape) if far else values
    return next((tuple(place) for place in far if is_rounded(cells[tuple(place)])), None)


def require_faithful(
    given: Any,
    values: NDArray[Any],
    where: Callable[[tuple[int, ...]], str],
    next_step: str = HELD_STEP,
) -> None:
    """Refuse numbers of which NumPy made others; ``where`` says what a place is called.

    Raises
    ------
    DataError
        Naming the first.

    Examples
    --------
    >>> require_faithful([0.5, 2**60], np.array([0.5, 2**60]), str)
    """
    place = first_rounded(given, values)
    if place is not None:
        cell = np.asarray(given, dtype=object).reshape(values.shape)[place]
        raise DataError(f"{where(place)}: {cell}", HELD_RULE, next_step)


def faithful(given: Any, values: NDArray[Any]) -> NDArray[Any]:
    """Return values, or an array of objects where a whole number would become another one.

    Examples
    --------
    >>> labels = [2**63 + 1, -1]
    >>> faithful(labels, np.array(labels)).tolist() == labels
    True
    """
    if first_rounded(given, values) is None:
        return values
    return np.asarray(given, dtype=object).reshape(values.shape)
