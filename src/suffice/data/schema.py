"""What each column of a table is, how that was decided, and how its cells are read.

The rule, applied to the first 65,536 rows and overridable column by column:

=========================  ========================================================  ==========
stored as                  when                                                      kind
=========================  ========================================================  ==========
boolean                    always                                                    binary
float, decimal, time       always                                                    real
integer                    only 0 and 1, or only −1 and 1                            binary
integer                    at most 20 values, each seen 10 times on average          category
integer                    otherwise                                                 real
text                       4 words a cell on average, and more than half of the      text
                           cells are distinct
text                       otherwise                                                 category
dictionary of numbers      always                                                    category
=========================  ========================================================  ==========
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from suffice.statistics.block import Encoding

__all__ = [
    "MAX_CATEGORIES",
    "MAX_CLASSES",
    "Alike",
    "BlockLayout",
    "Column",
    "Kind",
    "Layout",
    "Numbered",
    "Stored",
    "integer_kind",
    "string_kind",
]

Kind = Literal["real", "binary", "category", "text"]
Stored = Literal["boolean", "integer", "number", "string", "time", "nothing"]

MAX_CATEGORIES = 20
MAX_CLASSES = 10_000
ROWS_PER_CATEGORY = 10
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

    d: int

    def __len__(self) -> int:
        return self.d

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(f"x{j}" for j in range(self.d)[index])
        return f"x{range(self.d)[index]}"


@dataclass(frozen=True)
class Alike(Sequence[Column]):
    """Columns that differ in name only: an array may have 100,000 of them."""

    names: Sequence[str]
    stored: Stored
    kind: Kind
    reason: str

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Alike(self.names[index], self.stored, self.kind, self.reason)
        return Column(self.names[index], self.stored, self.kind, self.reason)


@dataclass(frozen=True)
class BlockLayout:
    """Columns that one family models, and how their cells are read."""

    encoding: Encoding
    columns: Sequence[str]


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
    threshold: float | None = None
    ignored: tuple[str, ...] = ()

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns."""
        columns = self.columns
        return columns.names if isinstance(columns, Alike) else tuple(c.name for c in columns)


def integer_kind(distinct: int, observed: int, smallest: int, largest: int) -> tuple[Kind, str]:
    """Kind of an integer column, and the reason.

    Examples
    --------
    >>> integer_kind(distinct=3, observed=344, smallest=2007, largest=2009)
    ('category', '3 whole numbers, each seen 114 times on average')
    """
    if distinct == 2 and largest == 1 and smallest in (0, -1):
        return "binary", f"only {smallest} and {largest}"
    if 0 < distinct <= MAX_CATEGORIES and observed >= ROWS_PER_CATEGORY * distinct:
        times = observed // distinct
        return "category", f"{distinct} whole numbers, each seen {times} times on average"
    return "real", f"{distinct} whole numbers from {smallest} to {largest}"


def string_kind(distinct: int, observed: int, words: float) -> tuple[Kind, str]:
    """Kind of a column of strings, from its mean number of words, and the reason.

    Examples
    --------
    >>> string_kind(distinct=90, observed=100, words=12.3)
    ('text', '12.3 words a cell, 90 distinct in 100')
    """
    if words >= WORDS_PER_TEXT and distinct > observed / 2:
        return "text", f"{words:.1f} words a cell, {distinct} distinct in {observed}"
    return "category", f"{distinct} distinct strings"
