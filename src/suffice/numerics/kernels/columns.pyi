"""Numbers of any column into doubles, and columns into rows."""

from typing import Any

import numpy
import numpy.typing


def read(values: numpy.typing.NDArray[Any], valid: numpy.typing.NDArray[numpy.uint8], first: int, numbers: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Copy numbers to doubles (n,), NaN where a cell is null.

    ``valid`` are the bits of cells that are not null, or nothing; that of cell 0 is the
    ``first``.
    """

def to_doubles(values: numpy.typing.NDArray[Any], lowest: object, highest: object, numbers: numpy.typing.NDArray[numpy.float64]) -> bool:
    """
    Copy whole numbers (n, d) to doubles (n, d); tell whether all lie between two bounds.
    """

def to_rows(x: numpy.typing.NDArray[numpy.float64], rows: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Copy doubles (n, d) whose columns are contiguous to some columns (n, d) of rows, which
    are.
    """
