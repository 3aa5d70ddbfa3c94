"""Numbers of any column into doubles, and columns into rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from suffice.numerics import kernels

from .recorded import check
from .tables import shapes


def cases() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(3)
    for n, d in shapes():
        x = np.asfortranarray(random.standard_normal((n, d)))
        rows = np.zeros((n, d))
        kernels.columns.to_rows(x, rows)
        yield f"to_rows {n} {d}", [rows]
        kernels.columns.to_rows(np.asfortranarray(np.vstack([x, x]))[: x.shape[0]], rows)
        yield f"to_rows, apart {n} {d}", [rows]
        bits = random.integers(0, 256, n // 8 + 2).astype(np.uint8)
        for dtype in (np.float64, np.int64):
            values = (100.0 * x[:, 0]).astype(dtype)
            column = np.zeros(n)
            for j, valid, first in ((d - 1, bits[:0], 0), (d // 2, bits, 7)):
                kernels.columns.read(values, valid, first, column)
                rows[:, j] = column
            yield f"place {n} {d} {dtype.__name__}", [rows]
    for dtype in (np.int64, np.uint64):
        values = np.array([[1, 2, 2**53 + 1], [2**62, 5, 6]], dtype)
        for highest in (2**62, 2**62 - 1):
            numbers = np.zeros((2, 3))
            fine = kernels.columns.to_doubles(values, dtype(0), dtype(highest), numbers)
            yield f"to_doubles {dtype.__name__} {highest}", [fine, numbers]


def test_as_recorded() -> None:
    check("columns", cases())


def test_columns_are_written_among_others() -> None:
    x, rows = np.arange(170.0).reshape(17, 10, order="F"), np.zeros((17, 12))
    kernels.columns.to_rows(x, rows[:, 1:11])
    assert (rows == np.pad(x, ((0, 0), (1, 1)))).all()
