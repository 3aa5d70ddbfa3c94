"""The scikit-learn contract of a linear model with numeric targets, fitted from exact sums."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal, Self, cast, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from suffice.data.schema import Layout
from suffice.data.source import Split
from suffice.engines.engine import Engine
from suffice.errors import DataError, ForgetError, ParameterError, SchemaError, warn
from suffice.models.base.checks import forgetting, unless_it_fails
from suffice.models.base.missing_cells import incomplete, listed_missing, without_value
from suffice.models.base.options import Dependent, Missing, check_choices
from suffice.models.base.streams import check_stream, forgettable, side_by_side, succeeded
from suffice.models.design.feature_columns import named_columns
from suffice.models.design.normal_equations import ROUNDED, NormalEquations
from suffice.models.linear.comparison import category_counts, check_same_columns, compared_rows
from suffice.models.linear.descent import DescentFit, ReadRows, first_pass, least_squares
from suffice.models.linear.fitted import NORMAL, FittedLinear
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.missing_cells import JointGaussian
from suffice.models.linear.model import IncompleteRow, LinearModel, missing_cells, summarise
from suffice.models.linear.saved import SAVED, SavedRegressor
from suffice.models.linear.standard import Columns, Standard
from suffice.models.linear.targets import Rows
from suffice.models.optimise.descent_options import (
    SINGLE_ROWS,
    STEPS,
    GradientDescent,
    check_descent_options,
)
from suffice.models.optimise.gradient_descent import PARTS
from suffice.numerics.linalg import TOLERANCE
from suffice.phrases import Option, Phrase, PythonOnly
from suffice.rules import check
from suffice.statistics.comoments import Comoments
from suffice.statistics.comparison import Comparison
from suffice.statistics.moments import require_spread
from suffice.statistics.statistic import tree_sum

__all__ = ["LinearRegressor", "Precision"]

Precision = Literal["exact", "double"]


class LinearRegressor(FittedLinear):
    """A linear model that is a function of exact co-moments of columns and targets.

    A subclass holds the options and says by `_penalty` what each coefficient costs.

    Attributes
    ----------
    statistic_ : Comoments
        Exact sums over all rows learnt so far.
    batches_ : tuple of Comoments
        The statistics that it is the sum of: one, or one for each batch of a window.
    model_ : LinearModel
        Everything that follows from them.
    coef_, intercept_ : ndarray
        w, (d,), or (t, d) for targets (n, t); b, a number or (t,).
    rank_, singular_ : int, ndarray
        Rank of the columns about their means, and their singular values.
    schema_ : sequence of Column
        What each column is, and why.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)
        Only when the columns have names.
    """

    _saved_types = SAVED
    _option_types = (GradientDescent,)
    fit_intercept: bool
    positive: bool
    missing: Missing
    dependent: Dependent
    precision: Precision
    solver: str
    descent: GradientDescent | None
    _tuned_names: tuple[str, ...] = ()  # what `_tune` chooses
    saved: type[SavedRegressor] = SavedRegressor

    def _penalty(self, columns: Columns) -> NDArray[np.float64]:
        """λ of every column, (p,)."""
        return np.zeros(columns.p)

    def _tune(self, equations: NormalEquations, source: Rows | None) -> None:
        """Choose what is left open, from the sums, or from the rows where all are at hand."""

    # -- learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a table, forgetting everything learnt before.

        Parameters
        ----------
        X : table (n, d)
            A NumPy array or SciPy sparse matrix; anything with ``__arrow_c_stream__`` (pandas,
            polars, pyarrow, duckdb); a dict of columns; a path, glob or list of paths (Parquet,
            Arrow IPC, CSV, TSV); or what `suffice.read_csv` returns. Columns of strings are
            categories, each compared with the first of its sorted values.
        y : array-like (n,) or (n, t), str, or list of str
            Targets, or the names of their columns.
        sample_weight : array-like (n,) or str, optional
            Row weights, 0 or more, or the name of their column. A row of weight 2 is the row
            twice. Where weights are inverse variances, let their mean be 1: standard errors are
            then those of weighted least squares.

        Returns
        -------
        self

        Raises
        ------
        DataError
            If a cell breaks a rule (it is named by column and row), or is missing with
            ``missing="error"``, or columns depend on each other with ``dependent="error"``.
        ParameterError
            If an option is outside its rule.
        """
        with unless_it_fails(self):
            self._check_options()
            source = self._open_new(X, y, sample_weight)
            if self.solver in STEPS:
                return self._descend(source)
            return self._set(self._summarise(source), source=source)

    @available_if(lambda self: self._require_more() is None)  # type: ignore[untyped-decorator]
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

        With ``solver="sgd"`` or ``"minibatch"`` every call is one epoch of the rows given, from
        where the last ended: the first settles centres and units of the columns, the learning
        rate decays from call to call, and a penalty is shared among all rows seen. With
        ``solver="gradient"`` there is no such method.

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
        with unless_it_fails(self):
            self._check_options()
            if self.solver in SINGLE_ROWS:
                if decay != 1 or window is not None:
                    raise ParameterError(
                        f"decay={decay!r}, window={window!r} with solver={self.solver!r}",
                        "gradient descent keeps no sums that could fade or leave",
                        NORMAL,
                    )
                return self._step_on(X, y, sample_weight)
            first = not hasattr(self, "statistic_")
            source = (self._open_new if first else self._open_more)(X, y, sample_weight)
            more = self._summarise(source)
            batches = (more,) if first else succeeded(self.batches_, more, decay, window)
            return self._set(*batches, source=source if batches[0] is more else None)

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows away again; the result is that of a `fit` without them.

        See `fit` for the parameters. Values of categories that no row shows any more are unknown.

        Raises
        ------
        ForgetError
            If the rows cannot have been learnt, or the model sees them through a window.
        """
        check_is_fitted(self)
        self._require_sums()
        known = forgettable(self.batches_)
        gone = self._summarise(self._open_more(X, y, sample_weight))
        with forgetting(lambda error: self.design_.column(cast(int, error.column))):
            rest = known - gone
        if not len(rest.code):
            raise ForgetError(
                "no row would be left",
                "a model rests on one row at least",
                "delete the model instead",
            )
        with unless_it_fails(self):
            return self._set(self._still_shown(rest))

    def merge(self, other: LinearRegressor) -> Self:
        """Learn what another model of the same columns and targets has learnt.

        Two windows are added batch by batch, the newest to the newest.

        Raises
        ------
        SchemaError
            If the two models do not read the same columns in the same way.
        """
        self._check_alike(other, "merged")
        if self.design_.categories != other.design_.categories:
            raise SchemaError(
                "the models differ in the values of their categories",
                "only models of the same categories can be merged",
                "fit one model to the rows of both",
            )
        with unless_it_fails(self):
            return self._set(*side_by_side(self.batches_, other.batches_))

    def compare(self, other: LinearRegressor) -> Comparison:
        """Return what divides the rows of two models, column by column, the largest first.

        Neither reads rows again: a model holds the statistic of its rows. Targets are columns like
        the others; categories are compared by their shares, and may have other values. The result
        prints as a table, and is a record of `suffice.statistics.comparison`.

        Parameters
        ----------
        other : LinearRegressor
            A model of the same columns and targets, of the rows to compare with.

        Raises
        ------
        SchemaError
            If the two models do not read the same columns in the same way.

        Examples
        --------
        >>> from suffice.linear_model import LinearRegression
        >>> before = LinearRegression().fit([[1.0, 5.0], [2.0, 4.0], [3.0, 9.0]], [0, 1, 1])
        >>> after = LinearRegression().fit([[7.0, 5.0], [8.0, 4.0], [9.0, 9.0]], [0, 1, 1])
        >>> print(before.compare(after))
            Hellinger  PSI  p      missing
        x0     0.9994   54  -  0.0% → 0.0%
        x1     0.0000    0  -  0.0% → 0.0%
        y      0.0000    0  -  0.0% → 0.0%
        """
        self._check_alike(other, "compared")
        return compared_rows(self.statistic_, self.design_, other.statistic_, other.design_)

    def _check_alike(self, other: Any, verb: str) -> None:
        """Refuse what is no fitted model of the same columns and targets that has sums."""
        check_is_fitted(self)
        if not isinstance(other, LinearRegressor):
            raise ParameterError(
                f"{other!r} is no linear model", f"only fitted linear models can be {verb}"
            )
        check_is_fitted(other)
        self._require_sums()
        other._require_sums()
        check_same_columns(self.design_, other.design_, verb)

    def refit(self, columns: Sequence[str | int] | None = None, **options: Any) -> Self:
        """Return a new model of some of the columns, or with other options, from the same sums.

        No row is read.

        Parameters
        ----------
        columns : sequence of str or int, optional
            Names or positions of the columns; default: all. They keep their order in the table.
            Tables may still have the others, arrays may not.
        **options
            Other values of the model's parameters.

        Raises
        ------
        SchemaError
            If there is no such column.
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
        other: Self = clone(self).set_params(**options)
        other._check_options()
        other._require_sums()
        every = self.design_.columns
        names = every if columns is None else named_columns(columns, every)
        design = self.design_.keep(names)
        places = self.design_.places(names)
        p, t = len(self.design_), len(self.design_.targets)
        batches = self.batches_
        if len(places) < p:
            kept = np.append(places, np.arange(p, p + t))
            batches = tuple(batch.marginal(kept) for batch in batches)
        if hasattr(self, "feature_names_in_"):
            other.feature_names_in_ = np.array(design.columns, dtype=object)
        other.n_features_in_, other.single_target_ = len(design.columns), self.single_target_
        other.design_, other.format_ = design, self.format_
        schema = tuple(column for column in self.schema_ if column.name in set(names))
        left = tuple(name for name in self.design_.columns if name not in set(names))
        other.layout_ = replace(
            self.layout_,
            blocks=design.blocks,
            columns=self.schema_ if not left else schema,
            ignored=(*self.layout_.ignored, *left),
        )
        return other._set(*batches)

    def _check_options(self) -> None:
        check_choices(
            self,
            missing=get_args(Missing),
            dependent=get_args(Dependent),
            precision=get_args(Precision),
        )
        check_descent_options(self, NORMAL, positive=True, missing="gaussian", dependent="error")

    def _require_more(self) -> None:
        """Refuse to learn further rows where there is nothing to go on from."""
        if self.solver not in SINGLE_ROWS:
            self._require_sums()

    def _descend(self, source: Rows) -> Self:
        """Estimate by gradient descent, pass by pass."""
        how = self.descent or GradientDescent()
        rows, splits, standard = self._standardised(source, first=True)
        engine, costs = self._engine_for(source), self._penalty(standard)
        rows = rows.among(standard.penalised(costs), costs)
        fit = least_squares(rows, splits, engine, how, cast(Any, self.solver))
        self._set_descended(fit)
        if not fit.converged:
            warn(how.unfinished(cast(Any, self.solver), how.max_iter, "normal"), ConvergenceWarning)
        return self

    def _step_on(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Step after every few of some more rows."""
        fit = getattr(getattr(self, "model_", None), "fit", None)
        before = fit if isinstance(fit, DescentFit) else None
        source = (self._open_new if before is None else self._open_more)(X, y, sample_weight)
        rows, splits, standard = self._standardised(source, first=before is None)
        costs = self._penalty(standard)
        if before is None:
            before = DescentFit.at_rest(standard.penalised(costs))
        else:
            before = before.joined(standard)
            costs = self._penalty(before.standard)
        rows, how = rows.among(before.standard, costs), self.descent or GradientDescent()
        return self._set_descended(before.after(rows, splits, how, cast(Any, self.solver)))

    def _standardised(
        self, source: Rows, first: bool
    ) -> tuple[ReadRows, Sequence[Split], Standard]:
        """How the rows of a source are read, and their own centres and units.

        Column scales are set from the first rows, so every column needs a value there.
        """
        engine, layout = self._engine_for(source), self._layout(source)
        splits = source.splits(layout, PARTS)
        rows = ReadRows(self.design_, layout, self.missing == "drop")
        try:
            seen = engine.run(first_pass, rows, splits)
        except IncompleteRow:
            raise self._incomplete(engine, layout, splits) from None
        if first:
            require_spread(seen.moments.too_small, self.design_.column)
        return rows, splits, Standard.of(seen, len(self.design_), bool(self.fit_intercept))

    def _set_descended(self, fit: DescentFit) -> Self:
        for name in ("statistic_", "batches_"):
            self.__dict__.pop(name, None)
        self.model_ = LinearModel(self.design_, self._layout(None), fit)
        return self

    def _summarise(self, source: Rows) -> Comoments:
        engine, layout = self._engine_for(source), self._layout(source)
        splits = source.splits(layout, engine.workers)
        plan = self.design_, layout, self.precision == "exact", self.missing != "error"
        try:
            return engine.run(summarise, plan, splits)
        except IncompleteRow:
            raise self._incomplete(engine, layout, splits) from None

    def _incomplete(self, engine: Engine, layout: Layout, splits: Sequence[Split]) -> DataError:
        """Count the missing cells, for an error."""
        counts = engine.run(missing_cells, (self.design_, layout), splits)
        places = np.flatnonzero(counts).tolist()
        return incomplete(listed_missing({self.design_.column(j): str(counts[j]) for j in places}))

    def _set(self, *learnt: Comoments, source: Rows | None = None, tuned: bool = False) -> Self:
        """Estimate; ``source`` has all rows of the statistics, where they are at hand."""
        batches = tuple(batch.canonical() for batch in learnt)
        statistic, design, cells = tree_sum(batches), self.design_, None
        self._require_values(statistic)
        if self.missing == "gaussian":
            cells = JointGaussian.of(statistic)
        equations = self._equations(statistic, cells)
        if not tuned:
            self._tune(equations, source)
        fit = LeastSquares(equations, self._penalty(equations), bool(self.positive))
        remarks = list(fit.remarks(design.terms))
        if remarks and self.dependent == "error":
            raise DataError(
                "; ".join(remarks),
                "the coefficients of such columns are not determined",
                "leave columns out, or use dependent='minimum_norm', or Ridge",
            )
        self.batches_, self.statistic_ = batches, statistic
        self.model_ = LinearModel(design, self._layout(None), fit, cells)
        if remarks:
            warn(
                Phrase(
                    f"{'; '.join(remarks)}. Of all coefficients that fit as well, those of least "
                    "norm were taken; ",
                    Option("columns", "...", "refit"),
                    " leaves columns out",
                    PythonOnly(", dependent='error' refuses"),
                    ".",
                )
            )
        for remark in () if cells is None else cells.remarks((*design.terms, *design.targets)):
            warn(remark)
        return self

    def _still_shown(self, statistic: Comoments) -> Comoments:
        """Drop the values of categories that no row shows any more, from the design and the sums.

        Of a category without a term, the sums do not tell whether a row shows its only value.
        """
        design = self.design_
        if not design.categories:
            return statistic
        counts = {name: category_counts(statistic, design, name) for name in design.categories}
        self.design_, kept = design.narrowed({c: n.vocabularies[0] for c, n in counts.items()})
        if len(kept) == len(design):
            return statistic
        return statistic.marginal(np.append(kept, np.arange(len(design), statistic.d)))

    def _require_values(self, statistic: Comoments) -> None:
        """Refuse sums of no row, and columns and targets of no value or of too little spread."""
        if not len(statistic.code):
            raise DataError(
                "there is no row whose weight is not zero",
                "a linear model needs at least one",
                "check the table and the weights",
            )
        empty = np.flatnonzero(~statistic.patterns.any(axis=0))
        if len(empty):
            raise without_value(self.design_.column(int(empty[0])))
        require_spread(statistic.too_small, self.design_.column)

    def _equations(self, statistic: Comoments, cells: JointGaussian | None) -> NormalEquations:
        p, intercept = len(self.design_), bool(self.fit_intercept)
        if cells is not None and not statistic.complete:
            return cells.equations(p, intercept)
        noise = TOLERANCE if self.precision == "exact" else ROUNDED
        return NormalEquations.of(statistic, p, intercept, noise)

    # -- keeping

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that `suffice.load` reads; nothing in it is executed.

        The file holds the statistic, so a loaded model can learn, merge and forget.

        Raises
        ------
        ModelFileError
            If the file cannot be written. A file that was there before is left as it was.
        """
        fit = self._fitted().fit
        learnt = {
            "design": self.design_,
            "batches": getattr(self, "batches_", None),
            "descended": fit if isinstance(fit, DescentFit) else None,
            "single_target": self.single_target_,
        }
        learnt |= {name: getattr(self, name) for name in self._tuned_names}
        self._save(path, learnt)

    @classmethod
    def restored(cls, content: Any) -> Self:
        """Rebuild a model from what `save` wrote.

        Raises
        ------
        ParameterError, DataError
            If something breaks a rule.
        """
        saved = cls.saved.of(content)
        model = cls._restored(saved)
        model.design_, model.single_target_ = saved.design, saved.single_target
        for name in model._tuned_names:
            setattr(model, name, getattr(saved, name))
        if saved.descended is not None:
            return model._set_descended(saved.descended)
        model._set(*(saved.batches or ()), tuned=True)
        for record in (*model.batches_, model.model_.fit):
            check(record)
        return model

    def _check_saved(self, saved: Any) -> None:
        super()._check_saved(saved)
        self._check_options()
