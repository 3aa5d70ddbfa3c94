"""Summaries of linear models: what R and statsmodels print, as numbers and as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.base.options import check_level
from suffice.models.design.remarks import header, percents, row, rows_left_out
from suffice.models.linear.posterior import Posterior
from suffice.models.linear.rows import Fit
from suffice.numerics.elementary import log
from suffice.numerics.in_print import Printed, Table, criterion, explained, listed, probability

if TYPE_CHECKING:
    from pandas import DataFrame

PERFECT = (
    "An essentially perfect fit: the columns give the target exactly, but for rounding. Is it "
    "among them, under another name? Tests are not shown, and errors are those of rounding."
)


def target_place(targets: Sequence[str], target: str | int | None) -> int:
    """Find a target by name or position; one alone needs no name."""
    if target is None and len(targets) == 1:
        return 0
    if isinstance(target, str) and target in targets:
        return targets.index(target)
    number = isinstance(target, Integral) and not isinstance(target, bool)
    if not (number and 0 <= int(cast(int, target)) < len(targets)):
        raise ParameterError(
            f"target={target!r}", f"a summary is of one target: {', '.join(map(repr, targets))}"
        )
    return int(cast(int, target))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TermSummary(Printed):
    """Estimates of the coefficients of one target; what is known of them is added by a kind."""

    target: str
    terms: tuple[str, ...]
    estimate: NDArray[np.float64]
    rows: float
    left_out: float = 0.0
    units: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[str, NDArray[np.float64]]:
        """Estimates, and all that comes with them, by name; (q,) each."""
        return {"estimate": self.estimate}

    def frame(self) -> DataFrame:
        """One row per coefficient as a pandas DataFrame."""
        from pandas import DataFrame

        return DataFrame(self.columns, index=list(self.terms))

    def table(self) -> Table:
        """Return the coefficients as a table."""
        rows = [
            [term, *("" if np.isnan(value) else f"{value:.4g}" for value in values)]
            for term, *values in zip(self.terms, *self.columns.values(), strict=True)
        ]
        return Table("", self._titles(), rows, self._notes(), bars=self.estimate.tolist())

    def _titles(self) -> list[str]:
        return ["", "Estimate"]

    def _notes(self) -> list[str]:
        return [*rows_left_out(self.left_out), *self.units]


def _ends(
    level: float, lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Ends of intervals, by the quantiles that they are."""
    return {f"{(1 - level) / 2:g}": lower, f"{(1 + level) / 2:g}": upper}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Summary(TermSummary):
    """Estimates, their errors and tests, and the fit, of one target (conventions of statsmodels).

    With n the weight of the rows, or their number where weights are precisions, r the rank of X,
    p = r + 1 parameters (r without an intercept) and TSS the sum of squares about the mean (about 0
    without an intercept):

    ::

        σ̂² = RSS/(n − p)    se = σ̂ √V    t = estimate/se    1 − R² = RSS/TSS
        1 − adjusted R² = (RSS/TSS)(n − p + r)/(n − p)
        F = ((TSS − RSS)/r)/σ̂²,  with r and n − p degrees of freedom
        log L = −n/2 (log(2π RSS/n) + 1)    AIC = 2p − 2 log L    BIC = p log n − 2 log L

    Where weights are precisions, log L has ½ Σ log w more, as R and statsmodels have it. A
    coefficient that the rows do not determine has no error, interval and test (NaN), and there are
    no tests where the fit is perfect but for rounding. R counts σ² as one parameter more in AIC
    and BIC. Quantiles of the residuals, which R prints
    too, are not known: they need the rows.

    Parameters
    ----------
    target : str
        Name of y.
    terms : tuple of str
        Names of the q coefficients; the intercept comes first.
    estimate, standard_error, t, p : ndarray (q,)
        Coefficients, and the test that each is 0.
    lower, upper : ndarray (q,)
        Ends of their intervals.
    level : float
        Confidence of the intervals.
    rows, dof : float
        Number of rows, and n − p.
    sigma : float
        σ̂.
    unexplained, adjusted_unexplained : float
        1 − R² and 1 − adjusted R², from the residuals: where R² is nearly 1, these keep the digits
        that it has not.
    f, f_p : float
        F and its p; 0 and 1 where there is no column to test, NaN where the fit is perfect.
    rank : int
        r, the degrees of freedom of F with n − p.
    log_likelihood, aic, bic : float
        At the estimates; infinite where the fit is perfect.
    left_out : float
        Weight of the rows left out for missing cells; rows without any value are not counted.
    units : tuple of str
        What the numbers of columns of times are in.
    errors : str
        "classical", or the kind of robust errors: HC0 to HC3 (`LinearRegression.robust_summary`).
    intercept : bool
        Whether there is one; else R² is uncentred.
    perfect : bool
        Whether the columns give the target exactly, but for rounding.
    observations : float
        n.

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[1.0], [2.0], [3.0], [4.0]], [1.1, 1.9, 3.2, 3.9])
    >>> print(model.summary())
                 Estimate  Std. Error  t value  Pr(>|t|)    2.5 %   97.5 %
    (Intercept)    0.1000      0.2174     0.46     0.691  -0.8353   1.0353
    x0            0.97000     0.07937    12.22   0.00663  0.62849  1.31151
    <BLANKLINE>
    Residual standard error: 0.1775 on 2 degrees of freedom
    R²: 0.9868, adjusted R²: 0.9802
    F-statistic: 149.3 on 1 and 2 degrees of freedom, p-value: 0.00663
    Log-likelihood: 2.626, AIC: -1.252, BIC: -2.48, rows: 4
    """

    standard_error: NDArray[np.float64]
    t: NDArray[np.float64]
    p: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    level: float
    dof: float
    sigma: float
    unexplained: float
    adjusted_unexplained: float
    f: float
    f_p: float
    rank: int
    log_likelihood: float
    aic: float
    bic: float
    errors: str = "classical"
    intercept: bool = True
    perfect: bool = False
    observations: float = 0.0

    @classmethod
    def of(
        cls,
        fit: Fit,
        terms: Sequence[str],
        targets: Sequence[str],
        j: int,
        level: float,
        left_out: float = 0.0,
    ) -> Self:
        """Summarise target j of a fit without a penalty."""
        from scipy.special import fdtrc

        posterior = Posterior.of(fit, terms, targets)
        n, dof, rank = fit.equations.observations, posterior.dof, fit.rank
        rss, tss = float(fit.rss[j]), float(fit.tss[j])
        variance = rss / dof
        known, perfect = fit.estimable, bool(fit.is_perfect[j])
        estimate, error = posterior.location[:, j], np.where(known, posterior.scale[:, j], np.nan)
        unexplained = rss / tss if tss > 0 else 0.0
        f = float(_ratio(np.array((tss - rss) / rank), np.array(variance))) if rank else 0.0
        f = np.nan if perfect and rank else f
        with np.errstate(divide="ignore"):
            log_likelihood = float(-n / 2 * (log(2 * np.pi * rss / n) + 1))
        if fit.equations.weights.precisions:
            log_likelihood += fit.equations.weights.log / 2
        parameters = n - dof
        return cls(
            target=targets[j],
            terms=tuple(terms),
            estimate=estimate,
            **tested(estimate, error, level, dof, perfect),
            level=level,
            rows=fit.equations.count,
            dof=dof,
            sigma=float(np.sqrt(variance)),
            unexplained=unexplained,
            adjusted_unexplained=unexplained * (dof + rank) / dof,
            f=f,
            f_p=float(fdtrc(rank, dof, f)) if rank else 1.0,
            rank=rank,
            log_likelihood=log_likelihood,
            aic=2 * parameters - 2 * log_likelihood,
            bic=float(parameters * log(n)) - 2 * log_likelihood,
            left_out=left_out,
            intercept=fit.has_intercept,
            perfect=perfect,
            observations=n,
        )

    @property
    def r_squared(self) -> float:
        """R²."""
        return 1 - self.unexplained

    @property
    def adjusted_r_squared(self) -> float:
        """Adjusted R²."""
        return 1 - self.adjusted_unexplained

    @property
    def columns(self) -> dict[str, NDArray[np.float64]]:
        tests = {"standard_error": self.standard_error, "t": self.t, "p": self.p}
        return super().columns | tests | _ends(self.level, self.lower, self.upper)

    def table(self) -> Table:
        """Return the coefficients with their tests and intervals as a table."""
        rows = [row(*cells) for cells in zip(self.terms, *self.columns.values(), strict=True)]
        return Table("", header("t", self.level), rows, self._notes(), bars=self.t.tolist())

    def _notes(self) -> list[str]:
        about = "" if self.intercept else " (uncentred, as there is no intercept)"
        test = (
            f"F-statistic: {self.f:.4g} on {self.rank} and {self.dof:g} degrees of freedom, "
            f"p-value: {probability(self.f_p)}"
        )
        lines = [
            f"Residual standard error: {self.sigma:.4g} on {self.dof:g} degrees of freedom",
            f"R²: {explained(self.unexplained)}, "
            f"adjusted R²: {explained(self.adjusted_unexplained)}{about}",
            *([] if np.isnan(self.f) else [test]),
            f"Log-likelihood: {criterion(self.log_likelihood)}, AIC: {criterion(self.aic)}, "
            f"BIC: {criterion(self.bic)}, rows: {self.rows:g}",
            *super()._notes(),
        ]
        if self.perfect:
            lines.append(PERFECT)
        if unknown := [
            repr(term)
            for term, error in zip(self.terms, self.standard_error, strict=True)
            if np.isnan(error)
        ]:
            lines.append(f"Not determined by the rows, so without an error: {listed(unknown)}.")
        if self.errors != "classical":
            lines.append(f"Standard errors, tests and F are robust: {self.errors}.")
        return lines


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RidgeSummary(TermSummary):
    """Estimates under a penalty, and intervals of the posterior whose prior it is, of one target.

    A penalised estimate is drawn to 0, so it has no honest standard error and no test.

    Parameters
    ----------
    target : str
        Name of y.
    terms : tuple of str
        Names of the q coefficients; the intercept comes first.
    estimate, lower, upper : ndarray (q,)
        Coefficients, and the ends of their intervals.
    level : float
        Probability of the intervals.
    rows : float
        Number of rows.
    penalty : float
        α.
    chosen_by : str or None
        "gcv", where α was chosen.
    effective_parameters : float
        Trace of the matrix that maps y to its fit, the intercept included.
    left_out : float
        Weight of the rows left out for missing cells; rows without any value are not counted.
    units : tuple of str
        What the numbers of columns of times are in.

    See Also
    --------
    suffice.models.linear.posterior.Posterior : For the formulas.

    Examples
    --------
    >>> from suffice.linear_model import Ridge
    >>> print(Ridge(1.0).fit([[1.0], [2.0], [3.0], [4.0]], [1.1, 1.9, 3.2, 3.9]).summary())
                 Estimate   2.5 %  97.5 %
    (Intercept)    0.5042  -1.418   2.426
    x0             0.8083   0.118   1.499
    <BLANKLINE>
    Penalty: 1; effective parameters: 1.833; rows: 4
    The intervals are those of the posterior whose prior is the penalty.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    level: float
    penalty: float
    chosen_by: str | None
    effective_parameters: float

    @property
    def columns(self) -> dict[str, NDArray[np.float64]]:
        return super().columns | _ends(self.level, self.lower, self.upper)

    def _titles(self) -> list[str]:
        return [*super()._titles(), *percents(self.level)]

    def _notes(self) -> list[str]:
        chosen = f", chosen by {self.chosen_by}" if self.chosen_by else ""
        return [
            f"Penalty: {self.penalty:.4g}{chosen}; "
            f"effective parameters: {self.effective_parameters:.4g}; rows: {self.rows:g}",
            "The intervals are those of the posterior whose prior is the penalty.",
            *super()._notes(),
        ]


def tested(
    estimate: NDArray[np.float64],
    error: NDArray[np.float64],
    level: float,
    dof: float,
    perfect: bool,
) -> dict[str, Any]:
    """Return errors, tests and intervals of estimates, by Student's t; NaN without an error."""
    from scipy.special import stdtr, stdtrit

    check_level(level)
    t = np.where(np.isnan(error) | perfect, np.nan, _ratio(estimate, error))
    p, reach = 2.0 * stdtr(dof, -np.abs(t)), float(stdtrit(dof, (1.0 + level) / 2.0)) * error
    ends = {"lower": estimate - reach, "upper": estimate + reach}
    return {"standard_error": error, "t": t, "p": np.asarray(p, np.float64)} | ends


def _ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """a/b, infinite where b is 0, but 0 where a is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(a == 0.0, 0.0, a / b))
