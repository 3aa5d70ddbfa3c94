"""Gaussian naive Bayes in the neighbourhood of every voxel."""

from typing import overload

import numpy
import numpy.typing


@overload
def add_volumes(x: numpy.typing.NDArray[numpy.float64], block: numpy.typing.NDArray[numpy.int32], pivot: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64], squares: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_volumes(x: numpy.typing.NDArray[numpy.float32], block: numpy.typing.NDArray[numpy.int32], pivot: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64], squares: numpy.typing.NDArray[numpy.float64]) -> None: ...

@overload
def add_volumes(x: numpy.typing.NDArray[numpy.float32], block: numpy.typing.NDArray[numpy.int32], pivot: numpy.typing.NDArray[numpy.float32], sums: numpy.typing.NDArray[numpy.float32], squares: numpy.typing.NDArray[numpy.float32]) -> None:
    """
    Add x − p and (x − p)² of volumes (T, V) to the sums (B, V) of their blocks.
    """

@overload
def predict(x: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64], squares: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], label: numpy.typing.NDArray[numpy.int32], count: numpy.typing.NDArray[numpy.float64], trained: numpy.typing.NDArray[numpy.uint8], silent: numpy.typing.NDArray[numpy.uint8], prior: numpy.typing.NDArray[numpy.float64], indptr: numpy.typing.NDArray[numpy.int64 | numpy.intp], indices: numpy.typing.NDArray[numpy.int32], folds: numpy.typing.NDArray[numpy.int64 | numpy.intp], bounds: numpy.typing.NDArray[numpy.int64 | numpy.intp], classes: numpy.typing.NDArray[numpy.int16]) -> None: ...

@overload
def predict(x: numpy.typing.NDArray[numpy.float32], sums: numpy.typing.NDArray[numpy.float64], squares: numpy.typing.NDArray[numpy.float64], pivot: numpy.typing.NDArray[numpy.float64], label: numpy.typing.NDArray[numpy.int32], count: numpy.typing.NDArray[numpy.float64], trained: numpy.typing.NDArray[numpy.uint8], silent: numpy.typing.NDArray[numpy.uint8], prior: numpy.typing.NDArray[numpy.float64], indptr: numpy.typing.NDArray[numpy.int64 | numpy.intp], indices: numpy.typing.NDArray[numpy.int32], folds: numpy.typing.NDArray[numpy.int64 | numpy.intp], bounds: numpy.typing.NDArray[numpy.int64 | numpy.intp], classes: numpy.typing.NDArray[numpy.int16]) -> None:
    """
    Write the most probable class of every held-out volume in every neighbourhood, (T, N).
    """

def count(x: numpy.typing.NDArray[numpy.float32], sums: numpy.typing.NDArray[numpy.float32], squares: numpy.typing.NDArray[numpy.float32], pivot: numpy.typing.NDArray[numpy.float32], label: numpy.typing.NDArray[numpy.int32], count: numpy.typing.NDArray[numpy.float64], trained: numpy.typing.NDArray[numpy.uint8], silent: numpy.typing.NDArray[numpy.uint8], prior: numpy.typing.NDArray[numpy.float64], indptr: numpy.typing.NDArray[numpy.int64 | numpy.intp], indices: numpy.typing.NDArray[numpy.int32], folds: numpy.typing.NDArray[numpy.int64 | numpy.intp], bounds: numpy.typing.NDArray[numpy.int64 | numpy.intp], truth: numpy.typing.NDArray[numpy.int32], correct: numpy.typing.NDArray[numpy.int32]) -> None:
    """
    Count the held-out volumes whose class is predicted, (F, N), in single precision.
    """
