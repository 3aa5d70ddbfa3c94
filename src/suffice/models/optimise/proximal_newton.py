"""Minima of convex functions with a penalty of absolute values.

`L1Quadratic` is minimised by coordinate descent, and `proximal_newton` minimises any smooth
function by one such quadratic after the other. Both yield the points that they reach; whoever asks
for the next one decides when it is enough. The second ends by itself where rounding leaves no way
down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.models.optimise.newton import Evaluate, Point, factored
from suffice.models.optimise.tolerances import ARMIJO, HALVINGS, LOSS_ROUNDING
from suffice.numerics import kernels

SomeDerivatives = Callable[
    [NDArray[np.float64], NDArray[np.intp]], "NDArray[np.float64] | CompressedHessian"
]
"""Second derivatives at x (p,) by the coordinates at some places (q,), (q, q)."""

SWEEPS_ALONE = 20  # after which each is followed by steps to the minimum of an orthant
FACTORED = 64  # coordinates whose matrix is factored in the time of a sweep
ORTHANTS = 10  # steps between two sweeps
RIDGE = 1e-11  # of a singular matrix, whose eigenvectors would take too long
FLAT = 1e-10  # fraction of the largest slope at 0 that matters
ROUNDING = 1e-13  # of the terms of H x, as a fraction
MOST_ADDED = 1_000  # coordinates by which a working set grows at a time
FEWEST_ADDED = 100
NEAR = 1e-2  # of what the conditions are missed by, what a step leaves of it
INNER_TOLERANCE = 1e-12  # of the quadratics that lead from one point to the next
INNER_STEPS = 1_000  # sweeps, or products with a compressed Hessian
POWERS = 4  # of a matrix, by which its largest eigenvalue is bounded
SMALLEST_SHARE = 1e-3  # of a vector beside its largest element
FACE_STEPS = 200  # of conjugate gradients
STEPS_BETWEEN = 10  # after which coordinates that are 0 are looked at


def violation(
    x: NDArray[np.float64],
    gradient: NDArray[np.float64],
    cost: NDArray[np.float64],
    nonnegative: bool = False,
) -> NDArray[np.float64]:
    """Return how far each coordinate, (p,), is from the conditions of Karush, Kuhn and Tucker.

    ::

        |gⱼ + cⱼ sign xⱼ|  where xⱼ ≠ 0        max(|gⱼ| − cⱼ, 0)  where xⱼ = 0

    with g the ``gradient`` (p,) of a smooth function f at x (p,): all are 0 where f + Σⱼ cⱼ|xⱼ| of
    a convex f is least. Where x may not be negative, −gⱼ stands for |gⱼ|.

    Source: R. Tibshirani, The lasso problem and uniqueness (2013), eq. 4.

    Examples
    --------
    >>> violation(np.array([2.0, 0.0]), np.array([-1.0, 0.5]), np.ones(2))
    array([0., 0.])
    """
    at_zero = np.maximum((-gradient if nonnegative else np.abs(gradient)) - cost, 0.0)
    return np.where(x == 0.0, at_zero, np.abs(gradient + cost * np.sign(x)))


@dataclass(frozen=True, eq=False)
class L1Minimum:
    """End of `L1Quadratic.minimum`."""

    x: NDArray[np.float64]  # (p,)
    sweeps: int
    converged: bool


@dataclass(frozen=True, eq=False)
class L1Quadratic:
    """The function f(x) = gᵀx + ½ xᵀHx + Σⱼ cⱼ|xⱼ|, with H positive semidefinite.

    Source: J. Friedman, T. Hastie and R. Tibshirani, Regularization paths for generalized linear
    models via coordinate descent (2010), section 2.2; H. Lee, A. Battle, R. Raina and A. Ng,
    Efficient sparse coding algorithms (2007), algorithm 1, for the step to the minimum of an
    orthant.

    Examples
    --------
    >>> f = L1Quadratic(np.diag([2.0, 1.0]), np.array([-4.0, 0.5]), np.ones(2))
    >>> f.minimum(np.zeros(2), 1e-12, 10).x
    array([1.5, 0. ])
    """

    hessian: NDArray[np.float64]  # H, (p, p)
    linear: NDArray[np.float64]  # g, the gradient of the smooth part at 0, (p,)
    cost: NDArray[np.float64]  # c, 0 or more, (p,)
    nonnegative: bool = False  # only x ≥ 0 is allowed

    def gradient(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.linear + self.hessian @ x)

    def minimum(self, start: NDArray[np.float64], tolerance: float, max_sweeps: int) -> L1Minimum:
        """Sweep over the coordinates until the conditions hold, or sweeps are too many.

        ``tolerance`` bounds the largest violation, as a fraction of the largest |gⱼ|, both in
        units of √Hⱼⱼ.

        Sweeps alone take long where columns nearly depend on each other. So a sweep that changes no
        sign, and each after the first few, is followed by steps to the minimum over all x of these
        signs; each that they cut short makes one more coordinate 0. Of many coordinates, whose
        matrix takes long to factor, more sweeps go before each.
        """
        x, enough = np.array(start, np.float64), tolerance * self._largest_slope
        hessian, cost = np.ascontiguousarray(self.hessian), np.ascontiguousarray(self.cost)
        for sweep in count():
            signs, gradient = np.sign(x), self.gradient(x)
            missed = violation(x, gradient, cost, self.nonnegative) * self._inverse_unit
            small = float(missed.max(initial=0.0)) <= enough
            if small or sweep >= max_sweeps:
                break
            kernels.coordinate.sweep(hessian, cost, self.nonnegative, x, gradient)
            between = 1 + np.count_nonzero(x) // FACTORED
            if sweep % between or (sweep < SWEEPS_ALONE * between and (np.sign(x) != signs).any()):
                continue
            for _ in range(ORTHANTS):
                if self._reaches_minimum_of_orthant(x):
                    break
        return L1Minimum(x, sweep, small)

    @cached_property
    def _inverse_unit(self) -> NDArray[np.float64]:
        scale = np.sqrt(np.maximum(np.diagonal(self.hessian), 0.0))
        return np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)

    def _reaches_minimum_of_orthant(self, x: NDArray[np.float64]) -> bool:
        """Move x towards the minimum over points of its signs; return whether it is reached."""
        used = np.flatnonzero((x != 0.0) & (self._inverse_unit > 0.0))
        step, most = self._step(used, (self.gradient(x) + self.cost * np.sign(x))[used])
        bounded = (np.sign(step) * x[used] < 0.0) & ((self.cost[used] > 0.0) | self.nonnegative)
        crossing = np.full(len(used), np.inf)
        crossing[bounded] = -x[used][bounded] / step[bounded]
        length = min(most, float(crossing.min(initial=np.inf)))
        if np.isinf(length):
            return True
        x[used] += length * step
        x[used[crossing <= length]] = 0.0
        return length == most

    def _step(
        self, used: NDArray[np.intp], slope: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        """A direction of descent in some coordinates, and how far it leads down: 1, or for ever.

        It is −H⁻¹ times the slope, unless H is singular and the slope has a part along a direction
        without curvature: then it is that direction.
        """
        if not len(used):
            return slope, 1.0
        hessian, inverse_unit = self.hessian[np.ix_(used, used)], self._inverse_unit[used]
        step = -factored(hessian, RIDGE).solve(slope)
        flat = (slope + hessian @ step) * inverse_unit
        rounding = ROUNDING * (np.abs(hessian) @ np.abs(step)) * inverse_unit
        if np.abs(flat).max() > max(FLAT * self._largest_slope, float(rounding.max())):
            return -flat * inverse_unit, np.inf
        return step, 1.0

    @cached_property
    def _largest_slope(self) -> float:
        return float(np.abs(self.linear * self._inverse_unit).max(initial=0.0))


@dataclass(frozen=True, eq=False)
class CompressedHessian:
    """H = AᵀA − BᵀB + diag d, of compressed matrices: a product Hx takes as long as their cells."""

    plus: csr_array  # A, (·, p)
    minus: csr_array  # B, (·, p)
    ridge: NDArray[np.float64]  # d, 0 or more, (p,)

    def __matmul__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        found = self.plus.T @ (self.plus @ x) + self.ridge * x
        if self.minus.nnz:
            found -= self.minus.T @ (self.minus @ x)
        return np.asarray(found)

    @cached_property
    def diagonal(self) -> NDArray[np.float64]:
        """Hⱼⱼ, (p,)."""
        squares = [
            np.bincount(a.indices, a.data**2, len(self.ridge)) for a in (self.plus, self.minus)
        ]
        return np.asarray(np.maximum(squares[0] - squares[1] + self.ridge, 0.0))

    def largest(self, scale: NDArray[np.float64]) -> float:
        """Return a bound of the eigenvalues of H, with rows and columns multiplied by ``scale``.

        Of M = |A|ᵀ|A| + diag d, whose eigenvalues are larger, none exceeds max (Mv)ⱼ/vⱼ for any
        v > 0; powers of M bring v close to the best.

        Source: L. Collatz, Einschließungssatz für die charakteristischen Zahlen von Matrizen
        (1942).
        """
        sizes = self.plus.copy()
        sizes.data = np.abs(sizes.data)
        v, bound = np.ones(len(scale)), np.inf
        for _ in range(POWERS):
            image = scale * (sizes.T @ (sizes @ (scale * v)) + self.ridge * scale * v)
            bound = min(bound, float((image / v).max(initial=0.0)))
            v = np.maximum(image / image.max(initial=1e-300), SMALLEST_SHARE)
        return bound


@dataclass(frozen=True, eq=False)
class CompressedQuadratic:
    """The function f(x) = gᵀx + ½ xᵀHx + Σⱼ cⱼ|xⱼ| of very many coordinates.

    Source: Z. Dostál and J. Schöberl, Minimizing quadratic functions subject to bound constraints
    with the rate of convergence and finite termination (2005), algorithm 3.1, with the signs of a
    point in the place of its bounds.

    Examples
    --------
    >>> rows = csr_array(np.diag([2.0**0.5, 1.0]))
    >>> hessian = CompressedHessian(rows, csr_array((0, 2)), np.zeros(2))
    >>> f = CompressedQuadratic(hessian, np.array([-4.0, 0.5]), np.ones(2))
    >>> f.minimum(np.zeros(2), 1e-12, 10).x.round(9)
    array([1.5, 0. ])
    """

    hessian: CompressedHessian  # H
    linear: NDArray[np.float64]  # g, the gradient of the smooth part at 0, (p,)
    cost: NDArray[np.float64]  # c, 0 or more, (p,)

    def minimum(self, start: NDArray[np.float64], tolerance: float, most: int) -> L1Minimum:
        """Return the first point where the conditions hold, or the last one.

        Steps along the gradient find signs, each followed by conjugate gradients among the points
        of these signs, up to the first coordinate that becomes 0. ``most`` is the number of
        products Hx; see `L1Quadratic.minimum` for the rest.
        """
        inverse_unit = self._inverse_unit
        enough = tolerance * float(np.abs(self.linear * inverse_unit).max(initial=0.0))
        x = np.array(start, np.float64)
        gradient, products = self.linear + self.hessian @ x, 1
        while True:
            missed = violation(x, gradient, self.cost) * inverse_unit
            small = float(missed.max(initial=0.0)) <= enough
            if small or products >= most:
                return L1Minimum(x, products, small)
            moved = self._shrunk(x, gradient)
            gradient = gradient + self.hessian @ (moved - x)
            x, gradient, steps = self._along_face(moved, gradient, enough)
            products += 1 + steps

    @cached_property
    def _inverse_unit(self) -> NDArray[np.float64]:
        scale = np.sqrt(self.hessian.diagonal)
        return np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)

    @cached_property
    def _length(self) -> NDArray[np.float64]:
        """Length of a step along the gradient that is never too far, (p,)."""
        largest = self.hessian.largest(self._inverse_unit)
        return np.asarray(self._inverse_unit**2 / (largest or 1.0))

    def _shrunk(self, x: NDArray[np.float64], gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        moved = x - self._length * gradient
        return np.asarray(
            np.sign(moved) * np.maximum(np.abs(moved) - self._length * self.cost, 0.0)
        )

    def _along_face(
        self, x: NDArray[np.float64], gradient: NDArray[np.float64], enough: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
        """Descend among points of the same signs: the end, its gradient, and the steps.

        It ends at the first coordinate that becomes 0, where the slope is small, or is larger in
        coordinates that are 0.
        """
        signs = np.sign(x)
        free = ((x != 0.0) | (self.cost == 0.0)) & (self._inverse_unit > 0.0)
        unit = np.where(free, self._inverse_unit, 0.0)
        rest = np.where(free, -(gradient + self.cost * signs), 0.0)
        direction = unit**2 * rest
        size = float(rest @ direction)
        for step in range(1, FACE_STEPS + 1):
            image = self.hessian @ direction
            curvature = float(direction @ image)
            if not curvature > 0.0:
                break
            length, crossing = size / curvature, np.full(len(x), np.inf)
            towards = (direction * signs < 0.0) & (self.cost > 0.0)
            crossing[towards] = -x[towards] / direction[towards]
            first = float(crossing.min(initial=np.inf))
            x = x + min(length, first) * direction
            gradient = gradient + min(length, first) * image
            if first <= length:
                x[crossing <= first] = 0.0
                break
            rest = rest - length * np.where(free, image, 0.0)
            left = float(np.abs(rest * unit).max(initial=0.0))
            if left <= 0.5 * enough:
                break
            if step % STEPS_BETWEEN == 0:
                missed = violation(x, gradient, self.cost) * self._inverse_unit
                if float(missed[~free].max(initial=0.0)) > left:
                    break
            scaled = unit**2 * rest
            size, before = float(rest @ scaled), size
            direction = scaled + size / before * direction
        return x, gradient, step


def proximal_newton(
    evaluate: Evaluate,
    start: Point,
    cost: NDArray[np.float64],
    some_derivatives: SomeDerivatives | None = None,
) -> Iterator[Point]:
    """Yield points towards the minimum of f(x) + Σⱼ cⱼ|xⱼ|, the first of them ``start``.

    ::

        x ← x + α(z − x),  z = argmin gᵀ(z − x) + ½(z − x)ᵀH(z − x) + Σⱼ cⱼ|zⱼ|,
        α = 1 unless that is too far

    With ``some_derivatives`` the Hessian of f is not asked for. A step is then in a working set of
    coordinates: those that are not 0, or cost nothing, and those of the others that miss their
    conditions most.

    Source: J. Lee, Y. Sun and M. Saunders, Proximal Newton-type methods for minimizing composite
    functions (2014), algorithm 1; J. Friedman, T. Hastie and R. Tibshirani, Regularization paths
    for generalized linear models via coordinate descent (2010), section 3; of working sets, G.-X.
    Yuan, C.-H. Ho and C.-J. Lin, An improved GLMNET for L1-regularized logistic regression (2012),
    section 4; M. Massias, A. Gramfort and J. Salmon, Celer (2018), section 4.

    Examples
    --------
    The minimum of eˣ − 2x + ½|x| is at log 1.5, that of eˣ − 2x + |x| at 0:

    >>> def f(x, hessian):
    ...     return Point(x, np.exp(x).sum() - 2 * x.sum(), np.exp(x) - 2, np.diag(np.exp(x)))
    >>> *_, last = proximal_newton(f, f(np.ones(2), True), np.array([0.5, 1.0]))
    >>> np.exp(last.x).round(9)
    array([1.5, 1. ])
    >>> *_, last = proximal_newton(
    ...     f, f(np.ones(2), False), np.array([0.5, 1.0]), lambda x, at: np.diag(np.exp(x[at]))
    ... )
    >>> np.exp(last.x).round(9)
    array([1.5, 1. ])
    """
    point: Point | None = start
    while point is not None:
        yield point
        missed = violation(point.x, point.gradient, cost)
        curvature: NDArray[np.float64] | CompressedHessian
        if some_derivatives is None:
            assert point.hessian is not None
            places, curvature = np.arange(len(cost)), point.hessian
        else:
            places = _working_set(point.x, missed, cost)
            curvature = some_derivatives(point.x, places)
        linear = point.gradient[places] - curvature @ point.x[places]
        quadratic: L1Quadratic | CompressedQuadratic
        if isinstance(curvature, CompressedHessian):
            quadratic = CompressedQuadratic(curvature, linear, cost[places])
        else:
            quadratic = L1Quadratic(curvature, linear, cost[places])
        tolerance = _inner_tolerance(float(missed.max(initial=0.0)), linear)
        reached = point.x.copy()
        reached[places] = quadratic.minimum(point.x[places], tolerance, INNER_STEPS).x
        point = _next(evaluate, point, reached, cost, some_derivatives is None)


def _working_set(
    x: NDArray[np.float64], missed: NDArray[np.float64], cost: NDArray[np.float64]
) -> NDArray[np.intp]:
    used = (x != 0.0) | (cost == 0.0)
    others = np.where(used, 0.0, missed)
    most = min(max(FEWEST_ADDED, int(used.sum()) // 2), MOST_ADDED, int((others > 0).sum()))
    added = np.argpartition(-others, most - 1)[:most] if most else np.empty(0, np.intp)
    return np.union1d(np.flatnonzero(used), added)


def _inner_tolerance(missed: float, linear: NDArray[np.float64]) -> float:
    slope = float(np.abs(linear).max(initial=0.0))
    return min(max(INNER_TOLERANCE, NEAR * missed / slope if slope else 0.0), NEAR)


def _next(
    evaluate: Evaluate,
    point: Point,
    reached: NDArray[np.float64],
    cost: NDArray[np.float64],
    hessian: bool,
) -> Point | None:
    """Search between two points; None where there is no way down.

    Where all is noise in the function, the conditions of a minimum alone decide: f is convex.
    """
    before = float(cost @ np.abs(point.x))
    direction, total = reached - point.x, point.loss + before
    promised = float(point.gradient @ direction + cost @ np.abs(reached)) - before
    noise, length = LOSS_ROUNDING * abs(total), 1.0
    if not direction.any():
        return None
    if abs(promised) <= noise:
        trial = evaluate(reached, hessian)
        return trial if _violation(trial, cost) < _violation(point, cost) else None
    for _ in range(HALVINGS):
        x = reached if length == 1.0 else point.x + length * direction
        trial = evaluate(x, hessian)
        value = trial.loss + float(cost @ np.abs(x))
        if value <= total + ARMIJO * length * promised + noise:
            return trial
        length /= 2.0
    return None


def _violation(point: Point, cost: NDArray[np.float64]) -> float:
    return float(violation(point.x, point.gradient, cost).max(initial=0.0))
