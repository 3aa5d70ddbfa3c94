"""Kernels of linear models: what an engine runs over the parts of a source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.data.encode import stored_cells
from suffice.data.schema import Layout
from suffice.data.source import Part, each_batch
from suffice.families import MultivariateGaussian
from suffice.families.multivariate_gaussian import MultivariateGaussianParameters, fill
from suffice.models.base.options import Unseen
from suffice.models.design.matrix import Design
from suffice.models.design.normal_equations import ROUNDED, NormalEquations
from suffice.models.linear.descent import Coefficients
from suffice.models.linear.posterior import Posterior
from suffice.models.linear.rows import Fit
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.rows import is_sparse
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell, RealBlock, SparseBlock
from suffice.sums.by_class import roomy
from suffice.sums.comoments import Comoments, ComomentsAccumulator
from suffice.sums.kept_rows import LEAST_COLUMNS, KeptRows, RowsAccumulator
from suffice.sums.moments import Moments, MomentsAccumulator
from suffice.sums.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class JointGaussian:
    """N(z; μ, Σ) of columns and targets together, z = (x, y), by expectation-maximisation.

    Source: R. J. A. Little and D. B. Rubin, Statistical Analysis with Missing Data, 3rd ed.
    (2019), section 11.4.
    """

    parameters: MultivariateGaussianParameters  # μ and Σ
    rows: DoubleDouble  # weight of the rows that show anything, ()

    @classmethod
    def of(cls, statistic: Comoments) -> Self:
        family = MultivariateGaussian(estimation="mle", variance_floor=0.0)
        parameters = cast(MultivariateGaussianParameters, family.estimate(statistic))
        return cls(parameters, statistic.group_weight.sum(axis=0))

    def equations(self, p: int, intercept: bool) -> NormalEquations:
        """The sums that the rows are expected to have."""
        mean = DoubleDouble(self.parameters.factored.mean[0], self.parameters.factored.mean_lo[0])
        covariance = DoubleDouble.of(self.parameters.covariance[0])
        return NormalEquations.about(self.rows, mean, covariance * self.rows, p, intercept, ROUNDED)

    def fill(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows (n, p) with E[x_m | x_o] in the place of missing cells x_m.

        ::

            μ_m + Σ_mo Σ_oo⁻¹ (x_o − μ_o)
        """
        p = x.shape[1]
        return fill(x, self.parameters.mean[0, :p], self.parameters.covariance[0, :p, :p])

    def remarks(self, names: Sequence[str]) -> Iterator[str]:
        return self.parameters.course.remarks(names)


UNDETERMINED = "undetermined"  # a column of answers while they are on their way

NO_PREDICTION = "a missing cell (NaN or null) leaves a row without a prediction"

Prediction = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""What to say of rows (n, p)."""


class IncompleteRow(Exception):  # noqa: N818 - the rows with missing cells are counted next
    """A row has a missing cell, and none was to have one."""


@dataclass(frozen=True)
class LinearModel:
    """All that a prediction needs."""

    design: Design  # how rows of a table become rows of numbers
    layout: Layout  # how a table is read
    fit: Fit | Coefficients  # and what they vary by, if they are a function of sums or rows
    cells: JointGaussian | None = None  # what to expect in missing cells, else refused
    errors: Any = None  # how large the errors of rows are that were left out
    alpha: float = 0.0  # α of a penalty, given or chosen
    unseen: Unseen = "error"  # what an unknown or missing category is taken for

    @property
    def by_term(self) -> tuple[Any, ...]:
        """Targets, terms, coefficients (t, p) and standard deviations of terms."""
        return self.design.targets, self.design.terms, self.fit.coefficients.T, self.term_scales

    @property
    def term_means(self) -> NDArray[np.float64]:
        """Means of the terms, (p,)."""
        return np.asarray(self.fit.origin, np.float64)

    @property
    def term_scales(self) -> NDArray[np.float64]:
        """Standard deviations of the terms, (p,)."""
        if isinstance(self.fit, Coefficients):
            return self.fit.scale
        return np.sqrt(self.fit.equations.variance)

    def rows(self, batch: Batch) -> Iterator[tuple[slice, Any]]:
        """Yield rows of x with their place in the batch.

        Whoever asks checks by `require_finite` what scores show to be no number.
        """
        sparse = self.cells is None
        for rows, x in rows_of(self.design, self._answerable(batch), sparse):
            yield rows, x if self.cells is None else self.cells.fill(x)

    def _answerable(self, batch: Batch) -> Batch:
        expecting = self.cells is not None
        return self.design.answerable(batch, self.unseen == "reference", expecting)

    @property
    def known_values(self) -> dict[str, Vocabulary]:
        return self.design.known_values

    def complete(self, batch: Batch) -> NDArray[np.bool_]:
        """Return which rows have all cells that a prediction needs, (n,)."""
        return self.design.complete(self._answerable(batch))

    def predicted(self, answer: Prediction, batch: Batch) -> list[NDArray[np.float64]]:
        found = []
        for rows, x in self.rows(batch):
            found.append(answer(x))
            self.require_finite(rows.start, x, found[-1])
        return found

    def judged(
        self, x: NDArray[np.float64], y: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The answers to rows (n, p) by which they are judged, (n, t)."""
        return self.design.undone(self.fit.predict(x))

    def residuals(self, batch: Batch) -> Iterator[tuple[Any, NDArray[np.float64], Any, Any]]:
        """Yield rows x, their weights, and ŷ and e = y − ŷ, (n, t), of what is modelled.

        Of rows that lack a cell, which is 0 in x, or a target, e is NaN.
        """
        targets = self.design.targets_of(batch)
        for rows, x in self.rows(batch):
            y = targets[rows]
            gone, x = np.isnan(x.sum(axis=1)) | np.isnan(y).any(axis=1), x.copy()
            cells = x.data if is_sparse(x) else x
            cells[np.isnan(cells)] = 0.0
            predicted = self.fit.predict(x)
            self.require_finite(rows.start, x, predicted)
            e = self.design.modelled(y, rows.start) - predicted
            e[gone] = np.nan
            weights = batch.weights[rows] if len(batch.weights) else np.ones(len(y))
            yield x, weights, predicted, e

    def in_units(self, answer: Prediction) -> Prediction:
        """Return answers in units of the targets from those of the left side of a formula."""
        return partial(undone, self.design, answer) if self.design.has_functions else answer

    def require_finite(self, first: int, x: Any, scores: Any) -> None:
        """Refuse rows x, of which the number of the first is given, if a cell is no finite number.

        No such cell leaves a finite score: only rows of other scores are looked at.
        """
        if np.isfinite(scores).all():
            return
        whole = x.tocoo() if is_sparse(x) else None
        cells = (
            np.argwhere(~np.isfinite(x))
            if whole is None
            else np.column_stack([part[~np.isfinite(whole.data)] for part in whole.coords])
        )
        for row, place in cells[:1].tolist():
            value = float(x[row, place])
            rule = NO_PREDICTION if np.isnan(value) else "a number must be finite"
            raise BadCell(first + row, self.design.column(place), value, rule)


def rows_of(design: Design, batch: Batch, sparse: bool = True) -> Iterator[tuple[slice, Any]]:
    """Yield rows of x, compressed if they come so, with their place in the batch."""
    if sparse and (x := design.sparse_rows(batch)) is not None:
        yield slice(0, batch.rows), x.astype(np.float64, copy=False)
        return
    for start, x in design.rows(batch):
        yield slice(start, start + len(x)), x


def undone(design: Design, answer: Prediction, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The answers to rows (n, p) in units of the targets, (n, t, ...)."""
    return design.undone(answer(x))


def summarise(part: Part, plan: tuple[Design, Layout, bool]) -> KeptRows | Comoments:
    """Kernel of a fit: co-moments of columns and targets, or rows where these are fewer numbers.

    Of rows that have groups, each is what sums call a class.
    """
    design, layout, gaps = plan
    p, t = len(design), len(design.targets)
    total: Any = ComomentsAccumulator(p + t) if p < LEAST_COLUMNS else RowsAccumulator(p, t)
    groups = room = 1

    def add(batch: Batch) -> None:
        nonlocal groups, room
        targets = cast(RealBlock, batch.blocks[-1]).values
        if design.formula:
            targets = design.modelled(targets)
        if design.words:
            design.require_words(batch)
        codes = batch.groups if len(batch.groups) else np.zeros(batch.rows, np.intp)
        groups = max(groups, int(codes.max(initial=0)) + 1)
        if groups > room:
            room = roomy(groups, room)
        if len(batch.weights):
            codes = np.where(batch.weights == 0, -1, codes)
        for rows, x in _blocks_of(design, batch):
            try:
                total.add(x, codes[rows], batch.weights[rows], room, RealBlock(targets[rows]))
            except BadCell as bad:
                bad.row, bad.column = rows.start + bad.row, design.column(cast(int, bad.column))
                raise
            if not (gaps or total.complete):
                raise IncompleteRow

    for _ in each_batch(part, layout, add):
        pass
    found = cast(KeptRows | Comoments, total.statistic())
    return found if groups == found.k else found.take(np.arange(groups))


def _blocks_of(design: Design, batch: Batch) -> Iterator[tuple[slice, RealBlock | SparseBlock]]:
    """Yield rows of numbers, compressed if they come so, with their place in the batch."""
    numbers: Any = batch.blocks[0]
    if design.is_of_numbers or (isinstance(numbers, SparseBlock) and not design.words):
        yield slice(0, batch.rows), numbers
        return
    for rows, x in rows_of(design, design.present(batch)):
        yield rows, stored_cells(x) if is_sparse(x) else RealBlock(x)


def missing_cells(part: Part, plan: tuple[Design, Layout]) -> Any:
    """Kernel that counts the missing cells of every term and target, and at last the rows."""
    design, layout = plan
    p = len(design)
    missing = np.zeros(p + len(design.targets) + 1, np.int64)

    def add(batch: Batch) -> None:
        targets = design.targets_of(batch)
        for rows, x in rows_of(design, design.present(batch)):
            y = targets[rows]
            counted = _one_class(batch.weights[rows], len(y)) >= 0
            x, y = x[counted], y[counted]
            gaps = x.indices[np.isnan(x.data)] if is_sparse(x) else np.isnan(x).nonzero()[1]
            of_terms = np.bincount(gaps, minlength=p)
            missing[:] += np.concatenate([of_terms, np.isnan(y).sum(axis=0), [len(y)]])

    for _ in each_batch(part, layout, add):
        pass
    return missing


def within(
    fit: Fit,
    posterior: Posterior,
    reach: float,
    noise: float,
    x: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Answer ŷ ± reach · √((noise + h) r/a), (n, t, 2): of the mean, or with noise = 1 of a row."""
    scale = np.sqrt((noise + fit.leverage(x))[:, None] * posterior.noise_variance)
    return ends_of(fit, reach * scale, x)


def ends_of(fit: Fit, reach: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """ŷ ± reach, (n, t, 2), of rows (n, p); ± ∞ of a row that the fit does not determine."""
    middle, known = fit.predict(x), fit.determined(x)
    reach = np.where(known[:, None], reach, np.inf)
    return np.stack([middle - reach, middle + reach], axis=-1)


def with_ends(predict: Prediction, ends: Prediction, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Answer ŷ and the ends of its interval, target by target, (n, 3t)."""
    return np.concatenate([predict(x)[:, :, None], ends(x)], axis=2).reshape(x.shape[0], -1)


def with_mark(answer: Prediction, fit: Fit, x: NDArray[np.float64]) -> Any:
    """Answer rows, and 1 where the rows of the fit do not determine what, else 0."""
    return np.concatenate([answer(x), ~fit.determined(x)[:, None]], axis=1)


def answer_names(targets: Sequence[str], ends: bool, marked: bool = False) -> list[str]:
    """Name the columns of the predictions."""
    kinds = ("prediction", "lower", "upper") if ends else ("prediction",)
    several = len(targets) > 1
    names = [f"{kind} of {target}" if several else kind for target in targets for kind in kinds]
    return [*names, UNDETERMINED] if marked else names


def without_intervals(table: pa.Table, marks: Any) -> pa.Table:
    """Return predictions in which marked rows have no ends."""
    for j, name in enumerate(table.column_names):
        if name.partition(" ")[0] in ("lower", "upper"):
            ends = pc.if_else(marks, pa.scalar(None, pa.float64()), table.column(j))
            table = table.set_column(j, name, ends)
    return table


def answer_table(names: Sequence[str], answers: NDArray[np.float64]) -> pa.Table:
    """Predictions (n, columns) as a table."""
    return pa.table(dict(zip(names, map(pa.array, answers.T), strict=True)))


def errors(part: Part, model: LinearModel) -> Moments:
    """Kernel of an evaluation: moments of e = y − ŷ, of its size, and of y, (3t)."""
    total = MomentsAccumulator(3 * len(model.design.targets))

    def add(batch: Batch) -> None:
        targets = model.design.targets_of(batch)
        for rows, x in model.rows(batch):
            y, weights = targets[rows], batch.weights[rows]
            predicted = model.judged(x, y, weights)
            model.require_finite(rows.start, x, predicted)
            e = y - predicted
            sums = RealBlock(np.concatenate([e, np.abs(e), y], axis=1))
            total.add(sums, _one_class(weights, len(y)), weights, 1)

    for _ in each_batch(part, model.layout, add):
        pass
    return total.statistic()


def _one_class(weights: NDArray[np.float64], rows: int) -> NDArray[np.intp]:
    """Class codes (n,) of rows that are all of one class; −1 where the weight is 0."""
    codes = np.zeros(rows, np.intp)
    if weights.size:
        codes[weights == 0] = -1
    return codes


def effects(design: Design, fit: Fit | Coefficients, x: Any) -> NDArray[np.float64]:
    """(x_j − o_j) w_j of rows (n, p), by column, (n, d, t)."""
    if not is_sparse(x):
        return design.by_column((x - fit.origin)[:, None] * fit.coefficients.T).swapaxes(1, 2)
    found = [
        design.by_column(x.multiply(w).tocsr()) - design.by_column((fit.origin * w)[None])
        for w in fit.coefficients.T
    ]
    return np.stack(found, axis=2)
