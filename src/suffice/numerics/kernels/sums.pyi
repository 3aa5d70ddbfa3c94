"""Sums of arrays of pairs, in one pass without temporaries."""

import numpy
import numpy.typing


def add_pairs(a: numpy.typing.NDArray[numpy.float64], a_lo: numpy.typing.NDArray[numpy.float64], b: numpy.typing.NDArray[numpy.float64], b_lo: numpy.typing.NDArray[numpy.float64], sign: float, hi: numpy.typing.NDArray[numpy.float64], lo: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write the pairs (a + a_lo) + sign · (b + b_lo) to ``hi`` and ``lo``, all (n,).
    """

def normalise(hi: numpy.typing.NDArray[numpy.float64], lo: numpy.typing.NDArray[numpy.float64]) -> None:
    """Make the pairs (k, m) hold the rounded value first, in place."""

def scale(pairs: numpy.typing.NDArray[numpy.float64], factor: float, out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Write the pairs (m, 2, n) times a factor to ``out``."""
