"""The minimum of the loss of a logistic regression: where to begin, how to go on, when to stop.

Newton's method for few coefficients, L-BFGS for many, and a proximal Newton method for a penalty of
absolute values. A long table begins at the fit of a sample of its rows, whose Hessian will do for
the first steps; a wide one, or one of many classes, at the minimum of rows that are held.

A maximum of the likelihood alone may not exist. Newton's method proves that it does: with
ν² = gᵀH⁻¹g and rows z, the loss has a minimum if ν max|z| ≤ ½ √λ_min(H), and a minimum near by.
On separated data the two sides go to 0 together, the proof fails, and a linear programme decides
(`suffice.models.logistic.separation`).

Source: F. Bach, Self-concordant analysis for logistic regression (2010), proposition 2; M. A.
Erdogdu and A. Montanari, Convergence rates of sub-sampled Newton methods (2015), for the sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError, warn
from suffice.models.base.options import Dependent
from suffice.models.base.scikit_learn import convergence_warning
from suffice.models.design.remarks import dependence
from suffice.models.logistic.in_memory import (
    ILL_CONDITIONED,
    SAMPLE_ROWS,
    fit_in_memory,
    fit_of_sample,
)
from suffice.models.logistic.inference import Likelihood
from suffice.models.logistic.objective import SQUARES_NOISE, Objective
from suffice.models.logistic.rows import LARGEST_HESSIAN
from suffice.models.logistic.separation import refuse_separation
from suffice.models.optimise.gradient_descent import (
    STEPS,
    DescentRows,
    GradientDescent,
    Steps,
    descend,
)
from suffice.models.optimise.newton import (
    Point,
    Times,
    advancing,
    factored,
    newton,
    quasi_newton,
)
from suffice.models.optimise.proximal_newton import proximal_newton, violation
from suffice.models.optimise.tolerances import LOSS_ROUNDING
from suffice.numerics.elementary import log, log_of
from suffice.numerics.interruption import interruptible, one_thread_of_blas
from suffice.numerics.linalg import Factor
from suffice.numerics.memory import require_memory

SECOND_ORDER = ("newton", "liblinear", "newton-cg", "newton-cholesky")

GRADIENT_ROUNDING = 2.0**-46  # of a gradient, as a fraction of the weight of all rows
STALLED_GRADIENT = 1e-7  # fraction of the gradient at 0 that a stalled solver may end with
STEPS_BEFORE_SEPARATION = 10  # Newton steps after which separation is looked for

WIDE = 2  # times as many columns as rows: then these are the smaller space
RARE = 16  # rows of a class: then classes are many beside rows
HELD_CELLS = 2**23  # of rows, or twice those of their probabilities: 64 MB
LONG = 4 * SAMPLE_ROWS  # rows of a table where the fit of a sample is a start that pays
STEPS_WITHOUT_HESSIAN = 20  # after which a Hessian of all rows is worth while

TILE = 2_048  # rows of a matrix product
SPARSE_CELLS = 0.1  # of the columns of a sparse row, which no sum tells
PENALISED = 3.5  # iterations of Newton's method whose time L-BFGS may take, of ten or so
UNPENALISED = 1.5  # which may be lost, where the classes are nearly separated
FEW_ITERATIONS = 100  # which L-BFGS needs as a rule; fewer are not begun
VECTORS = 50  # of coefficients, that L-BFGS remembers and works with

Array = NDArray[np.float64]
SolverName = Literal[
    "newton",
    "lbfgs",
    "gradient",
    "sgd",
    "minibatch",
    "liblinear",
    "newton-cg",
    "newton-cholesky",
    "sag",
    "saga",
]
Start = Array | None
"""Coefficients of z (m, D) to begin with, if there are some."""


@dataclass(frozen=True)
class Solver:
    """Options of the search for a minimum; ``tol`` is a fraction of the gradient at 0.

    With Firth's penalty it is also the largest change of a parameter, as a fraction of the largest.
    """

    name: SolverName
    tol: float
    max_iter: int
    dependent: Dependent
    descent: GradientDescent | None = None

    @property
    def how(self) -> GradientDescent:
        return self.descent or GradientDescent()

    def warn(self, fit: Fit) -> None:
        if not fit.converged:
            warn(self._unfinished(fit), convergence_warning())
        if fit.dependence:
            warn(
                f"{'; '.join(fit.dependence)}. Of all coefficients that fit as well, "
                "those of least norm were taken; dependent='error' refuses."
            )
        if fit.undecided:
            warn(
                "there are too many columns to rule out that the classes are separated "
                "and the likelihood has no maximum; a penalty (C=1.0) is always safe."
            )

    def _unfinished(self, fit: Fit) -> str:
        if self.name in STEPS:
            return self.how.unfinished(fit.iterations, "newton")
        where = (
            f"after {fit.iterations} iterations the gradient is {fit.gradient_norm:.1g} of that "
            f"at 0, not tol={self.tol:g}."
        )
        if fit.iterations < self.max_iter:
            return (
                f"{self.name} failed to converge: {where} Rounding leaves no way down; "
                "use solver='newton', or leave out columns that nearly depend on "
                "others."
            )
        advice = " Increase the number of iterations (max_iter) or tol, or use solver='newton'."
        return (
            f"{self.name} failed to converge. The max_iter was reached which means "
            f"the coef_ did not converge: {where}{advice}"
        )


@dataclass(frozen=True, eq=False)
class Fit:
    """The end of a solver: coefficients (m, D) of rows z = (1, x − m)."""

    coefficients: Array
    iterations: int
    gradient_norm: float  # its largest element, as a fraction of that at 0
    converged: bool
    undecided: bool  # whether separation could not be ruled out
    likelihood: Likelihood | None = None  # without a penalty of coefficients
    root: Array | None = None  # R (q, mD) with RᵀR = I(B)⁻¹, the inverse Fisher information
    dependence: tuple[str, ...] = ()  # of what those terms are made that depend on others
    loss_history: Array | None = None  # of gradient descent, (passes,)

    @classmethod
    def at(
        cls, objective: Objective, point: Point, iterations: int, converged: bool, undecided: bool
    ) -> Fit:
        """The fit that ends at a point; where terms depend on others, of least norm."""
        centred, norm = objective.centred, point.gradient_norm / objective.gradient_norm_at_zero
        coefficients = centred.to_columns(objective.coefficients(point.x))
        if objective.absolute is not None and objective.k > 2 and objective.intercept:
            # Of coefficients with these probabilities, those whose intercepts at x = 0 add up to 0
            at_zero = coefficients[:, 0] - coefficients[:, 1:] @ centred.mean
            coefficients[:, 0] -= at_zero.mean()
        if objective.penalised:
            return cls(coefficients, iterations, norm, converged, undecided)
        root = None if point.hessian is None else _root(objective, point.hessian)
        if objective.factor is not None and objective.dependent:
            shorten = _shortening(objective, objective.factor)
            coefficients = coefficients @ shorten
            if root is not None:
                root = (root.reshape(-1, len(shorten)) @ shorten).reshape(root.shape)
        constant = np.flatnonzero(centred.scale == 0).tolist()
        dependent = sorted({*objective.dependent, *constant})
        of_terms = centred.design.terms, objective.intercept
        made_of = tuple(dependence(dependent, objective.factor, *of_terms))
        how = _likelihood(objective, point), root, made_of
        return cls(coefficients, iterations, norm, converged, undecided, *how)


def _likelihood(objective: Objective, point: Point) -> Likelihood:
    """Return how well a fit without a penalty fits, and class frequencies alone."""
    value, null = -point.loss, None
    if objective.firth:
        value += objective.log_scale
    else:
        weight, n = objective.class_weights * objective.seen.weight.value, objective.weight
        p = weight / n if objective.intercept else np.full(objective.k, 1.0 / objective.k)
        null = float(weight @ log(p))
    null_parameters = (objective.k - 1) * objective.intercept
    return Likelihood(value, null, objective.weight, objective.freedom, null_parameters)


def _root(objective: Objective, hessian: Array) -> Array:
    """R (q, mD) with RᵀR = I(B)⁻¹, from the Hessian in free parameters."""
    free, m, width = factored(hessian).inverse_root(), objective.scores, objective.centred.width
    inner = np.zeros((len(free), objective.sides * width))
    inner[:, objective.free] = free
    root = inner.reshape(len(free), objective.sides, width) * objective.inverse_scale
    if objective.basis is not None:
        root = objective.basis @ root
    return objective.centred.to_columns(root.reshape(-1, width)).reshape(len(free), m * width)


def _shortening(objective: Objective, factor: Factor) -> Array:
    """The matrix (D, D) that B is multiplied by for the shortest B with the same scores.

    The length is in the units of the columns, without the intercept.
    """
    null = (factor.lower_inverse.hi[list(objective.dependent)] * factor.scale).T
    axes = interruptible(np.linalg.qr, null / np.linalg.norm(null, axis=0))[0]
    moved = np.concatenate([np.zeros((1, axes.shape[1])), axes])
    if not (objective.intercept and objective.centred.is_sparse):
        return np.asarray(np.eye(len(moved)) - (moved @ moved.T))
    # Rows about 0: along an axis every score changes by the same.
    mean = objective.sums[:, 1:].sum(axis=0) / objective.sums[:, 0].sum()
    kept = np.concatenate([-(mean @ axes)[None], axes])
    return np.asarray(np.eye(len(moved)) - moved @ kept.T)


def minimise(objective: Objective, start: Start, solver: Solver) -> Fit:
    """Minimise the penalised loss."""
    if solver.name in STEPS:
        return _by_descent(objective, solver.how, cast(Steps, solver.name), start)
    if not objective.has_hessian:
        _check_size(objective, solver)
    with one_thread_of_blas():
        if solver.max_iter == 0:
            zero = np.zeros((objective.scores, len(objective.used)))
            point = objective(objective.parameters(zero if start is None else start), False)
            return Fit.at(objective, point, 0, False, undecided=False)
        end = _from_best_start(objective, solver, start)
        objective, point, decided = end.objective, end.point, end.decided
        likelihood = not (objective.penalised or objective.firth)
        unknown = point.hessian is None and objective.has_hessian and objective.absolute is None
        if unknown and (likelihood or not end.is_small):
            point = objective(point.x, True)
        decided = decided or _has_minimum(objective, point)
        decided = decided or refuse_separation(objective, objective.coefficients(point.x))
        converged = point.gradient_norm <= end.near or _is_rounding(objective, point)
        fit = Fit.at(objective, point, end.iterations, converged, not decided)
    if fit.dependence and solver.dependent == "error":
        raise DataError(
            "; ".join(fit.dependence),
            "the coefficients of such columns are not determined",
            "leave columns out, or use dependent='minimum_norm', or a penalty",
        )
    return fit


def _check_size(objective: Objective, solver: Solver) -> None:
    scores, width = objective.scores, objective.centred.width
    require_memory(
        8.0 * VECTORS * scores * width,
        f"{scores:,} x {width:,} coefficients and the steps towards them",
        "leave columns out, or make labels fewer",
    )
    if objective.firth:
        raise ParameterError(
            f"penalty='firth' with {width} coefficients",
            f"it needs their Hessian, of at most {LARGEST_HESSIAN:,}",
            "use C=1.0",
        )
    if solver.dependent == "error" and not objective.penalised:
        raise ParameterError(
            f"dependent='error' with {width} coefficients",
            f"dependent columns are looked for in a Hessian, of at most {LARGEST_HESSIAN:,}",
            "use dependent='minimum_norm', or a penalty (C=1.0)",
        )


# -- Newton's method and L-BFGS


@dataclass(frozen=True, eq=False)
class _End:
    """The last point of a method, and the function in the columns that its steps were in."""

    objective: Objective
    point: Point
    iterations: int
    near: float  # the largest element of a gradient that is taken for that of a minimum
    is_small: bool  # whether the gradient is
    decided: bool  # whether it is known that there is a minimum


def _from_best_start(objective: Objective, solver: Solver, start: Start) -> _End:
    """Begin where that takes least time, and descend."""
    smooth, tolerance, most = objective.absolute is None, solver.tol, solver.max_iter
    second = smooth and solver.name in SECOND_ORDER and objective.has_hessian
    n, width = objective.seen.rows, len(objective.used)
    rare = width // WIDE if objective.has_hessian else max(width, RARE * objective.scores)
    few = min(rare, HELD_CELLS // max(width, 2 * objective.scores))
    slopes = objective.penalty[1:][objective.used[1:]]
    in_memory = start is None and smooth and n <= few and slopes.any() and slopes.all()
    if in_memory and (held := fit_in_memory(objective, few, tolerance, most)) is not None:
        start, iterations = held
        end = _descended(objective, False, tolerance, most, start)
        return replace(end, iterations=iterations + end.iterations)
    if objective.firth:  # every step needs a Hessian of all rows
        return _descended(objective, True, tolerance, most, start)
    if second and n >= LONG and not objective.centred.is_sparse:
        start, guess = (start, None) if start is not None else fit_of_sample(objective)
        return _descended(objective, True, tolerance, most, start, guess)
    cheap = _cheaper_iterations(objective) if second else 0
    if not cheap:
        return _descended(objective, second, tolerance, most, start)
    rough = _descended(objective, False, tolerance, min(cheap, most), start)
    if rough.is_small or rough.iterations == most:
        return rough
    if objective.penalised or rough.iterations < cheap:  # it found no way down
        start = rough.objective.centred.to_columns(rough.objective.coefficients(rough.point.x))
    end = _descended(objective, True, tolerance, most - rough.iterations, start)
    return replace(end, iterations=rough.iterations + end.iterations)


def _descended(
    objective: Objective,
    second: bool,
    tolerance: float,
    max_iter: int,
    start: Start,
    guess: Times | None = None,
) -> _End:
    """Descend until the gradient is small, there is no way down, or iterations are too many."""
    objective, iterates = _iterates_of(objective, second, start, guess)
    at_zero = objective.gradient_norm_at_zero
    enough = near = max(tolerance * at_zero, GRADIENT_ROUNDING * objective.weight)
    decided, hessians, small = objective.penalised or objective.firth, 0, False
    for iteration, point in enumerate(islice(advancing(iterates), max_iter + 1)):  # noqa: B007
        small = point.gradient_norm <= enough
        if small and not (objective.firth and _moves(point, tolerance)):
            break
        hessians += point.hessian is not None  # one for every step of Newton's method
        if not decided and hessians == 1 + STEPS_BEFORE_SEPARATION:
            decided = refuse_separation(objective, objective.coefficients(point.x))
    else:
        if iteration < max_iter:
            near = max(enough, STALLED_GRADIENT * at_zero)
    return _End(objective, point, iteration, near, small, decided)


def _moves(point: Point, tolerance: float) -> bool:
    """Return whether a step of Newton's method changes a parameter by more than a fraction."""
    assert point.hessian is not None
    step = factored(point.hessian).solve(point.gradient)
    return bool(np.abs(step).max(initial=0.0) > tolerance * np.abs(point.x).max(initial=0.0))


def _is_rounding(objective: Objective, point: Point) -> bool:
    """Return whether a step of Newton's method lowers the loss by its rounding at most: gᵀH⁻¹g."""
    if point.hessian is None:
        return False
    noise = LOSS_ROUNDING * abs(point.loss) + objective.weight**0.5 * objective.score_noise(point.x)
    root = factored(point.hessian).inverse_root()
    decrement = float(((root @ point.gradient) ** 2).sum())
    return len(root) == len(point.x) and decrement <= noise  # a singular Hessian does not tell


def _has_minimum(objective: Objective, point: Point) -> bool:
    """Return whether ν max|z| ≤ ½ √λ_min(H)."""
    if point.hessian is None:
        return False
    if not len(point.x):
        return True
    radius = objective.radius()
    step = factored(point.hessian).solve(point.gradient)
    decrement = max(float(point.gradient @ step), 0.0) ** 0.5
    flattest, steepest = interruptible(np.linalg.eigvalsh, point.hessian)[[0, -1]]
    if not flattest > SQUARES_NOISE * steepest:  # no more than rounding
        return False
    apart = 1.0 if objective.k == 2 else 2.0**0.5  # |t_a − t_b| ≤ √2 |t|
    return bool(apart * radius * decrement <= 0.5 * flattest**0.5)


# -- a penalty of absolute values


def _with_l1(objective: Objective, start: Start) -> Iterator[Point]:
    """Yield points towards the minimum of F(w) = f(w) + Σ cⱼ|wⱼ|, with what its conditions lack.

    As f is convex, to be within ε of them is as strict as a small duality gap: |∇f(w)| ≤ c + ε,
    and ∇f(w) = −c sign w to within ε where w is not 0,

    ::

        F(w) − F(w*) ≤ ∇f(w)ᵀ(w − w*) + Σ cⱼ(|wⱼ| − |wⱼ*|) ≤ ε Σ (|wⱼ| + |wⱼ*|)
    """
    assert objective.absolute is not None
    each, whole = objective.absolute * objective.inverse_scale, objective.has_hessian
    cost = np.tile(each, objective.sides)[objective.free]
    first = objective(objective.null() if start is None else objective.parameters(start), whole)
    some = None if whole else objective.hessian_of
    for point in proximal_newton(objective, first, cost, some):
        total = point.loss + float(cost @ np.abs(point.x))
        yield Point(point.x, total, violation(point.x, point.gradient, cost))


# -- gradient descent


def _by_descent(objective: Objective, how: GradientDescent, steps: Steps, start: Start) -> Fit:
    """Descend from B = 0, or from ``start``, until the rule for stopping is met.

    Descent alone would not notice that a likelihood has no maximum: without a penalty, separation
    of the classes is looked for first.
    """
    centred, data, m = objective.centred, objective.data, objective.scores
    zero = np.zeros((objective.k, centred.width))
    decided = objective.penalised or refuse_separation(objective, zero)
    rows = DescentRows(
        centred.layout,
        objective.rows.labelled,
        np.zeros(centred.width - 1),
        np.where(objective.used[1:], centred.scale, 0.0),
        objective.penalty[1:],
        objective.intercept,
        objective.weight,
        sum(data.of_batches(objective.rows.count)),
        m,
        0.25 if objective.k == 2 else 0.5,  # the largest that p(1 − p), diag p − p pᵀ have
    )
    course = descend(rows, data.parts, data.engine, how, steps, np.ones(m), start)
    passes = len(course.loss_history)
    data.count += passes * (1 if steps == "gradient" else 2)
    b = course.coefficients
    b = b if m == 1 else b - b.mean(axis=0)
    point = objective(objective.parameters(b), False)
    norm, history = point.gradient_norm / objective.gradient_norm_at_zero, course.loss_history
    return Fit(b, passes, norm, course.converged, not decided, loss_history=history)


# -- what an iteration costs


def _cheaper_iterations(objective: Objective) -> int:
    """Return how many iterations of L-BFGS to try before Newton's method; 0 for none.

    With n rows (their weight), m scores, q = m(m + 1)/2 pairs of them, D columns, and c cells of a
    compressed row, in nanoseconds of one core:

    ::

        Newton    q (20,000 n/2,048 + n (15 + 2D + 0.08D²)) + 50(mD)² + 0.035(mD)³
                  q n c² in place of the first part, for compressed rows
        L-BFGS    400,000 + n m (12 + 0.4D)

    The number is what a few iterations of Newton's method cost, so that a descent which needs more
    loses little. With a penalty Newton's method goes on from where it ended; without one it may
    begin anew.
    """
    # Each row is taken to weigh 1.
    n, m, width = objective.seen.rows, objective.scores, len(objective.used)
    pairs, side, cells, centred = m * (m + 1) // 2, m * width, float(width), objective.centred
    if centred.is_sparse:
        cells = 1.0 + SPARSE_CELLS * width
    elif centred.design.categories and centred.is_of_few_cells:
        cells = 1.0 + len(centred.design.numbers) + len(centred.design.categories)
    if cells < width:
        products = pairs * n * cells**2
    else:
        tiles = max(n / TILE, 1.0)
        products = pairs * (20_000 * tiles + n * (15 + 2 * width + 0.08 * width**2))
    newton = products + 50 * side**2 * (m > 1) + 0.035 * side**3
    lbfgs = 400_000 + n * m * (12 + 0.4 * cells)
    iterations = int((PENALISED if objective.penalised else UNPENALISED) * newton / lbfgs)
    return iterations if iterations >= FEW_ITERATIONS else 0


# -- where to begin


def _iterates_of(
    objective: Objective, second: bool, start: Start, guess: Times | None
) -> tuple[Objective, Iterator[Point]]:
    """The iterates of Newton's method (``second``) or of L-BFGS, and the function that they are of.

    They begin at ``start`` unless 0 is better; ``guess`` is the inverse of a sample's Hessian.
    Where columns depend on others, exact sums over the rows tell which; these are left out, and the
    steps are in columns that the sums make uncorrelated.
    """
    if objective.absolute is not None:
        return objective, _with_l1(objective, start)
    looking = guess is None and not objective.penalised and objective.has_hessian
    exact = looking or (second and guess is None)
    x = objective.null() if start is None else objective.parameters(start)
    sums = objective.loss_sums(x, exact)
    if start is not None and not sums.loss.value <= objective.weight * log_of(objective.k):
        x = objective.null()
        sums = objective.loss_sums(x, exact)
    dependent = objective.factorised(sums, ILL_CONDITIONED).dependent if looking else ()
    # Terms of which so little is their own that a Hessian in double may not show it.
    if found := {j for j in dependent if objective.used[1 + j]}:
        given, factor = objective.coefficients(x), objective.exactly_factorised(sums)
        objective = objective.independent(factor)
        if not (objective.centred.is_sparse or found <= set(objective.dependent)):
            objective = objective.whitened(factor)
        x = objective.parameters(objective.centred.of_columns(given))
        sums = objective.loss_sums(x, exact)
    point = objective.point(x, sums)
    dense = exact and objective.penalised and not objective.centred.is_sparse
    hessian = point.hessian if dense else None
    if hessian is not None and factored(hessian).smallest_pivot < ILL_CONDITIONED:
        given = objective.coefficients(x)
        objective = objective.whitened(objective.exactly_factorised(sums))
        point = objective(objective.parameters(objective.centred.of_columns(given)), True)
    if guess is not None:
        return objective, _with_fewer_hessians(objective, point, guess)
    if second:
        return objective, newton(objective, point)
    curvature = objective.curvature_at_zero()
    return objective, quasi_newton(objective, point, lambda g: g / curvature)


def _with_fewer_hessians(objective: Objective, start: Point, guess: Times) -> Iterator[Point]:
    """First L-BFGS with a sample's Hessian as its guess; Newton's method if that is not enough."""
    last = start
    for last in islice(quasi_newton(objective, start, guess), STEPS_WITHOUT_HESSIAN):
        yield last
    yield from islice(newton(objective, objective(last.x, True)), 1, None)
