"""Diagnostics of regressions: influence of rows, inflation of variances, tests of nested models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Part, each_batch
from suffice.errors import DataError, ParameterError
from suffice.models.design.matrix import INTERCEPT, Design
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.model import LinearModel
from suffice.models.linear.robust import ONE
from suffice.models.linear.rows import Fit
from suffice.numerics.elementary import exp
from suffice.numerics.in_print import Printed, Table, criterion, listed, number, probability
from suffice.numerics.interruption import interruptible
from suffice.sums.batch import Batch

if TYPE_CHECKING:
    from pandas import DataFrame

Array = NDArray[np.float64]
MOST_ROWS = 10  # in print
SAME = 1e-8  # relative: sums over the rows of a fit, read again


# Influence of rows -------------------------------------------------------------------------------

OF_ROW = {
    "fitted": "fitted",
    "residual": "residual",
    "leverage": "leverage",
    "standardized": "standardized",
    "studentized": "studentized",
    "cooks_distance": "Cook's distance",
}
"""The numbers of a row, and what they are called in print."""


@dataclass(frozen=True, eq=False, repr=False)
class Influence(Printed):
    """Residuals of the rows of a fit, and how much each row decides, of one target.

    With n rows, p parameters and hᵢ = xᵢᵀ(XᵀX)⁻¹xᵢ:

    ::

        rᵢ = eᵢ/(σ̂ √(1 − hᵢ))       tᵢ = eᵢ/(σ̂₍ᵢ₎ √(1 − hᵢ))
        σ̂₍ᵢ₎² = (RSS − eᵢ²/(1 − hᵢ))/(n − p − 1),  without the row
        Cook's distance = rᵢ² hᵢ/(p (1 − hᵢ))

    A row of weight 2 is the row twice, and the numbers are those of one of the two. Where weights
    are precisions, e and x are times √w but in ``residual``, as in R. NaN stands for a row that
    the fit left out, for its missing cells; and behind ``leverage`` for one of weight 0 or h = 1,
    and where the fit is perfect.

    Parameters
    ----------
    target : str
        What is modelled: the target, or the function of it that a formula has on its left.
    fitted, residual, leverage : ndarray (n,)
        ŷ, e = y − ŷ, and h.
    standardized, studentized : ndarray (n,)
        r and t: internally and externally studentized; R's ``rstandard`` and ``rstudent``.
    cooks_distance : ndarray (n,)
    dof : float
        n − p.

    Source: D. A. Belsley, E. Kuh and R. E. Welsch, Regression Diagnostics (1980), chapter 2;
    R. D. Cook, Detection of influential observation in linear regression (1977).

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> x, y = [[1.0], [2.0], [3.0], [4.0], [9.0]], [1.1, 1.9, 3.2, 3.9, 7.0]
    >>> found = LinearRegression().fit(x, y).influence(x, y)
    >>> found.cooks_distance.round(3)
    array([ 0.349,  0.094,  0.168,  0.13 , 11.036])
    >>> found.table().notes
    ['Largest studentized residual: -3.311 of row 4, p-value 0.402 among 5 rows (Bonferroni)']
    """

    target: str
    fitted: Array
    residual: Array
    leverage: Array
    standardized: Array
    studentized: Array
    cooks_distance: Array
    dof: float

    @classmethod
    def of(cls, target: str, fit: Fit, j: int, rows: Array) -> Self:
        """Return the influence of rows on target j; see `residuals` for the columns of ``rows``."""
        weight, fitted, residual, leverage = rows.T
        used = ~np.isnan(residual) & (weight > 0.0)
        _require_same_rows(fit, j, weight[used], residual[used])
        precisions = fit.equations.weights.precisions
        root = np.sqrt(weight) if precisions else np.ones(len(weight))
        h, p, rss = root**2 * leverage, fit.rank + fit.has_intercept, float(fit.rss[j])
        dof = fit.equations.observations - p
        with np.errstate(divide="ignore", invalid="ignore"):
            free = np.where(used & (h <= ONE) & ~fit.is_perfect[j], 1.0 - h, np.nan)
            e = root * residual / np.sqrt(free)
            r, without = e / np.sqrt(rss / dof), np.maximum(rss - e**2, 0.0) / max(dof - 1.0, 0.0)
            t, cook = e / np.sqrt(without), r**2 * h / free / p
        return cls(target, fitted, residual, h, r, t, cook, dof)

    @property
    def outlier_p(self) -> float:
        """Bonferroni's p-value of the largest studentized residual; 1 where no row has one."""
        from scipy.special import stdtr

        known = self.studentized[~np.isnan(self.studentized)]
        p = 2.0 * len(known) * stdtr(self.dof - 1.0, -np.abs(known).max(initial=0.0))
        return min(float(p), 1.0) if len(known) else 1.0

    @property
    def columns(self) -> dict[str, Array]:
        """The numbers of all rows by name."""
        return {name: getattr(self, name) for name in OF_ROW}

    def frame(self) -> DataFrame:
        """One row per row of the table as a pandas DataFrame."""
        from pandas import DataFrame

        return DataFrame(self.columns)

    def table(self, first: int = 0) -> Table:
        """Return the rows of the largest Cook's distance as a table; ``first`` is row 0."""
        known = np.flatnonzero(~np.isnan(self.residual))
        size = np.nan_to_num(self.cooks_distance[known], nan=-1.0)
        chosen = known[np.argsort(-size, kind="stable")[:MOST_ROWS]]
        left_out = len(self.residual) - len(known)
        cells = np.stack([getattr(self, name)[chosen] for name in OF_ROW], axis=1)
        rows = [[str(first + i), *map(_cell, own)] for i, own in zip(chosen, cells, strict=True)]
        notes = [f"Rows that the fit left out: {left_out:,}"] if left_out else []
        if not np.isnan(self.studentized).all():
            row = int(np.nanargmax(np.abs(self.studentized)))
            most = f"{_cell(self.studentized[row])} of row {first + row}"
            p = f"p-value {probability(self.outlier_p)} among {len(known):,} rows (Bonferroni)"
            notes = [f"Largest studentized residual: {most}, {p}", *notes]
        return Table("", ["row", *OF_ROW.values()], rows, notes)


def residuals(part: Part, asked: tuple[LinearModel, int]) -> list[Array]:
    """Kernel: weight, ŷ, e = y − ŷ and leverage of every row, (n, 4), of one of the targets."""
    model, target = asked
    fit: Any = model.fit

    def of_batch(batch: Batch) -> list[Array]:
        found = [np.empty((0, 4))] if not batch.rows else []
        for x, weights, predicted, e in model.residuals(batch):
            numbers = np.stack(
                [weights, predicted[:, target], e[:, target], fit.leverage(x)], axis=1
            )
            numbers[np.isnan(e[:, target]), 1:] = np.nan
            found.append(numbers)
        return found

    return [piece for of_part in each_batch(part, model.layout, of_batch) for piece in of_part]


def _require_same_rows(fit: Fit, j: int, weight: Array, residual: Array) -> None:
    """Refuse other rows than those of the fit, which have other sums."""
    learnt, rss = fit.equations.rows, float(fit.rss[j])
    if abs(weight.sum() - learnt) > SAME * learnt:
        fact = f"these rows weigh {weight.sum():g}, those of the fit {learnt:g}"
    elif abs(weight @ residual**2 - rss) > SAME * (rss + float(fit.tss[j]) * SAME):
        fact = f"squares of residuals add up to {weight @ residual**2:g}, in the fit to {rss:g}"
    else:
        return
    raise DataError(fact, "influence is that of the rows of the fit", "pass the same table")


def _cell(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4g}"


# Inflation of variances --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class VarianceInflation(Printed):
    """Inflation of the variance of coefficients by columns that follow from others.

    ::

        VIFⱼ = 1/(1 − Rⱼ²) = XᵀXⱼⱼ · (XᵀX)⁻¹ⱼⱼ
        GVIF = det(XᵀX_gg) · det((XᵀX)⁻¹_gg)   of the terms g of a column together

    about the means, with Rⱼ² of the regression of column j on the others; about 0 without an
    intercept. That of several terms, as of a category, does not depend on their reference; its root
    GVIF^(1/2m) of m terms compares with √VIF. Of a logistic regression, XᵀX is the inverse of the
    covariances of its coefficients but the intercept. Infinite where rows do not determine one.

    Parameters
    ----------
    columns : tuple of str
        Columns, or products of a formula.
    inflation : ndarray (d,)
        VIF, or GVIF where there are several terms.
    terms : ndarray of int (d,)
        m, how many terms each has.

    Source: J. Fox and G. Monette, Generalized collinearity diagnostics (1992).

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> x = [[1.0, 2.0], [2.0, 4.5], [3.0, 5.5], [4.0, 8.5]]
    >>> print(LinearRegression().fit(x, [1.0, 2.0, 2.5, 4.0]).variance_inflation())
          VIF
    x0  32.13
    x1  32.13
    """

    columns: tuple[str, ...]
    inflation: Array
    terms: NDArray[np.intp]

    @classmethod
    def of(
        cls,
        design: Design,
        covariance: Array,
        estimable: NDArray[np.bool_],
        precision: Array | None = None,
    ) -> Self:
        """Return that of a design, from (XᵀX)⁻¹ and XᵀX, (p, p); default: the inverse."""
        some = {name: own for name in design.groups if len(own := design.places([name]))}
        unit = np.sqrt(np.where(np.diagonal(covariance) > 0.0, np.diagonal(covariance), 1.0))
        units = np.outer(unit, unit)
        covariance = covariance / units
        if precision is None:
            precision = interruptible(np.linalg.pinv, covariance, hermitian=True) / units
        precision = precision * units
        found = np.full(len(some), np.inf)
        for i, own in enumerate(some.values()):
            if estimable[own].all():
                block = np.ix_(own, own)
                logs = [np.linalg.slogdet(part[block])[1] for part in (precision, covariance)]
                found[i] = exp(np.array(sum(logs)))
        counts = np.array([len(own) for own in some.values()], np.intp)
        return cls(tuple(some), np.maximum(found, 1.0), counts)

    @property
    def root(self) -> Array:
        """GVIF^(1/2m), (d,): what standard errors are multiplied by; √VIF of one term."""
        return np.asarray(self.inflation ** (0.5 / self.terms))

    def table(self) -> Table:
        """Return the columns as a table."""
        several = bool((self.terms > 1).any())
        header = ["", "GVIF", "terms", "GVIF^(1/2m)"] if several else ["", "VIF"]
        columns = self.inflation.tolist(), self.terms.tolist(), self.root.tolist()
        rows = [
            [name, _cell(vif), *([str(m), _cell(root)] if several else [])]
            for name, vif, m, root in zip(self.columns, *columns, strict=True)
        ]
        return Table("", header, rows)


def inflation_of(fit: LeastSquares, design: Design) -> VarianceInflation:
    """Return the inflation of variances of a fit, its penalty put aside."""
    plain = LeastSquares(fit.equations, np.zeros_like(fit.penalty))
    covariance = plain.covariance_of(np.arange(fit.equations.p))
    estimable = plain.estimable[int(plain.has_intercept) :]
    return VarianceInflation.of(design, covariance, estimable, fit.equations.xx.value)


# Nested models -----------------------------------------------------------------------------------


class Candidate(NamedTuple):
    """One of two models that are compared; ``same`` are sums that rows and targets decide."""

    design: Design
    intercept: bool
    target: str
    kind: str
    fit: float
    parameters: float
    n: float
    same: tuple[float, ...]

    @property
    def groups(self) -> tuple[str, ...]:
        return (*([INTERCEPT] if self.intercept else []), *self.design.groups)


@dataclass(frozen=True, eq=False, repr=False)
class NestedModels(Printed):
    """The test that a larger model fits no better than a smaller one, which is a part of it.

    ::

        F = ((RSS₀ − RSS₁)/m) / (RSS₁/(n − p₁)),  with m = p₁ − p₀ and n − p₁ degrees of freedom
        χ² = 2 (log L₁ − log L₀),  with m degrees of freedom

    Parameters
    ----------
    target : str
    kind : {"F", "chi2"}
        The test of linear models, or that of likelihoods.
    fits, dof : tuple of 2 float
        RSS, or log L, of the smaller and the larger model; and n − p.
    statistic : float
        F or χ².
    terms : tuple of str
        What the larger model has more: columns, or products of formulas.

    Source: S. S. Wilks, The large-sample distribution of the likelihood ratio (1938).

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> x = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 1.0], [4.0, 5.0], [5.0, 2.0]]
    >>> y = [1.0, 2.0, 4.5, 3.0, 8.0, 6.5]
    >>> small = LinearRegression().fit([row[:1] for row in x], y)
    >>> print(LinearRegression().fit(x, y).anova(small))
             n − p    RSS  terms  difference      F  p-value
    smaller      4  8.676
    larger       3  1.256      1        7.42  17.72   0.0245
    <BLANKLINE>
    The larger model of y has more: x1
    """

    target: str
    kind: str
    fits: tuple[float, float]
    dof: tuple[float, float]
    statistic: float
    terms: tuple[str, ...]

    @classmethod
    def of(cls, one: Candidate, other: Candidate) -> Self:
        """Return the test of two models of the same rows, whichever is the larger."""
        small, large = sorted((one, other), key=lambda model: model.parameters)
        spanned = {*large.groups, *([INTERCEPT] if large.design.categories else [])}
        alone = [name for name in small.groups if name not in spanned]
        m, gained = large.parameters - small.parameters, large.fit - small.fit
        gained = 2.0 * gained if large.kind == "chi2" else -gained
        if small.target != large.target or not np.allclose(small.same, large.same, SAME, 0.0):
            targets = f"one model is of {small.target}, the other of {large.target}"
            fact = f"the models are of {small.n:g} and {large.n:g} rows"
            fact = "rows are as many, and targets differ" if small.n == large.n else fact
            fact = fact if small.target == large.target else targets
            step = "fit both to one table, where neither leaves out rows with missing cells"
            raise DataError(fact, "the test is of one table and target", step)
        if alone or m <= 0 or gained < -SAME * abs(large.fit):
            fact = f"the larger model has {m:g} parameters more"
            fact = f"{alone[0]!r} is in the smaller model only" if alone else fact
            rule = "the test is of a model that has all terms of the other, and more"
            raise ParameterError(fact, rule, "fit the larger with more terms")
        gained, dof = max(gained, 0.0), (small.n - small.parameters, large.n - large.parameters)
        with np.errstate(divide="ignore"):
            f = float(gained / m / np.divide(large.fit, dof[1]))
        more = tuple(name for name in large.groups if name not in set(small.groups))
        statistic = f if large.kind == "F" else gained
        return cls(large.target, large.kind, (small.fit, large.fit), dof, statistic, more)

    @property
    def difference(self) -> float:
        """m, the number of parameters that the larger model has more."""
        return self.dof[0] - self.dof[1]

    @property
    def p(self) -> float:
        """Probability of a larger statistic where the smaller model holds."""
        from scipy.special import chdtrc, fdtrc

        if self.kind == "F":
            return float(fdtrc(self.difference, self.dof[1], self.statistic))
        return float(chdtrc(self.difference, self.statistic))

    def table(self) -> Table:
        """Return both models and the test as a table."""
        linear = self.kind == "F"
        fits = [number(fit) if linear else criterion(fit) for fit in self.fits]
        gained = number(abs(self.fits[1] - self.fits[0]))
        test = f"{self.difference:g}", gained, f"{self.statistic:.4g}", probability(self.p)
        rows = [
            ["smaller", f"{self.dof[0]:g}", fits[0], "", "", "", ""],
            ["larger", f"{self.dof[1]:g}", fits[1], *test],
        ]
        names = ("RSS", "F") if linear else ("log L", "χ²")
        header = ["", "n − p", names[0], "terms", "difference", names[1], "p-value"]
        note = f"The larger model of {self.target} has more: {listed(self.terms)}"
        return Table("", header, rows, [note])
