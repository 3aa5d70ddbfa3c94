"""What estimators share: the engine, the columns of the first table, and the file they keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from suffice.data.masked_arrays import unmasked
from suffice.data.python_numbers import require_faithful
from suffice.data.schema import Column, Layout, Numbered
from suffice.data.source import InEngine
from suffice.data.table_source import TableSource
from suffice.engines.choice import Choice, engine_of
from suffice.engines.engine import Engine
from suffice.errors import DataError, ParameterError
from suffice.models.base.checks import has_named_columns
from suffice.models.base.fitted_attributes import FittedAttributes
from suffice.models.base.saved import Saved
from suffice.models.base.saved_options import portable, unportable
from suffice.persist import write_model

__all__ = ["ReadsTables"]


class ReadsTables(FittedAttributes, BaseEstimator):  # type: ignore[misc]
    """An estimator that reads tables of any kind, on any engine.

    A subclass sets ``layout_`` when it opens its first table, and says what its file may hold.
    """

    _saved_types: ClassVar[Mapping[str, type]]
    _option_types: ClassVar[tuple[type, ...]]  # of those options that are records

    threads: int | None
    engine: Choice
    layout_: Layout
    array_dtype: str | None = "numeric"  # None where an array of strings makes sense

    def _engine_for(self, source: InEngine | None) -> Engine:
        """The engine that reads a source."""
        return engine_of(self.engine, self._workers, None if source is None else source.engine)

    @property
    def _workers(self) -> int | None:
        """How many threads read a source; None: all cores."""
        return self.threads

    @property
    def schema_(self) -> Sequence[Column]:
        """What each column is, and why."""
        columns: Sequence[Column] = self.layout_.columns
        return columns

    def _open_table(self, X: Any, label: Any, weight: Any, reset: bool) -> TableSource:
        """Open a frame or files; the first (``reset``) settle how text is written."""
        from suffice.data.open import open_table

        source = open_table(X, label, weight)
        if reset:
            self.format_ = source.table.format
        return source

    def _open_array(self, X: Any, named: Iterable[Any], reset: bool) -> tuple[Any, Sequence[str]]:
        """Check an array, and name its columns; the first (``reset``) settles these.

        Raises
        ------
        ParameterError
            If a label, target or weight is given by the name of a column.
        DataError
            If there is no row.
        """
        for given in named:
            if isinstance(given, str):
                raise ParameterError(
                    f"{given!r} names a column of an array",
                    "the columns of an array have no names",
                    "pass the values, or a table with named columns",
                )
        X = unmasked(X, numeric=self.array_dtype is not None)
        x = X if not reset and self._is_expected(X) else self._validated(X, reset)
        if not x.shape[0]:
            raise DataError("there is no row", "an array has one at least")
        names = self._array_names(x, reset)
        if isinstance(x, np.ndarray):
            require_faithful(X, x, lambda at: f"column {names[at[1]]!r}, row {at[0]}")
        return x, names

    def _array_names(self, x: Any, reset: bool) -> Sequence[str]:
        """What the columns of an array are called; the first settles it."""
        if not reset:
            return self.layout_.names
        self.format_ = None
        names = getattr(self, "feature_names_in_", None)
        return Numbered(x.shape[1]) if names is None else tuple(map(str, names))

    def _is_expected(self, X: Any) -> bool:
        """Whether an array needs no check: a plain one, of as many columns as the first."""
        named = hasattr(self, "feature_names_in_")
        width = None if named else getattr(self, "n_features_in_", None)
        return _is_plain(X) and bool(X.shape[1] == width)

    def _validated(self, X: Any, reset: bool) -> Any:
        """An array checked as scikit-learn checks it; the first settles names and width."""
        return validate_data(
            self,
            X,
            reset=reset,
            skip_check_array=_is_plain(X),
            accept_sparse="csr",
            dtype=self.array_dtype,
            ensure_all_finite=False,
            ensure_min_samples=0,
        )

    def _settle_columns(self, X: Any, names: Sequence[str]) -> None:
        """Note how many columns the first table has, and what they are called, if by strings."""
        self.n_features_in_ = len(names)
        self.__dict__.pop("feature_names_in_", None)
        if has_named_columns(X):
            self.feature_names_in_ = np.array(names, dtype=object)

    @property
    def _allows_missing(self) -> bool:
        """Whether cells may be missing."""
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._allows_missing
        return tags

    # -- keeping

    def _save(self, path: str | PathLike[str], learnt: Mapping[str, Any]) -> None:
        """Write options, columns, and what was learnt of them."""
        content = {
            "params": portable(self.get_params(deep=False)),
            "layout": self.layout_,
            "format": self.format_,
            "named": hasattr(self, "feature_names_in_"),
            **learnt,
        }
        write_model(path, type(self).__name__, content, types=self._saved_types)

    @classmethod
    def _restored(cls, saved: Saved) -> Self:
        """An estimator with the options and columns that `_save` wrote.

        Raises
        ------
        ParameterError
            If an option is unknown, or outside its rule.
        """
        known = [name for name in cls._get_param_names() if name != "engine"]
        unknown = sorted(saved.params.keys() - known)
        if unknown:
            raise ParameterError(
                f"{unknown[0]!r} is no option of a saved {cls.__name__}",
                f"its options are {', '.join(known)}",
            )
        model = cls(**unportable(saved.params, cls._option_types))
        model.layout_, model.format_ = saved.layout, saved.format
        names = model.layout_.names
        model.n_features_in_ = len(names)
        if saved.named:
            model.feature_names_in_ = np.array(tuple(names), dtype=object)
        model._check_saved(saved)
        return model

    def _check_saved(self, saved: Any) -> None:
        """Check the options of a saved model as its fit did, and that they go with the rest."""
        self._engine_for(None)


def _is_plain(X: Any) -> bool:
    """Whether cells are numbers in rows and columns, as nearly always: nothing else to check."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype.kind in "biuf"
