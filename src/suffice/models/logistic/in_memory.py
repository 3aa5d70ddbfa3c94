"""Fits of rows that are held in memory, where the fit of a table begins.

They are a sample of a long table; or all rows of one that is wide, or has many classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from suffice.models.design.matrix import Design
from suffice.models.logistic.loss import loss_derivatives
from suffice.models.logistic.objective import Objective
from suffice.models.logistic.rows import CentredDesign, Sample
from suffice.models.optimise.newton import (
    Inverse,
    Point,
    StallDetector,
    factored,
    newton,
    truncated_newton,
)
from suffice.numerics.interruption import interruptible
from suffice.sums.loss_sums import LossSums

SAMPLE_ROWS = 16_384  # whose fit is a good start
SAMPLE_RIDGE = 1e-4  # keeps that fit finite, as a fraction of a column's sum of squares
SAMPLE_TOLERANCE = 1e-3  # fraction of the gradient at 0 at which that fit ends
SAMPLE_STEPS = 10  # of that fit, at most
ROWS_OF_TERM = 64  # of a sample, without which its fit is a poor start
ILL_CONDITIONED = 2.0**-26  # pivot of a column's own sum of squares: half the digits of a double

WIDE = 2  # times as many columns as rows: then these are the smaller space
RARE = 16  # rows of a class: then classes are many beside rows
HELD_CELLS = 2**23  # of rows, or twice those of their probabilities: 64 MB
BLOCK_CELLS = 2**23  # of products of columns, or of the blocks of classes
FLATTEST = 1e-12  # curvature, as a fraction of the weight, that a preconditioner may have
SMALLEST_SHARE = 1e-14  # of the largest eigenvalue of the products of rows: below, it is rounding

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeldRows:
    objective: Objective
    rows: Sample

    def __call__(self, x: Array, hessian: bool) -> Point:
        of, rows, nothing = self.objective, self.rows, np.zeros(self.objective.k)
        w, coefficients = self._weights, of.coefficients(x)
        m, width = coefficients.shape
        found = loss_derivatives(rows.z @ coefficients.T, rows.codes)
        curvature = np.zeros((m, width, m, width) if hessian else (0,) * 4)
        if hessian:
            found.add_hessian(rows.z, w, curvature)
        gradient, side = (w[:, None] * found.residual).T @ rows.z, m * width * hessian
        loss, flat = float(w @ found.loss), curvature.reshape(side, side)
        return of.point(x, LossSums.of(nothing, nothing, loss, gradient, flat))

    @property
    def _weights(self) -> Array:
        return self.rows.weights * self.objective.class_weights[self.rows.codes]

    def curvature(self, x: Array) -> tuple[Inverse, Inverse]:
        """Return what multiplies by the Hessian of k > 2 classes at x, and nearly by its inverse.

        ::

            H = Σ w (diag p − p pᵀ) ⊗ z zᵀ + diag λ

        The inverse is of the diagonal, or of the blocks of the classes.
        """
        of, z, w = self.objective, self.rows.z, self._weights[:, None]
        at = loss_derivatives(z @ of.coefficients(x).T, self.rows.codes)
        p, bend = at.probability, w * at.probability * at.other

        def product(v: Array) -> Array:
            t = p * (z @ of.coefficients(v).T)
            t -= p * t.sum(axis=1, keepdims=True)
            t *= w
            return of.free_gradient(t.T @ z) + of.penalty_of_free * v

        n, width = z.shape
        if max(n, of.k) * width**2 > BLOCK_CELLS:
            diagonal = of.free_gradient((bend.T @ z**2) * of.inverse_scale) + of.penalty_of_free
            diagonal = np.maximum(diagonal, FLATTEST * of.weight)
            return product, lambda v: v / diagonal
        scaled = z * of.inverse_scale
        products = (scaled[:, :, None] * scaled[:, None, :]).reshape(n, -1)
        blocks = (bend.T @ products).reshape(of.k, width, width)
        fixed = np.ones((of.k, width))
        fixed.flat[of.free] = of.penalty_of_free
        blocks[:, np.arange(width), np.arange(width)] += fixed
        blocks[:, 0, 0] += FLATTEST * of.weight  # an intercept without a penalty
        inverses = np.linalg.inv(blocks)

        def inverted(v: Array) -> Array:
            full = np.zeros((of.k, width))
            full.flat[of.free] = v
            return np.asarray((inverses @ full[:, :, None]).ravel()[of.free])

        return product, inverted

    def iterates(self) -> Iterator[Point]:
        """Yield the points of Newton's method from the frequencies of the classes.

        The Hessian of more than two classes is large where their rows are few: it is not formed.
        """
        whole = self.objective.has_hessian and self.objective.k == 2
        first = self(self.objective.null(), whole)
        return newton(self, first) if whole else truncated_newton(self, self.curvature, first)


def fit_in_memory(
    objective: Objective, tolerance: float, max_iter: int
) -> tuple[Array, int] | None:
    """Minimise by rows that are held, if all slopes have a penalty and the rows are few enough.

    Return coefficients of z (m, D), and the number of iterations.

    They are fewer than the columns, or a few of every class, and there is no Hessian.
    """
    centred, slopes = objective.centred, objective.used[1:]
    wide, rare = centred.width // WIDE, 0
    if not objective.has_hessian:
        wide, rare = centred.width, RARE * objective.scores
    most = min(HELD_CELLS // max(centred.width, 2 * objective.scores), max(wide, rare))
    n = float(objective.seen.weight.value.sum())  # each row is taken to weigh 1
    if n > most or objective.firth or not (objective.penalty[1:][slopes] > 0).all():
        return None
    if not slopes.any() or not objective.penalised:
        return None
    rows = objective.draw(most + 1)
    if len(rows) > most:
        return None
    if len(rows) > wide:
        x, iterations = _minimum(HeldRows(objective, rows), tolerance, max_iter)
        return objective.coefficients(x), iterations
    return _in_space_of_rows(objective, rows, tolerance, max_iter)


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
    names, nothing = tuple(map(str, range(len(root)))), np.zeros(len(root))
    unit = root * objective.weight**-0.5
    inner = replace(
        objective,
        centred=CentredDesign(Design(names, ()), objective.centred.layout, nothing, unit),
        penalty=np.append(0.0, nothing + 1.0),
        used=np.append(objective.intercept, nothing == 0.0),
    )
    z = np.concatenate([np.ones((len(rows), 1)), axes * root], axis=1)
    x, iterations = _minimum(HeldRows(inner, replace(rows, z=z)), tolerance, max_iter)
    found = inner.coefficients(x)
    coefficients = ((found[:, 1:] / root) @ axes.T) @ scaled
    coefficients *= root_of_variance
    coefficients[:, 0] = found[:, 0]
    return coefficients, iterations


def _minimum(held: HeldRows, tolerance: float, max_iter: int) -> tuple[Array, int]:
    detector, enough = StallDetector(), 0.0
    for iteration, point in enumerate(islice(held.iterates(), max_iter + 1)):  # noqa: B007
        enough = enough or tolerance * point.gradient_norm
        if point.gradient_norm <= enough or detector.has_stalled(point.loss, point.gradient_norm):
            break
    return point.x, iteration


def fit_of_sample(objective: Objective) -> tuple[Array | None, Inverse | None]:
    """Coefficients that fit a sample, if it has all classes; and the inverse of its Hessian.

    Of many columns, the coefficients of class frequencies alone: a sample is too few rows for more.
    """
    rows = objective.draw(SAMPLE_ROWS)
    if len(rows) < SAMPLE_ROWS or len(np.unique(rows.codes)) < objective.k:
        return None, None
    centred, weight = objective.centred, (rows.weights * objective.class_weights[rows.codes]).sum()
    fraction = weight / objective.weight
    plain = replace(objective, penalty=fraction * objective.penalty, firth=False)
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
    if objective.firth or factored(without_ridge).smallest_pivot < ILL_CONDITIONED:
        return coefficients, None
    return coefficients, factored(point.hessian / fraction).solve
