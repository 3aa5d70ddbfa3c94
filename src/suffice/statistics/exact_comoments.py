"""Co-moments as whole numbers: the same rows give the same arrays, however they came."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError
from suffice.numerics import kernels
from suffice.numerics.dyadic import Dyadic
from suffice.numerics.exact import DoubleDouble
from suffice.rules import NONNEGATIVE, Index, Shape, check_form, rule
from suffice.statistics.comoment_groups import together
from suffice.statistics.comoments import FORGOTTEN, Comoments
from suffice.statistics.grouped_rows import GroupedRows
from suffice.statistics.row_tally import UNKNOWN, gathered, scaled_tally, tally_sum
from suffice.statistics.statistic import described, described_in_html

__all__ = ["ExactComoments"]


@dataclass(frozen=True, eq=False, repr=False)
class ExactComoments(GroupedRows):
    """Exact sums of d columns over k classes (``src/native/exact_comoments.hpp``).

    Rows are in groups as those of `Comoments`. Sums are whole numbers times powers of two, of as
    many bits as the cells ask for, in one form and about 0: the same rows give the same arrays, in
    whatever order and parts they come and whatever was added and taken away before.

    Parameters
    ----------
    k : int
        Number of classes.
    pooled : bool
        Whether the classes share their products.
    patterns : ndarray of bool (p, d)
        The distinct sets of columns that rows show, sorted.
    pattern, code : ndarray of int (g,)
        Pattern and class of every group.
    weight : Dyadic (g, 1)
        W = Σw.
    sums : Dyadic (g, d)
        S = Σwx.
    products : Dyadic (m, d(d + 1)/2)
        P = Σwxxᵀ, upper triangles row by row: of every group or, pooled, of every pattern.
    tally : ndarray of int (g, 3), or (0, 3)
        How many rows there are, if it is known: see `suffice.statistics.row_tally`.

    Examples
    --------
    >>> from suffice.statistics.block import RealBlock
    >>> from suffice.statistics.exact_comoments_accumulator import ExactComomentsAccumulator
    >>> total = ExactComomentsAccumulator(2)
    >>> rows = RealBlock(np.array([[1e9 + 1, 1.0], [1e9 + 2, 3.0], [1e9 + 3, 5.0]]))
    >>> total.add(rows, np.zeros(3, np.intp), np.empty(0), 1)
    >>> total.statistic().scatter.value
    array([[[2., 4.],
            [4., 8.]]])
    """

    k: Annotated[int, NONNEGATIVE]
    pooled: bool
    patterns: Annotated[NDArray[np.bool_], Shape("p", "d")]
    pattern: Annotated[NDArray[np.intp], Shape("g"), Index("p")]
    code: Annotated[NDArray[np.intp], Shape("g"), Index("k")]
    weight: Annotated[Dyadic, Shape("g", 1)]
    sums: Annotated[Dyadic, Shape("g", "d")]
    products: Annotated[Dyadic, Shape("m", "t")]
    tally: Annotated[NDArray[np.int64], Shape("q", 3)] = field(default_factory=UNKNOWN.copy)

    __repr__ = described
    _repr_html_ = described_in_html

    def __post_init__(self) -> None:
        check_form(self)
        for part in (self.patterns, self.pattern, self.code):
            part.setflags(write=False)

    @rule("there are products of every group or, pooled, of every pattern")
    def _has_products(self) -> bool:
        matrices = len(self.patterns) if self.pooled else len(self.pattern)
        return self.products.shape == (matrices, self.d * (self.d + 1) // 2)

    @rule("weights are above 0")
    def _has_weights(self) -> bool:
        return bool((self.weight.value > 0).all() and np.isfinite(self.weight.value).all())

    @rule("there are sums of the columns that a group shows, and 0 in the place of others")
    def _has_sums(self) -> bool:
        hidden = ~self.patterns[self.pattern]
        i, j = np.triu_indices(self.d)
        of_matrix = ~(self.patterns if self.pooled else self.patterns[self.pattern])
        crossed = of_matrix[:, i] | of_matrix[:, j]
        return not (self.sums.limbs[:, hidden].any() or self.products.limbs[:, crossed].any())

    @rule("means can be squared, and products are those of numbers")
    def _has_scatter(self) -> bool:
        parts = self.weight.value, self.sums.value, self.products.value
        if not all(np.isfinite(part).all() for part in parts):
            return False
        return self._impossible < 0 and bool(Comoments._has_scatter.kept_by(self.pairs))

    @classmethod
    def empty(cls, k: int, d: int, pooled: bool = False) -> Self:
        """Co-moments of no rows."""
        none = np.zeros(0, np.intp)
        weight, sums, products = (Dyadic.zeros(0, columns) for columns in (1, d, d * (d + 1) // 2))
        return cls(k, pooled, np.zeros((0, d), bool), none, none, weight, sums, products)

    @property
    def product_index(self) -> NDArray[np.intp]:
        """Which products are the group's, (g,)."""
        return self.pattern if self.pooled else np.arange(len(self.pattern))

    @cached_property
    def pairs(self) -> Comoments:
        """The same sums about the means of the groups, each rounded once to a pair of doubles."""
        g, d, m = len(self.code), self.d, self.products.shape[0]
        weight, pivot = np.zeros((g, 2)), np.zeros((g, d))
        sums, products = np.zeros((g, 2, d)), np.zeros((m, 2, d, d))
        w, s, p, index = self.weight, self.sums, self.products, self.product_index
        tables = w.limbs, w.low, s.limbs, s.low, p.limbs, p.low
        kernels.exact_comoments.recentre(*tables, index, weight, pivot, sums, products)
        groups = self.patterns, self.pattern, self.code
        pairs = Comoments(self.k, self.pooled, *groups, weight, pivot, sums, index, products)
        return replace(pairs, tally=self.tally)

    @property
    def group_weight(self) -> DoubleDouble:
        """Σw of every group, (g,)."""
        return self.pairs.group_weight

    @property
    def mean(self) -> DoubleDouble:
        """x̄ of every group, (g, d); 0 where a column is not shown."""
        return self.pairs.mean

    @property
    def scatter(self) -> DoubleDouble:
        """Σw(x − x̄)(x − x̄)ᵀ of all groups with one product index, (m, d, d)."""
        return self.pairs.scatter

    @property
    def too_small(self) -> NDArray[np.bool_]:
        """Whether the values of a column, of all rows, differ by too little to be squared."""
        return self.pairs.too_small

    @property
    def _impossible(self) -> int:
        """A column whose scatter is below 0, or −1."""
        below = (np.diagonal(self.scatter.hi, axis1=1, axis2=2) < 0.0).any(axis=0)
        return int(below.argmax()) if below.any() else -1

    def _some_columns(self, columns: NDArray[np.intp]) -> ExactComoments:
        i, j = columns[np.array(np.triu_indices(len(columns)))]
        return replace(
            self,
            patterns=self.patterns[:, columns],
            sums=self.sums.columns(columns),
            products=self.products.columns(i * self.d - i * (i + 1) // 2 + j),
        )

    def widened(self, index: NDArray[np.intp], d: int) -> ExactComoments:
        """The same columns at ``index``, increasing, among d; every row shows 0 in the others."""
        patterns, place = np.ones((len(self.patterns), d), bool), np.zeros((d, d), np.intp)
        patterns[:, index] = self.patterns
        place[np.triu_indices(d)] = np.arange(d * (d + 1) // 2)
        i, j = index[np.array(np.triu_indices(len(index)))]
        return replace(
            self,
            patterns=patterns,
            sums=self.sums.widened(index, d),
            products=self.products.widened(place[i, j], d * (d + 1) // 2),
        )

    def _of_groups_again(self) -> ExactComoments:
        patterns, groups, _, mine, _ = together(
            ExactComoments.empty(self.k, self.d, self.pooled), self
        )
        return self._among(patterns, groups, mine)

    def __add__(self, other: ExactComoments) -> ExactComoments:
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        mine, theirs = self._beside(other)
        return replace(
            mine,
            weight=mine.weight + theirs.weight,
            sums=mine.sums + theirs.sums,
            products=mine.products + theirs.products,
            tally=tally_sum(mine.tally, theirs.tally),
        )

    def __sub__(self, other: ExactComoments) -> ExactComoments:
        mine, theirs = self._beside(other)
        weight, sums = mine.weight - theirs.weight, mine.sums - theirs.sums
        products, tally = mine.products - theirs.products, tally_sum(mine.tally, theirs.tally, -1.0)
        rest = replace(mine, weight=weight, sums=sums, products=products, tally=tally)
        if (weight.value < 0.0).any():
            raise ForgetError(
                "fewer rows with these cells missing than are to be forgotten", FORGOTTEN
            )
        left = rest._keep(np.flatnonzero(weight.value[:, 0] > 0.0))
        column = rest._not_left(weight.value[:, 0] > 0.0)
        column = left._impossible if column < 0 else column
        if column >= 0:
            error = ForgetError("other values than are to be forgotten", FORGOTTEN)
            error.column = column
            raise error
        return left

    def _not_left(self, kept: NDArray[np.bool_]) -> int:
        """A column with sums, or products, of groups without rows, or −1."""
        matrices = np.zeros(self.products.shape[0], bool)
        matrices[self.product_index[kept]] = True
        sums = np.asarray(self.sums.limbs[:, ~kept].any(axis=(0, 1)))
        products = self.products.limbs[:, ~matrices].any(axis=(0, 1))
        i, _ = np.triu_indices(self.d)
        sums[i[products]] = True
        return int(sums.argmax()) if sums.any() else -1

    def _beside(self, other: ExactComoments) -> tuple[ExactComoments, ExactComoments]:
        """Both with the groups of either."""
        names = ("patterns", "pattern", "code")
        if all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names):
            return self, other
        patterns, groups, mine, theirs, _ = together(self, other)
        return self._among(patterns, groups, mine), other._among(patterns, groups, theirs)

    def _among(
        self, patterns: NDArray[np.bool_], groups: NDArray[np.intp], place: NDArray[np.intp]
    ) -> ExactComoments:
        """The same sums at their places among other groups; several may go to one."""
        g, of_matrix, matrices = len(groups), place, len(groups)
        if self.pooled:
            matrices = len(patterns)
            of_matrix = np.zeros(len(self.patterns), np.intp)
            of_matrix[self.pattern] = groups[place, 0]
        return ExactComoments(
            self.k,
            self.pooled,
            patterns,
            np.ascontiguousarray(groups[:, 0]),
            np.ascontiguousarray(groups[:, 1]),
            self.weight.gathered(place, g),
            self.sums.gathered(place, g),
            self.products.gathered(of_matrix, matrices),
            gathered(self.tally, place, g),
        )

    def _keep(self, groups: NDArray[np.intp]) -> ExactComoments:
        """The chosen groups, in that order; patterns and products without a group are dropped."""
        if np.array_equal(groups, np.arange(len(self.pattern))):
            return self
        shown, pattern = np.unique(self.pattern[groups], return_inverse=True)
        return replace(
            self,
            patterns=self.patterns[shown],
            pattern=pattern.astype(np.intp).reshape(-1),
            code=self.code[groups].astype(np.intp),
            weight=self.weight.take(groups),
            sums=self.sums.take(groups),
            products=self.products.take(shown if self.pooled else groups),
            tally=self.tally[groups] if len(self.tally) == len(self.code) else UNKNOWN,
        )

    def scaled(self, factor: float) -> ExactComoments:
        """The same rows with their weights multiplied by a factor; weight 0 is absence.

        Products are exact, but for what lies 2,048 bits and more below the highest of a table:
        there Σwxxᵀ is rounded up and the others down.
        """
        scaled = replace(
            self,
            weight=self.weight.scaled(factor),
            sums=self.sums.scaled(factor),
            products=self.products.scaled(factor, up=True),
            tally=scaled_tally(self.tally, factor),
        )
        return scaled._keep(np.flatnonzero(scaled.weight.value[:, 0] > 0.0))

    def canonical(self) -> ExactComoments:
        """The statistic itself: its sums have one form."""
        return self

    def _has_sums_of(self, other: ExactComoments) -> bool:
        return all(
            getattr(self, name) == getattr(other, name) for name in ("weight", "sums", "products")
        )
