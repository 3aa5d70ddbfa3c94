"""Rows in groups that share a class and a pattern of cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.exact import DoubleDouble
from suffice.rules import rule
from suffice.statistics.divergence import Divergences, of_gaussians

__all__ = ["GroupedRows"]


class GroupedRows(ABC):
    """Sums over rows of d columns and k classes in g groups.

    Groups stand in the order of their patterns, then of their classes. Their products are kept for
    each group or, pooled, for each pattern.
    """

    k: int
    pooled: bool
    patterns: Any
    pattern: Any
    code: Any
    tally: Any  # how many rows there are (`suffice.statistics.row_tally`)
    product_index: Any  # which products are the group's, (g,); −1 where they are 0 and not stored

    @rule("groups come in the order of their patterns, then of their classes")
    def _is_ordered(self) -> bool:
        step, later = np.diff(self.pattern), np.diff(self.code) > 0
        return bool(((step > 0) | ((step == 0) & later)).all())

    @rule("patterns are distinct, sorted, and each that of a group")
    def _has_patterns(self) -> bool:
        rows = [shown.tobytes() for shown in self.patterns]
        each = np.array_equal(np.unique(self.pattern), np.arange(len(rows)))
        return each and sorted(set(rows)) == rows

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.patterns.shape[1])

    @property
    @abstractmethod
    def group_weight(self) -> DoubleDouble:
        """Σw of every group, (g,)."""

    @property
    @abstractmethod
    def mean(self) -> DoubleDouble:
        """x̄ of every group, (g, d); 0 where a column is not shown."""

    @property
    @abstractmethod
    def scatter(self) -> DoubleDouble:
        """Σw(x − x̄)(x − x̄)ᵀ of all groups with one product index, (m, d, d)."""

    @property
    @abstractmethod
    def too_small(self) -> NDArray[np.bool_]:
        """Whether the values of a column, of all rows, differ by too little to be squared."""

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def __sub__(self, other: Self) -> Self: ...

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """The same rows with their weights multiplied by a factor; weight 0 is absence."""

    @abstractmethod
    def canonical(self) -> Self:
        """The same sums in the form that a file has."""

    @abstractmethod
    def _keep(self, groups: NDArray[np.intp]) -> Self:
        """The chosen groups, in that order; patterns and products without a group are dropped."""

    @abstractmethod
    def _some_columns(self, columns: NDArray[np.intp]) -> Self:
        """The same groups in some of the columns: patterns may be alike, or empty."""

    @abstractmethod
    def widened(self, index: NDArray[np.intp], d: int) -> Self:
        """The same columns at ``index``, increasing, among d; every row shows 0 in the others."""

    @abstractmethod
    def _of_groups_again(self) -> Self:
        """The same rows with the groups of one class and pattern added up."""

    @property
    def columns(self) -> Self:
        """Co-moments of the columns: these; those of `FourthMoments` are of the squares too."""
        return self

    @property
    def rows(self) -> float:
        """Σw of the rows."""
        return float(self.group_weight.value.sum())

    @property
    def is_empty(self) -> bool:
        """Whether there is no row."""
        return not len(self.code)

    @property
    def complete(self) -> bool:
        """Whether every row shows every column."""
        return bool(self.patterns.all())

    @cached_property
    def total(self) -> NDArray[np.float64]:
        """W = Σw of the observed cells, (k, d)."""
        total = np.zeros((self.k, self.d))
        weight = self.group_weight.value[:, None] * self.patterns[self.pattern]
        np.add.at(total, self.code, weight)
        return total

    @cached_property
    def one_class(self) -> Self:
        """The same rows as if they were of one class."""
        return self._replaced(k=1, code=np.zeros_like(self.code))._of_groups_again()

    def marginal(self, columns: NDArray[np.intp]) -> Self:
        """The same rows in some of the columns, increasing; rows that show none are dropped."""
        cut = self._some_columns(columns)
        return cut._keep(np.flatnonzero(cut.patterns[cut.pattern].any(axis=1)))._of_groups_again()

    def of_many_rows(self, least: float) -> Self:
        """The groups of so many rows at least; products of several groups stay whole."""
        return self._keep(np.flatnonzero(self.group_weight.value >= least))

    def place(self, index: NDArray[np.intp], k: int) -> Self:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        return self._replaced(k=k, code=index[self.code])._sorted()

    def take(self, index: NDArray[np.intp]) -> Self:
        """Keep the classes at ``index``, in that order; of pooled ones, all that have rows."""
        position = np.full(self.k, -1)
        position[index] = np.arange(len(index))
        return self._replaced(k=len(index), code=position[self.code])._sorted()

    def _sorted(self) -> Self:
        """Put the groups in order and drop those of no class."""
        order = np.lexsort((self.code, self.pattern))
        return self._keep(order[self.code[order] >= 0])

    def _replaced(self, **changes: Any) -> Self:
        of: Any = self
        changed: Self = replace(of, **changes)
        return changed

    def divergences(self, other: Self) -> Divergences:
        """How far the columns of every class are from another table's, as Gaussians, (k, d).

        Each column on its own; pooled, the classes share its variance.
        """
        pairs = ((self._alone(j), other._alone(j)) for j in range(self.d))
        return Divergences.side_by_side(
            [
                of_gaussians((n, m), (mine, theirs), (mean_a - mean_b).value)
                for (n, mine, mean_a), (m, theirs, mean_b) in pairs
            ]
        )

    def _alone(self, j: int) -> tuple[NDArray[np.float64], NDArray[np.float64], DoubleDouble]:
        """Weight, variance and mean (k,) of one column in the rows that show it."""
        rows = self.marginal(np.array([j]))
        weight, mean = rows.total[:, 0], rows.mean[:, 0].scatter(rows.code, (self.k,))
        scatter = np.append(rows.scatter.value.reshape(-1), 0.0)[rows.product_index]
        variance, divisor = np.zeros(self.k), weight.sum() if self.pooled else weight[rows.code]
        variance[rows.code] = scatter / divisor
        return weight, variance, mean

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        names = ("patterns", "pattern", "code")
        return (
            (self.k, self.pooled) == (other.k, other.pooled)
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)
            and self._has_sums_of(other)
        )

    __hash__ = None  # type: ignore[assignment]

    @abstractmethod
    def _has_sums_of(self, other: Self) -> bool:
        """Whether the sums of the same groups are equal."""
