"""
Posteriors of log joints a (n, k) in any order, with the same bits whatever rows stand around.
"""

import numpy
import numpy.typing


def log_sum_exp(a: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write m + log Σ_c exp(a_c − m), m = max_c a_c, of every row to ``out`` (n,).
    """

def log_normalise(a: numpy.typing.NDArray[numpy.float64], log_prior: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Write a_c − log Σ_c exp(a_c) to ``out`` (n, k), which may be a.

    Rows of which every a_c is −∞ are answered by ``log_prior`` (k,), and counted.
    """

def normalise(a: numpy.typing.NDArray[numpy.float64], prior: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Write exp(a_c − m) / Σ_c exp(a_c − m), m = max_c a_c, over a.

    Rows of which every a_c is −∞ are answered by ``prior`` (k,), and counted.
    """
