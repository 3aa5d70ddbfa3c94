"""What laws compare: values to the last bit, and scores up to rounding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["close", "frozen", "require"]

SCORE_ROUNDING = 1e-12  # of the sum of the absolute values that a score adds up


def require(kept: bool, law: str) -> None:
    """Raise `AssertionError` with the law unless it is kept."""
    if not kept:
        raise AssertionError(law)


def frozen(value: Any) -> Any:
    """Copy a tree of records and arrays into tuples that are equal when every bit is.

    −0 counts as 0, since which of them a sum of zeros is depends on nothing that matters.

    Examples
    --------
    >>> frozen(np.array([0.0])) == frozen(np.array([-0.0]))
    True
    """
    if isinstance(value, np.ndarray | np.generic):
        value = np.asarray(value)
        if value.dtype == object:
            return value.shape, tuple(value.ravel().tolist())
        plain = value + 0.0 if value.dtype.kind == "f" else value
        return value.dtype.str, value.shape, plain.tobytes()
    if is_dataclass(value) and not isinstance(value, type):
        return type(value), tuple(frozen(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, Mapping):
        return tuple((key, frozen(member)) for key, member in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(frozen, value))
    return value


def close(
    a: NDArray[np.float64], b: NDArray[np.float64], magnitude: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Tell where two sums of terms of this magnitude agree; −∞ agrees with itself only."""
    with np.errstate(invalid="ignore"):
        agree: NDArray[np.bool_] = (a == b) | (np.abs(a - b) <= SCORE_ROUNDING * (1 + magnitude))
    return agree
