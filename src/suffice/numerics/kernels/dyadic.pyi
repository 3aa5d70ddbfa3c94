"""
Tables of exact dyadic numbers: limbs of 64 bits in two's complement, (planes, k, d).
"""

import numpy
import numpy.typing


def add(a: numpy.typing.NDArray[numpy.uint64], low: int, b: numpy.typing.NDArray[numpy.uint64], low2: int, minus: bool, out: numpy.typing.NDArray[numpy.uint64], out_low: int) -> None:
    """
    Write a + b, or a − b, to planes that begin at 2^(64 out_low) and are wide enough.
    """

def gather(a: numpy.typing.NDArray[numpy.uint64], low: int, place: numpy.typing.NDArray[numpy.int64 | numpy.intp], out: numpy.typing.NDArray[numpy.uint64], out_low: int) -> None:
    """
    Add every class to that at its place among planes that are wide enough.
    """

def set(numbers: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.uint64], out_low: int) -> None:
    """Write finite doubles (k, d) to planes of zeros that are wide enough."""

def trim(a: numpy.typing.NDArray[numpy.uint64]) -> tuple[int, int]:
    """
    Return the range of planes that are needed: below it are zeros, above it signs.
    """

def round(a: numpy.typing.NDArray[numpy.uint64], low: int, out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Write the doubles next to the numbers, (k, d)."""
