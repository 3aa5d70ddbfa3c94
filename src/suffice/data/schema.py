"""The kind of each column, how it was decided, and how its cells are read.

The rule, applied to the first 65,536 rows and overridable column by column:

=========================  ========================================================  ==========
stored as                  when                                                      kind
=========================  ========================================================  ==========
boolean                    always                                                    binary
integer, float, decimal    0 and 1 are the only values, or -1 and 1                  binary
integer, float, decimal    otherwise, also without a value                           real
date, time                 always                                                    real
text                       4 words a cell on average, and more than half of the      text
                           cells are distinct
text                       otherwise                                                 category
dictionary of numbers      always                                                    category
nothing, text              no row has a value                                        unknown
=========================  ========================================================  ==========

Integers are numbers. Codes without an order are specified by type (text, a dictionary) or option.
A column of unknown kind is left out, with a warning, unless a family is given for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import inf
from typing import Annotated, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.data.doubles import PER_SECOND
from suffice.errors import ParameterError, SchemaError
from suffice.numerics.in_print import Printed, Table, listed
from suffice.phrases import meant
from suffice.rules import POSITIVE, Within, rule
from suffice.sums.block import Encoding

Kind = Literal["real", "binary", "category", "text", "unknown"]
Stored = Literal["boolean", "integer", "number", "string", "time", "nothing"]

MOST_SHOWN = 100  # columns in print
UNKNOWN: tuple[Kind, str] = "unknown", "no value"
BOOLEAN, ONLY = "boolean", "only {} and {}"  # what a family of two outcomes has to know
SPARSE = "numbers of a sparse matrix"  # a family of counts reads them as they are stored
DATES = "dates, in seconds since 1970-01-01"  # reasons why a column of time is real
INSTANTS = "points in time, in seconds since 1970-01-01"
TIMES, DURATIONS = "times of day, in seconds since midnight", "durations, in seconds"
LOW = {
    BOOLEAN: 0.0,
    ONLY.format(0, 1): 0.0,
    ONLY.format(-1, 1): -1.0,
    f"{ONLY.format(0, 1)}: {SPARSE}": 0.0,
    f"{ONLY.format(-1, 1)}: {SPARSE}": -1.0,
}
KIND_OF: dict[Encoding, Kind] = {
    "real": "real",
    "count": "real",
    "whole": "real",
    "binary": "binary",
    "outcome": "binary",
    "category": "category",
    "mixed": "real",
    "events": "text",
    "sparse": "real",
}

MAX_CLASSES = 10_000
WORDS_PER_TEXT = 4


@dataclass(frozen=True)
class Column:
    """One column: its name, what its cells are stored as, its kind and why."""

    name: str
    stored: Stored
    kind: Kind
    reason: str

    @property
    def outcomes(self) -> tuple[Any, Any]:
        """The cells that stand for 0 and 1, where it has two values."""
        return (False, True) if self.stored == "boolean" else (int(LOW.get(self.reason, 0)), 1)


@dataclass(frozen=True)
class Numbered(Sequence[str]):
    """The names x0, x1, ... of the d columns of an array, made when asked for."""

    d: Annotated[int, Within(0, 2**53)]

    def __len__(self) -> int:
        return self.d

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(f"x{j}" for j in range(self.d)[index])
        return f"x{range(self.d)[index]}"


@dataclass(frozen=True)
class UniformColumns(Sequence[Column]):
    """Columns that differ in name only: an array may have 100,000 of them."""

    names: Sequence[str]
    stored: Stored
    kind: Kind
    reason: str

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return UniformColumns(self.names[index], self.stored, self.kind, self.reason)
        return Column(self.names[index], self.stored, self.kind, self.reason)


@dataclass(frozen=True, repr=False)
class Schema(Printed, Sequence[Column]):
    """The columns of a model, in print with their families.

    Parameters
    ----------
    columns : sequence of Column
    model : object, optional
        Its ``family_names`` and ``identifiers``, which are left out, are shown if it has some.
    """

    columns: Sequence[Column]
    model: Any = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, index: Any) -> Any:
        return self.columns[index]

    def table(self) -> Table:
        families = getattr(self.model, "family_names", None)
        rows = []
        for one in self.columns[:MOST_SHOWN]:
            own = [] if families is None else [families.get(one.name) or "-"]
            if own and one.name in self.model.identifiers:
                own = ["left out"]
            rows.append([one.name, one.kind, *own, one.reason])
        header = ["column", "kind", *([] if families is None else ["family"]), "why"]
        more = len(self) - len(rows)
        notes = [f"{more:,} more columns"] * (more > 0)
        return Table("", header, rows, notes, left=range(len(header)))


@dataclass(frozen=True)
class BlockLayout:
    """Columns that one family models, and how their cells are read.

    Parameters
    ----------
    encoding : str
    columns : sequence of str
    dates : tuple of str
        Those that hold dates; where their seconds are binned, then from 2000-01-01.
    ngrams : int
        How many neighbouring words of a text are counted together, at most.
    """

    encoding: Encoding
    columns: Sequence[str]
    dates: tuple[str, ...] = ()
    ngrams: Annotated[int, POSITIVE] = 1

    @rule("dates are among the columns")
    def _has_dates(self) -> bool:
        return not self.dates or set(self.dates) <= set(self.columns)


@dataclass(frozen=True)
class Layout:
    """The division of a table into blocks, with its columns of labels and weights.

    Parameters
    ----------
    blocks : tuple of BlockLayout
        Which columns to read, and how.
    columns : sequence of Column
        What each of these columns is, so that another table is read in the same way.
    label, weight : str, optional
        Names of these columns, where the table has them.
    label_stored : str
        What the label is stored as.
    missing : tuple of str
        Strings that stand for a missing cell, besides null and NaN.
    label_suffix : str
        Taken off the end of every label that has it.
    label_map : mapping of str to str
        New names of labels, applied after the suffix is taken off.
    threshold : float, optional
        What counts as the outcome 1 of a binary column or event: a number above it. Without it,
        the numbers must be 0 and 1, or −1 and 1.
    ignored : tuple of str
        Columns that a table may have and that are not read.
    """

    blocks: tuple[BlockLayout, ...]
    columns: Sequence[Column]
    label: str | None = None
    weight: str | None = None
    label_stored: Stored = "nothing"
    missing: tuple[str, ...] = ()
    label_suffix: str = ""
    label_map: Mapping[str, str] = field(default_factory=dict)
    threshold: Annotated[float | None, Within(-inf, inf)] = None
    ignored: tuple[str, ...] = ()

    @rule("every column is read in one block")
    def _has_blocks(self) -> bool:
        parts = [block.columns for block in self.blocks]
        if parts == [self.names]:
            return True
        if any(isinstance(part, Numbered) for part in parts):  # which may be longer than any memory
            return False
        names = self.names
        same = sum(map(len, parts)) == len(names)
        return same and sorted(name for part in parts for name in part) == sorted(names)

    @property
    def names(self) -> Sequence[str]:
        columns = self.columns
        return (
            columns.names if isinstance(columns, UniformColumns) else tuple(c.name for c in columns)
        )

    def lows(self, block: BlockLayout) -> NDArray[np.float64]:
        """The smaller of the two values of each binary column, 0 or −1; NaN where nobody knows."""
        return np.array([self._low.get(name, np.nan) for name in block.columns])

    @cached_property
    def _low(self) -> Mapping[str, float]:
        return {c.name: LOW[c.reason] for c in self.columns if c.reason in LOW}

    @property
    def encodings(self) -> Mapping[str, Encoding]:
        """Return the encoding of every column; of one that is a key too, that of the key."""
        found: dict[str, Encoding] = {}
        for block in self.blocks:
            if block.encoding == "mixed":
                pairs = zip(block.columns, self.is_number(block), strict=True)
                found |= {name: "real" if number else "category" for name, number in pairs}
            else:
                found |= dict.fromkeys(block.columns, block.encoding)
        return found

    def is_number(self, block: BlockLayout) -> NDArray[np.bool_]:
        """Return which columns of a mixed block are numbers; the others are categories."""
        categories = {column.name for column in self.columns if column.kind == "category"}
        return np.array([name not in categories for name in block.columns], bool)

    @cached_property
    def answering(self) -> Layout:
        """Return the layout in which an unseen third value of a binary column is missing."""
        blocks = tuple(
            replace(block, encoding="outcome") if block.encoding == "binary" else block
            for block in self.blocks
        )
        return self if blocks == self.blocks else replace(self, blocks=blocks)


def as_read(columns: Sequence[Column], blocks: Sequence[BlockLayout]) -> Sequence[Column]:
    """Return the columns that blocks read: numbers, and what is unknown, of the kind they read."""
    if isinstance(columns, UniformColumns):
        return columns
    read = {name: block.encoding for block in blocks for name in block.columns}
    found = []
    for column in columns:
        encoding = read.get(column.name)
        if encoding is None:
            continue
        if column.kind == "unknown":
            column = replace(column, reason="no value, but a family")
        elif encoding == "mixed" or column.stored not in ("integer", "number"):
            found.append(column)
            continue
        found.append(replace(column, kind=KIND_OF[encoding]))
    return tuple(found)


def number_kind(stored: Stored, low: float | None, sparse: bool = False) -> tuple[Kind, str]:
    """Return the kind of a column of numbers, and the reason.

    Parameters
    ----------
    low : float, optional
        0 or −1, if this and 1 are its only values.
    sparse : bool
        Whether it is one of a sparse matrix.
    """
    if low is not None:
        return "binary", ONLY.format(int(low), 1) + f": {SPARSE}" * sparse
    return "real", SPARSE if sparse else "whole numbers" if stored == "integer" else "numbers"


def is_text(kind: pa.DataType) -> bool:
    """Return whether cells are strings, of any length, that no dictionary holds."""
    tests = pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view
    return any(test(kind) for test in tests)


WIDER = {
    pa.string_view(): pa.large_string(),
    pa.binary_view(): pa.large_binary(),
    pa.float16(): pa.float32(),
}

STORED_KINDS: tuple[tuple[Stored, Callable[[pa.DataType], bool]], ...] = (
    ("number", pa.types.is_floating),
    ("integer", pa.types.is_integer),
    ("string", is_text),
    ("boolean", pa.types.is_boolean),
    ("nothing", pa.types.is_null),
    ("number", pa.types.is_decimal),
    ("time", pa.types.is_temporal),
)


@lru_cache
def stored_as(kind: pa.DataType) -> Stored | None:
    """Return the storage of an Arrow type; None where a table of features cannot hold it."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    for stored, is_of in STORED_KINDS:
        if is_of(kind):
            return stored
    return None


def decide(name: str, values: pa.Array[Any]) -> Column:
    """Decide what a column is from the type and values of its first rows."""
    stored = stored_as(values.type)
    if stored is None:
        raise SchemaError(
            f"column {name!r} holds {held(values.type)}",
            "a column holds numbers, strings, booleans, dates or times",
            "leave it out or split it into such columns",
        )
    if pa.types.is_dictionary(values.type) and stored != "string":
        return Column(name, stored, "category", "a dictionary")
    if stored == "boolean":
        return Column(name, stored, "binary", BOOLEAN)
    if stored == "time":
        return Column(name, stored, "real", _time(values))
    if stored in ("integer", "number"):
        return Column(name, stored, *number_kind(stored, _low(plain(values).drop_null())))
    if values.null_count == len(values):
        return Column(name, stored, *UNKNOWN)
    if not isinstance(values, pa.DictionaryArray):
        values = plain(values)
    cells, rows = pc.value_counts(values.drop_null()).flatten()
    strings = plain(cells).cast(pa.large_string())
    if reason := running_text(strings, rows):
        return Column(name, stored, "text", reason)
    distinct = pc.count_distinct(strings).as_py()
    reason = f"{distinct} distinct string{'' if distinct == 1 else 's'}"
    return Column(name, stored, "category", reason)


def running_text(strings: pa.Array[Any], rows: Sequence[int] | pa.Array[Any]) -> str:
    """Return why strings, each in so many rows, are no categories; "" if they are."""
    counts = np.asarray(rows, np.int64)
    words = pc.list_value_length(pc.utf8_split_whitespace(strings)).fill_null(0)
    distinct, observed = pc.count_distinct(strings).as_py(), int(counts.sum())
    mean = float(words.to_numpy() @ counts / max(observed, 1))
    if mean < WORDS_PER_TEXT or distinct <= observed / 2:
        return ""
    return f"{mean:.1f} words a cell, {distinct} distinct in {observed}"


def _low(values: pa.Array[Any]) -> float | None:
    if pa.types.is_floating(values.type):
        values = values.filter(pc.invert(pc.is_nan(values)))
    ends = pc.min_max(values)
    low, high = ends["min"], ends["max"]
    if high.as_py() != 1 or low.as_py() not in (0, -1):
        return None
    only = pc.all(pc.or_(pc.equal(values, low), pc.equal(values, high))).as_py()
    return float(low.as_py()) if only else None


def _time(values: pa.Array[Any]) -> str:
    kind = values.type
    if pa.types.is_timestamp(kind):
        ticks = values.drop_null().cast(pa.int64()).to_numpy()
        return INSTANTS if (ticks % (86_400 * PER_SECOND[kind.unit])).any() else DATES
    if pa.types.is_date(kind):
        return DATES
    return TIMES if pa.types.is_time(kind) else DURATIONS


def plain(column: pa.Array[Any]) -> pa.Array[Any]:
    """Undo what few kernels of Arrow take: views, short numbers, repeated dictionary values."""
    if isinstance(column, pa.DictionaryArray):
        values = plain(column.dictionary)
        return pa.DictionaryArray.from_arrays(column.indices, values).cast(values.type)
    kind = column.type
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return column.cast(pa.decimal128(kind.precision, kind.scale))
    return column.cast(WIDER[kind]) if kind in WIDER else column


def rows_taken(table: Any, rows: NDArray[np.intp]) -> Any:
    """Return rows of an Arrow table, or cells of a column, in their order; views become strings."""
    if not hasattr(table, "schema"):
        table = table.cast(WIDER.get(table.type, table.type))
    elif not WIDER.keys().isdisjoint(table.schema.types):
        fields = [field.with_type(WIDER.get(field.type, field.type)) for field in table.schema]
        table = table.cast(pa.schema(fields, table.schema.metadata))
    return table.take(pa.array(rows))


# What a cell is, and what a column holds.
_NAMES = (
    (pa.types.is_null, "empty", "nothing"),
    (pa.types.is_boolean, "true or false", "true and false"),
    (pa.types.is_integer, "a whole number", "whole numbers"),
    (pa.types.is_floating, "a number", "numbers"),
    (pa.types.is_decimal, "a decimal number", "decimal numbers"),
    (is_text, "text", "text"),
    (pa.types.is_date, "a date", "dates"),
    (pa.types.is_timestamp, "a point in time", "points in time"),
    (pa.types.is_time, "a time of day", "times of day"),
    (pa.types.is_duration, "a duration", "durations"),
    (pa.types.is_interval, "a number of months and days", "numbers of months and days"),
    (pa.types.is_binary, "bytes", "bytes"),
    (pa.types.is_large_binary, "bytes", "bytes"),
    (pa.types.is_fixed_size_binary, "bytes", "bytes"),
    (pa.types.is_map, "a mapping", "mappings"),
    (pa.types.is_struct, "a record", "records"),
    (pa.types.is_run_end_encoded, "run-end encoded", "run-end encoded values"),
    (pa.types.is_nested, "a list", "lists"),
)


def called(kind: pa.DataType) -> str:
    """Return the noun for a cell of a type."""
    return _names(kind)[0]


def held(kind: pa.DataType) -> str:
    """Return the noun for the cells of a column of a type."""
    return _names(kind)[1]


def _names(kind: pa.DataType) -> tuple[str, str]:
    if pa.types.is_dictionary(kind):
        return _names(kind.value_type)
    found = ((one, many) for is_of, one, many in _NAMES if is_of(kind))
    return next(found, (str(kind), str(kind)))


def require_columns(asked: Iterable[str], names: Sequence[str], where: str) -> None:
    """Refuse a request for columns that a table, so called, does not have, or for none at all."""
    asked = tuple(asked)
    if not asked:
        raise ParameterError(
            f"no column of {where} is asked for", "a table is read by columns", "name at least one"
        )
    if not set(names).issuperset(asked):
        unknown = [name for name in asked if name not in names]
        raise SchemaError(
            f"column {unknown[0]!r} is not in {where}",
            f"its columns are {listed(map(repr, names))}",
            meant(unknown[0], names) or "correct the name",
        )
