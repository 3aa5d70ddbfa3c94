"""What estimators of numeric targets do: they read tables with targets, and are judged by these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.array_source import ArraySource
from suffice.data.source import Part
from suffice.data.table_source import TableSource
from suffice.data.targets import ArrayTargets, numeric_targets, with_targets
from suffice.errors import DataError, ParameterError, SchemaError
from suffice.models.base.answers import WithGaps, of_complete, told
from suffice.models.base.groups import ByGroup, group_layout, sum_by_group
from suffice.models.base.judge import Judge
from suffice.models.base.options import Unanswerable, check_unanswerable
from suffice.models.base.scikit_learn import check_is_fitted, refuse_lengths
from suffice.models.base.unseen_values import warn_of_unseen
from suffice.models.design.feature_columns import Ways, predictors
from suffice.models.design.matrix import Design
from suffice.models.estimator import FittedFromSums, Kind, fitted
from suffice.models.linear.evaluation import RegressionEvaluation
from suffice.models.linear.model import errors
from suffice.models.linear.reader import LinearReader, Rows, settled
from suffice.models.reading import engine_for, is_named, open_rows, settle_columns, summed
from suffice.numerics.rows import is_sparse
from suffice.sums.comoments import Comoments
from suffice.sums.moments import Moments

__all__ = ["Regressor"]


class Regressor(FittedFromSums[LinearReader, Comoments]):
    """An estimator of numeric targets.

    Attributes
    ----------
    reader_ : LinearReader
        How tables are read.
    design_ : Design
        The terms that the columns of the first table become, and its targets.
    single_target_ : bool
        Whether targets were given as (n,), so that predictions are too.
    """

    kind = Kind(name="linear model", row="row", mixins=("MultiOutputMixin", "RegressorMixin"))
    categorical: Sequence[str] | None
    text: Sequence[str] | None
    words: Ways
    ordered: Mapping[str, Sequence[Any]] | None
    formula: str | None
    reference: Mapping[str, Any] | None
    reader_: LinearReader

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
        """Whether targets were given as (n,)."""
        return self.reader_.single_target

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
        model, source = fitted(self), self._open_more(X, y, sample_weight)
        layout = self.reader_.layout_of(source)
        kernel = self._of_answered(errors, unanswerable)
        warn_of_unseen(model.known_values, source, layout)
        found = summed(kernel, replace(model, layout=layout), source, layout)
        return self._evaluation(told({"all": found})["all"])

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
        model, source = fitted(self), self._open_more(X, y, sample_weight)
        known = self.reader_.layout_of(source)
        warn_of_unseen(model.known_values, source, known)
        layout, at = group_layout(known, source, by, (*self.target_names_, known.weight))
        engine = engine_for(source)
        found = sum_by_group(
            self._of_answered(errors, unanswerable),
            replace(model, layout=known),
            engine,
            source.parts(layout, engine.workers),
            at,
            len(known.blocks),
        )
        judged = told(found).items()
        return ByGroup(by, {value: self._evaluation(moments) for value, moments in judged})

    @property
    def _evaluation(self) -> Callable[[Moments], RegressionEvaluation]:
        """What the moments of errors are called."""
        intercept = bool(fitted(self).fit.has_intercept)
        return partial(RegressionEvaluation.of, self.design_.targets, intercept=intercept)

    def _judge(self, source: Rows) -> Judge:
        """What the evaluation of a table needs; rows without an answer are left out of it."""
        layout = self.reader_.layout_of(source)
        return Judge(
            self._of_answered(errors, "empty"),
            replace(fitted(self), layout=layout),
            layout,
            self._evaluation,
        )

    def _of_answered(
        self, kernel: Callable[[Part, Any], Any], unanswerable: Unanswerable
    ) -> Callable[[Part, Any], WithGaps[Any]]:
        """The kernel that leaves out rows without an answer, if these are to be empty."""
        check_unanswerable(unanswerable)
        known = self.model_.cells is not None or unanswerable == "error"
        return partial(
            of_complete, kernel=kernel, complete=None if known else fitted(self).complete
        )

    def _scoring(self, source: Rows) -> Judge:
        """What `score` needs of a table."""
        judge = self._judge(source)
        return replace(
            judge, kernel=self._of_answered(errors, "error"), record=self._mean_r_squared
        )

    def _mean_r_squared(self, found: Moments) -> float:
        return float(self._evaluation(found).centred.r_squared.mean())

    def _shaped(self, predictions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Predictions (n, t) in the shape of the targets."""
        return predictions[:, 0] if self.single_target_ else predictions

    def _open_judged(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Open rows with their targets, to be answered and judged."""
        return self._open_more(X, y, sample_weight)

    # -- reading

    def _open_first(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Rows, tuple[tuple[str, ...], bool]]:
        """Open the first table; say what its targets are called, and whether it is one alone."""
        source, targets, single = self._open_both(X, y, sample_weight, first=True)
        return source, (targets, single)

    def _first_reader(self, source: Rows, said: tuple[tuple[str, ...], bool]) -> LinearReader:
        """How all tables are read that follow the first."""
        reader = settled(source, *said, predictors(self), engine_for(source))
        if reader.design.formula is not None and isinstance(source, TableSource):
            settle_columns(self, len(reader.names), reader.names if is_named(self) else None)
        return reader

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
        if y is None:
            raise ParameterError(
                f"{type(self).__name__} requires y to be passed, but the target y is None",
                "a linear model learns from targets",
                "pass an array or the name of the target column",
            )
        if isinstance(y, str) or _are_names(y):
            named = (y,) if isinstance(y, str) else tuple(y)
            source = open_rows(self, X, None, sample_weight, named, first)
            return cast(TableSource, source), named, isinstance(y, str)
        if is_sparse(y):
            raise DataError(
                "the targets are a sparse matrix", "targets are dense numbers", "pass y.toarray()"
            )
        values, targets, single = numeric_targets(y)
        source = open_rows(self, X, None, sample_weight, first=first)
        if isinstance(source, ArraySource):
            if len(values) != source.x.shape[0]:
                refuse_lengths(source.x, values)
            return ArrayTargets(source, values), targets, single
        features = None if first else self.reader_.layout.names
        table, targets = with_targets(source, values, targets, features)
        return table, targets, single


def _are_names(y: Any) -> bool:
    """Tell a list of column names from a list of targets."""
    return isinstance(y, list | tuple) and bool(y) and all(isinstance(name, str) for name in y)
