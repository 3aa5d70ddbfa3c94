"""Leave-one-out of regularised Gaussians, for many degrees of regularisation at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.families.left_out.rows import LearntRows
from suffice.families.multivariate.parameters import LOG_2PI
from suffice.families.multivariate.regularized import RegularizedSums
from suffice.numerics.eigen import eigh
from suffice.numerics.elementary import log
from suffice.numerics.rows import linear

__all__ = ["RegularizedLeftOut"]


@dataclass(frozen=True, eq=False)
class RegularizedLeftOut:
    """N(x; μ_c, Σ_c) from the rows but x, of class k and weight w, in the units D of all rows.

    Without x the scatters lose s δδᵀ, with δ = x − μ_k and s = w n_k/(n_k − w): that of class k
    once, those of the others λ times. With r = 1 or λ, M_c = B/f and the eigenvectors Q of
    D^−½ B D^−½ with eigenvalues b,

    ::

        f' = f − r w    v' = (Σ b − r s|y|²)/(d f')    y = Qᵀ D^−½ δ    z = Qᵀ D^−½ (x − μ_c)
        E = (1 − γ) b/f' + γ v'    τ = (1 − γ) r s/f'    h = 1 − τ yᵀE⁻¹y
        (x − μ_c)ᵀΣ'⁻¹(x − μ_c) = zᵀE⁻¹z + τ (zᵀE⁻¹y)²/h    log |Σ'| = log |D| + log |E| + log h

    where x − μ'_k is δ n_k/(n_k − w) for its own class. So one set of eigenvectors serves all γ.

    Parameters
    ----------
    regularized : RegularizedSums
        Of all rows.

    Source: J. H. Friedman, Regularized discriminant analysis, JASA 84 (1989), section 4.
    """

    regularized: RegularizedSums

    def log_likelihoods(
        self, x: NDArray[np.float64], rows: LearntRows, pooling: float, shrinkage: Sequence[float]
    ) -> NDArray[np.float64]:
        """log p(x | c) of complete rows, (g, n, k); NaN where a covariance would be singular.

        Parameters
        ----------
        x : ndarray (n, d)
        rows : LearntRows
            Each row is not the only one of its class.
        pooling : float
            λ.
        shrinkage : sequence of g floats
            γ.
        """
        of_all, sums = self.regularized, self.regularized.sums
        used = of_all.used
        sd = np.sqrt(of_all.unit[used])
        mean, weight = sums.mean.value[:, used], sums.weight
        n, d, k = len(x), len(used), len(weight)
        whole = (of_all.scatter(pooling).value[:, used][:, :, used]) / sd / sd[:, None]
        divisor = of_all.divisor(pooling)
        x, codes, w = x[:, used], rows.codes, rows.weights
        delta = (x - mean[codes]) / sd
        left = weight[codes] - w
        lost = w * weight[codes] / left
        square = _dots(delta, delta)
        scale = d * LOG_2PI + 2.0 * float(log(sd).sum())
        found = np.empty((len(shrinkage), n, k))
        for c in range(k):
            values, axes = eigh(whole[c])
            own = codes == c
            r = np.where(own, 1.0, pooling)
            f = divisor[c] - r * w
            z = linear((x - mean[c]) / sd, axes)
            y = linear(delta, axes) if pooling else z
            f = np.where(f > 0, f, np.nan)
            width = (values.sum() - r * lost * square) / (max(d, 1) * f)
            for g, gamma in enumerate(shrinkage):
                e = (1.0 - gamma) * values / f[:, None] + gamma * width[:, None]
                e = np.where(e > 0, e, np.nan)
                tau = (1.0 - gamma) * r * lost / f
                h = 1.0 - tau * _dots(y / e, y)
                h = np.where(h > 0, h, np.nan)
                q = _dots(z / e, z) + tau * _dots(z / e, y) ** 2 / h
                q = np.where(own, q * (weight[codes] / left) ** 2, q)
                found[g, :, c] = -0.5 * (scale + log(e).sum(axis=1) + log(h) + q)
        return found


def _dots(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("ij,ij->i", a, b))
