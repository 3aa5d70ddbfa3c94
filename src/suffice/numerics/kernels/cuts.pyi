"""
Where a column of cells is cut in two, so that both parts tell most of the class.
"""

import numpy
import numpy.typing


def every(count: numpy.typing.NDArray[numpy.float64], places: numpy.typing.NDArray[numpy.int64 | numpy.intp]) -> int:
    """
    Write every place at which cells with the weights (k, m) of classes are cut in two, and their parts in turn, as long as a cut shortens the description of the data (U. M. Fayyad and K. B. Irani, 1993); in any order. Returns how many there are.
    """
