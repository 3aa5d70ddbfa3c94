"""Leave-one-out of Gaussians that are drawn to a diagonal, for many degrees at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.families.left_out.rows import LearntRows
from suffice.families.multivariate.parameters import LOG_2PI
from suffice.numerics.eigen import eigh
from suffice.numerics.elementary import log
from suffice.numerics.rows import linear

__all__ = ["ScattersLeftOut"]

LEAST = 2.0**-40  # of the unit of a column: below is rounding


@dataclass(frozen=True, eq=False)
class ScattersLeftOut:
    """N(x; μ_c, Σ_c) from the rows but x, of class k and weight w, in the units D of all rows.

    With M_c = B_c/f_c and the eigenvectors Q of D_c^−½ B_c D_c^−½ with eigenvalues b,

    ::

        Σ_c = (1 − γ)M_c + γ v_c D_c    s = w n_k/(n_k − w)    δ = x − μ_k
        f' = f − r w    v' = (Σ b − r s|y|²)/(d f')    y = Qᵀ D^−½ δ    z = Qᵀ D^−½ (x − μ_c)
        E = (1 − γ) b/f' + γ v'    τ = (1 − γ) r s/f'    h = 1 − τ yᵀE⁻¹y
        (x − μ_c)ᵀΣ'⁻¹(x − μ_c) = zᵀE⁻¹z + τ (zᵀE⁻¹y)²/h    log |Σ'| = log |D| + log |E| + log h

    where the scatter of class k loses s δδᵀ once, r = 1, and those of others r = λ times; x − μ'_k
    is δ n_k/(n_k − w) for its own class. So one set of eigenvectors serves all γ.

    Parameters
    ----------
    weight : ndarray (k,)
        n_c.
    mean : ndarray (k, d)
    scatter : ndarray (k, d, d), or (1, d, d)
        B_c, or one for all classes.
    divisor : ndarray (k,)
        f.
    unit : ndarray (k, d), or (1, d)
        The diagonal of D_c, above 0.
    pooling : ndarray (k,)
        λ: how often the rows of other classes are in B_c.
    own : ndarray (k,)
        How often its own are: 0 where a class has a covariance of others.
    follows : bool
        Whether v is the mean of diag(M_c)/D_c, or 1.

    Source: J. H. Friedman, Regularized discriminant analysis, JASA 84 (1989), section 4.
    """

    weight: NDArray[np.float64]
    mean: NDArray[np.float64]
    scatter: NDArray[np.float64]
    divisor: NDArray[np.float64]
    unit: NDArray[np.float64]
    pooling: NDArray[np.float64]
    own: NDArray[np.float64]
    follows: bool

    def log_likelihoods(
        self, x: NDArray[np.float64], rows: LearntRows, shrinkage: Sequence[float]
    ) -> NDArray[np.float64]:
        """log p(x | c) of complete rows, (g, n, k); NaN where a covariance would be singular.

        Parameters
        ----------
        x : ndarray (n, d)
        rows : LearntRows
            Each row is not the only one of its class.
        shrinkage : sequence of g floats
            γ.
        """
        (n, d), k, codes, w = x.shape, len(self.weight), rows.codes, rows.weights
        left = self.weight[codes] - w
        lost = w * self.weight[codes] / left
        found = np.empty((len(shrinkage), n, k))
        for c in range(k):
            if c < max(len(self.scatter), len(self.unit)):
                sd = np.sqrt(self.unit[min(c, len(self.unit) - 1)])
                values, axes = eigh(self.scatter[min(c, len(self.scatter) - 1)] / sd / sd[:, None])
                delta = (x - self.mean[codes]) / sd
                square = _dots(delta, delta)
                turned = linear(delta, axes) if self.pooling.any() else delta
                scale = d * LOG_2PI + 2.0 * float(log(sd).sum())
            mine = codes == c
            r = np.where(mine, self.own[c], self.pooling[c])
            f = self.divisor[c] - r * w
            f = np.where(f > 0, f, np.nan)
            z = linear((x - self.mean[c]) / sd, axes)
            y = turned if self.pooling.any() else z
            width = np.ones(n)
            if self.follows:
                width = (values.sum() - r * lost * square) / (max(d, 1) * f)
            for g, gamma in enumerate(shrinkage):
                e = (1.0 - gamma) * values / f[:, None] + gamma * width[:, None]
                e = np.where(e > LEAST, e, np.nan)
                tau = (1.0 - gamma) * r * lost / f
                h = 1.0 - tau * _dots(y / e, y)
                h = np.where(h > 0, h, np.nan)
                q = _dots(z / e, z) + tau * _dots(z / e, y) ** 2 / h
                q = np.where(mine, q * (self.weight[codes] / left) ** 2, q)
                found[g, :, c] = -0.5 * (scale + log(e).sum(axis=1) + log(h) + q)
        return found


def _dots(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("ij,ij->i", a, b))
