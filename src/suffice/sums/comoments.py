"""Co-moments: weight, mean and scatter matrix of groups of rows, exactly.

Rows are grouped by their class and by the *pattern* of the columns they show. A row with missing
cells says nothing about the columns it lacks, but the sums of its group are all that a Gaussian
likelihood needs of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.elementary import log
from suffice.numerics.error_free import LARGEST, add, two_product, two_sum
from suffice.numerics.exact import SQUARABLE, DoubleDouble, scaled
from suffice.rules import FINITE, NONNEGATIVE, Index, Shape, rule
from suffice.sums.base import ClassSums, axis, forgotten
from suffice.sums.block import BadCell, RealBlock, require_held, short_tiles
from suffice.sums.by_class import grown
from suffice.sums.comparison import Divergences, of_gaussians
from suffice.sums.counts import distinct_patterns, distinct_rows
from suffice.sums.moments import is_scatter, noise_of_squares, scatters_left, too_large, too_small
from suffice.sums.sorted_rows import MANY_CLASSES, SortedRows

Tally = NDArray[np.int64]
"""Of every group, (g, 3): rows, rows whose weight is no whole number, and Σ log w in units.

Of sums of which these are not known, (0, 3).
"""

LOG_UNIT = 2.0**-32
"""Whole numbers of it add up to the same in any order, to 1e-10 of a row."""

UNKNOWN: Tally = np.empty((0, 3), np.int64)


def tallied(group: Ints, weights: Floats, groups: int) -> Tally:
    """The tally of rows of the groups (n,), of which -1 is none, with weights (n,) or (0,).

    Examples
    --------
    >>> tallied(np.array([0, 1, 0]), np.array([1.0, 2.5, 2.0]), 2)[:, :2]
    array([[2, 0],
           [1, 1]])
    """
    found = np.zeros((groups, 3), np.int64)
    known = group >= 0
    if not len(weights):
        found[:, 0] = np.bincount(group[known], minlength=groups)
        return found
    known &= weights > 0
    group, weights = group[known], weights[known]
    logs = np.rint(log(weights) / LOG_UNIT).astype(np.int64)
    parts = np.ones_like(logs), (weights != np.rint(weights)).astype(np.int64), logs
    np.add.at(found, group, np.stack(parts, axis=1))
    return found


def gathered(tally: Tally, place: Ints, groups: int) -> Tally:
    """Put tallies at their places among other groups; several may go to one."""
    if len(tally) != len(place):
        return UNKNOWN
    found = np.zeros((groups, 3), np.int64)
    np.add.at(found, place, tally)
    return found


def scaled_tally(tally: Tally, factor: float) -> Tally:
    """The tally of rows whose weights are multiplied: as many rows, of other logarithms."""
    found = tally.copy()
    if factor > 0:
        found[:, 2] += found[:, 0] * np.int64(round(float(log(np.float64(factor))) / LOG_UNIT))
    return found


CENTRED = 4_096  # groups whose pivots are moved in one call: one looks at all others of it
CELLS = 1 << 18  # of products added at a time


OfGroups = tuple[Floats, Floats, Floats, Ints, Floats]
"""Weight, pivot and sums of groups, the index of their products, and these."""


def no_sums(d: int, product_index: Ints) -> OfGroups:
    """Return the sums of groups without rows, of d columns."""
    g, m = len(product_index), int(product_index.max(initial=-1)) + 1
    return (
        np.zeros((g, 2)),
        np.zeros((g, d)),
        np.zeros((g, 2, d)),
        product_index,
        np.zeros((m, 2, d, d)),
    )


@dataclass(frozen=True, eq=False, repr=False)
class Comoments(ClassSums):
    """Exact sums of d columns over k classes (``src/native/sums/comoments.hpp``).

    There are g groups of rows that share a class and a pattern, in the order of their patterns,
    then of their classes. Their products are kept for each group, or pooled: for each pattern.

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
    weight : ndarray (g, 2)
        Pair of Σw.
    pivot : ndarray (g, d)
        p, near the values of the group; 0 for a column that it does not show.
    sums : ndarray (g, 2, d)
        Pairs of Σw(x − p).
    product_index : ndarray of int (g,)
        Which products are the group's; −1 where they are 0, as those of a single row are.
    products : ndarray (m, 2, d, d)
        Upper triangles of the pairs of Σw(x − p)(x − p)ᵀ.
    tally : ndarray of int (g, 3), or (0, 3)
        How many rows there are, if it is known: see `suffice.sums.comoments`.

    Examples
    --------
    >>> total = ComomentsAccumulator(2)
    >>> rows = RealBlock(np.array([[1e9 + 1, 1.0], [1e9 + 2, 3.0], [1e9 + 3, 5.0]]))
    >>> total.add(rows, np.zeros(3, np.intp), np.empty(0), 1)
    >>> total.statistic().scatter.value
    array([[[2., 4.],
            [4., 8.]]])
    """

    k: Annotated[int, NONNEGATIVE]
    pooled: bool
    patterns: Annotated[Bools, Shape("p", "d")]
    pattern: Annotated[Ints, Shape("g"), Index("p")]
    code: Annotated[Ints, Shape("g"), Index("k")]
    weight: Annotated[Floats, Shape("g", 2), SQUARABLE]
    pivot: Annotated[Floats, Shape("g", "d"), SQUARABLE]
    sums: Annotated[Floats, Shape("g", 2, "d"), FINITE]
    product_index: Annotated[Ints, Shape("g"), Index("m", or_none=True)]
    products: Annotated[Floats, Shape("m", 2, "d", "d"), FINITE]
    tally: Annotated[NDArray[np.int64], Shape("q", 3)] = field(default_factory=UNKNOWN.copy)

    @rule("groups come in the order of their patterns, then of their classes")
    def _is_ordered(self) -> bool:
        step, later = np.diff(self.pattern), np.diff(self.code) > 0
        return bool(((step > 0) | ((step == 0) & later)).all())

    @rule("patterns are distinct, sorted, and each that of a group")
    def _has_patterns(self) -> bool:
        rows = [shown.tobytes() for shown in self.patterns]
        each = np.array_equal(np.unique(self.pattern), np.arange(len(rows)))
        return each and sorted(set(rows)) == rows

    @rule("weights are normal pairs above 0")
    def _has_weights(self) -> bool:
        total = self.weight.sum(axis=1)
        return bool((total == self.weight[:, 0]).all() and (total > 0).all())

    @rule("products are those of groups: of each its own or, pooled, of each pattern")
    def _has_homes(self) -> bool:
        index = self.product_index
        owner = self.pattern if self.pooled else np.arange(len(index))
        pairs = np.unique(np.stack([index, owner], axis=1)[index >= 0], axis=0)
        every = np.arange(len(self.products))
        return np.array_equal(pairs[:, 0], every) and len(np.unique(pairs[:, 1])) == len(every)

    @rule("there are sums of the columns that a group shows, and 0 in the place of others")
    def _has_sums(self) -> bool:
        stored, hidden = self.product_index >= 0, ~self.patterns[self.pattern]
        of_matrix = np.zeros((len(self.products), self.d), bool)
        of_matrix[self.product_index[stored]] = hidden[stored]
        rows, columns = (self.products.transpose(0, *axes, 1) for axes in ((2, 3), (3, 2)))
        sums = self.pivot[hidden], self.sums.transpose(0, 2, 1)[hidden]
        return not any(part.any() for part in (*sums, rows[of_matrix], columns[of_matrix]))

    @rule("means can be squared, and products are those of numbers, but for rounding")
    def _has_scatter(self) -> bool:
        stored, sums = self.product_index >= 0, self.sums.sum(axis=1)
        weight = self.weight.sum(axis=1)[:, None]
        mean = sums / weight
        between, noise = np.zeros((2, len(self.products), self.d))
        np.add.at(between, self.product_index[stored], (mean * sums)[stored])
        np.add.at(
            noise, self.product_index[stored], noise_of_squares(weight, self.pivot, mean)[stored]
        )
        squares = np.einsum("mpjj->mj", self.products)
        root = np.sqrt(np.maximum(squares, 0.0) + noise)
        most = 2.0 * root[:, :, None] * root[:, None, :]  # once, by Cauchy and Schwarz
        within = (np.abs(self.products.sum(axis=1)) <= most).all()
        return bool(within) and is_scatter(mean, between, squares, noise)

    @classmethod
    def empty(cls, k: int, d: int, pooled: bool = False) -> Self:
        none = np.zeros(0, np.intp)
        return cls(k, pooled, np.zeros((0, d), bool), none, none, *no_sums(d, none))

    d = axis("d")

    @property
    def rows(self) -> float:
        return float(self.group_weight.value.sum())

    @property
    def is_empty(self) -> bool:
        return not len(self.code)

    @property
    def complete(self) -> bool:
        return bool(self.patterns.all())

    @property
    def class_weight(self) -> Floats:
        return np.bincount(self.code, self.group_weight.value, self.k).astype(np.float64)

    @property
    def together(self) -> Comoments:
        return self if self.pooled else replace(self, pooled=True)._of_groups_again()

    @cached_property
    def total(self) -> Floats:
        total = np.zeros((self.k, self.d))
        weight = self.group_weight.value[:, None] * self.patterns[self.pattern]
        np.add.at(total, self.code, weight)
        return total

    @cached_property
    def one_class(self) -> Comoments:
        return replace(self, k=1, code=np.zeros_like(self.code))._of_groups_again()

    @property
    def columns(self) -> Comoments:
        return self

    @property
    def group_weight(self) -> DoubleDouble:
        """Σw of every group, (g,)."""
        return DoubleDouble(self.weight[:, 0], self.weight[:, 1])

    @cached_property
    def mean(self) -> DoubleDouble:
        """x̄ = (pW + Σw(x − p))/W of every group, (g, d); 0 where a column is not shown."""
        out = np.empty((2, *self.pivot.shape))
        kernels.comoments.mean(self.weight, self.pivot, self.sums, out)
        return DoubleDouble(*out)

    @cached_property
    def scatter(self) -> DoubleDouble:
        """Σw(x − x̄)(x − x̄)ᵀ of all groups with one product index, (m, d, d)."""
        out = np.empty_like(self.products)
        kernels.comoments.scatter(self.weight, self.sums, self.product_index, self.products, out)
        return DoubleDouble(out[:, 0], out[:, 1])

    def scatter_of(self, index: Ints) -> DoubleDouble:
        """Scatter of some product indices, (·, d, d); 0 of those that are −1."""
        if not len(self.products):
            return DoubleDouble.zeros((len(index), self.d, self.d))
        found = self.scatter[np.maximum(index, 0)]
        found.hi[index < 0] = found.lo[index < 0] = 0.0
        return found

    @property
    def too_small(self) -> Bools:
        if not len(self.code):
            return np.zeros(self.d, bool)
        shown = self.patterns[self.pattern]
        weight = self.weight.sum(axis=1)[:, None] * shown
        near = np.take_along_axis(self.pivot, shown.argmax(axis=0)[None], axis=0)[0]
        moved = np.where(shown, self.pivot - near, 0.0)
        sums = np.abs(self.sums.sum(axis=1)) + weight * np.abs(moved)
        squares = np.einsum("mijj->j", self.products) + (weight * moved**2).sum(axis=0)
        return too_small(weight.sum(axis=0), near, sums.sum(axis=0), squares)

    def sums_of(self, columns: Ints) -> tuple[DoubleDouble, DoubleDouble]:
        """Σw of the rows that show all these columns, and Σwx of these."""
        shown = np.asarray(self.patterns[:, columns].all(axis=1))[self.pattern]
        group_weight = self.group_weight[shown]
        sums = (group_weight[:, None] * self.mean[:, columns][shown]).sum(axis=0)
        return group_weight.sum(axis=0), sums

    def marginal(self, columns: Ints) -> Comoments:
        """Return the sums of some columns, increasing; rows that show none are dropped."""
        cut = replace(
            self,
            patterns=self.patterns[:, columns],
            pivot=self.pivot.take(columns, axis=1),
            sums=self.sums.take(columns, axis=2),
            products=self.products.take(columns, axis=2).take(columns, axis=3),
        )
        return cut._keep(np.flatnonzero(cut.patterns[cut.pattern].any(axis=1)))._of_groups_again()

    def mapped(self, terms: Any, constant: Floats) -> Comoments:
        from scipy.sparse import block_diag, csr_array, eye_array

        rest = self.d - terms.shape[1]
        whole = csr_array(block_diag([terms, eye_array(rest)], format="csr"))
        stored = csr_array((np.ones(whole.nnz), whole.indices, whole.indptr), whole.shape)
        patterns = (stored @ ~self.patterns.T == 0).T
        pivot = (whole @ self.pivot.T).T + np.append(constant, np.zeros(rest))
        upper = np.triu(self.products)
        products = upper + np.triu(self.products, 1).swapaxes(-1, -2)
        products = _combined(whole, _combined(whole, products).swapaxes(-1, -2))
        found = replace(
            self,
            patterns=patterns,
            pivot=np.where(patterns[self.pattern], pivot, 0.0),
            sums=_combined(whole, self.sums),
            products=np.triu(products),
        )
        return found._of_groups_again()

    def place(self, index: Ints, k: int) -> Comoments:
        placed = replace(self, k=k, code=np.asarray(index, np.intp)[self.code])
        return placed if (np.diff(index) > 0).all() else placed._sorted()

    def take(self, index: Ints) -> Comoments:
        """Keep the classes at ``index``, in that order; of pooled ones, all that have rows."""
        every = np.array_equal(index, np.arange(len(index)))
        if every and len(index) > self.code.max(initial=-1):
            return replace(self, k=len(index))
        position = np.full(self.k, -1)
        position[index] = np.arange(len(index))
        return replace(self, k=len(index), code=position[self.code])._sorted()

    def _sorted(self) -> Comoments:
        """Put the groups in order and drop those of no class."""
        order = np.lexsort((self.code, self.pattern))
        return self._keep(order[self.code[order] >= 0])

    def divergences(self, other: Comoments) -> Divergences:
        """Return how far the columns of every class are from another table's, as Gaussians, (k, d).

        Each column on its own; pooled, the classes share its variance.
        """
        pairs = ((self._alone(j), other._alone(j)) for j in range(self.d))
        return Divergences.side_by_side(
            [
                of_gaussians((n, m), (mine, theirs), (mean_a - mean_b).value)
                for (n, mine, mean_a), (m, theirs, mean_b) in pairs
            ]
        )

    def _alone(self, j: int) -> tuple[Floats, Floats, DoubleDouble]:
        """Weight, variance and mean (k,) of one column in the rows that show it."""
        rows = self.marginal(np.array([j]))
        weight, mean = rows.total[:, 0], rows.mean[:, 0].scatter(rows.code, (self.k,))
        scatter = rows.scatter_of(rows.product_index).value[:, 0, 0]
        variance, divisor = np.zeros(self.k), weight.sum() if self.pooled else weight[rows.code]
        variance[rows.code] = scatter / divisor
        return weight, variance, mean

    def _of_groups_again(self) -> Comoments:
        return Comoments.empty(self.k, self.d, self.pooled)._merge(self, 1.0)

    def __add__(self, other: Comoments) -> Comoments:
        return self._merge(other, 1.0) if isinstance(other, Comoments) else NotImplemented

    def __sub__(self, other: Comoments) -> Comoments:
        return self._merge(other, -1.0) if isinstance(other, Comoments) else NotImplemented

    def scaled(self, factor: float) -> Comoments:
        weight, sums = scaled(self.weight, factor), scaled(self.sums, factor)
        products = scaled(self.products, factor)
        tally = scaled_tally(self.tally, factor)
        return replace(self, weight=weight, sums=sums, products=products, tally=tally)._shown()

    def shares_left(self, rest: Comoments) -> Floats:
        if not rest.complete:
            return super().shares_left(rest)
        many, few = self.one_class, rest.one_class
        if not (many.complete and len(many.scatter.hi) and len(few.scatter.hi)):
            return super().shares_left(rest)
        scatters = [np.diagonal(s.scatter.hi, axis1=1, axis2=2) for s in (many, few)]
        return scatters_left((scatters[0], scatters[1]), few.total, few.mean.hi)

    def canonical(self) -> Comoments:
        """Return the sums about pivots that means and scatters decide, and no single row."""
        names = ("weight", "pivot", "sums", "product_index", "products")
        out = {name: getattr(self, name).copy() for name in names}
        index, g = out["product_index"], len(self.code)
        step = g if self.pooled else CENTRED
        for first in range(0, g, max(1, step)):
            some = slice(first, first + step)
            own = index[some][index[some] >= 0]  # which follow each other
            a, b = (own[0], own[-1] + 1) if len(own) else (0, 0)
            here = np.where(index[some] >= 0, index[some] - a, -1)
            weight, pivot, sums = (out[name][some] for name in names[:3])
            kernels.comoments.recentre(weight, pivot, sums, here, out["products"][a:b])
        return replace(self, **out)._shown()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comoments):
            return NotImplemented
        names = ("patterns", "pattern", "code")
        return (
            (self.k, self.pooled) == (other.k, other.pooled)
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)
            and np.array_equal(self.weight.sum(axis=1), other.weight.sum(axis=1))
            and self.mean == other.mean
            and np.array_equal(self._rounded, other._rounded)
        )

    @property
    def _rounded(self) -> Floats:
        """The scatter of every group, without bits that are noise on the scale of its columns."""
        scale = np.sqrt(np.diagonal(self.scatter.value, axis1=1, axis2=2))
        rounded = self.scatter.settled(scale[:, :, None] * scale[:, None, :])
        return np.concatenate([rounded, np.zeros((1, self.d, self.d))])[self.product_index]

    def _shown(self) -> Comoments:
        shown = self.weight[:, 0] > 0.0
        if len(shown) and shown.all() and self.products.any(axis=(1, 2, 3)).all():
            return self
        return self._keep(np.flatnonzero(shown))

    def _keep(self, groups: Ints) -> Comoments:
        """The chosen groups, in that order; patterns and products without a group are dropped."""
        shown, pattern = np.unique(self.pattern[groups], return_inverse=True)
        product_index = self.product_index[groups]
        used, first = np.unique(product_index[product_index >= 0], return_index=True)
        used = used[np.argsort(first)]  # in the order of the groups
        used = used[[self.products[place].any() for place in used.tolist()]]
        number = np.full(len(self.products) + 1, -1)
        number[used] = np.arange(len(used))
        return replace(
            self,
            patterns=self.patterns[shown],
            pattern=pattern.astype(np.intp),
            code=self.code[groups].astype(np.intp),
            weight=self.weight[groups],
            pivot=self.pivot[groups],
            sums=self.sums[groups],
            product_index=number[product_index],
            products=self.products[used],
            tally=self.tally[groups] if len(self.tally) == len(self.code) else UNKNOWN,
        )

    def _merge(self, other: Comoments, sign: float) -> Comoments:
        """Add or take away; groups of the other that stand for one group here are added to it."""
        patterns, keys, product_index, mine, theirs = _aligned(self, other)
        state = weight, pivot, sums, _, products = no_sums(self.d, product_index)
        weight[mine], pivot[mine], sums[mine] = self.weight, self.pivot, self.sums
        products[_moved(self, product_index[mine])] = self.products
        before = np.diagonal(products[:, 0], axis1=1, axis2=2).copy()
        _add_products(products, other.products, _moved(other, product_index[theirs]), sign)
        kernel = kernels.comoments
        others = other.weight, other.pivot, other.sums, theirs
        group = kernel.merge(*state, *others, sign)
        if group >= 0:
            raise forgotten("fewer rows with these cells missing than are to be forgotten")
        if sign < 0:
            column = kernel.settle(*state, before)
            if column >= 0:
                raise forgotten("other values than are to be forgotten", column)
            kernel.recentre(*state)
        own, new = gathered(self.tally, mine, len(keys)), gathered(other.tally, theirs, len(keys))
        tally = own + int(sign) * new if len(own) == len(new) else UNKNOWN
        pattern, code = keys.T
        return Comoments(self.k, self.pooled, patterns, pattern, code, *state, tally)._shown()


def _aligned(one: Comoments, other: Comoments) -> tuple[NDArray[Any], ...]:
    """Return the groups of both, each once, in their order.

    Patterns, pairs (g, 2) of pattern and class, their product indices, and where the groups of
    each table stand among them.
    """
    names = ("patterns", "pattern", "code", "product_index")
    if all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names) and (
        one.product_index.min(initial=0) >= 0
    ):
        keys, every = np.stack([one.pattern, one.code], axis=1), np.arange(len(one.pattern))
        return one.patterns, keys, one.product_index, every, every
    patterns, number = distinct_patterns(np.concatenate([one.patterns, other.patterns]))
    pattern = np.append(one.pattern, len(one.patterns) + other.pattern)
    code = np.append(one.code, other.code)
    keys, places = distinct_rows(np.stack([number[pattern], code], axis=1))
    mine, theirs = np.split(places, [len(one.pattern)])
    several = np.bincount(places, minlength=len(keys)) > 1  # rows of one, or products of before
    several[mine[one.product_index >= 0]] = several[theirs[other.product_index >= 0]] = True
    return patterns, keys, indexed_products(one.pooled, keys, several), mine, theirs


def _add_products(sums: Floats, others: Floats, at: Ints, sign: float) -> None:
    """Add matrices of pairs (m, 2, d, d) to those at an index; several may go to one."""
    d = max(1, sums.shape[-1])
    step = max(1, CELLS // d)  # Ctrl-C is heard in between
    many = max(1, CELLS // d**2) if len(np.unique(at)) == len(at) else 1
    for first in range(0, len(at), many):
        some = at[first : first + many]
        for rows in (slice(row, row + step) for row in range(0, d, step)):
            mine, more = sums[some, :, rows], sign * others[first : first + many, :, rows]
            added = two_sum(more[:, 0], more[:, 1])
            sums[some, :, rows] = np.stack(add(*two_sum(mine[:, 0], mine[:, 1]), *added), axis=1)


def _combined(terms: Any, pairs: Floats) -> Floats:
    """Return pairs (·, 2, ..., p) of the combinations T z of columns z, of pairs (·, 2, ..., q)."""
    found = np.zeros((*pairs.shape[:-1], terms.shape[0]))
    for i, (first, last) in enumerate(pairwise(terms.indptr)):
        signed = pairs[..., terms.indices[first:last]] * terms.data[first:last]
        if last - first == 1:
            found[..., i] = signed[..., 0]
        elif last > first:
            total = DoubleDouble(*two_sum(signed[:, 0], signed[:, 1])).sum(axis=-1)
            found[:, 0, ..., i], found[:, 1, ..., i] = total.hi, total.lo
    return found


def _moved(of: Comoments, product_index: Ints) -> Ints:
    """Map the products of a statistic to the new product indices of its groups."""
    index = np.zeros(len(of.products), np.intp)
    index[of.product_index[of.product_index >= 0]] = product_index[of.product_index >= 0]
    return index


def indexed_products(pooled: bool, groups: Ints, several: Bools) -> Ints:
    """Index the products of the groups (g, 2) that need some or share them with one that does."""
    owner = groups[:, 0] if pooled else np.arange(len(groups))
    owners = np.unique(owner[several])
    return np.where(np.isin(owner, owners), np.searchsorted(owners, owner), -1)


# Products that one call of a kernel adds, in about a tenth of a second: Ctrl-C is heard in between.
PRODUCTS = 2**29
LEAST_ROWS = 4_096  # of a call: what it adds to pairs at its end takes as long as a thousand rows


class ComomentsAccumulator:
    """Builds `Comoments` of d columns; rows may come as any real dtype in any memory order.

    Parameters
    ----------
    d : int
        Number of columns.
    pooled : bool
        Keep one matrix of products for all classes.

    Attributes
    ----------
    complete : bool
        Whether every row added so far shows every column.
    """

    def __init__(self, d: int, pooled: bool = False) -> None:
        self.complete = True
        self._d, self._pooled, self._k = d, pooled, 0
        self._tally = np.zeros((1, 3), np.int64)  # of the complete rows of every class
        self._state = no_sums(d, np.zeros(1, np.intp))  # of the same
        self._others: Comoments | None = None  # rows that lack columns
        self._waiting: SortedRows | None = None  # complete rows of many classes

    def add(
        self,
        block: RealBlock,
        codes: Ints,
        weights: Floats,
        k: int,
        beside: RealBlock | None = None,
    ) -> None:
        """Add the rows of a block, and of one beside it, whose columns come after."""
        if k > len(self._tally):
            self._grow(k)
        self._k = max(self._k, k)
        most = max(LEAST_ROWS, PRODUCTS // max(1, self._d**2))
        for start, x in short_tiles(block.values, most):
            rows = slice(start, start + len(x))
            y = x[:, :0] if beside is None else beside.values[rows]
            require_held(y, start, left=x.shape[1])
            y = np.ascontiguousarray(y, np.float64)
            done = self._add(x, y, codes[rows], weights[rows])
            if done < len(x):
                rest = slice(start + done, start + len(x))
                z = np.concatenate([x[done:], y[done:]], axis=1)
                self._separate(z, codes[rest], weights[rest], rest.start)

    def statistic(self) -> Comoments:
        if self._waiting is not None:
            self._add_sorted(self._waiting)
        every, code = np.ones((1, self._d), bool), np.arange(len(self._tally))
        weight, pivot, sums, home, products = self._state
        own = weight.copy(), pivot.copy(), sums.copy(), home, products.copy(), self._tally.copy()
        rows = Comoments(self._k, self._pooled, every, np.zeros_like(code), code, *own)._shown()
        return rows if self._others is None else rows + replace(self._others, k=self._k)

    def _grow(self, k: int) -> None:
        """Make room for k classes."""
        weight, pivot, sums, _, products = self._state
        home = np.zeros(k, np.intp) if self._pooled else np.arange(k)
        products = products if self._pooled else grown(products, k)
        self._state = grown(weight, k), grown(pivot, k), grown(sums, k), home, products
        self._tally = grown(self._tally, k)

    def _add(self, x: Floats, y: Floats, codes: Ints, weights: Floats) -> int:
        """Add complete rows; return how many came before one that is not, or is too large."""
        if len(self._tally) >= MANY_CLASSES:
            z = np.concatenate([x, y], axis=1)
            usable = np.abs(z) <= LARGEST
            if not usable.all() and not usable[codes >= 0].all():
                return 0
            waiting = self._waiting = self._waiting or SortedRows()
            waiting.put(z, codes, weights)
            if waiting.is_full:
                self._add_sorted(waiting)
            return len(x)
        stopped = kernels.comoments.add_rows(x, y, codes, weights, *self._state)
        done = len(x) if stopped < 0 else int(stopped)
        self._tally += tallied(codes[:done], weights[:done], len(self._tally))
        return done

    def _add_sorted(self, waiting: SortedRows) -> None:
        *of_classes, home, products = self._state
        by_class = of_classes if self._pooled else (*of_classes, products)
        for (classes, x, codes, weights), own in waiting.pieces(*by_class):
            weight, pivot, sums, *its = own
            state = weight, pivot, sums, home[: len(classes)], products if self._pooled else its[0]
            kernels.comoments.add_rows(x, x[:, :0], codes, weights, *state)
            self._tally[classes] += tallied(codes, weights, len(classes))

    def _separate(self, x: Floats, codes: Ints, weights: Floats, first: int) -> None:
        """Add complete rows as such, and the others to the groups of their patterns."""
        if (np.abs(x[codes >= 0]) > LARGEST).any():
            raise too_large(np.where(codes[:, None] >= 0, x, 0.0), 0, first)
        shown = ~np.isnan(x)
        complete = np.asarray(shown.all(axis=1))
        self.complete = self.complete and bool(complete[codes >= 0].all())
        of_complete = weights[complete] if len(weights) else weights
        self._add(x[complete], np.empty((complete.sum(), 0)), codes[complete], of_complete)
        rest = np.flatnonzero(~complete & shown.any(axis=1) & (codes >= 0))
        if not len(rest):
            return
        patterns, pattern = distinct_patterns(shown[rest])
        groups, group = distinct_rows(np.stack([pattern, codes[rest]], axis=1))
        of_rest = weights[rest] if len(weights) else weights
        several, k = np.bincount(group) > 1, len(self._tally)
        state = no_sums(self._d, indexed_products(self._pooled, groups, several))
        kernels.comoments.add_scattered_rows(x[rest], group, of_rest, *state)
        tally = tallied(group, of_rest, len(groups))
        part = Comoments(k, self._pooled, patterns, groups[:, 0], groups[:, 1], *state, tally)
        others = self._others
        self._others = part._shown() if others is None else replace(others, k=k) + part._shown()


# -- squares of the columns beside them

SQUARED_ROWS = 4_096  # rows squared at a time
LARGEST_ROOT = 1e75
TOO_LARGE = "a number must be below 1e75, or its fourth power overflows"


@dataclass(frozen=True, eq=False, repr=False)
class FourthMoments(ClassSums):
    """Exact co-moments of d columns x and of their squares.

    Parameters
    ----------
    moments : Comoments
        Of the 3d columns x, q and r, where q + r is the pair x².

    Examples
    --------
    >>> total = FourthMomentsAccumulator(1)
    >>> rows = RealBlock(np.array([[1.0], [2.0], [3.0], [6.0]]))
    >>> total.add(rows, np.zeros(4, np.intp), np.empty(0), 1)
    >>> total.statistic().fourth(np.array([[1.0]]))  # 16 + 1 + 0 + 81
    array([98.])
    """

    moments: Comoments

    @rule("there are three columns for each, whose squares can be squared, of every class apart")
    def _has_squares(self) -> bool:
        near = np.abs(self.moments.mean.hi[:, : self.d]) <= 2 * LARGEST_ROOT
        return self.moments.d % 3 == 0 and not self.moments.pooled and bool(near.all())

    k = axis("k")

    @property
    def d(self) -> int:
        return int(self.moments.d // 3)

    @property
    def total(self) -> Floats:
        return self.moments.total[:, : self.d]

    @cached_property
    def columns(self) -> Comoments:
        return self.moments.marginal(np.arange(self.d))

    @property
    def too_small(self) -> Bools:
        return self.columns.too_small

    def mapped(self, terms: Any, constant: Floats) -> FourthMoments:
        from scipy.sparse import block_diag

        constants = np.concatenate([constant, constant, np.zeros_like(constant)])
        whole = block_diag([terms] * 3, format="csr")
        return replace(self, moments=self.moments.mapped(whole, constants))

    def fourth(self, variance: Floats) -> Floats:
        """Return Σw(Σⱼ (xⱼ − x̄ⱼ)²/σⱼ²)² over the complete rows of every class, (k,).

        (x − x̄)² = x² − 2x̄x + x̄² is linear in the columns, so its co-moments follow from theirs.
        Of their 106 bits it takes four times those of x̄/σ.

        Parameters
        ----------
        variance : ndarray (k, d)
            σ²; a column of variance 0 is left out.
        """
        m, d = self.moments, self.d
        x, q, r = (slice(i * d, (i + 1) * d) for i in range(3))
        out = np.zeros(m.k)
        complete = np.flatnonzero(m.patterns.all(axis=1))
        for g in np.flatnonzero(np.isin(m.pattern, complete) & (m.product_index >= 0)):
            scatter, c = m.scatter[m.product_index[g]], m.code[g]
            twice = m.mean[g, x] * 2.0
            crossed = (scatter[x, q] + scatter[x, r]) * twice[:, None]
            squares = scatter[q, q] + scatter[q, r] + scatter[r, q] + scatter[r, r]
            squares -= crossed + crossed.T
            squares += scatter[x, x] * twice[:, None] * twice
            precision = np.divide(1.0, variance[c], out=np.zeros(d), where=variance[c] > 0)
            n = m.group_weight.hi[g]
            mean = (np.diagonal(scatter.hi[x, x]) / n * precision).sum()
            out[c] = (precision[:, None] * squares.value * precision).sum() + n * mean**2
        return out

    def __add__(self, other: FourthMoments) -> FourthMoments:
        return super().__add__(other) if isinstance(other, FourthMoments) else NotImplemented

    def __sub__(self, other: FourthMoments) -> FourthMoments:
        return super().__sub__(other) if isinstance(other, FourthMoments) else NotImplemented

    def column_at(self, field: str, place: int) -> int | None:
        return place % self.d

    def marginal(self, columns: Ints) -> FourthMoments:
        thrice = np.concatenate([columns + i * self.d for i in range(3)])
        return FourthMoments(self.moments.marginal(thrice))

    def divergences(self, other: FourthMoments) -> Divergences:
        return self.columns.divergences(other.columns)

    def shares_left(self, rest: FourthMoments) -> Floats:
        return self.columns.shares_left(rest.columns)


class FourthMomentsAccumulator:
    """Builds `FourthMoments` of d columns."""

    def __init__(self, d: int) -> None:
        self._moments = ComomentsAccumulator(3 * d)

    @property
    def complete(self) -> bool:
        return self._moments.complete

    def add(self, block: RealBlock, codes: Ints, weights: Floats, k: int) -> None:
        for start, x in short_tiles(block.values, SQUARED_ROWS):
            rows = slice(start, start + len(x))
            large = (np.abs(x) > LARGEST_ROOT) & (codes[rows] >= 0)[:, None]
            for row, column in np.argwhere(large)[:1].tolist():
                value = float(x[row, column])
                rule = "a number must be finite" if np.isinf(value) else TOO_LARGE
                raise BadCell(start + row, column, value, rule)
            root = np.where(np.abs(x) <= LARGEST_ROOT, x, np.nan)
            both = RealBlock(np.hstack([x, *two_product(root, root)]))
            self._moments.add(both, codes[rows], weights[rows], k)

    def statistic(self) -> FourthMoments:
        return FourthMoments(self._moments.statistic())
