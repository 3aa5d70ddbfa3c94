"""Rows as a statistic, where they are fewer than their columns: products would say no more.

n rows of d columns are n d numbers; their products are d². As long as n ≤ d the rows are kept:
adding is joining, forgetting is striking out. Once there are more, they become co-moments. A file
holds no rows but what covariances are made of, their roots.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError
from suffice.numerics.error_free import LARGEST
from suffice.numerics.interruption import interruptible
from suffice.numerics.memory import require_memory
from suffice.rules import FINITE, NONNEGATIVE, Shape, rule
from suffice.sums.base import ClassSums
from suffice.sums.block import RealBlock, require_held, tiles
from suffice.sums.comoments import ComomentsAccumulator, FourthMomentsAccumulator
from suffice.sums.comparison import Divergences, of_gaussians
from suffice.sums.moments import too_large

__all__ = ["HeldRows", "HeldRowsAccumulator", "Roots"]

FORGOTTEN = "only rows that were learnt can be forgotten"
NOT_IN_FILES = "a file holds no rows, and products of so many columns were not kept"
FIT_AGAIN = "fit all rows again"
PRODUCTS = "use fewer columns, or fewer rows than columns"

Sums = Any  # Comoments or FourthMoments


@dataclass(frozen=True, eq=False, repr=False)
class Roots(ClassSums):
    """Means of k classes and roots of their scatter, one for all classes or one for each.

    ::

        S = n D Vᵀ diag(singular²) V D,    D = diag(sd)

    Parameters
    ----------
    pooled : bool
        Whether all classes have one scatter, s = 1; else s = k.
    weight : ndarray (k,)
        Σw of each class.
    mean : ndarray (k, d)
    sd : ndarray (s, d)
        Standard deviations within classes, divisor Σw.
    start : ndarray of int (s + 1,)
        Where the rows of each root begin.
    singular : ndarray (r,)
    basis : ndarray (r, d)
        V: rows that are orthogonal within a root.
    fourth : ndarray (s,)
        Σw|z|⁴ of rows z in units of sd.
    """

    pooled: bool
    weight: Annotated[NDArray[np.float64], Shape("k"), NONNEGATIVE]
    mean: Annotated[NDArray[np.float64], Shape("k", "d"), FINITE]
    sd: Annotated[NDArray[np.float64], Shape("s", "d"), NONNEGATIVE]
    start: Annotated[NDArray[np.intp], Shape("ends"), NONNEGATIVE]
    singular: Annotated[NDArray[np.float64], Shape("r"), NONNEGATIVE]
    basis: Annotated[NDArray[np.float64], Shape("r", "d"), FINITE]
    fourth: Annotated[NDArray[np.float64], Shape("s"), NONNEGATIVE]

    @rule("every scatter has a root, and roots follow each other")
    def _has_roots(self) -> bool:
        matrices = 1 if self.pooled else self.k
        ascends = bool((np.diff(self.start) >= 0).all())
        ends = len(self.start) == matrices + 1 and self.start[-1] == len(self.basis)
        return ascends and ends and len(self.sd) == matrices

    @classmethod
    def of(cls, rows: HeldRows) -> Roots:
        """Return the roots of rows by a singular value decomposition of n x d numbers."""
        weight, mean = rows.class_weight, np.zeros((rows.k, rows.d))
        centred = np.empty_like(rows.values)
        for c in np.unique(rows.code).tolist():
            own = rows.code == c
            x, w = rows.values[own], rows.weight[own, None]
            moved = x - x[0]  # so that a mean far from 0 keeps its digits
            middle = (w * moved).sum(axis=0) / weight[c]
            mean[c], centred[own] = x[0] + middle, moved - middle
        matrices = [rows.code >= 0] if rows.pooled else [rows.code == c for c in range(rows.k)]
        found = [_root(centred[own], rows.weight[own]) for own in matrices]
        sd, singular, basis, fourth = zip(*found, strict=True)
        start = np.cumsum([0, *map(len, singular)])
        both = np.concatenate(singular), np.concatenate(basis)
        return cls(rows.pooled, weight, mean, np.array(sd), start, *both, np.array(fourth))

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.weight)

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.mean.shape[1])

    @property
    def rows(self) -> float:
        """Σw of the rows."""
        return float(self.weight.sum())

    @property
    def total(self) -> NDArray[np.float64]:
        """Σw of the observed cells, (k, d)."""
        return np.repeat(self.weight[:, None], self.d, axis=1)

    @property
    def columns(self) -> Roots:
        """The means and roots themselves."""
        return self

    @property
    def code(self) -> NDArray[np.intp]:
        """The classes that have rows."""
        return np.flatnonzero(self.weight > 0)

    @property
    def one_class(self) -> Roots:
        """Refuse: the scatter of all classes together does not follow from roots alone."""
        raise self._refusal

    def matrix(self, m: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the singular values and the basis of one root."""
        own = slice(*self.start[m : m + 2])
        return self.singular[own], self.basis[own]

    def divergences(self, other: Any) -> Divergences:
        """Return how far the columns of every class are from another table's, (k, d)."""
        theirs = other.columns
        variances = [np.broadcast_to(one.sd**2, one.mean.shape) for one in (self, theirs)]
        weights = self.total, theirs.total
        return of_gaussians(weights, (variances[0], variances[1]), self.mean - theirs.mean)

    def __add__(self, other: Any) -> Any:
        if not other.total.any():
            return self
        raise self._refusal

    __radd__ = __sub__ = __rsub__ = __add__

    @property
    def _refusal(self) -> ForgetError:
        return ForgetError(NOT_IN_FILES, FIT_AGAIN)

    def scaled(self, factor: float) -> Roots:
        """Return the sums of the same rows, their weights multiplied by a factor."""
        return replace(self, weight=self.weight * factor, fourth=self.fourth * factor)

    def canonical(self) -> Roots:
        """The same: there is one form."""
        return self

    def place(self, index: NDArray[np.intp], k: int) -> Roots:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        order = np.full(k, -1)
        order[index] = np.arange(self.k)
        return self.take(order)

    def take(self, index: NDArray[np.intp]) -> Roots:
        """Keep the classes at ``index``, in that order; −1 stands for an empty one."""
        known = (index >= 0)[:, None]
        weight, mean = self.weight[index] * known[:, 0], self.mean[index] * known
        if self.pooled:
            return replace(self, weight=weight, mean=mean)
        ends = [self.start[c : c + 2] if c >= 0 else (0, 0) for c in index.tolist()]
        own = [np.arange(*both) for both in ends]
        start, rows = np.cumsum([0, *map(len, own)]), np.concatenate(own).astype(np.intp)
        singular, basis = self.singular[rows], self.basis[rows]
        sd, fourth = self.sd[index] * known, self.fourth[index] * known[:, 0]
        return Roots(False, weight, mean, sd, start, singular, basis, fourth)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Roots | HeldRows):
            return NotImplemented
        names = ("weight", "mean", "sd", "start", "singular", "basis", "fourth")
        theirs = other.columns
        return self.pooled == theirs.pooled and all(
            np.array_equal(getattr(self, name), getattr(theirs, name)) for name in names
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False, repr=False)
class HeldRows(ClassSums):
    """Distinct rows of k classes, in an order that follows from them.

    Parameters
    ----------
    k : int
    pooled : bool
        Whether their products, once there are such, are of all classes together.
    fourths : bool
        Whether there will be fourth moments.
    values : ndarray (n, d)
        Complete rows.
    code : ndarray of int (n,)
    weight : ndarray (n,)

    Examples
    --------
    >>> rows = HeldRows.of(2, True, False, np.eye(3), np.array([0, 1, 1]), np.ones(3))
    >>> (rows - rows.take(np.array([0])).place(np.array([0]), 2)).code
    array([1, 1])
    """

    k: int
    pooled: bool
    fourths: bool
    values: NDArray[np.float64]
    code: NDArray[np.intp]
    weight: NDArray[np.float64]
    keys: tuple[bytes, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls,
        k: int,
        pooled: bool,
        fourths: bool,
        values: NDArray[np.float64],
        code: NDArray[np.intp],
        weight: NDArray[np.float64],
    ) -> HeldRows:
        """Put rows in order; equal ones of a class become one, and those of no weight go."""
        first: dict[tuple[int, bytes], int] = {}
        total = np.zeros(len(values))
        values = np.ascontiguousarray(values + 0.0)  # no −0
        for i, (c, x) in enumerate(zip(code.tolist(), values, strict=True)):
            total[first.setdefault((c, x.tobytes()), i)] += weight[i]
        order = [at for _, at in sorted(first.items()) if total[at] > 0]
        keys = tuple(values[at].tobytes() for at in order)
        return cls(k, pooled, fourths, values[order], code[order], total[order], keys)

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    @property
    def rows(self) -> float:
        """Σw of the rows."""
        return float(self.weight.sum())

    @cached_property
    def class_weight(self) -> NDArray[np.float64]:
        """Σw of each class, (k,)."""
        return np.bincount(self.code, self.weight, self.k).astype(np.float64)

    @property
    def total(self) -> NDArray[np.float64]:
        """Σw of the observed cells, (k, d)."""
        return np.repeat(self.class_weight[:, None], self.d, axis=1)

    @cached_property
    def columns(self) -> Roots:
        """The means and roots of the rows."""
        return Roots.of(self)

    def canonical(self) -> HeldRows:
        """The same: there is one form in memory."""
        return self

    def in_file(self) -> Roots:
        """The form that a file has: means and roots, no rows."""
        return self.columns

    @property
    def one_class(self) -> HeldRows:
        """The rows as if they were of one class."""
        return self._with(self.values, np.zeros_like(self.code), self.weight, 1)

    def _with(
        self,
        values: NDArray[np.float64],
        code: NDArray[np.intp],
        weight: NDArray[np.float64],
        k: int,
    ) -> HeldRows:
        return HeldRows.of(k, self.pooled, self.fourths, values, code, weight)

    def as_sums(self) -> Sums:
        """The co-moments of the rows."""
        total = products_of(self.d, self.pooled, self.fourths, self.k)
        total.add(RealBlock(self.values), self.code, self.weight, self.k)
        return total.statistic()

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Roots):
            return other + self
        if not isinstance(other, HeldRows):
            return self.as_sums() + other
        values = np.concatenate([self.values, other.values])
        code = np.concatenate([self.code, other.code])
        weight = np.concatenate([self.weight, other.weight])
        found = self._with(values, code, weight, max(self.k, other.k))
        return found if len(found.values) <= self.d else found.as_sums()

    def __radd__(self, other: Sums) -> Any:
        return other + self.as_sums()

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Roots):
            return other - self
        if not isinstance(other, HeldRows):
            return self.as_sums() - other
        mine = zip(self.code.tolist(), self.keys, strict=True)
        known = {row: at for at, row in enumerate(mine)}
        left = self.weight.copy()
        for row, gone in zip(
            zip(other.code.tolist(), other.keys, strict=True), other.weight, strict=True
        ):
            if row not in known or left[known[row]] < gone:
                raise ForgetError("other rows than are to be forgotten", FORGOTTEN)
            left[known[row]] -= gone
        return self._with(self.values, self.code, left, self.k)

    def __rsub__(self, other: Sums) -> Any:
        return other - self.as_sums()

    def scaled(self, factor: float) -> HeldRows:
        """Return the sums of the same rows, their weights multiplied by a factor."""
        return self._with(self.values, self.code, self.weight * factor, self.k)

    def divergences(self, other: Any) -> Divergences:
        """Return how far the columns of every class are from another table's, (k, d)."""
        return self.columns.divergences(other)

    def place(self, index: NDArray[np.intp], k: int) -> HeldRows:
        """Move class c to position ``index[c]`` among k classes; the other classes are empty."""
        return self._with(self.values, np.asarray(index)[self.code], self.weight, k)

    def take(self, index: NDArray[np.intp]) -> HeldRows:
        """Keep the classes at ``index``, in that order."""
        position = np.full(self.k, -1)
        position[index] = np.arange(len(index))
        code = position[self.code]
        kept = code >= 0
        return self._with(self.values[kept], code[kept], self.weight[kept], len(index))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Roots):
            return self.columns == other
        if not isinstance(other, HeldRows):
            return NotImplemented
        return (
            (self.k, self.keys) == (other.k, other.keys)
            and np.array_equal(self.code, other.code)
            and np.array_equal(self.weight, other.weight)
        )

    __hash__ = None  # type: ignore[assignment]


class HeldRowsAccumulator:
    """Builds `HeldRows` of d columns; co-moments of more rows than columns, or incomplete ones."""

    def __init__(self, d: int, pooled: bool, fourths: bool) -> None:
        self._d, self._pooled, self._fourths = d, pooled, fourths
        self._held: list[tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]] = []
        self._rows, self._k = 0, 0
        self._sums: ComomentsAccumulator | FourthMomentsAccumulator | None = None

    def add(
        self, block: RealBlock, codes: NDArray[np.intp], weights: NDArray[np.float64], k: int
    ) -> None:
        """Add the rows of a block.

        Raises
        ------
        BadCell
            If a number is infinite or larger than 1e150.
        DataError
            If products of so many columns do not fit in memory.
        """
        self._k = max(self._k, k)
        if self._sums is None:
            self._hold(block, codes, weights)
        if self._sums is not None:
            self._sums.add(block, codes, weights, k)

    def _hold(
        self, block: RealBlock, codes: NDArray[np.intp], weights: NDArray[np.float64]
    ) -> None:
        """Keep the rows, unless they are too many or incomplete: then all are added up."""
        learnt = codes >= 0
        fits = self._rows + int(learnt.sum()) <= self._d
        parts = []
        for start, x in tiles(block.values, np.float64) if fits else ():
            require_held(x, start)
            own = learnt[start : start + len(x)]
            if (np.abs(x[own]) > LARGEST).any():
                raise too_large(np.where(own[:, None], x, 0.0), 0, start)
            rows = np.flatnonzero(own) + start
            weight = weights[rows] if len(weights) else np.ones(len(rows))
            parts.append((np.array(x[own], np.float64), codes[rows], weight))
        if fits and not any(np.isnan(x).any() for x, *_ in parts):
            self._held += parts
            self._rows += sum(len(x) for x, *_ in parts)
            return
        self._sums = products_of(self._d, self._pooled, self._fourths, self._k)
        for x, code, weight in self._held:
            self._sums.add(RealBlock(x), code, weight, self._k)
        self._held.clear()

    def statistic(self) -> HeldRows | Sums:
        """Freeze what was added."""
        if self._sums is not None:
            return self._sums.statistic()
        values = np.concatenate([np.zeros((0, self._d)), *(x for x, *_ in self._held)])
        code = np.concatenate([np.zeros(0, np.intp), *(own for _, own, _ in self._held)])
        weight = np.concatenate([np.zeros(0), *(own for *_, own in self._held)])
        return HeldRows.of(self._k, self._pooled, self._fourths, values, code, weight)


def products_of(
    d: int, pooled: bool, fourths: bool, k: int
) -> ComomentsAccumulator | FourthMomentsAccumulator:
    """Return an accumulator of products, if there is memory for them.

    Raises
    ------
    DataError
        If there is not.
    """
    width, matrices = (3 * d if fourths else d), 1 if pooled and not fourths else max(k, 1)
    require_memory(3 * 16.0 * width**2 * matrices, f"products of {d:,} columns", PRODUCTS)
    return FourthMomentsAccumulator(d) if fourths else ComomentsAccumulator(d, pooled)


def _root(
    centred: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float]:
    """Return sd (d,), singular values (r,), basis (r, d) and Σw|z|⁴ of rows about their mean."""
    n, d = weight.sum(), centred.shape[1]
    if not n:
        return np.zeros(d), np.zeros(0), np.zeros((0, d)), 0.0
    sd = np.sqrt((weight[:, None] * centred**2).sum(axis=0) / n)
    z = centred / np.where(sd > 0, sd, 1.0)
    root = np.sqrt(weight / n)[:, None] * z
    _, singular, basis = interruptible(np.linalg.svd, root, full_matrices=False)
    return sd, singular, basis, float((weight * (z**2).sum(axis=1) ** 2).sum())
