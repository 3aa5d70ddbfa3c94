"""What every estimator does: it reads tables by its reader, on an engine, and is kept in a file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.array_source import ArraySource
from suffice.data.csv.format import CsvFormat
from suffice.data.frames.memory import no_table
from suffice.data.masked_arrays import unmasked
from suffice.data.python_numbers import require_faithful
from suffice.data.records import RecordReader, columns_of, is_series, record_of, records_of
from suffice.data.schema import Column, Layout, Numbered
from suffice.data.source import InEngine, InParts, Part
from suffice.data.table_source import TableSource
from suffice.data.table_views import left_out
from suffice.engines.choice import engine_of, is_here
from suffice.engines.engine import Engine
from suffice.errors import DataError, ParameterError, SchemaError, warn
from suffice.models.base.checks import (
    checked_weights,
    has_named_columns,
    is_array,
    labels_of,
)
from suffice.models.base.fitted_attributes import KeptArray
from suffice.models.base.reader import TableReader
from suffice.models.base.saved import Saved
from suffice.models.base.saved_options import portable, unportable
from suffice.models.base.scikit_learn import (
    ScikitLearnInterface,
    check_is_fitted,
    checked_table,
    diagram,
    usual_array,
)
from suffice.numerics.in_print import listed
from suffice.persist import write_model
from suffice.phrases import meant
from suffice.sums.base import Statistic
from suffice.sums.batch import Batch

__all__ = ["Estimator"]

S = TypeVar("S", bound=Statistic)
T = TypeVar("T")


class Estimator(ScikitLearnInterface):
    """Options, a reader of tables, and the model that was learnt.

    The first table settles the reader; tables that follow are opened and read by it.

    Attributes
    ----------
    reader_ : TableReader
        How tables are read.
    model_ : object
        All that a prediction needs.
    n_features_in_ : int
        Columns of the first table.
    feature_names_in_ : ndarray (d,)
        Their names, only where they have some.
    """

    input_tags: ClassVar[tuple[str, ...]] = ("sparse",)  # what may be in an input
    array_dtype: ClassVar[str | None] = "numeric"  # None where an array of strings makes sense
    saved: ClassVar[type[Saved]]  # what its file holds
    saved_types: ClassVar[Mapping[str, type]]  # of the entries
    saved_options: ClassVar[tuple[type, ...]]  # of those options that are records

    _ignore: Sequence[str] = ()  # columns of the first table, and so of all, that are left out
    _engine: Engine | None = None  # of one summation; `set_engine` chooses for all
    reader_: TableReader
    model_: Any
    target_names_: Any
    n_features_in_: int
    feature_names_in_ = KeptArray()

    def unfitted(self) -> Self:
        """Return an estimator with copies of the parameters, which has learnt nothing."""
        again = super().unfitted()
        again._ignore = self._ignore
        return again

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for tag in self.input_tags:
            setattr(tags.input_tags, tag, True)
        tags.input_tags.allow_nan = self._allows_missing()
        return tags

    def _html_repr(self) -> str:
        """What a notebook shows: what was learnt, else scikit-learn's diagram."""
        return (self._notebook_tables() if "model_" in vars(self) else "") or diagram(self)

    def _notebook_tables(self) -> str:
        """What was learnt, as tables in HTML; nothing by default."""
        return ""

    @property
    def schema_(self) -> Sequence[Column]:
        """What each column is, and why."""
        return self.reader_.columns

    @property
    def layout_(self) -> Layout:
        """How a table is cut into blocks."""
        return self.reader_.layout

    @property
    def format_(self) -> CsvFormat | None:
        """How the first table was written, if it was text."""
        return self.reader_.format

    def _fitted(self) -> Any:
        """The model.

        Raises
        ------
        NotFittedError
            If there is none yet.
        """
        check_is_fitted(self)
        return self.model_

    # -- opening tables

    def _open(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        targets: tuple[str, ...] = (),
        first: bool = False,
    ) -> TableSource | ArraySource:
        """Open rows, with their labels if they are given.

        Parameters
        ----------
        X : table (n, d)
        y : array-like (n,) or str, optional
            Labels, or their column.
        sample_weight : array-like (n,) or str, optional
        targets : tuple of str
            Columns of numeric targets.
        first : bool
            Whether this table settles how many columns there are, and what they are called.

        Raises
        ------
        ParameterError
            If labels, targets or weights of an array are given by name.
        DataError, SchemaError
            If there is no row in an array, or something in it breaks a rule.
        """
        rows = None if first else records_of(X)
        if rows is not None:
            if is_series(X) and not self._names_column(rows[0]):
                raise no_table(X)
            X = self._columns_of(rows)
        if not (type(X) is np.ndarray or is_array(X, y, sample_weight, *targets)):
            from suffice.data.open import open_table

            if not first:
                known = self.reader_.format
                source = open_table(X, y, sample_weight, known, first=False)
                return self._completed(replace(source, answered=True))
            table = open_table(X, y, sample_weight, first=True).without(self._ignore)
            found = [name for name in table.feature_names if name not in targets]
            self._settle_columns(len(found), found if has_named_columns(X) else None)
            return table
        for given in (y, sample_weight, *targets):
            if isinstance(given, str):
                raise by_name(given)
        x, names = self._open_array(X, first)
        labels = None
        if y is not None:
            labels = labels_of(y, x)
            y = labels.values
        if x.dtype.kind not in "biuf":
            from suffice.data.open import open_columns

            return open_columns(x, names, y, sample_weight)
        weights = None if sample_weight is None else checked_weights(sample_weight, x.shape[0])
        return ArraySource(x, names, labels, weights)

    def _completed(self, table: TableSource) -> TableSource:
        """A table that is not the first, with what it may lack."""
        return table

    def _open_array(self, X: Any, first: bool) -> tuple[Any, Sequence[str]]:
        """An array of one row at least, checked, and the names of its columns."""
        plain = _plain_table(X)
        if plain is None:
            X = unmasked(X, numeric=self.array_dtype is not None)
            _require_numbers(X)
            plain = _plain_table(X)
        if plain is None:
            x = checked_table(self, X, first, self.array_dtype)
        elif first:
            x = plain
            self._settle_columns(x.shape[1])
        elif plain.shape[1] == self.n_features_in_ and not self._is_named():
            x = plain
        else:
            x = checked_table(self, plain, first, self.array_dtype, plain=True)
        if not x.shape[0]:
            raise DataError("there is no row", "an array has one at least")
        if not first:
            names = self.reader_.names
        elif plain is None and self._is_named():
            names = tuple(map(str, self.feature_names_in_))
        else:
            names = Numbered(x.shape[1])
        if x is not X and isinstance(x, np.ndarray):
            require_faithful(X, x, lambda at: f"column {names[at[1]]!r}, row {at[0]}")
        return x, names

    def _settle_columns(self, width: int, names: Any = None) -> None:
        """Note how many columns the first table has, and what they are called, if by strings."""
        self.n_features_in_ = width
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(tuple(names), dtype=object)

    def _is_named(self) -> bool:
        """Whether the columns of the first table were called by strings."""
        return "feature_names_in_" in self.__dict__

    def _allows_missing(self) -> bool:
        """Whether cells may be missing."""
        return True

    def _columns_of(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
        """Rows by name as a table of the columns that are known; say which others there are."""
        if not self._is_named():
            raise ParameterError(
                "a row is given by the names of its columns",
                "the model was fitted to columns without names",
                "give the row as an array",
            )
        layout = self.reader_.layout
        known = {*layout.names, *layout.ignored, layout.label, layout.weight, *self.target_names_}
        names = dict.fromkeys(name for row in rows for name in row)
        lacking = [name for name in layout.names if name not in names]
        unknown = {name: meant(name, lacking) for name in names if name not in known}
        for i, row in enumerate(rows):
            if not self._names_column(row):
                raise SchemaError(
                    f"row {i} names no column of the model: it has {listed(map(repr, row))}",
                    f"the columns are {listed(map(repr, layout.names))}",
                    next(filter(None, unknown.values()), "correct the names"),
                )
        if unknown:
            warn("; ".join([left_out(list(unknown)), *filter(None, unknown.values())]) + ".")
        return columns_of(rows, layout)

    def _names_column(self, row: Mapping[str, Any]) -> bool:
        """Whether a row by name has a cell of any column that the model reads."""
        return self._is_named() and not row.keys().isdisjoint(self.reader_.layout.names)

    def _in_precision(self, X: Any, answers: NDArray[Any]) -> NDArray[Any]:
        """Answers in single precision where the rows have it, and those of the fit had it too."""
        if not (self.reader_.single and getattr(X, "dtype", None) == np.float32):
            return answers
        with np.errstate(over="ignore"):  # what is beyond its range is infinite
            return answers.astype(np.float32)

    def _row(self, X: Any) -> Batch | None:
        """One row by name as a batch; None where it is to be read as a table."""
        row = record_of(X) if self._is_named() and is_here() else None
        reader = None if row is None else self._record_reader()
        return None if row is None or reader is None else reader.batch(row)

    def _record_reader(self) -> RecordReader | None:
        """What reads one row by name; None if options have changed since the fit."""
        return self.reader_.records

    # -- passing over the rows

    def _engine_for(self, source: InEngine | None) -> Engine:
        """The engine that reads a source."""
        if self._engine is not None:
            return self._engine
        return engine_of(None if source is None else source.engine)

    def _run(
        self,
        kernel: Callable[[Part, Any], S],
        params: Any,
        source: InParts,
        layout: Layout,
    ) -> S:
        """Return the sum of a kernel over a source."""
        engine = self._engine_for(source)
        return engine.run(kernel, params, source.parts(layout, engine.workers))

    # -- keeping

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that `suffice.load` reads; nothing in it is executed.

        A model of sums keeps its statistic there, so that a loaded one can learn, merge and
        forget. Of a logistic regression, and of a descent, there are the coefficients.

        Raises
        ------
        ModelFileError
            If the file cannot be written. A file that was there before is left as it was.
        """
        self._fitted()
        write_model(path, type(self).__name__, self._entries(), types=self.saved_types)

    def _entries(self) -> dict[str, Any]:
        """What a file holds, in the order of its entries."""
        reader = self.reader_
        return {
            "params": portable(self.get_params(deep=False)),
            "layout": reader.layout,
            "format": reader.format,
            "named": self._is_named(),
            "single_precision": reader.single,
            **self._learnt(),
        }

    @classmethod
    def restored(cls, content: Any) -> Self:
        """Rebuild a model from what `save` wrote.

        Raises
        ------
        KeyError
            If an entry is missing.
        ParameterError, DataError
            If something breaks a rule.
        """
        saved = cls.saved.of(content)
        known = cls._get_param_names()
        unknown = sorted(saved.params.keys() - known)
        if unknown:
            raise ParameterError(
                f"{unknown[0]!r} is no option of a saved {cls.__name__}",
                f"its options are {', '.join(known)}",
            )
        model = cls(**unportable(saved.params, cls.saved_options))
        names = saved.layout.names
        model._settle_columns(len(names), names if saved.named else None)
        model._check_saved(saved)
        model._restore(saved)
        return model

    @abstractmethod
    def _learnt(self) -> dict[str, Any]:
        """What a file holds besides options and layout, in the order of its entries."""

    def _check_saved(self, saved: Any) -> None:
        """Check the options of a saved model as its fit did, and that they go with the rest."""

    @abstractmethod
    def _restore(self, saved: Any) -> None:
        """Take over what a file holds besides the options."""


def _plain_table(X: Any) -> NDArray[Any] | None:
    """An array (n, d) of numbers that needs no look of scikit-learn's; else None."""
    plain = type(X) is np.ndarray and X.dtype.kind in "biuf"
    array: NDArray[Any] | None = X if plain else usual_array(X, "biuf")
    return array if array is not None and array.ndim == 2 and array.size > 0 else None


def _require_numbers(X: Any) -> None:
    """Refuse complex numbers, and an array without a column, in words that scikit-learn has too."""
    kind = getattr(X, "dtype", None)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if getattr(kind, "kind", "") == "c":
        raise DataError(
            "the table holds complex numbers: Complex data not supported",
            "a column holds real numbers",
            "give real and imaginary parts as two columns",
        )
    if len(shape) == 2 and not shape[1]:
        raise DataError(
            f"the table has no column: Found array with 0 feature(s) (shape=({shape[0]}, 0)) while "
            "a minimum of 1 is required",
            "a model needs features",
        )


def by_name(given: str) -> ParameterError:
    """The error of labels, targets or weights of an array that are given by a column's name."""
    return ParameterError(
        f"{given!r} names a column of an array",
        "the columns of an array have no names",
        "pass the values, or a table with named columns",
    )
