"""Leave-one-out of multivariate Gaussians: a scatter matrix without one row, by rank one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.families.left_out.rows import LearntRows, no_closed_form
from suffice.families.multivariate.factored import FactoredGaussians
from suffice.families.multivariate.parameters import LOG_2PI
from suffice.numerics.elementary import log
from suffice.numerics.interruption import interruptible
from suffice.numerics.rows import affine
from suffice.sums.block import RealBlock
from suffice.sums.moments import ABSENT, FEWEST_DIGITS

__all__ = ["GaussiansLeftOut"]

ROWS = 16_384  # scored at a time
MARGIN = 4.0  # by which a relative variance has to exceed its floor


class Estimates(Protocol):
    """What `MultivariateGaussian` says of covariances."""

    @property
    def ddof(self) -> int:
        """What a divisor is less than the number of rows."""
        ...

    @property
    def variance_floor(self) -> float:
        """The least relative variance in any direction."""
        ...


@dataclass(frozen=True, eq=False)
class GaussiansLeftOut:
    """N(x; μ_c, Σ) from the rows but x, which is of class k and weight w.

    ::

        S' = S − s δδᵀ    δ = x − μ_k    s = w N_k/(N_k − w)    h = 1 − s δᵀS⁻¹δ
        S'⁻¹ = S⁻¹ + s S⁻¹δδᵀS⁻¹/h    |S'| = h |S|    x − μ'_k = δ N_k/(N_k − w)

    where S = fΣ is a scatter of one class, or of all of them together, and f its divisor.

    Parameters
    ----------
    factored : FactoredGaussians
        Of all rows.
    weight : ndarray (k,)
        N_c.
    ddof : int
    floor : float
        The least relative variance in any direction.
    narrowest : ndarray (s,)
        The least there is.

    Source: J. Sherman and W. J. Morrison, Adjustment of an inverse matrix corresponding to a change
    in one element of a given matrix, Annals of Mathematical Statistics 21 (1950); for discriminant
    analysis, P. A. Lachenbruch and M. R. Mickey, Technometrics 10 (1968).
    """

    factored: FactoredGaussians
    weight: NDArray[np.float64]
    ddof: int
    floor: float
    narrowest: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        family: Estimates,
        factored: FactoredGaussians,
        weight: NDArray[np.float64],
        covariance: NDArray[np.float64],
    ) -> GaussiansLeftOut:
        """From the Gaussians of all rows, and the covariance of all classes together.

        Raises
        ------
        ParameterError
            If a covariance is that of all rows, or has a floor: these change with every row.
        """
        rest = np.where(weight > 0, weight - family.ddof, 1.0)
        if factored.raised or (len(factored.covariance) > 1 and rest.min() <= 0):
            raise no_closed_form(family, "the rows of a class do not vary in all directions")
        relative = factored.whitening @ covariance @ factored.whitening.transpose(0, 2, 1)
        widest = interruptible(np.linalg.eigvalsh, relative).max(axis=1, initial=0.0)
        narrowest = 1.0 / np.where(widest > 0, widest, 1.0)
        return cls(factored, weight, family.ddof, family.variance_floor, narrowest)

    def add_log_likelihood(
        self, block: RealBlock, rows: LearntRows, out: NDArray[np.float64]
    ) -> None:
        """Add log N(x; μ_c, Σ) by the sums without the row."""
        for start in range(0, len(out), ROWS):
            part = np.arange(start, min(start + ROWS, len(out)))
            x = np.asarray(block.values[part], np.float64)
            of_part = rows.take(part)
            found = self._shared(x, of_part) if len(self.narrowest) == 1 else self._each(x, of_part)
            out[part] += found

    def _shared(self, x: NDArray[np.float64], rows: LearntRows) -> NDArray[np.float64]:
        """Of a scatter that all classes share, (n, k)."""
        k, n = len(self.weight), np.arange(len(x))
        divisor = (np.where(self.weight > 0, self.weight - self.ddof, 0.0)).sum()
        white = [self._white(x, c) for c in range(k)]  # W δ_c, with WᵀW = Σ⁻¹
        own, w, left, alone = self._own(rows)
        mine = np.stack(white)[own, n]
        s = np.divide(w * self.weight[own], left, out=np.zeros(len(x)), where=left > 0) / divisor
        h = 1.0 - s * _dots(mine, mine)
        gone = np.where(alone, self.weight[own] - self.ddof, w)
        freedom = divisor - gone
        shrunk = np.where(h > 0, h, np.nan)
        log_scale = log(shrunk) - self._rank(0) * log(freedom)
        found = np.empty((len(x), k))
        for c, z in enumerate(white):
            q = _dots(z, z) + s * _dots(z, mine) ** 2 / shrunk
            q = np.where(
                (own == c) & (left > 0), q * (self.weight[c] / np.where(left > 0, left, 1)) ** 2, q
            )
            found[:, c] = -0.5 * (self._log_scale(0, divisor) + log_scale + q * freedom / divisor)
        found[self._doubtful(0, h) & (w > 0)] = np.nan
        return found

    def _each(self, x: NDArray[np.float64], rows: LearntRows) -> NDArray[np.float64]:
        """Of a scatter for every class, (n, k)."""
        own, w, left, alone = self._own(rows)
        found = np.empty((len(x), len(self.weight)))
        for c, weight in enumerate(self.weight.tolist()):
            z, divisor = self._white(x, c), weight - self.ddof
            mine = (own == c) & (w > 0)
            s = np.where(mine & ~alone, w * weight / np.where(left > 0, left, 1.0), 0.0) / divisor
            freedom = np.where(mine & ~alone, divisor - w, divisor)
            q = _dots(z, z)
            h = 1.0 - s * q
            ratio = np.where(mine & ~alone, weight / np.where(left > 0, left, 1.0), 1.0)
            shrunk = np.where(h > 0, h, np.nan)
            q = q / shrunk * ratio**2 * freedom / divisor
            log_scale = log(shrunk) - self._rank(c) * log(freedom)
            found[:, c] = -0.5 * (self._log_scale(c, divisor) + log_scale + q)
            found[mine & ~alone & self._doubtful(c, h), c] = np.nan
        return found

    def _own(
        self, rows: LearntRows
    ) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Class of every row, its weight there, what is left, and whether nothing is."""
        own = np.maximum(rows.codes, 0)
        left = self.weight[own] - rows.weights
        alone = left <= ABSENT * self.weight[own]
        return own, rows.weights, np.where(alone, 0.0, left), np.asarray(alone)

    def _white(self, x: NDArray[np.float64], c: int) -> NDArray[np.float64]:
        """W(x − μ_c) of rows (n, d)."""
        m = min(c, len(self.narrowest) - 1)
        factored = self.factored
        return affine(x, factored.origin[m], factored.whitening[m], -factored.shift[c])

    def _rank(self, m: int) -> float:
        return float(self.factored.rank[m])

    def _log_scale(self, m: int, divisor: float) -> float:
        """log |2π S|."""
        rank = self._rank(m)
        return rank * LOG_2PI + float(self.factored.log_determinant[m]) + rank * float(log(divisor))

    def _doubtful(self, m: int, h: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Rows without which few digits are left, or a variance might be below its floor."""
        below = self.narrowest[m] * h < MARGIN * self.floor
        return np.asarray((h < FEWEST_DIGITS) | below)


def _dots(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("ij,ij->i", a, b))
