"""Divergences: how far apart two distributions are, from the sums of their rows.

::

    H² = 1 − ∫ √(pq)                    Hellinger's distance H, from 0 to 1
    J  = ∫ (p − q) log(p/q)             Jeffreys' divergence: of fractions, the population
                                        stability index (PSI)
    JS = ½ ∫ p log(2p/(p + q)) + ½ ∫ q log(2q/(p + q))      Jensen and Shannon's, at most log 2

H is known of every kind of column and on one scale, so it is what columns are ordered by.

References
----------
H. Jeffreys, "An invariant form for the prior probability in estimation problems", Proc. R. Soc. A
186 (1946). J. Lin, "Divergence measures based on the Shannon entropy", IEEE Trans. Inf. Theory 37
(1991), eq. 3.1. L. Pardo, Statistical Inference Based on Divergence Measures (2006), sections 1.2
and 1.3. S. S. Wilks, "The large-sample distribution of the likelihood ratio", Ann. Math. Stat. 9
(1938).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Divergence", "Divergences", "of_fractions", "of_gaussians"]

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]

SMOOTHING = 0.5  # pseudo-count of every fraction in J, which has no value for a fraction of 0
FEWEST_ROWS = 20.0  # on either side for a test of numbers
ROWS_PER_VALUE = 5.0  # on either side, on average, for a test of fractions


@dataclass(frozen=True)
class Divergence:
    """How far two distributions are apart.

    Parameters
    ----------
    hellinger : float
        H, from 0 to 1.
    psi : float
        J in nats; of fractions, with half a row added to each. ∞ where a number of one side has no
        spread.
    jensen_shannon : float, optional
        JS in nats; None of numbers.
    p_value : float, optional
        Of the likelihood-ratio test that both are one distribution, a weight counted as so many
        rows. None where χ² would say little: fewer than 20 rows on a side (for fractions 5 per
        value), numbers without spread, and words, which depend on each other.
    """

    hellinger: float
    psi: float
    jensen_shannon: float | None
    p_value: float | None


class Divergences(NamedTuple):
    """Divergences of many pairs, arrays of one shape; NaN where a value is not known.

    ``ratio`` is 2 log Λ of the likelihood-ratio test, ``freedom`` its degrees of freedom.
    """

    hellinger: NDArray[np.float64]
    psi: NDArray[np.float64]
    jensen_shannon: NDArray[np.float64]
    ratio: NDArray[np.float64]
    freedom: NDArray[np.float64]

    @classmethod
    def side_by_side(cls, parts: list[Divergences]) -> Divergences:
        """Join divergences (k,) as columns of (k, d)."""
        return cls(*(np.stack(column, axis=1) for column in zip(*parts, strict=True)))

    def untested(self) -> Divergences:
        """The same without a test: the counts are no rows that were drawn one by one."""
        return self._replace(ratio=np.full_like(self.ratio, np.nan))

    def at(self, *place: int) -> Divergence | None:
        """The divergence of one pair; None where a side has no rows."""
        hellinger, psi, jensen_shannon, ratio, freedom = (float(part[place]) for part in self)
        if np.isnan(hellinger):
            return None
        from scipy.special import chdtrc

        return Divergence(
            hellinger,
            psi,
            None if np.isnan(jensen_shannon) else jensen_shannon,
            None if np.isnan(ratio) else float(chdtrc(freedom, ratio)) if freedom else 1.0,
        )


def of_fractions(a: NDArray[np.float64], b: NDArray[np.float64]) -> Divergences:
    """Compare counts (..., m) of the same m values, p = a/n_a and q = b/n_b.

    ::

        H² = ½ Σ (√p − √q)²
        2 log Λ = 2 Σ a log(p/r) + 2 Σ b log(q/r),  r = (a + b)/(n_a + n_b),  m − 1 degrees

    where the test counts the values that either side shows.

    Parameters
    ----------
    a, b : ndarray (..., m)
        Counts of the values on either side.

    Examples
    --------
    >>> found = of_fractions(np.array([8.0, 2.0]), np.array([2.0, 8.0])).at()
    >>> round(found.hellinger, 4), round(found.jensen_shannon, 4)  # √(1/5), ...
    (0.4472, 0.1927)
    """
    n, m = (x.sum(axis=-1, keepdims=True) for x in (a, b))
    seen = (n > 0) & (m > 0)
    p, q, r = (
        np.divide(x, total, out=np.zeros(np.broadcast_shapes(x.shape, seen.shape)), where=seen)
        for x, total in ((a, n), (b, m), (a + b, n + m))
    )
    values = (a + b > 0).sum(axis=-1)
    freedom = np.maximum(values - 1.0, 0.0)
    half = (p + q) / 2
    with np.errstate(invalid="ignore"):
        smooth = SMOOTHING * a.shape[-1]
        u, v = (a + SMOOTHING) / (n + smooth), (b + SMOOTHING) / (m + smooth)
        psi = ((u - v) * np.log(u / v)).sum(axis=-1)
    ratio = 2 * (n[..., 0] * _relative(p, r) + m[..., 0] * _relative(q, r))
    enough = np.minimum(n, m)[..., 0] >= ROWS_PER_VALUE * values
    known, distance = seen[..., 0], np.sqrt(((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=-1) / 2)
    return Divergences(
        np.where(known, np.minimum(distance, 1.0), np.nan),
        np.where(known, psi, np.nan),
        np.where(known, (_relative(p, half) + _relative(q, half)) / 2, np.nan),
        np.where(known & enough, ratio, np.nan),
        freedom,
    )


def _relative(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ p log(p/q), (...); rounding makes nothing negative."""
    from scipy.special import rel_entr

    return np.asarray(np.maximum(rel_entr(p, q).sum(axis=-1), 0.0))


def of_gaussians(weights: Pair, variances: Pair, shift: NDArray[np.float64]) -> Divergences:
    """Compare numbers by their means and variances, as if they were Gaussian.

    With δ = μ_a − μ_b and s = σ_a² + σ_b²:

    ::

        H² = 1 − √(2σ_a σ_b/s) exp(−δ²/4s)
        J  = ½ [(σ_a/σ_b − σ_b/σ_a)² + δ²/σ_a² + δ²/σ_b²]
        2 log Λ = n log σ²/σ_a² + m log σ²/σ_b²,  2 degrees,
        σ² = (nσ_a² + mσ_b²)/(n + m) + nm δ²/(n + m)²

    Numbers without spread are a distribution of one value.

    Parameters
    ----------
    weights : pair of ndarray
        n and m, Σw of either side.
    variances : pair of ndarray
        σ_a² and σ_b²: Σw(x − x̄)²/Σw.
    shift : ndarray
        δ.

    Examples
    --------
    >>> one, hundred = np.array(1.0), np.array(100.0)
    >>> found = of_gaussians((hundred, hundred), (one, one), one).at()
    >>> round(found.hellinger, 4), round(found.psi, 4)  # √(1 − exp(−1/8)), 1
    (0.3428, 1.0)
    """
    (n, m), (variance_a, variance_b) = weights, variances
    sd_a, sd_b = np.sqrt(variance_a), np.sqrt(variance_b)
    s = variance_a + variance_b
    known, equal = (n > 0) & (m > 0), (s == 0) & (shift == 0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_overlap = (
            np.log1p(-np.minimum((sd_a - sd_b) ** 2 / s, 1.0)) / 2 - (shift / np.sqrt(s)) ** 2 / 4
        )
        hellinger = np.sqrt(-np.expm1(np.where(s > 0, log_overlap, -np.inf)))
        psi = (sd_a / sd_b - sd_b / sd_a) ** 2 + (shift / sd_a) ** 2 + (shift / sd_b) ** 2
        spread = (variance_a > 0) & (variance_b > 0)
        total, a, b = n + m, n / (n + m), 1 - n / (n + m)
        pooled = a * variance_a + b * variance_b + a * b * shift**2
        ratio = n * np.log(pooled / variance_a) + m * np.log(pooled / variance_b)
    tested = known & spread & (np.minimum(n, m) >= FEWEST_ROWS)
    unknown = np.full(np.shape(total), np.nan)
    return Divergences(
        np.where(known, np.where(equal, 0.0, hellinger), np.nan),
        np.where(known, np.where(equal, 0.0, np.where(spread, psi / 2, np.inf)), np.nan),
        unknown,
        np.where(tested, np.maximum(ratio, 0.0), np.nan),
        np.full(np.shape(total), 2.0),
    )
