"""Rows of a CSR matrix whose cells are in parts, or not in order."""

from typing import Any

import numpy
import numpy.typing


def merge(data: numpy.typing.NDArray[Any], indices: numpy.typing.NDArray[Any], indptr: numpy.typing.NDArray[Any], d: int, columns: numpy.typing.NDArray[numpy.int32], values: numpy.typing.NDArray[numpy.float64], starts: numpy.typing.NDArray[numpy.int64 | numpy.intp]) -> int:
    """
    Write the cells of every row by increasing column, each once: the sum of its parts.

    Returns how many were written, or −1 if a sum is a whole number that no double holds.
    """
