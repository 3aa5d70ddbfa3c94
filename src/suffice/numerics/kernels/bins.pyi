"""Numbers into the cells of a fixed grid, and hashes of rows of numbers."""

import numpy
import numpy.typing


def cells(x: numpy.typing.NDArray[numpy.float64], origin: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.int32]) -> None:
    """
    Write the cell of every number (n, d) less its origin (d,), −1 for NaN.
    """

def count(x: numpy.typing.NDArray[numpy.float64], origin: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], tally: numpy.typing.NDArray[numpy.int64 | numpy.intp]) -> bool:
    """
    Count the cells of rows of classes: column j has its cell v at (CELLS + 1)j + 1 + v.

    Returns whether a number fell into an outermost cell, as infinities do.
    """

def hash(x: numpy.typing.NDArray[numpy.float64], names: numpy.typing.NDArray[numpy.uint64], hashes: numpy.typing.NDArray[numpy.uint64]) -> None:
    """
    Add to the hash of every row those of its numbers, mixed with the hashes of names (d,).
    """
