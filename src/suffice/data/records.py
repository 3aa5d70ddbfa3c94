"""Rows by name: a dict of cells, a pandas Series, or a list of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from operator import contains
from typing import Any

import numpy as np

from suffice.data.encode import of_numbers
from suffice.data.schema import BlockLayout, Layout
from suffice.data.words import split_words
from suffice.numerics.rows import is_sparse
from suffice.sums.batch import NO_CLASSES, NO_CODES, NO_WEIGHTS, Batch
from suffice.sums.block import HELD, Block, CodedBlock
from suffice.sums.vocabulary import Vocabulary

Record = Mapping[str, Any]

NUMBER: Set[type] = {int, float, np.float64, type(None)}
TEXT: Set[type] = {str, type(None)}
NUMBERS: Mapping[str, Set[type]] = {"number": NUMBER, "integer": NUMBER}
BINARY: Mapping[str, Set[type]] = {**NUMBERS, "boolean": {bool, type(None)}}
# The types of cells that are read here, by encoding and by what the column stores. All else, such
# as dates, is read by way of Arrow.
CELLS: Mapping[str, Mapping[str, Set[type]]] = {
    "real": NUMBERS,
    "count": NUMBERS,
    "whole": NUMBERS,
    "binary": BINARY,
    "outcome": BINARY,
    "category": {"string": TEXT, "integer": {int, type(None)}},
    "events": {"string": TEXT},
}

ONE_CELL = {float, int, bool, str, type(None)}


def record_of(X: Any) -> Record | None:
    """One row by name: a mapping from columns to cells, a pandas Series, or a list of one of these.

    None for all else, such as a mapping from columns to several cells each.
    """
    if isinstance(X, list | tuple) and len(X) == 1:
        X = X[0]
    if isinstance(X, Mapping) and not is_sparse(X):  # one kind of sparse matrix is a dict
        # Most often all cells are of types that are known to be of one cell.
        several = not {*map(type, X.values())} <= ONE_CELL and any(
            hasattr(cell, "__len__") and not isinstance(cell, str | bytes) for cell in X.values()
        )
        return X if X and not several else None
    if is_series(X):
        return dict(zip(map(str, X.index), X.tolist(), strict=True))
    return None


def is_series(X: Any) -> bool:
    """Tell a pandas Series: a row by name, if its index has the names of columns."""
    of_pandas = type(X).__module__.partition(".")[0] == "pandas"
    return of_pandas and getattr(X, "ndim", 0) == 1 and hasattr(X, "items")


def records_of(X: Any) -> Sequence[Record] | None:
    """Rows by name; None if these are none."""
    if isinstance(X, list | tuple) and len(X) > 1:
        if record_of(X[0]) is None:
            return None
        rows = [row for row in map(record_of, X) if row is not None]
        return rows if len(rows) == len(X) else None
    row = record_of(X)
    return None if row is None else [row]


def names_of(rows: Sequence[Record]) -> list[str]:
    """The names in some rows, in the order of their first appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


def columns_of(rows: Sequence[Record], names: Sequence[str]) -> dict[str, list[Any]]:
    """A table of columns; a cell that a row does not have is missing."""
    return {name: [row.get(name) for row in rows] for name in names}


@dataclass(frozen=True)
class RecordReader:
    """Reads one row by name into a batch, by a layout.

    It is read by the encodings of arrays, and to the blocks that a column of Arrow would give. Only
    cells of Python's own types are read here.

    Parameters
    ----------
    layout : Layout
    known : frozenset of str
        The names that a row may have.
    kinds : tuple of tuple of sets
        The types that a cell of every column of every block may have.
    """

    layout: Layout
    known: frozenset[str]
    kinds: tuple[tuple[Set[type], ...], ...]

    @classmethod
    def of(cls, layout: Layout) -> RecordReader | None:
        """The reader of a layout; None if it has a block that is not read here."""
        stored = {column.name: column.stored for column in layout.columns}
        kinds = []
        for block in layout.blocks:
            cells = CELLS.get(block.encoding, {})
            kinds.append(tuple(cells.get(stored[name], set()) for name in block.columns))
        if not all(map(all, kinds)):
            return None
        names = {*stored, *layout.ignored, layout.label, layout.weight}
        return cls(layout, frozenset(name for name in names if name is not None), tuple(kinds))

    def batch(self, row: Record) -> Batch | None:
        """The row as a batch; None if a cell is of another type, or names are unknown."""
        if not row.keys() <= self.known:
            return None
        if not any(name in row for block in self.layout.blocks for name in block.columns):
            return None  # no cell at all: whoever reads it as a table says so
        blocks = []
        for block, kinds in zip(self.layout.blocks, self.kinds, strict=True):
            cells = [row.get(name) for name in block.columns]
            if not all(map(contains, kinds, map(type, cells))):
                return None
            made = self._block(cells, block)
            if made is None:
                return None
            blocks.append(made)
        return Batch(1, tuple(blocks), NO_CODES, NO_CLASSES, NO_WEIGHTS)

    def _block(self, cells: Sequence[Any], block: BlockLayout) -> Block | None:
        missing = self.layout.missing
        if block.encoding == "events":
            return split_words([None if cell in missing else cell for cell in cells])
        if block.encoding == "category":
            shown = [() if cell is None or cell in missing else (cell,) for cell in cells]
            codes = np.array([[len(values) - 1 for values in shown]], np.int32)
            return CodedBlock(codes, tuple(map(Vocabulary, shown)))
        try:
            x = np.array([cells], np.float64)
        except OverflowError:
            return None
        # A whole number beyond 2^53 might be no double.
        return None if (np.abs(x) >= HELD).any() else of_numbers(x, block, self.layout)
