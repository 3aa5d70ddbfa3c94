"""Co-moments of numbers and of indicators of categories: what Gaussians take of a mixed table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError
from suffice.numerics.exact import DoubleDouble
from suffice.rules import Shape, rule
from suffice.statistics.block import BadCell, RealBlock
from suffice.statistics.count_accumulator import CountAccumulator
from suffice.statistics.counts import Counts
from suffice.statistics.divergence import Divergences
from suffice.statistics.indicators import Indicators
from suffice.statistics.mixed_block import MixedBlock
from suffice.statistics.statistic import described, described_in_html
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["MOST_VALUES", "IndicatorComoments", "IndicatorComomentsAccumulator"]

MOST_VALUES = 256  # of a category: products grow with the square of their number
TOO_MANY = f"each value becomes a column of its own, and {MOST_VALUES} are the most"
LAID_OUT = 2**20  # cells laid out at a time


@dataclass(frozen=True, eq=False, repr=False)
class IndicatorComoments:
    """Sums of d columns over k classes, of which a are numbers and b categories.

    Every value of a category has an indicator, also the first. All of them are 0 where the cell is
    missing, so that their sum says whether it is there, and a category makes no patterns of cells.

    Parameters
    ----------
    is_number : ndarray of bool (d,)
        Which columns are numbers; none where no row was read.
    counts : Counts
        Of the values of the categories.
    moments : Comoments or FourthMoments
        Of the numbers, and then of the indicators.

    Examples
    --------
    >>> from suffice.statistics.block import CodedBlock
    >>> from suffice.statistics.comoments_accumulator import ComomentsAccumulator
    >>> color = CodedBlock(np.array([[0], [1], [-1]]), (Vocabulary(("blue", "red")),))
    >>> size = RealBlock(np.array([[1.0], [2.0], [3.0]]))
    >>> rows = MixedBlock(size, color, np.array([True, False]))
    >>> total = IndicatorComomentsAccumulator(ComomentsAccumulator, 2)
    >>> total.add(rows, np.zeros(3, np.intp), np.empty(0), 1)
    >>> total.statistic().moments.mean.value.round(3)
    array([[2.   , 0.333, 0.333]])
    """

    is_number: Annotated[NDArray[np.bool_], Shape("d")]
    counts: Counts
    moments: Any

    __repr__ = described
    _repr_html_ = described_in_html

    @rule("there are co-moments of the numbers and of a term for every value counted")
    def _is_of_one_table(self) -> bool:
        wide = self.counts.d == int((~self.is_number).sum())
        return wide and (self.counts.k, len(self.terms)) == (self.k, self.moments.d)

    @rule("categories are open: values come and go with rows")
    def _is_open(self) -> bool:
        return not any(vocabulary.closed for vocabulary in self.counts.vocabularies)

    @property
    def k(self) -> int:
        """Number of classes."""
        return int(self.moments.k)

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.is_number)

    @cached_property
    def terms(self) -> Indicators:
        """What the columns become."""
        return Indicators(self.is_number, self.counts.vocabularies)

    @property
    def columns(self) -> Any:
        """Co-moments of the terms: see `FourthMoments`."""
        return self.moments.columns

    @cached_property
    def total(self) -> NDArray[np.float64]:
        """W = Σw of the observed cells, (k, d)."""
        return self._in_order(self.moments.total[:, : self._a], self.counts.total)

    @property
    def too_small(self) -> NDArray[np.bool_]:
        """Whether the values of a column differ by too little to be squared, (d,)."""
        return self._in_order(self.moments.too_small[: self._a], self.counts.too_small)

    @property
    def one_class(self) -> IndicatorComoments:
        """The same rows as if they were of one class."""
        return replace(self, counts=self.counts.one_class, moments=self.moments.one_class)

    def __add__(self, other: IndicatorComoments) -> IndicatorComoments:
        counts = self._known(other).counts + other._known(self).counts
        mine, theirs = self._over(other, counts), other._over(self, counts)
        return replace(mine, counts=counts, moments=mine.moments + theirs.moments)

    def __sub__(self, other: IndicatorComoments) -> IndicatorComoments:
        before, gone = self._known(other), other._known(self)
        try:
            counts = before.counts - gone.counts
        except ForgetError as error:
            if error.column is not None:
                error.column = int(np.flatnonzero(~before.is_number)[error.column])
            raise
        both = before.counts + gone.counts
        mine, theirs = self._over(other, both), other._over(self, both)
        try:
            rest = mine.moments - theirs.moments
        except ForgetError as error:
            if error.column is not None:
                error.column = int(mine.terms.columns[error.column])
            raise
        return replace(mine, counts=both, moments=rest)._narrowed(counts)

    def scaled(self, factor: float) -> IndicatorComoments:
        """The same rows with their weights multiplied by a factor; weight 0 is absence."""
        scaled = replace(self, moments=self.moments.scaled(factor))
        return scaled._narrowed(self.counts.scaled(factor))

    def canonical(self) -> IndicatorComoments:
        """The same sums in the form that a file has."""
        return replace(self, moments=self.moments.canonical())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IndicatorComoments):
            return NotImplemented
        same = np.array_equal(self.is_number, other.is_number)
        return same and self.counts == other.counts and bool(self.moments == other.moments)

    __hash__ = None  # type: ignore[assignment]

    def divergences(self, other: IndicatorComoments) -> Divergences:
        """How far the columns of every class are from another table's, (k, d)."""
        mine, theirs = self._known(other), other._known(self)
        of = np.arange(mine._a)
        parts = []
        if len(of):
            parts.append(mine.columns.marginal(of).divergences(theirs.columns.marginal(of)))
        if mine.counts.d:
            parts.append(mine.counts.divergences(theirs.counts))
        order = np.argsort(mine._order)
        joined = (np.concatenate(both, axis=1)[:, order] for both in zip(*parts, strict=True))
        return Divergences(*joined)

    def place(self, index: NDArray[np.intp], k: int) -> IndicatorComoments:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        counts, moments = self.counts.place(index, k), self.moments.place(index, k)
        return replace(self, counts=counts, moments=moments)

    def take(self, index: NDArray[np.intp]) -> IndicatorComoments:
        """Keep the classes at ``index``, in that order."""
        taken = replace(self, counts=self.counts.take(index), moments=self.moments.take(index))
        return taken._narrowed(taken.counts.pruned())

    # -- of other vocabularies

    @property
    def _a(self) -> int:
        return int(np.count_nonzero(self.is_number))

    @property
    def _order(self) -> NDArray[np.intp]:
        """Numbers, then categories, (d,)."""
        return np.argsort(~self.is_number, kind="stable")

    def _in_order(self, numbers: NDArray[Any], categories: NDArray[Any]) -> NDArray[Any]:
        """What is known of numbers (…, a) and of categories (…, b), in the order of columns."""
        both = np.concatenate([numbers, categories], axis=-1)
        return np.asarray(both[..., np.argsort(self._order)])

    def _known(self, other: IndicatorComoments) -> IndicatorComoments:
        """The same; where no row was read, the columns are numbers as in another table."""
        if self._a or not other._a or self.moments.d:
            return self
        nothing = Counts((Vocabulary(()),) * other.counts.d, DoubleDouble.zeros((self.k, 0)))
        moments = _widened(self.moments, np.zeros(0, np.intp), other._a)
        return IndicatorComoments(other.is_number, nothing, moments)

    def _over(self, other: IndicatorComoments, counts: Counts) -> IndicatorComoments:
        """The same sums over the vocabularies of others, of which no row here shows the values."""
        known = self._known(other)
        wide = known.counts.over(counts.vocabularies)
        terms = Indicators(known.is_number, counts.vocabularies)
        moments = _widened(known.moments, known.terms.among(terms), len(terms))
        return IndicatorComoments(known.is_number, wide, moments)

    def _narrowed(self, counts: Counts) -> IndicatorComoments:
        """The same sums without values that no row shows."""
        if counts.vocabularies == self.counts.vocabularies:
            return replace(self, counts=counts)
        fewer = Indicators(self.is_number, counts.vocabularies)
        moments = _marginal(self.moments, fewer.among(self.terms), len(self.terms))
        return IndicatorComoments(self.is_number, counts, moments)


def _widened(moments: Any, index: NDArray[np.intp], d: int) -> Any:
    """The same columns at ``index`` among d; the others are 0 in every row."""
    return moments if len(index) == d else moments.widened(index, d)


def _marginal(moments: Any, index: NDArray[np.intp], d: int) -> Any:
    return moments if len(index) == d else moments.marginal(index)


class IndicatorComomentsAccumulator:
    """Builds `IndicatorComoments` of d columns; values of categories join as rows show them.

    Parameters
    ----------
    make : function
        An empty accumulator of the co-moments of so many terms.
    d : int
    """

    def __init__(self, make: Callable[[int], Any], d: int) -> None:
        self._make, self._k = make, 0
        self._terms = Indicators(np.zeros(d, np.bool_), (Vocabulary(()),) * d)
        self._counts = CountAccumulator(d)
        self._moments = make(0)
        self._sum: IndicatorComoments | None = None

    def add(
        self, block: MixedBlock, codes: NDArray[np.intp], weights: NDArray[np.float64], k: int
    ) -> None:
        """Add the rows of a block.

        Raises
        ------
        BadCell
            If a number is infinite or too large, or a category has more than 256 values.
        """
        self._k = max(k, self._k)
        codes = np.where(block.missing.all(axis=1), -1, codes)  # a row that shows nothing
        self._know(block, codes >= 0)
        self._counts.add(block.categories, codes, weights, k)
        step = max(256, LAID_OUT // max(1, len(self._terms)))
        for start in range(0, max(block.rows, 1), step):
            rows = slice(start, min(start + step, block.rows))
            try:
                z = RealBlock(self._terms.rows(block.cut(rows.start, rows.stop), 0.0))
                self._moments.add(z, codes[rows], weights[rows], k)
            except BadCell as bad:
                bad.row += start
                bad.column = int(self._terms.columns[int(bad.column or 0)])
                raise

    def statistic(self) -> IndicatorComoments:
        """Freeze what was added."""
        found = self._frozen()
        return found if self._sum is None else _at_most(self._sum, self._k) + found

    def _know(self, block: MixedBlock, learnt: NDArray[np.bool_]) -> None:
        """Make room for values that rows show for the first time."""
        terms, shown = self._terms, block.categories
        if not np.array_equal(terms.is_number, block.is_number):
            terms = Indicators(block.is_number, (Vocabulary(()),) * shown.width)
            self._counts = CountAccumulator(shown.width)
        found = []
        both = zip(terms.vocabularies, shown.vocabularies, strict=True)
        for b, (known, values) in enumerate(both):
            there = np.unique(shown.codes[learnt, b])
            more = known | Vocabulary.of(values.values[c] for c in there.tolist() if c >= 0)
            if len(more) > MOST_VALUES:
                row = int(learnt.argmax())
                column = int(np.flatnonzero(~block.is_number)[b])
                raise BadCell(row, column, f"{len(more)} values", TOO_MANY, "leave it out")
            found.append(more)
        if tuple(found) == terms.vocabularies and terms is self._terms:
            return
        if len(self._terms):
            so_far = self._frozen()
            self._sum = so_far if self._sum is None else _at_most(self._sum, self._k) + so_far
            self._counts = CountAccumulator(shown.width)
        self._terms = Indicators(terms.is_number, tuple(found))
        self._moments = self._make(len(self._terms))

    def _frozen(self) -> IndicatorComoments:
        """What was added since there were other values."""
        counts, moments = self._counts.statistic(), self._moments.statistic()
        counts = counts.place(np.arange(counts.k), self._k)
        moments = moments.place(np.arange(moments.k), self._k)
        wide = counts.over(self._terms.vocabularies)
        return IndicatorComoments(self._terms.is_number, wide, moments)._narrowed(counts)


def _at_most(found: IndicatorComoments, k: int) -> IndicatorComoments:
    """The same among k classes."""
    return found if found.k == k else found.place(np.arange(found.k), k)
