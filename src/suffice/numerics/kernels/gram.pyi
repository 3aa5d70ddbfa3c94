"""Products of a matrix whose sums have one order, on every processor."""

import numpy
import numpy.typing


def times(a: numpy.typing.NDArray[numpy.float64], x: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Write A x to ``out`` (m,), of A (m, g)."""

def add_transposed(a: numpy.typing.NDArray[numpy.float64], r: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add Aᵀ r to ``out`` (g,), of A (m, g)."""

def add_covariances(a: numpy.typing.NDArray[numpy.float64], p: numpy.typing.NDArray[numpy.float64], weights: numpy.typing.NDArray[numpy.float64], first: int, stop: int, out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Add Σ_i ω_i (Σ_c p_ic ℓ_ic ℓ_icᵀ − m_i m_iᵀ), m_i = Σ_c p_ic ℓ_ic, to ``out`` (g, g).

    ℓ_ic is row i k + c of A (n k, g), p (n, k) adds up to 1 in every row, ω are ``weights``
    (n,). Of the rows above the diagonal those from ``first``, a multiple of 4, to ``stop`` are
    added, and what is symmetric to them.
    """

def place_terms(terms: numpy.typing.NDArray[numpy.float64], place: numpy.typing.NDArray[numpy.int64 | numpy.intp], lowest: float, out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Write what g terms say of m rows under k classes, (g k, m), term by term, to rows of ``out``
    (n, k, g), of the ith to that at ``place`` i; what is below ``lowest`` is raised to it.
    """
