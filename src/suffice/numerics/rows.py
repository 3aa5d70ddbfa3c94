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
    """Return (x − o)ᵀ slope_c + constant_c of every row, (n, k), in ``out`` if given.

    Parameters
    ----------
    x : ndarray or sparse array (n, d)
        Rows; numbers of types that kernels do not read are converted.
    origin : ndarray (d,)
    slope : ndarray (k, d)
    constant : ndarray (k,)
    out : ndarray (n, k), optional

    Returns
    -------
    ndarray (n, k)
        Not finite where a cell of the row is not.

    Examples
    --------
    >>> affine(np.array([[3.0, 1.0]]), np.array([1.0, 1.0]), np.array([[2.0, 9.0]]), np.zeros(1))
    array([[4.]])
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
    """Return whether kernels that score rows read the numbers of an array where they lie.

    Examples
    --------
    >>> is_read(np.zeros((2, 3), np.float32, order="F")), is_read(np.zeros((2, 3), np.int64))
    (True, False)
    """
    return values.dtype in READ


def row_major(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return a matrix of one dtype that lies row by row in memory: itself, where it does.

    Examples
    --------
    >>> row_major(np.array([[1, 2], [3, 4]]).T, np.float64)
    array([[1., 3.],
           [2., 4.]])
    """
    columns = values.dtype == dtype == np.float64 and values.strides[0] == values.itemsize
    if not columns or values.flags.c_contiguous:
        return np.ascontiguousarray(values, dtype=dtype)
    rows = np.empty(values.shape)
    kernels.columns.to_rows(values, rows)
    return rows


def linear(x: NDArray[np.number], matrix: Floats) -> Floats:
    """Return the product of rows x (n, d) and a matrix (d, m), (n, m).

    Examples
    --------
    >>> linear(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    d, m = matrix.shape
    return affine(x, np.zeros(d), matrix.T, np.zeros(m))


def is_sparse(x: Any) -> bool:
    """Tell sparse arrays and matrices: there are none where `scipy.sparse` was not imported.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> is_sparse([[0.0]]), is_sparse(csr_array([[0.0]]))
    (False, True)
    """
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(x))
