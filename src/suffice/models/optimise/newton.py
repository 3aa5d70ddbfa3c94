"""Descent on a convex function whose every evaluation is a pass over the rows.

`newton` and `quasi_newton` yield the points that they reach; whoever asks for the next one decides
when it is enough. They end by themselves where rounding leaves no way down.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solve_triangular
from scipy.linalg.lapack import dpotrs

from suffice.models.optimise.tolerances import ARMIJO, HALVINGS, LOSS_ROUNDING
from suffice.numerics.interruption import interruptible

FLATTER = 0.9  # a step ends where the slope is at most this fraction of the first
MEMORY = 20  # steps that `quasi_newton` remembers
MEMORY_OF_MANY = 10  # of so many coordinates that no cache holds them
MANY = 500_000
LARGEST_REST = 0.1  # of a gradient, that a step of `truncated_newton` leaves
MOST_PRODUCTS = 200  # with a Hessian, for a step of it
STALLED = 10  # steps without progress
SINGULAR = 1e-14  # fraction of the largest eigenvalue, of a Hessian scaled to a unit diagonal

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Point:
    """A convex function at x (p,): its value, gradient (p,), and Hessian (p, p) if known."""

    x: NDArray[np.float64]
    loss: float
    gradient: NDArray[np.float64]
    hessian: NDArray[np.float64] | None = None

    @property
    def gradient_norm(self) -> float:
        return float(np.abs(self.gradient).max(initial=0.0))


Evaluate = Callable[[NDArray[np.float64], bool], Point]
"""The function at x, with its Hessian if the second argument says so."""
Times = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Multiplies a vector (p,) by a matrix: a Hessian, or its inverse."""
Pair = tuple[NDArray[np.float64], NDArray[np.float64]]
"""A step s, and the change y of the gradient along it."""


def newton(evaluate: Evaluate, start: Point) -> Iterator[Point]:
    """Yield the points of Newton's method with a line search, the first of them ``start``.

    ::

        x ← x − α H⁻¹ g,  α = 1 unless that is too far

    Source: S. Boyd and L. Vandenberghe, Convex Optimization (2004), algorithm 9.5.

    Examples
    --------
    The minimum of eˣ − 2x is at log 2:

    >>> def f(x, hessian):
    ...     return Point(x, np.exp(x[0]) - 2 * x[0], np.exp(x) - 2, np.diag(np.exp(x)))
    >>> *_, last = newton(f, f(np.zeros(1), True))
    >>> last.x - np.log(2)
    array([0.])
    """
    point: Point | None = start
    while point is not None:
        yield point
        assert point.hessian is not None
        direction = -factored(point.hessian).solve(point.gradient)
        reached = _next(evaluate, point, direction, True)
        if reached is None:  # the Hessian may be 0 where the slope is not
            direction = -point.gradient / np.diagonal(point.hessian).max(initial=1e-300)
            reached = _next(evaluate, point, direction, True)
        point = reached


def truncated_newton(
    evaluate: Evaluate,
    curvature: Callable[[NDArray[np.float64]], tuple[Times, NDArray[np.float64]]],
    start: Point,
) -> Iterator[Point]:
    """Yield the points of Newton's method whose steps conjugate gradients find, without a Hessian.

    ``curvature`` gives at x what multiplies by the Hessian, and its diagonal (p,).

    Source: J. Nocedal and S. J. Wright, Numerical Optimization, 2nd ed. (2006), algorithm 7.1.

    Examples
    --------
    >>> def f(x, hessian):
    ...     return Point(x, np.cosh(x - [1, 2]).sum(), np.sinh(x - [1, 2]))
    >>> def curvature(x):
    ...     return lambda v: v * np.cosh(x - [1, 2]), np.cosh(x - [1, 2])
    >>> *_, last = truncated_newton(f, curvature, f(np.zeros(2), False))
    >>> last.x.round(12)
    array([1., 2.])
    """
    from scipy.sparse.linalg import LinearOperator, cg

    point, shape = cast("Point | None", start), (len(start.x), len(start.x))
    while point is not None:
        yield point
        share = min(LARGEST_REST, (point.gradient_norm / (start.gradient_norm or 1.0)) ** 0.5)
        times, diagonal = curvature(point.x)
        hessian, inverse = (
            LinearOperator(shape, matvec=product, dtype=np.float64)
            for product in (times, diagonal.__rtruediv__)
        )
        limits = {"rtol": share, "maxiter": MOST_PRODUCTS}
        direction, _ = cg(hessian, -point.gradient, M=inverse, **limits)
        point = _next(lambda x, _: evaluate(x, False), point, direction, True)


def quasi_newton(evaluate: Evaluate, start: Point, inverse: Times) -> Iterator[Point]:
    """Yield the points of L-BFGS: Newton's method with a Hessian improved by the last steps.

    ``inverse`` multiplies by the inverse of a first guess of the Hessian.

    Source: J. Nocedal and S. J. Wright, Numerical Optimization, 2nd ed. (2006), algorithms 7.4
    and 7.5.

    Examples
    --------
    >>> def f(x, hessian):
    ...     return Point(x, np.cosh(x - [1, 2]).sum(), np.sinh(x - [1, 2]))
    >>> *_, last = quasi_newton(f, f(np.zeros(2), False), lambda g: g)
    >>> last.x.round(12)
    array([1., 2.])
    """
    point: Point | None = start
    memory: deque[Pair] = deque(maxlen=MEMORY if len(start.x) <= MANY else MEMORY_OF_MANY)
    while point is not None:
        yield point
        reached = _next(evaluate, point, _direction(point.gradient, memory, inverse), False)
        if reached is None and memory:  # a poor guess of the Hessian may be the reason
            memory.clear()
            reached = _next(evaluate, point, _direction(point.gradient, memory, inverse), False)
        if reached is not None:
            step, change = reached.x - point.x, reached.gradient - point.gradient
            if step @ change > 0:  # the function curves along it
                memory.append((step, change))
        point = reached


def _direction(
    gradient: NDArray[np.float64], memory: deque[Pair], inverse: Times
) -> NDArray[np.float64]:
    """Return minus the gradient, multiplied by the inverse of a Hessian.

    ``memory`` holds the last steps s, and changes y of the gradient, which improve the guess.
    """
    found, shares = gradient.copy(), []
    for step, change in reversed(memory):
        shares.append(step @ found / (step @ change))
        found -= shares[-1] * change
    found = inverse(found)
    if memory:
        step, change = memory[-1]
        found = found * (step @ change / (change @ inverse(change)))
    for (step, change), share in zip(memory, reversed(shares), strict=True):
        found = found + (share - change @ found / (step @ change)) * step
    return -found


def _next(
    evaluate: Evaluate,
    point: Point,
    direction: NDArray[np.float64],
    hessian: bool,
) -> Point | None:
    """Search along a direction; None where there is no way down.

    A step is taken that is lower by a fraction of what the slope promises and where the slope is
    flatter. Where all is noise in the loss, the slope alone decides: f is convex.

    Source: W. W. Hager and H. Zhang, A new conjugate gradient method with guaranteed descent and
    an efficient line search (2005), section 4, for the use of slopes near a minimum.
    """
    slope = float(point.gradient @ direction)
    if not slope < 0:
        return None
    noise = LOSS_ROUNDING * abs(point.loss)
    low, high, length = 0.0, np.inf, 1.0
    for _ in range(HALVINGS):
        trial = evaluate(point.x + length * direction, hessian)
        reached = float(trial.gradient @ direction)
        if not trial.loss <= point.loss + ARMIJO * length * slope + noise or reached > -slope:
            high = length
        elif reached < FLATTER * slope and not hessian:
            low = length
        else:
            return trial if (trial.x != point.x).any() else None
        bend = reached - slope
        guess = -length * slope / bend if bend > 0 else np.inf  # where a linear slope is 0
        if np.isinf(high):
            length = min(max(guess, 2.0 * length), 10.0 * length)
        elif np.isfinite(guess):
            length = min(max(guess, low + 0.1 * (high - low)), high - 0.1 * (high - low))
        else:
            length = (low + high) / 2.0
    return None


def advancing(points: Iterable[Point]) -> Iterator[Point]:
    """Yield points as long as the loss or its gradient gets smaller: what is left is rounding.

    Examples
    --------
    >>> still = Point(np.zeros(1), loss=1.0, gradient=np.array([1e-16]))
    >>> len([*advancing([still] * 20)])
    12
    """
    least_loss = least_norm = np.inf
    waited = 0
    for point in points:
        yield point
        loss, norm = point.loss, point.gradient_norm
        lower = loss < least_loss - LOSS_ROUNDING * abs(loss)
        waited = 0 if lower or norm < least_norm / 2 else waited + 1
        if waited > STALLED:
            return
        least_loss, least_norm = min(loss, least_loss), min(norm, least_norm)


# -- factors of a Hessian


@dataclass(frozen=True, eq=False)
class Cholesky:
    """H (p, p) = S L Lᵀ S, positive definite, with S the roots of its diagonal."""

    inverse_scale: Array  # 1/S, (p,)
    lower: Array  # L
    smallest_pivot: float  # the least part of a diagonal element that earlier rows leave over

    def solve(self, b: Array) -> Array:
        """Return H⁻¹ b, of (p,) or (p, t)."""
        x, _ = dpotrs(self.lower, (self.inverse_scale * b.T).T, lower=True)
        return np.asarray((self.inverse_scale * x.T).T)

    def inverse_root(self) -> Array:
        """Return R (q, p) with RᵀR = H⁻¹."""
        scale = np.diag(self.inverse_scale)
        return np.asarray(interruptible(solve_triangular, self.lower, scale, lower=True))


@dataclass(frozen=True, eq=False)
class Axes:
    """H (p, p) = S V diag(λ) Vᵀ S of rank q < p: solutions are the shortest in units of 1/S."""

    inverse_scale: Array  # 1/S, (p,)
    values: Array  # λ > 0, (q,)
    axes: Array  # V, (p, q)
    smallest_pivot = 0.0

    def solve(self, b: Array) -> Array:
        x = (self.axes / self.values) @ (self.axes.T @ (self.inverse_scale * b.T).T)
        return np.asarray((self.inverse_scale * x.T).T)

    def inverse_root(self) -> Array:
        return np.asarray((self.axes / np.sqrt(self.values)).T * self.inverse_scale)


def factored(hessian: Array, ridge: float = 0.0) -> Cholesky | Axes:
    """Factor a positive semidefinite matrix (p, p), scaled to a unit diagonal.

    A singular one with a ``ridge``, if one is given, on that diagonal; else by eigenvectors.

    Examples
    --------
    >>> factored(np.diag([4.0, 1e-12])).solve(np.array([8.0, 1e-12]))
    array([2., 1.])
    >>> factored(np.diag([4.0, 0.25])).inverse_root()
    array([[0.5, 0. ],
           [0. , 2. ]])
    """
    unit = np.sqrt(np.maximum(np.diagonal(hessian), 0.0))  # rounding may leave less
    inverse_scale = np.divide(1.0, unit, out=np.zeros_like(unit), where=unit > 0)
    scaled = hessian * inverse_scale * inverse_scale[:, None]
    if not len(unit):
        return Axes(unit, unit, scaled)
    for more in (0.0, ridge) if ridge else (0.0,):
        try:
            raised = scaled + np.diag(np.where(unit > 0, more, 1.0))
            lower = interruptible(np.linalg.cholesky, raised)
        except LinAlgError:
            continue
        pivot = float(np.diagonal(lower).min() ** 2)
        if more or pivot > SINGULAR:
            return Cholesky(inverse_scale, lower, pivot)
    values, axes = interruptible(np.linalg.eigh, scaled)
    used = values > SINGULAR * values[-1]
    return Axes(inverse_scale, values[used], axes[:, used])
