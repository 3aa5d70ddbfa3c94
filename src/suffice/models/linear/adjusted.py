"""Means of the arms of an experiment, adjusted for covariates, from the sums of each arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError
from suffice.models.base.options import check_level
from suffice.models.design.matrix import Design
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.summary import target_place, tested
from suffice.numerics.in_print import Printed, Table, listed, number, probability
from suffice.numerics.linalg import LEAST_PIVOT
from suffice.sums.comoments import Comoments

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class AdjustedMeans(Printed):
    """Means of a target in every arm, at the mean of the covariates over all rows.

    One slope of each covariate is common to all arms (analysis of covariance)::

        ȳ_a(adj) = ȳ_a − (x̄_a − x̄)ᵀw,   w = (Σ_a S_a,xx)⁻¹ Σ_a S_a,xy
        Var(ȳ_a(adj) − ȳ_0(adj)) = σ̂² (1/n_a + 1/n_0 + dᵀ(Σ S_xx)⁻¹d),  d = x̄_a − x̄_0

    Parameters
    ----------
    arms : tuple
        Their values; differences are from the first.
    rows, mean, adjusted, error : ndarray (a,)
        Weight of the rows, mean of the target, adjusted mean and its standard error.
    difference, difference_error, p, lower, upper : ndarray (a,)
        From the first arm, with the t test that it is 0 and the ends of its interval.
    covariates : tuple of str
    target : str
    level : float
        Confidence of the intervals.
    dof : float
        Degrees of freedom.
    """

    arms: tuple[Any, ...]
    rows: Array
    mean: Array
    adjusted: Array
    error: Array
    difference: Array
    difference_error: Array
    p: Array
    lower: Array
    upper: Array
    covariates: tuple[str, ...]
    target: str
    level: float
    dof: float

    def table(self) -> Table:
        """Return the arms as a table of texts."""
        header = ["arm", "rows", "mean", "adjusted", "error", "difference", "error", "p"]
        columns = self.rows, self.mean, self.adjusted, self.error, self.difference
        cells = [[number(value) for value in column] for column in columns]
        cells += [
            [number(value) for value in self.difference_error],
            [probability(p) for p in self.p],
        ]
        names = ["(missing)" if arm is None else str(arm) for arm in self.arms]
        rows = [list(row) for row in zip(names, *cells, strict=True)]
        rows[0][-3:] = ["", "", ""]
        given = ", ".join(self.covariates) or "nothing"
        return Table("", header, rows, notes=[f"{self.target}, adjusted for {given}"])


def adjusted_means(
    sums: Comoments,
    arms: Sequence[Any],
    design: Design,
    covariates: Sequence[str] | None,
    target: str | int | None,
    level: float,
) -> AdjustedMeans:
    """Return the adjusted means of arms, each of which is a class of the sums."""
    check_level(level)
    j = target_place(design.targets, target)
    unknown = [name for name in covariates or () if name not in design.columns]
    if unknown:
        raise ParameterError(
            f"covariates names {unknown[0]!r}",
            f"the columns are {listed(map(repr, design.columns))}",
        )
    chosen = list(design.columns if covariates is None else covariates)
    places = np.append(np.sort(design.places(chosen)), len(design) + j).astype(np.intp)
    rows = np.flatnonzero(sums.patterns[sums.pattern].all(axis=1))
    if len(rows) < len(arms) or len(rows) < 2:
        raise DataError(
            "an arm has no complete row, or there is one arm",
            "arms are compared by rows of each",
            "leave the arm out with where(...)",
        )
    p = len(places) - 1
    n, mean = sums.group_weight[rows], sums.mean[rows][:, places]
    within = sums.scatter_of(sums.product_index[rows]).sum(axis=0)[places][:, places]
    total = n.sum(axis=0)
    middle = (mean * n[:, None]).sum(axis=0) / total
    fit = LeastSquares(
        NormalEquations.about(total, middle, within, p, True, LEAST_PIVOT), np.zeros(p)
    )
    away = (mean[:, :p] - middle[:p]).value
    adjusted = mean[:, p].value - away @ fit.coefficients[:, 0]
    dof = float(total.value) - len(rows) - fit.rank
    if dof <= 0:
        raise DataError(
            f"{float(total.value):g} rows for {len(rows)} arms and {fit.rank} covariates",
            "errors are estimated from more rows than parameters",
            "use fewer covariates",
        )
    noise = float(fit.rss[0]) / dof
    each, d = 1.0 / n.value, (mean[:, :p] - mean[0, :p]).value
    error = np.sqrt(noise * (each + ((away @ fit.root.T) ** 2).sum(axis=1)))
    of_difference = noise * (each + each[0] + ((d @ fit.root.T) ** 2).sum(axis=1))
    of_difference[0] = 0.0
    difference_error = np.sqrt(of_difference)
    difference = (mean[:, p] - mean[0, p]).value - d @ fit.coefficients[:, 0]
    tests = tested(difference, difference_error, level, dof, perfect=False)
    return AdjustedMeans(
        tuple(arms),
        n.value,
        mean[:, p].value,
        adjusted,
        error,
        difference,
        difference_error,
        tests["p"],
        tests["lower"],
        tests["upper"],
        tuple(chosen),
        design.left[j],
        level,
        dof,
    )
