"""Kernels of linear models: what an engine runs over the splits of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Split
from suffice.models.design import Design
from suffice.models.gaussian_cells import GaussianCells
from suffice.models.generative import each_batch
from suffice.models.least_squares import LeastSquares
from suffice.models.linear_descent import Descended, IncompleteRow
from suffice.models.posterior import Posterior
from suffice.models.ridge import RidgeSpectrum
from suffice.statistics.batch import Batch
from suffice.statistics.block import BadCell, CodedBlock, RealBlock
from suffice.statistics.comoments import Comoments, ComomentsAccumulator
from suffice.statistics.counts import CountAccumulator, Counts
from suffice.statistics.moments import Moments, MomentsAccumulator

__all__ = [
    "Answer",
    "IncompleteRow",
    "LinearModel",
    "answers",
    "categories",
    "errors",
    "errors_left_out",
    "missing_cells",
    "summarise",
    "within",
]

NO_PREDICTION = "a missing cell (NaN or null) leaves a row without a prediction"


@dataclass(frozen=True)
class LinearModel:
    """All that a prediction needs.

    Parameters
    ----------
    design : Design
        How rows of a table become rows of numbers.
    layout : Layout
        How a table is read.
    fit : LeastSquares or Descended
        Coefficients, and what they vary by if they are a function of sums.
    cells : GaussianCells, optional
        What to expect in missing cells; without it they are refused.
    """

    design: Design
    layout: Layout
    fit: LeastSquares | Descended
    cells: GaussianCells | None = None

    def rows(
        self, batch: Batch, with_targets: bool = False
    ) -> Iterator[tuple[slice, NDArray[np.float64], NDArray[np.float64]]]:
        """Yield complete rows of x, with those of y, and their place in the batch.

        Raises
        ------
        BadCell
            If a cell is missing, or a category unknown, and nothing can be expected in its place,
            or a number is infinite.
        """
        p = len(self.design)
        batch = batch if self.cells is None else self.design.known(batch)
        for start, z in self.design.rows(batch, with_targets):
            x = z[:, :p]
            if self.cells is not None:
                x = self.cells.fill(x)
            bad = ~np.isfinite(x)
            if bad.any():
                row, place = map(int, np.argwhere(bad)[0])
                value = float(x[row, place])
                rule = NO_PREDICTION if np.isnan(value) else "a number must be finite"
                raise BadCell(start + row, self.design.column(place), value, rule)
            yield slice(start, start + len(z)), x, z[:, p:]


def categories(split: Split, layout: Layout) -> Counts:
    """Kernel of the first look at categories: which values each column has."""
    (block,) = layout.blocks
    total = CountAccumulator(len(block.columns))

    def add(batch: Batch) -> None:
        values = cast(CodedBlock, batch.blocks[0])
        total.add(values, _one_class(batch.weights, batch.rows), batch.weights, 1)

    for _ in each_batch(split, layout, add):
        pass
    return total.statistic()


def summarise(split: Split, plan: tuple[Design, Layout, bool, bool]) -> Comoments:
    """Kernel of a fit: co-moments of columns and targets, exact or not, gaps allowed or not.

    Raises
    ------
    IncompleteRow
        If a cell is missing and gaps are not allowed.
    """
    design, layout, exact, gaps = plan
    total = ComomentsAccumulator(len(design) + len(design.targets), exact=exact)

    def add(batch: Batch) -> None:
        targets = cast(RealBlock, batch.blocks[-1]).values
        for start, x in design.rows(batch):
            rows = slice(start, start + len(x))
            weights, y = batch.weights[rows], RealBlock(targets[rows])
            try:
                total.add(RealBlock(x), _one_class(weights, len(x)), weights, 1, y)
            except BadCell as bad:
                bad.row, bad.column = start + bad.row, design.column(cast(int, bad.column))
                raise
            if not (gaps or total.complete):
                raise IncompleteRow

    for _ in each_batch(split, layout, add):
        pass
    return total.statistic()


def missing_cells(split: Split, plan: tuple[Design, Layout]) -> Any:
    """Kernel that counts the missing cells of every term and target; their sum is an array."""
    design, layout = plan
    missing = np.zeros(len(design) + len(design.targets), np.int64)

    def add(batch: Batch) -> None:
        for start, z in design.rows(batch, with_targets=True):
            counted = _one_class(batch.weights[start : start + len(z)], len(z)) >= 0
            missing[:] += np.isnan(z[counted]).sum(axis=0)

    for _ in each_batch(split, layout, add):
        pass
    return missing


Answer = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""What to say of rows (n, p)."""


def answers(split: Split, params: tuple[LinearModel, Answer]) -> list[NDArray[np.float64]]:
    """Kernel of a prediction: the answers of a split, part by part."""
    model, answer = params

    def one(batch: Batch) -> list[NDArray[np.float64]]:
        return [answer(x) for _, x, _ in model.rows(batch)]

    return [part for parts in each_batch(split, model.layout, one) for part in parts]


def within(
    fit: LeastSquares, posterior: Posterior, reach: float, noise: float, x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Answer ŷ ± reach · √((noise + h) r/a), (n, t, 2): of the mean, or with noise = 1 of a row."""
    scale = np.sqrt((noise + fit.leverage(x))[:, None] * posterior.noise_variance)
    middle = fit.predict(x)
    return np.stack([middle - reach * scale, middle + reach * scale], axis=-1)


def errors(split: Split, model: LinearModel) -> Moments:
    """Kernel of an evaluation: moments of e = y − ŷ, of its size, and of y, (3t)."""
    total = MomentsAccumulator(3 * len(model.design.targets))

    def add(batch: Batch) -> None:
        for rows, x, y in model.rows(batch, with_targets=True):
            e = y - model.fit.predict(x)
            sums = RealBlock(np.concatenate([e, np.abs(e), y], axis=1))
            weights = batch.weights[rows]
            total.add(sums, _one_class(weights, len(x)), weights, 1)

    for _ in each_batch(split, model.layout, add):
        pass
    return total.statistic()


def errors_left_out(
    split: Split, params: tuple[Design, Layout, RidgeSpectrum, NDArray[np.float64]]
) -> Moments:
    """Kernel of leave-one-out: moments of the errors of complete rows under each α, (m · t)."""
    design, layout, spectrum, alphas = params
    p, t = len(design), len(design.targets)
    total = MomentsAccumulator(len(alphas) * t)

    def add(batch: Batch) -> None:
        for start, z in design.rows(batch, with_targets=True):
            weights = batch.weights[start : start + len(z)]
            e = spectrum.left_out(z[:, :p], z[:, p:], alphas).reshape(len(z), -1)
            total.add(RealBlock(e), _one_class(weights, len(z)), weights, 1)

    for _ in each_batch(split, layout, add):
        pass
    return total.statistic()


def _one_class(weights: NDArray[np.float64], rows: int) -> NDArray[np.intp]:
    """Class codes (n,) of rows that are all of one class; −1 where the weight is 0."""
    codes = np.zeros(rows, np.intp)
    if weights.size:
        codes[weights == 0] = -1
    return codes
