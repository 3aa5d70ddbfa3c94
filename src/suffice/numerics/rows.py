"""Linear functions of rows: each has the same bits whatever rows stand around it.

A matrix product of BLAS has not. It takes rows in blocks, and adds the columns of what is left
over in another order.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.arrays import Floats
from suffice.numerics.logspace import scores

READ = frozenset(map(np.dtype, "dfbBhHiI?"))  # a double holds every number of these types


def affine(
    x: NDArray[np.number],
    origin: Floats,
    slope: Floats,
    constant: Floats,
    out: Floats | None = None,
) -> Floats:
    """Return (x − o)ᵀ slope_c + constant_c of every row (n, d), in ``out`` (n, k) if given.

    It is not finite where a cell of the row is not.
    """
    n, d = x.shape
    if is_sparse(x):
        return np.asarray(x @ slope.T + (constant - slope @ origin))
    if out is None:
        out = scores(n, len(constant))
    if not d:
        out[:] = constant
        return out
    rows = x if is_read(x) else row_major(x, np.float64)
    kernels.linear.write(rows, origin, slope, constant, out)
    return out


def is_read(values: NDArray[Any]) -> bool:
    """Return whether kernels that score rows read the numbers of an array where they lie."""
    return values.dtype in READ


def row_major(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return a matrix of one dtype that lies row by row in memory: itself, where it does."""
    columns = values.dtype == dtype == np.float64 and values.strides[0] == values.itemsize
    if not columns or values.flags.c_contiguous:
        return np.ascontiguousarray(values, dtype=dtype)
    rows = np.empty(values.shape)
    kernels.columns.to_rows(values, rows)
    return rows


def linear(x: NDArray[np.number], matrix: Floats) -> Floats:
    """Return the product of rows x (n, d) and a matrix (d, m), (n, m)."""
    d, m = matrix.shape
    return affine(x, np.zeros(d), matrix.T, np.zeros(m))


def is_sparse(x: Any) -> bool:
    """Tell sparse arrays and matrices: there are none where `scipy.sparse` was not imported."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(x))
