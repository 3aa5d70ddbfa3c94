"""Numbers into the cells of a fixed grid, and hashes of rows of numbers."""

import numpy
import numpy.typing


def cells(x: numpy.typing.NDArray[numpy.float64], origin: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.int32]) -> None:
    """
    Write the cell of every number (n, d) less its origin (d,), −1 for NaN.
    """

def count(x: numpy.typing.NDArray[numpy.float64], origin: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], low: numpy.typing.NDArray[numpy.uint8], carried: numpy.typing.NDArray[numpy.uint16]) -> bool:
    """
    Count the cells of rows of classes, fewer than 2^24 in all: column j has its cell v at
    (CELLS + 1)j + 1 + v, in which there are low + 256 carried numbers.

    Returns whether a number fell into an outermost cell, as infinities do.
    """

def shown(low: numpy.typing.NDArray[numpy.uint8], carried: numpy.typing.NDArray[numpy.uint16], start: numpy.typing.NDArray[numpy.int64 | numpy.intp], cell: numpy.typing.NDArray[numpy.uint16], count: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Write the cells of a tally that hold a number, ascending: of class c and column j from
    start[c d + j] on. Returns how many there are, or −1 if there is no room for them.
    """

def count_apart(x: numpy.typing.NDArray[numpy.float64], origin: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], k: int, start: numpy.typing.NDArray[numpy.int64 | numpy.intp], cell: numpy.typing.NDArray[numpy.uint16], count: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Count the cells of rows of k classes, one class and column at a time, and write them as
    `shown` does. Returns how many there are.
    """

def cells_of(start: numpy.typing.NDArray[numpy.int64 | numpy.intp], cell: numpy.typing.NDArray[numpy.uint16], count: numpy.typing.NDArray[numpy.float64], d: int, j: int, cells: numpy.typing.NDArray[numpy.uint16], every: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Write the cells of column j of d that any class shows, ascending, and the counts of all
    classes in each. Returns how many.
    """

def counts_of(start: numpy.typing.NDArray[numpy.int64 | numpy.intp], cell: numpy.typing.NDArray[numpy.uint16], count: numpy.typing.NDArray[numpy.float64], d: int, j: int, cells: numpy.typing.NDArray[numpy.uint16], cuts: numpy.typing.NDArray[numpy.int64 | numpy.intp], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write the counts of every class, (k, b), in b parts of all cells that column j shows: each
    begins with the first, or at one of the ascending cuts.
    """

def add(start: numpy.typing.NDArray[numpy.int64 | numpy.intp], cell: numpy.typing.NDArray[numpy.uint16], count: numpy.typing.NDArray[numpy.float64], start2: numpy.typing.NDArray[numpy.int64 | numpy.intp], cell2: numpy.typing.NDArray[numpy.uint16], count2: numpy.typing.NDArray[numpy.float64], sign: float, to_start: numpy.typing.NDArray[numpy.int64 | numpy.intp], to_cell: numpy.typing.NDArray[numpy.uint16], to_count: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Write a + b or, with a sign of −1, a − b: the cells that hold a number. Returns how many
    there are, or −1 if a sum is rounded or below 0.
    """

def find(x: numpy.typing.NDArray[numpy.float64], start: numpy.typing.NDArray[numpy.int64 | numpy.intp], low: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.int64 | numpy.intp]) -> None:
    """
    Write the bin of every number (n, d), −1 for NaN: of the bins of column j, from start[j]
    to start[j + 1], the last that begins at or below the number, or the first.
    """

def hash(x: numpy.typing.NDArray[numpy.float64], names: numpy.typing.NDArray[numpy.uint64], hashes: numpy.typing.NDArray[numpy.uint64]) -> None:
    """
    Add to the hash of every row those of its numbers, mixed with the hashes of names (d,).
    """
