"""Log densities that are constant in bins."""

import numpy
import numpy.typing


def add(x: numpy.typing.NDArray[numpy.float64], start: numpy.typing.NDArray[numpy.int64 | numpy.intp], low: numpy.typing.NDArray[numpy.float64], logs: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Add Σⱼ logs[c, b(x[i, j])] to ``out`` (n, k): b(x) is the last bin of column j that begins
    not above x, or the first. Its bins are those from ``start[j]`` on.

    NaN adds nothing. Returns −1, or the first of some rows one of which holds an infinite
    number.
    """

def terms(x: numpy.typing.NDArray[numpy.float64], start: numpy.typing.NDArray[numpy.int64 | numpy.intp], low: numpy.typing.NDArray[numpy.float64], logs: numpy.typing.NDArray[numpy.float64], terms: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write the terms of which `add` adds those of a row, (d, k, n); 0 where x is NaN.
    """
