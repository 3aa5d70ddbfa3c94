"""Ridge regression: a Gaussian prior of the coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import ParameterError
from suffice.families.options import check_nonnegative
from suffice.models.base.judge import LeaveOneOut
from suffice.models.base.options import Dependent, Incomplete, Unseen, WeightsAre, check_choices
from suffice.models.base.scikit_learn import accepts
from suffice.models.design.feature_columns import Ways
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.estimator import fitted
from suffice.models.linear.descent import DescentFit
from suffice.models.linear.model import errors_left_out
from suffice.models.linear.reader import LinearReader, Rows
from suffice.models.linear.regressor import LinearRegressor
from suffice.models.linear.ridge import RidgePath, RidgeSpectrum, checked_penalties
from suffice.models.linear.saved import SavedRidge
from suffice.models.linear.summary import RidgeSummary, target_place
from suffice.models.optimise.gradient_descent import STEPS, GradientDescent
from suffice.models.reading import summed

__all__ = ["Ridge"]

LEFT_OUT_CANDIDATES = 60  # penalties tried by leave-one-out unless given


NORMAL = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs", "normal")


@dataclass(repr=False, eq=False)
@accepts(copy_X=True, max_iter=None, tol=1e-4, random_state=None)
class Ridge(LinearRegressor):
    """Ridge regression: b and w that minimise Σ(y − b − xᵀw)² + α Σ w_j².

    This is the mode (and mean) of the posterior under y ~ N(b + xᵀw, σ²), w ~ N(0, τ²I) and a flat
    prior of b, with α = σ²/τ²: for a prior precision λ = 1/τ², α = λσ². The intercept is never
    penalised.

    Parameters
    ----------
    alpha : float, "gcv", "evidence" or "loo"
        α, 0 or more; or chosen: by generalised cross-validation or by the marginal likelihood
        ("evidence"), from the sums alone, or by exact leave-one-out errors of the complete rows, in
        a second pass over the rows of `fit`. `ridge_path` has both curves, for any candidates.
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
        Candidates; default: for "gcv" and "evidence" all between next to no and next to total
        shrinkage, for "loo" 60 of these in equal steps of log α.
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
    C. M. Bishop, Pattern Recognition and Machine Learning (2006), eqs. 3.28 and 3.55. "evidence":
    D. J. C. MacKay, Bayesian interpolation, Neural Computation 4 (1992), with σ² integrated out.

    Examples
    --------
    >>> model = Ridge(alpha=5.0).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.0, 5.0, 7.0])
    >>> model.coef_, model.refit(alpha=0.0).coef_
    (array([1.]), array([2.]))
    """

    _tuned_names = ("alpha_",)
    kind = replace(LinearRegressor.kind, saved=SavedRidge)

    alpha: float | Literal["gcv", "evidence", "loo"] = 1.0
    _: KW_ONLY
    fit_intercept: bool = True
    solver: str = "auto"
    positive: bool = False
    standardize: bool = False
    alphas: ArrayLike | None = None
    incomplete: Incomplete = "error"
    categorical: Sequence[str] | None = None
    text: Sequence[str] | None = None
    words: Ways = 256
    ordered: Mapping[str, Sequence[Any]] | None = None
    formula: str | None = None
    reference: Mapping[str, Any] | None = None
    unseen: Unseen = "error"
    dependent: Dependent = "minimum_norm"
    weights_are: WeightsAre = "copies"
    descent: GradientDescent | None = None

    def ridge_path(self, alphas: ArrayLike) -> RidgePath:
        """Return the coefficients for many penalties, from one decomposition; no row is read.

        Parameters
        ----------
        alphas : array-like (m,)
            Penalties, 0 or more.

        Raises
        ------
        ParameterError
            If a penalty is negative.
        """
        path = self._spectrum().path(checked_penalties(alphas))
        return path.target(0) if self.single_target_ else path

    def _summary(self, target: str | int | None, level: float) -> RidgeSummary:
        posterior, j = self.posterior(), target_place(self.design_.targets, target)
        known = self._inferable().estimable[:, None]
        lower, upper = (np.where(known, end, np.nan) for end in posterior.interval(level))
        return RidgeSummary(
            self.design_.targets[j],
            self.terms_,
            posterior.location[:, j],
            lower[:, j],
            upper[:, j],
            level,
            self._solved().equations.count,
            self.alpha_,
            self.alpha if isinstance(self.alpha, str) else None,
            self.effective_parameters_,
            self._left_out,
        )

    @property
    def solver_(self) -> str:
        """How the coefficients were found: "normal", or the steps of a descent."""
        return self.solver if isinstance(fitted(self).fit, DescentFit) else "normal"

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

    def _spectrum(self) -> RidgeSpectrum:
        equations = self._solved().equations
        return RidgeSpectrum.of(equations, self._unit(equations))

    def _unit(self, equations: NormalEquations) -> NDArray[np.float64]:
        return equations.variance if self.standardize else np.ones(equations.p)

    def _penalty(self, equations: NormalEquations) -> NDArray[np.float64]:
        return self.alpha_ * self._unit(equations)

    def _candidates(self) -> NDArray[np.float64] | None:
        return None if self.alphas is None else checked_penalties(self.alphas)

    def _check_options(self) -> None:
        super()._check_options()
        if np.ndim(self.alpha):
            raise ParameterError(
                f"alpha={self.alpha!r}",
                "alpha is one number for all targets",
                "fit them apart",
            )
        if isinstance(self.alpha, str):
            if self.alpha not in ("gcv", "evidence", "loo"):
                raise ParameterError(
                    f"alpha={self.alpha!r}",
                    "alpha is a number, 0 or more, or 'gcv', 'evidence' or 'loo'",
                )
            self._candidates()
            if self.solver in STEPS:
                raise ParameterError(
                    f"alpha={self.alpha!r} with solver={self.solver!r}",
                    "choosing alpha needs sums over the rows",
                    "give a number, or use solver='normal'",
                )
        else:
            check_nonnegative(alpha=self.alpha)
        check_choices(self, solver=(*NORMAL, *STEPS))

    @property
    def _is_of_sums(self) -> bool:
        return super()._is_of_sums and self.alpha != "loo"  # for which rows are read once more

    def _leave_one_out(self, source: Rows) -> LeaveOneOut | None:
        if isinstance(self.alpha, str) or (self.standardize and self.alpha > 0):
            raise ParameterError(
                f"leave-one-out with {self._of_rows()}",
                "there is no closed form: every row left out changes the penalty",
                "use cv=10",
            )
        return super()._leave_one_out(source)

    def _of_rows(self) -> str:
        """The option by which the penalty depends on the rows."""
        name = "alpha" if isinstance(self.alpha, str) else "standardize"
        return f"{name}={getattr(self, name)!r}"

    def _tune(
        self,
        equations: NormalEquations | None = None,
        reader: LinearReader | None = None,
        source: Rows | None = None,
    ) -> None:
        """Settle α."""
        if equations is None or not isinstance(self.alpha, str):
            self.alpha_ = float(self.alpha)
            return
        spectrum = RidgeSpectrum.of(equations, self._unit(equations))
        if self.alpha == "gcv":
            self.alpha_ = spectrum.best_by_gcv(self._candidates())
        elif self.alpha == "evidence":
            self.alpha_ = spectrum.best_by_evidence(self._candidates())
        elif reader is None or source is None:
            raise ParameterError(
                "alpha='loo' without the rows",
                "leave-one-out needs all rows at once",
                "use fit, or alpha='gcv'",
            )
        else:
            self.alpha_ = self._best_by_rows(spectrum, reader, source)

    def _best_by_rows(self, spectrum: RidgeSpectrum, reader: LinearReader, source: Rows) -> float:
        """The α whose errors of rows left out are least, in a second pass over the rows."""
        alphas = self._candidates()
        if alphas is None:
            alphas = spectrum.candidates(LEFT_OUT_CANDIDATES)
        layout = reader.layout_of(source)
        params = reader.design, layout, spectrum, alphas
        moments = summed(errors_left_out, params, source, layout)
        square = moments.scatter[0] + moments.total[0] * moments.mean[0] ** 2
        unit = np.where(spectrum.plain.tss > 0, spectrum.plain.tss, 1.0)
        return float(alphas[(square.reshape(len(alphas), -1) / unit).sum(axis=1).argmin()])
