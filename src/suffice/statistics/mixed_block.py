"""Numbers and categories that one family models together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.statistics.block import CodedBlock, RealBlock

__all__ = ["MixedBlock"]


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
    is_number: NDArray[np.bool_]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.numbers.rows

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.is_number)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Whether cells are missing, (n, d)."""
        found = np.empty((self.rows, self.width), np.bool_)
        found[:, self.is_number] = self.numbers.missing
        found[:, ~self.is_number] = self.categories.missing
        return found

    def cut(self, start: int, stop: int) -> MixedBlock:
        """Rows ``start`` to ``stop``."""
        parts = self.numbers.cut(start, stop), self.categories.cut(start, stop)
        return MixedBlock(*parts, self.is_number)

    def take(self, rows: NDArray[np.intp]) -> MixedBlock:
        """The given rows, in that order."""
        return MixedBlock(self.numbers.take(rows), self.categories.take(rows), self.is_number)

    def column(self, j: int) -> MixedBlock:
        """Column j alone."""
        chosen = np.zeros(self.width, np.bool_)
        chosen[j] = True
        mine, others = (np.flatnonzero(chosen[at]) for at in (self.is_number, ~self.is_number))
        values, codes = self.numbers.values[:, mine], self.categories.codes[:, others]
        vocabularies = tuple(self.categories.vocabularies[b] for b in others)
        return MixedBlock(
            RealBlock(values), CodedBlock(codes, vocabularies), self.is_number[chosen]
        )

    def showing(self, columns: NDArray[np.bool_]) -> MixedBlock:
        """The same rows; every cell of the other columns is missing."""
        return MixedBlock(
            self.numbers.showing(columns[self.is_number]),
            self.categories.showing(columns[~self.is_number]),
            self.is_number,
        )
