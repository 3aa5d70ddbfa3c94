"""Ridge regression for every α at once, and the choice of α."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import ParameterError
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.rows import CentredRows, Equations, Fit, RowLeastSquares
from suffice.numerics.elementary import exp, log
from suffice.numerics.in_print import Printed, Table, steps
from suffice.numerics.interruption import interruptible
from suffice.numerics.linalg import product

CANDIDATES = 200
LEFT_OUT_CANDIDATES = 60  # penalties tried by leave-one-out unless given
BEYOND = 1e3  # how far α may lie outside the squares of the singular values
# Of 1 − h: what rounding may leave of a row that determines a coefficient alone.
LEAST_REST = 2.0**-40


def by_target(name: str, values: NDArray[Any]) -> dict[str, list[float]]:
    """The columns of a table in print: one, or of values (m, t) one for every target."""
    if values.ndim == 1:
        return {name: values.tolist()}
    return {f"{name} {j}": column for j, column in enumerate(values.T.tolist())}


@dataclass(frozen=True, eq=False, repr=False)
class RidgePath(Printed):
    """Ridge regression for m penalties.

    Parameters
    ----------
    alphas : ndarray (m,)
    coef : ndarray (m, d), or (m, t, d) for targets (n, t)
    intercept : ndarray (m,), or (m, t)
    effective_parameters : ndarray (m,)
        Trace of the matrix that maps y to its fit, the intercept included.
    rss, gcv : ndarray (m,), or (m, t)
        Residual sums of squares, and generalised cross-validation.
    evidence : ndarray (m,), or (m, t)
        Log marginal likelihood, up to a constant; see `RidgeSpectrum`.
    """

    alphas: NDArray[np.float64]
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    effective_parameters: NDArray[np.float64]
    rss: NDArray[np.float64]
    gcv: NDArray[np.float64]
    evidence: NDArray[np.float64]

    def table(self) -> Table:
        """Return the penalties and their errors as a table, some of many."""
        table = by_target("alpha", self.alphas)
        table |= by_target("parameters", self.effective_parameters)
        for name, values in (("RSS", self.rss), ("GCV", self.gcv), ("evidence", self.evidence)):
            table |= by_target(name, values)
        return steps(f"{len(self.alphas)} penalties", table)

    def target(self, j: int) -> RidgePath:
        """The path of target j alone."""
        parts = (part[:, j] for part in (self.rss, self.gcv, self.evidence))
        return RidgePath(
            self.alphas,
            self.coef[:, j],
            self.intercept[:, j],
            self.effective_parameters,
            *parts,
        )


@dataclass(frozen=True, eq=False)
class RidgeSpectrum:
    """One singular value decomposition that answers for all penalties αuⱼ.

    With X U^-½ = P S Qᵀ, X about its means, and g = PᵀY:

    ::

        w(α) = U^-½ Q diag(s/(s² + α)) g          tr H(α) = Σ s²/(s² + α) + 1
        RSS(α) = RSS(0) + Σ (α/(s² + α))² g²      GCV(α) = n RSS(α)/(n − tr H(α))²

    where the 1 is the intercept. Nothing cancels in RSS: RSS(0) comes from double-double.

    The evidence is log p(y | α) for w ~ N(0, σ²/α U⁻¹), a flat prior of the intercept and
    p(σ²) ∝ 1/σ², without what does not depend on α; ν = n − 1, or n where there is no intercept:

    ::

        L(α) = ½ Σ log(α/(s² + α)) − ½ ν log R(α)      R(α) = RSS(0) + Σ α/(s² + α) g²

    Source: G. H. Golub, M. Heath and G. Wahba, Generalized cross-validation as a method for
    choosing a good ridge parameter, Technometrics 21 (1979), section 1; D. J. C. MacKay, Bayesian
    interpolation, Neural Computation 4 (1992), section 4, with σ² integrated out.
    """

    plain: Fit  # the fit without a penalty
    scale: NDArray[np.float64]  # u, positive or 0: the penalty of every column at α = 1, (p,)
    singular: NDArray[np.float64]  # s, decreasing, (p,)
    axes: NDArray[np.float64]  # U^-½ Q, (p, p)
    strength: NDArray[np.float64]  # g, (p, t)

    @classmethod
    def of(cls, equations: Equations, scale: NDArray[np.float64]) -> Self:
        """Decompose the rows, or the Cholesky factor of XᵀX, whose singular values are theirs."""
        if isinstance(equations, CentredRows):
            fit = RowLeastSquares(equations, scale)
            left, singular, right = fit.svd
            axes, strength = fit.inverse_unit[:, None] * right, left.T @ equations.y
            none = RowLeastSquares(equations, np.zeros(equations.p))
            return cls(none, scale, singular, axes, strength)
        plain = LeastSquares(equations, np.zeros(equations.p))
        root = np.where(scale > 0.0, 1.0 / np.sqrt(np.where(scale > 0.0, scale, 1.0)), 0.0)
        cholesky = plain.factor.cholesky.value * root[:, None]
        left, singular, right = interruptible(np.linalg.svd, cholesky)
        strength = right @ product(plain.factor.whitening, equations.xy).value
        return cls(plain, scale, singular, root[:, None] * left, strength)

    @property
    def rows(self) -> float:
        """Return the weight of the rows, or their number, of which errors are estimated."""
        return self.plain.equations.observations

    def coefficients(self, alpha: float) -> NDArray[np.float64]:
        """w(α), (p, t)."""
        return np.asarray(self.axes @ (self._shares(alpha)[:, None] * self.strength))

    def intercept(self, alpha: float) -> NDArray[np.float64]:
        """b(α), (t,)."""
        equations = self.plain.equations
        return equations.y_mean.value - equations.x_mean.value @ self.coefficients(alpha)

    def rss(self, alpha: float) -> NDArray[np.float64]:
        """RSS(α), (t,)."""
        return np.asarray(self.plain.rss + self._kept(alpha) ** 2 @ self.strength**2)

    def effective_parameters(self, alpha: float) -> float:
        """Return tr H(α)."""
        shares = self._shares(alpha) * self.singular
        return float(shares.sum()) + self.plain.equations.intercept

    def gcv(self, alpha: float) -> NDArray[np.float64]:
        """GCV(α), (t,): about n times the mean squared error of rows left out; ∞ for n = tr H."""
        left = self.rows - self.effective_parameters(alpha)
        if left <= 1e-9 * self.rows:
            return np.full(len(self.plain.rss), np.inf)
        return np.asarray(self.rows * self.rss(alpha) / left**2)

    def evidence(self, alpha: float) -> NDArray[np.float64]:
        """L(α), (t,): the log marginal likelihood; ∞ where R(α) is 0, −∞ for α = 0 elsewhere."""
        kept = self._kept(alpha)
        square = self.plain.rss + kept @ self.strength**2
        with np.errstate(divide="ignore"):
            prior, fit = log(kept).sum(), log(square)
        return np.where(square > 0.0, (prior - self._freedom * fit) / 2.0, np.inf)

    def path(self, alphas: NDArray[np.float64]) -> RidgePath:
        """All of these for many penalties."""
        every = alphas.tolist()
        return RidgePath(
            alphas,
            np.stack([self.coefficients(alpha).T for alpha in every]),
            np.stack([self.intercept(alpha) for alpha in every]),
            np.array([self.effective_parameters(alpha) for alpha in every]),
            np.stack([self.rss(alpha) for alpha in every]),
            np.stack([self.gcv(alpha) for alpha in every]),
            np.stack([self.evidence(alpha) for alpha in every]),
        )

    def candidates(self, number: int) -> NDArray[np.float64]:
        """Penalties from next to none to next to everything, in equal steps of log α."""
        used = self.singular[self.singular > 1e-12 * self.singular.max(initial=0.0)]
        if not len(used):
            return np.ones(1)
        return np.geomspace(used.min() ** 2 / BEYOND, used.max() ** 2 * BEYOND, number)

    def best_by_gcv(self, alphas: NDArray[np.float64] | None) -> float:
        """The α of least GCV: of those given, or of all between the ends of `candidates`.

        Of several targets the errors are added, each in units of its own variance.
        """
        scale = np.where(self.plain.tss > 0.0, self.plain.tss, 1.0)

        def error(alpha: float) -> float:
            return float((self.gcv(alpha) / scale).sum())

        best, ends = self._best(error, alphas)
        if ends is None:
            return best
        from scipy.optimize import minimize_scalar

        found = minimize_scalar(
            lambda log_alpha: error(float(exp(log_alpha))), bounds=ends, method="bounded"
        )
        return float(exp(found.x)) if found.fun < error(best) else best

    def best_by_evidence(self, alphas: NDArray[np.float64] | None) -> float:
        """The α of most evidence: of those given, or of all between the ends of `candidates`.

        Log evidence of several targets is added; a target that never changes says nothing.
        """
        varies = self.plain.tss > 0.0
        best, ends = self._best(lambda alpha: -float(self.evidence(alpha)[varies].sum()), alphas)
        if ends is None or self._slope(ends[0]) <= 0.0 or self._slope(ends[1]) >= 0.0:
            return best
        from scipy.optimize import brentq

        return float(exp(brentq(self._slope, *ends, xtol=1e-14)))

    def _best(
        self, loss: Callable[[float], float], alphas: NDArray[np.float64] | None
    ) -> tuple[float, tuple[float, float] | None]:
        """The α of least loss, and the ends between which log α may be improved, if it may."""
        grid = self.candidates(CANDIDATES) if alphas is None else alphas
        best = int(np.argmin([loss(alpha) for alpha in grid.tolist()]))
        if alphas is not None or best in (0, len(grid) - 1):
            return float(grid[best]), None
        return float(grid[best]), (float(log(grid[best - 1])), float(log(grid[best + 1])))

    def left_out(
        self, x: NDArray[np.float64], y: NDArray[np.float64], alphas: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the error of every row (n, p), (n, t) left out of the fit, (n, m, t).

        ::

            (y − ŷ)/(1 − h)      h = 1/n + Σ_k z_k²/(s_k² + α),  z = Qᵀ U^-½ (x − x̄)

        A row of weight 2 stands for two rows, of which one is left out.

        Source: D. M. Allen, The relationship between variable selection and data augmentation and
        a method for prediction, Technometrics 16 (1974); Golub, Heath and Wahba (1979), section 1.
        """
        equations = self.plain.equations
        z = (x - self.plain.origin) @ self.axes
        offset = y - equations.y_mean.value
        inverse = 1.0 / (self.singular[:, None] ** 2 + alphas)
        constant = 1.0 / equations.rows if equations.intercept else 0.0
        rest = np.maximum(1.0 - constant - z**2 @ inverse, LEAST_REST)
        weights = self.singular[:, None, None] * inverse[:, :, None] * self.strength[:, None, :]
        fit = np.tensordot(z, weights, axes=1)
        return np.asarray((offset[:, None, :] - fit) / rest[:, :, None])

    @property
    def _freedom(self) -> float:
        """ν: the weight of the rows, less one for an intercept."""
        return self.rows - self.plain.equations.intercept

    def _slope(self, log_alpha: float) -> float:
        """dL/d log α, added over the targets that vary."""
        kept, varies = self._kept(float(exp(log_alpha))), self.plain.tss > 0.0
        square = self.strength[:, varies] ** 2
        change = (kept * (1.0 - kept)) @ square / (self.plain.rss[varies] + kept @ square)
        return float(varies.sum() * (1.0 - kept).sum() - self._freedom * change.sum()) / 2.0

    def _kept(self, alpha: float) -> NDArray[np.float64]:
        """α/(s² + α); 1 where both are 0, up to rounding: no y reaches such a direction."""
        s = self.singular
        least = np.finfo(float).eps * len(s) * s.max(initial=0.0)
        return np.divide(alpha, s * s + alpha, out=np.ones_like(s), where=s > least)

    def _shares(self, alpha: float) -> NDArray[np.float64]:
        """s/(s² + α); 0 where s is, up to rounding."""
        s = self.singular
        least = np.finfo(float).eps * len(s) * s.max(initial=0.0)
        return np.divide(s, s * s + alpha, out=np.zeros_like(s), where=s > least)


@dataclass(frozen=True)
class RidgePenalty:
    """α Σ uⱼ wⱼ², with u = 1, or the variances of the columns."""

    alpha: float | Literal["gcv", "evidence", "loo"] = 0.0  # α, or what it is chosen by
    alphas: ArrayLike | None = None  # candidates
    standardize: bool = False  # whether u are the variances

    @property
    def follows_from_sums(self) -> bool:
        return self.alpha != "loo"

    @property
    def of_rows(self) -> str:
        if isinstance(self.alpha, str):
            return f"alpha={self.alpha!r}"
        return f"standardize={self.standardize!r}" if self.standardize and self.alpha > 0 else ""

    def unit(self, equations: Equations) -> NDArray[np.float64]:
        """Return u, (p,)."""
        return equations.variance if self.standardize else np.ones(equations.p)

    def spectrum(self, equations: Equations) -> RidgeSpectrum:
        """Return what answers for every α."""
        return RidgeSpectrum.of(equations, self.unit(equations))

    def chosen(
        self,
        equations: Equations | None,
        errors: Callable[[RidgeSpectrum, NDArray[np.float64]], NDArray[np.float64]] | None,
    ) -> float:
        """Return α; see `suffice.models.linear.method.Penalty`."""
        if equations is None or not isinstance(self.alpha, str):
            return float(self.alpha)
        candidates = None if self.alphas is None else checked_penalties(self.alphas)
        spectrum = self.spectrum(equations)
        if self.alpha == "gcv":
            return spectrum.best_by_gcv(candidates)
        if self.alpha == "evidence":
            return spectrum.best_by_evidence(candidates)
        if errors is None:
            raise ParameterError(
                "alpha='loo' without the rows",
                "leave-one-out needs all rows at once",
                "use fit, or alpha='gcv'",
            )
        if candidates is None:
            candidates = spectrum.candidates(LEFT_OUT_CANDIDATES)
        unit = np.where(spectrum.plain.tss > 0, spectrum.plain.tss, 1.0)
        total = (errors(spectrum, candidates) / unit).sum(axis=1)
        return float(candidates[total.argmin()])

    def squares(self, equations: Equations, alpha: float) -> NDArray[np.float64]:
        """Return αu, (p,)."""
        return alpha * self.unit(equations)

    def fit(self, equations: Equations, alpha: float, positive: bool) -> Fit:
        squares = self.squares(equations, alpha)
        if isinstance(equations, NormalEquations):
            return LeastSquares(equations, squares, positive)
        if positive:
            from suffice.models.linear.l1 import RowL1  # which takes SciPy

            return RowL1(equations, squares, cost=np.zeros(equations.p), positive=True)
        return of_rows(equations, squares)


def of_rows(equations: CentredRows, squares: NDArray[np.float64]) -> RowLeastSquares:
    """Return the minimum of the rows, and of penalties λ (p,) of squares."""
    if equations.levels.stop > equations.levels.start:
        from suffice.models.linear.level_rows import LevelLeastSquares  # which takes SciPy

        return LevelLeastSquares(equations, squares)
    return RowLeastSquares(equations, squares)


def checked_penalties(alphas: ArrayLike) -> NDArray[np.float64]:
    """Penalties as an array (m,)."""
    try:
        values = np.atleast_1d(np.asarray(alphas, np.float64))
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or not len(values) or not (np.isfinite(values) & (values >= 0)).all():
        raise ParameterError(f"alphas={alphas!r}", "penalties are finite numbers, 0 or more")
    return values
