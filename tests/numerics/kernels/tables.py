"""Tables of numbers that kernels may meet: far from 0, of many magnitudes, with gaps, infinite."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .inputs import powers_of_ten

__all__ = ["KINDS", "codes_of", "rows_of", "shapes"]

KINDS = ("normal", "far", "whole", "gaps", "wide", "constant", "large", "infinite", "float32")


def shapes() -> Iterator[tuple[int, int]]:
    """Rows and columns: fewer than lanes, as many, one more, and many."""
    for n in (0, 1, 7, 8, 9, 17, 300, 1_111):
        for d in (1, 2, 7, 8, 9, 20, 33, 70):
            yield n, d


def rows_of(random: np.random.Generator, kind: str, n: int, d: int) -> Any:
    """Rows (n, d) of a kind, row by row in memory."""
    x = random.standard_normal((n, d))
    if kind == "far":
        x = x * 1e-3 + 1e6 + random.standard_normal(d)
    elif kind == "whole":
        x = np.floor(8.0 * x)
    elif kind == "gaps":
        x[random.random((n, d)) < 0.1] = np.nan
    elif kind == "wide":
        x = x * powers_of_ten(random.integers(-30, 30, (n, d)))
    elif kind == "constant":
        x = np.broadcast_to(random.standard_normal(d), (n, d)).copy()
    elif kind == "float32":
        x = x.astype(np.float32).astype(np.float64)
    elif n and kind == "large":
        x[n // 2, d // 2] = 3e160
    elif n and kind == "infinite":
        x[n // 2, d // 2] = np.inf
    return x


def codes_of(random: np.random.Generator, n: int, k: int) -> Any:
    """Codes of k classes, of which the second is rare; some rows have none."""
    codes = random.integers(-1, k, n)
    codes[(codes == 1) & (random.random(n) < 0.95)] = 0
    return codes
