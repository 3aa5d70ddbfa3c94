"""
Exact class-wise counts of coded cells, dense event counts and sparse event counts.
"""

from typing import Any

import numpy
import numpy.typing


def read_codes(stored: numpy.typing.NDArray[Any], valid: numpy.typing.NDArray[numpy.uint8], first: int, codes: numpy.typing.NDArray[numpy.int32], shown: numpy.typing.NDArray[numpy.bool]) -> bool:
    """
    Write codes, −1 where a cell is null, and True to ``shown`` at each; the last is that of
    −1.

    Returns whether every code has a place.
    """

def mark(values: numpy.typing.NDArray[Any], low: object, seen: numpy.typing.NDArray[numpy.bool]) -> None:
    """Write True to ``seen`` at values − low."""

def look_up(values: numpy.typing.NDArray[Any], low: object, table: numpy.typing.NDArray[numpy.int64 | numpy.intp], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp]) -> None:
    """Write ``table[values − low]`` to ``codes``."""

def add_rows(codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], table: numpy.typing.NDArray[numpy.float64], unlabelled: numpy.typing.NDArray[numpy.float64]) -> bool:
    """
    Add w to ``table[class]``, the pair (k, 2) of each class; without a class, to ``unlabelled``.

    Returns whether every code is below k; else nothing is added.
    """

def add_codes(values: numpy.typing.NDArray[Any], low: numpy.typing.NDArray[numpy.int64 | numpy.intp], size: numpy.typing.NDArray[numpy.int64 | numpy.intp], offsets: numpy.typing.NDArray[numpy.int64 | numpy.intp], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], tally: numpy.typing.NDArray[numpy.int64 | numpy.intp]) -> int:
    """
    Count rows of weight one.

    Returns −1, or the first row that has a code outside its range; from there on, nothing
    was counted.
    """

def add_weighted_codes(values: numpy.typing.NDArray[Any], low: numpy.typing.NDArray[numpy.int64 | numpy.intp], size: numpy.typing.NDArray[numpy.int64 | numpy.intp], offsets: numpy.typing.NDArray[numpy.int64 | numpy.intp], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], table: numpy.typing.NDArray[numpy.float64]) -> int:
    """Add w for every row. Returns as `add_codes` does."""

def add_binary(values: numpy.typing.NDArray[numpy.int8], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], tally: numpy.typing.NDArray[numpy.int64 | numpy.intp]) -> None:
    """
    Count rows of weight one whose codes are −1, 0 or 1: no look-up, so rows are vectors.
    """

def add_events(x: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], hi: numpy.typing.NDArray[numpy.float64], lo: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Add w · x[i, j] to the pair of class and column j; NaN is a missing cell.
    """

def are_counts(values: numpy.typing.NDArray[Any], largest: float) -> bool:
    """Tell whether values (n,) are from 0 to ``largest``, or NaN: missing."""

def are_below(places: numpy.typing.NDArray[Any], d: int, least: int) -> bool:
    """Tell whether places (n,) are all below d, and none below the least."""

def add_sparse_events(data: numpy.typing.NDArray[Any], indices: numpy.typing.NDArray[Any], indptr: numpy.typing.NDArray[Any], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], hi: numpy.typing.NDArray[numpy.float64], lo: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Add w · x to the pair of class and column for every stored cell of a CSR matrix.
    """
