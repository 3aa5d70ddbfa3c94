"""How an estimator reads tables: settled by the first one, and the same for all that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.array_source import ArraySource
from suffice.data.python_numbers import faithful
from suffice.data.records import RecordReader
from suffice.data.schema import BlockLayout, Column, Layout, as_read
from suffice.data.table_source import TableSource
from suffice.data.text.format import TextFormat
from suffice.errors import DataError, warn
from suffice.models.base.checks import common_dtype
from suffice.models.base.saved import are_same
from suffice.sums.vocabulary import Vocabulary

__all__ = ["LabelReader", "TableReader"]

SPELLED = {
    "boolean": "true/false",
    "integer": "number",
    "number": "number",
    "string": "text",
}


@dataclass(frozen=True)
class TableReader:
    """How tables are read. A kind of model adds what it makes of the columns.

    Parameters
    ----------
    layout : Layout
        Which columns are read, and how.
    format : TextFormat, optional
        How the first table was written, if it was text.
    single : bool
        Whether it was an array of single precision.
    """

    layout: Layout
    format: TextFormat | None
    single: bool = field(default=False, kw_only=True)

    @classmethod
    def of(
        cls,
        source: TableSource | ArraySource,
        columns: Sequence[Column],
        blocks: tuple[BlockLayout, ...],
        options: Mapping[str, Any],
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
        **more
            The other fields of the reader.
        """
        if isinstance(source, ArraySource):
            named = source.label, source.weight
            layout = Layout(blocks, columns, *named, **options)
            return cls(layout, None, single=source.x.dtype == np.float32, **more)
        source.require_rows()
        read = {name for block in blocks for name in block.columns}
        unread = tuple(column.name for column in columns if column.name not in read)
        if unread and source.table.shown.rows:
            _say_left_out(unread, all_columns=len(unread) == len(columns))
        if "design" not in more:
            strings = (c.name for c in columns if c.stored == "string" and c.name in read)
            for doubt in filter(None, map(source.table.doubt, strings)):
                warn(f"{doubt}.")
        layout = Layout(
            blocks,
            as_read(columns, blocks),
            label=source.label,
            weight=source.weight,
            label_stored=source.label_stored(),
            ignored=(*source.ignored, *unread),
            **source.table.cleaning,
            **options,
        )
        format = source.table.format
        if format is not None:
            format = replace(format, features=tuple(layout.names))
        return cls(layout, format, **more)

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns that are read."""
        return self.layout.names

    @property
    def columns(self) -> Sequence[Column]:
        """What each column is, and why."""
        return self.layout.columns

    @cached_property
    def takes_numbers_as_they_are(self) -> bool:
        """Whether the columns, in their order, are one block of numbers."""
        blocks = self.layout.blocks
        return (
            len(blocks) == 1
            and blocks[0].encoding == "real"
            and are_same(blocks[0].columns, self.names)
        )

    @cached_property
    def records(self) -> RecordReader | None:
        """Reads one row by name, if its cells are numbers, outcomes, categories and words."""
        return RecordReader.of(self.layout)

    @cached_property
    def answering_records(self) -> RecordReader | None:
        """The same, where a third value of a binary column is missing."""
        return RecordReader.of(self.layout.answering)

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

    def with_options(self, **options: Any) -> Self:
        """The same, with options of the layout as an estimator has them now."""
        return replace(self, layout=replace(self.layout, **options)) if options else self


@dataclass(frozen=True)
class LabelReader(TableReader):
    """How tables are read whose rows have labels.

    Parameters
    ----------
    label_dtype : numpy.dtype, optional
        What the labels are stored as, if all of them came in arrays of numbers.
    """

    label_dtype: np.dtype[Any] | None = None

    def labels(self, classes: Vocabulary) -> NDArray[Any]:
        """Labels as an array of the dtype that they came in, (k,)."""
        return faithful(classes.values, np.array(classes.values, self.label_dtype))

    def with_labels(self, *given: Any) -> Self:
        """The same, once labels have come in further arrays or dtypes."""
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
