"""Products of a matrix whose sums have one order, on every processor."""

import numpy
import numpy.typing


def times(a: numpy.typing.NDArray[numpy.float64], x: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Write A x to ``out`` (m,), of A (m, g)."""

def add_transposed(a: numpy.typing.NDArray[numpy.float64], r: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add Aᵀ r to ``out`` (g,), of A (m, g)."""

def add_gram(a: numpy.typing.NDArray[numpy.float64], v: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add Aᵀ diag(v) A to ``out`` (g, g), of A (m, g)."""
