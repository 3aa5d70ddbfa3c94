"""The Normal-inverse-gamma posterior of coefficients and noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError
from suffice.models.base.options import check_level
from suffice.models.linear.rows import Fit


@dataclass(frozen=True, eq=False)
class Posterior:
    """Normal-inverse-gamma distribution of q coefficients and the variance of the noise.

    With y = b + xᵀw + ε, ε ~ N(0, σ²), the prior w ~ N(0, σ²Λ⁻¹), flat for b and where λ = 0, and
    the density 1/σ² of the variance,

    ::

        (b, w) | σ² ~ N(β, σ²V)      σ² ~ IG(a, r)
        a = (n − flat)/2             r = (RSS + wᵀΛw)/2

    where β is the ridge estimate, V comes from (XᵀX + Λ)⁻¹, and flat counts the parameters with a
    flat prior. Without σ², each coefficient is Student-t with 2a degrees of freedom, location β
    and scale √(Vr/a). Without a penalty these are the classical estimates, standard errors and
    intervals.

    Parameters
    ----------
    terms, targets : sequence of str
        Names of the q coefficients, the intercept first, and of the t targets.
    location : ndarray (q, t)
        β.
    variance : ndarray (q,)
        The diagonal of V.
    shape : float
        a.
    rate : ndarray (t,)
        r.
    fit : LeastSquares or RowLeastSquares
        Whose posterior it is.

    Source: C. M. Bishop, Pattern Recognition and Machine Learning (2006), eqs. 3.49-3.54 (σ²
    known) and exercises 3.12 and 3.13; K. P. Murphy, Machine Learning: A Probabilistic
    Perspective (2012), section 7.6.3.

    Examples
    --------
    >>> from suffice.linear_model import Ridge
    >>> posterior = Ridge(alpha=1.0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 2, 4]).posterior()
    >>> posterior
    <Posterior of 2 coefficients of 'y': Student-t with 3 degrees of freedom>
    >>> posterior.terms, posterior.dof, posterior.location[:, 0].round(3)
    (('(Intercept)', 'x0'), 3.0, array([0.125, 1.083]))
    """

    terms: Sequence[str]
    targets: Sequence[str]
    location: NDArray[np.float64]
    variance: NDArray[np.float64]
    shape: float
    rate: NDArray[np.float64]
    fit: Fit

    @classmethod
    def of(cls, fit: Fit, terms: Sequence[str], targets: Sequence[str]) -> Self:
        """The posterior of a fit."""
        equations = fit.equations
        shape = (equations.observations - fit.flat) / 2
        if shape <= 0 and equations.count > fit.flat:
            raise DataError(
                f"the weights of {equations.count:g} rows add up to {equations.rows:g}",
                f"each counts as so many copies of its row, and errors of {fit.flat} parameters "
                "need more",
                "if weights are precisions, use weights_are='precisions'",
            )
        if shape <= 0:
            raise DataError(
                f"rows of weight {equations.observations:g} for {fit.flat} parameters",
                "nothing is left to estimate the error from",
                "learn from more rows, or of fewer columns",
            )
        rate = (fit.rss + fit.penalty_paid) / 2
        location = fit.coefficients
        if fit.equations.intercept:
            location = np.concatenate([fit.intercept[None], location])
        return cls(tuple(terms), tuple(targets), location, fit.variance, shape, rate, fit)

    def __repr__(self) -> str:
        targets = ", ".join(map(repr, self.targets))
        return (
            f"<Posterior of {len(self.terms)} coefficients of {targets}: "
            f"Student-t with {self.dof:g} degrees of freedom>"
        )

    @property
    def dof(self) -> float:
        """Degrees of freedom of every Student-t distribution, 2a."""
        return 2 * self.shape

    @property
    def noise_variance(self) -> NDArray[np.float64]:
        """r/a, (t,): the unbiased σ̂² = RSS/(n − flat) where there is no penalty."""
        return np.asarray(self.rate / self.shape)

    @property
    def scale(self) -> NDArray[np.float64]:
        """Scale √(V r/a) of every coefficient, (q, t)."""
        return np.sqrt(self.variance[:, None] * self.noise_variance)

    @property
    def covariance(self) -> NDArray[np.float64]:
        """V, (q, q)."""
        return self.fit.covariance

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The ends, (q, t) each, of central intervals that hold each coefficient at a level."""
        reach = self.quantile(level) * self.scale
        return self.location - reach, self.location + reach

    def quantile(self, level: float) -> float:
        """Return the half-width of a central interval, in scales."""
        check_level(level)
        from scipy.special import stdtrit

        return float(stdtrit(self.dof, (1 + level) / 2))
