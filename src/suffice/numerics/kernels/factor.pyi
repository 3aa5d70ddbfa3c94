"""LDLᵀ, substitution and products of matrices of double-double pairs."""

import numpy
import numpy.typing


def product(a: numpy.typing.NDArray[numpy.float64], a_lo: numpy.typing.NDArray[numpy.float64], b: numpy.typing.NDArray[numpy.float64], b_lo: numpy.typing.NDArray[numpy.float64]) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """
    Return the pairs a b of a (n, d) and b (d, m); zeros of a cost nothing.
    """

def factorise(upper: numpy.typing.NDArray[numpy.float64], upper_lo: numpy.typing.NDArray[numpy.float64], noise: numpy.typing.NDArray[numpy.float64]) -> tuple[int, numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """
    Turn the upper triangle of A (d, d), in place, into Lᵀ; return the pairs of D and L⁻¹.

    A pivot d_i = cᵀ A c, c = (L⁻¹)_i, of at most Σ_j c_j² noise_j is taken for 0, and so is
    column i of L below the diagonal. The first of the results is −1, or the index of a pivot
    that is negative by more than that.
    """

def solve(upper: numpy.typing.NDArray[numpy.float64], upper_lo: numpy.typing.NDArray[numpy.float64], pivots: numpy.typing.NDArray[numpy.float64], pivots_lo: numpy.typing.NDArray[numpy.float64], x: numpy.typing.NDArray[numpy.float64], x_lo: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Replace x (d, t) by the solution of L D Lᵀ x = b, with 0 where a pivot is 0.
    """
