"""Exact class-wise moments Σw, Σwx, Σwx² in one pass over rows."""

import numpy
import numpy.typing


class MomentSums:
    """Sums in the making, of d columns and as many classes as come."""

    def __init__(self, d: int) -> None: ...

    def add_rows(self, x: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], k: int) -> int:
        """
        Add the rows of x (n, d) to their classes, which are k, each with weight one.

        Returns −1, or the first of a tile of rows that holds a number too large to be squared.
        """

    def add_weighted_rows(self, x: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], k: int) -> int:
        """
        Add the rows of x (n, d) to their classes with weights (n,).

        Returns −1, or the row that holds a number too large to be squared.
        """

    @property
    def k(self) -> int:
        """The number of classes so far."""

    def extent(self, which: int) -> tuple[int, int]:
        """
        Return how many planes a table has, and at which power of 2^64 they begin.

        Tables are 0, Σw; 1, Σwx; 2, Σwx².
        """

    def write(self, which: int, out: numpy.typing.NDArray[numpy.uint64]) -> None:
        """Write the planes of a table, (planes, k, d)."""

def mean_and_scatter(weight: numpy.typing.NDArray[numpy.uint64], low0: int, sums: numpy.typing.NDArray[numpy.uint64], low1: int, squares: numpy.typing.NDArray[numpy.uint64], low2: int, mean: numpy.typing.NDArray[numpy.float64], mean_lo: numpy.typing.NDArray[numpy.float64], scatter: numpy.typing.NDArray[numpy.float64], variance: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write x̄, Σw(x − x̄)² and σ², (k, d), rounded once; zeros where W = 0. ``mean_lo`` is what
    rounding took off the mean, where that is much by the measure of the spread.
    """

def impossible(weight: numpy.typing.NDArray[numpy.uint64], low0: int, sums: numpy.typing.NDArray[numpy.uint64], low1: int, squares: numpy.typing.NDArray[numpy.uint64], low2: int) -> int:
    """Return the first cell c · d + j whose sums no rows have, or −1."""
