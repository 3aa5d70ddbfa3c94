"""Counts: how often every class contained every category, event or combination, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError
from suffice.numerics import kernels
from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.exact import WEIGHT, DoubleDouble
from suffice.rules import NONNEGATIVE, Shape, rule
from suffice.sums.base import FORGOTTEN_NOISE, ClassSums, axis, tree_sum
from suffice.sums.block import CodedBlock, IntegerBlock, RealBlock, SparseBlock, tiles
from suffice.sums.by_class import grown
from suffice.sums.comparison import Divergences, of_fractions
from suffice.sums.vocabulary import Value, Vocabulary

FIRST_LOOK = 1_024  # rows that suggest the range of whole numbers
WIDEST = 262_144  # places in a table of whole numbers; what is wider is looked up
LARGEST_KEY = 2**62  # a row of codes is one number below this, as far as they go
TOGETHER = 16  # batches of combinations counted before they are added up


class OfValues(ClassSums):
    """Counts over the values of d columns: they are added over the values of both."""

    if TYPE_CHECKING:
        vocabularies: tuple[Vocabulary, ...]

        def over(self, vocabularies: tuple[Vocabulary, ...]) -> Self:
            """Return the counts over other values, among which are all that a row contains."""

    def aligned(self, other: Self) -> tuple[Self, Self]:
        if self.vocabularies == other.vocabularies:
            return self, other
        vocabularies = tuple(map(or_, self.vocabularies, other.vocabularies))
        return self.over(vocabularies), other.over(vocabularies)

    def sorted(self) -> Self:
        """Put the values of open vocabularies in order and drop those that no row contains."""
        ordered = (v if v.closed else Vocabulary.of(v.values) for v in self.vocabularies)
        return self.over(tuple(ordered)).pruned()


# -- categories


@dataclass(frozen=True, eq=False, repr=False)
class Counts(OfValues):
    """Class-wise weights of the categories of d columns, M = Σ mⱼ of them side by side.

    A value is in an open vocabulary exactly when its count is positive, so that equal rows give
    equal counts whatever was added and taken away before.

    Parameters
    ----------
    vocabularies : tuple of d Vocabulary
        The values of each column.
    count : DoubleDouble (k, M)
        Σw of the rows of each class that contain each value.
    """

    vocabularies: Annotated[tuple[Vocabulary, ...], Shape("d")]
    count: Annotated[DoubleDouble, Shape("k", "M"), NONNEGATIVE]

    @rule("there is a count for each value of each column")
    def _is_wide(self) -> bool:
        return sum(map(len, self.vocabularies)) == self.count.shape[1]

    @rule("a value of an open vocabulary has a count")
    def _is_shown(self) -> bool:
        sizes = np.array([len(v) for v in self.vocabularies], np.intp)
        closed = np.repeat(np.array([v.closed for v in self.vocabularies], bool), sizes)
        return bool((closed | self.count.hi.any(axis=0)).all())

    k, d = axis("k"), axis("d")

    @cached_property
    def offsets(self) -> Ints:
        """Return the offset of each column among the categories, (d + 1,)."""
        return offsets_of(self.vocabularies)

    @cached_property
    def counts_from_zero(self) -> bool:
        """Return whether the values of every column are 0, 1, 2 and so on, or there is none."""
        return all(vocabulary.counts_from_zero for vocabulary in self.vocabularies)

    def column(self, j: int) -> Floats:
        """Counts (k, mⱼ) of column j."""
        return self.count.value[:, self.offsets[j] : self.offsets[j + 1]]

    @cached_property
    def by_size(self) -> tuple[tuple[Ints, Floats], ...]:
        """Return the columns with equally many values v, (c,), and their counts (k, c, v), by v."""
        count, sizes = self.count.value, np.diff(self.offsets)
        groups = (np.flatnonzero(sizes == v) for v in np.unique(sizes))
        return tuple(
            (columns, count[:, self.offsets[columns, None] + np.arange(sizes[columns[0]])])
            for columns in groups
        )

    @property
    def ones(self) -> Floats:
        """Σw of the rows of outcome 1, (k, d), of columns of two outcomes."""
        return self.count.value[:, 1::2]

    @property
    def events(self) -> Vocabulary | None:
        """None: the values of columns are counted, no events."""
        return None

    @cached_property
    def total(self) -> Floats:
        sums = [self.count[:, a:b].sum(axis=1).value for a, b in pairwise(self.offsets)]
        return np.stack(sums, axis=1) if sums else np.zeros((self.k, 0))

    def column_at(self, field: str, place: int) -> int | None:
        return int(np.searchsorted(self.offsets, place, side="right")) - 1

    def divergences(self, other: Self) -> Divergences:
        mine, theirs = self.aligned(other)
        columns = range(len(mine.vocabularies))
        return Divergences.side_by_side(
            [of_fractions(mine.column(j), theirs.column(j)) for j in columns]
        )

    def over(self, vocabularies: tuple[Vocabulary, ...]) -> Self:
        """Return the counts over wider vocabularies; a value that no row contains has count 0."""
        if vocabularies == self.vocabularies:  # equal numbers, maybe of other types
            return replace(self, vocabularies=vocabularies)
        offsets = offsets_of(vocabularies)
        index = [
            wide.index(mine.values, -1) + start
            for mine, wide, start in zip(self.vocabularies, vocabularies, offsets[:-1], strict=True)
        ]
        shape = (self.k, int(offsets[-1]))
        count = self.count.scatter((slice(None), np.concatenate(index)), shape)
        return replace(self, vocabularies=vocabularies, count=count)

    def pruned(self) -> Self:
        shown = np.any(self.count.hi > 0, axis=0)
        kept = [
            np.arange(len(v)) if v.closed else np.flatnonzero(shown[start : start + len(v)])
            for v, start in zip(self.vocabularies, self.offsets[:-1], strict=True)
        ]
        if sum(map(len, kept)) == len(shown):
            return self
        index = np.concatenate([k + o for k, o in zip(kept, self.offsets[:-1], strict=True)])
        vocabularies = (v.take(k) for v, k in zip(self.vocabularies, kept, strict=True))
        return replace(self, vocabularies=tuple(vocabularies), count=self.count[:, index])


def offsets_of(vocabularies: tuple[Vocabulary, ...]) -> Ints:
    """Return the offset of each column among all M categories, (d + 1,)."""
    return np.concatenate([[0], np.cumsum([len(v) for v in vocabularies])]).astype(np.intp)


@dataclass(frozen=True, eq=False)
class CodeRange:
    """The codes low[j], ..., low[j] + size[j] − 1 of every column, side by side in a table.

    ``vocabularies`` tells what they stand for: code −1 is a missing cell, 0 the first value. Where
    it is None, a code is itself the value, a whole number.
    """

    low: NDArray[np.int64]
    size: NDArray[np.int64]
    vocabularies: tuple[Vocabulary, ...] | None = None

    @classmethod
    def of(cls, vocabularies: tuple[Vocabulary, ...]) -> CodeRange:
        """The codes of vocabularies, and −1."""
        size = np.array([len(v) + 1 for v in vocabularies], np.int64)
        return cls(np.full(len(size), -1), size, vocabularies)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Return the offset of each column, (d + 1,)."""
        return np.concatenate([[0], np.cumsum(self.size)])

    @classmethod
    def spanning(cls, values: NDArray[Any], known: CodeRange | None = None) -> CodeRange | None:
        """The range of whole numbers (n, d), and of those known; None if it is too wide."""
        low, high = values.min(axis=0).astype(np.int64), values.max(axis=0).astype(np.int64)
        if known is not None:
            low, high = np.minimum(low, known.low), np.maximum(high, known.low + known.size - 1)
        if (high.astype(np.float64) - low + 1).sum() > WIDEST:
            return None
        return cls(low, high - low + 1)

    def counts(self, table: DoubleDouble) -> Counts:
        """Return the counts of a table (k, M) over this range, values as they come."""
        if self.vocabularies is not None:
            kept = np.setdiff1d(np.arange(table.shape[1]), self.offsets[:-1])
            return Counts(self.vocabularies, table[:, kept])
        shown = np.any(table.hi > 0, axis=0)
        columns = [np.flatnonzero(shown[a:b]) for a, b in pairwise(self.offsets)]
        vocabularies = tuple(
            Vocabulary(tuple((low + codes).tolist()))
            for low, codes in zip(self.low, columns, strict=True)
        )
        return Counts(vocabularies, table[:, shown])


class CountAccumulator:
    """Builds `Counts` of d columns of categories.

    Rows are added into one table while the codes keep their meaning. A batch may bring
    vocabularies of its own, unsorted and with unused values, or whole numbers beyond the range so
    far; then the table is folded into the sum by value, so that codes never travel.
    """

    def __init__(self, d: int) -> None:
        self._d = d
        self._k = 0
        self._range: CodeRange | None = None
        self._tally: NDArray[np.int64] = np.zeros((0, 0), np.int64)  # rows of weight one, (k, M)
        self._table: Floats = np.zeros((0, 2, 0))  # the others, (k, 2, M)
        self._sum: Counts | None = None

    def add(self, block: CodedBlock | IntegerBlock, codes: Ints, weights: Floats, k: int) -> None:
        self._k = max(k, self._k)
        if isinstance(block, IntegerBlock):
            self._add_integers(block.values, codes, weights)
            return
        if self._range is None or self._range.vocabularies != block.vocabularies:
            self._open(CodeRange.of(block.vocabularies))
        binary = block.codes.dtype == np.int8 and not weights.size
        stored = binary or block.codes.dtype == np.int32
        for start, values in tiles(block.codes, block.codes.dtype if stored else np.int64):
            rows = slice(start, start + len(values))
            if binary:
                self._tally = grown(self._tally, self._k)
                kernels.counts.add_binary(values, codes[rows], self._tally)
            else:
                self._count(values, codes[rows], weights[rows])

    def statistic(self) -> Counts:
        self._fold()
        nothing = Counts((Vocabulary(()),) * self._d, DoubleDouble.zeros((self._k, 0)))
        return (self._sum or nothing).sorted()

    def _add_integers(self, values: NDArray[Any], codes: Ints, weights: Floats) -> None:
        """Count whole numbers directly, widening the range whenever one is beyond it."""
        if not len(values):
            return
        if self._range is None or self._range.vocabularies is not None:
            self._open(CodeRange.spanning(values[:FIRST_LOOK]))
        for start, part in tiles(values, np.int64):
            done = 0
            while self._range is not None and self._range.vocabularies is None:
                rows = slice(start + done, start + len(part))
                stopped = self._count(part[done:], codes[rows], weights[rows])
                if stopped < 0:
                    break
                done += stopped
                self._open(CodeRange.spanning(part[done:], self._range))
            else:
                rows = slice(start + done, start + len(part))
                self.add(IntegerBlock(part[done:]).coded(), codes[rows], weights[rows], self._k)

    def _count(self, values: NDArray[Any], codes: Ints, weights: Floats) -> int:
        """Run the kernel; return −1, or the first row that has a code beyond the range."""
        assert self._range is not None
        bounds = self._range.low, self._range.size, self._range.offsets
        if weights.size:
            self._table = grown(self._table, self._k)
            return kernels.counts.add_weighted_codes(values, *bounds, codes, weights, self._table)
        self._tally = grown(self._tally, self._k)
        return kernels.counts.add_codes(values, *bounds, codes, self._tally)

    def _open(self, codes: CodeRange | None) -> None:
        self._fold()
        self._range = codes
        places = 0 if codes is None else int(codes.offsets[-1])
        self._tally, self._table = np.zeros((0, places), np.int64), np.zeros((0, 2, places))

    def _fold(self) -> None:
        if self._range is None:
            return
        tally, pairs = grown(self._tally, self._k), grown(self._table, self._k)
        part = self._range.counts(DoubleDouble.from_table(pairs) + DoubleDouble.of(tally))
        self._sum = part if self._sum is None else self._sum.padded(part.k) + part
        self._range = None


# -- events, such as words


@dataclass(frozen=True, eq=False, repr=False)
class Events(Counts):
    """Class-wise sums of event counts (tokens of a text, columns of a count table).

    One vocabulary, M events; ``count`` holds Σw·x.

    Parameters
    ----------
    documents : DoubleDouble (k,)
        Σw of the rows that were observed at all.
    missing : Counts
        Σw of the rows among them in which an event is missing, over the events of which there
        are such rows; of presence only, for a missing count adds nothing to Σw·x.
    """

    documents: Annotated[DoubleDouble, Shape("k"), WEIGHT]
    missing: Counts

    @rule("there is one vocabulary of events; if it is closed, they are numbered from 0 on")
    def _has_events(self) -> bool:
        numbered = (v.values == tuple(range(len(v))) for v in self.vocabularies if v.closed)
        return len(self.vocabularies) == 1 and all(numbered)

    @rule("missing are counts of events of the same classes, of no more rows than there are")
    def _has_missing(self) -> bool:
        missing, (known,) = self.missing, self.vocabularies
        if type(missing) is not Counts or (missing.k, missing.d) != (self.k, 1):
            return False
        if not missing.count.shape[1]:
            return True
        among = missing.vocabularies[0].codes.keys() <= known.codes.keys()
        return among and bool((self.total >= -FORGOTTEN_NOISE * self.documents.hi[:, None]).all())

    @property
    def d(self) -> int:
        """Number of columns: the words of a text are of one."""
        (events,) = self.vocabularies
        return len(events) if events.closed else 1

    @property
    def ones(self) -> Floats:
        """Σw of the rows that contain each event, (k, M), where rows are counted."""
        return self.count.value

    @property
    def events(self) -> Vocabulary | None:
        """The words of a text, or the columns of a count table."""
        return self.vocabularies[0]

    @cached_property
    def total(self) -> Floats:
        """Σw of the observed rows, (k, 1); where cells are missing, of each event, (k, M)."""
        documents = self.documents[:, None]
        if not self.missing.count.shape[1]:
            return documents.value
        return (documents - self.missing.over(self.vocabularies).count).value

    def column_at(self, field: str, place: int) -> int | None:
        """Return the column that a count is of: a text, or the column of that number."""
        if self.d == 1 or not self.vocabularies[0].closed:
            return 0
        return place if field == "count" else None

    def divergences(self, other: Self) -> Divergences:
        """Return how far the events of a text, or each column of counts, are apart, (k, d).

        Without a test: the events of one row depend on each other.
        """
        (events,) = self.vocabularies
        if not events.closed:
            return super().divergences(other).untested()
        sides = (side.count.value for side in (self, other))
        return of_fractions(
            *(np.stack([x, x.sum(axis=1, keepdims=True) - x], axis=-1) for x in sides)
        ).untested()

    def take(self, index: Ints) -> Self:
        found = super().take(index)
        return replace(found, missing=found.missing.pruned())


class EventAccumulator:
    """Builds `Events` from sparse token counts or from a dense table of counts.

    Parameters
    ----------
    presence : bool
        Count in how many rows an event occurs, not how often it occurs.
    """

    def __init__(self, presence: bool = False) -> None:
        self._presence = presence
        self._vocabulary: Vocabulary | None = None
        self._count = DoubleDouble.zeros((0, 0))  # nothing else holds it: kernels add to it
        self._documents: Floats = np.zeros((0, 2))
        self._missing = CountAccumulator(1)
        self._sum: Events | None = None

    def add(self, block: RealBlock | SparseBlock, codes: Ints, weights: Floats, k: int) -> None:
        """Add the rows of a block; its counts were checked to be finite and not negative."""
        if isinstance(block, SparseBlock):
            if not block.whole and (self._presence or np.isnan(block.data.min(initial=0))):
                block = block.merged()  # counts add up as they are stored, occurrences do not
            sums = self._open(block.vocabulary, k)
            data = block.outcomes if self._presence else block.data
            present = codes if block.present.all() else np.where(block.present, codes, -1)
            cells = data, block.indices, block.indptr
            kernels.counts.add_sparse_events(*cells, codes, weights, sums.hi, sums.lo)
            if self._presence and (missing := np.isnan(data)).any():
                # Only a matrix has such cells, and its events are its columns.
                row = np.repeat(np.arange(block.rows), np.diff(block.indptr))[missing]
                columns = IntegerBlock(block.indices[missing][:, None])
                self._missing.add(columns, codes[row], weights[row] if weights.size else weights, k)
        else:
            sums = self._open(Vocabulary(tuple(range(block.values.shape[1])), closed=True), k)
            present = codes.copy()
            for start, x in tiles(block.values, np.float64):
                rows = slice(start, start + len(x))
                kernels.counts.add_events(x, codes[rows], weights[rows], sums.hi, sums.lo)
                present[rows][np.isnan(x).all(axis=1)] = -1
        kernels.counts.add_rows(present, weights, self._documents, np.zeros((1, 2)))

    def statistic(self) -> Events:
        self._fold()
        k = len(self._documents)
        nothing = Counts((Vocabulary(()),), DoubleDouble.zeros((k, 0)))
        return self._sum or Events(
            nothing.vocabularies, nothing.count, DoubleDouble.zeros(k), nothing
        )

    def _open(self, vocabulary: Vocabulary, k: int) -> DoubleDouble:
        """Return the sums (k, M) of a vocabulary to add to."""
        if vocabulary != self._vocabulary:
            self._fold()
            self._vocabulary = vocabulary
            self._count = DoubleDouble.zeros((k, len(vocabulary)))
        self._count = DoubleDouble(grown(self._count.hi, k), grown(self._count.lo, k))
        self._documents = grown(self._documents, k)
        return self._count

    def _fold(self) -> None:
        if self._vocabulary is None:
            return
        count = DoubleDouble.from_sums(self._count.hi, self._count.lo)
        documents = DoubleDouble.from_table(self._documents[:, :, None])[:, 0]
        missing = self._missing.statistic().padded(len(count.hi))
        part = Events((self._vocabulary,), count, documents, missing).sorted()
        self._sum = part if self._sum is None else self._sum.padded(part.k) + part
        self._vocabulary = None
        self._documents = np.zeros_like(self._documents)
        self._missing = CountAccumulator(1)


# -- combinations of categories


def first_rows(codes: NDArray[Any]) -> tuple[Ints, Ints]:
    """Return where each distinct row of codes first stands, in lexicographic order.

    A row is read as one number, its digits the codes; whenever the next digit would not fit, the
    distinct numbers so far are numbered afresh. So nothing grows with Π mⱼ.

    Parameters
    ----------
    codes : ndarray (n, d) of int
        0 or more.

    Returns
    -------
    first : ndarray (s,)
    place : ndarray (n,)
        ``codes[first][place]`` is ``codes``.

    Examples
    --------
    >>> first_rows(np.array([[1, 0], [0, 2], [1, 0]]))
    (array([1, 0]), array([1, 0, 1]))
    """
    key, size = np.zeros(len(codes), np.int64), 1
    for column in codes.T:
        m = int(column.max(initial=0)) + 1
        if size * m > LARGEST_KEY:
            known, key = np.unique(key, return_inverse=True)
            size = len(known)
        key = key * m + column
        size *= m
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return first, place


def distinct_rows(codes: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    """Return the distinct rows of codes (n, d), and which of them each row is: see `first_rows`."""
    first, place = first_rows(codes)
    return codes[first], place


def distinct_patterns(shown: Bools) -> tuple[Bools, Ints]:
    """Return the distinct rows of Booleans (n, d), sorted, and which of them each row is."""
    first, place = first_rows(np.packbits(shown, axis=1))
    return shown[first], place


def patterns_of(shown: Bools) -> Iterator[tuple[Ints, Ints]]:
    """Yield the rows that show the same columns, and these columns, if there are any."""
    patterns, place = distinct_patterns(shown)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(1, len(patterns)))
    for pattern, rows in zip(patterns, np.split(order, starts), strict=False):
        if pattern.any():
            yield rows, np.flatnonzero(pattern)


@dataclass(frozen=True, eq=False, repr=False)
class JointCounts(OfValues):
    """Class-wise weights of the combinations of d columns' values, S of the Π mⱼ.

    A combination is listed exactly when its count is positive, and a value when a combination
    contains it, so that equal rows give equal counts whatever was added and taken away before. A
    row with a missing cell is not counted.

    Parameters
    ----------
    vocabularies : tuple of d Vocabulary
        The values of each column.
    cells : ndarray of int (S, d)
        Their codes in each combination, in lexicographic order.
    count : DoubleDouble (k, S)
        Σw of the rows of each class that contain each combination.
    """

    vocabularies: Annotated[tuple[Vocabulary, ...], Shape("d")]
    cells: Annotated[Ints, Shape("S", "d"), NONNEGATIVE]
    count: Annotated[DoubleDouble, Shape("k", "S"), WEIGHT]

    @rule("values are open, and listed where a combination shows them")
    def _has_values(self) -> bool:
        pairs = zip(self.vocabularies, self.cells.T, strict=True)
        shown = (np.array_equal(np.unique(codes), np.arange(len(v))) for v, codes in pairs)
        return all(shown) and not any(v.closed for v in self.vocabularies)

    @rule("combinations are distinct, sorted, and each has a count")
    def _has_combinations(self) -> bool:
        distinct, _ = distinct_rows(self.cells)
        return np.array_equal(distinct, self.cells) and bool(self.count.hi.any(axis=0).all())

    k, d = axis("k"), axis("d")

    @classmethod
    def empty(cls, k: int, d: int) -> Self:
        nothing = np.zeros((0, d), np.intp)
        return cls((Vocabulary(()),) * d, nothing, DoubleDouble.zeros((k, 0)))

    @cached_property
    def total(self) -> Floats:
        """Σw of the complete rows, (k, 1)."""
        return self.count.sum(axis=1).value[:, None]

    def __sub__(self, other: Self) -> Self:
        try:
            return super().__sub__(other)
        except ForgetError as error:
            mine, _ = self.aligned(other)
            shown = ", ".join(map(repr, mine.combination(error.column or 0)))
            raise ForgetError(f"the combination {shown}: {error.fact}", error.rule) from None

    def combination(self, s: int) -> tuple[Value, ...]:
        pairs = zip(self.vocabularies, self.cells[s], strict=True)
        return tuple(vocabulary.values[code] for vocabulary, code in pairs)

    def divergences(self, other: Self) -> Divergences:
        """Return how far columns, then their combinations, are apart in every class, (k, d + 1)."""
        mine, theirs = self.aligned(other)
        a, b = mine.count.value, theirs.count.value
        columns = zip(mine.vocabularies, mine.cells.T, strict=True)
        alone = [
            of_fractions(*(counts_by_place(count, codes, len(values)) for count in (a, b)))
            for values, codes in columns
        ]
        return Divergences.side_by_side([*alone, of_fractions(a, b)])

    def over(self, vocabularies: tuple[Vocabulary, ...]) -> Self:
        """Return the counts over other values, combinations in the order of their codes."""
        if vocabularies == self.vocabularies:
            return replace(self, vocabularies=vocabularies)  # equal numbers, maybe of other types
        cells = np.empty_like(self.cells)
        for j, (mine, wide) in enumerate(zip(self.vocabularies, vocabularies, strict=True)):
            cells[:, j] = wide.index(mine.values, -1)[self.cells[:, j]]
        order = np.lexsort(cells.T[::-1])
        return replace(
            self, vocabularies=vocabularies, cells=cells[order], count=self.count[:, order]
        )

    def pruned(self) -> Self:
        shown = np.any(self.count.hi > 0, axis=0)
        found = replace(self, cells=self.cells[shown], count=self.count[:, shown])
        columns = zip(self.vocabularies, found.cells.T, strict=True)
        return found.over(tuple(values.take(np.unique(codes)) for values, codes in columns))

    def aligned(self, other: Self) -> tuple[Self, Self]:
        parts = super().aligned(other)
        cells, place = distinct_rows(np.concatenate([part.cells for part in parts]))
        places = np.split(place, [len(parts[0].cells)])
        a, b = (
            replace(
                part, cells=cells, count=part.count.scatter((slice(None), at), (part.k, len(cells)))
            )
            for part, at in zip(parts, places, strict=True)
        )
        return a, b


def counts_by_place(count: Floats, place: Ints, size: int) -> Floats:
    """Sum the columns of counts (k, S) that share a place, (k, size)."""
    return np.array([np.bincount(place, row, size) for row in count]).reshape(len(count), size)


class JointAccumulator:
    """Builds `JointCounts` of d columns of categories."""

    def __init__(self, d: int) -> None:
        self._k = 0
        self._parts = [JointCounts.empty(0, d)]

    def add(self, block: CodedBlock | IntegerBlock, codes: Ints, weights: Floats, k: int) -> None:
        """Add the rows of a block that have no missing cell."""
        block = block.coded()
        self._k = max(k, self._k)
        rows = np.flatnonzero((block.codes >= 0).all(axis=1) & (codes >= 0))
        cells, place = distinct_rows(block.codes[rows].astype(np.intp))
        w = weights[rows] if weights.size else np.ones(len(rows))
        places = codes[rows] * len(cells) + place
        count = DoubleDouble.by_place(self._k * len(cells), (w[:, None], places))
        count = count.reshape(self._k, len(cells))
        self._parts.append(JointCounts(block.vocabularies, cells, count).sorted())
        if len(self._parts) > TOGETHER:
            self._parts = [self.statistic()]

    def statistic(self) -> JointCounts:
        return tree_sum(part.padded(self._k) for part in self._parts)
