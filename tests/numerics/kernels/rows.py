"""Rows of many kinds, and what classes know of their columns."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from .inputs import powers_of_ten

__all__ = ["KINDS", "rows", "scores", "shapes"]

KINDS = ("plain", "far", "missing", "wide", "zeros", "infinite", "large")


def rows(random: np.random.Generator, n: int, d: int, kind: str) -> Any:
    """Rows (n, d) of a kind."""
    x = random.standard_normal((n, d))
    some = random.random((n, d))
    if kind == "far":
        x = 1e6 + 1e-3 * x
    elif kind == "missing":
        x[some < 0.1] = np.nan
        x[n // 2 :: 7] = np.nan
    elif kind == "wide":
        x *= powers_of_ten(random.integers(-30, 30, (n, d)))
    elif kind == "zeros":
        x = np.where(some < 0.5, np.where(some < 0.25, -0.0, 0.0), x)
    elif kind == "infinite":
        x[some < 0.5 / (n * d)] = np.inf
        x[n // 2, d // 2] = np.nan
        x[3 * n // 4, d // 3] = -np.inf
    elif kind == "large":
        x[3 * n // 4, d // 2] = 3e150
    return x


def scores(random: np.random.Generator, n: int, k: int, order: str) -> Any:
    """Scores (n, k), of which each class lies side by side, or each row, or neither does."""
    given = random.standard_normal((n, k))
    if order == "C":
        return given
    out = np.empty((k, n + 1)).T[:n] if order == "F" else np.empty((2 * n, 3 * k))[::2, ::3]
    out[:] = given
    return out


def shapes(classes: tuple[int, ...] = (1, 2, 3, 5, 8, 12)) -> Iterator[tuple[int, int, int]]:
    """Numbers of rows, columns and classes, at and beside the sizes of tiles."""
    yield from product((1, 7, 8, 9, 40), (1, 2, 7, 8, 9, 20), classes[1::2])
    yield from product((15, 16, 17, 65), (3, 16, 17), classes)
    yield from product((1_003,), (4, 33, 50, 70), classes[::2])
