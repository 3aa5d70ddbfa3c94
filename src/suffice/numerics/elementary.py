"""exp, log, log(1 + x), log Γ and digamma: the same bits on every processor.

Those of NumPy, SciPy and the C library have other last bits from one processor, level of
instructions or version to the next. These use + − × ÷ in one order, and nothing else, so that
parameters and probabilities are the same everywhere. They are off by less than 2 units in the last
place. A value outside of the domain is NaN, and nothing warns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from suffice.numerics import kernels
from suffice.numerics.arrays import Floats


def exp(x: ArrayLike) -> Floats:
    """Return eˣ of numbers of any shape."""
    return _applied(kernels.elementary.exp, x)


def log(x: ArrayLike) -> Floats:
    """Return log x: −∞ at 0, NaN below."""
    return _applied(kernels.elementary.log, x)


def log1p(x: ArrayLike) -> Floats:
    """Return log(1 + x), exact also for small x."""
    return _applied(kernels.elementary.log1p, x)


def lgamma(x: ArrayLike) -> Floats:
    """Return log Γ(x) for x ≥ 0, and NaN below."""
    return _applied(kernels.elementary.lgamma, x)


def digamma(x: ArrayLike) -> Floats:
    """Return ψ(x) = (log Γ)′(x) for x ≥ 0, and NaN below."""
    return _applied(kernels.elementary.digamma, x)


def log_add_exp(a: Floats, b: Floats) -> Floats:
    """Return log(eᵃ + eᵇ) = m + log(1 + e^−abs(a − b)) with m = max(a, b); −∞ is allowed."""
    largest, least = np.maximum(a, b), np.minimum(a, b)
    apart = np.where(np.isneginf(largest), 0.0, largest) - least
    return np.asarray(largest + log1p(exp(-apart)))


def log_of(x: float) -> float:
    """Return log x of a number as a number."""
    return float(log(x))


def _applied(function: Callable[[Floats, Floats], None], x: ArrayLike) -> Floats:
    """Return a function of x in a new array; a matrix keeps its order in memory."""
    given = np.asarray(x, np.float64)
    matrix = given if given.ndim == 2 else given.reshape(1, -1)
    out = np.empty_like(matrix)
    function(matrix, out)
    return out.reshape(given.shape)
