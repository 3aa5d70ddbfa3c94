"""What each column of a table is, how that was decided, and how its cells are read.

The rule, applied to the first 65,536 rows and overridable column by column:

=========================  ========================================================  ==========
stored as                  when                                                      kind
=========================  ========================================================  ==========
boolean                    always                                                    binary
float, decimal, time       always                                                    real
integer                    always                                                    integer
text                       4 words a cell on average, and more than half of the      text
                           cells are distinct
text                       otherwise                                                 category
dictionary of numbers      always                                                    category
nothing, text              no row has a value                                        undecided
=========================  ========================================================  ==========

An *integer* column is a category or numbers, by what all rows show that a model has learnt, however
they came; see `suffice.families.whole_numbers`. What the type of a column states never changes.

Where the type leaves the kind open and the first rows have no value, the first 65,536 values
decide. A column without any is in no block until later rows show one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.rules import Within, rule
from suffice.statistics.block import Encoding

__all__ = [
    "BOOLEAN",
    "DATES",
    "DURATIONS",
    "KIND_OF",
    "MAX_CLASSES",
    "SPARSE",
    "TIMES",
    "UNDECIDED",
    "BlockLayout",
    "Column",
    "Kind",
    "Layout",
    "Numbered",
    "Stored",
    "UniformColumns",
    "as_read",
    "integer_kind",
    "is_decided",
    "string_kind",
    "undecided",
    "with_kinds",
]

Kind = Literal["real", "binary", "category", "integer", "text", "undecided"]
Stored = Literal["boolean", "integer", "number", "string", "time", "nothing"]

UNDECIDED: tuple[Kind, str] = "undecided", "no value yet"
BOOLEAN, ONLY = "boolean", "only {} and {}"  # what a family of two outcomes has to know
SPARSE = "numbers of a sparse matrix"  # a family of counts reads them as they are stored
DATES = "dates, in seconds since 1970-01-01"  # reasons why a column of time is real
TIMES, DURATIONS = "times of day, in seconds since midnight", "durations, in seconds"
LOW = {BOOLEAN: 0.0, ONLY.format(0, 1): 0.0, ONLY.format(-1, 1): -1.0}
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


@dataclass(frozen=True)
class Numbered(Sequence[str]):
    """The names x0, x1, ... of the d columns of an array, made when asked for.

    Examples
    --------
    >>> tuple(Numbered(3))
    ('x0', 'x1', 'x2')
    """

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


@dataclass(frozen=True)
class BlockLayout:
    """Columns that one family models, and how their cells are read.

    Parameters
    ----------
    encoding : str
    columns : sequence of str
    dates : tuple of str
        Those that hold dates, whose seconds are binned from 2000-01-01.
    """

    encoding: Encoding
    columns: Sequence[str]
    dates: tuple[str, ...] = ()

    @rule("dates are among the columns")
    def _has_dates(self) -> bool:
        return set(self.dates) <= set(self.columns)


@dataclass(frozen=True)
class Layout:
    """How a table is cut into blocks, and which columns are its label and its weight.

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

    @rule("every column that has a kind is read in one block")
    def _has_blocks(self) -> bool:
        parts = [block.columns for block in self.blocks]
        if parts == [self.names]:
            return True
        if any(isinstance(part, Numbered) for part in parts):  # which may be longer than any memory
            return False
        names = self.names
        if not isinstance(self.columns, UniformColumns):
            names = [column.name for column in self.columns if column.kind != "undecided"]
        same = sum(map(len, parts)) == len(names)
        return same and sorted(name for part in parts for name in part) == sorted(names)

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns."""
        columns = self.columns
        return (
            columns.names if isinstance(columns, UniformColumns) else tuple(c.name for c in columns)
        )

    @cached_property
    def undecided(self) -> tuple[str, ...]:
        """Names of the columns that had no value yet: they are in no block."""
        if sum(len(block.columns) for block in self.blocks) == len(self.columns):
            return ()
        return undecided(self.columns)

    def lows(self, block: BlockLayout) -> NDArray[np.float64]:
        """The smaller of the two values of each binary column, 0 or −1; NaN where nobody knows."""
        return np.array([self._low.get(name, np.nan) for name in block.columns])

    @cached_property
    def _low(self) -> Mapping[str, float]:
        return {c.name: LOW[c.reason] for c in self.columns if c.reason in LOW}

    def is_number(self, block: BlockLayout) -> NDArray[np.bool_]:
        """Which columns of a mixed block are numbers; the others are categories."""
        categories = {column.name for column in self.columns if column.kind == "category"}
        return np.array([name not in categories for name in block.columns], bool)

    @cached_property
    def answering(self) -> Layout:
        """The same, but that a third value of a binary column, which no row showed, is missing."""
        blocks = tuple(
            replace(block, encoding="outcome") if block.encoding == "binary" else block
            for block in self.blocks
        )
        return self if blocks == self.blocks else replace(self, blocks=blocks)


def is_decided(column: Column) -> bool:
    """Whether a column has a kind: its type says so, or a row showed a value.

    Examples
    --------
    >>> is_decided(Column("x", "number", "real", "numbers"))
    True
    """
    return column.kind != UNDECIDED[0]


def undecided(columns: Iterable[Column]) -> tuple[str, ...]:
    """Names of the columns that have no kind yet."""
    return tuple([column.name for column in columns if column.kind == UNDECIDED[0]])


def as_read(columns: Sequence[Column], blocks: Sequence[BlockLayout]) -> Sequence[Column]:
    """The same columns; one without a value is of the kind that its family reads, if it has one.

    Examples
    --------
    >>> as_read([Column("x", "nothing", *UNDECIDED)], [BlockLayout("real", ("x",))])[0].kind
    'real'
    """
    if isinstance(columns, UniformColumns) or not undecided(columns):
        return columns
    kinds = {name: KIND_OF[block.encoding] for block in blocks for name in block.columns}
    return tuple(
        column
        if is_decided(column) or column.name not in kinds
        else replace(column, kind=kinds[column.name], reason="no value yet, but a family")
        for column in columns
    )


def with_kinds(columns: Sequence[Column], shown: Sequence[Column]) -> tuple[Column, ...]:
    """The same columns; those that had no value yet are what others show them to be.

    Examples
    --------
    >>> with_kinds([Column("x", "nothing", *UNDECIDED)], [Column("x", "time", "real", "times")])
    (Column(name='x', stored='time', kind='real', reason='times'),)
    """
    now = {column.name: column for column in shown if is_decided(column)}
    return tuple(
        column if is_decided(column) else now.get(column.name, column) for column in columns
    )


def integer_kind(distinct: int, smallest: int | None, largest: int | None) -> tuple[Kind, str]:
    """Kind of an integer column, and what is known of it: a family of two outcomes needs both.

    Examples
    --------
    >>> integer_kind(distinct=3, smallest=2007, largest=2009)
    ('integer', 'whole numbers')
    """
    two = distinct == 2 and largest == 1 and smallest in (0, -1)
    return "integer", ONLY.format(smallest, largest) if two else "whole numbers"


def string_kind(distinct: int, observed: int, words: float) -> tuple[Kind, str]:
    """Kind of a column of strings, from its mean number of words, and the reason.

    Examples
    --------
    >>> string_kind(distinct=90, observed=100, words=12.3)
    ('text', '12.3 words a cell, 90 distinct in 100')
    """
    if words >= WORDS_PER_TEXT and distinct > observed / 2:
        return "text", f"{words:.1f} words a cell, {distinct} distinct in {observed}"
    return "category", f"{distinct} distinct string{'' if distinct == 1 else 's'}"
