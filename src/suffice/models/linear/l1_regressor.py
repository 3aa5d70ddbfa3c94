"""Linear models with a penalty of absolute values, which makes coefficients 0."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import ParameterError, warn
from suffice.families.options import check_nonnegative
from suffice.models.base.learnt import Learnt
from suffice.models.base.options import WeightsAre
from suffice.models.base.scikit_learn import convergence_warning
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.linear.l1_least_squares import L1LeastSquares
from suffice.models.linear.l1_summary import L1Summary
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.reader import LinearReader, Rows
from suffice.models.linear.regressor import LinearRegressor
from suffice.models.linear.ridge import by_target, checked_penalties
from suffice.models.linear.standardisation import Columns
from suffice.models.linear.summary import target_place
from suffice.numerics.in_print import steps
from suffice.phrases import Option, Phrase
from suffice.statistics.grouped_rows import GroupedRows

__all__ = ["L1Path", "L1Regressor"]

SELECTED = "a penalty of absolute values has chosen the columns by the same rows"


@dataclass(frozen=True, eq=False, repr=False)
class L1Path:
    """Coefficients for m penalties, the largest first.

    Parameters
    ----------
    alphas : ndarray (m,)
    coef : ndarray (m, d), or (m, t, d) for targets (n, t)
    intercept : ndarray (m,), or (m, t)
    rss : ndarray (m,), or (m, t)
        Residual sums of squares.
    converged : ndarray of bool (m,)
        Whether the conditions of a minimum hold.
    """

    alphas: NDArray[np.float64]
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    rss: NDArray[np.float64]
    converged: NDArray[np.bool_]

    def __repr__(self) -> str:
        chosen = np.count_nonzero(self.coef, axis=-1)
        table = by_target("alpha", self.alphas) | by_target("chosen", chosen)
        table |= by_target("RSS", self.rss)
        return "\n".join([f"{len(self.alphas)} penalties", *steps(table)])


class L1Regressor(LinearRegressor):
    """A linear model that minimises Σ(y − b − xᵀw)²/(2n) + αρ Σ|w_j| + ½α(1 − ρ) Σ w_j².

    n is the weight of the rows. A subclass says by `_ratio` what ρ is.

    Attributes
    ----------
    n_iter_ : int
        Sweeps of coordinate descent.
    sparse_coef_ : scipy.sparse.csr_matrix (1, d), or (t, d)
        The coefficients that are not 0.
    """

    solver, descent, dependent = "normal", None, "minimum_norm"
    weights_are: WeightsAre = "copies"  # nothing here depends on it
    alpha: float
    standardize: bool
    max_iter: int
    tol: float

    @property
    @abstractmethod
    def _ratio(self) -> float:
        """ρ, the part of the penalty that is of absolute values."""

    # -- learning

    def _minimum(self, equations: NormalEquations) -> LeastSquares:
        return self._at(float(self.alpha), equations)

    def _at(
        self, alpha: float, equations: NormalEquations, start: NDArray[np.float64] | None = None
    ) -> LeastSquares:
        """The minimum with a penalty; ``start`` are coefficients (p, t) to begin with."""
        scale = self._scale(equations)
        penalty = equations.rows * alpha * (1.0 - self._ratio) * scale**2
        cost = equations.rows * alpha * self._ratio * scale
        if not cost.any():
            return LeastSquares(equations, penalty, bool(self.positive))
        return L1LeastSquares(
            equations,
            penalty,
            bool(self.positive),
            cost=cost,
            tolerance=float(self.tol),
            max_sweeps=self.max_iter,
            start=start,
        )

    def _scale(self, columns: Columns) -> NDArray[np.float64]:
        """What the coefficients are counted in, (p,)."""
        return np.sqrt(columns.variance) if self.standardize else np.ones(columns.p)

    def _set(
        self,
        learnt: Learnt[LinearReader, GroupedRows],
        source: Rows | None = None,
        tuned: bool = False,
    ) -> Self:
        super()._set(learnt, source, tuned)
        fit = self.model_.fit
        if isinstance(fit, L1LeastSquares) and not fit.converged:
            warn(
                f"coordinate descent did not converge in {self.max_iter} sweeps; raise max_iter, "
                "or alpha.",
                convergence_warning(),
            )
        return self

    def _check_options(self) -> None:
        super()._check_options()
        if isinstance(self.alpha, str) or np.ndim(self.alpha):
            raise ParameterError(Option.of("alpha", self.alpha), "alpha is a number, 0 or more")
        check_nonnegative(alpha=self.alpha, tol=self.tol)
        whole = isinstance(self.max_iter, int | np.integer) and not isinstance(self.max_iter, bool)
        if not (whole and self.max_iter > 0):
            raise ParameterError(
                f"max_iter={self.max_iter!r}", "max_iter is a whole number above 0"
            )

    # -- what was learnt

    @property
    def n_iter_(self) -> int:
        """Sweeps of coordinate descent over the columns; 0 without a penalty of absolute values."""
        fit = self._solved()
        return fit.sweeps if isinstance(fit, L1LeastSquares) else 0

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients that are not 0, a compressed matrix (1, d) or (t, d)."""
        from scipy.sparse import csr_matrix

        return csr_matrix(np.atleast_2d(self.coef_))

    def path(
        self, alphas: ArrayLike | None = None, *, eps: float = 1e-3, n_alphas: int = 100
    ) -> L1Path:
        """Return the coefficients for many penalties; no row is read.

        Each begins where the larger one before it ended.

        Parameters
        ----------
        alphas : array-like (m,), optional
            Penalties, 0 or more; default: from the least for which every coefficient is 0 down to
            ``eps`` times that.
        eps : float
            Above 0 and below 1.
        n_alphas : int
            How many, in equal steps of log α.

        Raises
        ------
        ParameterError
            If a penalty is negative, or none is given and every part of it is of squares.

        Examples
        --------
        >>> from suffice.linear_model import Lasso
        >>> model = Lasso(0.5).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]], [1.0, 3.0, 5.0])
        >>> path = model.path([1.0, 0.5, 0.1])
        >>> path.coef.round(3)
        array([[0.5 , 0.  ],
               [1.25, 0.  ],
               [1.85, 0.  ]])
        >>> (path.coef[1] == model.coef_).all()
        np.True_
        """
        equations = self._solved().equations
        if alphas is None:
            values = self._default_alphas(equations, eps, n_alphas)
        else:
            values = np.sort(checked_penalties(alphas))[::-1]
        fits = list(self._path(values.tolist(), equations))
        one = 0 if self.single_target_ else slice(None)
        return L1Path(
            values,
            np.stack([fit.coefficients.T[one] for fit in fits]),
            np.stack([fit.intercept[one] for fit in fits]),
            np.stack([fit.rss[one] for fit in fits]),
            np.array([not isinstance(fit, L1LeastSquares) or fit.converged for fit in fits]),
        )

    def _path(self, alphas: list[float], equations: NormalEquations) -> Iterator[LeastSquares]:
        start = None
        for alpha in alphas:
            fit = self._at(alpha, equations, start)
            if isinstance(fit, L1LeastSquares):
                start = np.column_stack([found.x for found in fit.minima])
            yield fit

    def _default_alphas(
        self, equations: NormalEquations, eps: float, n_alphas: int
    ) -> NDArray[np.float64]:
        if not 0.0 < eps < 1.0:
            raise ParameterError(f"eps={eps!r}", "eps is a number above 0 and below 1")
        if n_alphas < 1:
            raise ParameterError(f"n_alphas={n_alphas!r}", "n_alphas is a whole number above 0")
        cost = self._at(1.0, equations)
        if not isinstance(cost, L1LeastSquares):
            raise ParameterError(
                Phrase(Option.of("l1_ratio", self._ratio), " without alphas"),
                "a penalty of squares makes no coefficient 0, so no alpha is the largest",
                "give alphas",
            )
        used = cost.cost > 0
        largest = np.abs(equations.xy.value[used]).max(axis=1) / cost.cost[used]
        top = float(largest.max(initial=0.0)) or 1.0
        return np.asarray(top * np.geomspace(1.0, eps, n_alphas))

    def _summary(self, target: str | int | None, level: float) -> L1Summary:
        fit, j = self._solved(), target_place(self.design_.targets, target)
        first = [fit.intercept[j]] if fit.has_intercept else []
        return L1Summary(
            self.design_.targets[j],
            self.terms_,
            np.append(first, fit.coefficients[:, j]),
            fit.equations.count,
            float(self.alpha),
            self._ratio,
            int(np.count_nonzero(fit.coefficients[:, j])),
            len(fit.coefficients),
            self._left_out,
        )

    def _inferable(self) -> LeastSquares:
        if isinstance(self._solved(), L1LeastSquares):
            raise ParameterError(
                Option.of("alpha", self.alpha),
                f"{SELECTED}, so standard errors, intervals and tests would be wrong",
                "choose columns first, and fit LinearRegression to other rows",
            )
        return super()._inferable()
