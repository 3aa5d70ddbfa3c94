"""Inputs of recorded cases, the same bits on every processor.

NumPy and BLAS choose their loops by the processor: with AVX-512, 10.0**x and a matrix product may
differ in the last bit.
"""

from typing import Any

import numpy as np

__all__ = ["powers_of_ten", "products"]


NEAREST = {exponent: float(f"1e{exponent}") for exponent in range(-400, 401)}


def powers_of_ten(exponents: Any) -> Any:
    """Return powers of ten: the nearest double, but of 10²³, nearly a tie, the one above it."""
    nearest = np.array([NEAREST[e] for e in exponents.ravel().tolist()], np.float64)
    powers = nearest.reshape(exponents.shape)
    return np.where(exponents == 23, np.nextafter(powers, np.inf), powers)


def products(factor: Any) -> Any:
    """Return A Aᵀ of matrices A (s, d, m), added column by column."""
    total = np.zeros((*factor.shape[:2], factor.shape[1]))
    for j in range(factor.shape[2]):
        total += factor[:, :, j, None] * factor[:, None, :, j]
    return total
