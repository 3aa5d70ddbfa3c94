"""Diagnostics of regressions: influence of rows, inflation of variances, tests of nested models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Part, each_batch
from suffice.errors import DataError, ParameterError
from suffice.models.design.matrix import INTERCEPT, Design
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.model import LinearModel
from suffice.models.linear.robust import ONE, unwhitening
from suffice.models.linear.rows import Fit
from suffice.numerics.in_print import Printed, Table, criterion, listed, number, probability
from suffice.numerics.interruption import interruptible
from suffice.numerics.rows import is_sparse
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
    "dffits": "DFFITS",
    "covratio": "COVRATIO",
}
"""The numbers of a row, and what they are called in print."""


@dataclass(frozen=True, eq=False, repr=False)
class Influence(Printed):
    """Residuals of the rows of a fit, and how much each row decides, of one target.

    With n rows, p parameters and hᵢ = xᵢᵀ(XᵀX)⁻¹xᵢ:

    ::

        rᵢ = eᵢ/(σ̂ √(1 − hᵢ))         internally studentized; rstandard in R
        tᵢ = eᵢ/(σ̂₍ᵢ₎ √(1 − hᵢ))      externally studentized; rstudent in R
        σ̂₍ᵢ₎² = (RSS − eᵢ²/(1 − hᵢ))/(n − p − 1),  without the row
        Cook's distance Dᵢ = rᵢ² hᵢ/(p (1 − hᵢ))
        DFFITSᵢ = tᵢ √(hᵢ/(1 − hᵢ))
        COVRATIOᵢ = 1/([(n − p − 1 + tᵢ²)/(n − p)]ᵖ (1 − hᵢ))
        DFBETASᵢⱼ = (wⱼ − wⱼ₍ᵢ₎)/(σ̂₍ᵢ₎ √Vⱼⱼ)

    A row of weight 2 is the row twice, and the numbers are those of one of the two. Where weights
    are precisions, e and x are times √w but in ``residual``, as in R.

    NaN stands where there is nothing: in all columns of a row that the fit left out, as a cell or
    the target is missing; behind ``leverage`` for a row of weight 0, for one that decides its own
    fit (h = 1), and where the fit is perfect.

    Parameters
    ----------
    target : str
        What is modelled: the target, or the function of it that a formula has on its left.
    terms : tuple of q str
        Names of all coefficients.
    fitted, residual, leverage : ndarray (n,)
        ŷ, e = y − ŷ, and h.
    standardized, studentized : ndarray (n,)
        r and t.
    cooks_distance, dffits, covratio : ndarray (n,)
    dfbetas : ndarray (n, q), optional
        If they were asked for.
    dof : float
        n − p.

    Source: D. A. Belsley, E. Kuh and R. E. Welsch, Regression Diagnostics (1980), chapter 2;
    R. D. Cook, Detection of influential observation in linear regression (1977).

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> x, y = [[1.0], [2.0], [3.0], [4.0], [9.0]], [1.1, 1.9, 3.2, 3.9, 7.0]
    >>> print(LinearRegression().fit(x, y).influence(x, y))
    row  fitted  residual  leverage  standardized  studentized  Cook's distance  DFFITS  COVRATIO
    4     7.147    -0.147     0.882         -1.49         -2.3             8.32   -6.30     1.973
    0     1.389    -0.289     0.412         -1.31        -1.63            0.603   -1.37    0.9031
    2     2.829    0.3709     0.216          1.46         2.14            0.292    1.12    0.4091
    3     3.549    0.3511     0.201          1.37         1.77            0.235  0.8878     0.5625
    1     2.109    -0.209     0.289        -0.863       -0.815            0.151  -0.519     1.824
    <BLANKLINE>
    Largest studentized residual: -2.3 of row 4, p-value 0.74 among 5 rows (Bonferroni)
    """

    target: str
    terms: tuple[str, ...]
    fitted: Array
    residual: Array
    leverage: Array
    standardized: Array
    studentized: Array
    cooks_distance: Array
    dffits: Array
    covratio: Array
    dof: float
    dfbetas: Array | None = None

    @classmethod
    def of(
        cls,
        target: str,
        terms: Sequence[str],
        fit: Fit,
        j: int,
        rows: Array,
        dfbetas: bool,
    ) -> Self:
        """Return the influence of rows on target j; see `residuals` for the columns of ``rows``."""
        weight, fitted, residual, leverage = rows[:, :4].T
        equations = fit.equations
        precisions = equations.weights.precisions
        used = ~np.isnan(residual) & (weight > 0.0)
        _require_same_rows(fit, j, weight[used], residual[used])
        root = np.sqrt(weight) if precisions else np.ones(len(weight))
        leverage = root**2 * leverage
        parameters = fit.rank + fit.has_intercept
        dof, rss = equations.observations - parameters, float(fit.rss[j])
        with np.errstate(divide="ignore", invalid="ignore"):
            free = np.where(used & (leverage <= ONE) & ~fit.is_perfect[j], 1.0 - leverage, np.nan)
            e = root * residual / np.sqrt(free)
            standardized = e / np.sqrt(rss / dof)
            without = np.maximum(rss - e**2, 0.0) / (dof - 1.0) if dof > 1.0 else np.nan
            studentized = e / np.sqrt(without)
            moved = np.sqrt(leverage / free)
            shrunk = (dof - 1.0 + studentized**2) / dof
            found = cls(
                target,
                tuple(terms),
                fitted,
                residual,
                leverage,
                standardized,
                studentized,
                standardized**2 * moved**2 / parameters,
                studentized * moved,
                1.0 / (shrunk**parameters * free),
                dof,
            )
            if not dfbetas:
                return found
            change = rows[:, 4:] @ unwhitening(fit).T / np.sqrt(fit.variance)
            scaled = studentized * root / np.sqrt(free)
            return cls(**{**vars(found), "dfbetas": scaled[:, None] * change})

    @property
    def outlier_p(self) -> float:
        """Bonferroni's p-value of the largest studentized residual, by t with n − p − 1 degrees.

        1 where no row has one.
        """
        from scipy.special import stdtr

        known = self.studentized[~np.isnan(self.studentized)]
        p = 2.0 * len(known) * stdtr(self.dof - 1.0, -np.abs(known).max(initial=0.0))
        return min(float(p), 1.0)

    @property
    def columns(self) -> dict[str, Array]:
        """Return the numbers of all rows by name."""
        columns = {name: getattr(self, name) for name in OF_ROW}
        if self.dfbetas is not None:
            columns |= {f"dfbetas[{t}]": v for t, v in zip(self.terms, self.dfbetas.T, strict=True)}
        return columns

    def frame(self) -> DataFrame:
        """One row per row of the table as a pandas DataFrame."""
        from pandas import DataFrame

        return DataFrame(self.columns)

    def table(self, first: int = 0) -> Table:
        """Return the rows of the largest Cook's distance as a table; ``first`` is row 0."""
        known = np.flatnonzero(~np.isnan(self.residual))
        size = np.nan_to_num(self.cooks_distance[known], nan=-1.0)
        chosen = known[np.argsort(-size, kind="stable")[:MOST_ROWS]]
        columns = [getattr(self, name)[chosen].tolist() for name in OF_ROW]
        cells = [[_cell(value) for value in values] for values in zip(*columns, strict=True)]
        rows = [[str(first + row), *own] for row, own in zip(chosen.tolist(), cells, strict=True)]
        return Table("", ["row", *OF_ROW.values()], rows, self._notes(first, len(known)))

    def _notes(self, first: int, rows: int) -> list[str]:
        notes = []
        if not np.isnan(self.studentized).all():
            row = int(np.nanargmax(np.abs(self.studentized)))
            notes.append(
                f"Largest studentized residual: {_cell(self.studentized[row])} of row "
                f"{first + row}, p-value {probability(self.outlier_p)} among {rows:,} rows "
                "(Bonferroni)"
            )
        if left_out := len(self.residual) - rows:
            notes.append(f"Rows that the fit left out: {left_out:,}")
        return notes


def residuals(part: Part, asked: tuple[LinearModel, int, bool]) -> list[Array]:
    """Kernel: weight, ŷ, e = y − ŷ and leverage of every row, (n, 4), of one of the targets.

    If it is asked for, the whitened columns z = (1, R(x − x̄)) stand behind, (n, 4 + q).
    """
    model, target, whitened = asked
    fit: Any = model.fit

    def of_batch(batch: Batch) -> list[Array]:
        found = [np.empty((0, 4))] if not batch.rows else []
        for rows, x, y in model.rows(batch, with_targets=True):
            gone, x = np.isnan(x.sum(axis=1)), x.copy()
            cells = x.data if is_sparse(x) else x
            cells[np.isnan(cells)] = 0.0
            y = np.where(gone[:, None], np.nan, model.design.modelled(y, rows.start))
            predicted = fit.predict(x)
            model.require_finite(rows.start, x, predicted)
            predicted[gone | np.isnan(y).any(axis=1)] = np.nan
            weights = batch.weights[rows] if len(batch.weights) else np.ones(len(y))
            own = predicted[:, target]
            h = np.where(np.isnan(own), np.nan, fit.leverage(x))
            columns = [weights, own, y[:, target] - own, h]
            if whitened:
                columns += [np.ones(len(y))] * fit.has_intercept + [*fit.whitened(x).T]
            found.append(np.stack(columns, axis=1))
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
    """How much the variance of coefficients grows as their column follows from others.

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
    x0  45.65
    x1  45.65
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
                found[i] = np.exp(sum(logs))
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
    fits : tuple of 2 float
        RSS, or log L, of the smaller and the larger model.
    dof : tuple of 2 float
        n − p of both.
    statistic : float
        F or χ².
    terms : tuple of str
        What the larger model has more: columns, or products of formulas.

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> x = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 1.0], [4.0, 5.0], [5.0, 2.0]]
    >>> large = LinearRegression().fit(x, [1.0, 2.0, 4.5, 3.0, 8.0, 6.5])
    >>> print(large.anova(large.refit(columns=["x0"])))
             n − p    RSS  terms  difference      F  p-value
    smaller      4   5.19
    larger       3  2.214      1       2.977  4.035    0.138
    <BLANKLINE>
    The larger model of y has more: x1
    """

    target: str
    kind: str
    fits: tuple[float, float]
    dof: tuple[float, float]
    statistic: float
    terms: tuple[str, ...]

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
        cells = [number(fit) if linear else criterion(fit) for fit in self.fits]
        gained = abs(self.fits[1] - self.fits[0])
        test = number(gained), f"{self.statistic:.4g}", probability(self.p)
        rows = [
            ["smaller", f"{self.dof[0]:g}", cells[0], "", "", "", ""],
            ["larger", f"{self.dof[1]:g}", cells[1], f"{self.difference:g}", *test],
        ]
        header = ["", "n − p", "RSS" if linear else "log L", "terms", "difference"]
        header += ["F" if linear else "χ²", "p-value"]
        note = f"The larger model of {self.target} has more: {listed(self.terms)}"
        return Table("", header, rows, [note])


def more_of(smaller: Any, larger: Any) -> tuple[str, ...]:
    """Return the columns, or products, that a larger model has and a smaller one has not.

    Parameters
    ----------
    smaller, larger : estimator
        Fitted, with ``terms_``.

    Raises
    ------
    ParameterError
        If the smaller has others, or an intercept that no category of the larger stands for.
    """
    few, many = (_design_of(one) for one in (smaller, larger))
    if few.left != many.left:
        raise ParameterError(
            f"one model is of {listed(few.left)}, the other of {listed(many.left)}",
            "models of the same target are compared",
            "fit both to the same left side",
        )
    here = {*many.groups, *([INTERCEPT] if INTERCEPT in larger.terms_ or many.categories else [])}
    groups = [*few.groups, *([INTERCEPT] if INTERCEPT in smaller.terms_ else [])]
    for name in groups:
        if name not in here:
            raise ParameterError(
                f"{name!r} is in the smaller model only",
                "the test is of a model whose terms are all in the larger one",
                "fit the larger with all terms of the smaller",
            )
    return tuple(sorted(here - set(groups), key=[*many.groups, INTERCEPT].index))


def _design_of(estimator: Any) -> Any:
    return getattr(estimator, "design_", None) or estimator.model_.centred.design


def sums_of_targets(fit: Fit) -> Iterator[float]:
    """Yield the weight and the number of the rows of a fit, and Σy² of every target."""
    of = fit.equations
    yield from (of.rows, of.observations)
    yield from fit.tss + (of.rows * of.y_mean.value**2 if of.intercept else 0.0)


def tested(
    target: str,
    kind: str,
    fits: tuple[float, float],
    dof: tuple[float, float],
    terms: tuple[str, ...],
) -> NestedModels:
    """Return the test of a smaller and a larger model."""
    m = dof[0] - dof[1]
    if m <= 0:
        raise ParameterError(
            f"the larger model has {m:g} parameters more",
            "two models are compared by the terms that one of them has more",
            "fit it with more terms, none of them a combination of others",
        )
    gained = fits[0] - fits[1] if kind == "F" else 2 * (fits[1] - fits[0])
    if gained < -SAME * abs(fits[1]):
        raise ParameterError(
            "the smaller model fits better",
            "the test is of a model that is a part of the larger one",
            "fit the larger with all terms of the smaller",
        )
    gained = max(gained, 0.0)
    with np.errstate(divide="ignore"):
        statistic = gained / m / np.float64(fits[1] / dof[1]) if kind == "F" else gained
    return NestedModels(target, kind, fits, dof, float(statistic), terms)


def require_same(mine: Sequence[float], other: Sequence[float]) -> None:
    """Refuse models of other rows: their sums differ."""
    if not np.allclose(mine, other, rtol=SAME, atol=0.0):
        raise DataError(
            f"one model is of {mine[0]:g} rows, the other of {other[0]:g}"
            if mine[0] != other[0]
            else "the targets of the two models differ",
            "the test compares models of the same rows and targets",
            "fit both to the same table; rows with missing cells may be left out by one only",
        )
