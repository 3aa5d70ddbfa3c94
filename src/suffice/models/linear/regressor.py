"""The scikit-learn contract of a linear model with numeric targets, fitted from exact sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self, cast, get_args

import numpy as np
from numpy.typing import NDArray

from suffice.engines.engine import fit_context
from suffice.errors import DataError, warn
from suffice.models.base.exact import ExactEstimator
from suffice.models.base.learnt import Learnt
from suffice.models.base.leave_one_out import LeaveOneOut
from suffice.models.base.options import (
    Dependent,
    Incomplete,
    WeightsAre,
    check_booleans,
    check_choices,
)
from suffice.models.base.scikit_learn import (
    available_if,
    check_is_fitted,
    convergence_warning,
)
from suffice.models.base.streams import check_stream
from suffice.models.design.empty_columns import without_rows, without_value
from suffice.models.design.feature_columns import named_columns
from suffice.models.design.matrix import Design
from suffice.models.design.norm import norm_of_coefficients
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.linear.conformal import LinearLeftOut
from suffice.models.linear.descent import DescentFit, least_squares
from suffice.models.linear.fitted import NORMAL, FittedLinear
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.model import JointGaussian, LinearModel
from suffice.models.linear.reader import LinearReader, Rows
from suffice.models.linear.saved import SAVED, SavedRegressor
from suffice.models.optimise.gradient_descent import (
    PARTS,
    STEPS,
    GradientDescent,
    Steps,
    check_descent,
)
from suffice.sums.comoments import Comoments
from suffice.sums.moments import refuse_underflow

__all__ = ["LinearRegressor"]


class LinearRegressor(FittedLinear, ExactEstimator[LinearReader, Comoments, Rows]):
    """A linear model that is a function of exact co-moments of columns and targets.

    A subclass holds the options and says by `_penalty` what each coefficient costs.

    What a fit leaves is said in `ExactEstimator` and `FittedLinear`, and at the properties
    themselves.
    """

    model_name, row_name = "linear model", "row"
    saved: ClassVar[type[SavedRegressor]] = SavedRegressor
    saved_types, saved_options = SAVED, (GradientDescent,)
    fit_intercept: bool
    positive: bool
    incomplete: Incomplete
    dependent: Dependent
    weights_are: WeightsAre
    solver: str
    descent: GradientDescent | None
    _tuned_names: tuple[str, ...] = ()  # what `_tune` chooses

    def _penalty(self, equations: NormalEquations) -> NDArray[np.float64]:
        """λ of every column, (p,)."""
        return np.zeros(equations.p)

    def _tune(
        self,
        equations: NormalEquations | None = None,
        reader: LinearReader | None = None,
        source: Rows | None = None,
    ) -> None:
        """Choose what is left open, from the sums, or from the rows where all are at hand.

        A descent has neither: nothing is left open there.
        """

    # -- learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a table, forgetting everything learnt before.

        Parameters
        ----------
        X : table (n, d)
            A NumPy array or SciPy sparse matrix; anything with ``__arrow_c_stream__`` (pandas,
            polars, pyarrow, duckdb); a dict of columns; a path, glob or list of paths (Parquet,
            Arrow IPC, CSV, TSV); or what `suffice.read_csv` returns. Columns of strings are texts
            or categories, each value compared with the first of them; dates are seconds.
        y : array-like (n,) or (n, t), str, or list of str
            Targets, or the names of their columns.
        sample_weight : array-like (n,) or str, optional
            Row weights, 0 or more, or the name of their column: copies of the row, or its
            precision, as ``weights_are`` says.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If a cell breaks a rule (it is named by column and row), or is missing with
            ``incomplete="error"``, or columns depend on each other with ``dependent="error"``.
        ParameterError
            If an option is outside its rule.
        """
        with fit_context(self):
            self._check_options()
            reader, source = self._open_first(X, y, sample_weight)
            if self.solver in STEPS:
                return self._set_descended(reader, self._descended(reader, source))
            statistic = self._summarise(reader, source)
            self._set(Learnt(reader, (statistic,)), source=source)
            self.forgotten_ = ()
            return self

    @available_if(lambda self: self._require_sums() is None)
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        decay: float = 1.0,
        window: int | None = None,
    ) -> Self:
        """Learn from more rows; the result is that of one `fit` of all of them.

        See `fit` for the other parameters and the errors. Categories are those of the first rows;
        a row that shows another is refused.

        A stream may fade, or be seen through a window; a batch is what one call learns. With both,
        the result is that of one `fit` of the last batches, each with its weight.

        A model that descends has no such method: it keeps no sums.

        Parameters
        ----------
        decay : float
            γ, above 0 and at most 1: before this batch joins, every weight learnt is multiplied by
            it. A batch of age a (0 for the newest) then weighs γᵃ, to a relative error of 2⁻¹⁰⁰,
            and without any where γ is a power of 2.
        window : int, optional
            Keep only so many batches, this one included; what was learnt before there was a window
            counts as one batch. Default: all.
        """
        check_stream(decay, window)
        with fit_context(self):
            self._check_options()
            return self._learn_more(X, y, sample_weight, decay, window)

    def refit(self, columns: Sequence[str | int] | None = None, **options: Any) -> Self:
        """Return a new model of some of the columns, or with other options, from the same sums.

        No row is read.

        Parameters
        ----------
        columns : sequence of str or int, optional
            Names or positions of the columns, or of the products of a formula; default: all. They
            keep their order in the table. Tables may still have the others, arrays may not.
        **options
            Other values of the model's parameters.

        Raises
        ------
        SchemaError
            If there is no such column, or the sums lack a term of the new model: that of the first
            value of a category, which only models without an intercept have.
        ParameterError
            If an option is outside its rule.

        Examples
        --------
        >>> from suffice.linear_model import LinearRegression
        >>> model = LinearRegression().fit([[0.0, 1.0], [1.0, 1.0], [2.0, 4.0]], [0, 1, 2])
        >>> model.refit(columns=["x0"]).coef_
        array([1.])
        """
        check_is_fitted(self)
        self._require_sums()
        other = self.unfitted().set_params(**options)
        other._check_options()
        other._require_sums()
        design, batches = self.design_, self.batches_
        names = design.groups if columns is None else named_columns(columns, design.groups)
        reader = self.reader_.keep(names)
        intercept = bool(other.fit_intercept)
        reader = replace(reader, design=reader.design.spanning(intercept))
        places = design.places_of(reader.design)
        p, t = len(design), len(design.targets)
        if len(places) < p:
            kept = np.append(places, np.arange(p, p + t))
            batches = tuple(batch.marginal(kept) for batch in batches)
        kept_names = reader.design.columns
        other._settle_columns(len(kept_names), kept_names if self._is_named() else None)
        if len(places) == p:  # of fewer columns, the same rows have other digests
            other.forgotten_ = self.forgotten_
        return other._set(Learnt(reader, batches))

    def _check_options(self) -> None:
        check_booleans(self)
        check_choices(
            self,
            incomplete=get_args(Incomplete),
            dependent=get_args(Dependent),
            weights_are=get_args(WeightsAre),
        )
        self._check_unseen()
        check_descent(self, NORMAL, positive=True, incomplete="gaussian", dependent="error")

    def _has_intercept(self, design: Design) -> bool:
        return bool(self.fit_intercept) and design.allows_intercept

    def _descended(self, reader: LinearReader, source: Rows) -> DescentFit:
        """Where gradient descent ends; the sums of a first pass give means and variances."""
        statistic, engine = self._summarise(reader, source), self._engine_for(source)
        _require_values(statistic, reader.design)
        equations = self._equations(statistic, reader.design, None)
        self._tune()
        how, layout = self.descent or GradientDescent(), reader.layout_of(source)
        parts, steps = source.parts(layout, PARTS), cast(Steps, self.solver)
        of_rows = reader.design, layout, parts, engine
        fit, course = least_squares(equations, self._penalty(equations), *of_rows, how, steps)
        if not course.converged:
            warn(how.unfinished(how.passes, "normal"), convergence_warning())
        return fit

    def _set_descended(self, reader: LinearReader, fit: DescentFit) -> Self:
        for name in ("statistic_", "batches_", "forgotten_"):
            self.__dict__.pop(name, None)
        self.reader_ = reader
        self.model_ = LinearModel(reader.design, reader.without_targets, fit)
        return self

    def _summarise(self, reader: LinearReader, source: Rows) -> Comoments:
        engine, gaps = self._engine_for(source), self.incomplete != "error"
        return reader.summarise(source, engine, gaps)

    @property
    def _is_of_sums(self) -> bool:
        return self.solver not in STEPS

    def _leave_one_out(self, source: Rows) -> LeaveOneOut:
        fit, judge = self._solved(), self._judge(source)
        if self._fills_cells or type(fit) is not LeastSquares or fit.positive:
            return super()._leave_one_out(source)
        model = LinearLeftOut(self.design_, judge.layout, fit)
        return LeaveOneOut(replace(judge, model=model), model.answers, {"predict": self._shaped})

    def _sums_of(self, reader: LinearReader) -> Any:
        return reader.layout, reader.design, self.incomplete

    def _sums_by_place(
        self, reader: LinearReader, source: Rows, group: NDArray[np.intp]
    ) -> list[Comoments]:
        engine, gaps = self._engine_for(source), self.incomplete != "error"
        return reader.summarise_by_place(source, engine, gaps, group)

    def _estimate(
        self,
        reader: LinearReader,
        statistic: Comoments,
        source: Rows | None = None,
        tuned: bool = False,
    ) -> LinearModel:
        """The model; ``source`` has all rows of the statistics, where they are at hand."""
        design, cells = reader.design, None
        _require_values(statistic, design)
        if self.incomplete == "gaussian":
            cells = JointGaussian.of(statistic)
        equations = self._equations(statistic, design, cells)
        if not tuned:
            self._tune(equations, reader, source)
        fit = self._minimum(equations)
        if fit.factor.dependent and design.categories:
            fit = replace(fit, norm=norm_of_coefficients(design))
        if self.dependent == "error" and (found := list(fit.remarks(design.terms))):
            raise DataError(
                "; ".join(found),
                "the coefficients of such columns are not determined",
                "leave columns out, or use dependent='minimum_norm', or Ridge",
            )
        return LinearModel(design, reader.without_targets, fit, cells)

    def _minimum(self, equations: NormalEquations) -> LeastSquares:
        """The coefficients that minimise the penalised sum of squares."""
        return LeastSquares(equations, self._penalty(equations), bool(self.positive))

    def _records(self) -> Sequence[Any]:
        return (self.model_.fit,)

    def _warnings(self) -> Iterator[str]:
        model, design = self.model_, self.model_.design
        if found := list(cast(LeastSquares, model.fit).remarks(design.terms)):
            yield (
                f"{'; '.join(found)}. Of all coefficients that fit as well, those of "
                "least norm were taken; dependent='error' refuses."
            )
        if model.cells is not None:
            yield from model.cells.remarks((*design.terms, *design.targets))

    def _equations(
        self, statistic: Comoments, design: Design, cells: JointGaussian | None
    ) -> NormalEquations:
        intercept, p = self._has_intercept(design), len(design)
        if cells is not None and not statistic.complete:  # which has no standard errors
            return cells.equations(p, intercept)
        found = NormalEquations.of(statistic, p, intercept)
        if self.weights_are == "copies":
            return found
        if not found.weights.count:
            raise DataError(
                "the sums do not tell how many rows there are",
                "errors of weights that are precisions are estimated from the number of rows",
                "fit the rows anew",
            )
        return replace(found, weights=replace(found.weights, precisions=True))

    # -- keeping

    def _learnt(self) -> dict[str, Any]:
        fit, reader = self.model_.fit, self.reader_
        learnt = {
            "design": reader.design,
            "batches": getattr(self, "batches_", None),
            "descended": fit if isinstance(fit, DescentFit) else None,
            "single_target": reader.single_target,
        }
        errors = {} if self.model_.errors is None else {"errors": self.model_.errors}
        if self.forgotten_:
            learnt["forgotten"] = self.forgotten_
        return learnt | errors | {name: getattr(self, name) for name in self._tuned_names}

    def _restore(self, saved: SavedRegressor) -> None:
        of_file = saved.layout, saved.format, saved.design, saved.single_target
        reader = LinearReader(*of_file, single=saved.single_precision)
        for name in self._tuned_names:
            setattr(self, name, getattr(saved, name))
        if saved.descended is not None:
            self._set_descended(reader, saved.descended)
        else:
            self.forgotten_ = saved.forgotten
            self._restore_sums(Learnt(reader, saved.batches or ()), saved)
            self.model_ = replace(self.model_, errors=saved.errors)

    def _check_saved(self, saved: Any) -> None:
        super()._check_saved(saved)
        self._check_options()


def _require_values(statistic: Comoments, design: Design) -> None:
    """Refuse sums of no row, and columns whose values are missing or differ by too little."""
    if statistic.is_empty:
        raise without_rows(labelled=False)
    empty = np.flatnonzero(~statistic.patterns.any(axis=0))
    if len(empty):
        raise without_value(design.column(int(empty[0])), design.targets)
    refuse_underflow(statistic.too_small, design.column)
