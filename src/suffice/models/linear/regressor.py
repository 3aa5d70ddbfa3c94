"""Linear models with numeric targets: what they learn, what they are worth, what they answer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self, TypeGuard, cast, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.data.numeric_targets import numeric_targets, with_targets
from suffice.data.source import ArraySource
from suffice.data.table_source import TableSource
from suffice.engines.engine import engine_for, map_batches
from suffice.errors import DataError, ParameterError, SchemaError, warn
from suffice.families.options import check_boolean
from suffice.models.base.answers import answer_complete, tables_with_gaps
from suffice.models.base.groups import ByGroup
from suffice.models.base.judge import Judge, of_answered
from suffice.models.base.options import (
    Incomplete,
    Unanswerable,
    Unseen,
    check_level,
    check_unanswerable,
    framed,
)
from suffice.models.base.scikit_learn import available_if, check_is_fitted, refuse_lengths
from suffice.models.base.unseen_values import FEWEST, warn_of_unseen
from suffice.models.design.feature_columns import PREDICTORS, Features, features
from suffice.models.design.formula import targets_of
from suffice.models.design.matrix import INTERCEPT, Design
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.design.remarks import coefficient_tables, measures
from suffice.models.design.words import Ways
from suffice.models.estimator import Kind, answers_by_batch, fitted
from suffice.models.explanation import Asked, Effects
from suffice.models.from_sums import FittedFromSums, require_sums
from suffice.models.grouped_sums import GroupedSums
from suffice.models.linear.adjusted import AdjustedMeans, adjusted_means
from suffice.models.linear.conformal import ErrorSizes, error_counts, unit_of
from suffice.models.linear.descent import Coefficients
from suffice.models.linear.diagnostics import (
    Candidate,
    Influence,
    NestedModels,
    VarianceInflation,
    inflation_of,
    residuals,
)
from suffice.models.linear.evaluation import RegressionEvaluation
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.method import LinearMethod
from suffice.models.linear.model import (
    UNDETERMINED,
    LinearModel,
    Prediction,
    answer_names,
    answer_table,
    effects,
    errors,
    with_ends,
    with_mark,
    within,
    without_intervals,
)
from suffice.models.linear.posterior import Posterior
from suffice.models.linear.reader import LinearReader, Rows
from suffice.models.linear.rows import Fit, RowLeastSquares
from suffice.models.linear.saved import SAVED, SavedRegressor
from suffice.models.linear.summary import target_place
from suffice.models.linear.together import group_columns
from suffice.models.method import Learnt
from suffice.models.optimise.gradient_descent import GradientDescent
from suffice.models.reading import in_precision, is_named, open_rows, row_by_name, settle_columns
from suffice.numerics.in_print import NAMED, listed
from suffice.numerics.interruption import interruptible
from suffice.phrases import rows_in_print
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell
from suffice.sums.moments import Moments

Interval = Literal["prediction", "confidence", "conformal"]
READING = ("fit_intercept", "incomplete", *PREDICTORS)


def _keeps_sums(estimator: Any) -> bool:
    """Test for sums to add to; the error without them is the cause of another."""
    require_sums(estimator)
    return True


@dataclass(repr=False, eq=False, kw_only=True)
class LinearRegressor(FittedFromSums[LinearReader, Any]):
    """A linear model that is a function of exact co-moments of columns and targets.

    A subclass holds the options, gives its `method`, and says by `_summary` what is known of the
    coefficients.

    Attributes
    ----------
    reader_ : LinearReader
        How tables are read.
    model_ : LinearModel
        All that a prediction needs.
    statistic_ : Comoments or KeptRows
        Exact sums over all rows learnt so far, or these rows where they are fewer numbers; none
        after gradient descent.
    batches_ : tuple of Comoments or KeptRows
        The statistics that it is the sum of: one, or one for each batch of a window.
    design_ : Design
        The terms that the columns of the first table become, and its targets.
    single_target_ : bool
        Whether targets were given as (n,), so that predictions are too.
    """

    kind = Kind(
        name="linear model",
        row="row",
        mixins=("MultiOutputMixin", "RegressorMixin"),
        allows_missing=lambda self: self.incomplete == "gaussian",
        saved=SavedRegressor,
        types=SAVED,
        records=(GradientDescent,),
        tables=lambda self: coefficient_tables(self, *self.model_.by_term),
        reading=READING,
    )
    fit_intercept: bool = True
    positive: bool = False
    incomplete: Incomplete = "error"
    categorical: Sequence[str] | None = None
    text: Sequence[str] | None = None
    words: Ways = 256
    ordered: Mapping[str, Sequence[Any]] | None = None
    formula: str | None = None
    reference: Mapping[str, Any] | None = None
    unseen: Unseen = "error"

    # -- learning

    @abstractmethod
    def method(self) -> LinearMethod: ...

    @available_if(_keeps_sums)
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

        See `fit` for the other parameters and the errors. A category that no earlier row shows
        has a term from now on.

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

    def calibrate(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, learnt: bool = True
    ) -> Self:
        """Learn how large the errors of rows are, for intervals of kind "conformal".

        ::

            |y − ŷ'| / √(1 + h')

        of every row, with ŷ' and h' of the model without this row, from its leverage. A new row
        from the same population has such an error too, whatever the distribution: its size is below
        the quantile of level (1 + 1/n)·level of the n known with about this probability. Rows are
        counted by their errors on a fixed grid of 0.4 %; no row is kept. The sums stay. Rows that
        are learnt or forgotten later change the model, and the errors are to be learnt anew.

        Source: Lei, G'Sell, Rinaldo, Tibshirani and Wasserman, Distribution-free predictive
        inference for regression (JASA 113, 2018); Barber, Candès, Ramdas and Tibshirani, Predictive
        inference with the jackknife+ (Annals of Statistics 49, 2021).

        Parameters
        ----------
        X, y, sample_weight
            As `fit` takes them.
        learnt : bool
            Whether the model has learnt these rows; else they are asked about as they are.

        Returns
        -------
        self

        Raises
        ------
        ParameterError
            If leverages are not known: after gradient descent, or of coefficients that were chosen
            or may not be negative, or where missing cells were filled.
        DataError
            If a cell breaks a rule, or no row has an error.

        Examples
        --------
        >>> import numpy as np
        >>> from suffice.linear_model import LinearRegression
        >>> rng = np.random.default_rng(0)
        >>> x = rng.normal(size=(400, 1))
        >>> y = x[:, 0] + rng.exponential(size=400)  # errors are not normal
        >>> model = LinearRegression().fit(x, y).calibrate(x, y)
        >>> model.predict_interval([[0.0]], "conformal", level=0.9).round(2)
        array([[-0.33,  2.28]])
        """
        check_boolean(learnt=learnt)
        model, fit = fitted(self), self._inferable()
        source = self._open_more(X, y, sample_weight)
        layout = self.reader_.layout_of(source)
        warn_of_unseen(model.known_values, source, layout)
        engine = engine_for(source)
        asked = replace(model, layout=layout, cells=None, errors=None)
        parts = source.parts(layout, engine.workers)
        counts = engine.run(error_counts, (asked, learnt), parts)
        found = ErrorSizes(unit_of(fit), counts)
        if not found.rows:
            raise DataError(
                "no row has an error of its own",
                "every row alone determines a coefficient, or lacks a cell or a target",
                "calibrate with more rows",
            )
        self.model_ = replace(model, errors=found)
        return self

    # -- what was learnt

    @property
    def design_(self) -> Design:
        """The terms that the columns become, and the targets."""
        return self.reader_.design

    @property
    def target_names_(self) -> tuple[str, ...]:
        """The columns that are predicted."""
        return tuple(self.design_.targets)

    @property
    def single_target_(self) -> bool:
        """Return whether targets were given as (n,)."""
        return self.reader_.single_target

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
        fit = self._unpenalised()
        if isinstance(fit, RowLeastSquares):
            return fit.svd[1]
        values = interruptible(np.linalg.svd, fit.factor.cholesky.value, compute_uv=False)
        return np.asarray(values[: max(int(np.ceil(fit.equations.count)), 1)])

    def _unpenalised(self) -> Fit:
        fit = self._solved()
        return replace(fit, penalty=np.zeros_like(fit.penalty))

    @property
    def terms_(self) -> tuple[str, ...]:
        """Names of all coefficients, the intercept first if there is one."""
        first = (INTERCEPT,) if self.model_.fit.has_intercept else ()
        return (*first, *self.design_.terms)

    @abstractmethod
    def _summary(self, target: str | int | None, level: float) -> Any:
        """The summary of one target."""

    def summary(
        self, target: str | int | None = None, level: float = 0.95, as_frame: bool = False
    ) -> Any:
        """Return coefficients with what is known of their errors, and how well the model fits.

        Of least squares, standard errors and tests; with a penalty, the intervals of the posterior
        of the coefficients, and what the penalty does.

        Parameters
        ----------
        target : str or int, optional
            Which target; needed if there are several.
        level : float
            Confidence, or probability, of the intervals.
        as_frame : bool
            Return the coefficients as a pandas DataFrame.

        Returns
        -------
        Summary, RidgeSummary or pandas.DataFrame
            A summary prints as a table.

        Raises
        ------
        ParameterError
            If there is no such target, or as `posterior`.
        DataError
            If there are no more rows than parameters without a penalty.

        See Also
        --------
        suffice.models.linear.summary.Summary : For the formulas and an example.
        suffice.models.linear.summary.RidgeSummary : For an example with a penalty.
        """
        found, equations = self._summary(target, level), self._solved().equations
        lines = measures(self.design_, self.schema_), equations.weights.remarks(equations.rows)
        return framed(replace(found, units=(*lines[0], *lines[1])), as_frame)

    def variance_inflation(self) -> VarianceInflation:
        """Return how much each column's variance grows as it follows from others (VIF, GVIF).

        From the sums; a penalty changes nothing. See
        `suffice.models.linear.diagnostics.VarianceInflation`.

        Raises
        ------
        ParameterError
            After gradient descent.
        """
        return inflation_of(self._of_products(self._solved()), self.design_)

    def influence(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        target: str | int | None = None,
    ) -> Influence:
        """Return residuals, leverage, Cook's distance and more of the rows of the fit, in order.

        The rows are read once more. See `suffice.models.linear.diagnostics.Influence`.

        Parameters
        ----------
        X, y, sample_weight
            The rows of the fit.
        target : str or int, optional
            Which target; needed if there are several.

        Raises
        ------
        ParameterError
            If there is a penalty or no such target, or as `posterior`.
        DataError
            If these are not the rows of the fit, or no more than parameters.
        """
        j, fit = target_place(self.design_.targets, target), self._unshrunk()
        source = self._open_more(X, y, sample_weight)
        layout = self.reader_.layout_of(source)
        asked = replace(fitted(self), layout=layout, fit=fit), j
        engine = engine_for(source)
        pieces = engine.map(residuals, asked, source.parts(layout, engine.workers))
        rows = np.concatenate([piece for part in pieces for piece in part])
        return Influence.of(self.design_.left[j], fit, j, rows)

    def anova(self, other: LinearRegressor, target: str | int | None = None) -> NestedModels:
        """Test whether the larger of two models of the same rows fits better than the smaller (F).

        The terms of the smaller are among those of the larger. No row is read. See
        `suffice.models.linear.diagnostics.NestedModels`.

        Parameters
        ----------
        other : LinearRegression
            The smaller or the larger model.
        target : str or int, optional
            Which target; needed if there are several.

        Raises
        ------
        ParameterError
            If a model has a penalty or errors by cluster, or none has all terms of the other.
        DataError
            If the models are of other rows or targets.
        """
        if not isinstance(other, LinearRegressor):
            raise ParameterError(f"{other!r} is given", "two linear models are compared")
        return NestedModels.of(self._candidate(target), other._candidate(target))

    def _candidate(self, target: str | int | None) -> Candidate:
        fit, design, j = self._unshrunk(), self.design_, target_place(self.design_.targets, target)
        if getattr(self, "cluster", None) is not None:
            rule = "the test is of rows that do not depend on each other"
            raise ParameterError("a model has errors by cluster", rule, "look at its summary()")
        of = fit.equations
        squares = fit.tss[j] + (of.rows * fit.at_origin[j] ** 2 if of.intercept else 0.0)
        same, n = (of.rows, of.observations, float(squares)), of.observations
        left, rss = design.left[j], float(fit.rss[j])
        return Candidate(design, fit.has_intercept, left, "F", rss, fit.flat, n, same)

    def _unshrunk(self) -> Fit:
        """The fit, if its errors are known and nothing shrinks it."""
        self.posterior()
        if self.method().square != 0.0:
            rule = "influence, and tests of two models, are those of a fit without one"
            raise ParameterError(f"{self!r} has a penalty", rule, "use LinearRegression")
        return self._inferable()

    def posterior(self) -> Posterior:
        """Return the posterior of the coefficients and the variance of the noise.

        Raises
        ------
        ParameterError
            If the coefficients may not be negative, or cells are missing.
        DataError
            If there are no more rows than parameters.

        See Also
        --------
        suffice.models.linear.posterior.Posterior : For the formulas.
        """
        return Posterior.of(self._inferable(), self.terms_, self.design_.left)

    def _of_products(self, fit: Fit) -> LeastSquares:
        """The fit as a function of all products of columns."""
        if isinstance(fit, LeastSquares):
            return fit
        equations = NormalEquations.of(
            self.statistic_.products(), fit.equations.p, fit.has_intercept
        )
        weights = replace(equations.weights, precisions=fit.equations.weights.precisions)
        return LeastSquares(replace(equations, weights=weights), fit.penalty)

    def _inferable(self) -> Fit:
        """The fit, if its errors are known."""
        fit = self._solved()
        if fit.positive:
            raise ParameterError(
                "positive=True", "coefficients that may not be negative have no standard errors"
            )
        if self._fills_cells:
            raise ParameterError(
                "rows have missing cells and incomplete='gaussian'",
                "what was expected in their place has errors of its own",
                "use incomplete='drop'",
            )
        return fit

    @property
    def _fills_cells(self) -> bool:
        return self.model_.cells is not None and not self.statistic_.complete

    @property
    def _left_out(self) -> float:
        """Weight of the rows with missing cells, which the fit does without."""
        return float(self.statistic_.rows) - self._solved().equations.rows

    def _solved(self) -> Fit:
        """The fit, if it is a function of sums or rows."""
        fit = fitted(self).fit
        if isinstance(fit, Coefficients):
            require_sums(self)
        return cast(Fit, fit)

    @property
    def n_iter_(self) -> int:
        """Passes of gradient descent; else 1, as nothing iterates."""
        return len(self._losses) or 1

    @property
    def loss_history_(self) -> NDArray[np.float64]:
        """Loss of all rows after every pass of gradient descent, the sum over targets, (passes,).

        ::

            J = 1/(2N) [Σ ω(y − b − xᵀw)² + Σⱼ λⱼwⱼ²]
        """
        if not len(self._losses):
            raise AttributeError("there is a loss_history_ after gradient descent only.")
        return np.array(self._losses)

    @property
    def _losses(self) -> NDArray[np.float64]:
        fit = fitted(self).fit
        return fit.loss_history if isinstance(fit, Coefficients) else np.empty(0)

    # -- predicting

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return b + xᵀw of every row, (n,) or (n, t).

        Where a formula has a function of the target, as ``log(price) ~ size`` has, it is undone:
        exp(b + xᵀw) is the median of the target where errors of the logarithm are symmetric, and
        below its mean. With ``incomplete="gaussian"``, a missing cell is taken as expected given
        the others. A warning tells of rows whose predictions the rows of the fit do not determine.
        """
        fit = fitted(self).fit
        answer = self.model_.in_units(fit.predict)
        deficient = _is_deficient(fit)
        found = self._predictions(X, partial(with_mark, answer, fit) if deficient else answer)
        if deficient:
            self._tell_undetermined(int(found[:, -1].sum()), len(found))
            found = found[:, :-1]
        return in_precision(self.reader_, X, self._shaped(found))

    def _tell_undetermined(self, rows: int, of: int) -> None:
        """Warn of rows whose predictions the rows of the fit do not determine."""
        if not rows:
            return
        fit, terms = self._solved(), self.design_.terms
        known = fit.estimable[int(fit.has_intercept) :].tolist()
        names = [term for term, one in zip(terms, known, strict=True) if not one]
        verb = "is" if rows == 1 else "are"
        warn(
            f"{rows:,} of {rows_in_print(of)} {verb} not determined by the rows of the fit, which "
            f"leave open {listed(map(repr, names), NAMED)}: the prediction is one of many that fit "
            "as well, and has no interval."
        )

    def predict_interval(
        self, X: Any, kind: Interval = "prediction", level: float = 0.95
    ) -> NDArray[np.float64]:
        """Return an interval for the target of every row, or for its mean, (n, 2) or (n, t, 2).

        ::

            ŷ ± t √((1 + h) σ̂²)  for a new row      ŷ ± t √(h σ̂²)  for the mean of such rows
            ŷ ± q √(1 + h)       for a new row, whatever the distribution of errors

        with h of `leverage` and t a quantile of Student's distribution. With a penalty, the first
        two are intervals of the posterior predictive (`posterior`). q is the quantile of the errors
        of rows, each left out of the model: see `calibrate`. Where the rows of the fit do not
        determine a prediction, as of an empty combination of two categories, the interval is
        (−∞, ∞), with a warning. Where a formula has a function of the target, it is undone at
        both ends: the probability stays, and "confidence" is of the median.

        Parameters
        ----------
        X : table (n, d)
        kind : {"prediction", "confidence", "conformal"}
            For a new row, for the mean of such rows, or for a new row by the errors of others.
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
        found = self._predictions(X, self._ends(kind, level), complete=True)
        if _is_deficient(fitted(self).fit):
            self._tell_undetermined(int(np.isinf(found[:, 0, 1]).sum()), len(found))
        return self._shaped(found)

    def _ends(self, kind: Interval, level: float) -> Prediction:
        if kind not in (known := get_args(Interval)):
            raise ParameterError(f"kind={kind!r}", f"kind is one of {', '.join(map(repr, known))}")
        model: LinearModel = fitted(self)
        if kind == "conformal":
            check_level(level)
            fit, errors = self._inferable(), model.errors
            if errors is None:
                raise ParameterError(
                    "the errors of rows are not known",
                    "a conformal interval rests on these, and sums do not tell them",
                    "calibrate it with rows",
                )
            errors.quantile(level)  # may refuse
            return model.in_units(partial(errors.ends, fit, level))
        posterior = self.posterior()
        noise = 1.0 if kind == "prediction" else 0.0
        ends = partial(within, self._inferable(), posterior, posterior.quantile(level), noise)
        return model.in_units(ends)

    def predict_batches(
        self,
        X: Any,
        *,
        interval: Interval | None = None,
        level: float = 0.95,
        unanswerable: Unanswerable = "error",
    ) -> Iterator[pa.Table]:
        """Answer a table of any size batch by batch, in order, as Arrow tables.

        The answers are those of `predict` and `predict_interval`. Memory does not grow with the
        rows. With one worker in this process a batch is read when it is asked for; other engines
        answer whole parts of the table.

        Parameters
        ----------
        X : table (n, d)
        interval, level
            Whose ends are answered too (`predict_interval`).
        unanswerable : {"error", "empty"}
            What becomes of a row that lacks a cell or shows an unknown category, where nothing is
            expected in their place: an error, or an empty answer, with a warning that counts them.

        Returns
        -------
        iterator of pyarrow.Table
            With the columns ``prediction``, ``lower`` and ``upper``, of several targets
            ``prediction of a`` and so on; one table at least, maybe without rows. Rows whose
            predictions are not determined have no ends, and a warning counts them.

        Raises
        ------
        ParameterError
            As `predict_interval` does.
        DataError
            If a cell breaks a rule, when its batch is read.

        Examples
        --------
        >>> from suffice.linear_model import LinearRegression
        >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
        >>> [table.to_pydict() for table in model.predict_batches([[4.0], [5.0]])]
        [{'prediction': [9.0, 11.0]}]
        """
        model = fitted(self)
        answer = model.in_units(model.fit.predict)
        if interval is not None:
            # The ends of an interval do not know the error of a cell that is filled in.
            model = replace(model, cells=None)
            answer = partial(with_ends, answer, self._ends(interval, level))
        deficient = _is_deficient(model.fit)
        if deficient:
            answer = partial(with_mark, answer, model.fit)
        check_unanswerable(unanswerable)
        source = open_rows(self, X)
        warn_of_unseen(model.known_values, source, model.layout)
        question: Any = partial(model.predicted, answer)
        names = answer_names(self.design_.targets, interval is not None, deficient)
        answered = partial(map_batches, engine_for(source))
        if unanswerable == "empty" and model.cells is None:
            question = partial(answer_complete, model.complete, question)
            gaps = answered(question, source, model.layout)
            tables = tables_with_gaps(lambda few: answer_table(names, np.concatenate(few)), gaps)
            return self._without_marks(tables) if deficient else tables
        found = answered(question, source, model.layout)
        tables = (answer_table(names, part) for parts in found for part in parts)
        return self._without_marks(tables) if deficient else tables

    def _without_marks(self, tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        rows = marked = 0
        for table in tables:
            marks = pc.fill_null(pc.equal(table.column(UNDETERMINED), 1.0), False)
            marked += pc.sum(marks).as_py() or 0
            rows += len(table)
            yield without_intervals(table.drop_columns([UNDETERMINED]), marks)
        self._tell_undetermined(marked, rows)

    def explain(self, X: Any) -> Effects:
        """Return what every column adds to the prediction of every row (`Effects`).

        Raises
        ------
        DataError
            If a cell is missing, infinite, or an unknown category.
        """
        design, fit = self.design_, fitted(self).fit
        found = self._predictions(X, partial(effects, design, fit), complete=True, fewest=1)
        asked = Asked(copy(self), X)
        return Effects(tuple(design.groups), design.left, fit.at_origin, found, asked)

    def leverage(self, X: Any) -> NDArray[np.float64]:
        """Return how much a row weighs in its own fit, h = 1/n + (x − x̄)ᵀ(XᵀX + Λ)⁻¹(x − x̄), (n,).

        Over the rows of the fit h adds up to the (effective) number of parameters.
        """
        return self._predictions(X, self._inferable().leverage, complete=True)

    def _predictions(
        self, X: Any, answer: Prediction, complete: bool = False, fewest: int = FEWEST
    ) -> NDArray[np.float64]:
        """Answer for every row, in order; rows that must be ``complete`` are not filled.

        Say which columns are mostly unseen, of those with ``fewest`` values or more.
        """
        model: LinearModel = fitted(self)
        model = replace(model, cells=None) if complete else model
        with suppress(BadCell):  # which is found again below, where its column has a name
            if (row := row_by_name(self, X)) is not None:
                return np.concatenate(model.predicted(answer, row))
        pieces = answers_by_batch(self, X, partial(model.predicted, answer), fewest)
        return np.concatenate([piece for of_batch in pieces for piece in of_batch])

    # -- being judged

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R² = 1 − Σ(y − ŷ)²/Σ(y − ȳ)², the mean over targets.

        It is about the mean also for a model without an intercept, as in scikit-learn.
        """
        return float(self.evaluate(X, y, sample_weight).centred.r_squared.mean())

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        unanswerable: Unanswerable = "error",
    ) -> RegressionEvaluation:
        """Return R², mean squared and absolute errors of rows whose targets are known.

        R² of a model without an intercept is uncentred, as in its summary.

        Parameters
        ----------
        X : table (n, d)
        y : array (n,), (n, t), or names of columns
        sample_weight : array (n,) or name of a column, optional
        unanswerable : {"error", "empty"}
            As in `predict_batches`; rows with an empty answer are left out, with a warning that
            counts them.

        Raises
        ------
        DataError
            If there is no such row.
        """
        source = self._open_more(X, y, sample_weight)
        found: RegressionEvaluation = self._judge(source, unanswerable).of(source)
        return found

    def evaluate_by(
        self,
        X: Any,
        y: Any,
        by: str,
        sample_weight: Any = None,
        *,
        unanswerable: Unanswerable = "error",
    ) -> ByGroup[RegressionEvaluation]:
        """Evaluate the rows of every value of a column, in one pass.

        Parameters
        ----------
        X : table (n, d)
            With named columns.
        y : array (n,), (n, t), or names of columns
        by : str
            A column, which the model may read or not.
        sample_weight : array (n,) or name of a column, optional
        unanswerable : {"error", "empty"}
            As in `evaluate`.

        Returns
        -------
        ByGroup
            Evaluations by value.

        Raises
        ------
        DataError
            If a group has no row whose target is known, or there are more than 1,000 groups.
        """
        source = self._open_more(X, y, sample_weight)
        judge = self._judge(source, unanswerable)
        return judge.by_group(source, by, (*self.target_names_, judge.layout.weight))

    @property
    def _evaluation(self) -> Callable[[Moments], RegressionEvaluation]:
        intercept = bool(fitted(self).fit.has_intercept)
        return partial(RegressionEvaluation.of, self.design_.targets, intercept=intercept)

    def _judge(self, source: Rows, unanswerable: Unanswerable = "empty") -> Judge:
        kernel, layout = of_answered(self, errors, unanswerable), self.reader_.layout_of(source)
        return Judge(kernel, replace(fitted(self), layout=layout), layout, self._evaluation)

    def _complete_rows(self) -> Callable[[Batch], NDArray[np.bool_]] | None:
        model: LinearModel = fitted(self)
        return model.complete if model.cells is None else None

    def _scoring(self, source: Rows) -> Judge:
        return replace(self._judge(source, "error"), record=self._mean_r_squared)

    def _mean_r_squared(self, found: Moments) -> float:
        return float(self._evaluation(found).centred.r_squared.mean())

    def _shaped(self, predictions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Predictions (n, t) in the shape of the targets."""
        return predictions[:, 0] if self.single_target_ else predictions

    def _open_judged(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        return self._open_more(X, y, sample_weight)

    # -- keeping

    def _kept(self) -> dict[str, Any]:
        fit, reader = self.model_.fit, self.reader_
        kept = fit if isinstance(fit, Coefficients) else None
        if isinstance(fit, RowLeastSquares):  # rows are nobody else's to read
            at = fit.origin, fit.at_origin, fit.coefficients, self.model_.term_scales
            kept = Coefficients(*at, fit.has_intercept)
        learnt: dict[str, Any] = {
            "design": reader.design,
            "batches": self.batches_ if kept is None else None,
            "coefficients": kept,
            "single_target": reader.single_target,
            "alpha_": self.model_.alpha,
        }
        if kept is None:
            more = {"forgotten": self.forgotten_, "errors": self.model_.errors}
            learnt |= {name: found for name, found in more.items() if found}
        return learnt

    def _adjusted_means(
        self,
        sums: GroupedSums,
        covariates: Sequence[str] | None,
        target: str | int | None,
        level: float,
    ) -> AdjustedMeans:
        (arms,) = sums.keys.columns
        design = sums.reader.design
        return adjusted_means(sums.sums, arms.to_pylist(), design, covariates, target, level)

    def _columns_of(self, sums: GroupedSums) -> dict[str, Any]:
        return group_columns(self, sums)

    def _kept_reader(self, reader: LinearReader) -> dict[str, Any]:
        return {"design": reader.design, "single_target": reader.single_target}

    def _reader_of(self, saved: SavedRegressor) -> LinearReader:
        self.method()  # checks the options
        of_file = saved.layout, saved.format, saved.design, saved.single_target
        gaps = self.incomplete != "error"
        return LinearReader(*of_file, gaps=gaps, single=saved.single_precision)

    def _restore(self, saved: SavedRegressor) -> None:
        reader = self._reader_of(saved)
        if (fit := saved.coefficients) is not None:
            self.reader_ = reader
            self.model_ = LinearModel(reader.design, reader.to_answer, fit, alpha=saved.alpha_)
        else:
            learnt = Learnt(reader, saved.batches or ())
            self._set(self.method(), learnt, saved=saved)

    # -- reading

    def _open_first(self, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, tuple[Features, bool]]:
        """Open the first table; say what its columns are, and whether a target came as (n,)."""
        source, targets, single = self._open_both(X, y, sample_weight, first=True)
        found = features(source, self, targets)
        if found.formula is not None and isinstance(source, TableSource):
            names = [column.name for column in found.columns]
            settle_columns(self, len(names), names if is_named(self) else None)
        return source, (found, single)

    def _open_more(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Open rows with their targets, which must be those of the first fit."""
        check_is_fitted(self)
        source, targets, _ = self._open_both(X, y, sample_weight, first=False)
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
        self, X: Any, y: Any, sample_weight: Any, first: bool
    ) -> tuple[Rows, tuple[str, ...], bool]:
        """Open rows with their targets: say what these are called, and whether it is one alone."""
        y = targets_of(self) if y is None else y
        if y is None:
            raise ParameterError(
                f"{type(self).__name__} requires y to be passed, but the target y is None",
                "a linear model learns from targets",
                "pass an array or the name of the target column",
            )
        are_names = isinstance(y, list | tuple) and y and all(isinstance(name, str) for name in y)
        if isinstance(y, str) or are_names:
            named = (y,) if isinstance(y, str) else tuple(y)
            source = open_rows(self, X, None, sample_weight, named, first)
            return cast(TableSource, source), named, isinstance(y, str)
        values, targets, single = numeric_targets(y)
        source = open_rows(self, X, None, sample_weight, first=first)
        if isinstance(source, ArraySource):
            if len(values) != source.x.shape[0]:
                refuse_lengths(source.x, values)
            return replace(source, targets=values), targets, single
        features = None if first else self.reader_.layout.names
        table, targets = with_targets(source, values, targets, features)
        return table, targets, single


def _is_deficient(fit: Any) -> TypeGuard[Fit]:
    return not isinstance(fit, Coefficients) and bool(fit.deficient)
