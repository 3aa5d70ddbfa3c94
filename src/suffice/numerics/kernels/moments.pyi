"""
Exact class-wise moments Σw, Σw(x − p), Σw(x − p)² in one pass over rows.
"""

from typing import Any

import numpy
import numpy.typing


def add_rows(x: numpy.typing.NDArray[Any], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weight: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Add the rows of x (n, d) to their classes, each with weight one.

    Returns −1, or the first of a tile of rows that holds a number too large to be squared.
    """

def add_weighted_rows(x: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], weight: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Add the rows of x (n, d) to their classes with weights (n,).

    Returns −1, or the row that holds a number too large to be squared.
    """

def merge(weight: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64], weight2: numpy.typing.NDArray[numpy.float64], pivot2: numpy.typing.NDArray[numpy.float64], sums2: numpy.typing.NDArray[numpy.float64], sign: float) -> int:
    """
    Add (sign = 1) or take away (sign = −1) other moments, in place.

    Returns −1, or the flat index c · d + j of a cell that would be left with a negative sum.
    """

def merge_classes(weight: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64], weight2: numpy.typing.NDArray[numpy.float64], pivot2: numpy.typing.NDArray[numpy.float64], sums2: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Add the moments of the classes after the first to those of one class, in place.
    """

def mean_and_scatter(weight: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64], mean: numpy.typing.NDArray[numpy.float64], mean_lo: numpy.typing.NDArray[numpy.float64], scatter: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write x̄ and Σw(x − x̄)², (k, d); zeros where W = 0. ``mean_lo`` is what rounding took off
    the mean, where that is much by the measure of the spread.
    """

def recentre(weight: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64]) -> None:
    """Move the pivots, in place, to where mean and scatter alone decide."""
