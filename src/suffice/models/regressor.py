"""The scikit-learn contract of a linear model with numeric targets, fitted from exact sums."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import Any, Literal, Self, cast, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from suffice.data.arrays import ArraySource
from suffice.data.beside import Beside, numeric_targets, target_columns, with_targets
from suffice.data.schema import Alike, Column, Layout
from suffice.data.source import Split
from suffice.data.tables import TableSource
from suffice.engines.engine import Engine
from suffice.errors import DataError, ForgetError, ParameterError, SchemaError, SufficeWarning
from suffice.models.contract import checked_weights, is_array, unless_it_fails
from suffice.models.design import INTERCEPT, Design
from suffice.models.gaussian_cells import GaussianCells
from suffice.models.gradient_descent import PARTS, SINGLE_ROWS, STEPS, GradientDescent
from suffice.models.least_squares import LeastSquares
from suffice.models.linear_descent import (
    Columns,
    Descended,
    ReadRows,
    Standard,
    least_squares,
    overview,
)
from suffice.models.model_file import TYPES, portable, unportable
from suffice.models.normal_equations import ROUNDED, NormalEquations
from suffice.models.posterior import Posterior
from suffice.models.reading import ReadsTables
from suffice.models.regression import (
    Answer,
    IncompleteRow,
    LinearModel,
    answers,
    categories,
    errors,
    missing_cells,
    summarise,
    within,
)
from suffice.models.regression_evaluation import RegressionEvaluation
from suffice.numerics.linalg import TOLERANCE
from suffice.persist import write_model
from suffice.statistics.comoments import Comoments
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["Dependent", "LinearRegressor", "Missing", "Precision", "Rows", "feature_columns"]

Missing = Literal["error", "drop", "gaussian"]
Dependent = Literal["minimum_norm", "error"]
Precision = Literal["exact", "double"]
Rows = TableSource | Beside
Interval = Literal["prediction", "confidence"]

WAYS_OUT = "use missing='drop' to learn from complete rows only, or missing='gaussian'"
NORMAL = "use solver='normal'"
NAMED = 5  # columns named
MOST_CATEGORIES = 1_000


class LinearRegressor(MultiOutputMixin, RegressorMixin, ReadsTables):  # type: ignore[misc]
    """A linear model that is a function of exact co-moments of columns and targets.

    A subclass holds the options and says by `_penalty` what each coefficient costs.

    Attributes
    ----------
    statistic_ : Comoments
        Exact sums over all rows learnt so far.
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

    fit_intercept: bool
    positive: bool
    missing: Missing
    dependent: Dependent
    precision: Precision
    solver: str
    descent: GradientDescent | None
    _tuned_names: tuple[str, ...] = ()  # what `_tune` chooses

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
            polars, pyarrow, duckdb); a path, glob or list of paths (Parquet, Arrow IPC, CSV, TSV);
            or what `suffice.read_csv` returns. Columns of strings are categories, each compared
            with the first of its sorted values.
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
            return self._set(self._summarise(source), source)

    @available_if(lambda self: self._require_more() is None)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows; the result is that of one `fit` of all of them.

        See `fit` for the parameters and the errors. Categories are those of the first rows.

        With ``solver="sgd"`` or ``"minibatch"`` every call is one epoch of the rows given, from
        where the last ended: the first settles centres and units of the columns, the learning
        rate decays from call to call, and a penalty is shared among all rows seen. With
        ``solver="gradient"`` there is no such method.
        """
        with unless_it_fails(self):
            self._check_options()
            if self.solver in SINGLE_ROWS:
                return self._step_on(X, y, sample_weight)
            first = not hasattr(self, "statistic_")
            source = (self._open_new if first else self._open_more)(X, y, sample_weight)
            statistic = self._summarise(source)
            if not first:
                statistic = self.statistic_ + statistic
            return self._set(statistic, source if first else None)

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows away again; the result is that of a `fit` without them.

        See `fit` for the parameters.

        Raises
        ------
        ForgetError
            If the rows cannot have been learnt.
        """
        check_is_fitted(self)
        self._require_sums()
        gone = self._summarise(self._open_more(X, y, sample_weight))
        try:
            rest = self.statistic_ - gone
        except ForgetError as error:
            if error.column is None:
                raise
            name = self.design_.column(error.column)
            raise ForgetError(f"column {name!r}: {error.fact}", error.rule) from None
        if not len(rest.code):
            raise ForgetError(
                "no row would be left",
                "a model rests on one row at least",
                "delete the model instead",
            )
        with unless_it_fails(self):
            return self._set(rest)

    def merge(self, other: LinearRegressor) -> Self:
        """Learn what another model of the same columns and targets has learnt.

        Raises
        ------
        SchemaError
            If the two models do not read the same columns in the same way.
        """
        check_is_fitted(self)
        if not isinstance(other, LinearRegressor):
            raise ParameterError(
                f"{other!r} is no linear model", "only fitted linear models can be merged"
            )
        check_is_fitted(other)
        self._require_sums()
        other._require_sums()
        if self.design_ != other.design_:
            raise SchemaError(
                "the models differ in their columns, targets or categories",
                "only models of the same columns can be merged",
                "fit both to the same columns",
            )
        with unless_it_fails(self):
            return self._set(self.statistic_ + other.statistic_)

    def refit(self, columns: Sequence[str | int] | None = None, **options: Any) -> Self:
        """Return a new model of some of the columns, or with other options, from the same sums.

        No row is read.

        Parameters
        ----------
        columns : sequence of str or int, optional
            Names or positions of the columns; default: all. They keep their order in the table,
            and tables may still have the others.
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
        names = self._chosen(columns)
        design = self.design_.keep(names)
        places = self.design_.places(names)
        p, t = len(self.design_), len(self.design_.targets)
        statistic = self.statistic_
        if len(places) < p:
            statistic = statistic.marginal(np.append(places, np.arange(p, p + t)))
        if hasattr(self, "feature_names_in_"):
            other.feature_names_in_ = np.array(design.columns, dtype=object)
        other.n_features_in_, other.single_target_ = len(design.columns), self.single_target_
        other.design_, other.format_ = design, self.format_
        kept = [column for column in self.schema_ if column.name in set(names)]
        left = tuple(name for name in self.design_.columns if name not in set(names))
        other.layout_ = replace(
            self.layout_,
            blocks=design.blocks,
            columns=self.schema_ if not left else tuple(kept),
            ignored=(*self.layout_.ignored, *left),
        )
        return other._set(statistic)

    def _chosen(self, columns: Sequence[str | int] | None) -> Sequence[str]:
        every = self.design_.columns
        if columns is None:
            return every
        names = [every[c] if isinstance(c, int) and c < len(every) else c for c in columns]
        unknown = [name for name in names if name not in set(every)]
        if unknown:
            raise SchemaError(
                f"there is no column {unknown[0]!r}",
                f"the model has {', '.join(map(repr, every[:20]))}",
            )
        return [str(name) for name in names]

    def _check_options(self) -> None:
        rules = (("missing", Missing), ("dependent", Dependent), ("precision", Precision))
        for name, allowed in rules:
            if getattr(self, name) not in get_args(allowed):
                raise ParameterError(
                    f"{name}={getattr(self, name)!r}",
                    f"{name} is one of {', '.join(map(repr, get_args(allowed)))}",
                )
        if not isinstance(self.descent, GradientDescent | None):
            raise ParameterError(
                f"descent={self.descent!r}", "descent is a GradientDescent or None"
            )
        refused = (("positive", True), ("missing", "gaussian"), ("dependent", "error"))
        for name, value in refused if self.solver in STEPS else ():
            if getattr(self, name) == value:
                raise ParameterError(
                    f"{name}={value!r} with solver={self.solver!r}",
                    "gradient descent does not offer it",
                    NORMAL,
                )

    def _require_sums(self) -> None:
        """Refuse what gradient descent has no sums for."""
        fit = getattr(getattr(self, "model_", None), "fit", None)
        if self.solver in STEPS or isinstance(fit, Descended):
            raise ParameterError(
                f"solver={self.solver!r}" if self.solver in STEPS else "the fit was by descent",
                "gradient descent keeps no sums over the rows, only coefficients",
                NORMAL,
            )

    def _require_more(self) -> None:
        """Refuse to learn further rows where there is nothing to go on from."""
        if self.solver not in SINGLE_ROWS:
            self._require_sums()

    def _descend(self, source: Rows) -> Self:
        """Estimate by gradient descent, pass by pass."""
        how, (rows, splits, standard) = self._how, self._standardised(source)
        engine, costs = self._engine_for(source), self._penalty(standard)
        rows = rows.among(standard.penalised(costs), costs)
        fit = least_squares(rows, splits, engine, how, cast(Any, self.solver))
        self._set_descended(fit)
        if not fit.converged:
            warnings.warn(
                f"after {how.max_iter} epochs the rule for stopping (tol={how.tol:g}) is not met; "
                "raise max_iter or tol, or use solver='normal'.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _step_on(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Step after every few of some more rows."""
        fit = getattr(getattr(self, "model_", None), "fit", None)
        before = fit if isinstance(fit, Descended) else None
        source = (self._open_new if before is None else self._open_more)(X, y, sample_weight)
        rows, splits, standard = self._standardised(source)
        costs = self._penalty(standard)
        if before is None:
            before = Descended.at_rest(standard.penalised(costs))
        else:
            before = before.joined(standard)
            costs = self._penalty(before.standard)
        rows = rows.among(before.standard, costs)
        return self._set_descended(before.after(rows, splits, self._how, cast(Any, self.solver)))

    @property
    def _how(self) -> GradientDescent:
        return GradientDescent() if self.descent is None else self.descent

    def _standardised(self, source: Rows) -> tuple[ReadRows, Sequence[Split], Standard]:
        """How the rows of a source are read, and their own centres and units."""
        engine, layout = self._engine_for(source), self._layout(source)
        splits = source.splits(layout, PARTS)
        rows = ReadRows(self.design_, layout, self.missing == "drop")
        try:
            seen = engine.run(overview, rows, splits)
        except IncompleteRow:
            raise self._incomplete(engine, layout, splits) from None
        return rows, splits, Standard.of(seen, len(self.design_), bool(self.fit_intercept))

    def _set_descended(self, fit: Descended) -> Self:
        self.__dict__.pop("statistic_", None)
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
        return DataError(
            f"cells are missing (NaN or null): {self._lacking(counts)}",
            "every row needs all its cells",
            WAYS_OUT,
        )

    def _lacking(self, counts: NDArray[np.int64]) -> str:
        missing = {self.design_.column(j): int(counts[j]) for j in np.flatnonzero(counts).tolist()}
        first = [f"{n} of column {name!r}" for name, n in list(missing.items())[:NAMED]]
        more = f" and some of {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        return ", ".join(first) + more

    def _set(self, statistic: Comoments, source: Rows | None = None, tuned: bool = False) -> Self:
        """Estimate; ``source`` has all rows of the statistic, where they are at hand."""
        design, cells = self.design_, None
        self._require_values(statistic)
        if self.missing == "gaussian":
            cells = GaussianCells.of(statistic)
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
        self.statistic_ = statistic
        self.model_ = LinearModel(design, self._layout(None), fit, cells)
        if remarks:
            warnings.warn(
                f"{'; '.join(remarks)}. Of all coefficients that fit as well, those of least norm "
                "were taken; refit(columns=...) leaves columns out, dependent='error' refuses.",
                SufficeWarning,
                stacklevel=3,
            )
        for remark in () if cells is None else cells.remarks((*design.terms, *design.targets)):
            warnings.warn(remark, SufficeWarning, stacklevel=3)
        return self

    def _require_values(self, statistic: Comoments) -> None:
        """Refuse sums of no row, and a column or a target without any value."""
        if not len(statistic.code):
            raise DataError(
                "there is no row whose weight is not zero",
                "a linear model needs at least one",
                "check the table and the weights",
            )
        empty = np.flatnonzero(~statistic.patterns.any(axis=0))
        if len(empty):
            raise DataError(
                f"column {self.design_.column(int(empty[0]))!r} has no value",
                "what depends on it cannot be estimated",
                "leave it out",
            )

    def _equations(self, statistic: Comoments, cells: GaussianCells | None) -> NormalEquations:
        p, intercept = len(self.design_), bool(self.fit_intercept)
        if cells is not None and not statistic.complete:
            return cells.equations(p, intercept)
        noise = TOLERANCE if self.precision == "exact" else ROUNDED
        return NormalEquations.of(statistic, p, intercept, noise)

    # -- what was learnt

    @property
    def coef_(self) -> NDArray[np.float64]:
        """w, (d,), or (t, d) for targets (n, t)."""
        w = self.model_.fit.coefficients
        return np.array(w[:, 0] if self.single_target_ else w.T)

    @property
    def intercept_(self) -> Any:
        """b, a number, or (t,) for targets (n, t); 0 where it is not estimated."""
        fit = self.model_.fit
        if not fit.has_intercept:
            return 0.0
        return float(fit.intercept[0]) if self.single_target_ else np.array(fit.intercept)

    @property
    def rank_(self) -> int:
        """Number of columns that are no linear combination of earlier ones."""
        return self._unpenalised().rank

    @property
    def singular_(self) -> NDArray[np.float64]:
        """Singular values of the columns about their means, decreasing, (min(n, d),)."""
        values = np.linalg.svd(self._unpenalised().factor.cholesky.value, compute_uv=False)
        rows = int(np.ceil(self._unpenalised().equations.rows))
        return np.asarray(values[: max(rows, 1)])

    def _unpenalised(self) -> LeastSquares:
        fit = self._solved()
        return replace(fit, penalty=np.zeros_like(fit.penalty))

    @property
    def terms_(self) -> tuple[str, ...]:
        """Names of all coefficients, the intercept first if there is one."""
        first = (INTERCEPT,) if self.model_.fit.has_intercept else ()
        return (*first, *self.design_.terms)

    @property
    def schema_(self) -> Sequence[Column]:
        """What each column is, and why."""
        columns: Sequence[Column] = self.layout_.columns
        return columns

    def posterior(self, a0: float = 0.0, b0: float = 0.0) -> Posterior:
        """Return the posterior of the coefficients and the variance of the noise.

        Parameters
        ----------
        a0, b0 : float
            Shape and rate of the inverse-gamma prior of σ²; 0 and 0: density 1/σ².

        Raises
        ------
        ParameterError
            If the coefficients may not be negative, or cells are missing.
        DataError
            If there are no more rows than parameters.

        See Also
        --------
        suffice.models.posterior.Posterior : For the formulas.
        """
        for name, value in (("a0", a0), ("b0", b0)):
            if not (np.isfinite(value) and value >= 0):
                raise ParameterError(f"{name}={value!r}", f"{name} is a finite number, 0 or more")
        return Posterior.of(self._inferable(), self.terms_, self.design_.targets, a0, b0)

    def _inferable(self) -> LeastSquares:
        """The fit, if its errors are known."""
        model, fit = self._fitted(), self._solved()
        if fit.positive:
            raise ParameterError(
                "positive=True", "coefficients that may not be negative have no standard errors"
            )
        if model.cells is not None and not self.statistic_.complete:
            raise ParameterError(
                "rows have missing cells and missing='gaussian'",
                "the sums are expected ones, whose standard errors are not known",
                "use missing='drop'",
            )
        return fit

    def _solved(self) -> LeastSquares:
        """The fit, if it is a function of sums."""
        fit = self._fitted().fit
        if isinstance(fit, Descended):
            self._require_sums()
        return cast(LeastSquares, fit)

    @property
    def n_iter_(self) -> int:
        """Epochs of gradient descent; else 1, as nothing iterates."""
        fit = self._fitted().fit
        return len(fit.loss_history) if isinstance(fit, Descended) else 1

    @property
    def loss_history_(self) -> NDArray[np.float64]:
        """Loss of every epoch of gradient descent, the sum over targets, (n_iter_,).

        ::

            J = 1/(2N) [Σ ω(y − b − xᵀw)² + Σⱼ λⱼwⱼ²]

        after an epoch of ``solver="gradient"``; for the others the mean over the rows of the
        epoch, each before the step that it leads to.
        """
        fit = self._fitted().fit
        if not isinstance(fit, Descended):
            raise AttributeError("there is a loss_history_ after gradient descent only.")
        return np.array(fit.loss_history)

    # -- predicting

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return b + xᵀw of every row, (n,) or (n, t).

        With ``missing="gaussian"``, a missing cell is taken as expected given the others.
        """
        return self._shaped(self._answers(X, self._fitted().fit.predict))

    def predict_interval(
        self, X: Any, kind: Interval = "prediction", level: float = 0.95
    ) -> NDArray[np.float64]:
        """Return an interval for the target of every row, or for its mean, (n, 2) or (n, t, 2).

        ::

            ŷ ± t √((1 + h) σ̂²)  for a new row      ŷ ± t √(h σ̂²)  for the mean of such rows

        with h of `leverage` and t a quantile of Student's distribution. With a penalty, these are
        intervals of the posterior predictive (`posterior`).

        Parameters
        ----------
        X : table (n, d)
        kind : {"prediction", "confidence"}
            For a new row, or for the mean of such rows.
        level : float
            Probability of the interval.

        Raises
        ------
        ParameterError
            If ``kind`` or ``level`` is outside its rule; as `posterior`.
        DataError
            If there are no more rows than parameters.

        Examples
        --------
        >>> from suffice.linear_model import LinearRegression
        >>> model = LinearRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 2, 4])
        >>> model.predict_interval([[1.5]], "confidence").round(3)
        array([[0.917, 2.583]])
        """
        if kind not in get_args(Interval):
            raise ParameterError(f"kind={kind!r}", "kind is 'prediction' or 'confidence'")
        posterior = self.posterior()
        noise = 1.0 if kind == "prediction" else 0.0
        fit, reach = self._inferable(), posterior.quantile(level)
        answer = partial(within, fit, posterior, reach, noise)
        return self._shaped(self._answers(X, answer, complete=True))

    def leverage(self, X: Any) -> NDArray[np.float64]:
        """Return how much a row weighs in its own fit, h = 1/n + (x − x̄)ᵀ(XᵀX + Λ)⁻¹(x − x̄), (n,).

        Over the rows of the fit h adds up to the (effective) number of parameters.
        """
        return self._answers(X, self._inferable().leverage, complete=True)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R² = 1 − Σ(y − ŷ)²/Σ(y − ȳ)², the mean over targets."""
        return float(self.evaluate(X, y, sample_weight).r_squared.mean())

    def evaluate(self, X: Any, y: Any = None, sample_weight: Any = None) -> RegressionEvaluation:
        """Return R², mean squared and absolute errors of rows whose targets are known.

        Raises
        ------
        DataError
            If there is no such row.
        """
        model, source = self._fitted(), self._open_more(X, y, sample_weight)
        engine, layout = self._engine_for(source), self._layout(source)
        splits = source.splits(layout, engine.workers)
        moments = engine.run(errors, replace(model, layout=layout), splits)
        if not moments.total.all():
            raise DataError(
                "there is no row whose target is known and whose weight is not zero",
                "an evaluation needs at least one",
                "check the targets and the weights",
            )
        return RegressionEvaluation(self.design_.targets, moments)

    def _fitted(self) -> LinearModel:
        check_is_fitted(self)
        model: LinearModel = self.model_
        return model

    def _answers(self, X: Any, answer: Answer, complete: bool = False) -> NDArray[np.float64]:
        """Answer for every row, in order; rows that must be ``complete`` are not filled."""
        model, source = self._fitted(), self._open(X)
        model = replace(model, cells=None) if complete else model
        engine = self._engine_for(source)
        splits = source.splits(model.layout, engine.workers)
        parts = engine.map(answers, (model, answer), splits)
        return np.concatenate([part for split in parts for part in split])

    def _shaped(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        return answers[:, 0] if self.single_target_ else answers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "gaussian"
        return tags

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
        content = {
            "params": portable(self.get_params(deep=False)),
            "design": self.design_,
            "layout": self.layout_,
            "statistic": getattr(self, "statistic_", None),
            "descended": fit if isinstance(fit, Descended) else None,
            "named": hasattr(self, "feature_names_in_"),
            "single_target": self.single_target_,
            "format": self.format_,
        }
        content |= {name: getattr(self, name) for name in self._tuned_names}
        write_model(path, type(self).__name__, content, types=TYPES)

    @classmethod
    def restored(cls, content: dict[str, Any]) -> Self:
        """Rebuild a model from what `save` wrote."""
        model = cls(**unportable(content["params"]))
        model.design_, model.layout_ = content["design"], content["layout"]
        model.single_target_, model.format_ = content["single_target"], content["format"]
        model.n_features_in_ = len(model.design_.columns)
        if content["named"]:
            model.feature_names_in_ = np.array(tuple(model.design_.columns), dtype=object)
        for name in model._tuned_names:
            setattr(model, name, content[name])
        if content["descended"] is not None:
            model.model_ = LinearModel(model.design_, model._layout(None), content["descended"])
            return model
        return model._set(content["statistic"], tuned=True)

    # -- reading tables

    def _layout(self, source: Rows | None) -> Layout:
        """How a table is read: with the targets that this source has, or without any."""
        layout: Layout = self.layout_
        if source is None:
            return replace(layout, ignored=(*layout.ignored, *self.design_.targets))
        blocks = (*layout.blocks, self.design_.target_block)
        if not isinstance(source, TableSource):
            return replace(layout, blocks=blocks)
        targets = target_columns(source, self.design_.targets)
        return replace(layout, blocks=blocks, columns=(*layout.columns, *targets))

    def _open_new(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Open the first table: it settles the columns and how they are read."""
        source, targets = self._open_both(X, y, sample_weight, reset=True)
        columns: Sequence[Column]
        known: dict[str, Vocabulary] = {}
        if isinstance(source, TableSource):
            columns = feature_columns(source, targets)
            known = self._categories(source, columns)
        else:
            columns = Alike(source.source.names, "number", "real", "as a linear model reads it")
        if not columns:
            raise SchemaError(
                "the table has no column besides the target", "a model needs features"
            )
        names = columns.names if isinstance(columns, Alike) else tuple(c.name for c in columns)
        self.n_features_in_ = len(names)
        if isinstance(source, TableSource):
            self.feature_names_in_ = np.array(names, dtype=object)
        self.design_ = Design(names, targets, known)
        ignored = getattr(getattr(source, "table", None), "ignored", ())
        self.layout_ = Layout(self.design_.blocks, columns, weight=source.weight, ignored=ignored)
        return source

    def _categories(self, source: TableSource, columns: Sequence[Column]) -> dict[str, Vocabulary]:
        """The values of the columns that are categories: a pass over these columns alone."""
        chosen = tuple(column for column in columns if column.kind == "category")
        if not chosen:
            return {}
        names = tuple(column.name for column in chosen)
        blocks = Design(names, (), dict.fromkeys(names, Vocabulary(()))).blocks
        others = tuple(name for name in source.table.names if name not in names)
        layout = Layout(blocks, chosen, ignored=others)
        engine = self._engine_for(source)
        counts = engine.run(categories, layout, source.splits(layout, engine.workers))
        found = dict(zip(names, counts.vocabularies, strict=True))
        for name, values in found.items():
            if len(values) > MOST_CATEGORIES:
                raise SchemaError(
                    f"column {name!r} has {len(values)} categories",
                    f"each becomes a column of its own; {MOST_CATEGORIES} are the most",
                    "leave it out",
                )
        return found

    def _open_more(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Open rows with their targets, which must be those of the first fit."""
        check_is_fitted(self)
        source, targets = self._open_both(X, y, sample_weight, reset=False)
        mine = self.design_.targets
        if len(targets) != len(mine):
            raise SchemaError(
                f"there are {len(targets)} targets",
                f"the model has {len(mine)}: {', '.join(map(repr, mine))}",
            )
        if isinstance(source, TableSource) and targets != mine:
            renamed = dict(zip(targets, mine, strict=True))
            raise SchemaError(
                f"the target is called {targets[0]!r}",
                f"the model learnt {mine[0]!r}",
                f"rename the columns {renamed}",
            )
        return source

    def _open_both(
        self, X: Any, y: Any, sample_weight: Any, reset: bool
    ) -> tuple[Rows, tuple[str, ...]]:
        """Open rows with their targets, and say what these are called."""
        if y is None:
            raise ParameterError(
                f"{type(self).__name__} requires y to be passed, but the target y is None",
                "a linear model learns from targets",
                "pass an array or the name of the target column",
            )
        if isinstance(y, str) or _are_names(y):
            named = (y,) if isinstance(y, str) else tuple(y)
            if reset:
                self.single_target_ = isinstance(y, str)
            return cast(TableSource, self._open(X, named, sample_weight, reset)), named
        values, targets, single = numeric_targets(y)
        source = self._open(X, (), sample_weight, reset)
        if reset:
            self.single_target_ = single
        if isinstance(source, TableSource):
            return with_targets(source, values, targets)
        check_consistent_length(source.x, values)
        return Beside(source, values), targets

    def _open(
        self,
        X: Any,
        targets: tuple[str, ...] = (),
        sample_weight: Any = None,
        reset: bool = False,
    ) -> TableSource | ArraySource:
        """Open rows; the first (``reset``) settle the columns, the others must have them."""
        if not is_array(X):
            return self._open_table(X, None, sample_weight, reset)
        x, names = self._open_array(X, (*targets, sample_weight), reset)
        weights = None if sample_weight is None else checked_weights(sample_weight, x.shape[0])
        return ArraySource(x, names, None, weights)


def _are_names(y: Any) -> bool:
    """Tell a list of column names from a list of targets."""
    return isinstance(y, list | tuple) and bool(y) and all(isinstance(name, str) for name in y)


def feature_columns(source: TableSource, targets: Sequence[str]) -> tuple[Column, ...]:
    """What the columns are: numbers, or categories where there are strings or dictionaries."""
    schema, columns = source.table.head().schema, []
    for column in source.columns():
        if column.name in targets:
            continue
        if column.kind == "text":
            raise SchemaError(
                f"column {column.name!r} holds text: {column.reason}",
                "a linear model takes numbers and categories",
                "leave it out",
            )
        category = column.stored == "string" or pa.types.is_dictionary(
            schema.field(column.name).type
        )
        reason = "strings or a dictionary" if category else "as a linear model reads it"
        columns.append(replace(column, kind="category" if category else "real", reason=reason))
    return tuple(columns)
