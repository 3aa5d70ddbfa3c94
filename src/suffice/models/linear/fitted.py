"""A fitted linear model: what its coefficients are worth, and what it says of rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeGuard, cast, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.engines.engine import map_batches
from suffice.errors import ParameterError, warn
from suffice.models.base.answers import answer_complete, tables_with_gaps
from suffice.models.base.options import Incomplete, Unanswerable, check_unanswerable, framed
from suffice.models.base.unseen_values import FEWEST, warn_of_unseen
from suffice.models.design.coefficient_table import coefficient_tables
from suffice.models.design.matrix import INTERCEPT
from suffice.models.design.units import measures, said_of_weights
from suffice.models.estimator import fitted, require_sums
from suffice.models.linear.calibrated import ConformalRegressor
from suffice.models.linear.descent import DescentFit
from suffice.models.linear.effects import Effects, effects
from suffice.models.linear.evaluation import r_squared_of_sums
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.model import (
    UNDETERMINED,
    LinearModel,
    Prediction,
    answer_names,
    answer_table,
    predictions,
    with_ends,
    with_mark,
    within,
    without_intervals,
)
from suffice.models.linear.posterior import Posterior
from suffice.models.reading import engine_for, in_precision, open_rows, row_by_name
from suffice.numerics.in_print import NAMED, listed
from suffice.numerics.interruption import interruptible
from suffice.phrases import rows_in_print
from suffice.sums.block import BadCell
from suffice.sums.comoments import Comoments

__all__ = ["NORMAL", "FittedLinear", "notebook_tables"]

Interval = Literal["prediction", "confidence", "conformal"]
NORMAL = "use solver='normal'"


class FittedLinear(ConformalRegressor):
    """A linear model with numeric targets, as its sums or its descent left it.

    Attributes
    ----------
    model_ : LinearModel
        All that a prediction needs.
    statistic_ : Comoments
        Exact sums over all rows learnt so far; none after gradient descent.
    batches_ : tuple of Comoments
        The statistics that it is the sum of: one, or one for each batch of a window.
    """

    incomplete: Incomplete
    solver: str
    model_: LinearModel
    statistic_: Comoments
    batches_: tuple[Comoments, ...]

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
        fit = self._unpenalised()
        values = interruptible(np.linalg.svd, fit.factor.cholesky.value, compute_uv=False)
        return np.asarray(values[: max(int(np.ceil(fit.equations.count)), 1)])

    def _unpenalised(self) -> LeastSquares:
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
        found = replace(self._summary(target, level), units=self._said_of_terms)
        return framed(found, as_frame)

    @property
    def _said_of_terms(self) -> tuple[str, ...]:
        """What coefficients are compared with and per, and how weights were taken."""
        lines = measures(self.design_, self.schema_)
        fit = self.model_.fit
        return (*lines, *said_of_weights(fit.equations)) if isinstance(fit, LeastSquares) else lines

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
        suffice.models.linear.posterior.Posterior : For the formulas.
        """
        for name, value in (("a0", a0), ("b0", b0)):
            if not (np.isfinite(value) and value >= 0):
                raise ParameterError(f"{name}={value!r}", f"{name} is a finite number, 0 or more")
        return Posterior.of(self._inferable(), self.terms_, self.design_.targets, a0, b0)

    def _inferable(self) -> LeastSquares:
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
        """Whether the sums are those expected of rows with missing cells."""
        return self.model_.cells is not None and not self.statistic_.complete

    @property
    def _left_out(self) -> float:
        """Weight of the rows with missing cells, which the fit does without."""
        return self.statistic_.rows - self._solved().equations.rows

    def _score_of_sums(self, rows: Comoments) -> float | None:
        fit = self.model_.fit
        if self.model_.cells is not None or type(fit) is not LeastSquares:
            return None
        return r_squared_of_sums(fit, rows)

    def _solved(self) -> LeastSquares:
        """The fit, if it is a function of sums."""
        fit = fitted(self).fit
        if isinstance(fit, DescentFit):
            require_sums(self)
        return cast(LeastSquares, fit)

    @property
    def n_iter_(self) -> int:
        """Passes of gradient descent; else 1, as nothing iterates."""
        fit = fitted(self).fit
        return len(fit.loss_history) if isinstance(fit, DescentFit) else 1

    @property
    def loss_history_(self) -> NDArray[np.float64]:
        """Loss of all rows after every pass of gradient descent, the sum over targets, (passes,).

        ::

            J = 1/(2N) [Σ ω(y − b − xᵀw)² + Σⱼ λⱼwⱼ²]
        """
        fit = fitted(self).fit
        if not isinstance(fit, DescentFit):
            raise AttributeError("there is a loss_history_ after gradient descent only.")
        return np.array(fit.loss_history)

    # -- predicting

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return b + xᵀw of every row, (n,) or (n, t).

        With ``incomplete="gaussian"``, a missing cell is taken as expected given the others. A
        warning tells of rows whose predictions the rows of the fit do not determine.
        """
        fit = fitted(self).fit
        if not _is_deficient(fit):
            return in_precision(self.reader_, X, self._shaped(self._predictions(X, fit.predict)))
        found = self._predictions(X, partial(with_mark, fit.predict, fit))
        self._tell_undetermined(int(found[:, -1].sum()), len(found))
        return in_precision(self.reader_, X, self._shaped(found[:, :-1]))

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
        (−∞, ∞), with a warning.

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
            self._tell_undetermined(int(np.isinf(found[:, 0, 0]).sum()), len(found))
        return self._shaped(found)

    def _ends(self, kind: Interval, level: float) -> Prediction:
        """What says the ends of intervals, (n, t, 2)."""
        if kind not in (known := get_args(Interval)):
            raise ParameterError(f"kind={kind!r}", f"kind is one of {', '.join(map(repr, known))}")
        if kind == "conformal":
            return self._conformal_ends(level)
        posterior = self.posterior()
        noise = 1.0 if kind == "prediction" else 0.0
        return partial(within, self._inferable(), posterior, posterior.quantile(level), noise)

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
        model, answer = fitted(self), fitted(self).fit.predict
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
        """The same tables; rows that are not determined have no interval, and are told of."""
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
        return Effects(tuple(design.groups), design.targets, fit.at_origin, found)

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
        source = open_rows(self, X)
        engine = engine_for(source)
        parts = source.parts(model.layout, engine.workers)
        warn_of_unseen(model.known_values, source, model.layout, fewest)
        pieces = engine.map(predictions, (model, answer), parts)
        return np.concatenate([piece for part in pieces for piece in part])


def notebook_tables(estimator: FittedLinear) -> str:
    """Return the coefficients as a table in HTML."""
    design, w = estimator.design_, np.atleast_2d(estimator.coef_)
    scales = estimator.model_.term_scales
    return coefficient_tables(estimator, design.targets, design.terms, w, scales)


def _is_deficient(fit: LeastSquares | DescentFit) -> TypeGuard[LeastSquares]:
    """Whether there are rows whose predictions the sums do not determine."""
    return isinstance(fit, LeastSquares) and bool(fit.factor.dependent) and not fit.positive
