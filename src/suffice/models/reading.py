"""Readers of tables: fixed by the first table, and the same for all that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any, Self, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.frames.memory import no_table
from suffice.data.python_cells import faithful, require_faithful, require_label_values, unmasked
from suffice.data.records import (
    RecordReader,
    columns_of,
    is_series,
    names_of,
    record_of,
    records_of,
)
from suffice.data.schema import MAX_CLASSES, BlockLayout, Column, Layout, Numbered, as_read
from suffice.data.source import ArraySource, Labels, Part, Source
from suffice.data.table import free_name, with_missing
from suffice.data.table_source import TableSource, beside, left_out
from suffice.data.text_format import TextFormat
from suffice.engines.engine import engine_for, is_here
from suffice.errors import DataError, ParameterError, SchemaError, first_line, warn
from suffice.models.base.checks import checked_weights, is_array
from suffice.models.base.saved import are_same
from suffice.models.base.scikit_learn import (
    checked_table,
    column_or_1d,
    refuse_lengths,
    usual_array,
)
from suffice.numerics.in_print import listed
from suffice.phrases import meant
from suffice.sums.base import Statistic
from suffice.sums.batch import Batch
from suffice.sums.vocabulary import Vocabulary

S = TypeVar("S", bound=Statistic)
SPELLED = {"boolean": "true/false", "integer": "number", "number": "number", "string": "text"}


@dataclass(frozen=True)
class TableReader:
    """A reader of tables. A kind of model adds what it makes of the columns."""

    layout: Layout  # which columns are read, and how
    format: TextFormat | None  # how the first table was written, if it was text
    single: bool = field(default=False, kw_only=True)  # whether it was an array of single precision

    @classmethod
    def of(
        cls,
        source: TableSource | ArraySource,
        columns: Sequence[Column],
        blocks: tuple[BlockLayout, ...],
        options: Mapping[str, Any],
        settled: Callable[[str], bool] = lambda name: False,
        **more: Any,
    ) -> Self:
        """The reader of tables like a given one.

        Parameters
        ----------
        source : TableSource or ArraySource
            The first table.
        columns : sequence of Column
            Those that are read.
        blocks : tuple of BlockLayout
            How they are read.
        options : mapping
            Options of the layout.
        settled : callable
            Whether the user has said what a column is, so that nothing is in doubt.
        **more
            The other fields of the reader.
        """
        if isinstance(source, ArraySource):
            named = source.label, source.weight
            layout = Layout(blocks, columns, *named, **options)
            return cls(layout, None, single=source.x.dtype == np.float32, **more)
        read = {name for block in blocks for name in block.columns}
        unread = tuple(column.name for column in columns if column.name not in read)
        if unread and source.table.shown.rows:
            _say_left_out(unread, all_columns=len(unread) == len(columns))
        if "design" not in more:
            strings = (c.name for c in columns if c.stored == "string" and c.name in read)
            open_to_doubt = (name for name in strings if not settled(name))
            for doubt in filter(None, map(source.table.about.doubts.get, open_to_doubt)):
                warn(f"{doubt}.")
        layout = Layout(
            blocks,
            as_read(columns, blocks),
            label=source.label,
            weight=source.weight,
            label_stored=source.label_stored(),
            ignored=(*source.table.about.ignored, *unread, *source.keys),
            **source.table.about.cleaning,
            **options,
        )
        format = source.table.about.format
        if format is not None:
            format = replace(format, features=tuple(layout.names))
        return cls(layout, format, **more)

    @property
    def names(self) -> Sequence[str]:
        return self.layout.names

    @property
    def columns(self) -> Sequence[Column]:
        return self.layout.columns

    @cached_property
    def takes_numbers_as_they_are(self) -> bool:
        """Return whether the columns, in their order, are one block of numbers."""
        blocks = self.layout.blocks
        return (
            len(blocks) == 1
            and blocks[0].encoding == "real"
            and are_same(blocks[0].columns, self.names)
        )

    def known(self, values: Mapping[str, Vocabulary]) -> TextFormat:
        """Return what is known of text files of further rows.

        Parameters
        ----------
        values : mapping of str to Vocabulary
            Values of categories and labels that the model knows, by column: none of them is a
            missing cell, whatever it is called.
        """
        format = self.format
        if format is None:
            stored = {column.name: column.stored for column in self.columns}
            if self.layout.label is not None:
                stored[self.layout.label] = self.layout.label_stored
            written = {name: SPELLED[kind] for name, kind in stored.items() if kind in SPELLED}
            format = TextFormat(written=written, features=tuple(self.names))
        kept = (
            (name, tuple(token for token in format.tokens if token in set(known.values)))
            for name, known in values.items()
            if known.values and isinstance(known.values[0], str)
        )
        return replace(format, kept=tuple((name, tokens) for name, tokens in kept if tokens))

    @property
    def to_answer(self) -> Layout:
        """Return the layout of rows to predict."""
        return self.layout

    @cached_property
    def records(self) -> RecordReader | None:
        """Reads one row by name, if its cells are numbers, outcomes, categories and words."""
        return RecordReader.of(self.to_answer)


@dataclass(frozen=True)
class LabelReader(TableReader):
    """A reader of tables whose rows have labels."""

    # of the labels, if all of them came in arrays of numbers
    label_dtype: np.dtype[Any] | None = None

    def labels(self, classes: Vocabulary) -> NDArray[Any]:
        """Labels as an array of the dtype that they came in, (k,)."""
        return faithful(classes.values, np.array(classes.values, self.label_dtype))

    def with_labels(self, *given: Any) -> Self:
        """Note labels that have come in further arrays or dtypes."""
        return replace(self, label_dtype=common_dtype(self.label_dtype, *given))


def _say_left_out(names: Sequence[str], all_columns: bool) -> None:
    """Warn of columns of unknown kind, which nothing reads; refuse a table that has no others."""
    listed = ", ".join(map(repr, names))
    family = f"families={{{names[0]!r}: 'gaussian'}}"
    if all_columns:
        raise DataError(
            f"no row has a value in {listed}",
            "a model is fitted to one column at least of which something is known",
            f"begin with other rows, or give a family: {family}",
        )
    warn(
        "columns without a value, and of no type that says what they hold, are "
        f"left out, now and later: {listed}; a family keeps a column: {family}."
    )


# -- opening tables


def open_rows(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    targets: tuple[str, ...] = (),
    first: bool = False,
) -> TableSource | ArraySource:
    """Open rows for an estimator, with their labels if they are given.

    Parameters
    ----------
    estimator : Estimator
    X : table (n, d)
    y : array-like (n,) or str, optional
        Labels, or their column.
    sample_weight : array-like (n,) or str, optional
    targets : tuple of str
        Columns of numeric targets.
    first : bool
        Whether this table settles how many columns there are, and what they are called.
    """
    by_name = isinstance(X, list | tuple | Mapping) or type(X).__name__ == "Series"
    rows = records_of(X) if by_name else None
    if rows is not None:
        if is_series(X) and (first or not _names_column(estimator, rows[0])):
            raise no_table(X)
        X = columns_of(rows, names_of(rows)) if first else _columns_of(estimator, rows)
    if type(X) is np.ndarray or is_array(X, y, sample_weight, *targets):
        return _open_array(estimator, X, y, sample_weight, targets, first)
    from suffice.data.open import open_table

    label = y if isinstance(y, str) else None
    weight = sample_weight if isinstance(sample_weight, str) else None
    if not first:
        reader = estimator.reader_
        known = reader.known(_known_values(estimator))
        opened = open_table(X, label, weight, known, reader.layout, first=False)
        opened = _with_values(opened, y, sample_weight)
        # Identifiers say nothing of the class, and so may be absent.
        names = getattr(estimator.model_, "identifiers", ())
        absent = [name for name in names if name not in opened.table.names]
        return replace(opened, answered=True, table=with_missing(opened.table, absent))
    framed = type(X).__module__.partition(".")[0] in ("pandas", "dask")
    called = X if isinstance(X, Mapping) else X.columns if framed else ()
    opened = _with_values(open_table(X, label, weight), y, sample_weight)
    if opened.table.about.format is not None and not opened.table.shown.rows:
        raise DataError(
            "the file has no rows below its header",
            "a model is fitted to one row at least",
            "check that this is the file that was meant",
        )
    named = all(isinstance(name, str) for name in called)
    opened = replace(opened, named=named, keys=estimator._by or opened.keys)
    found = [name for name in opened.feature_names if name not in targets]
    settle_columns(estimator, len(found), found if named else None)
    return opened


def _known_values(estimator: Any) -> Mapping[str, Vocabulary]:
    """Return the values that a model knows of categories and of the label, by column."""
    model, label = estimator.model_, estimator.reader_.layout.label
    values = dict(getattr(model, "known_values", {}))
    if label is not None and (classes := getattr(model, "classes", None)) is not None:
        values[label] = classes
    return values


def _open_array(
    estimator: Any, X: Any, y: Any, sample_weight: Any, targets: tuple[str, ...], first: bool
) -> TableSource | ArraySource:
    """Open an array of one row at least; the names of its columns are those of the first one."""
    for given in (y, sample_weight, *targets, *(estimator._by if first else ())):
        if isinstance(given, str):
            raise ParameterError(
                f"{given!r} names a column of an array",
                "the columns of an array have no names",
                "pass the values, or a table with named columns",
            )
    dtype = estimator.kind.dtype
    is_plain = type(X) is np.ndarray and X.dtype.kind in "biuf" and X.ndim == 2 and X.size > 0
    plain = X if is_plain else _plain_table(X)
    if plain is None:
        X = unmasked(X, numeric=dtype is not None)
        _require_numbers(X)
        plain = _plain_table(X)
    if plain is None:
        x = checked_table(estimator, X, first, dtype)
    elif first:
        x = plain
        settle_columns(estimator, x.shape[1])
    elif plain.shape[1] == estimator.n_features_in_ and not is_named(estimator):
        x = plain
    else:
        x = checked_table(estimator, plain, first, dtype, plain=True)
    if not x.shape[0]:
        raise DataError("there is no row", "an array has one at least")
    names: Sequence[str] = Numbered(x.shape[1])
    if not first:
        names = estimator.reader_.names
    elif plain is None and is_named(estimator):
        names = tuple(map(str, estimator.feature_names_in_))
    if x is not X and isinstance(x, np.ndarray):
        require_faithful(X, x, lambda at: f"column {names[at[1]]!r}, row {at[0]}")
    labels = None if y is None else labels_of(y, x)
    if x.dtype.kind in "biuf":
        weights = None if sample_weight is None else checked_weights(sample_weight, x.shape[0])
        return ArraySource(x, names, labels, weights)
    from suffice.data.open import open_table

    opened = open_table(dict(zip(names, x.T, strict=True)), first=False)
    return replace(_with_values(opened, labels, sample_weight), named=False)


def _with_values(opened: TableSource, y: Any, sample_weight: Any) -> TableSource:
    """Add labels and weights that are given as values, not as the names of columns."""
    taken = [*opened.table.names, *opened.table.about.ignored]
    if not (y is None or isinstance(y, str)):
        labels = y if isinstance(y, Labels) else labels_of(y, warn=False)
        distinct = labels.classes.values
        is_long = set(map(type, distinct)) == {int} and distinct[-1] >= 2**63
        try:
            values = pa.array(distinct, pa.uint64() if is_long else None)
        except (pa.ArrowException, OverflowError, TypeError) as error:
            raise SchemaError(
                f"the labels mix types: {first_line(error)}",
                "labels are of one type",
                "convert them",
            ) from error
        codes = pa.array(labels.codes, mask=labels.codes < 0)
        name = free_name("label", taken)
        column = pa.DictionaryArray.from_arrays(codes, values)
        opened = replace(beside(opened, "label", {name: column}), label=name)
    if not (sample_weight is None or isinstance(sample_weight, str)):
        name = free_name("weight", [*taken, opened.label or ""])
        column = pa.array(checked_weights(sample_weight, None))
        opened = replace(beside(opened, "weight", {name: column}), weight=name)
    return opened


def settle_columns(estimator: Any, width: int, names: Any = None) -> None:
    """Note how many columns the first table has, and what they are called, if by strings."""
    estimator.n_features_in_ = width
    estimator.__dict__.pop("feature_names_in_", None)
    if names is not None:
        estimator.feature_names_in_ = np.array(tuple(names), dtype=object)


def is_named(estimator: Any) -> bool:
    """Return whether the columns of the first table were called by strings."""
    return "feature_names_in_" in estimator.__dict__


def _columns_of(estimator: Any, rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Rows by name as a table of the columns that are known; say which others there are."""
    if not is_named(estimator):
        raise ParameterError(
            "a row is given by the names of its columns",
            "the model was fitted to columns without names",
            "give the row as an array",
        )
    layout, targets = estimator.reader_.layout, estimator.target_names_
    known = {*layout.names, *layout.ignored, layout.label, layout.weight, *targets}
    names = names_of(rows)
    lacking = [name for name in layout.names if name not in names]
    unknown = {name: meant(name, lacking) for name in names if name not in known}
    for i, row in enumerate(rows):
        if not _names_column(estimator, row):
            raise SchemaError(
                f"row {i} names no column of the model: it has {listed(map(repr, row))}",
                f"the columns are {listed(map(repr, layout.names))}",
                next(filter(None, unknown.values()), "correct the names"),
            )
    if unknown:
        warn("; ".join([left_out(list(unknown)), *filter(None, unknown.values())]) + ".")
    others = [name for name in (layout.label, layout.weight) if name in names]
    return columns_of(rows, [*layout.names, *others])


def _names_column(estimator: Any, row: Mapping[str, Any]) -> bool:
    return is_named(estimator) and not row.keys().isdisjoint(estimator.reader_.layout.names)


def row_by_name(estimator: Any, X: Any) -> Batch | None:
    """Return one row by name as a batch; None where it is to be read as a table."""
    row = record_of(X) if is_named(estimator) and is_here() else None
    reader = None if row is None else estimator.reader_.records
    return None if row is None or reader is None else reader.batch(row)


def in_precision(reader: TableReader, X: Any, answers: NDArray[Any]) -> NDArray[Any]:
    """Return answers in single precision where the rows, and those of the fit, have it."""
    if not (reader.single and getattr(X, "dtype", None) == np.float32):
        return answers
    with np.errstate(over="ignore"):  # what is beyond its range is infinite
        return answers.astype(np.float32)


def _plain_table(X: Any) -> NDArray[Any] | None:
    """An array (n, d) of numbers that needs no look of scikit-learn's; else None."""
    array: NDArray[Any] | None = usual_array(X, "biuf")
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


# -- labels


WHOLE_TYPES = {bool, int}  # labels without a fraction


def labels_of(y: Any, rows: Any = None, warn: bool = True) -> Labels:
    """Return labels, each of which can name a class, as many as ``rows``."""
    plain = type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biu"
    values = y if plain else _one_column(y, warn)
    if rows is not None and rows.shape[0] != values.shape[0]:
        refuse_lengths(rows, values)
    labels = Labels.of(values)
    distinct = labels.classes.values
    types = set(map(type, distinct))
    if not types <= WHOLE_TYPES:
        fraction = next((one for one in distinct if isinstance(one, Real) and one % 1), None)
        if fraction is not None:
            raise DataError(
                f"label, row {labels.codes.tolist().index(distinct.index(fraction))}: {fraction}",
                "Unknown label type: continuous; a label is not a fraction",
                "to predict a number, use a linear model",
            )
    if len(distinct) > MAX_CLASSES:
        raise DataError(
            f"the labels have more than {MAX_CLASSES} values",
            "a label names a class",
            "check that the right values are the labels",
        )
    if types <= WHOLE_TYPES:
        return labels
    kinds = sorted({kind.__name__ for kind in types})
    if "bytes" in kinds:
        raise DataError("the labels are bytes", "a label is text or a number", "decode them")
    if len(kinds) > 1 and not all(issubclass(kind, Real) for kind in types):
        raise SchemaError(
            f"the labels mix types: {', '.join(kinds)}", "labels are of one type", "convert them"
        )
    for label in distinct:
        if isinstance(label, str) and label.encode(errors="ignore").decode() != label:
            from suffice.data.frames.memory import not_text

            raise not_text(f"the label {label!r} is")
    return labels


def _one_column(y: Any, warn: bool) -> NDArray[Any]:
    """Labels as an array of one dimension; of a matrix of one column scikit-learn may warn."""
    dtype = getattr(y, "dtype", None)
    if getattr(dtype, "kind", "") == "c" or (
        isinstance(y, list | tuple) and complex in map(type, y)
    ):
        raise DataError(
            "Complex data not supported: the labels are complex numbers",
            "a label is text, a whole number, a Boolean or a date",
            "write them as text",
        )
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] != 1:
        raise DataError(
            f"the labels are a table of {shape[1]} columns", "there is one label per row"
        )
    if isinstance(y, list | tuple):  # as an array, they would be of one type
        require_label_values([row for row in y if not isinstance(row, list | np.ndarray)])
    y = unmasked(y)
    return faithful(y, column_or_1d(y, warn=warn))


def declared_labels(classes: Any) -> Vocabulary:
    """Labels of which there may be no row yet; none of ``classes=None``."""
    if classes is None:
        return Vocabulary(())
    return labels_of(classes, warn=False).classes


def common_dtype(*given: Any) -> np.dtype[Any] | None:
    """Return the dtype that holds all labels: of arrays of numbers or dtypes, or else None.

    Examples
    --------
    >>> common_dtype(np.array([0, 1], np.int32), np.array([0.0], np.float32))
    dtype('float64')
    >>> common_dtype(np.array([0, 1], np.int32), [0, 1])
    """
    dtypes = []
    for y in given:
        dtype = y if isinstance(y, np.dtype) else getattr(y, "dtype", None)
        if not (isinstance(dtype, np.dtype) and dtype.kind in "biuf"):
            return None
        dtypes.append(dtype)
    return np.result_type(*dtypes)


# -- passing over the rows


def summed(kernel: Callable[[Part, Any], S], params: Any, source: Source, layout: Layout) -> S:
    engine = engine_for(source)
    return engine.run(kernel, params, source.parts(layout, engine.workers))
