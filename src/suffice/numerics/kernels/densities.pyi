"""Gaussian kernels at the numbers of a column, added up."""

import numpy
import numpy.typing


def sum_kernels(x: numpy.typing.NDArray[numpy.float64], count: numpy.typing.NDArray[numpy.float64], bandwidth: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write Σ_q n_cq N(x_i; x_q, h_c²), (k, b), of every class, which has n_cq numbers at x_q: x ascends.
    """
