"""Regressors that learn how large their errors are, and give intervals from these."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any, Self

from suffice.errors import DataError, ParameterError
from suffice.families.options import check_boolean
from suffice.models.base.options import check_level
from suffice.models.base.unseen_values import warn_of_unseen
from suffice.models.estimator import fitted
from suffice.models.linear.conformal import ErrorSizes, error_counts, unit_of
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.model import LinearModel, Prediction
from suffice.models.linear.targets import Regressor
from suffice.models.reading import engine_for

__all__ = ["ConformalRegressor"]


class ConformalRegressor(Regressor):
    """A linear model that is a function of sums, and may know the errors of rows besides."""

    model_: LinearModel

    @abstractmethod
    def _inferable(self) -> LeastSquares:
        """The fit, if its errors are known."""

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

    def _conformal_ends(self, level: float) -> Prediction:
        """What says the ends of intervals, (n, t, 2)."""
        check_level(level)
        fit, errors = self._inferable(), fitted(self).errors
        if errors is None:
            raise ParameterError(
                "the errors of rows are not known",
                "a conformal interval rests on these, and sums do not tell them",
                "calibrate it with rows",
            )
        errors.quantile(level)  # may refuse
        return partial(errors.ends, fit, level)
