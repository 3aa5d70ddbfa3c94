"""Joint counts: how often every class showed every combination of values, exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError
from suffice.numerics import kernels
from suffice.numerics.exact import WEIGHT, DoubleDouble
from suffice.rules import NONNEGATIVE, Shape, check_form, rule
from suffice.sums.block import CodedBlock, IntegerBlock
from suffice.sums.counts import ClassCounts, nonnegative
from suffice.sums.divergence import Divergences, of_fractions
from suffice.sums.statistic import tree_sum
from suffice.sums.vocabulary import Value, Vocabulary

__all__ = ["JointAccumulator", "JointCounts", "distinct_rows"]

LARGEST_KEY = 2**62  # a row of codes is one number below this, as far as they go
TOGETHER = 16  # batches counted before they are added up


def distinct_rows(codes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distinct rows of codes (n, d) in lexicographic order, and where each row is.

    A row is read as one number, its digits the codes; whenever the next digit would not fit, the
    distinct numbers so far are numbered afresh. So nothing grows with Π mⱼ.

    Parameters
    ----------
    codes : ndarray (n, d) of int
        0 or more.

    Returns
    -------
    distinct : ndarray (s, d)
    place : ndarray (n,)
        ``distinct[place]`` is ``codes``.

    Examples
    --------
    >>> distinct_rows(np.array([[1, 0], [0, 2], [1, 0]]))
    (array([[0, 2],
           [1, 0]]), array([1, 0, 1]))
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
    return codes[first], place


@dataclass(frozen=True, eq=False, repr=False)
class JointCounts(ClassCounts):
    """Class-wise weights of the combinations of d columns' values, S of the Π mⱼ.

    A combination is listed exactly when its count is positive, and a value when a combination
    shows it, so that equal rows give equal counts whatever was added and taken away before. A row
    with a missing cell is not counted.

    Parameters
    ----------
    vocabularies : tuple of d Vocabulary
        The values of each column.
    cells : ndarray of int (S, d)
        Their codes in each combination, in lexicographic order.
    count : DoubleDouble (k, S)
        Σw of the rows of each class that show each combination.
    """

    vocabularies: Annotated[tuple[Vocabulary, ...], Shape("d")]
    cells: Annotated[NDArray[np.intp], Shape("S", "d"), NONNEGATIVE]
    count: Annotated[DoubleDouble, Shape("k", "S"), WEIGHT]

    def __post_init__(self) -> None:
        check_form(self)

    @rule("values are open, and listed where a combination shows them")
    def _has_values(self) -> bool:
        pairs = zip(self.vocabularies, self.cells.T, strict=True)
        shown = (np.array_equal(np.unique(codes), np.arange(len(v))) for v, codes in pairs)
        return all(shown) and not any(v.closed for v in self.vocabularies)

    @rule("combinations are distinct, sorted, and each has a count")
    def _has_combinations(self) -> bool:
        distinct, _ = distinct_rows(self.cells)
        return np.array_equal(distinct, self.cells) and bool(self.count.hi.any(axis=0).all())

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.vocabularies)

    @classmethod
    def empty(cls, k: int, d: int) -> Self:
        """The counts of no rows."""
        nothing = np.zeros((0, d), np.intp)
        return cls((Vocabulary(()),) * d, nothing, DoubleDouble.zeros((k, 0)))

    @cached_property
    def total(self) -> NDArray[np.float64]:
        """Σw of the complete rows, (k, 1)."""
        pairs = np.concatenate([self.count.hi, self.count.lo], axis=1)
        return np.array([[fsum(terms)] for terms in pairs]).reshape(-1, 1)

    def __add__(self, other: Self) -> Self:
        mine, theirs = self._aligned(other)
        return replace(mine, count=mine.count + theirs.count)

    def __sub__(self, other: Self) -> Self:
        mine, theirs = self._aligned(other)
        try:
            rest = nonnegative(mine.count - theirs.count, mine.count)
        except ForgetError as error:
            shown = ", ".join(map(repr, mine.combination(error.column or 0)))
            raise ForgetError(f"the combination {shown}: {error.fact}", error.rule) from None
        return replace(mine, count=rest).pruned()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JointCounts):
            return NotImplemented
        return (
            self.vocabularies == other.vocabularies
            and np.array_equal(self.cells, other.cells)
            and self.count == other.count
        )

    __hash__ = None  # type: ignore[assignment]

    def combination(self, s: int) -> tuple[Value, ...]:
        """The values of combination s."""
        pairs = zip(self.vocabularies, self.cells[s], strict=True)
        return tuple(vocabulary.values[code] for vocabulary, code in pairs)

    def divergences(self, other: Self) -> Divergences:
        """How far the columns of every class, then their combinations, are apart, (k, d + 1)."""
        mine, theirs = self._aligned(other)
        a, b = mine.count.value, theirs.count.value
        columns = zip(mine.vocabularies, mine.cells.T, strict=True)
        alone = [
            of_fractions(*(_by_value(count, codes, len(values)) for count in (a, b)))
            for values, codes in columns
        ]
        return Divergences.side_by_side([*alone, of_fractions(a, b)])

    def over(self, vocabularies: tuple[Vocabulary, ...]) -> Self:
        """The same counts over wider vocabularies, combinations in the order of their codes."""
        if vocabularies == self.vocabularies:
            return replace(self, vocabularies=vocabularies)  # equal numbers, maybe of other types
        cells = np.empty_like(self.cells)
        for j, (mine, wide) in enumerate(zip(self.vocabularies, vocabularies, strict=True)):
            cells[:, j] = wide.index(mine.values, -1)[self.cells[:, j]]
        order = np.lexsort(cells.T[::-1])
        return replace(
            self, vocabularies=vocabularies, cells=cells[order], count=self.count[:, order]
        )

    def sorted(self) -> Self:
        """Put values and combinations in order and drop those that no row shows."""
        return self.over(tuple(Vocabulary.of(v.values) for v in self.vocabularies)).pruned()

    def pruned(self) -> Self:
        """Drop the combinations, and the values, that no row shows."""
        shown = np.any(self.count.hi > 0, axis=0)
        cells = self.cells[shown]
        kept = [np.unique(column) for column in cells.T]
        vocabularies = zip(self.vocabularies, kept, strict=True)
        places = zip(kept, cells.T, strict=True)
        return replace(
            self,
            vocabularies=tuple(v.take(codes) for v, codes in vocabularies),
            cells=np.stack([np.searchsorted(*pair) for pair in places], axis=1),
            count=self.count[:, shown],
        )

    def _aligned(self, other: Self) -> tuple[Self, Self]:
        """Both over the combinations of either; what one of them lacks has count 0 there."""
        pairs = zip(self.vocabularies, other.vocabularies, strict=True)
        vocabularies = tuple(mine | theirs for mine, theirs in pairs)
        parts = self.over(vocabularies), other.over(vocabularies)
        cells, place = distinct_rows(np.concatenate([part.cells for part in parts]))
        places = np.split(place, [len(parts[0].cells)])
        a, b = (
            replace(
                part,
                cells=cells,
                count=part.count.scatter((slice(None), at), (len(part.count.hi), len(cells))),
            )
            for part, at in zip(parts, places, strict=True)
        )
        return a, b


def _by_value(count: NDArray[np.float64], codes: NDArray[np.intp], m: int) -> NDArray[np.float64]:
    """Sum counts (k, S) of combinations over those that show the same value, (k, m)."""
    return np.array([np.bincount(codes, row, m) for row in count]).reshape(len(count), m)


class JointAccumulator:
    """Builds `JointCounts` of d columns of categories."""

    def __init__(self, d: int) -> None:
        self._k = 0
        self._parts = [JointCounts.empty(0, d)]

    def add(
        self,
        block: CodedBlock | IntegerBlock,
        codes: NDArray[np.intp],
        weights: NDArray[np.float64],
        k: int,
    ) -> None:
        """Add the rows of a block that have no missing cell."""
        block = block.coded()
        self._k = max(k, self._k)
        rows = np.flatnonzero((block.codes >= 0).all(axis=1) & (codes >= 0))
        cells, place = distinct_rows(block.codes[rows].astype(np.intp))
        table = np.zeros((self._k, 2, len(cells)))
        kernels.counts.add_weighted_codes(
            place[:, None],
            *(np.zeros(1, np.int64), np.array([len(cells)]), np.zeros(1, np.int64)),
            codes[rows],
            weights[rows] if weights.size else np.ones(len(rows)),
            table,
        )
        count = DoubleDouble.from_table(table)
        self._parts.append(JointCounts(block.vocabularies, cells, count).sorted())
        if len(self._parts) > TOGETHER:
            self._parts = [self.statistic()]

    def statistic(self) -> JointCounts:
        """Freeze what was added; without any row, the vocabularies are empty."""
        return tree_sum(part.place(np.arange(len(part.total)), self._k) for part in self._parts)
