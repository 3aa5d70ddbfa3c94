"""Standard errors of least squares that hold where rows differ in variance, or are dependent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Part, each_batch
from suffice.errors import DataError, ParameterError
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.model import LinearModel
from suffice.models.linear.rows import Fit
from suffice.models.linear.summary import Summary, tested
from suffice.models.linear.together import product_of
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.interruption import interruptible
from suffice.numerics.linalg import product
from suffice.numerics.logspace import row_sums
from suffice.numerics.rows import is_sparse
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell, RealBlock
from suffice.sums.comoments import Comoments, ComomentsAccumulator

Robust = Literal["HC0", "HC1", "HC2", "HC3"]
ClusterErrors = Literal["CR1", "CR3"]
Array = NDArray[np.float64]
LEAST = 1e-10  # of what all rows say of a direction, without a cluster
POWER: dict[str, float] = {"HC0": 0.0, "HC1": 0.0, "HC2": 0.5, "HC3": 1.0}
ONE = 1.0 - 1e-10  # leverage from which a row decides its own fit, but for rounding


def influences(part: Part, asked: tuple[LinearModel, int, float]) -> Comoments:
    """Kernel: co-moments of what each row adds to the coefficients, of a model, a target and a.

    ::

        g = e/(1 − h)^a · (1, z),   z = R(x − x̄),   RᵀR = (XᵀX)⁺

    With M of `unwhitening`, M Σ w g gᵀ Mᵀ is (XᵀX)⁺ (Σ w e²/(1 − h)^2a x xᵀ) (XᵀX)⁺. Where
    weights are precisions, it is of Σ (wg)(wg)ᵀ, with wh in the place of h.
    """
    model, target, power = asked
    fit: Any = model.fit
    total = ComomentsAccumulator(len(fit.root) + fit.has_intercept)

    def add(batch: Batch) -> None:
        first = 0
        for x, weights, _, of_targets in model.residuals(batch):
            x = x.toarray() if is_sparse(x) else x
            precisions = fit.equations.weights.precisions
            e, precision = of_targets[:, target], weights if precisions else np.ones(len(weights))
            z = fit.whitened(x)
            if power:
                constant = 1.0 / fit.equations.rows if fit.has_intercept else 0.0
                leverage = constant + row_sums(z * z)
                e = e / _free(precision * leverage, first) ** power
            known = ~np.isnan(e) & (weights > 0)
            z = np.hstack([np.ones((len(z), 1)), z]) if fit.has_intercept else z
            g = np.where(known, precision * e, 0.0)[:, None] * z
            copies = weights[:0] if precisions else weights
            total.add(RealBlock(g), np.where(known, 0, -1).astype(np.intp), copies, 1)
            first += len(x)

    for _ in each_batch(part, model.layout, add):
        pass
    return total.statistic()


def unwhitening(fit: Fit) -> NDArray[np.float64]:
    """M (q, ·) = [1/n, −x̄ᵀRᵀ; 0, Rᵀ], or Rᵀ without an intercept."""
    back = fit.root.T
    if not fit.has_intercept:
        return back
    first = np.append(1.0 / fit.equations.rows, -fit.origin @ back)
    return np.vstack([first, np.hstack([np.zeros((len(back), 1)), back])])


def _free(leverage: NDArray[np.float64], first: int) -> NDArray[np.float64]:
    """1 − h of rows, of which the number of the first is given."""
    certain = np.flatnonzero(leverage > ONE)
    if len(certain):
        raise BadCell(
            first + int(certain[0]),
            None,
            1.0,
            "that is its leverage: the row decides its own fit, and has no error",
            "use 'HC0' or 'HC1', or leave the row out",
        )
    return 1.0 - leverage


def robust(summary: Summary, found: Comoments, kind: Robust, fit: Fit) -> Summary:
    """A summary of a fit whose errors, tests and F are those of the sandwich.

    ``found`` are the influences of all its rows.

    Source: H. White, A heteroskedasticity-consistent covariance matrix estimator and a direct test
    for heteroskedasticity (1980); J. G. MacKinnon and H. White, Some heteroskedasticity-consistent
    covariance matrix estimators with improved finite sample properties (1985).
    """
    inner = _products(found)
    if kind == "HC1":
        inner *= summary.observations / summary.dof
    return sandwich(summary, fit, inner, kind, summary.dof)


def sandwich(
    summary: Summary,
    fit: Fit,
    inner: NDArray[np.float64],
    errors: str,
    dof: float,
) -> Summary:
    """A summary whose errors are those of M B Mᵀ, with B the ``inner`` (q, q) of whitened columns.

    Tests use t, and F of the Wald test, with ``dof`` degrees of freedom.
    """
    from scipy.special import fdtrc

    back, intercept = unwhitening(fit), int(fit.has_intercept)
    error = np.sqrt(np.maximum(np.einsum("ij,ij->i", back @ inner, back), 0.0))
    error = np.where(np.isnan(summary.standard_error), np.nan, error)
    f = np.nan if summary.perfect else 0.0
    if summary.rank and not summary.perfect:
        w = np.linalg.lstsq(fit.root.T, summary.estimate[intercept:], rcond=None)[0]
        inverse = interruptible(np.linalg.pinv, inner[intercept:, intercept:], hermitian=True)
        f = float(w @ inverse @ w) / summary.rank
    return replace(
        summary,
        **tested(summary.estimate, error, summary.level, dof, summary.perfect),
        f=f,
        f_p=float(fdtrc(summary.rank, dof, f)) if summary.rank else 1.0,
        errors=errors,
    )


def _products(found: Comoments) -> NDArray[np.float64]:
    """Σ w g gᵀ, (q, q)."""
    total = found.one_class
    mean = total.mean
    across = product(mean.T, mean) * total.rows
    if not len(total.scatter.hi):  # no row has an error
        return across.value
    return (total.scatter[0] + across).value


# -- clusters of rows that depend on each other


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
    p, g, first = fit.equations.p, len(rows), int(fit.has_intercept)
    n, root = sums.group_weight.hi[rows], fit.root
    inside = root @ sums.scatter_of(sums.product_index[rows])[:, :p, :p].value @ root.T
    white = np.hstack([np.ones((g, first)), away @ root.T])  # the mean of (1, z)
    own = np.pad(inside, ((0, 0), (first, 0), (first, 0)))
    own += n[:, None, None] * white[:, :, None] * white[:, None, :]
    unit = np.sqrt(np.append(np.full(first, fit.equations.rows), np.ones(p)))
    rest = np.eye(len(unit)) - own / (unit[:, None] * unit)
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
