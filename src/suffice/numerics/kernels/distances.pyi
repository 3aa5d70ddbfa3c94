"""
Mahalanobis distances of rows from k means, under a covariance of each class or one of
all.

Conventions: n rows, d features. W (s, d, d) is lower triangular and whitens: Σ⁻¹ = WᵀW.
With an origin o near the means, ``shift`` (k, d) holds W(μ − o), so that

    (x − μ)ᵀ Σ⁻¹ (x − μ) = |W(x − o) − W(μ − o)|².

A class's score −½|…|² + ``log_scale`` is added to ``out`` (n, k).
"""

import numpy
import numpy.typing


def add_complete(x: numpy.typing.NDArray[numpy.float64], origin: numpy.typing.NDArray[numpy.float64], whitening: numpy.typing.NDArray[numpy.float64], shift: numpy.typing.NDArray[numpy.float64], log_scale: numpy.typing.NDArray[numpy.float64], done: numpy.typing.NDArray[numpy.bool], out: numpy.typing.NDArray[numpy.float64]) -> int:
    """
    Score the tiles of rows that have no missing cell, and mark their rows as ``done`` (n,).

    Returns −1, or the first of a tile of rows that holds a number too large to be squared.
    """

def add_marginal(x: numpy.typing.NDArray[numpy.float64], mean: numpy.typing.NDArray[numpy.float64], mean_lo: numpy.typing.NDArray[numpy.float64], covariance: numpy.typing.NDArray[numpy.float64], distance: numpy.typing.NDArray[numpy.float64], log_determinant: numpy.typing.NDArray[numpy.float64], rank: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write the distances (n, k) of rows in the columns that they show.

    Rows of one pattern stand together. ``log_determinant`` and ``rank`` (n, s) are those of
    the covariances (s, d, d) of these columns.
    """
