"""The penalised loss of a logistic regression, as a function of free parameters.

::

    −Σ w log P(y | x) + ½ Σ_j λ_j w_j² + Σ_j c_j |w_j|

Maximum likelihood where λ = c = 0, the mode of the posterior under a Gaussian prior where c = 0.
One evaluation of all but the last sum is one pass over the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import helmert
from scipy.sparse import csr_array, vstack

from suffice.errors import DataError, ParameterError
from suffice.models.base.checks import ClassWeight, class_weights
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.logistic.first_pass import FirstPass, joint_moments
from suffice.models.logistic.loss import (
    LossRequest,
    SecondDerivatives,
    loss_sums,
    second_derivatives,
)
from suffice.models.logistic.rows import (
    LARGEST_HESSIAN,
    CentredDesign,
    DataLoop,
    Sample,
    TrainingRows,
    farthest,
    lowest,
    sampled,
)
from suffice.models.optimise.newton import Point, factored
from suffice.models.optimise.proximal_newton import CompressedHessian
from suffice.numerics.elementary import log
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.interruption import interruptible
from suffice.numerics.linalg import SHARPEST, Factor, factorise
from suffice.numerics.memory import require_memory
from suffice.sums.base import tree_sum
from suffice.sums.batch import WEIGHT_ROUNDING
from suffice.sums.by_class import ByClass
from suffice.sums.comoments import Comoments
from suffice.sums.loss_sums import LossSums

HESSIAN_BYTES = 5 * 8.0  # of a second derivative: itself, and copies while it is factored
PRIOR = 4.0  # rows that tell as much of a coefficient as λ = 1: each tells p(1 − p) ≤ ¼
SQUARES_NOISE = 2.0**-43  # fraction of a sum of squares, added in double, that means nothing

Array = NDArray[np.float64]


@dataclass(eq=False)
class Objective:
    """The penalised loss as a function of free parameters, in units of the columns.

    A coefficient of z is (Q θ)_cj / s_j. For two classes Q = 1. For k classes t + a has the
    probabilities of t, and among all such coefficients the penalty of squares prefers those that
    sum to zero. Where there may be a Hessian, the columns of Q (k, k − 1) are an orthonormal basis
    of these; a penalty of absolute values does not prefer them, and gradients lead to them by
    themselves: there Q = I.

    Source: C. M. Bishop, Pattern Recognition and Machine Learning (2006), sections 4.3.2 to 4.3.4;
    D. Firth, Bias reduction of maximum likelihood estimates (1993), section 3.3.
    """

    data: DataLoop  # over the rows
    centred: CentredDesign  # how these become rows z = (1, x − m)
    seen: ByClass  # the first pass, which the others must agree with
    class_weights: Array  # what the weights of the rows of a class are multiplied by, (k,)
    penalty: Array  # λ of every coefficient of z, (D,)
    used: NDArray[np.bool_]  # the coefficients that are not fixed at 0, (D,)
    scale: Array  # s of every coefficient of z, 1 of the intercept, 0 of a constant column, (D,)
    sums: Array  # Σ w z of every class in the first pass, (k, D)
    checksum: Array  # c: every column has a weight of its own in Σ w cᵀz, (D,)
    firth: bool = False  # whether ½ log |I(θ)| is added to the log-likelihood; for two classes
    dependent: tuple[int, ...] = ()  # terms fixed at 0 as combinations of earlier ones
    factor: Factor | None = None  # of all terms, which says what combinations these are
    absolute: Array | None = None  # c of every coefficient of z, whose sum is not in here, (D,)

    @classmethod
    def of(
        cls,
        first: FirstPass,
        *,
        class_weight: ClassWeight = None,
        variance: float = np.inf,
        l1_ratio: float = 0.0,
        standardize: bool = False,
        firth: bool = False,
    ) -> Objective:
        """Return the function of the rows of a first pass.

        ``variance`` is C of the prior, infinite without one, and ``l1_ratio`` the part of the
        penalty that is of absolute values.
        """
        rows, labels, weights = first.rows, first.seen.classes.values, first.seen.weight.value
        if firth and len(labels) > 2:
            raise ParameterError(
                f"penalty='firth' with {len(labels)} classes",
                "it is there for two classes",
                "use C=1.0, or compare the classes in pairs",
            )
        unit = rows.scale if standardize else np.ones_like(rows.scale)
        penalty, absolute = np.zeros((2, rows.width))
        penalty[1:] = (1.0 - l1_ratio) * unit**2 / variance
        absolute[1:] = l1_ratio * unit / variance
        equal, scale = np.ones(len(labels)), np.append(1.0, rows.scale)
        checksum = 1.0 + 0.5 * np.cos(np.arange(rows.width))
        return cls(
            first.data,
            rows,
            first.seen,
            equal if class_weight is None else class_weights(class_weight, weights, labels),
            penalty,
            np.append(first.intercept, rows.scale > 0),
            scale,
            rows.sums(first.seen),
            np.divide(checksum, scale, out=np.zeros_like(scale), where=scale > 0),
            firth,
            absolute=absolute if absolute.any() else None,
        )

    def __post_init__(self) -> None:
        self.classes = self.seen.classes
        self.k = len(self.classes)
        self.scores = 1 if self.k == 2 else self.k  # m, of every row
        self.intercept = bool(self.used[0])
        self.penalised = bool(self.penalty.any()) or self.absolute is not None
        self.has_hessian = self.scores * len(self.used) <= LARGEST_HESSIAN
        # Number of parameters: of the coefficients of k classes, those that sum to zero.
        self.freedom = (self.k - 1) * int(self.used.sum())
        # Σw of all rows, each with the weight of its class.
        self.weight = float(self.class_weights @ self.seen.weight.value)
        self.rows = TrainingRows(self.centred, self.classes, self.class_weights)
        self.basis: Array | None = None  # Q, (k, r), unless it is I
        if self.k > 2 and self.absolute is None and self.has_hessian:
            self.basis = np.asarray(helmert(self.k).T)  # orthonormal contrasts
        self.sides = self.scores if self.basis is None else self.k - 1  # r, the rows of θ (r, D)
        # Places of the free parameters in θ.ravel().
        self.free = np.flatnonzero(np.tile(self.used, self.sides))
        zero = np.zeros_like(self.scale)  # 1/s of a constant column
        self.inverse_scale = np.divide(1.0, self.scale, out=zero, where=self.scale > 0)
        self.penalty_of_free = np.tile(self.penalty * self.inverse_scale**2, self.sides)[self.free]
        # P, (p, p), of the penalty ½xᵀPx, unless it is diagonal.
        self.penalty_hessian: Array | None = None
        if self.centred.whitener is not None:
            scale = self.centred.to_columns(np.diag(self.inverse_scale))
            each = np.kron(np.eye(self.sides), (scale * self.penalty) @ scale.T)
            self.penalty_hessian = np.asarray(each[np.ix_(self.free, self.free)])

    # -- from free parameters to coefficients and back

    def coefficients(self, x: Array) -> Array:
        """B (m, D) of free parameters x (p,)."""
        theta = np.zeros((self.sides, len(self.used)))
        theta.flat[self.free] = x
        theta = theta if self.basis is None else self.basis @ theta
        theta *= self.inverse_scale
        return theta

    def parameters(self, coefficients: Array) -> Array:
        theta = coefficients * self.scale
        theta = theta if self.basis is None else self.basis.T @ theta
        return np.asarray(theta.ravel()[self.free])

    def null(self) -> Array:
        """Free parameters of the model that knows the frequencies of the classes alone."""
        start = np.zeros((self.scores, len(self.used)))
        log_weight = log(np.maximum(self.class_weights * self.seen.weight.value, 1e-300))
        if self.intercept:
            difference = log_weight[1] - log_weight[0]
            start[:, 0] = difference if self.k == 2 else log_weight - log_weight.mean()
        return self.parameters(start)

    # -- the function

    def __call__(self, x: Array, hessian: bool) -> Point:
        """The function at free parameters x, from one pass (two with Firth's penalty)."""
        return self.point(x, self.loss_sums(x, hessian or self.firth))

    def loss_sums(self, x: Array, hessian: bool, root: Array | None = None) -> LossSums:
        """Sum over the rows, which have to be those of the first pass."""
        request = LossRequest(self.rows, self.coefficients(x), self.checksum, hessian, root)
        sums, weight = self.data.run(loss_sums, request), self.seen.weight.value
        largest = WEIGHT_ROUNDING * weight * np.abs(self.checksum * self.scale).sum()
        same = np.abs(sums.weight.value - weight) <= WEIGHT_ROUNDING * weight
        change = np.abs(sums.checksum.value - self.sums @ self.checksum)
        if not (same.all() and (change <= largest).all()):
            raise DataError(
                "the rows of this pass are not those of the first",
                "an iterative fit reads the same rows again and again",
                "copy the table to where nobody changes it, and fit again",
            )
        return sums

    def point(self, x: Array, sums: LossSums) -> Point:
        """The function at x, of sums in the coefficients B."""
        loss, full, of_free = float(sums.loss.value), sums.hessian.value, None
        gradient = self.free_gradient(sums.gradient.value)
        if len(full):
            width, side = len(self.used), self.sides * len(self.used)
            full = full.reshape(self.scores, width, self.scores, width)
            full = full * self.inverse_scale * self.inverse_scale[:, None, None]
            if self.basis is not None:
                q = self.basis
                full = np.einsum("ar,aibj,bs->risj", q, full, q, optimize=True)
            of_free = full.reshape(side, side)[np.ix_(self.free, self.free)]
        if self.firth:
            assert of_free is not None
            loss -= 0.5 * float(interruptible(np.linalg.slogdet, of_free)[1])
            firth = self.loss_sums(x, False, self._root(of_free))
            gradient = self.free_gradient(firth.gradient.value)
        if self.penalty_hessian is None:
            slope = self.penalty_of_free * x
            if of_free is not None:
                diagonal = np.arange(len(x))
                of_free[diagonal, diagonal] += self.penalty_of_free
        else:
            slope = self.penalty_hessian @ x
            of_free = None if of_free is None else of_free + self.penalty_hessian
        return Point(x, loss + 0.5 * float(slope @ x), gradient + slope, of_free)

    def free_gradient(self, gradient: Array) -> Array:
        theta = gradient * self.inverse_scale
        theta = theta if self.basis is None else self.basis.T @ theta
        return np.asarray(theta.ravel()[self.free])

    def hessian_of(self, x: Array, places: NDArray[np.intp]) -> Array | CompressedHessian:
        """Second derivatives by a few of the free parameters, (q, q), from one pass.

        Where a penalty of absolute values makes Q = I, each is a coefficient of one score. Of
        compressed rows they are known by their factors.
        """
        q = len(places)
        scores, columns = np.divmod(self.free[places], len(self.used))
        of = self.rows, self.coefficients(x), scores, columns, self.inverse_scale[columns]
        request = SecondDerivatives(*of)
        if self.centred.is_sparse:
            factors = zip(*self.data.of_batches(request.factors_of), strict=True)
            plus, minus = (csr_array(vstack(parts)) for parts in factors)
            return CompressedHessian(plus, minus, self.penalty_of_free[places])
        require_memory(
            HESSIAN_BYTES * q * q,
            f"second derivatives by {q:,} coefficients that are not 0",
            "use a smaller C, so that fewer are chosen",
        )
        full = reduce(add, self.data.map(second_derivatives, request))
        full[np.diag_indices(q)] += self.penalty_of_free[places]
        return full

    def _root(self, hessian: Array) -> Array:
        """R (D, D) with R Rᵀ = I⁻¹ in coefficients of z."""
        inverse = factored(hessian).solve(np.eye(len(hessian)))
        root = np.zeros((len(self.used), len(self.used)))
        root[np.ix_(self.free, self.free)] = interruptible(np.linalg.cholesky, inverse)
        return root * self.inverse_scale[:, None]

    def draw(self, n: int) -> Sample:
        """Some n rows at random, or all if there are fewer."""
        numbers, parts = zip(*self.data.map(sampled, (self.rows, n)), strict=True)
        return lowest(numbers, parts, n)[1]

    # -- scales

    def radius(self) -> float:
        """The length of the longest row z/s, or a bound of it."""
        squares = partial(farthest, self.rows, self.inverse_scale * self.used)
        return float(max(self.data.of_batches(squares)) ** 0.5)

    @cached_property
    def gradient_norm_at_zero(self) -> float:
        """The largest element of the gradient at θ = 0, from the first pass alone; 1 if it is 0."""
        sums, eye = self.class_weights[:, None] * self.sums, np.eye(self.k)
        residual = 1.0 / self.k - eye[-1:] if self.k == 2 else 1.0 / self.k - eye
        gradient = residual @ sums
        return float(np.abs(self.free_gradient(gradient)).max(initial=0.0)) or 1.0

    def curvature_at_zero(self) -> Array:
        """Diagonal of the Hessian at θ = 0, (p,), if the columns are centred."""
        p = 1.0 / self.k
        return self.weight * (p * (1.0 - p) if self.k == 2 else p) + self.penalty_of_free

    def score_noise(self, x: Array) -> float:
        """Return the rounding of the scores: ε Σ|w_j|s_j of the columns."""
        slopes = self.centred.to_columns(self.coefficients(x))[:, 1:]
        reach = np.abs(slopes) @ self.centred.scale
        return float(2.0**-52 * reach.max(initial=0.0))

    def factorised(self, sums: LossSums, noise: float) -> Factor:
        """Factor the Hessian block of one class: which terms depend on earlier ones."""
        width = self.centred.width
        full = sums.hessian[:width, :width].value
        block = np.where(self._both_used, full[1:, 1:], 0.0)
        mean, scale = self.centred.mean, self.centred.scale
        far = np.divide(mean, scale, out=np.zeros_like(mean), where=scale > 0)
        noise_of = noise + (2.0**-52 * far) ** 2
        if self.intercept and self.centred.is_sparse:  # about means, which these rows are not
            before, sums_of = np.diagonal(block), full[0, 1:] * self.used[1:]
            block = block - np.outer(sums_of, sums_of) / full[0, 0]
            after = np.maximum(np.diagonal(block), SQUARES_NOISE * before)
            np.fill_diagonal(block, after)
            noise_of = noise_of * np.divide(before, after, out=np.ones(width - 1), where=after > 0)
        return factorise(DoubleDouble.of(block), noise_of)

    def exactly_factorised(self, sums: LossSums) -> Factor:
        """Factor the scatter matrix of the terms, penalty added, which no rounding blurs.

        Of sparse rows it is the Hessian, as in `factorised`.
        """
        if self.centred.is_sparse:
            return self.factorised(sums, SQUARES_NOISE)
        p, rows = self.centred.width - 1, tree_sum(self.data.map(joint_moments, self.rows))
        equations = NormalEquations.of(cast(Comoments, rows.blocks[0]).one_class, p, self.intercept)
        matrix = equations.xx + DoubleDouble.of(np.diag(PRIOR * self.penalty[1:]))
        used = DoubleDouble.where(self._both_used, matrix, DoubleDouble.zeros((p, p)))
        return factorise(used, np.where(self.penalty[1:] > 0, SHARPEST, equations.noise))

    @property
    def _both_used(self) -> NDArray[np.bool_]:
        return self.used[1:] & self.used[1:, None]

    def independent(self, factor: Factor) -> Objective:
        """Return the function without terms that depend on earlier ones, given their factor."""
        dependent = tuple(j for j in factor.dependent if self.used[1 + j])
        used = self.used & ~np.isin(np.arange(len(self.used)) - 1, dependent)
        return replace(self, used=used, dependent=dependent, factor=factor)

    def whitened(self, factor: Factor) -> Objective:
        """Return the function of coefficients of uncorrelated columns, given the scatter matrix."""
        centred, sums = replace(self.centred, whitener=factor), self.sums.copy()
        sums[:, 1:] = sums[:, 1:] @ factor.whitening.value.T
        checksum = centred.of_columns(self.checksum[None])[0]
        scale = np.append(1.0, factor.independent * self.seen.rows**-0.5)
        return replace(self, centred=centred, scale=scale, sums=sums, checksum=checksum)

    @property
    def log_scale(self) -> float:
        """log |∂θ/∂w|, w the coefficients of the columns: what a determinant of I lacks."""
        used, factor = self.used[1:], self.centred.whitener
        diagonal = log(self.scale[1:][used]).sum()
        if factor is not None:
            diagonal += log(np.diagonal(factor.cholesky.value)[used]).sum()
        return float(diagonal)
