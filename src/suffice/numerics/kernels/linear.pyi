"""
Linear functions of rows: eight rows are the lanes, and a tile of functions shares them.
"""

from typing import Any

import numpy
import numpy.typing


def add_complete(x: numpy.typing.NDArray[Any], origin: numpy.typing.NDArray[numpy.float64], slope: numpy.typing.NDArray[numpy.float64], constant: numpy.typing.NDArray[numpy.float64], done: numpy.typing.NDArray[numpy.bool], out: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Add (x − o)ᵀ slope_c + constant_c, of slopes (k, d), to ``out`` (n, k) of complete rows.

    They are marked as ``done`` (n,). Returns −1, or the first of a tile of rows one of
    which holds a number too large to be squared.
    """

def write(x: numpy.typing.NDArray[Any], origin: numpy.typing.NDArray[numpy.float64], slope: numpy.typing.NDArray[numpy.float64], constant: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write (x − o)ᵀ slope_c + constant_c, of slopes (k, d), to ``out`` (n, k), of any rows.

    Where a cell is no finite number, the results of its row are none.
    """
