"""Least squares under a penalty, as a method: a reader, sums, and a model that is pure of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BlockLayout, Layout
from suffice.data.source import ArraySource
from suffice.data.table_source import TableSource
from suffice.engines.engine import Engine, engine_for
from suffice.errors import DataError, ParameterError, SchemaError, warn
from suffice.models.base.groups import ByColumns, ByPlace, sums_by_group
from suffice.models.base.judge import LeaveOneOut
from suffice.models.base.options import (
    Dependent,
    Incomplete,
    WeightsAre,
    incomplete,
    listed_missing,
)
from suffice.models.base.scikit_learn import convergence_warning
from suffice.models.design.feature_columns import Features, settled_design, without_unused
from suffice.models.design.matrix import Design
from suffice.models.design.norm import norm_of_coefficients
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.design.remarks import without_rows, without_value
from suffice.models.linear.conformal import LinearLeftOut
from suffice.models.linear.descent import Coefficients, complete_rows
from suffice.models.linear.evaluation import r_squared_of_sums
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.level_rows import LevelLeastSquares
from suffice.models.linear.model import (
    IncompleteRow,
    JointGaussian,
    LinearModel,
    missing_cells,
    summarise,
)
from suffice.models.linear.reader import (
    LinearReader,
    Rows,
    products_of,
    refuse_label_names,
)
from suffice.models.linear.ridge import RidgeSpectrum
from suffice.models.linear.rows import CentredRows, Equations, Fit, RowLeastSquares
from suffice.models.method import Method
from suffice.models.optimise.gradient_descent import (
    PARTS,
    STEPS,
    DescentRows,
    GradientDescent,
    Steps,
    check_descent,
    descend,
)
from suffice.numerics.rows import is_sparse
from suffice.rules import check_options
from suffice.sums.comoments import Comoments
from suffice.sums.kept_rows import LEAST_COLUMNS, KeptRows
from suffice.sums.keys import Keyed
from suffice.sums.moments import refuse_underflow

NORMAL = "use solver='normal'"
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Penalty:
    """Σⱼ λⱼwⱼ² + 2 Σⱼ cⱼ|wⱼ|, which is added to the sum of squares.

    ::

        λ = να(1 − ρ)u²     c = ναρu

    with u = 1, or the standard deviations of the columns; and ν = 1, or the weight n of the rows,
    where α is beside Σ(y − b − xᵀw)²/(2n).
    """

    alpha: float | Literal["gcv"] = 0.0  # α, or how it is chosen
    standardize: bool = False  # whether u are standard deviations
    l1_ratio: float = 0.0  # ρ
    of_mean: bool = False  # whether ν is n
    tolerance: float = 1e-12
    max_sweeps: int = 1_000

    def squares(self, equations: Equations, alpha: float) -> Array:
        """Return λ, what the square of every coefficient costs, (p,)."""
        u2 = equations.variance if self.standardize else np.ones_like(equations.variance)
        share = (1.0 - self.l1_ratio) * (equations.rows if self.of_mean else 1.0)
        return np.asarray(alpha * share * u2)

    def costs(self, equations: Equations, alpha: float) -> Array:
        """Return c, half of what its absolute value costs, (p,)."""
        u = np.sqrt(equations.variance) if self.standardize else np.ones_like(equations.variance)
        share = self.l1_ratio * (equations.rows if self.of_mean else 1.0)
        return np.asarray(alpha * share * u)

    def minimum(
        self, equations: Equations, alpha: float, positive: bool, start: Array | None = None
    ) -> Fit:
        """Return the coefficients of the least sum; a descent begins at those given, (p, t)."""
        squares = self.squares(equations, alpha)
        costs = self.costs(equations, alpha) if self.l1_ratio else np.zeros_like(squares)
        if positive or costs.any():
            from suffice.models.linear.l1 import l1_fit  # which takes SciPy

            ends = {"tolerance": self.tolerance, "max_sweeps": self.max_sweeps}
            return l1_fit(equations, squares, costs, positive, start=start, **ends)
        if isinstance(equations, NormalEquations):
            return LeastSquares(equations, squares)
        has_levels = equations.levels.stop > equations.levels.start
        return (LevelLeastSquares if has_levels else RowLeastSquares)(equations, squares)

    def fit(self, equations: Equations, alpha: float, positive: bool) -> Fit:
        """Return the minimum, with a warning if it was not reached."""
        found = self.minimum(equations, alpha, positive)
        if not found.converged:
            warn(
                f"coordinate descent did not converge in {self.max_sweeps} sweeps; raise max_iter, "
                "or alpha.",
                convergence_warning(),
            )
        return found


@dataclass(frozen=True)
class LinearMethod(Method[LinearReader, Any]):
    """Options of a linear model with numeric targets: see `suffice.linear_model.LinearRegression`.

    ``steps`` are those of a descent in the place of the normal equations.
    """

    penalty: Penalty
    intercept: bool
    positive: bool
    incomplete: Incomplete
    dependent: Dependent = "minimum_norm"
    weights_are: WeightsAre = "copies"
    steps: Steps | None = None
    descent: GradientDescent | None = None
    candidates: Array | None = None  # of α, where it is chosen

    @property
    def keeps_sums(self) -> bool:
        return self.steps is None

    @property
    def square(self) -> float | None:
        """Return λ, what the square of every coefficient costs; None where that is not all."""
        given = self.penalty
        if given.alpha == "gcv" or given.of_mean or self.positive:
            return None
        return float(given.alpha) if not (given.alpha > 0 and given.standardize) else None

    @property
    def is_of_sums(self) -> bool:
        return self.steps is None

    # -- reader, sums

    def reader(self, rows: Rows, said: tuple[Features, bool], engine: Engine) -> LinearReader:
        """Fix the terms that the columns of the first table become."""
        found, single_target = said
        if isinstance(rows, TableSource):
            refuse_label_names(rows)
            if not found.columns:
                raise SchemaError(
                    "the table has no column besides the target", "a model needs features"
                )
        design = settled_design(rows, found, engine)
        blocks = design.blocks
        is_wide = design.formula is None and len(design) >= LEAST_COLUMNS
        if is_wide and isinstance(rows, ArraySource) and is_sparse(rows.x):
            blocks = (BlockLayout("sparse", design.columns),)
        reader = LinearReader.of(
            rows,
            found.columns,
            blocks,
            {},
            design=design,
            single_target=single_target,
            gaps=self.incomplete != "error",
        )
        return reader if found.formula is None else without_unused(reader, rows, found)

    def sums(
        self,
        reader: LinearReader,
        rows: Rows,
        engine: Engine,
        like: Any = None,
        groups: ByColumns | ByPlace | None = None,
    ) -> Any:
        """Return the sums of all rows, or those of each group, by key."""
        layout, kernel = reader.layout_of(rows), cast(Any, summarise)
        params = reader.design, layout, reader.gaps
        try:
            if groups is not None:
                return sums_by_group(kernel, params, engine, rows, layout, groups)
            found = engine.run(kernel, params, rows.parts(layout, engine.workers))
        except IncompleteRow:
            raise _incomplete(reader.design, layout, rows, engine) from None
        # Rows as they came are let go before the model is made of them.
        return found.canonical() if isinstance(found, KeptRows) else found

    def sums_by_group(
        self, reader: LinearReader, rows: Rows, engine: Engine, groups: ByColumns | ByPlace
    ) -> Keyed:
        found: Keyed = self.sums(reader, rows, engine, groups=groups)
        return found

    def alone(
        self, reader: LinearReader, sums: KeptRows | Comoments, g: int
    ) -> KeptRows | Comoments:
        return sums.take(np.array([g]))

    def shared(self, reader: LinearReader) -> Any:
        return reader.layout, reader.design, self.incomplete

    # -- the model

    def model(
        self,
        reader: LinearReader,
        sums: KeptRows | Comoments,
        rows: Any = None,
        before: Any = None,
        newest: Any = None,
    ) -> LinearModel:
        design = reader.design
        if sums.is_empty:
            raise without_rows(labelled=False)
        for place in np.flatnonzero(~sums.patterns.any(axis=0))[:1].tolist():
            raise without_value(design.column(place), design.targets)
        if (too_small := sums.too_small).any():
            refuse_underflow(too_small, design.column)
        if self.steps is not None:
            return self._descended(reader, sums, rows, self.steps)
        cells = self._cells(sums) if self.incomplete == "gaussian" else None
        equations = self._equations(sums, design, cells)
        if self.penalty.alpha == "gcv":
            spectrum = RidgeSpectrum.of(equations, self.penalty.squares(equations, 1.0))
            alpha = spectrum.best(self.candidates)
        else:
            alpha = float(self.penalty.alpha)
        fit = self.penalty.fit(equations, alpha, self.positive)
        needs_products = self.dependent == "error" or bool(design.categories)
        if needs_products and type(fit) is RowLeastSquares and fit.deficient:
            equations = self._equations(products_of(sums), design, cells)
            fit = self.penalty.fit(equations, alpha, self.positive)
        if design.categories and isinstance(fit, LeastSquares) and fit.deficient:
            fit = replace(fit, norm=norm_of_coefficients(design))
        if self.dependent == "error" and (found := list(fit.remarks(design.terms))):
            raise DataError(
                "; ".join(found),
                "the coefficients of such columns are not determined",
                "leave columns out, or use dependent='minimum_norm', or Ridge",
            )
        return LinearModel(design, reader.to_answer, fit, cells, alpha=alpha)

    def restored(self, reader: LinearReader, sums: KeptRows | Comoments, saved: Any) -> LinearModel:
        """Return the model of a file: α stands there."""
        given: Any = replace(cast(Any, self.penalty), alpha=float(saved.alpha_))
        return replace(replace(self, penalty=given).model(reader, sums), errors=saved.errors)

    def _cells(self, sums: KeptRows | Comoments) -> JointGaussian | None:
        if isinstance(sums, KeptRows) and is_sparse(sums.x):
            if sums.complete:
                return None
            raise ParameterError(
                f"incomplete='gaussian' with {sums.d:,} terms and targets",
                "a Gaussian of all of them together is not estimated from rows of few cells",
                "use incomplete='drop'",
            )
        return JointGaussian.of(products_of(sums))

    def _equations(
        self, sums: KeptRows | Comoments, design: Design, cells: JointGaussian | None
    ) -> Equations:
        found: Equations
        intercept, p = self.intercept and design.allows_intercept, len(design)
        if cells is not None:
            sums = products_of(sums)
            if not sums.complete:  # which has no standard errors
                return cells.equations(p, intercept)
        if isinstance(sums, KeptRows):
            found = CentredRows.of(sums, intercept, design.level_blocks)
        else:
            found = NormalEquations.of(sums, p, intercept)
        if self.weights_are == "copies":
            return found
        if not found.weights.count:
            raise DataError(
                "the sums do not tell how many rows there are",
                "errors of weights that are precisions are estimated from the number of rows",
                "fit the rows anew",
            )
        return replace(found, weights=replace(found.weights, precisions=True))

    def _descended(
        self, reader: LinearReader, sums: KeptRows | Comoments, rows: Rows, steps: Steps
    ) -> LinearModel:
        """Descend from 0; the sums of a first pass give means and variances.

        Targets are standardised as columns are.
        """
        equations = self._equations(products_of(sums), reader.design, None)
        assert isinstance(equations, NormalEquations)
        alpha, intercept = float(self.penalty.alpha), equations.intercept
        n, origin, middle = equations.rows, equations.x_mean.value, equations.y_mean.value
        scale = np.sqrt(np.diagonal(equations.xx.value) / n)
        unit = np.sqrt(equations.yy.value / n)
        how, layout = self.descent or GradientDescent(), reader.layout_of(rows)
        of_rows = DescentRows(
            layout,
            partial(complete_rows, reader.design, middle, unit),
            origin,
            scale,
            self.penalty.squares(equations, alpha),
            intercept,
            n,
            equations.count,
            equations.t,
            1.0,
        )
        engine, parts = engine_for(rows), rows.parts(layout, PARTS)
        course = descend(of_rows, parts, engine, how, steps, unit**2)
        if not course.converged:
            warn(how.unfinished(how.passes, "normal"), convergence_warning())
        w = course.coefficients * unit[:, None]
        found = np.ascontiguousarray(w[:, 1:].T)
        at = origin, middle + w[:, 0], found, scale, intercept
        fit = Coefficients(*at, course.loss_history)
        return LinearModel(reader.design, reader.to_answer, fit, alpha=alpha)

    def remarks(self, model: LinearModel, of_rows: bool) -> Iterator[str]:
        design = model.design
        if isinstance(model.fit, Coefficients):
            return
        if model.fit.deficient and (found := list(model.fit.remarks(design.terms))):
            yield (
                f"{'; '.join(found)}. Of all coefficients that fit as well, those of "
                "least norm were taken; dependent='error' refuses."
            )
        if model.cells is not None:
            yield from model.cells.remarks((*design.terms, *design.targets))

    def records(self, model: LinearModel) -> Sequence[Any]:
        return (model.fit,)

    # -- rows that are judged

    def score_of_sums(self, estimator: Any, sums: KeptRows | Comoments) -> float | None:
        fit = estimator.model_.fit
        other = estimator.model_.cells is not None or estimator.design_.has_functions
        if other or isinstance(sums, KeptRows) or not isinstance(fit, LeastSquares):
            return None
        return r_squared_of_sums(fit, sums)

    def left_out(self, estimator: Any, rows: Any) -> LeaveOneOut | None:
        if self.square is None:  # every row left out changes the penalty
            return None
        model, fit = estimator.model_, estimator.model_.fit
        filled = model.cells is not None and not estimator.statistic_.complete
        if filled or type(fit) not in (LeastSquares, RowLeastSquares):
            return None
        judge = estimator._judge(rows)
        others = LinearLeftOut(model.design, judge.layout, fit)
        shaped = {"predict": estimator._shaped}
        return LeaveOneOut(replace(judge, model=others), others.answers, shaped)


def _incomplete(design: Design, layout: Layout, rows: Rows, engine: Engine) -> DataError:
    """Return the error of missing cells, which are counted for it."""
    parts = rows.parts(layout, engine.workers)
    *counts, n = engine.run(missing_cells, (design, layout), parts).tolist()
    for place in [j for j, count in enumerate(counts) if count == n][:1]:
        return without_value(design.column(place), design.targets)
    places = np.flatnonzero(counts).tolist()
    of_columns = listed_missing({design.column(j): str(counts[j]) for j in places})
    return incomplete(of_columns, "use incomplete='gaussian'")


def method_of(estimator: Any, penalty: Penalty) -> LinearMethod:
    check_options(estimator)
    if estimator.descent is not None or estimator.solver in STEPS:
        check_descent(estimator, NORMAL, positive=True, incomplete="gaussian", dependent="error")
    return LinearMethod(
        penalty,
        bool(estimator.fit_intercept),
        bool(estimator.positive),
        estimator.incomplete,
        estimator.dependent,
        estimator.weights_are,
        estimator.solver if estimator.solver in STEPS else None,
        estimator.descent,
    )
