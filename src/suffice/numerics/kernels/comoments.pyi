"""
Exact co-moments Σw, Σw(x − p), Σw(x − p)(x − p)ᵀ in one pass over rows.
"""

import numpy
import numpy.typing


def add_rows(x: numpy.typing.NDArray[numpy.float64], y: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], weight: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64], product_index: numpy.typing.NDArray[numpy.int64 | numpy.intp], products: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Add complete rows (x, y) to the groups of their codes; ``weights`` is (n,) or empty.

    Returns −1, or the first of a chunk of rows that were not added, like those after it,
    because a cell is missing or too large.
    """

def add_scattered_rows(x: numpy.typing.NDArray[numpy.float64], groups: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], weight: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64], product_index: numpy.typing.NDArray[numpy.int64 | numpy.intp], products: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Add rows (n, d) to their groups, all new, one by one; a missing cell adds nothing.

    The pivot of a group without products is its only row.
    """

def merge(weight: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64], product_index: numpy.typing.NDArray[numpy.int64 | numpy.intp], products: numpy.typing.NDArray[numpy.float64], weight2: numpy.typing.NDArray[numpy.float64], pivot2: numpy.typing.NDArray[numpy.float64], sums2: numpy.typing.NDArray[numpy.float64], place: numpy.typing.NDArray[numpy.int64 | numpy.intp], sign: float) -> int:
    """
    Add (sign = 1) or take away (sign = −1) other groups, in place; group i goes to
    ``place[i]``.

    Returns −1, or the group that would be left with a negative weight.
    """

def settle(weight: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64], product_index: numpy.typing.NDArray[numpy.int64 | numpy.intp], products: numpy.typing.NDArray[numpy.float64], before: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    After rows were taken away: of values that are all equal, leave a scatter of exactly 0.

    ``before`` (m, d) are the sums of squares that there were. Returns −1, or a feature whose
    scatter would be negative.
    """

def recentre(weight: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64], product_index: numpy.typing.NDArray[numpy.int64 | numpy.intp], products: numpy.typing.NDArray[numpy.float64]) -> None:
    """Move the pivots, in place, to where means and scatters alone decide."""

def mean(weight: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Write the pairs (2, g, d) of the means."""

def scatter(weight: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64], product_index: numpy.typing.NDArray[numpy.int64 | numpy.intp], products: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write the pairs (m, 2, d, d) of Σw(x − x̄)(x − x̄)ᵀ = P − Σ SSᵀ/W over the groups.
    """
