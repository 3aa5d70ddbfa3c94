"""
Log-likelihoods of a block under every class, added to ``out`` (n, k).

NaN or a missing code adds nothing. A row adds its columns in the same order wherever it
stands, which gives the same bits.
"""

from typing import Any

import numpy
import numpy.typing


CLASS_TILE: int = 8

def add_student(x: numpy.typing.NDArray[numpy.float64], mean: numpy.typing.NDArray[numpy.float64], precision: numpy.typing.NDArray[numpy.float64], power: numpy.typing.NDArray[numpy.float64], log_scale: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Student-t: add Σⱼ log_scale[c, j] − power[c, j] log(1 + precision[c, j] (x − mean)²).

    Returns −1, or the first row that holds a number too large to be squared.
    """

def student_terms(x: numpy.typing.NDArray[numpy.float64], mean: numpy.typing.NDArray[numpy.float64], precision: numpy.typing.NDArray[numpy.float64], power: numpy.typing.NDArray[numpy.float64], log_scale: numpy.typing.NDArray[numpy.float64], terms: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write the terms of which `add_student` adds those of a row, (d, k, n); 0 where x is NaN.
    """

def add_linear(x: numpy.typing.NDArray[numpy.float64], slope: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Event counts: add Σⱼ x[i, j] · slope[c, j], where 0 · (−∞) = 0."""

def add_binary(values: numpy.typing.NDArray[numpy.int8], absent: numpy.typing.NDArray[numpy.float64], slope: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Outcomes 0, 1 (−1 = missing): add Σⱼ absent[c, j] + values[i, j] · slope[c, j].
    """

def add_sparse_linear(data: numpy.typing.NDArray[Any], indices: numpy.typing.NDArray[Any], indptr: numpy.typing.NDArray[Any], slope: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Event counts of a CSR matrix: add Σ x · slope[event, c], where 0 · (−∞) = 0.

    ``slope`` is (d, k), k rounded up to whole class tiles; events that it does not
    have are left out.
    """

def add_table(values: numpy.typing.NDArray[numpy.int64 | numpy.intp], low: numpy.typing.NDArray[numpy.int64 | numpy.intp], size: numpy.typing.NDArray[numpy.int64 | numpy.intp], offsets: numpy.typing.NDArray[numpy.int64 | numpy.intp], table: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Categories: add Σⱼ table[offsets[j] + values[i, j] − low[j], c].

    A value outside its range reads the place after the range. ``table`` is (M, k), k
    rounded up to whole class tiles.
    """

def best_class(scores: numpy.typing.NDArray[numpy.float64], best: numpy.typing.NDArray[numpy.int64 | numpy.intp]) -> int:
    """
    Write the class of the largest score of every row; of equal scores, the first.

    A row of −∞ gets −1. Returns the number of such rows.
    """
