"""
Counts of pairs of bins by class, and sums over the pairs that a row shows.
"""

import numpy
import numpy.typing


def count_weighted(places: numpy.typing.NDArray[numpy.int32], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], bins: int, table: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Add weights (n,) of rows to the pairs of places v <= w (n, d), hi + lo of ``table`` (k, 2, pairs), at w(w + 1)/2 + v.
    """

def sum_by_parent(places: numpy.typing.NDArray[numpy.int32], parent: numpy.typing.NDArray[numpy.bool], terms: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write Σ_j terms[c, v_i, v_j] of every row to ``sums`` (n, k, d); −∞ without a parent v_i.
    """
