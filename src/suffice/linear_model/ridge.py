"""Ridge regression: a Gaussian prior of the coefficients."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import ParameterError
from suffice.models.base.options import Dependent, WeightsAre
from suffice.models.base.scikit_learn import accepts
from suffice.models.estimator import fitted
from suffice.models.linear.method import LinearMethod, Penalty, method_of
from suffice.models.linear.regressor import LinearRegressor
from suffice.models.linear.ridge import checked_penalties
from suffice.models.linear.summary import RidgeSummary, target_place
from suffice.models.optimise.gradient_descent import STEPS, GradientDescent, Steps
from suffice.rules import NONNEGATIVE

Solver = Literal["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs", "normal"]


@dataclass(repr=False, eq=False)
@accepts(copy_X=True, max_iter=None, tol=1e-4, random_state=None)
class Ridge(LinearRegressor):
    """Ridge regression: b and w that minimise Σ(y − b − xᵀw)² + α Σ w_j².

    This is the mode (and mean) of the posterior under y ~ N(b + xᵀw, σ²), w ~ N(0, τ²I) and a flat
    prior of b, with α = σ²/τ²: for a prior precision λ = 1/τ², α = λσ². The intercept is never
    penalised.

    Parameters
    ----------
    alpha : float or "gcv"
        α, 0 or more; or chosen by generalised cross-validation, from the sums alone.
    fit_intercept : bool
        As in `LinearRegression`.
    copy_X, max_iter, tol, random_state
        Accepted, without effect: nothing iterates but gradient descent, which ``descent`` rules.
    solver : str
        "gradient", "sgd" or "minibatch", as in `LinearRegression`; the other names, "normal" and
        those of scikit-learn, all stand for the normal equations.
    positive : bool
        Allow only w ≥ 0 (Lawson and Hanson's algorithm).
    standardize : bool
        Penalise coefficients of columns in units of their standard deviations (divisor n),
        α Σ s_j² w_j²: the unit of a column then changes nothing. ``coef_`` stays in given units.
    alphas : array-like, optional
        Candidates of "gcv"; default: all between next to no and next to total shrinkage.
    incomplete, categorical, text, words, ordered, formula, reference, unseen
        As in `LinearRegression`.
    dependent, weights_are, descent
        As in `LinearRegression`; α is on the scale of the weights.

    Attributes
    ----------
    alpha_ : float
        α, given or chosen.
    coef_ : ndarray (d,), or (t, d) for targets (n, t)
    intercept_ : float, or ndarray (t,)
    effective_parameters_ : float
        Trace of the matrix that maps y to its fit, the intercept included.
    solver_ : str
        "normal", "gradient", "sgd" or "minibatch".
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Notes
    -----
    Estimates that a penalty draws to 0 have no honest standard errors; `summary`, `posterior` and
    `predict_interval` say what is known instead.

    Source: A. E. Hoerl and R. W. Kennard, Ridge regression, Technometrics 12 (1970), eq. 2.1;
    C. M. Bishop, Pattern Recognition and Machine Learning (2006), eqs. 3.28 and 3.55; "gcv":
    G. H. Golub, M. Heath and G. Wahba, Generalized cross-validation as a method for choosing a good
    ridge parameter, Technometrics 21 (1979).

    Examples
    --------
    >>> model = Ridge(alpha=5.0).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0])
    >>> model.coef_, Ridge(alpha=0.0).fit(model.sums_).coef_
    (array([1.]), array([2.]))
    """

    alpha: Annotated[float | Literal["gcv"], NONNEGATIVE] = 1.0
    _: KW_ONLY
    solver: Solver | Steps = "auto"
    standardize: bool = False
    alphas: ArrayLike | None = None
    dependent: Dependent = "minimum_norm"
    weights_are: WeightsAre = "copies"
    descent: GradientDescent | None = None

    @property
    def alpha_(self) -> float:
        """α, given or chosen."""
        alpha: float = fitted(self).alpha
        return alpha

    def _summary(self, target: str | int | None, level: float) -> RidgeSummary:
        posterior, j = self.posterior(), target_place(self.design_.targets, target)
        known = self._inferable().estimable[:, None]
        lower, upper = (np.where(known, end, np.nan) for end in posterior.interval(level))
        return RidgeSummary(
            target=self.design_.left[j],
            terms=self.terms_,
            estimate=posterior.location[:, j],
            rows=self._solved().equations.count,
            left_out=self._left_out,
            lower=lower[:, j],
            upper=upper[:, j],
            level=level,
            penalty=self.alpha_,
            chosen_by=self.alpha if isinstance(self.alpha, str) else None,
            effective_parameters=self.effective_parameters_,
        )

    @property
    def solver_(self) -> str:
        """The solver of the coefficients: "normal", or the steps of a descent."""
        return self.solver if len(self._losses) else "normal"

    @property
    def effective_parameters_(self) -> float:
        """Trace of the matrix that maps y to its fit, the intercept included."""
        fit = self._solved()
        if fit.positive or self._fills_cells:
            raise ParameterError(
                "positive=True" if fit.positive else "rows have missing cells",
                "the fit is no linear function of y, so no matrix has such a trace",
            )
        return fit.effective_parameters

    def method(self) -> LinearMethod:
        if self.alpha == "gcv" and self.solver in STEPS:
            raise ParameterError(
                f"alpha={self.alpha!r} with solver={self.solver!r}",
                "choosing alpha needs sums over the rows",
                "give a number, or use solver='normal'",
            )
        candidates = None if self.alphas is None else checked_penalties(self.alphas)
        found = method_of(self, Penalty(self.alpha, bool(self.standardize)))
        return replace(found, candidates=candidates)
