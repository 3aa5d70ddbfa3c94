"""Least squares of many groups of rows at once."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.errors import DataError
from suffice.models.design.matrix import INTERCEPT
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.linalg import eigh
from suffice.sums.comoments import Comoments

Array = NDArray[np.float64]
LEAST = 1e-9  # eigenvalue of columns in their own units; with less, a group is solved by itself
CELLS = 2**21  # of matrices solved at a time
REFINED = 2  # times


@dataclass(frozen=True, eq=False)
class GroupFits:
    """Least squares of g groups with p columns and t targets; NaN where a group has no solution."""

    n: Array  # Σw of the complete rows, (g,)
    coefficients: Array  # the intercept first, where there is one, (g, q, t)
    errors: Array  # their standard errors, (g, q, t)
    r_squared: Array  # (g, t)
    hard: NDArray[np.bool_]  # groups whose columns depend on each other, or nearly so, (g,)

    @classmethod
    def of(cls, sums: Comoments, p: int, intercept: bool, penalty: float, precisions: bool) -> Self:
        """Solve the normal equations of every group by the eigenvalues of XᵀX.

        ::

            (XᵀX + λI) w = Xᵀy,  Var(w) = (XᵀX)⁻¹ RSS/(n − q)

        The eigenvalues are in double, the residuals that correct w in double-double.

        Each class of the sums is a group: of p columns and, after them, the targets.
        """
        t, q, g = sums.d - p, p + intercept, sums.k
        n, hard = np.zeros(g), np.zeros(g, np.bool_)
        coefficients, errors = np.full((g, q, t), np.nan), np.full((g, q, t), np.nan)
        r_squared = np.full((g, t), np.nan)
        complete = np.flatnonzero(sums.patterns[sums.pattern].all(axis=1))
        step = max(1, CELLS // max(1, sums.d**2))
        for first in range(0, len(complete), step):
            rows = complete[first : first + step]
            groups = sums.code[rows]
            found = _solved(sums, rows, p, intercept, penalty, precisions)
            n[groups], hard[groups] = found.n, found.hard
            coefficients[groups], errors[groups] = found.coefficients, found.errors
            r_squared[groups] = found.r_squared
        return cls(n, coefficients, errors, r_squared, hard)


def _solved(
    sums: Comoments,
    rows: NDArray[np.intp],
    p: int,
    intercept: bool,
    penalty: float,
    precisions: bool,
) -> GroupFits:
    """Solve the normal equations of some groups: see `suffice.models.design.normal_equations`."""
    n, mean = sums.group_weight[rows], sums.mean[rows]
    scatter = sums.scatter_of(sums.product_index[rows])
    if not intercept:
        scatter = scatter + mean[:, :, None] * mean[:, None, :] * n[:, None, None]
        mean = DoubleDouble.zeros(mean.shape)
    counted = precisions and len(sums.tally) == len(sums.code)
    observations = sums.tally[rows, 0].astype(np.float64) if counted else n.hi
    targets, x_mean, y_mean = np.arange(p, sums.d), mean[:, :p], mean[:, p:]
    xx, xy, yy = scatter[:, :p, :p], scatter[:, :p, p:], scatter[:, targets, targets]
    g, t, diagonal = len(rows), sums.d - p, np.arange(p)
    raised = DoubleDouble(xx.hi.copy(), xx.lo.copy())
    raised.hi[:, diagonal, diagonal] += penalty
    scale = np.sqrt(np.maximum(raised.hi[:, diagonal, diagonal], 0.0))
    constant = scale == 0.0  # such a column has the coefficient 0, and no error
    scale[constant] = 1.0
    matrix = raised.hi / (scale[:, :, None] * scale[:, None, :])
    matrix[:, diagonal, diagonal] += constant
    values, axes = eigh(matrix)
    hard = values.min(axis=1, initial=1.0) <= LEAST
    root = axes.swapaxes(1, 2) / np.sqrt(np.maximum(values, LEAST))[:, :, None]
    root /= scale[:, None, :]  # RᵀR is the inverse
    root[constant] = 0.0

    def corrected(b: Array) -> Array:
        return np.asarray(root.transpose(0, 2, 1) @ (root @ b))

    w = corrected(xy.hi)
    for _ in range(REFINED):
        w = w + corrected((xy - product_of(raised, w)).value)
    fitted = product_of(xx, w)
    rss = yy
    for j in range(p):
        rss = rss + (fitted[:, j] - xy[:, j] * 2.0) * w[:, j]
    rank = p - constant.sum(axis=1)
    free = (observations - rank - intercept)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = np.where(free > 0, np.maximum(rss.value, 0.0) / free, np.nan)
        r_squared = 1.0 - np.maximum(rss.value, 0.0) / yy.value
    variance = (root**2).sum(axis=1)[:, :, None]
    if intercept:
        b = y_mean
        for j in range(p):
            b = b - x_mean[:, j, None] * w[:, j]
        w = np.concatenate([b.value[:, None], w], axis=1)
        white = (root @ x_mean.hi[:, :, None])[:, :, 0]
        at_zero = 1.0 / n.hi + (white**2).sum(axis=1)
        variance = np.concatenate([at_zero[:, None, None], variance], axis=1)
    errors = np.sqrt(variance * noise[:, None, :])
    errors[:, int(intercept) :][constant] = np.nan
    if penalty:
        errors = np.full(errors.shape, np.nan)
    for part in (w, errors, r_squared):
        part[hard] = np.nan
    return GroupFits(n.hi, w, errors, np.asarray(r_squared).reshape(g, t), hard)


def product_of(a: DoubleDouble, w: Array) -> DoubleDouble:
    """Aw of matrices (g, p, p) and (g, p, t), in double-double."""
    total = DoubleDouble.zeros(w.shape)
    for j in range(w.shape[1]):
        total = total + a[:, :, j, None] * w[:, None, j]
    return total


def group_columns(estimator: Any, sums: Any) -> dict[str, Any]:
    """Return the columns of a table of linear models of grouped sums; what is NaN is null there."""
    design, method = sums.reader.design, estimator.method()
    p, intercept = len(design), method.intercept and design.allows_intercept
    precisions = method.weights_are == "precisions"
    fits = GroupFits.of(sums.sums, p, intercept, method.square or 0.0, precisions)
    # Of other models, and of columns that depend on each other, each is fitted by itself.
    alone = fits.hard.copy()
    if method.square is None or method.incomplete == "gaussian":
        alone |= np.asarray(sums.rows > 0)
    for g in np.flatnonzero(alone).tolist():
        _put_alone(fits, estimator, sums, g, intercept)

    def column(values: Array) -> pa.Array[Any]:
        return pa.array(values, mask=np.isnan(values))

    found: dict[str, Any] = {"n": fits.n}
    terms = ((INTERCEPT,) if intercept else ()) + tuple(design.terms)
    ends = [f"_{target}" for target in design.targets] if len(design.targets) > 1 else [""]
    for name, values in (("", fits.coefficients), ("se_", fits.errors)):
        for i, term in enumerate(terms):
            for j, end in enumerate(ends):
                found[f"{name}{term}{end}"] = column(values[:, i, j])
    for j, end in enumerate(ends):
        found[f"r_squared{end}"] = column(fits.r_squared[:, j])
    return found


def _put_alone(fits: GroupFits, estimator: Any, sums: Any, g: int, intercept: bool) -> None:
    """Fit a group as `fit` does, and write its coefficients to those of all."""
    for part in (fits.coefficients, fits.errors, fits.r_squared):
        part[g] = np.nan
    try:
        with warnings.catch_warnings(action="ignore"):
            model = estimator.unfitted()._fit_sums(sums._alone(g), None, None)
    except DataError:
        return
    fit = model._solved()
    first = [np.atleast_1d(fit.intercept)[None]] if intercept else []
    terms = sums.reader.design.terms
    here = np.array([terms.index(term) for term in model.design_.terms], np.intp)
    w = np.full((len(terms), len(model.design_.targets)), np.nan)
    w[here] = fit.coefficients
    fits.coefficients[g] = np.concatenate([*first, w])
    tss = fit.tss
    fits.r_squared[g] = np.where(tss > 0, 1.0 - fit.rss / np.where(tss > 0, tss, 1.0), np.nan)
    free = fit.equations.observations - fit.effective_parameters
    if model.method().square == 0.0 and free > 0 and not model._fills_cells:
        error = np.sqrt(np.outer(fit.variance, fit.rss / free))
        error[~fit.estimable] = np.nan
        places = np.concatenate([np.arange(int(intercept)), here + intercept])
        fits.errors[g][places] = error
