"""What estimators share of reading: which engine, which columns, rows and labels as a source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from suffice.data.arrays import ArraySource, Labels
from suffice.data.schema import Layout, Numbered
from suffice.data.source import Source
from suffice.data.tables import TableSource
from suffice.engines.choice import Choice, engine_of
from suffice.engines.engine import Engine
from suffice.errors import ParameterError
from suffice.models.contract import check_labels, checked_weights, is_array

__all__ = ["ReadsTables"]


class ReadsTables(BaseEstimator):  # type: ignore[misc]
    """An estimator that reads tables of any kind, on any engine.

    A subclass sets ``layout_`` when it opens its first table.
    """

    threads: int | None
    engine: Choice
    layout_: Layout
    array_dtype: str | None = "numeric"  # None where an array of strings makes sense

    def _engine_for(self, source: object) -> Engine:
        """The engine that reads a source."""
        home = getattr(getattr(source, "table", None), "engine", None)
        return engine_of(self.engine, self.threads, home)

    def _open_table(self, X: Any, label: Any, weight: Any, reset: bool) -> TableSource:
        """Open a frame or files; the first (``reset``) settle how text is written."""
        from suffice.data.opening import open_table

        source = open_table(X, label, weight)
        if reset:
            self.format_ = getattr(source.table, "format", None)
        return source

    def _open_array(self, X: Any, named: Iterable[Any], reset: bool) -> tuple[Any, Sequence[str]]:
        """Check an array, and name its columns; the first (``reset``) settles these.

        Raises
        ------
        ParameterError
            If a label, target or weight is given by the name of a column.
        """
        for given in named:
            if isinstance(given, str):
                raise ParameterError(
                    f"{given!r} names a column of an array",
                    "the columns of an array have no names",
                    "pass the values, or a table with named columns",
                )
        x = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=self.array_dtype,
            ensure_all_finite=False,
        )
        if not reset:
            return x, self.layout_.names
        self.format_ = None
        names = getattr(self, "feature_names_in_", None)
        return x, Numbered(x.shape[1]) if names is None else tuple(map(str, names))

    def _open_labelled(self, X: Any, y: Any, sample_weight: Any, reset: bool = False) -> Source:
        """Open a table whose rows have labels."""
        if y is None:
            raise ParameterError(
                f"{type(self).__name__} requires y to be passed, but the target y is None",
                "a classifier learns from labels",
                "pass an array or the name of the label column",
            )
        return self._open_classes(X, y, sample_weight, reset)

    def _open_classes(
        self, X: Any, y: Any = None, sample_weight: Any = None, reset: bool = False
    ) -> Source:
        """Open a table of a classifier, with or without labels."""
        if not is_array(X):
            table = self._open_table(X, y, sample_weight, reset)
            if reset:
                self.feature_names_in_ = np.array(table.feature_names, dtype=object)
                self.n_features_in_ = len(table.feature_names)
            return table
        x, names = self._open_array(X, (y, sample_weight), reset)
        labels = None
        if y is not None:
            y = column_or_1d(y, warn=True)
            check_consistent_length(x, y)
            labels = Labels.of(y)
            check_labels(labels)
        if x.dtype.kind not in "biuf":
            from suffice.data.opening import open_columns

            return open_columns(x, names, y, sample_weight)
        weights = None if sample_weight is None else checked_weights(sample_weight, x.shape[0])
        return ArraySource(x, names, labels, weights)
