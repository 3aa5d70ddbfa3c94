"""Errors, tests and intervals of the coefficients of a logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from suffice.models.base.options import check_level
from suffice.models.base.proba_intervals import from_moments
from suffice.models.design.remarks import header, row, rows_left_out
from suffice.models.logistic.model import LogisticModel, of_every_class
from suffice.numerics.elementary import exp, log_of
from suffice.numerics.in_print import Printed, Table, criterion, listed, probability
from suffice.rules import FINITE, NONNEGATIVE
from suffice.sums.batch import Batch

if TYPE_CHECKING:
    from pandas import DataFrame


def interval_ends(model: LogisticModel, level: float, batch: Batch) -> NDArray[np.float64]:
    """The ends of a batch, whose rows need all their cells.

    They are 0 and 1 of a row that the rows of the fit do not determine.
    """
    assert model.root is not None
    root = model.root.reshape(-1, *model.coefficients.shape)
    mean, ends = of_every_class(model.scores(batch)), [np.zeros((0, len(model.classes), 2))]
    for z, here in model.centred.pieces(model.answerable(batch), mean):
        across = np.stack([z @ of_class.T for of_class in root.swapaxes(0, 1)], axis=2)
        across = of_every_class(across).swapaxes(1, 2)  # R_c z of every class, (rows, k, q)
        covariance = across @ across.swapaxes(1, 2)
        ends.append(from_moments(here, np.zeros_like(here), covariance, level))
    found = np.concatenate(ends)
    if model.null.shape[1]:
        found[~model.determined(batch)] = 0.0, 1.0
    return found


@dataclass(frozen=True)
class LikelihoodRatio:
    """Twice the difference of two log-likelihoods, which is χ² where the smaller model holds.

    Parameters
    ----------
    statistic : float
        2 (log L₁ − log L₀).
    dof : int
        Number of parameters that the larger model has more.

    Source: S. S. Wilks, The large-sample distribution of the likelihood ratio (1938).

    Examples
    --------
    >>> round(LikelihoodRatio(3.84, 1).p, 3)
    0.05
    """

    statistic: float
    dof: int

    @property
    def p(self) -> float:
        """Probability of a larger value where the smaller model holds; 1 without parameters."""
        from scipy.special import chdtrc

        return float(chdtrc(self.dof, max(self.statistic, 0.0))) if self.dof else 1.0


@dataclass(frozen=True)
class Likelihood:
    """Log-likelihood of a model, and that of the frequencies of the classes.

    Parameters
    ----------
    value : float
        log L = Σ w log P(y | x); with Firth's penalty, log L + ½ log |I|.
    null : float or None
        That of the frequencies of the classes alone; not known with Firth's penalty.
    rows : float
        n = Σw.
    parameters, null_parameters : int
        Free parameters of both models.
    """

    value: Annotated[float, FINITE]
    null: Annotated[float | None, FINITE]
    rows: Annotated[float, NONNEGATIVE]
    parameters: Annotated[int, NONNEGATIVE]
    null_parameters: Annotated[int, NONNEGATIVE]

    @property
    def aic(self) -> float:
        """2p − 2 log L."""
        return 2 * self.parameters - 2 * self.value

    @property
    def bic(self) -> float:
        """p log n − 2 log L."""
        return float(self.parameters * log_of(self.rows)) - 2 * self.value

    @property
    def mcfadden(self) -> float | None:
        """1 − log L / log L₀ (McFadden's R²); None where log L₀ is not known or is 0."""
        return 1 - self.value / self.null if self.null else None

    @property
    def ratio(self) -> LikelihoodRatio | None:
        """The test of all columns together."""
        if self.null is None:
            return None
        dof = self.parameters - self.null_parameters
        return LikelihoodRatio(2 * (self.value - self.null), dof)


@dataclass(frozen=True, eq=False, repr=False)
class LogisticSummary(Printed):
    """Estimates with their errors and tests, and the fit (conventions of R's glm and statsmodels).

    ::

        se = √(I⁻¹)ⱼⱼ      z = estimate/se      p = 2Φ(−|z|)
        interval: estimate ± Φ⁻¹((1 + level)/2) se

    with I the Fisher information at the estimates.

    Parameters
    ----------
    outcomes : tuple of r labels
        The classes whose log-odds against the reference are modelled.
    reference : label
    terms : tuple of q str
        Names of the coefficients; the intercept comes first.
    estimate, standard_error, z, p : ndarray (r, q)
        The last three are NaN where the rows do not determine a coefficient.
    lower, upper : ndarray (r, q)
        Ends of the intervals.
    level : float
        Confidence of the intervals.
    likelihood : Likelihood
    firth : bool
        Whether the likelihood is Firth's.
    left_out : float
        Weight of the rows left out for missing cells.
    units : tuple of str
        What the numbers of columns of times are in.

    Source: P. McCullagh and J. A. Nelder, Generalized Linear Models, 2nd ed. (1989), sections 4.4
    and 5.3; D. McFadden, Conditional logit analysis of qualitative choice behavior (1974).

    Examples
    --------
    >>> from suffice.linear_model import LogisticRegression
    >>> model = LogisticRegression(C=np.inf).fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> print(model.summary())
                 Estimate  Std. Error  z value  Pr(>|z|)   2.5 %  97.5 %  Odds ratio
    (Intercept)    -2.270       2.934    -0.77     0.439  -8.022   3.481      0.1033
    x0              0.908       1.085     0.84     0.403  -1.219   3.035        2.48
    <BLANKLINE>
    Log-likelihood: -2.347 (null: -2.773), McFadden's R²: 0.1533
    Likelihood ratio: 0.8502 on 1 degrees of freedom, p-value: 0.356
    AIC: 8.695, BIC: 7.468, rows: 4
    """

    outcomes: tuple[Any, ...]
    reference: Any
    terms: tuple[str, ...]
    estimate: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    level: float
    likelihood: Likelihood
    firth: bool = False
    left_out: float = 0.0
    units: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_level(self.level)

    @property
    def z(self) -> NDArray[np.float64]:
        """Wald's z, (r, q); NaN for a coefficient that the rows do not determine."""
        return np.asarray(self.estimate / self.standard_error)

    @property
    def p(self) -> NDArray[np.float64]:
        """2Φ(−|z|), (r, q)."""
        from scipy.special import ndtr

        return np.asarray(2 * ndtr(-np.abs(self.z)))

    @property
    def lower(self) -> NDArray[np.float64]:
        """Lower ends of the intervals, (r, q)."""
        return self.estimate - self._reach

    @property
    def upper(self) -> NDArray[np.float64]:
        """Upper ends of the intervals, (r, q)."""
        return self.estimate + self._reach

    @property
    def _reach(self) -> NDArray[np.float64]:
        from scipy.special import ndtri

        return np.asarray(ndtri((1 + self.level) / 2) * self.standard_error)

    @property
    def odds_ratio(self) -> NDArray[np.float64]:
        """exp(estimate), (r, q): what the odds are multiplied by for one unit of a column."""
        with np.errstate(over="ignore"):
            return exp(self.estimate)

    @property
    def columns(self) -> dict[str, NDArray[np.float64]]:
        """Return estimates, errors, tests and intervals of the coefficients, (r, q) each."""
        tail = f"{(1 - self.level) / 2:g}", f"{(1 + self.level) / 2:g}"
        return {
            "estimate": self.estimate,
            "standard_error": self.standard_error,
            "z": self.z,
            "p": self.p,
            tail[0]: self.lower,
            tail[1]: self.upper,
            "odds_ratio": self.odds_ratio,
        }

    def frame(self) -> DataFrame:
        """One row per coefficient as a pandas DataFrame; the outcome is the first index level."""
        from pandas import DataFrame, MultiIndex

        index: Any = list(self.terms)
        if len(self.outcomes) > 1:
            names = ["outcome", "term"]
            index = MultiIndex.from_product([self.outcomes, self.terms], names=names)
        return DataFrame({name: v.ravel() for name, v in self.columns.items()}, index=index)

    def table(self) -> Table:
        """Return the coefficients with their tests and intervals as a table."""
        head, several = [*header("z", self.level), "Odds ratio"], len(self.outcomes) > 1
        rows, bars, numbers = [], list[float](), np.stack([*self.columns.values()], axis=2)
        for outcome, z, of_terms in zip(self.outcomes, self.z, numbers, strict=True):
            if several:
                rows.append([f"{outcome} against {self.reference}:", *[""] * (len(head) - 1)])
                bars.append(nan)
            for term, (*cells, odds) in zip(self.terms, of_terms.tolist(), strict=True):
                rows.append([*row("  " * several + term, *cells), f"{odds:.4g}"])
            bars += z.tolist()
        return Table("", head, rows, self._notes(), bars=bars)

    def _notes(self) -> list[str]:
        fit, ratio = self.likelihood, self.likelihood.ratio
        if ratio is None or fit.null is None:
            kind = "Penalised log-likelihood" if self.firth else "Log-likelihood"
            lines = [f"{kind}: {criterion(fit.value)}, rows: {fit.rows:g}"]
        else:
            mcfadden = "" if fit.mcfadden is None else f", McFadden's R²: {fit.mcfadden:.4g}"
            lines = [
                f"Log-likelihood: {criterion(fit.value)} (null: {criterion(fit.null)}){mcfadden}",
                f"Likelihood ratio: {ratio.statistic:.4g} on {ratio.dof} degrees of freedom, "
                f"p-value: {probability(ratio.p)}",
                f"AIC: {criterion(fit.aic)}, BIC: {criterion(fit.bic)}, rows: {fit.rows:g}",
            ]
        unknown = np.isnan(self.standard_error).all(axis=0)
        if terms := [repr(self.terms[j]) for j in np.flatnonzero(unknown).tolist()]:
            lines.append(f"Not determined by the rows, so without an error: {listed(terms)}.")
        return [*lines, *rows_left_out(self.left_out), *self.units]
