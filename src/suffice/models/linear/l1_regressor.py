"""Linear models with a penalty of absolute values, which makes coefficients 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import ParameterError
from suffice.models.design.matrix import INTERCEPT
from suffice.models.linear.l1 import L1
from suffice.models.linear.method import LinearMethod, Penalty
from suffice.models.linear.regressor import LinearRegressor
from suffice.models.linear.ridge import checked_penalties
from suffice.models.linear.rows import Equations, Fit
from suffice.models.linear.summary import TermSummary, target_place
from suffice.numerics.in_print import Printed, Table, steps
from suffice.rules import check_options


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class L1Summary(TermSummary):
    """Estimates under a penalty of absolute values, of one target.

    The penalty chose the columns by the same rows, and drew what it left towards 0: standard
    errors, intervals and tests of a model with these columns would claim too much.

    Parameters
    ----------
    target : str
        Name of y.
    terms : tuple of str
        Names of the q coefficients; the intercept comes first.
    estimate : ndarray (q,)
    rows : float
        Number of rows.
    penalty, l1_ratio : float
        α, and ρ, the part of it that is of absolute values.
    left_out : float
        Weight of the rows left out for missing cells; rows without any value are not counted.
    units : tuple of str
        What the numbers of columns of times are in.

    Source: R. Lockhart, J. Taylor, R. Tibshirani and R. Tibshirani, A significance test for the
    lasso (2014), section 1.

    Examples
    --------
    >>> from suffice.linear_model import Lasso
    >>> x, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 1.0]], [1.0, 3.0, 5.0, 7.0]
    >>> print(Lasso(0.5).fit(x, y).summary())
                 Estimate
    (Intercept)       1.6
    x0                1.6
    x1                  0
    <BLANKLINE>
    Penalty: 0.5, of absolute values: 1; columns chosen: 1 of 2; rows: 4
    Standard errors are not given: the penalty chose these columns by the same rows.
    """

    penalty: float
    l1_ratio: float

    def _notes(self) -> list[str]:
        slopes = self.estimate[int(INTERCEPT in self.terms) :]
        return [
            f"Penalty: {self.penalty:.4g}, of absolute values: {self.l1_ratio:.3g}; "
            f"columns chosen: {np.count_nonzero(slopes)} of {len(slopes)}; rows: {self.rows:g}",
            "Standard errors are not given: the penalty chose these columns by the same rows.",
            *super()._notes(),
        ]


SELECTED = "a penalty of absolute values has chosen the columns by the same rows"


def _by_target(name: str, values: NDArray[Any]) -> dict[str, list[float]]:
    """The columns of a table in print: one, or of values (m, t) one for every target."""
    if values.ndim == 1:
        return {name: values.tolist()}
    return {f"{name} {j}": column for j, column in enumerate(values.T.tolist())}


@dataclass(frozen=True, eq=False, repr=False)
class L1Path(Printed):
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

    def table(self) -> Table:
        """Return the penalties and their errors as a table, some of many."""
        chosen = np.count_nonzero(self.coef, axis=-1)
        table = _by_target("alpha", self.alphas) | _by_target("chosen", chosen)
        table |= _by_target("RSS", self.rss)
        return steps(f"{len(self.alphas)} penalties", table)


class L1Regressor(LinearRegressor):
    """A linear model that minimises Σ(y − b − xᵀw)²/(2n) + αρ Σ|w_j| + ½α(1 − ρ) Σ w_j².

    n is the weight of the rows. ρ is 1 of a lasso.

    Attributes
    ----------
    n_iter_ : int
        Sweeps of coordinate descent.
    sparse_coef_ : scipy.sparse.csr_matrix (1, d), or (t, d)
        The coefficients that are not 0.
    """

    alpha: float
    l1_ratio: float
    standardize: bool
    max_iter: int
    tol: float

    def method(self) -> LinearMethod:
        check_options(self)
        whole = isinstance(self.max_iter, int | np.integer) and not isinstance(self.max_iter, bool)
        if not (whole and self.max_iter > 0):
            raise ParameterError(
                f"max_iter={self.max_iter!r}", "max_iter is a whole number above 0"
            )
        return LinearMethod(
            penalty=self._penalty,
            intercept=bool(self.fit_intercept),
            positive=bool(self.positive),
            incomplete=self.incomplete,
        )

    @property
    def _penalty(self) -> Penalty:
        options = float(self.alpha), bool(self.standardize), float(self.l1_ratio)
        return Penalty(*options, True, float(self.tol), self.max_iter)

    # -- what was learnt

    @property
    def n_iter_(self) -> int:
        """Sweeps of coordinate descent over the columns; 0 without a penalty of absolute values."""
        fit = self._solved()
        return fit.sweeps if isinstance(fit, L1) else 0

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
            np.array([fit.converged for fit in fits]),
        )

    def _path(self, alphas: list[float], equations: Equations) -> Iterator[Fit]:
        start = None
        for alpha in alphas:
            fit = self._penalty.minimum(equations, alpha, bool(self.positive), start)
            start = fit.coefficients
            yield fit

    def _default_alphas(
        self, equations: Equations, eps: float, n_alphas: int
    ) -> NDArray[np.float64]:
        if not 0.0 < eps < 1.0:
            raise ParameterError(f"eps={eps!r}", "eps is a number above 0 and below 1")
        if n_alphas < 1:
            raise ParameterError(f"n_alphas={n_alphas!r}", "n_alphas is a whole number above 0")
        cost = self._penalty.costs(equations, 1.0)
        if not cost.any():
            raise ParameterError(
                f"l1_ratio={float(self.l1_ratio)!r} without alphas",
                "a penalty of squares makes no coefficient 0, so no alpha is the largest",
                "give alphas",
            )
        used = cost > 0
        largest = np.abs(equations.xy.value[used]).max(axis=1) / cost[used]
        top = float(largest.max(initial=0.0)) or 1.0
        return np.asarray(top * np.geomspace(1.0, eps, n_alphas))

    def _summary(self, target: str | int | None, level: float) -> L1Summary:
        fit, j = self._solved(), target_place(self.design_.targets, target)
        first = [fit.intercept[j]] if fit.has_intercept else []
        return L1Summary(
            target=self.design_.left[j],
            terms=self.terms_,
            estimate=np.append(first, fit.coefficients[:, j]),
            rows=fit.equations.count,
            left_out=self._left_out,
            penalty=float(self.alpha),
            l1_ratio=float(self.l1_ratio),
        )

    def _inferable(self) -> Fit:
        if isinstance(fit := self._solved(), L1) and fit.cost.any():
            raise ParameterError(
                f"alpha={self.alpha!r}",
                f"{SELECTED}, so standard errors, intervals and tests would be wrong",
                "choose columns first, and fit LinearRegression to other rows",
            )
        return super()._inferable()
