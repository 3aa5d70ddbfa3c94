"""The choice of α in ridge regression, from one decomposition that answers for every α."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import ParameterError
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.rows import CentredRows, Equations, Fit, RowLeastSquares
from suffice.numerics.elementary import exp, log
from suffice.numerics.interruption import interruptible
from suffice.numerics.linalg import product

CANDIDATES = 200
BEYOND = 1e3  # how far α may lie outside the squares of the singular values

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RidgeSpectrum:
    """One singular value decomposition that answers for all penalties αuⱼ.

    With X U^-½ = P S Qᵀ, X about its means, and g = PᵀY:

    ::

        RSS(α) = RSS(0) + Σ (α/(s² + α))² g²          tr H(α) = Σ s²/(s² + α) + 1
        GCV(α) = n RSS(α)/(n − tr H(α))²

    where the 1 is the intercept. Nothing cancels in RSS: RSS(0) comes from double-double.

    Source: G. H. Golub, M. Heath and G. Wahba, Generalized cross-validation as a method for
    choosing a good ridge parameter, Technometrics 21 (1979), section 1.
    """

    plain: Fit  # the fit without a penalty
    singular: Array  # s, decreasing, (p,)
    strength: Array  # g, (p, t)

    @classmethod
    def of(cls, equations: Equations, scale: Array) -> Self:
        """Decompose the rows, or the Cholesky factor of XᵀX, whose singular values are theirs.

        ``scale`` (p,) are u, positive or 0: the penalty of every column at α = 1.
        """
        if isinstance(equations, CentredRows):
            left, singular, _ = RowLeastSquares(equations, scale).svd
            none = RowLeastSquares(equations, np.zeros(equations.p))
            return cls(none, singular, left.T @ equations.y)
        plain = LeastSquares(equations, np.zeros(equations.p))
        root = np.where(scale > 0.0, 1.0 / np.sqrt(np.where(scale > 0.0, scale, 1.0)), 0.0)
        cholesky = plain.factor.cholesky.value * root[:, None]
        _, singular, right = interruptible(np.linalg.svd, cholesky)
        return cls(plain, singular, right @ product(plain.factor.whitening, equations.xy).value)

    def gcv(self, alpha: float) -> Array:
        """GCV(α), (t,): about n times the mean squared error of rows left out; ∞ for n = tr H."""
        s, rows = self.singular, self.plain.equations.observations
        # A singular value that is 0, up to rounding, is of a direction that no y reaches.
        used = s > np.finfo(float).eps * len(s) * s.max(initial=0.0)
        shares = np.divide(s, s * s + alpha, out=np.zeros_like(s), where=used)
        kept = np.divide(alpha, s * s + alpha, out=np.ones_like(s), where=used)
        left = rows - (float((shares * s).sum()) + self.plain.equations.intercept)
        if left <= 1e-9 * rows:
            return np.full(len(self.plain.rss), np.inf)
        return np.asarray(rows * (self.plain.rss + kept**2 @ self.strength**2) / left**2)

    def best(self, alphas: Array | None) -> float:
        """Return the α of least GCV: of those given, or from next to none to next to everything.

        Of several targets the errors are added, each in units of its own variance.
        """
        scale = np.where(self.plain.tss > 0.0, self.plain.tss, 1.0)

        def error(alpha: float) -> float:
            return float((self.gcv(alpha) / scale).sum())

        grid = self._candidates() if alphas is None else alphas
        place = int(np.argmin([error(alpha) for alpha in grid.tolist()]))
        best = float(grid[place])
        if alphas is not None or place in (0, len(grid) - 1):
            return best
        from scipy.optimize import minimize_scalar

        ends = float(log(grid[place - 1])), float(log(grid[place + 1]))
        found = minimize_scalar(lambda x: error(float(exp(x))), bounds=ends, method="bounded")
        return float(exp(found.x)) if found.fun < error(best) else best

    def _candidates(self) -> Array:
        """Return penalties in equal steps of log α."""
        used = self.singular[self.singular > 1e-12 * self.singular.max(initial=0.0)]
        if not len(used):
            return np.ones(1)
        return np.geomspace(used.min() ** 2 / BEYOND, used.max() ** 2 * BEYOND, CANDIDATES)


def checked_penalties(alphas: ArrayLike) -> Array:
    """Penalties as an array (m,)."""
    try:
        values = np.atleast_1d(np.asarray(alphas, np.float64))
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or not len(values) or not (np.isfinite(values) & (values >= 0)).all():
        raise ParameterError(f"alphas={alphas!r}", "penalties are finite numbers, 0 or more")
    return values
