"""Standard errors where the rows of a cluster depend on each other, from the sums of each."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.robust import sandwich
from suffice.models.linear.summary import Summary
from suffice.models.linear.together import product_of
from suffice.numerics.exact import DoubleDouble
from suffice.sums.comoments import Comoments

ClusterErrors = Literal["CR1", "CR3"]
Array = NDArray[np.float64]
LEAST = 1e-10  # of what all rows say of a direction, without a cluster


def clustered(
    summary: Summary, fit: LeastSquares, sums: Comoments, target: int, kind: ClusterErrors
) -> Summary:
    """Return a summary whose errors, tests and F allow for dependence within clusters.

    ::

        V = (XᵀX)⁻¹ (Σ_c s_c s_cᵀ) (XᵀX)⁻¹ · G/(G − 1) · (n − 1)/(n − p),  s_c = X_cᵀe_c      CR1
        V = (G − 1)/G · Σ_c (w₍₋c₎ − w)(w₍₋c₎ − w)ᵀ                                           CR3

    with w₍₋c₎ the coefficients without the rows of cluster c. All of it follows from the sums of
    the clusters. Tests use t with G − 1 degrees of freedom.

    Parameters
    ----------
    summary : Summary
        Of one target.
    fit : LeastSquares
        To all rows.
    sums : Comoments
        Of p columns and the targets; each class is a cluster.
    target : int
    kind : {"CR1", "CR3"}

    Source: A. C. Cameron and D. L. Miller, A practitioner's guide to cluster-robust inference
    (2015), eqs. 11 and 12; J. G. MacKinnon, M. Ø. Nielsen and M. D. Webb, Fast and reliable
    jackknife and bootstrap methods for cluster-robust inference (2023), eq. 13.
    """
    p, intercept = fit.equations.p, int(fit.has_intercept)
    rows = np.flatnonzero(sums.patterns[sums.pattern].all(axis=1))
    g = len(rows)
    if g < 2:
        raise DataError(
            f"there is {g} cluster of complete rows",
            "errors that allow for clusters are estimated from two or more",
            "leave cluster out",
        )
    n, mean = sums.group_weight.hi[rows], sums.mean[rows]
    scatter, w = sums.scatter_of(sums.product_index[rows]), fit.coefficients[:, [target]]
    away = mean[:, :p] - DoubleDouble.of(fit.origin)
    residual = mean[:, p + target] - DoubleDouble.of(fit.at_origin[target])
    for j in range(p):
        residual = residual - away[:, j] * w[j, 0]
    total = n * residual.value  # Σe of every cluster
    within = scatter[:, :p, [p + target]] - product_of(scatter[:, :p, :p], w[None])
    of_x = (within.value[:, :, 0] + total[:, None] * away.value) @ fit.root.T
    scores = np.hstack([total[:, None], of_x]) if intercept else of_x
    if kind == "CR1":
        params = summary.observations - summary.dof
        factor = g / (g - 1.0) * (summary.observations - 1.0)
        factor /= summary.observations - params
        inner = factor * (scores.T @ scores)
    else:
        inner = _left_out(fit, sums, rows, scores, away.value)
    return sandwich(summary, fit, inner, kind, g - 1.0)


def _left_out(
    fit: LeastSquares, sums: Comoments, rows: NDArray[np.intp], scores: Array, away: Array
) -> Array:
    """Σ of squares of what each cluster left out changes, in the place of Σ s_c s_cᵀ, (q, q).

    In coordinates in which XᵀX is D, the change is −(D − X_cᵀX_c)⁻¹ s_c.
    """
    if fit.factor.dependent:
        raise ParameterError(
            "cluster_errors='CR3' with columns that depend on each other",
            "each cluster is left out, and the coefficients are then to be determined",
            "leave columns out, or use 'CR1'",
        )
    p, g, intercept = fit.equations.p, len(rows), fit.has_intercept
    n, root = sums.group_weight.hi[rows], fit.root
    inside = sums.scatter_of(sums.product_index[rows])[:, :p, :p].value
    white = away @ root.T
    own = root @ inside @ root.T + n[:, None, None] * white[:, :, None] * white[:, None, :]
    whole = np.ones(p)
    if intercept:
        corner = np.empty((g, p + 1, p + 1))
        corner[:, 0, 0], corner[:, 1:, 1:] = n, own
        corner[:, 0, 1:] = corner[:, 1:, 0] = n[:, None] * white
        own, whole = corner, np.append(fit.equations.rows, whole)
    unit = np.sqrt(whole)
    rest = np.eye(len(whole)) - own / (unit[:, None] * unit)
    values, vectors = np.linalg.eigh(rest)
    if (values[:, 0] <= LEAST).any():
        raise DataError(
            "without one of the clusters, the coefficients are not determined",
            "CR3 leaves out each cluster in turn",
            "use cluster_errors='CR1'",
        )
    of_each = (vectors.transpose(0, 2, 1) @ (scores / unit)[:, :, None]) / values[:, :, None]
    change = (vectors @ of_each)[:, :, 0] * unit
    return np.asarray((g - 1.0) / g * (change.T @ change))
