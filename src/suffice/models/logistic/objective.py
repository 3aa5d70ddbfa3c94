"""The penalised loss of a logistic regression, as a function of free parameters.

::

    −Σ w log P(y | x) + ½ Σ_j λ_j w_j²

Maximum likelihood where λ = 0, the mode of the posterior under a Gaussian prior otherwise. One
evaluation is one pass over the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import helmert

from suffice.errors import DataError
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.logistic.centred_design import CentredDesign
from suffice.models.logistic.loss import LossRequest
from suffice.models.optimise.newton import Point, solve
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.linalg import SHARPEST, Factor, factorise
from suffice.statistics.by_class import ByClass
from suffice.statistics.comoments import Comoments
from suffice.statistics.loss_sums import LossSums

__all__ = ["LARGEST_HESSIAN", "NOISE", "Objective"]

LARGEST_HESSIAN = 2_000  # its side, where there may be one
UNCHANGED = 1e-9  # share of a class's weight that may differ between passes by rounding
PRIOR = 4.0  # rows whose information, p(1 − p) ≤ ¼ each, equals that of the penalty
NOISE = 2.0**-43  # share of a sum of squares, added in double, that means nothing


@dataclass(frozen=True, eq=False)
class Objective:
    """The penalised loss as a function of free parameters, in units of the columns.

    A coefficient of z is (Q θ)_cj / s_j. For two classes Q = 1. For k classes the columns of Q
    (k, k − 1) are an orthonormal basis of the vectors that sum to zero: t + a has the
    probabilities of t, and among all such coefficients the penalty prefers those.

    Parameters
    ----------
    run : callable
        Sends a `LossRequest` over all rows.
    centred : CentredDesign
    seen : ByClass
        The first pass, which the others must agree with.
    factors : ndarray (k,)
        Of the weights of the classes.
    penalty : ndarray (D,)
        λ of every coefficient of z.
    used : ndarray of bool (D,)
        The coefficients that are not fixed at 0.
    firth : bool
        Whether ½ log |I(θ)| is added to the log-likelihood; for two classes.

    Source: C. M. Bishop, Pattern Recognition and Machine Learning (2006), sections 4.3.2 to 4.3.4;
    D. Firth, Bias reduction of maximum likelihood estimates (1993), section 3.3.
    """

    run: Callable[[LossRequest], LossSums]
    centred: CentredDesign
    seen: ByClass
    factors: NDArray[np.float64]
    penalty: NDArray[np.float64]
    used: NDArray[np.bool_]
    firth: bool = False

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.seen.classes)

    @property
    def has_hessian(self) -> bool:
        """Whether its Hessian is small enough to be computed."""
        return len(self.basis) * self.centred.width <= LARGEST_HESSIAN

    @cached_property
    def basis(self) -> NDArray[np.float64]:
        """Q, (m, r)."""
        basis: NDArray[np.float64] = np.asarray(helmert(self.k).T)
        return np.ones((1, 1)) if self.k == 2 else basis

    @cached_property
    def inverse_unit(self) -> NDArray[np.float64]:
        """1/s of every coefficient, (D,); 0 for a constant column."""
        scale = np.concatenate([[1.0], self.centred.scale])
        inverse = np.zeros_like(scale)
        np.divide(1.0, scale, out=inverse, where=scale > 0)
        return inverse

    @property
    def free(self) -> NDArray[np.intp]:
        """Places of the free parameters in θ.ravel(), θ (r, D)."""
        return np.flatnonzero(np.tile(self.used, self.basis.shape[1]))

    @cached_property
    def weight(self) -> float:
        """Σw of all rows, each with the factor of its class."""
        return float(self.factors @ self.seen.weight.value)

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """Σ w z of every class, (k, D), from the first pass."""
        return self.centred.sums(self.seen)

    @cached_property
    def probe(self) -> NDArray[np.float64]:
        """c, (D,): every column has a share of its own in the checksum."""
        share = 1.0 + 0.5 * np.cos(np.arange(self.centred.width))
        spread = self.centred.spread
        np.divide(share[1:], spread, out=share[1:], where=spread > 0)
        share[1:] *= spread > 0
        return np.asarray(self.centred.of_columns(share[None])[0])

    # -- from free parameters to coefficients and back

    def coefficients(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """B (m, D) of free parameters x (p,)."""
        theta = np.zeros(self.basis.shape[1] * self.centred.width)
        theta[self.free] = x
        return np.asarray(self.basis @ theta.reshape(-1, self.centred.width) * self.inverse_unit)

    def parameters(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Free parameters x (p,) of B (m, D)."""
        unit = np.concatenate([[1.0], self.centred.scale])
        return np.asarray((self.basis.T @ coefficients * unit).ravel()[self.free])

    def null(self) -> NDArray[np.float64]:
        """Free parameters of the model that knows the classes' shares alone."""
        start = np.zeros((self.basis.shape[0], self.centred.width))
        share = np.log(np.maximum(self.factors * self.seen.weight.value, 1e-300))
        if self.used[0]:
            start[:, 0] = share[1] - share[0] if self.k == 2 else share - share.mean()
        return self.parameters(start)

    # -- the function

    def __call__(self, x: NDArray[np.float64], hessian: bool) -> Point:
        """The function at free parameters x, from one pass (two with Firth's penalty)."""
        return self.point(x, self.loss_sums(x, hessian or self.firth))

    def loss_sums(
        self,
        x: NDArray[np.float64],
        hessian: bool,
        root: NDArray[np.float64] | None = None,
    ) -> LossSums:
        """The sums of one pass.

        Raises
        ------
        DataError
            If the rows are not those of the first pass.
        """
        sums = self.run(
            LossRequest(
                self.centred,
                self.seen.classes,
                self.factors,
                self.coefficients(x),
                self.probe,
                hessian,
                root,
            )
        )
        weight = self.seen.weight.value
        reach = np.abs(self.probe * np.concatenate([[1.0], self.centred.scale])).sum()
        same = np.abs(sums.weight.value - weight) <= UNCHANGED * weight
        change = np.abs(sums.checksum.value - self.sums @ self.probe)
        if not (same.all() and (change <= UNCHANGED * weight * reach).all()):
            raise DataError(
                "the rows of this pass are not those of the first",
                "an iterative fit reads the same rows again and again",
                "copy the table to where nobody changes it, and fit again",
            )
        return sums

    def point(self, x: NDArray[np.float64], sums: LossSums) -> Point:
        """Loss, gradient and Hessian in free parameters."""
        loss, gradient, hessian = float(sums.loss.value), self._gradient(sums), None
        if sums.hessian.shape[0]:
            hessian = self._hessian(sums)
        if self.firth:
            assert hessian is not None
            inverse = solve(hessian, np.eye(len(hessian)))
            loss -= 0.5 * float(np.linalg.slogdet(hessian)[1])
            gradient = self._gradient(self.loss_sums(x, False, self._root(inverse)))
        penalty_gradient = self._penalty_gradient(x)
        loss += 0.5 * float(penalty_gradient @ x)
        if hessian is not None:
            hessian = hessian + self._penalty_gradient(np.eye(len(x)))
        return Point(x, loss, gradient + penalty_gradient, hessian)

    def _penalty_gradient(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The gradient Px of the penalty ½xᵀPx."""
        if self.centred.turn is None:
            return (self._penalty * x.T).T
        unit = self.centred.to_columns(np.diag(self.inverse_unit))
        each = np.kron(np.eye(self.basis.shape[1]), (unit * self.penalty) @ unit.T)
        return np.asarray(each[np.ix_(self.free, self.free)] @ x)

    @property
    def _penalty(self) -> NDArray[np.float64]:
        each = self.penalty * self.inverse_unit**2
        return np.tile(each, self.basis.shape[1])[self.free]

    def _gradient(self, sums: LossSums) -> NDArray[np.float64]:
        return self._free_gradient(sums.gradient.value)

    def _free_gradient(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((self.basis.T @ gradient * self.inverse_unit).ravel()[self.free])

    def _hessian(self, sums: LossSums) -> NDArray[np.float64]:
        (m, r), width = self.basis.shape, self.centred.width
        full = sums.hessian.value.reshape(m, width, m, width)
        full = full * self.inverse_unit * self.inverse_unit[:, None, None]
        inner = np.einsum("ar,aibj,bs->risj", self.basis, full, self.basis, optimize=True)
        free = self.free
        return np.asarray(inner.reshape(r * width, r * width)[np.ix_(free, free)])

    def _root(self, inverse: NDArray[np.float64]) -> NDArray[np.float64]:
        """R (D, D) with R Rᵀ = I⁻¹ in coefficients of z."""
        root = np.zeros((self.centred.width, self.centred.width))
        free = self.free
        root[np.ix_(free, free)] = np.linalg.cholesky(inverse)
        return root * self.inverse_unit[:, None]

    # -- scales

    def gradient_norm_at_zero(self) -> float:
        """The largest element of the gradient at θ = 0, from the first pass alone."""
        sums, eye = self.factors[:, None] * self.sums, np.eye(self.k)
        gradient = (1.0 / self.k - eye[-1:] if self.k == 2 else 1.0 / self.k - eye) @ sums
        return float(np.abs(self._free_gradient(gradient)).max(initial=0.0))

    def curvature_at_zero(self) -> NDArray[np.float64]:
        """Diagonal of the Hessian at θ = 0, (p,), if the columns are centred."""
        share = 1.0 / self.k
        weight = self.weight * (share * (1.0 - share) if self.k == 2 else share)
        return weight + self._penalty

    def score_noise(self, x: NDArray[np.float64]) -> float:
        """What rounding makes of the scores: ε Σ|w_j|s_j of the columns."""
        slopes = self.centred.to_columns(self.coefficients(x))[:, 1:]
        return float(2.0**-52 * (np.abs(slopes) @ self.centred.spread).max(initial=0.0))

    def factor(self, sums: LossSums, noise: float) -> Factor:
        """Factor the Hessian block of one class: which terms depend on earlier ones."""
        width = self.centred.width
        full = sums.hessian[:width, :width].value
        block = np.where(self._both_used, full[1:, 1:], 0.0)
        mean, scale = self.centred.mean, self.centred.scale
        far = np.divide(mean, scale, out=np.zeros_like(mean), where=scale > 0)
        share = noise + (2.0**-52 * far) ** 2
        if self.used[0] and self.centred.is_sparse:  # about means, which these rows are not
            before, sums_of = np.diagonal(block), full[0, 1:] * self.used[1:]
            block = block - np.outer(sums_of, sums_of) / full[0, 0]
            after = np.maximum(np.diagonal(block), NOISE * before)
            np.fill_diagonal(block, after)
            share = share * np.divide(before, after, out=np.ones(width - 1), where=after > 0)
        return factorise(DoubleDouble.of(block), share)

    def exact_factor(self, rows: Comoments) -> Factor:
        """Factor the scatter matrix of the terms, penalty added, which no rounding blurs."""
        intercept, p = bool(self.used[0]), self.centred.width - 1
        equations = NormalEquations.of(rows, p, intercept)
        matrix = equations.xx + DoubleDouble.of(np.diag(PRIOR * self.penalty[1:]))
        used = DoubleDouble.where(self._both_used, matrix, DoubleDouble.zeros((p, p)))
        return factorise(used, np.where(self.penalty[1:] > 0, SHARPEST, equations.noise))

    @property
    def _both_used(self) -> NDArray[np.bool_]:
        return self.used[1:] & self.used[1:, None]

    def without(self, terms: ArrayLike) -> Objective:
        """The same function with some terms fixed at 0."""
        used = self.used.copy()
        used[1 + np.asarray(terms, np.intp)] = False
        return replace(self, used=used)

    def turned(self, factor: Factor) -> Objective:
        """The same function of coefficients of uncorrelated columns, given the scatter matrix."""
        centred = self.centred.turned(factor, float(self.seen.weight.value.sum()))
        return replace(self, centred=centred)

    @property
    def log_unit(self) -> float:
        """log |∂θ/∂w|, w the coefficients of the columns: what a determinant of I lacks."""
        used, centred = self.used[1:], self.centred
        diagonal = np.log(centred.scale[used]).sum()
        if centred.turn is not None:
            diagonal += np.log(np.diagonal(centred.turn.cholesky.value)[used]).sum()
        return float(diagonal)
