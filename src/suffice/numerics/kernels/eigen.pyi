"""Eigenvalues and eigenvectors of symmetric matrices."""

import numpy
import numpy.typing


def symmetric(a: numpy.typing.NDArray[numpy.float64], values: numpy.typing.NDArray[numpy.float64]) -> bool:
    """
    Replace finite matrices a (s, d, d) by their eigenvectors, row by row.

    Lower triangles are read. ``values`` (s, d) are the eigenvalues, the least first. Returns
    whether all iterations converged.
    """
