"""Intervals from the errors of rows that were left out: they need no normal distribution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Part, each_batch
from suffice.errors import ParameterError
from suffice.models.linear.model import LinearModel, ends_of
from suffice.models.linear.rows import Fit
from suffice.rules import NONNEGATIVE, Shape, rule
from suffice.sums.batch import Batch
from suffice.sums.bins import BinnedCountAccumulator, BinnedCounts, cell_bounds
from suffice.sums.block import BadCell, RealBlock

LEAST_REST = 2.0**-20  # of 1 − wh: below, a row alone determines a coefficient, but for rounding
DOUBTFUL = "it alone determines a coefficient, so leave-one-out has no closed form here"


@dataclass(frozen=True)
class LinearLeftOut(LinearModel):
    """For every row that was learnt, the model of all others; it is judged like a model.

    ::

        y − ŷ' = (y − ŷ)/(1 − wh)    h = 1/n + (x − x̄)ᵀ(XᵀX + Λ)⁻¹(x − x̄)

    for a row of weight w, which is taken out whole. Rows that were not learnt, as a target is
    missing or their weight is 0, are answered by the model of all.

    Source: D. M. Allen, The relationship between variable selection and data augmentation and a
    method for prediction, Technometrics 16 (1974).
    """

    def judged(
        self, x: Any, y: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The answers to rows (n, p) with targets (n, t), each by the model of the others."""
        found = self._left_out(x, y, weights)
        doubtful = np.isnan(found).any(axis=1) & np.isfinite(x.sum(axis=1))
        if doubtful.any():
            raise BadCell(int(doubtful.argmax()), None, "this row", DOUBTFUL, "use cv=10")
        return found

    def answers(self, batch: Batch) -> NDArray[np.float64]:
        """The answers to the rows of a batch, (n, t); NaN where there is no closed form."""
        parts = [np.empty((0, len(self.design.targets)))]
        targets = self.design.targets_of(batch)
        for rows, x in self.rows(batch):
            parts.append(self._left_out(x, targets[rows], batch.weights[rows]))
            self.require_finite(rows.start, x, parts[-1])
        return np.concatenate(parts)

    def _left_out(
        self, x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        fit = cast(Fit, self.fit)
        predicted = fit.predict(x)
        learnt = np.asarray(~np.isnan(y).any(axis=1))
        w = np.where(learnt, weights if len(weights) else 1.0, 0.0)
        rest = 1.0 - w * fit.leverage(x)
        rest[(w > 0) & (rest < LEAST_REST)] = np.nan
        errors = np.where(learnt[:, None], self.design.modelled(y) - predicted, 0.0)
        moved = predicted - errors * ((1.0 - rest) / rest)[:, None]
        return self.design.undone(np.where((w > 0)[:, None], moved, predicted))


@dataclass(frozen=True, eq=False)
class ErrorSizes:
    """Sizes of the errors of rows, in the unit s√(1 + h): see `error_counts`."""

    unit: Annotated[NDArray[np.float64], Shape("t"), NONNEGATIVE]  # s of each target
    counts: BinnedCounts  # rows by the size of their errors, t columns

    @rule("the errors are those of all targets, measured from 0, and none is below")
    def _is_of_targets(self) -> bool:
        counts = self.counts
        sizes = all((cell_bounds(counts.column(j)[0])[0] >= 0).all() for j in range(counts.d))
        one = (counts.k, counts.d) == (1, len(self.unit))
        return one and not counts.origin.any() and sizes

    @property
    def rows(self) -> float:
        """Σw of the rows."""
        return float(self._sums[0][1][-1]) if len(self._sums[0][1]) else 0.0

    @cached_property
    def _sums(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Return of each target the largest size in every cell, and Σw up to it."""
        found = []
        for j in range(self.counts.d):
            cells, count = self.counts.column(j)
            found.append((cell_bounds(cells)[1], np.cumsum(count[0])))
        return found

    @property
    def median(self) -> NDArray[np.float64]:
        """The size that half of the errors have at most, (t,)."""
        sums, n = self._sums, self.rows
        return np.array([size[np.searchsorted(upto, n / 2)] for size, upto in sums]) * self.unit

    def quantile(self, level: float) -> NDArray[np.float64]:
        """The size that an error of a new row exceeds with probability 1 − level at most, (t,).

        The quantile of level (1 + 1/n) · level of n rows, as the new one may stand anywhere among
        them, rounded up to the end of its cell: by 0.4 % at most.
        """
        n = self.rows
        needed = level * (n + 1.0)
        if needed > n:
            least = int(np.ceil(level / (1 - level) - 1e-9))
            raise ParameterError(
                f"level={level!r}, and the errors of {n:g} rows are known",
                f"it takes those of {least} rows",
                "calibrate with more rows, or ask for a lower level",
            )
        ends = [size[np.searchsorted(upto, needed * (1 - 1e-12))] for size, upto in self._sums]
        if inf in ends:
            raise ParameterError(
                "an error is more than 10^12 times as large as most", "its size is not known"
            )
        return np.array(ends) * self.unit

    def ends(self, fit: Fit, level: float, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """ŷ ± q s √(1 + h), (n, t, 2)."""
        reach = np.sqrt(1.0 + fit.leverage(x))[:, None] * self.quantile(level)
        return ends_of(fit, reach, x)


def unit_of(fit: Fit) -> NDArray[np.float64]:
    """s = √(RSS/n) of each target, 1 where it is 0."""
    s = np.sqrt(np.maximum(fit.rss, 0.0) / fit.equations.rows)
    return np.asarray(np.where(s > 0, s, 1.0))


def error_counts(part: Part, params: tuple[LinearModel, bool]) -> BinnedCounts:
    """Kernel of a calibration: rows by |y − ŷ'|/(s√(1 + h')).

    ŷ' and h' are those of the model without the row, if it has learnt it:

    ::

        y − ŷ' = (y − ŷ)/(1 − wh)    h' = h/(1 − wh)

    A row that lacks a cell or a target, or alone determines a coefficient, is left out.
    """
    model, learnt = params
    fit = cast(Fit, model.fit)
    unit = unit_of(fit)
    total = BinnedCountAccumulator(np.zeros(len(unit)))

    def add(batch: Batch) -> None:
        first = 0
        for x, weights, _, e in model.residuals(batch):
            h = fit.leverage(x)
            rest = 1.0 - weights * h if learnt else np.ones(len(h))
            rest = np.where(rest < LEAST_REST, np.nan, rest)
            size = np.abs(e) / np.sqrt(rest * (rest + h))[:, None]
            codes = np.where(~np.isnan(size).any(axis=1) & (weights > 0), 0, -1)
            copies = weights[:0] if fit.equations.weights.precisions else weights
            try:
                total.add(RealBlock(size / unit), codes, copies, 1)
            except BadCell as bad:
                bad.row, bad.column = first + bad.row, model.design.targets[int(bad.column or 0)]
                raise
            first += len(h)

    for _ in each_batch(part, model.layout, add):
        pass
    return total.statistic()
