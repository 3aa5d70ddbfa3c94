"""Fits of rows that are held in memory, where the fit of a table begins.

They are a sample of a long table; or all rows of one that is wide, or has many classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from suffice.models.logistic.loss import LossRequest, loss_derivatives, summed
from suffice.models.logistic.objective import Objective
from suffice.models.logistic.rows import Sample
from suffice.models.optimise.newton import (
    Point,
    Times,
    advancing,
    factored,
    newton,
    truncated_newton,
)
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.interruption import interruptible
from suffice.sums.loss_sums import LossSums

SAMPLE_ROWS = 16_384  # whose fit is a good start
SAMPLE_RIDGE = 1e-4  # keeps that fit finite, as a fraction of a column's sum of squares
SAMPLE_TOLERANCE = 1e-3  # fraction of the gradient at 0 at which that fit ends
SAMPLE_STEPS = 10  # of that fit, at most
ROWS_OF_TERM = 64  # of a sample, without which its fit is a poor start
ILL_CONDITIONED = 2.0**-26  # pivot of a column's own sum of squares: half the digits of a double

FLATTEST = 1e-12  # curvature, as a fraction of the weight, that a preconditioner may have
SMALLEST_SHARE = 1e-14  # of the largest eigenvalue of the products of rows: below, it is rounding

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeldRows:
    objective: Objective
    rows: Sample

    def __call__(self, x: Array, hessian: bool) -> Point:
        of, held = self.objective, (self.rows.z, self.rows.codes, self.rows.weights)
        request = LossRequest(of.rows, of.coefficients(x), of.checksum, hessian)
        return of.point(x, LossSums(*map(DoubleDouble.of, summed(request, [held]))))

    def curvature(self, x: Array) -> tuple[Times, Array]:
        """Return what multiplies by the Hessian at x, which is not formed, and its diagonal.

        ::

            H = Σ w (diag p − p pᵀ) ⊗ z zᵀ + diag λ
        """
        of, z, codes = self.objective, self.rows.z, self.rows.codes
        w = (self.rows.weights * of.class_weights[codes])[:, None]
        at = loss_derivatives(z @ of.coefficients(x).T, codes)
        p, bend = at.probability, w * at.probability * at.other

        def product(v: Array) -> Array:
            t = p * (z @ of.coefficients(v).T)
            t -= p * t.sum(axis=1, keepdims=True)
            t *= w
            return of.free_gradient(t.T @ z) + of.penalty_of_free * v

        diagonal = of.free_gradient((bend.T @ z**2) * of.inverse_scale) + of.penalty_of_free
        return product, np.maximum(diagonal, FLATTEST * of.weight)


def fit_in_memory(
    objective: Objective, most: int, tolerance: float, max_iter: int
) -> tuple[Array, int] | None:
    """Minimise by rows that are held, if there are no more than ``most`` of them.

    All slopes have a penalty. Return coefficients of z (m, D), and the number of iterations.
    """
    rows = objective.draw(most + 1)
    if len(rows) > most:
        return None
    if len(rows) <= objective.centred.width:
        return _in_space_of_rows(objective, rows, tolerance, max_iter)
    x, iterations = _minimum(HeldRows(objective, rows), tolerance, max_iter)
    return objective.coefficients(x), iterations


def _in_space_of_rows(
    objective: Objective, rows: Sample, tolerance: float, max_iter: int
) -> tuple[Array, int]:
    """Minimise in the space of n < D rows.

    Where every slope has a penalty, w = Λ⁻¹Zᵀα for some α (n, m): with products of rows
    ZΛ⁻¹Zᵀ = UΓUᵀ, the n columns U√Γ with a penalty of 1 have the scores of the D columns.

    Source: T. Hastie and R. Tibshirani, Efficient quadratic regularization for expression arrays
    (2004), section 3.
    """
    slopes = objective.used & (np.arange(len(objective.used)) > 0)
    root_of_variance = np.zeros(len(slopes))
    root_of_variance[slopes] = objective.penalty[slopes] ** -0.5
    scaled = rows.z
    scaled *= root_of_variance
    size, axes = interruptible(np.linalg.eigh, scaled @ scaled.T)
    known = size > SMALLEST_SHARE * size[-1]
    root, axes = np.sqrt(size[known]), axes[:, known]
    one = np.ones(len(root))
    inner = replace(
        objective,
        penalty=np.append(0.0, one),
        used=np.append(objective.intercept, one > 0.0),
        scale=np.append(1.0, root * objective.weight**-0.5),
        checksum=np.append(1.0, one),
    )
    z = np.concatenate([np.ones((len(rows), 1)), axes * root], axis=1)
    x, iterations = _minimum(HeldRows(inner, replace(rows, z=z)), tolerance, max_iter)
    found = inner.coefficients(x)
    coefficients = ((found[:, 1:] / root) @ axes.T) @ scaled
    coefficients *= root_of_variance
    coefficients[:, 0] = found[:, 0]
    return coefficients, iterations


def _minimum(held: HeldRows, tolerance: float, max_iter: int) -> tuple[Array, int]:
    """Descend by Newton's method from the frequencies of the classes.

    The Hessian of more than two classes is large where their rows are few: it is not formed.
    """
    of = held.objective
    whole = of.has_hessian and of.k == 2
    first = held(of.null(), whole)
    points = newton(held, first) if whole else truncated_newton(held, held.curvature, first)
    enough = tolerance * first.gradient_norm
    for iteration, point in enumerate(islice(advancing(points), max_iter + 1)):  # noqa: B007
        if point.gradient_norm <= enough:
            break
    return point.x, iteration


def fit_of_sample(objective: Objective) -> tuple[Array | None, Times | None]:
    """Coefficients that fit a sample, if it has all classes; and the inverse of its Hessian.

    Of many columns, the coefficients of class frequencies alone: a sample is too few rows for more.
    """
    rows = objective.draw(SAMPLE_ROWS)
    if len(rows) < SAMPLE_ROWS or len(np.unique(rows.codes)) < objective.k:
        return None, None
    centred, weight = objective.centred, (rows.weights * objective.class_weights[rows.codes]).sum()
    fraction = weight / objective.weight
    plain = replace(objective, penalty=fraction * objective.penalty)
    ridge = SAMPLE_RIDGE * weight * objective.scale**2 * (np.arange(centred.width) > 0)
    sample = replace(plain, penalty=plain.penalty + ridge)
    steps = SAMPLE_STEPS if ROWS_OF_TERM * centred.width <= SAMPLE_ROWS else 0
    enough = SAMPLE_TOLERANCE * fraction * objective.gradient_norm_at_zero
    held = HeldRows(sample, rows)
    for point in islice(newton(held, held(sample.null(), True)), steps + 1):
        if point.gradient_norm <= enough:
            break
    assert point.hessian is not None
    coefficients = sample.coefficients(point.x)
    without_ridge = HeldRows(plain, rows)(point.x, True).hessian
    assert without_ridge is not None
    if factored(without_ridge).smallest_pivot < ILL_CONDITIONED:
        return coefficients, None
    return coefficients, factored(point.hessian / fraction).solve
