"""Sums of a whole labelled table: class weights, and the sums of every block of columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import floor, log10, prod
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ForgetError, ParameterError
from suffice.numerics import kernels
from suffice.numerics.arrays import Floats, Ints
from suffice.numerics.exact import WEIGHT, DoubleDouble
from suffice.numerics.in_print import listed
from suffice.numerics.memory import SMALL, require_memory
from suffice.rules import POSITIVE, Shape, rule
from suffice.sums.base import Accumulator, ClassSums, Sums, axis, forgotten, nonnegative
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell
from suffice.sums.comparison import Comparison, compared
from suffice.sums.vocabulary import Vocabulary

if TYPE_CHECKING:
    SumsOfBlock = Any  # of the kind that the family of the block has
else:
    SumsOfBlock = ClassSums

T = TypeVar("T", bound=np.generic)

HELD = 2.0**100  # a pair tells a sum of squares from its neighbours to one in so many
ENOUGH = 2.0**52  # what a double needs of it


class Labelled(Sums):
    """Sums over rows with labels: weights (m,) of m classes, or (g, m) of g groups of rows."""

    if TYPE_CHECKING:
        classes: Vocabulary
        weight: DoubleDouble
        blocks: tuple[SumsOfBlock, ...]

    @rule("classes are open, and every block is a statistic of those of every group")
    def _has_blocks(self) -> bool:
        most = prod(self.weight.shape)
        blocks = all(getattr(block, "k", None) == most for block in self.blocks)
        return blocks and not self.classes.closed

    def aligned(self, other: Self) -> tuple[Self, Self]:
        classes = self.classes | other.classes
        return self.over(classes), other.over(classes)

    def over(self, classes: Vocabulary) -> Self:
        """Return the sums over more classes; a class without rows has empty sums."""
        if classes == self.classes:
            return self
        shape = (*self.weight.shape[:-1], len(classes))
        at = ..., classes.index(self.classes.values, -1)
        blocks = tuple([block.place(places(shape, at), prod(shape)) for block in self.blocks])
        return self._of(classes, self.weight.scatter(at, shape), blocks)

    def pruned(self) -> Self:
        shown = self.weight.hi > 0
        kept = np.flatnonzero(shown.any(axis=tuple(range(shown.ndim - 1))))
        if len(kept) == len(self.classes):
            return self
        at = ..., kept
        blocks = tuple([block.take(places(shown.shape, at)) for block in self.blocks])
        return self._of(self.classes.take(kept), self.weight[at], blocks)

    def _of(self, classes: Vocabulary, weight: DoubleDouble, blocks: tuple[Any, ...]) -> Self:
        found = replace(cast(Any, self), classes=classes, weight=weight, blocks=blocks)
        return cast(Self, found)


def places(shape: tuple[int, ...], at: Any) -> Ints:
    """Return the places of some elements of an array in it as a vector.

    Examples
    --------
    >>> places((2, 3), (..., [0, 2]))
    array([0, 2, 3, 5])
    """
    found: Ints = np.arange(prod(shape)).reshape(shape)[at].ravel()
    return found


@dataclass(frozen=True, eq=False, repr=False)
class ByClass(Labelled):
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

    @property
    def rows(self) -> float:
        """Σw of the labelled rows."""
        return float(self.weight.value.sum())

    @property
    def is_empty(self) -> bool:
        return not len(self.classes)

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
            label = mine.classes.values[empty[0]]
            raise forgotten(
                f"class {label!r}: all its rows are to be forgotten, but not all their cells"
            )
        return rest.pruned()

    def canonical(self) -> Self:
        hi, lo = self.unlabelled.hi, self.unlabelled.lo
        unlabelled = DoubleDouble(hi[()], lo[()])  # a difference has arrays without dimensions
        blocks = tuple([block.canonical() for block in self.blocks])
        return replace(self, unlabelled=unlabelled, blocks=blocks)

    def compare(
        self,
        other: ByClass,
        names: Sequence[Sequence[str]],
        left_out: Collection[str] = (),
    ) -> Comparison:
        """Compare tables of the same columns, which have names in every block; see `compared`."""
        if not isinstance(other, ByClass):
            raise ParameterError(
                f"{other!r} is no statistic of a labelled table",
                "only such statistics can be compared",
            )
        mine, theirs = self.aligned(other)
        weights = mine.weight.value, theirs.weight.value
        rows = mine.rows, theirs.rows
        blocks = mine.blocks, theirs.blocks
        return compared(*blocks, names, rows, mine.classes.values, weights, left_out)


class ByClassAccumulator:
    """Builds `ByClass` from batches whose class codes refer to vocabularies of their own."""

    def __init__(self, blocks: Sequence[Accumulator]) -> None:
        self._blocks = tuple(blocks)
        self._codes: dict[Any, int] = {}
        self._weight: Floats = np.zeros((0, 2))
        self._unlabelled: Floats = np.zeros((1, 2))

    def add(self, batch: Batch) -> None:
        """Add the rows of a batch. Rows of weight zero count as absent."""
        (codes, k), weights = self._numbered(batch), batch.weights
        self._weight = grown(self._weight, k)
        if not kernels.counts.add_rows(codes, weights, self._weight, self._unlabelled):
            raise DataError(
                f"a batch has the class code {codes.max()}",
                f"the codes of {k} classes are below {k}",
                "check what encodes the labels",
            )
        if len(weights) and not weights.all():
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

    def _numbered(self, batch: Batch) -> tuple[Ints, int]:
        """Return the classes of the rows by their numbers here, and how many have one."""
        known, values = self._codes, batch.classes.values
        for value in values:
            known.setdefault(value, len(known))
        place = list(map(known.__getitem__, values))
        if place == list(range(len(place))):
            return batch.codes, len(known)
        return np.array([*place, -1], np.intp)[batch.codes], len(known)


def grown(sums: NDArray[T], k: int) -> NDArray[T]:
    """Return sums with room for k classes: these where there is enough."""
    if k <= len(sums):
        return sums
    if (amount := 2.0 * sums.itemsize * k * prod(sums.shape[1:])) > SMALL:
        require_memory(amount, f"sums of {k:,} classes", "use fewer columns, or make labels fewer")
    more = np.zeros((k - len(sums), *sums.shape[1:]), sums.dtype)
    return np.concatenate([sums, more]) if len(sums) else more


# -- groups of rows


@dataclass(frozen=True, eq=False, repr=False)
class ClassesByGroup(Labelled, ClassSums):
    """Sufficient statistics of a generative classifier for each of k groups of rows.

    Parameters
    ----------
    classes : Vocabulary
        The m labels that any group shows.
    weight : DoubleDouble (k, m)
        Σw of the rows of each group and class.
    unlabelled : DoubleDouble (k,)
        Σw of the rows whose label is missing.
    blocks : tuple of ClassSums
        Those of every block of columns: class gm + c is class c of group g.
    """

    classes: Annotated[Vocabulary, Shape("m")]
    weight: Annotated[DoubleDouble, Shape("k", "m"), WEIGHT]
    unlabelled: Annotated[DoubleDouble, Shape("k"), WEIGHT]
    blocks: tuple[SumsOfBlock, ...]

    def __repr__(self) -> str:
        return f"ClassesByGroup({self.k:,} groups of {len(self.classes)} classes)"

    k = axis("k")

    @property
    def rows(self) -> Floats:
        """Σw of the labelled rows of each group, (k,)."""
        return np.asarray(self.weight.value.sum(axis=1))

    @property
    def class_weight(self) -> Floats:
        """Σw of the rows of each group, those without a label included, (k,)."""
        return np.asarray(self.rows + self.unlabelled.value)

    def alone(self, g: int) -> ByClass:
        one = self.take(np.array([g]))
        weight, unlabelled = one.weight[0], self.unlabelled[g]
        found = ByClass(self.classes, weight, unlabelled, one.blocks).pruned()
        return replace(found, blocks=tuple([block.pruned() for block in found.blocks]))

    def take(self, index: Ints) -> Self:
        every = places(self.weight.shape, index)
        blocks = tuple([block.take(every) for block in self.blocks])
        weight, unlabelled = self.weight[index], self.unlabelled[index]
        return replace(self, weight=weight, unlabelled=unlabelled, blocks=blocks)

    def place(self, index: Ints, k: int) -> Self:
        shape = k, len(self.classes)
        blocks = tuple([block.place(places(shape, index), prod(shape)) for block in self.blocks])
        weight, unlabelled = self.weight.scatter(index, shape), self.unlabelled.scatter(index, (k,))
        return replace(self, weight=weight, unlabelled=unlabelled, blocks=blocks)


class ClassesByGroupAccumulator(ByClassAccumulator):
    """Builds `ClassesByGroup` from batches whose rows have groups.

    A pair of group and class has a number from its first row on; blocks know these numbers.
    """

    def __init__(self, blocks: Sequence[Accumulator]) -> None:
        super().__init__(blocks)
        self._numbers: Ints = np.full((0, 0), -1)  # of each group and class
        self._pairs = 0
        self._unlabelled_of: Floats = np.zeros((0, 2))

    def add_groups(self, batch: Batch) -> int:
        """Add the rows of a batch that are in a group; return how many groups it may have."""
        self.add(batch)
        return int(batch.groups.max(initial=-1)) + 1

    def _numbered(self, batch: Batch) -> tuple[Ints, int]:
        (codes, m), groups = super()._numbered(batch), batch.groups
        g = int(groups.max(initial=-1)) + 1
        if g > len(self._numbers) or m > self._numbers.shape[1]:
            wider = np.full((roomy(g, len(self._numbers)), roomy(m, self._numbers.shape[1])), -1)
            wider[tuple(map(slice, self._numbers.shape))] = self._numbers
            self._numbers = wider
            more = np.zeros((len(wider) - len(self._unlabelled_of), 2))
            self._unlabelled_of = np.concatenate([self._unlabelled_of, more])
        known = (groups >= 0) & (codes >= 0)
        at = np.where(known, groups * self._numbers.shape[1] + codes, -1)
        numbers = np.append(self._numbers.ravel(), -1)[at]
        new = np.unique(at[known & (numbers < 0)])
        if len(new):
            self._numbers.reshape(-1)[new] = self._pairs + np.arange(len(new))
            self._pairs += len(new)
            numbers = np.append(self._numbers.ravel(), -1)[at]
        missed = np.where(codes < 0, groups, -1)
        if (missed >= 0).any():
            nowhere = np.zeros((1, 2))
            kernels.counts.add_rows(missed, batch.weights, self._unlabelled_of, nowhere)
        return numbers, roomy(self._pairs, len(self._weight))

    def by_group(self, k: int) -> ClassesByGroup:
        classes = Vocabulary.of(self._codes)
        order = np.array(list(map(self._codes.__getitem__, classes.values)), np.intp)
        m, every = len(classes), np.arange(self._pairs)
        numbers = np.full((k, m), -1)
        known = self._numbers[:k, : len(self._codes)][:, order] if m else self._numbers[:k, :0]
        numbers[: len(known)] = known
        shown = np.flatnonzero(numbers.ravel() >= 0)
        place = np.empty(self._pairs, np.intp)
        place[numbers.ravel()[shown]] = shown
        blocks = tuple([b.statistic().take(every).place(place, k * m) for b in self._blocks])
        weight = DoubleDouble.from_table(self._weight[: self._pairs, :, None])[:, 0]
        missed = DoubleDouble.from_table(self._unlabelled_of[:, :, None])[:k, 0]
        missed = missed.scatter(np.arange(len(missed.hi)), (k,))
        weight = weight.scatter(place, (k * m,)).reshape(k, m)
        return ClassesByGroup(classes, weight, missed, blocks).pruned()


def roomy(asked: int, there: int) -> int:
    """Return room for so many: that which is there, or twice as much."""
    return there if asked <= there else max(asked, 2 * there)


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
