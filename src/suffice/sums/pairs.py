"""Pair counts: how often every class contained two bins of two columns together, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.numerics import kernels
from suffice.numerics.arrays import Floats, Ints
from suffice.numerics.exact import WEIGHT, DoubleDouble
from suffice.rules import FINITE, Shape, rule
from suffice.sums.base import ClassSums, axis
from suffice.sums.block import Block, CodedBlock, IntegerBlock, RealBlock, converted
from suffice.sums.by_class import grown
from suffice.sums.comparison import Divergences, of_fractions
from suffice.sums.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class CutBins:
    """Numbers between cuts: bin b holds cuts[b − 1] ≤ x < cuts[b].

    Parameters
    ----------
    cuts : ndarray (m − 1,)
        Ascending.

    Examples
    --------
    >>> bins = CutBins(np.array([0.0, 10.0]))
    >>> len(bins), bins.codes(RealBlock(np.array([[-1.0], [0.0], [10.0], [np.nan]]))).tolist()
    (3, [0, 1, 2, -1])
    """

    cuts: Annotated[Floats, Shape("c"), FINITE]

    @rule("cuts ascend")
    def _is_ordered(self) -> bool:
        return bool((np.diff(self.cuts) > 0).all())

    def __len__(self) -> int:
        return len(self.cuts) + 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CutBins) and np.array_equal(self.cuts, other.cuts)

    def named(self, b: int, written: Callable[[float], str] = "{:.10g}".format) -> str:
        """Bin b in words, with its ends as they are ``written``.

        Examples
        --------
        >>> bins = CutBins(np.array([0.5, 2.0]))
        >>> [bins.named(b) for b in range(len(bins))]
        ['below 0.5', 'from 0.5 to 2', '2 or more']
        """
        if not len(self.cuts):
            return "any number"
        ends = list(map(written, self.cuts.tolist()))
        if b in (0, len(ends)):
            return f"{ends[b - 1]} or more" if b else f"below {ends[0]}"
        return f"from {ends[b - 1]} to {ends[b]}"

    def codes(self, block: RealBlock) -> NDArray[np.int32]:
        """The bin of every cell of a column, (n,); −1 where it is missing."""
        x = converted(block.values)[:, 0]
        found = np.searchsorted(self.cuts, x, side="right")
        return np.where(np.isnan(x), -1, found).astype(np.int32)


@dataclass(frozen=True)
class ValueBins:
    """A bin for each of some values; others are missing.

    Examples
    --------
    >>> known = Vocabulary(("blue", "red"))
    >>> cells = CodedBlock(np.array([[0], [1], [-1]]), (Vocabulary(("green", "red")),))
    >>> ValueBins(known).codes(cells).tolist()
    [-1, 1, -1]
    """

    values: Vocabulary

    def __len__(self) -> int:
        return len(self.values)

    def named(self, b: int) -> str:
        return str(self.values.values[b])

    def codes(self, block: CodedBlock | IntegerBlock) -> NDArray[np.int32]:
        """The bin of every cell of a column, (n,); −1 where it is missing or has none."""
        codes: NDArray[Any] = block.coded().recode((self.values,))[:, 0]
        return np.where(codes < len(self.values), codes, -1).astype(np.int32)


ColumnBins: TypeAlias = CutBins | ValueBins


def pair_bytes(k: int, bins: int) -> int:
    """Memory of the counts of k classes and so many bins in all: 8 k M(M + 1) bytes.

    Examples
    --------
    >>> pair_bytes(2, 500) / 1e6
    4.008
    """
    return 8 * k * bins * (bins + 1)


def pair_places(bins: tuple[ColumnBins, ...], columns: list[Any], rows: int) -> NDArray[np.int32]:
    """Return the indices of the bins of rows among all M side by side, (n, d); −1 is missing.

    ``columns`` are d blocks of one column each.
    """
    places = np.empty((rows, len(bins)), np.int32)
    start = 0
    for j, (one, block) in enumerate(zip(bins, columns, strict=True)):
        codes = one.codes(block)
        places[:, j] = np.where(codes >= 0, codes + start, -1)
        start += len(one)
    return places


@dataclass(frozen=True, eq=False, repr=False)
class PairCounts(ClassSums):
    """Class-wise weights of all pairs of bins of d columns, M = Σ mⱼ bins side by side.

    The pair of bins v ≤ w stands at w(w + 1)/2 + v; a bin with itself is how often it was shown.
    A missing cell is in no pair. The counts are exact sums over rows, given the bins: those of
    other bins cannot be added.

    Parameters
    ----------
    columns : tuple of d str
        Their names, as bins are those of one column.
    bins : tuple of d ColumnBins
    count : DoubleDouble (k, M(M + 1)/2)
        Σw of the rows of each class that show both bins.

    Examples
    --------
    >>> from suffice.sums.block import RealBlock
    >>> from suffice.sums.pairs import CutBins
    >>> total = PairCountAccumulator(("a", "b"), (CutBins(np.array([0.5])),) * 2)
    >>> rows = RealBlock(np.array([[0.0, 1.0], [0.0, 0.0], [1.0, np.nan]]))
    >>> total.add(rows, np.zeros(3, np.intp), np.empty(0), 1)
    >>> total.statistic().table(0)
    array([[2., 0., 1., 1.],
           [0., 1., 0., 0.],
           [1., 0., 1., 0.],
           [1., 0., 0., 1.]])
    """

    columns: Annotated[tuple[str, ...], Shape("d")]
    bins: Annotated[tuple[ColumnBins, ...], Shape("d")]
    count: Annotated[DoubleDouble, Shape("k", "P"), WEIGHT]

    @rule("there is a count for each pair of bins")
    def _is_wide(self) -> bool:
        return self.count.shape[1] == self.size * (self.size + 1) // 2

    k, d = axis("k"), axis("d")

    @property
    def size(self) -> int:
        return sum(map(len, self.bins))

    @cached_property
    def column_of(self) -> Ints:
        """The column of every bin, (M,)."""
        return np.repeat(np.arange(self.d), [len(one) for one in self.bins])

    @cached_property
    def alone(self) -> DoubleDouble:
        """Σw of the rows that show each bin, (k, M)."""
        w = np.arange(self.size)
        return self.count[:, w * (w + 3) // 2]

    def table(self, c: int) -> Floats:
        """Σw of the rows of class c that show the bins v and w, (M, M)."""
        found = np.zeros((self.size, self.size))
        lower = np.tril_indices(self.size)
        found[lower] = self.count[c].value
        found.T[lower] = found[lower]
        return found

    @cached_property
    def total(self) -> Floats:
        ends = np.cumsum([0, *map(len, self.bins)])
        sums = [self.alone[:, a:b].sum(axis=1).value for a, b in pairwise(ends)]
        return np.stack(sums, axis=1) if sums else np.zeros((self.k, 0))

    @classmethod
    def empty(cls, k: int, columns: tuple[str, ...], bins: tuple[ColumnBins, ...]) -> Self:
        m = sum(map(len, bins))
        return cls(columns, bins, DoubleDouble.zeros((k, m * (m + 1) // 2)))

    def aligned(self, other: Self) -> tuple[Self, Self]:
        if (self.columns, self.bins) != (other.columns, other.bins):
            raise ParameterError(
                "pairs of columns were counted in other bins",
                "counts of pairs are added where their bins are equal",
                "fit the second model with bins=first.bins_, the bins of the first",
            )
        return self, other

    def column_at(self, field: str, place: int) -> int | None:
        """Return the column of the later bin of a pair."""
        return int(self.column_of[int((np.sqrt(8 * place + 1) - 1) / 2)])

    def divergences(self, other: Self) -> Divergences:
        """Return how far the bins of columns are from another table's in every class, (k, d)."""
        self.aligned(other)
        mine, theirs = self.alone.value, other.alone.value
        columns = (self.column_of == j for j in range(self.d))
        return Divergences.side_by_side([of_fractions(mine[:, j], theirs[:, j]) for j in columns])


class PairCountAccumulator:
    """Builds `PairCounts` of columns with given bins."""

    def __init__(self, columns: tuple[str, ...], bins: tuple[ColumnBins, ...]) -> None:
        self._columns, self._bins, self._size = columns, bins, sum(map(len, bins))
        self._table = np.zeros((0, 2, self._size * (self._size + 1) // 2))

    def add(self, block: Block, codes: Ints, weights: Floats, k: int) -> None:
        columns = [block.column(j) for j in range(len(self._bins))]
        places = pair_places(self._bins, columns, block.rows)
        weights = weights if len(weights) else np.ones(block.rows)
        self._table = grown(self._table, k)
        kernels.pair_counts.count_weighted(places, codes, weights, self._size, self._table)

    def statistic(self) -> PairCounts:
        return PairCounts(self._columns, self._bins, DoubleDouble.from_table(self._table.copy()))
