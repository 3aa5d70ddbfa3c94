"""Blocks: d columns of the n rows of a batch that one family models, as its statistic sums them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.rows import is_read, row_major
from suffice.sums.vocabulary import Vocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_array

CONVERTED = 262_144  # cells converted at a time: 2 MB, few enough to stay in cache
HELD = 2**53  # up to here a double holds every whole number
HELD_RULE = "a whole number beyond 2^53 is taken if a double holds it, and never rounded"
HELD_STEP = "subtract a constant from the column; if it names things, make it a category or strings"

Encoding = Literal[
    "real", "count", "whole", "binary", "outcome", "category", "mixed", "events", "sparse", "key"
]
"""How cells become a block: numbers, of which ``count`` are 0 or more and ``whole`` have no
fraction, make a `RealBlock`; two values or any values a `CodedBlock`, where a third value of
``binary`` cells is refused and of ``outcome`` cells missing; ``mixed``, numbers and categories that
are modelled together, a `MixedBlock`; ``events``, the words of a text or the
counts in a sparse matrix, and ``sparse``, any numbers there, a `SparseBlock`; ``key``, values by
which rows are grouped, a `KeyBlock`."""


class Block(Protocol):
    """Protocol of blocks: n rows of d columns, in a form that statistics sum over."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def width(self) -> int:
        """Number of columns; a text is one."""
        ...

    @property
    def missing(self) -> Bools:
        """Return whether cells are missing, (n, d); of sparse rows, (n, 1), whether any is."""
        ...

    def cut(self, start: int, stop: int) -> Self:
        """Rows ``start`` to ``stop``."""
        ...

    def take(self, rows: Ints) -> Self:
        """The given rows, in that order."""
        ...

    def showing(self, columns: Bools) -> Block:
        """Return the rows; every cell of the other columns (d,) is missing."""
        ...

    def column(self, j: int) -> Self:
        """Column j alone."""
        ...

    def pruned(self) -> Self:
        """Return the rows without the categories and words that none of them shows."""
        ...


class BadCell(Exception):  # noqa: N818 - it is a finding, raised as an error only with its names
    """Raised for a cell that cannot be summed; callers add the names of its row and column."""

    def __init__(
        self, row: int, column: int | str | None, value: Any, rule: str, next_step: str = ""
    ) -> None:
        self.row, self.column, self.value, self.rule = row, column, value, rule
        self.next_step = next_step
        self.block = 0  # which block of the batch a column number counts in
        super().__init__(row, column, value, rule, next_step)


@contextmanager
def in_block(b: int) -> Iterator[None]:
    """Add the block number to a bad-cell error, so that the message can name the column."""
    try:
        yield
    except BadCell as bad:
        bad.block = b
        raise


@contextmanager
def from_row(first: int) -> Iterator[None]:
    """Count the row of a bad cell from that of the block at which some rows start."""
    try:
        yield
    except BadCell as bad:
        bad.row += first
        raise


@contextmanager
def among(columns: Ints) -> Iterator[None]:
    """Name the column of a bad cell by its place in the block, of which some are looked at."""
    try:
        yield
    except BadCell as bad:
        if isinstance(bad.column, int):
            bad.column = int(columns[bad.column])
        raise


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Numbers side by side in one array (n, d)."""

    values: NDArray[Any]

    @property
    def rows(self) -> int:
        return int(self.values.shape[0])

    @property
    def width(self) -> int:
        return int(self.values.shape[1])

    def cut(self, start: int, stop: int) -> Self:
        return type(self)(self.values[start:stop])

    def take(self, rows: Ints) -> Self:
        by_row = self.values.flags.c_contiguous  # take would copy all of another order first
        return type(self)(self.values.take(rows, axis=0) if by_row else self.values[rows])

    def column(self, j: int) -> Self:
        return type(self)(self.values[:, [j]])

    def pruned(self) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class RealBlock(_Numbers):
    """Numbers: ``values`` (n, d), any real dtype and memory order, NaN = missing.

    Integers of 64 bits become doubles by `tiles` or `converted`, or after `require_held`: some
    are none.
    """

    @property
    def missing(self) -> Bools:
        return np.asarray(self.values != self.values)

    def showing(self, columns: Bools) -> RealBlock:
        if columns.all():
            return self
        require_held(self.values)
        return RealBlock(np.where(columns, self.values, np.nan))


@dataclass(frozen=True, slots=True)
class CodedBlock:
    """Categories: ``codes`` (n, d) into one vocabulary per column, −1 = missing."""

    codes: NDArray[Any]
    vocabularies: tuple[Vocabulary, ...]

    @property
    def rows(self) -> int:
        return int(self.codes.shape[0])

    @property
    def width(self) -> int:
        return int(self.codes.shape[1])

    @property
    def missing(self) -> Bools:
        return np.asarray(self.codes < 0)

    def cut(self, start: int, stop: int) -> CodedBlock:
        return CodedBlock(self.codes[start:stop], self.vocabularies)

    def take(self, rows: Ints) -> CodedBlock:
        return CodedBlock(self.codes[rows], self.vocabularies)

    def column(self, j: int) -> CodedBlock:
        return CodedBlock(self.codes[:, [j]], (self.vocabularies[j],))

    def showing(self, columns: Bools) -> CodedBlock:
        return CodedBlock(np.where(columns, self.codes, -1), self.vocabularies)

    def pruned(self) -> CodedBlock:
        columns = zip(self.vocabularies, self.codes.T, strict=True)
        shown = [vocabulary.shown(codes) for vocabulary, codes in columns]
        codes = np.column_stack([codes for _, codes in shown]) if shown else self.codes
        return CodedBlock(codes, tuple(vocabulary for vocabulary, _ in shown))

    def coded(self) -> CodedBlock:
        return self

    def recode(self, vocabularies: tuple[Vocabulary, ...]) -> NDArray[Any]:
        """Codes (n, d) into other vocabularies; a value unseen there gets the code mⱼ, one past."""
        if self.vocabularies == vocabularies:
            return self.codes
        codes = np.empty(self.codes.shape, np.intp)
        for j, (mine, theirs) in enumerate(zip(self.vocabularies, vocabularies, strict=True)):
            # One past the end stays one past the end, and the last entry serves the code −1.
            unseen = len(theirs)
            table = np.append(theirs.index(mine.values, unseen), (unseen, -1))
            codes[:, j] = table[self.codes[:, j]]
        return codes


@dataclass(frozen=True, slots=True)
class IntegerBlock(_Numbers):
    """Categories that are whole numbers: ``values`` (n, d) are their own codes, none missing."""

    @property
    def missing(self) -> Bools:
        return np.zeros(self.values.shape, np.bool_)

    def showing(self, columns: Bools) -> CodedBlock:
        return self.coded().showing(columns)

    def coded(self) -> CodedBlock:
        codes = np.empty(self.values.shape, np.intp)
        vocabularies = []
        for j in range(self.values.shape[1]):
            values, codes[:, j] = np.unique(self.values[:, j], return_inverse=True)
            vocabularies.append(Vocabulary(tuple(values.tolist())))
        return CodedBlock(codes, tuple(vocabularies))


def rounded(values: NDArray[Any]) -> Bools:
    """Return whether the double nearest to a whole number is another number."""
    with np.errstate(invalid="ignore"):
        back = (nearest := values.astype(np.float64)).astype(values.dtype)
    return np.asarray((nearest >= float(np.iinfo(values.dtype).max)) | (back != values))


def require_held(values: NDArray[Any], first: int = 0, left: int = 0) -> None:
    """Refuse integers (n, d) that a double does not hold.

    They start at row ``first`` of a block, and at column ``left``.
    """
    if not _is_long(values.dtype) or (
        values.max(initial=0) <= HELD and values.min(initial=0) >= -HELD
    ):
        return
    for row, column in np.argwhere(rounded(values))[:1].tolist():
        value = values[row, column].item()
        raise BadCell(first + row, left + column, value, HELD_RULE, HELD_STEP)


def require_finite(values: NDArray[Any], first: int = 0, left: int = 0) -> None:
    """Refuse infinite numbers (n, d), which start where `require_held` says; NaN is missing."""
    for row, column in np.argwhere(np.isinf(values))[:1].tolist():
        value = float(values[row, column])
        raise BadCell(first + row, left + column, value, "a number must be finite")


def converted(values: NDArray[Any], first: int = 0) -> NDArray[Any]:
    """Return numbers as they are, integers of 64 bits as doubles, looked at on the way."""
    if not _is_long(values.dtype):
        return values
    flags = values.flags
    if not (flags.c_contiguous and flags.aligned and values.dtype.isnative):
        require_held(values, first)
        return np.ascontiguousarray(values, np.float64)
    numbers, number = np.empty(values.shape), values.dtype.type
    lowest = number(-HELD if values.dtype.kind == "i" else 0)
    if not kernels.columns.to_doubles(values, lowest, number(HELD), numbers):
        require_held(values, first)
    return numbers


def _is_long(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iu" and dtype.itemsize == 8


def read_rows(values: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Parts of a matrix for a kernel that reads numbers of many types, in any order in memory.

    It comes in one piece, as it is; what such a kernel does not read comes as `tiles` of doubles.
    """
    if is_read(values):
        yield 0, values
    else:
        yield from tiles(values, np.float64)


def tiles(values: NDArray[Any], dtype: Any) -> Iterator[tuple[int, NDArray[Any]]]:
    """Cut a matrix into row-major parts of one dtype, each with the number of its first row.

    What has this form already comes in one piece, as it is; the rest is converted part by part,
    so that no copy grows with the input.
    """
    if values.dtype == dtype and values.flags.c_contiguous:
        yield 0, values
        return
    step = max(16, CONVERTED // max(1, values.shape[1]))
    long = dtype == np.float64 and _is_long(values.dtype)
    for start in range(0, len(values), step):
        part = values[start : start + step]
        yield start, converted(part, start) if long else row_major(part, dtype)


def short_tiles(values: NDArray[Any], most: int) -> Iterator[tuple[int, Floats]]:
    """Cut rows into `tiles` of doubles, of so many rows at most."""
    for start, x in tiles(values, np.float64):
        for first in range(0, max(len(x), 1), most):
            yield start + first, x[first : first + most]


@dataclass(frozen=True, slots=True)
class MixedBlock:
    """Columns (n, d) of which some are numbers and the others categories, each in their order.

    Parameters
    ----------
    numbers : RealBlock (n, a)
    categories : CodedBlock (n, d − a)
    is_number : ndarray of bool (d,)
        Which columns are numbers.
    """

    numbers: RealBlock
    categories: CodedBlock
    is_number: Bools

    @property
    def rows(self) -> int:
        return self.numbers.rows

    @property
    def width(self) -> int:
        return len(self.is_number)

    @property
    def missing(self) -> Bools:
        found = np.empty((self.rows, self.width), np.bool_)
        found[:, self.is_number] = self.numbers.missing
        found[:, ~self.is_number] = self.categories.missing
        return found

    def cut(self, start: int, stop: int) -> MixedBlock:
        parts = self.numbers.cut(start, stop), self.categories.cut(start, stop)
        return MixedBlock(*parts, self.is_number)

    def take(self, rows: Ints) -> MixedBlock:
        return MixedBlock(self.numbers.take(rows), self.categories.take(rows), self.is_number)

    def column(self, j: int) -> MixedBlock:
        chosen = np.zeros(self.width, np.bool_)
        chosen[j] = True
        mine, others = (np.flatnonzero(chosen[at]) for at in (self.is_number, ~self.is_number))
        values, codes = self.numbers.values[:, mine], self.categories.codes[:, others]
        vocabularies = tuple(self.categories.vocabularies[b] for b in others)
        return MixedBlock(
            RealBlock(values), CodedBlock(codes, vocabularies), self.is_number[chosen]
        )

    def pruned(self) -> MixedBlock:
        return replace(self, categories=self.categories.pruned())

    def showing(self, columns: Bools) -> MixedBlock:
        return MixedBlock(
            self.numbers.showing(columns[self.is_number]),
            self.categories.showing(columns[~self.is_number]),
            self.is_number,
        )


WRAPPED = 2.0**62  # a sum modulo 2⁶⁴ is further than this from the sum, rounding is not


@dataclass(frozen=True, slots=True)
class SparseBlock:
    """Event counts in compressed rows: ``data``, ``indices``, ``indptr`` as in SciPy's CSR.

    ``present`` (n,) tells which rows were observed at all: an empty text is not a missing one.
    ``whole`` tells whether every cell of a row is stored once, by increasing column; otherwise a
    count is the sum of the parts that are stored.
    """

    data: NDArray[Any]
    indices: NDArray[Any]
    indptr: NDArray[Any]
    vocabulary: Vocabulary
    present: Bools
    whole: bool = True

    @property
    def rows(self) -> int:
        return int(self.indptr.shape[0]) - 1

    @property
    def width(self) -> int:
        return len(self.vocabulary) if self.vocabulary.closed else 1

    @property
    def missing(self) -> Bools:
        """Return whether a row was not observed, or a count in it is missing, (n, 1)."""
        before = np.concatenate([[0], np.cumsum(np.isnan(self.data))])
        unknown = np.diff(before[self.indptr]) > 0
        return np.asarray(unknown | ~self.present)[:, None]

    def cut(self, start: int, stop: int) -> SparseBlock:
        indptr = self.indptr[start : stop + 1]
        cells = slice(indptr[0], indptr[-1])
        return SparseBlock(
            self.data[cells],
            self.indices[cells],
            indptr - indptr[0],
            self.vocabulary,
            self.present[start:stop],
            self.whole,
        )

    def merged(self) -> SparseBlock:
        """Return the rows with every cell stored once, by increasing column."""
        if self.whole:
            return self
        if self.data.dtype.kind not in "iu":
            return self._summed_as(self.data)
        wide = self.data.dtype if self.data.dtype.itemsize == 8 else np.int64
        sums, rounded = (self._summed_as(self.data.astype(t)) for t in (wide, np.float64))
        for q in np.flatnonzero(np.abs(rounded.data - sums.data) > WRAPPED)[:1].tolist():
            rule = "a sum of whole numbers has at most 64 bits"
            raise sums.bad_cell(q, int(rounded.data[q]), rule, "store the cells as doubles")
        return sums

    def _summed_as(self, data: NDArray[Any]) -> SparseBlock:
        from scipy.sparse import csr_array

        shape = self.rows, len(self.vocabulary)
        parts = csr_array((data, self.indices, self.indptr), shape=shape, copy=True)
        parts.sum_duplicates()
        return replace(
            self, data=parts.data, indices=parts.indices, indptr=parts.indptr, whole=True
        )

    def bad_cell(self, q: int, value: Any, rule: str, next_step: str = "") -> BadCell:
        """The finding that the stored cell q breaks a rule."""
        row = int(np.searchsorted(self.indptr, q, side="right")) - 1
        return BadCell(row, int(self.indices[q]), value, rule, next_step)

    def take(self, rows: Ints) -> SparseBlock:
        from scipy.sparse import csr_array

        cells = self.data, self.indices, self.indptr
        taken = csr_array(cells, shape=(self.rows, len(self.vocabulary)))[rows]
        return SparseBlock(
            taken.data, taken.indices, taken.indptr, self.vocabulary, self.present[rows], self.whole
        )

    @property
    def outcomes(self) -> Floats:
        """Return whether each stored count is positive, 1 or 0; NaN where it is missing."""
        return np.asarray(np.sign(self.data, dtype=np.float64))

    def counts(self, vocabulary: Vocabulary) -> csr_array:
        """Counts (n, m) of the tokens of a vocabulary; others, and missing counts, are left out."""
        from scipy.sparse import csr_array

        cells = np.nan_to_num(self.data), self.reindex(vocabulary), self.indptr
        with_others = csr_array(cells, shape=(self.rows, len(vocabulary) + 1))
        return with_others[:, :-1]

    def showing(self, columns: Bools) -> SparseBlock:
        """Return the rows; every cell of the other columns is missing, and a text as a whole."""
        if columns.all():
            return self
        if not self.vocabulary.closed:
            none = np.zeros(self.rows, np.bool_)
            ends = np.zeros_like(self.indptr)
            return SparseBlock(self.data[:0], self.indices[:0], ends, self.vocabulary, none)
        from scipy.sparse import csr_array

        hidden = np.flatnonzero(~columns).astype(self.indices.dtype)
        n, shape = self.rows, (self.rows, len(columns))
        gaps = np.full(n * len(hidden), np.nan), np.tile(hidden, n), np.arange(n + 1) * len(hidden)
        stored = csr_array((self.data, self.indices, self.indptr), shape=shape)
        both = stored + csr_array(gaps, shape=shape)  # a number and a gap are a gap
        return replace(self, data=both.data, indices=both.indices, indptr=both.indptr)

    def column(self, j: int) -> SparseBlock:
        """A text is one column; of a sparse matrix, column j alone."""
        if not self.vocabulary.closed:
            return self
        data = np.where(self.indices == j, self.data, 0)
        return replace(self, data=data)

    def pruned(self) -> SparseBlock:
        vocabulary, indices = self.vocabulary.shown(self.indices)
        return replace(self, vocabulary=vocabulary, indices=indices)

    def reindex(self, vocabulary: Vocabulary) -> NDArray[Any]:
        """Token indices into another vocabulary; an unseen token gets the index m, one past."""
        if self.vocabulary == vocabulary:
            return self.indices
        place: NDArray[Any] = vocabulary.index(self.vocabulary.values, len(vocabulary))
        return np.asarray(place[self.indices])


def joined(blocks: Sequence[Any]) -> Any:
    """The rows of blocks of the same columns, numbers, categories or words, one after another."""
    first = blocks[0]
    if isinstance(first, SparseBlock):
        events = reduce(or_, [block.vocabulary for block in blocks])
        stored = np.concatenate([np.diff(block.indptr) for block in blocks])
        return SparseBlock(
            np.concatenate([block.data for block in blocks]),
            np.concatenate([block.reindex(events) for block in blocks]),
            np.append(0, np.cumsum(stored)),
            events,
            np.concatenate([block.present for block in blocks]),
            all(block.whole for block in blocks),
        )
    if isinstance(first, RealBlock):
        return RealBlock(np.concatenate([block.values for block in blocks]))
    coded = [block.coded() for block in blocks]
    columns = zip(*(block.vocabularies for block in coded), strict=True)
    vocabularies = tuple([reduce(or_, one) for one in columns])
    return CodedBlock(np.concatenate([block.recode(vocabularies) for block in coded]), vocabularies)


@dataclass(frozen=True, slots=True)
class KeyBlock:
    """Values by which rows are grouped, as Arrow has them: d columns of n."""

    columns: tuple[pa.Array[Any], ...]
