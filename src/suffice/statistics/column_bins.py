"""The bins of one column, in which pairs are counted: numbers between cuts, or listed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.rules import FINITE, Shape, check_form, rule
from suffice.statistics.block import CodedBlock, IntegerBlock, RealBlock, converted
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["ColumnBins", "CutBins", "ValueBins"]


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

    cuts: Annotated[NDArray[np.float64], Shape("c"), FINITE]

    def __post_init__(self) -> None:
        check_form(self)

    @rule("cuts ascend")
    def _is_ordered(self) -> bool:
        return bool((np.diff(self.cuts) > 0).all())

    def __len__(self) -> int:
        return len(self.cuts) + 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CutBins) and np.array_equal(self.cuts, other.cuts)

    __hash__ = None  # type: ignore[assignment]

    def named(self, b: int) -> str:
        """Bin b in words.

        Examples
        --------
        >>> bins = CutBins(np.array([0.5, 2.0]))
        >>> [bins.named(b) for b in range(len(bins))]
        ['below 0.5', 'from 0.5 to 2', '2 or more']
        """
        if not len(self.cuts):
            return "any number"
        ends = [f"{cut:.10g}" for cut in self.cuts.tolist()]
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

    Parameters
    ----------
    values : Vocabulary

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
        """Bin b in words."""
        return str(self.values.values[b])

    def codes(self, block: CodedBlock | IntegerBlock) -> NDArray[np.int32]:
        """The bin of every cell of a column, (n,); −1 where it is missing or has none."""
        codes: NDArray[Any] = block.coded().recode((self.values,))[:, 0]
        return np.where(codes < len(self.values), codes, -1).astype(np.int32)


ColumnBins: TypeAlias = CutBins | ValueBins
