"""The source made of Arrow columns: a frame in memory, files, or a database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, TypeVar

import pyarrow as pa

from suffice.data.encode import coded
from suffice.data.frames.memory import FramePart, FrameTable, in_memory
from suffice.data.schema import (
    Column,
    Layout,
    Stored,
    decide,
    held,
    require_columns,
    stored_as,
)
from suffice.data.source import RecordPart, Source
from suffice.data.table import Table, TableView, WithoutColumns
from suffice.errors import ParameterError, SchemaError, warn
from suffice.numerics.in_print import listed
from suffice.phrases import meant
from suffice.sums.batch import BATCH_ROWS

T = TypeVar("T")

NUMERIC = {"boolean", "integer", "number"}
TYPES: Mapping[str | None, pa.DataType] = {
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "string": pa.string(),
}


def left_out(unknown: Sequence[str]) -> str:
    """Say that columns which a model does not know are not read."""
    them = "it" if len(unknown) == 1 else "them"
    return f"left out, as the model does not know {them}: {listed(map(repr, unknown))}"


def no_column(name: str, role: str, names: Sequence[str], delimited: bool) -> SchemaError:
    """The error of a column that is not there, or of cells that end with another separator."""
    one = names[0] if delimited and len(names) == 1 else ""
    mark = next((mark for mark in ";| " if mark in one.strip()), None)
    return SchemaError(
        f"there is no column {name!r} to be {role}",
        f"the columns are {listed(map(repr, names))}",
        f"if cells end with {mark!r}, use separator={mark!r}" if mark else meant(name, names),
    )


def to_learn(source: T) -> T:
    """Return rows to fit from: a column that the model does not know is refused."""
    return replace(source, answered=False) if isinstance(source, TableSource) else source


def without(table: Table, names: Sequence[str]) -> Table:
    """Return a table without some columns; a model fitted to it goes on ignoring them."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ParameterError(
            f"ignore={names!r}", "it must be a sequence of strings", "write a list"
        )
    names = tuple(name for name in names if name not in table.about.ignored)
    for name in names:
        if name not in table.names:
            raise ParameterError(
                f"ignore names the column {name!r}",
                f"the columns are {listed(map(repr, table.names))}",
                meant(name, table.names),
            )
    return WithoutColumns(table, names) if names else table


def innermost(table: Table, change: Callable[[Table], Table]) -> Table:
    """Change the table that is read, inside of what is said of its columns and strings."""
    if isinstance(table, TableView):
        return replace(table, table=innermost(table.table, change))
    return change(table)


def beside(
    source: TableSource,
    role: str,
    columns: Mapping[str, pa.Array[Any]],
    instead_of: Sequence[str] = (),
) -> TableSource:
    """Add columns to a table in memory, for others that it may have; each has a cell per row."""

    def added(table: Table) -> Table:
        frame = in_memory(table)
        if frame is None:
            raise ParameterError(
                f"the {role}s are given as values, the rows as a file",
                f"a file brings its own {role}s",
                "give the name of their column",
            )
        rows = frame.table.drop_columns([name for name in instead_of if name in frame.names])
        for name, column in columns.items():
            if len(column) != rows.num_rows:
                raise ParameterError(
                    f"{len(column)} {role}s for {rows.num_rows} rows",
                    f"there is one {role} per row",
                )
            rows = rows.append_column(name, column)
        return replace(frame, table=rows)

    return replace(source, table=innermost(source.table, added))


@dataclass(frozen=True)
class TableSource(Source):
    """A table of Arrow columns: a frame in memory, files, or a database."""

    table: Table
    # These columns are no features.
    label: str | None = None
    weight: str | None = None
    keys: tuple[str, ...] = ()  # by which rows are grouped
    answered: bool = False  # whether a column that a model does not know is left out, not refused
    named: bool = True  # whether the columns were called by strings

    def __post_init__(self) -> None:
        roles = [("the label", self.label), ("the weight", self.weight)]
        for role, name in (*roles, *(("a key", name) for name in self.keys)):
            if name is not None and name not in self.table.names:
                raise no_column(name, role, self.table.names, self.table.about.format is not None)
        for name in self.keys:
            if name in (self.label, self.weight):
                raise ParameterError(
                    f"by names {name!r}, which is the label or the weight of the rows",
                    "a column has one part to play",
                    "choose another column",
                )

    @property
    def engine(self) -> str | None:
        return self.table.about.engine

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        roles = (self.label, self.weight, *self.keys)
        return tuple([name for name in self.table.names if name not in roles])

    def columns(self, names: Sequence[str] | None = None) -> tuple[Column, ...]:
        asked = self.feature_names if names is None else tuple(names)
        if names:
            require_columns(names, self.table.names, "the table")
        head = self.table.head()
        return tuple(decide(name, head.column(name)) for name in asked)

    def read_often(self, layout: Layout) -> TableSource:
        """Return rows to be read many times: categories are codes where they may be."""
        read = (block.columns for block in layout.blocks if block.encoding == "category")
        names = [name for name in (*chain(*read), layout.label) if name is not None]

        def coded(table: Table) -> Table:
            return table.coded(names) if isinstance(table, FrameTable) else table

        return replace(self, table=innermost(self.table, coded))

    def label_stored(self) -> Stored:
        """Return the storage of the label; an empty column settles nothing."""
        if self.label is None:
            return "nothing"
        shown = self.table.shown
        kind = shown.schema.field(self.label).type
        if pa.types.is_null(kind) and shown.rows == BATCH_ROWS:
            raise SchemaError(
                f"label {self.label!r} has no value in the first {BATCH_ROWS:,} rows",
                "the first rows say what labels are",
                "put rows with a label first",
            )
        return stored_as(kind) or "nothing"

    def shown_labels(self) -> tuple[Any, ...]:
        """The labels that the first rows show."""
        if self.label is None:
            return ()
        return coded(self.table.head().column(self.label), self.label)[1].values

    def parts(self, layout: Layout, workers: int) -> Sequence[RecordPart]:
        stored = {column.name: column.stored for column in layout.columns}
        stored |= {self.label: layout.label_stored} if self.label is not None else {}
        encoding = layout.encodings
        wanted = [*stored, *([] if self.weight is None else [self.weight])]
        require_columns(wanted, self.table.names, "the table")
        known = {*wanted, layout.label, layout.weight, *layout.ignored, *self.keys}
        if not known.issuperset(self.table.names):
            unknown = [name for name in self.table.names if name not in known]
            if not self.answered:
                raise SchemaError(
                    f"column {unknown[0]!r} is unknown to the model",
                    f"it was fitted to {', '.join(repr(c.name) for c in layout.columns)}",
                    "leave the column out",
                )
            warn(left_out(unknown) + ".")
        self._check(stored, {name for name, read in encoding.items() if read == "category"})
        types: dict[str, pa.DataType | None] = dict.fromkeys(wanted)
        if self.table.about.guesses:
            shown = self.table.shown.schema
            types = {
                name: _type(encoding.get(name), stored.get(name), shown.field(name).type)
                for name in wanted
            }
        layout = replace(layout, label=self.label, weight=self.weight)
        if own := self.table.about.cleaning:
            layout = replace(
                layout,
                missing=tuple(dict.fromkeys((*layout.missing, *own["missing"]))),
                label_suffix=own["label_suffix"] or layout.label_suffix,
                label_map={**layout.label_map, **own["label_map"]},
            )
        parts = self.table.parts(types) or [FramePart(pa.table({}), 0)]
        return [replace(part, layout=layout) for part in parts]

    def _check(self, stored: Mapping[str, Stored], categories: Set[str]) -> None:
        """Refuse a column that stores strings where fit had numbers, and the like.

        As categories, true and 1 differ, but 1 and 1.0 are one. A column without any value may be
        of every type, as in frames that write NaN for it. Text is read as in fit, but for
        dates, whose spelling has to be known.
        """
        schema, rows = self.table.shown
        for name, learnt in stored.items():
            now = stored_as(schema.field(name).type)
            step = "convert it"
            if self.table.about.guesses:
                fits = learnt != "time" or now == "time"
                step = f"say how dates are spelled, such as written={{{name!r}: 'YYYY-MM-DD'}}"
            else:
                fits = {now, learnt} <= (NUMERIC - {"boolean"} if name in categories else NUMERIC)
            if fits or now == learnt or "nothing" in (now, learnt):
                continue
            if self.table.about.guesses or rows < BATCH_ROWS:
                is_missing = self.table.head().column(name).is_null(nan_is_null=True)
                if not is_missing.false_count:
                    continue
            before = held(TYPES[learnt]) if learnt in TYPES else "dates or times"
            raise SchemaError(
                f"column {name!r} holds {held(schema.field(name).type)}",
                f"in training it held {before}",
                step,
            )


def _type(encoding: str | None, stored: Stored | None, shown: pa.DataType) -> pa.DataType | None:
    """The type in which a column of a text file is read, whose first rows show another, maybe.

    Whole numbers in the first rows do not promise whole numbers further down, and digits alone
    do not make a number of what was a string in fit. Outcomes are true and false, or numbers.
    """
    if stored == "time":
        return None  # as the table has it
    if (
        stored == "nothing"
        and encoding in ("category", "events", "key")
        and pa.types.is_null(shown)
    ):
        return pa.string()  # a family was given; later rows may have a value
    if encoding in ("real", "count", "whole") and stored != "boolean":
        return pa.float64()
    if encoding in ("binary", "outcome") and stored != "string":
        return pa.bool_() if stored == "boolean" or pa.types.is_boolean(shown) else pa.float64()
    return TYPES.get(stored)
