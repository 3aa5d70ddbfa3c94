"""
Sums of the logistic loss, its gradient and its Hessian that no order of rows changes.

Terms are at most 1, and are cut at fixed places: to multiples of 2⁻⁴⁴, and what is left
to multiples of 2⁻⁸⁹. A sum has four parts, which add up to it: two of each level, which
doubles add without rounding.
"""

import numpy
import numpy.typing


def add_gradient(x: numpy.typing.NDArray[numpy.float64], origin: numpy.typing.NDArray[numpy.float64], scale: numpy.typing.NDArray[numpy.float64], directions: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], class_weights: numpy.typing.NDArray[numpy.float64], scales: numpy.typing.NDArray[numpy.float64], loss: numpy.typing.NDArray[numpy.float64], weight: numpy.typing.NDArray[numpy.float64], checksum: numpy.typing.NDArray[numpy.float64], gradient: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Add what one pass over rows x (n, d) says of m coefficient vectors.

    With z = scale · (1, x − origin): Σ w f_y ℓ to ``loss`` (4,), Σ w and Σ w cᵀz to
    ``weight`` and ``checksum`` (4, k) of every class, each times one of ``scales``, and
    Σ w f_y ∂ℓ/∂t_a z to ``gradient`` (4, m, 1 + d). ``directions`` (m + 1, 1 + d) are
    the coefficients and then c; ``weights`` (n,), or (0,) for all 1; f are
    ``class_weights`` (k,).
    """

def add_products(r: numpy.typing.NDArray[numpy.float64], z: numpy.typing.NDArray[numpy.float64], gradient: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add Σ r_a z of rows z (n, D) and r (n, m) to ``gradient`` (4, m, D)."""

def add_squares(v: numpy.typing.NDArray[numpy.float64], z: numpy.typing.NDArray[numpy.float64], hessian: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Add Σ v z zᵀ to ``hessian`` (4, D, D), of which the upper triangle counts.
    """

def add_columns(v: numpy.typing.NDArray[numpy.float64], sums: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add Σ v of v (n, m) to ``sums`` (4, m)."""

def widen(x: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], least: numpy.typing.NDArray[numpy.float64], largest: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Lower ``least`` (d,) and raise ``largest`` to the cells of rows of code 0 or more.
    """
