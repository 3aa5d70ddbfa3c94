"""
Log-likelihoods of independent Gaussians: scaled squares of distances from the means.
"""

from typing import Any

import numpy
import numpy.typing


def add_gaussian(x: numpy.typing.NDArray[Any], mean: numpy.typing.NDArray[numpy.float64], root: numpy.typing.NDArray[numpy.float64], log_scale: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Add Σⱼ log_scale[c, j] − (root[c, j] (x[i, j] − mean[c, j]))² to ``out`` (n, k).

    NaN adds nothing. Returns −1, or the first of a tile of rows one of which holds a number
    too large to be squared.
    """
