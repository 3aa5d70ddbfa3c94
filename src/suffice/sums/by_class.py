"""The statistic of a whole labelled table: class weights, and the statistic of every block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ForgetError, ParameterError
from suffice.numerics import kernels
from suffice.numerics.exact import WEIGHT, DoubleDouble
from suffice.numerics.in_print import listed
from suffice.rules import POSITIVE, Shape, rule
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell
from suffice.sums.comparison import Comparison, compared
from suffice.sums.counts import nonnegative
from suffice.sums.statistic import Accumulator
from suffice.sums.vocabulary import Vocabulary

__all__ = ["ByClass", "ByClassAccumulator"]


@dataclass(frozen=True, repr=False)
class ByClass:
    """Everything that a generative classifier needs to know about its rows.

    Parameters
    ----------
    classes : Vocabulary
        The k labels seen with positive weight, sorted.
    weight : DoubleDouble (k,)
        Σw of the rows of each class.
    unlabelled : DoubleDouble ()
        Σw of the rows left out because their label is missing.
    blocks : tuple of ClasswiseStatistic
        One statistic per block of columns.
    """

    classes: Annotated[Vocabulary, Shape("k")]
    weight: Annotated[DoubleDouble, Shape("k"), POSITIVE, WEIGHT]
    unlabelled: Annotated[DoubleDouble, Shape(), WEIGHT]
    blocks: tuple[Any, ...]

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
        """Whether there is no labelled row."""
        return not len(self.classes)

    def __add__(self, other: ByClass) -> ByClass:
        classes = self.classes | other.classes
        mine, theirs = self.over(classes), other.over(classes)
        return ByClass(
            classes,
            mine.weight + theirs.weight,
            self.unlabelled + other.unlabelled,
            tuple(a + b for a, b in zip(mine.blocks, theirs.blocks, strict=True)),
        )

    def __sub__(self, other: ByClass) -> ByClass:
        classes = self.classes | other.classes
        mine, theirs = self.over(classes), other.over(classes)
        try:
            weight = nonnegative(mine.weight - theirs.weight, mine.weight)
        except ForgetError as error:
            label = classes.values[error.column or 0]
            raise ForgetError(f"class {label!r}: {error.fact}", error.rule) from None
        unlabelled = nonnegative(self.unlabelled - other.unlabelled, self.unlabelled)
        rest = ByClass(classes, weight, unlabelled, mine._block_differences(theirs))
        gone = np.flatnonzero(rest.weight.hi <= 0)
        if len(gone) and any((block.take(gone).total > 0).any() for block in rest.blocks):
            raise ForgetError(
                f"class {classes.values[gone[0]]!r}: all its rows are to be forgotten, "
                "but not all their cells",
                "only rows that were learnt can be forgotten",
            )
        return rest.pruned()

    def scaled(self, factor: float) -> ByClass:
        """The same rows with their weights multiplied by a factor; weight 0 is absence."""
        blocks = tuple(block.scaled(factor) for block in self.blocks)
        weight, unlabelled = self.weight.scaled(factor), self.unlabelled.scaled(factor)
        return ByClass(self.classes, weight, unlabelled, blocks).pruned()

    def canonical(self) -> ByClass:
        """The same sums in the form that a file has: see `Moments.canonical`."""
        blocks = tuple(map(methodcaller("canonical"), self.blocks))
        hi, lo = self.unlabelled.hi, self.unlabelled.lo
        unlabelled = DoubleDouble(hi[()], lo[()])  # a difference has arrays without dimensions
        return ByClass(self.classes, self.weight, unlabelled, blocks)

    def compare(self, other: ByClass, names: Sequence[Sequence[str]] | None = None) -> Comparison:
        """Return what divides two tables, column by column.

        Parameters
        ----------
        other : ByClass
            The statistic of another table of the same columns.
        names : sequence of sequences of str, optional
            Names of the columns of every block.

        Raises
        ------
        ParameterError
            If the other is something else.
        SchemaError
            If a block differs in kind or in its number of columns, or a table has no labelled row.

        See Also
        --------
        suffice.sums.comparison.compared : What is compared by what.
        """
        if not isinstance(other, ByClass):
            raise ParameterError(
                f"{other!r} is no statistic of a labelled table",
                "only such statistics can be compared",
            )
        classes = self.classes | other.classes
        mine, theirs = self.over(classes), other.over(classes)
        weights = mine.weight.value, theirs.weight.value
        return compared(mine.blocks, theirs.blocks, names, classes.values, weights)

    def _block_differences(self, other: ByClass) -> tuple[Any, ...]:
        blocks = []
        for b, (mine, theirs) in enumerate(zip(self.blocks, other.blocks, strict=True)):
            try:
                blocks.append(mine - theirs)
            except ForgetError as error:
                error.block = b
                raise
        return tuple(blocks)

    def pruned(self) -> ByClass:
        """Drop the classes that no row shows."""
        kept = np.flatnonzero(self.weight.hi > 0)
        if len(kept) == len(self.classes.values):
            return self
        blocks = tuple(block.take(kept) for block in self.blocks)
        return ByClass(self.classes.take(kept), self.weight[kept], self.unlabelled, blocks)

    def over(self, classes: Vocabulary) -> ByClass:
        """The same sums over more classes; a class without rows has empty sums."""
        if classes == self.classes:
            return self
        index, k = classes.index(self.classes.values, -1), len(classes)
        blocks = tuple(block.place(index, k) for block in self.blocks)
        return ByClass(classes, self.weight.scatter(index, (k,)), self.unlabelled, blocks)


class ByClassAccumulator:
    """Builds `ByClass` from batches whose class codes refer to vocabularies of their own."""

    def __init__(self, blocks: Sequence[Accumulator]) -> None:
        self._blocks = tuple(blocks)
        self._codes: dict[Any, int] = {}
        self._weight: NDArray[np.float64] = np.zeros((0, 2))
        self._unlabelled: NDArray[np.float64] = np.zeros((1, 2))

    def add(self, batch: Batch) -> None:
        """Add the rows of a batch. Rows of weight zero count as absent.

        Raises
        ------
        BadCell
            If a cell cannot be summed.
        DataError
            If a code stands for no class.
        """
        codes, weights = self._translated(batch.codes, batch.classes), batch.weights
        k = len(self._codes)
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
        """Freeze what was added, classes in sorted order."""
        classes = Vocabulary.of(self._codes)
        order = np.array(list(map(self._codes.__getitem__, classes.values)), np.intp)
        sums = DoubleDouble.from_table(np.vstack([self._weight, self._unlabelled])[:, :, None])
        weight = DoubleDouble(sums.hi[order, 0], sums.lo[order, 0])
        unlabelled = DoubleDouble(sums.hi[-1, 0], sums.lo[-1, 0])
        blocks = tuple(map(methodcaller("statistic"), self._blocks))
        if tuple(self._codes) != classes.values:
            blocks = tuple([block.take(order) for block in blocks])
        found = ByClass(classes, weight, unlabelled, blocks)
        return found if weight.hi.all() else found.pruned()

    def _translated(self, codes: NDArray[np.intp], classes: Vocabulary) -> NDArray[np.intp]:
        known = self._codes
        for value in classes.values:
            known.setdefault(value, len(known))
        place = tuple(map(known.__getitem__, classes.values))
        if place == tuple(range(len(place))):
            return codes
        return np.array([*place, -1], np.intp)[codes]
