"""Sums of a whole labelled table: class weights, and the sums of every block of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import floor, log10
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ForgetError, ParameterError
from suffice.numerics import kernels
from suffice.numerics.exact import WEIGHT, DoubleDouble
from suffice.numerics.in_print import listed
from suffice.rules import POSITIVE, Shape, rule
from suffice.sums.base import Accumulator, ClassSums, Sums, nonnegative
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell
from suffice.sums.comparison import Comparison, compared
from suffice.sums.vocabulary import Vocabulary

if TYPE_CHECKING:
    SumsOfBlock = Any  # of the kind that the family of the block has
else:
    SumsOfBlock = ClassSums

HELD = 2.0**100  # a pair tells a sum of squares from its neighbours to one in so many
ENOUGH = 2.0**52  # what a double needs of it


@dataclass(frozen=True, eq=False, repr=False)
class ByClass(Sums):
    """Sufficient statistics of a generative classifier.

    Parameters
    ----------
    classes : Vocabulary
        The k labels seen with positive weight, sorted.
    weight : DoubleDouble (k,)
        Σw of the rows of each class.
    unlabelled : DoubleDouble ()
        Σw of the rows left out because their label is missing.
    blocks : tuple of ClassSums
        Those of every block of columns.
    """

    classes: Annotated[Vocabulary, Shape("k")]
    weight: Annotated[DoubleDouble, Shape("k"), POSITIVE, WEIGHT]
    unlabelled: Annotated[DoubleDouble, Shape(), WEIGHT]
    blocks: tuple[SumsOfBlock, ...]

    def __repr__(self) -> str:
        labels = zip(self.classes.values, self.weight.value, strict=True)
        rows = listed(f"{label!r}: {weight:,g}" for label, weight in labels)
        return f"ByClass(rows {{{rows}}}, {listed(map(repr, self.blocks))})"

    @rule("classes are open, and every block is a statistic of them")
    def _has_blocks(self) -> bool:
        blocks = all(getattr(block, "k", None) == len(self.classes) for block in self.blocks)
        return blocks and not self.classes.closed

    @property
    def rows(self) -> float:
        """Σw of the labelled rows."""
        return float(self.weight.value.sum())

    @property
    def is_empty(self) -> bool:
        return not len(self.classes)

    def aligned(self, other: Self) -> tuple[Self, Self]:
        classes = self.classes | other.classes
        return self.over(classes), other.over(classes)

    def over(self, classes: Vocabulary) -> Self:
        """Return the sums over more classes; a class without rows has empty sums."""
        if classes == self.classes:
            return self
        index, k = classes.index(self.classes.values, -1), len(classes)
        blocks = tuple(block.place(index, k) for block in self.blocks)
        weight = self.weight.scatter(index, (k,))
        return replace(self, classes=classes, weight=weight, blocks=blocks)

    def __sub__(self, other: Self) -> Self:
        mine, theirs = self.aligned(other)
        try:
            weight = nonnegative(mine.weight - theirs.weight, mine.weight)
        except ForgetError as error:
            label = mine.classes.values[error.column or 0]
            raise ForgetError(f"class {label!r}: {error.fact}", error.rule) from None
        unlabelled = nonnegative(self.unlabelled - other.unlabelled, self.unlabelled)
        blocks = []
        for b, (block, gone) in enumerate(zip(mine.blocks, theirs.blocks, strict=True)):
            try:
                blocks.append(block - gone)
            except ForgetError as error:
                error.block = b
                raise
        rest = replace(mine, weight=weight, unlabelled=unlabelled, blocks=tuple(blocks))
        empty = np.flatnonzero(weight.hi <= 0)
        if len(empty) and any((block.take(empty).total > 0).any() for block in blocks):
            raise ForgetError(
                f"class {mine.classes.values[empty[0]]!r}: all its rows are to be forgotten, "
                "but not all their cells",
                "only rows that were learnt can be forgotten",
            )
        return rest.pruned()

    def canonical(self) -> Self:
        hi, lo = self.unlabelled.hi, self.unlabelled.lo
        unlabelled = DoubleDouble(hi[()], lo[()])  # a difference has arrays without dimensions
        blocks = tuple([block.canonical() for block in self.blocks])
        return replace(self, unlabelled=unlabelled, blocks=blocks)

    def pruned(self) -> Self:
        kept = np.flatnonzero(self.weight.hi > 0)
        if len(kept) == len(self.classes):
            return self
        blocks = tuple(block.take(kept) for block in self.blocks)
        classes, weight = self.classes.take(kept), self.weight[kept]
        return replace(self, classes=classes, weight=weight, blocks=blocks)

    def compare(self, other: ByClass, names: Sequence[Sequence[str]] | None = None) -> Comparison:
        """Compare two tables, column by column.

        Parameters
        ----------
        other : ByClass
            The sums of another table of the same columns.
        names : sequence of sequences of str, optional
            Names of the columns of every block.
        """
        if not isinstance(other, ByClass):
            raise ParameterError(
                f"{other!r} is no statistic of a labelled table",
                "only such statistics can be compared",
            )
        mine, theirs = self.aligned(other)
        weights = mine.weight.value, theirs.weight.value
        rows = mine.rows, theirs.rows
        return compared(mine.blocks, theirs.blocks, names, rows, mine.classes.values, weights)


class ByClassAccumulator:
    """Builds `ByClass` from batches whose class codes refer to vocabularies of their own."""

    def __init__(self, blocks: Sequence[Accumulator]) -> None:
        self._blocks = tuple(blocks)
        self._codes: dict[Any, int] = {}
        self._weight: NDArray[np.float64] = np.zeros((0, 2))
        self._unlabelled: NDArray[np.float64] = np.zeros((1, 2))

    def add(self, batch: Batch) -> None:
        """Add the rows of a batch. Rows of weight zero count as absent."""
        known, classes = self._codes, batch.classes.values
        for value in classes:
            known.setdefault(value, len(known))
        place, k = tuple(map(known.__getitem__, classes)), len(known)
        codes, weights = batch.codes, batch.weights
        if place != tuple(range(len(place))):
            codes = np.array([*place, -1], np.intp)[codes]
        if k > len(self._weight):
            self._weight = np.concatenate([self._weight, np.zeros((k - len(self._weight), 2))])
        if not kernels.counts.add_rows(codes, weights, self._weight, self._unlabelled):
            raise DataError(
                f"a batch has the class code {codes.max()}",
                f"the codes of {k} classes are below {k}",
                "check what encodes the labels",
            )
        if not weights.all():
            codes = np.where(weights == 0, -1, codes)
        for b, (accumulator, block) in enumerate(zip(self._blocks, batch.blocks, strict=True)):
            try:
                accumulator.add(block, codes, weights, k)
            except BadCell as bad:
                bad.block = b
                raise

    def statistic(self) -> ByClass:
        classes = Vocabulary.of(self._codes)
        pairs = np.concatenate([self._weight, self._unlabelled])
        kernels.sums.normalise(pairs[:, :1], pairs[:, 1:])
        weight, unlabelled = pairs[:-1].T.copy(), DoubleDouble(*pairs[-1])
        blocks = tuple([block.statistic() for block in self._blocks])
        if tuple(self._codes) != classes.values:
            order = np.array(list(map(self._codes.__getitem__, classes.values)), np.intp)
            weight = weight[:, order]
            blocks = tuple([block.take(order) for block in blocks])
        found = ByClass(classes, DoubleDouble(*weight), unlabelled, blocks)
        return found if weight[0].all() else found.pruned()


# -- digits that are lost


class Loss(NamedTuple):
    """Columns whose variances lost digits.

    Parameters
    ----------
    block, column : int
        The column that lost most.
    digits : int
        How many decimal digits of its variance are left.
    others : int
        How many more columns of the block lost digits.
    """

    block: int
    column: int
    digits: int
    others: int


def losses(before: Any, after: Any) -> Iterator[Loss]:
    """Yield what variances lost when rows were taken away, one loss for each block at most.

    A pair of doubles holds about 106 bits of a sum of squares. While a value is in it that is 2²⁶
    times larger than the rest, 52 of them are its own; what it pushed out does not come back.

    Parameters
    ----------
    before, after : ByClass or ClassSums

    Examples
    --------
    >>> from suffice.sums.block import RealBlock
    >>> from suffice.sums.moments import MomentsAccumulator
    >>> def moments(*x):
    ...     total = MomentsAccumulator(1)
    ...     total.add(RealBlock(np.array(x)[:, None]), np.zeros(len(x), int), np.empty(0), 1)
    ...     return total.statistic()
    >>> every = moments(1.0, 2.0, 3.0, 1e12)
    >>> list(losses(every, every - moments(1e12)))
    [Loss(block=0, column=0, digits=6, others=0)]
    """
    pairs = [(before, after)]
    if isinstance(before, ByClass):
        index = before.classes.index(after.classes.values, -1)
        many = [block.take(index) for block in before.blocks]
        pairs = list(zip(many, after.blocks, strict=True))
    for b, (block, rest) in enumerate(pairs):
        share = block.shares_left(rest).min(axis=0, initial=1.0)
        lost = np.flatnonzero(share < 1 / ENOUGH)
        if len(lost):
            j = int(share.argmin())
            digits = floor(log10(HELD * share[j])) if share[j] * HELD > 1 else 0
            yield Loss(b, j, digits, len(lost) - 1)
