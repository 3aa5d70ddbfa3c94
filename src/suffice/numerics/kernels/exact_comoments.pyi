"""
Exact co-moments Σw, Σwx, Σwxxᵀ in one pass over rows, as whole numbers.
"""

import numpy
import numpy.typing


class ProductSums:
    """Sums in the making, of d columns and as many groups as come."""

    def __init__(self, d: int) -> None: ...

    def add_rows(self, x: numpy.typing.NDArray[numpy.float64], y: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], matrix: numpy.typing.NDArray[numpy.int64 | numpy.intp]) -> int:
        """
        Add complete rows (x, y) to the groups of their codes; ``weights`` is (n,) or empty.

        ``matrix`` (g,) says which groups share their products. Returns −1, or the first of a
        chunk of rows that were not added, like those after it, because a cell is missing or
        too large.
        """

    def extent(self, which: int) -> tuple[int, int]:
        """
        Return how many planes a table has, and at which power of 2^64 they begin.

        Tables are 0, Σw (g, 1); 1, Σwx (g, d); 2, upper triangles of Σwxxᵀ (m, d (d + 1) / 2).
        """

    def write(self, which: int, out: numpy.typing.NDArray[numpy.uint64]) -> None:
        """Write the planes of a table."""

def recentre(weight: numpy.typing.NDArray[numpy.uint64], low0: int, sums: numpy.typing.NDArray[numpy.uint64], low1: int, products: numpy.typing.NDArray[numpy.uint64], low2: int, matrix: numpy.typing.NDArray[numpy.int64 | numpy.intp], pair_of_weight: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], pair_of_sums: numpy.typing.NDArray[numpy.float64], pairs: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write the sums about the means of the groups, as pairs of doubles that are rounded once:
    Σw, p, Σw(x − p) and upper triangles of Σw(x − p)(x − p)ᵀ.
    """
