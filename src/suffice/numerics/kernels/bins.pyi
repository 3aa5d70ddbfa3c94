"""Numbers into the cells of a fixed grid, and hashes of rows of numbers."""

import numpy
import numpy.typing


def count(x: numpy.typing.NDArray[numpy.float64], origin: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], k: int, low: numpy.typing.NDArray[numpy.uint8], carried: numpy.typing.NDArray[numpy.uint16], start: numpy.typing.NDArray[numpy.int64 | numpy.intp], packed: numpy.typing.NDArray[numpy.uint8]) -> int:
    """
    Count the cells of fewer than 2^23 rows of k classes, and pack those that hold a number:
    of column j and class c from start[j k + c] on. Where packed has no room, they stay in
    tables, one for each.

    Returns how many bytes they take, n, or −1 − n if a number fell into an outermost cell,
    as infinities do.
    """

def taken(low: numpy.typing.NDArray[numpy.uint8], carried: numpy.typing.NDArray[numpy.uint16], start: numpy.typing.NDArray[numpy.int64 | numpy.intp], packed: numpy.typing.NDArray[numpy.uint8]) -> int:
    """
    Pack what lies in tables, and clear them. Returns how many bytes it takes.
    """

def cells_of(start: numpy.typing.NDArray[numpy.int64 | numpy.intp], packed: numpy.typing.NDArray[numpy.uint8], k: int, j: int, cells: numpy.typing.NDArray[numpy.uint16], every: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Write the cells of column j that any of k classes shows, ascending, and the counts of all
    classes in each. Returns how many.
    """

def counts_of(start: numpy.typing.NDArray[numpy.int64 | numpy.intp], packed: numpy.typing.NDArray[numpy.uint8], j: int, cells: numpy.typing.NDArray[numpy.uint16], cuts: numpy.typing.NDArray[numpy.int64 | numpy.intp], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write the counts of every class, (k, b), in b parts of all cells that column j shows: each
    begins with the first, or at one of the ascending cuts.
    """

def add(start: numpy.typing.NDArray[numpy.int64 | numpy.intp], packed: numpy.typing.NDArray[numpy.uint8], start2: numpy.typing.NDArray[numpy.int64 | numpy.intp], packed2: numpy.typing.NDArray[numpy.uint8], sign: float, to_start: numpy.typing.NDArray[numpy.int64 | numpy.intp], to_packed: numpy.typing.NDArray[numpy.uint8]) -> int:
    """
    Write a + b or, with a sign of −1, a − b: the cells that hold a number. Returns how many
    bytes they take, or −1 − q if a sum is below 0, in the class and column q.
    """

def scale(start: numpy.typing.NDArray[numpy.int64 | numpy.intp], packed: numpy.typing.NDArray[numpy.uint8], factor: float, to_start: numpy.typing.NDArray[numpy.int64 | numpy.intp], to_packed: numpy.typing.NDArray[numpy.uint8]) -> int:
    """
    Write counts times a factor, as whole numbers where they are within 1e-12 of these.
    """

def hash(x: numpy.typing.NDArray[numpy.float64], names: numpy.typing.NDArray[numpy.uint64], hashes: numpy.typing.NDArray[numpy.uint64]) -> None:
    """
    Add to the hash of every row those of its numbers, mixed with the hashes of names (d,).
    """
