"""The scikit-learn contract of a linear model with numeric targets, fitted from exact sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast, get_args

import numpy as np
from numpy.typing import NDArray

from suffice.engines.engine import Engine
from suffice.errors import DataError, warn
from suffice.models.base.judge import LeaveOneOut
from suffice.models.base.options import (
    Dependent,
    Incomplete,
    Unseen,
    WeightsAre,
    check_booleans,
    check_choices,
)
from suffice.models.base.scikit_learn import (
    available_if,
    check_is_fitted,
    convergence_warning,
)
from suffice.models.design.empty_columns import without_rows, without_value
from suffice.models.design.feature_columns import named_columns
from suffice.models.design.matrix import Design
from suffice.models.design.norm import norm_of_coefficients
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.estimator import keeps_sums, require_sums
from suffice.models.linear.conformal import LinearLeftOut
from suffice.models.linear.descent import DescentFit, least_squares
from suffice.models.linear.fitted import NORMAL, FittedLinear, notebook_tables
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.model import JointGaussian, LinearModel
from suffice.models.linear.reader import LinearReader, Rows
from suffice.models.linear.saved import SAVED, SavedRegressor
from suffice.models.method import Learnt, Method
from suffice.models.optimise.gradient_descent import (
    PARTS,
    STEPS,
    GradientDescent,
    Steps,
    check_descent,
)
from suffice.models.reading import engine_for, is_named, settle_columns
from suffice.sums.comoments import Comoments
from suffice.sums.moments import refuse_underflow

__all__ = ["LinearRegressor"]


class LinearRegressor(FittedLinear):
    """A linear model that is a function of exact co-moments of columns and targets.

    A subclass holds the options and says by `_penalty` what each coefficient costs.

    What a fit leaves is said in `FittedFromSums` and `FittedLinear`, and at the properties
    themselves.
    """

    kind = replace(
        FittedLinear.kind,
        allows_missing=lambda self: self.incomplete == "gaussian",
        saved=SavedRegressor,
        types=SAVED,
        records=(GradientDescent,),
        tables=notebook_tables,
    )
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

    def method(self) -> LinearMethod:
        """Return the options as a method."""
        self._check_options()
        return LinearMethod(self)

    @available_if(keeps_sums)
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
        require_sums(self)
        other = self.unfitted().set_params(**options)
        method = other.method()
        require_sums(other)
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
        settle_columns(other, len(kept_names), kept_names if is_named(self) else None)
        if len(places) == p:  # of fewer columns, the same rows have other digests
            other.forgotten_ = self.forgotten_
        return other._set(method, Learnt(reader, batches))

    def _check_options(self) -> None:
        check_booleans(self)
        check_choices(
            self,
            incomplete=get_args(Incomplete),
            dependent=get_args(Dependent),
            weights_are=get_args(WeightsAre),
            unseen=get_args(Unseen),
        )
        check_descent(self, NORMAL, positive=True, incomplete="gaussian", dependent="error")

    def _has_intercept(self, design: Design) -> bool:
        return bool(self.fit_intercept) and design.allows_intercept

    def _descended(self, reader: LinearReader, statistic: Comoments, source: Rows) -> DescentFit:
        """Where gradient descent ends; the sums of a first pass give means and variances."""
        engine = engine_for(source)
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

    @property
    def _is_of_sums(self) -> bool:
        return self.solver not in STEPS

    def _leave_one_out(self, source: Rows) -> LeaveOneOut | None:
        fit, judge = self._solved(), self._judge(source)
        if self._fills_cells or type(fit) is not LeastSquares or fit.positive:
            return None
        model = LinearLeftOut(self.design_, judge.layout, fit)
        return LeaveOneOut(replace(judge, model=model), model.answers, {"predict": self._shaped})

    def _estimate(
        self,
        reader: LinearReader,
        statistic: Comoments,
        source: Rows | None = None,
        tuned: bool = False,
    ) -> LinearModel:
        """The model; ``source`` has all rows of the statistics, where they are at hand."""
        if self.solver in STEPS:
            assert source is not None  # a descent reads rows
            descent = self._descended(reader, statistic, source)
            return LinearModel(reader.design, reader.without_targets, descent)
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

    def _kept(self) -> dict[str, Any]:
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
        self._check_options()
        of_file = saved.layout, saved.format, saved.design, saved.single_target
        reader = LinearReader(*of_file, single=saved.single_precision)
        for name in self._tuned_names:
            setattr(self, name, getattr(saved, name))
        if saved.descended is not None:
            self.reader_ = reader
            self.model_ = LinearModel(reader.design, reader.without_targets, saved.descended)
        else:
            self._set_saved(Learnt(reader, saved.batches or ()), saved)


@dataclass(frozen=True)
class LinearMethod(Method[LinearReader, Comoments]):
    """The options of a linear model as a method."""

    estimator: Any

    @property
    def keeps_sums(self) -> bool:
        """Whether the sums stay: not where the model descends."""
        return self.estimator.solver not in STEPS

    @property
    def is_of_sums(self) -> bool:
        """Whether the model is a function of the sums alone."""
        found: bool = self.estimator._is_of_sums
        return found

    def reader(self, rows: Rows, said: Any, engine: Engine) -> LinearReader:
        """Fix how tables are read."""
        found: LinearReader = self.estimator._first_reader(rows, said)
        return found

    def sums(self, reader: LinearReader, rows: Rows, engine: Engine) -> Comoments:
        """Sum the rows of a table."""
        return reader.summarise(rows, engine, self.estimator.incomplete != "error")

    def sums_by_group(
        self, reader: LinearReader, rows: Rows, engine: Engine, group: NDArray[np.intp]
    ) -> list[Comoments]:
        """Return the sums over the rows of every group."""
        gaps = self.estimator.incomplete != "error"
        return reader.summarise_by_place(rows, engine, gaps, group)

    def model(
        self, reader: LinearReader, sums: Comoments, rows: Any = None, before: Any = None
    ) -> LinearModel:
        """Return the model of sums."""
        found: LinearModel = self.estimator._estimate(reader, sums, rows)
        return found

    def restored(self, reader: LinearReader, sums: Comoments, saved: Any) -> LinearModel:
        """Return the model of a file: what is chosen stands there."""
        found: LinearModel = self.estimator._estimate(reader, sums, None, True)
        return replace(found, errors=saved.errors)

    def shared(self, reader: LinearReader) -> Any:
        """Return what the sums depend on besides the rows."""
        return reader.layout, reader.design, self.estimator.incomplete

    def remarks(self, model: LinearModel, of_rows: bool) -> Iterator[str]:
        """Say which columns depend on others."""
        design = model.design
        if isinstance(model.fit, DescentFit):
            return
        if found := list(model.fit.remarks(design.terms)):
            yield (
                f"{'; '.join(found)}. Of all coefficients that fit as well, those of "
                "least norm were taken; dependent='error' refuses."
            )
        if model.cells is not None:
            yield from model.cells.remarks((*design.terms, *design.targets))

    def records(self, model: LinearModel) -> Sequence[Any]:
        """Return the fit."""
        return (model.fit,)

    def score_of_sums(self, estimator: Any, sums: Comoments) -> float | None:
        """Return the score of rows with these sums; None where it takes the rows themselves."""
        found: float | None = estimator._score_of_sums(sums)
        return found

    def left_out(self, estimator: Any, rows: Any) -> LeaveOneOut:
        """Return what the models of all other rows say of each row."""
        found: LeaveOneOut | None = estimator._leave_one_out(rows)
        return super().left_out(estimator, rows) if found is None else found


def _require_values(statistic: Comoments, design: Design) -> None:
    """Refuse sums of no row, and columns whose values are missing or differ by too little."""
    if statistic.is_empty:
        raise without_rows(labelled=False)
    empty = np.flatnonzero(~statistic.patterns.any(axis=0))
    if len(empty):
        raise without_value(design.column(int(empty[0])), design.targets)
    refuse_underflow(statistic.too_small, design.column)
