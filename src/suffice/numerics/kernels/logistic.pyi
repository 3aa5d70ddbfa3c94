"""
Logistic loss: −log P(y | x) as a function of scores t, and its sums over rows.

::

    two classes       ℓ = log(1 + e⁻ˢ),  s = ±t        ∂ℓ/∂t = p − y            p = 1/(1 + e⁻ᵗ)
    k > 2 classes     ℓ = log Σ_c exp(t_c) − t_y        ∂ℓ/∂t_c = p_c − [c = y]   p_c ∝ exp(t_c)

Nothing overflows, and neither p nor 1 − p is ever a difference of numbers near 1.
"""

from typing import Any

import numpy
import numpy.typing


def loss_derivatives(t: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], loss: numpy.typing.NDArray[numpy.float64], residual: numpy.typing.NDArray[numpy.float64], p: numpy.typing.NDArray[numpy.float64], other: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write ℓ (n,), ∂ℓ/∂t, p and 1 − p (n, m) of scores ``t`` (n, m); m = 1 for two classes.
    """

def add_gradient(x: numpy.typing.NDArray[numpy.float64], origin: numpy.typing.NDArray[numpy.float64], directions: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], class_weights: numpy.typing.NDArray[numpy.float64], weight: numpy.typing.NDArray[numpy.float64], checksum: numpy.typing.NDArray[numpy.float64], gradient: numpy.typing.NDArray[numpy.float64]) -> float:
    """
    Add what one pass over rows x (n, d) says of m coefficient vectors; return Σ w f_y ℓ.

    With z = (1, x − origin): Σ w and Σ w cᵀz to ``weight`` and ``checksum`` (k,) of
    every class, Σ w f_y ∂ℓ/∂t_a z to ``gradient`` (m, 1 + d). ``directions`` (m + 1, 1 +
    d) are the coefficients and then c; ``codes`` (n,) the classes; ``weights`` (n,), or
    (0,) for all 1; f are ``class_weights``.
    """

def add_sparse_gradient(indptr: numpy.typing.NDArray[Any], indices: numpy.typing.NDArray[Any], data: numpy.typing.NDArray[Any], directions: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], class_weights: numpy.typing.NDArray[numpy.float64], weight: numpy.typing.NDArray[numpy.float64], checksum: numpy.typing.NDArray[numpy.float64], gradient: numpy.typing.NDArray[numpy.float64]) -> float:
    """
    Do what `add_gradient` does for compressed rows x, with z = (1, x).

    ``directions`` and ``gradient`` (1 + d, width) have a row for every column of x: m
    coefficients and c, or m sums, padded to whole lanes. Rows whose code is −1 are
    left out.
    """

def add_sparse_hessian(indptr: numpy.typing.NDArray[Any], indices: numpy.typing.NDArray[Any], data: numpy.typing.NDArray[Any], directions: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], class_weights: numpy.typing.NDArray[numpy.float64], weight: numpy.typing.NDArray[numpy.float64], checksum: numpy.typing.NDArray[numpy.float64], gradient: numpy.typing.NDArray[numpy.float64], hessian: numpy.typing.NDArray[numpy.float64]) -> float:
    """
    Do what `add_sparse_gradient` does, and add Σ w f_y ∂²ℓ/∂t_a∂t_b z zᵀ to ``hessian``.

    ``hessian`` ((1 + d)², pairs) has a row for each two columns, and a column for each two
    classes b ≤ a: (0, 0), (1, 0), (1, 1), (2, 0), ..., padded to whole lanes if there are
    several. Each pair of cells of a row, in different columns, is added in one of its two
    places: of H (1 + d, 1 + d) of two classes, H + Hᵀ − diag H is the block.
    """
