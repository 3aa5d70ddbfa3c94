"""Rows themselves as sufficient statistics, where they are fewer numbers than their products.

n rows of p columns are np numbers, their products p². Until these are fewer, the rows are kept:
adding is joining, forgetting is striking out. A file holds no rows but what covariances are made
of, their roots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError
from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.error_free import LARGEST, SMALLEST
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.interruption import interruptible, one_thread_of_blas
from suffice.numerics.memory import require_memory
from suffice.numerics.rows import is_sparse
from suffice.rules import FINITE, NONNEGATIVE, Shape, rule
from suffice.sums.base import ClassSums, axis, forgotten
from suffice.sums.block import BadCell, RealBlock, SparseBlock, converted, from_row, require_held
from suffice.sums.comoments import (
    Comoments,
    ComomentsAccumulator,
    FourthMoments,
    FourthMomentsAccumulator,
    Tally,
    gathered,
    scaled_tally,
    tallied,
)
from suffice.sums.comparison import Divergences, of_gaussians
from suffice.sums.moments import TOO_LARGE
from suffice.sums.row_sample import mixed

LEAST_COLUMNS = 384  # with fewer, exact products are solved as fast as rows
LEAST_SPARSE, SPARSE_CELLS = 1_000, 2**26  # sparse rows of more columns, and cells of them
HASHED_CELLS = 2**15  # hashed at a time, in memory that is not asked of the system each time
TILE_CELLS = 2**22  # cells of sparse rows that are laid out at a time, 32 MB
DENSE = 0.25  # of the cells of a column: from there on it is laid out
CONSTANT = 2.0**-40  # of the squares of a column: what rounding leaves of its scatter
NEGLIGIBLE = 2.0**-90  # of a weight: what rounding leaves of a difference
PRODUCTS = 6 * 8.0  # bytes of a product of two columns: pairs, and copies while they are added
NOT_IN_FILES = "a file holds no rows, and products of so many columns were not kept"
FEWER = "use fewer columns, or so few rows that their cells are fewer than the products"

Products = Comoments | FourthMoments


@dataclass(frozen=True, eq=False, repr=False)
class KeptRows(ClassSums):
    """Rows of p columns and t targets, of k classes, with their weights.

    Rows say as much as any sums over them, and are fewer numbers than the p² products of their
    columns while no more than p² of their cells are stored.

    Parameters
    ----------
    x : ndarray (m, p) or scipy.sparse.csr_array (m, p)
        Columns; NaN is a missing cell.
    y : ndarray (m, t)
        Targets.
    code : ndarray of int (m,)
        Classes.
    weight : DoubleDouble (m,)
    tally : ndarray of int (k, 3)
        How many rows a class has, repeated ones too: see `suffice.sums.comoments.Tally`.
    cells : int
        How many cells of x are stored, those of repeated rows too.
    pooled : bool
        Whether their products, once there are such, are of all classes together.
    fourths : bool
        Whether there will be fourth moments.

    Examples
    --------
    >>> total = RowsAccumulator(400, 1)
    >>> x, y = np.ones((3, 400)), np.ones((3, 1))
    >>> total.add(RealBlock(x), np.zeros(3, int), np.empty(0), 1, RealBlock(y))
    >>> rows = total.statistic()
    >>> rows.canonical().weight, (rows - rows).is_empty
    (DoubleDouble(array([3.])), True)
    """

    x: Any
    y: Floats
    code: Ints
    weight: DoubleDouble
    tally: Tally
    cells: int
    pooled: bool = False
    fourths: bool = False

    # -- what products say too

    @property
    def k(self) -> int:
        return len(self.tally)

    @property
    def d(self) -> int:
        return int(self.x.shape[1] + self.y.shape[1])

    @property
    def rows(self) -> float:
        return float(self.row_weights.sum())

    @property
    def row_weights(self) -> Floats:
        """w, (m,)."""
        return self.weight.value

    @property
    def class_weight(self) -> Floats:
        """Σw of each class, (k,)."""
        return np.bincount(self.code, self.row_weights, self.k).astype(np.float64)

    @property
    def total(self) -> Floats:
        return np.repeat(self.class_weight[:, None], self.d, axis=1)

    @cached_property
    def columns(self) -> Roots:
        return Roots.of(self)

    def in_file(self) -> Roots:
        """Return what a file holds: means and roots, no rows."""
        return self.columns

    def divergences(self, other: Any) -> Divergences:
        return self.columns.divergences(other)

    @property
    def is_empty(self) -> bool:
        return not len(self.y)

    @cached_property
    def gaps(self) -> Bools:
        """Return which rows lack a cell or a target, (m,)."""
        return np.asarray(np.isnan(self.x.sum(axis=1)) | np.isnan(self.y.sum(axis=1)))

    @property
    def complete(self) -> bool:
        return not self.gaps.any()

    @property
    def patterns(self) -> Bools:
        """Return which columns some row has, (1, d)."""
        if self.complete:
            return np.ones((min(len(self.y), 1), self.d), np.bool_)
        if is_sparse(self.x):
            missing = np.bincount(self.x.indices[np.isnan(self.x.data)], minlength=self.x.shape[1])
            shown = missing < len(self.y)
        else:
            shown = ~np.isnan(self.x).all(axis=0)
        return np.concatenate([shown, ~np.isnan(self.y).all(axis=0)])[None]

    @property
    def too_small(self) -> Bools:
        return np.concatenate([_tiny(self.x), _tiny(self.y)])

    def sums_of(self, columns: Ints) -> tuple[DoubleDouble, DoubleDouble]:
        """Σw of the rows that show all these columns, and Σwx of these."""
        x, weight = self.x[:, columns], self.row_weights
        shown = ~np.isnan(x.sum(axis=1))
        totals = np.asarray(weight[shown].sum()), weight[shown] @ x[shown]
        return DoubleDouble.of(totals[0]), DoubleDouble.of(totals[1])

    def marginal(self, columns: Ints) -> KeptRows | Products:
        """Return the rows of some of the columns, increasing; products of few columns."""
        p = self.x.shape[1]
        kept = columns[columns < p]
        x = self.x[:, kept]
        cells = int(self.tally[0, 0]) * len(kept) if not is_sparse(x) else x.nnz
        rows = replace(self, x=x, y=self.y[:, columns[columns >= p] - p], cells=cells)
        return rows._in_few_numbers() if len(kept) >= LEAST_COLUMNS else rows.products()

    def mapped(self, terms: Any, constant: Floats) -> Any:
        from scipy.sparse import csr_array

        x = csr_array(self.x) @ terms.T
        if constant.any():
            x = x + csr_array(np.ones((len(self.y), 1))) @ csr_array(constant[None])
        x.eliminate_zeros()
        x.sort_indices()
        cells = x.nnz if is_sparse(self.x) else int(self.tally[:, 0].sum()) * x.shape[1]
        x = x if is_sparse(self.x) else x.toarray()
        return replace(self, x=x, cells=cells)._in_few_numbers()

    def products(self) -> Any:
        """Return the exact products of all columns, `Comoments` or `FourthMoments`."""
        total = product_sums(self.d, self.pooled, self.fourths, self.k)
        _add_to_products(total, self.x, self.y, self.code, self.row_weights, self.k)
        found = total.statistic()
        counted = self.tally[self.tally[:, 0] > 0] if self.k > 1 else self.tally
        if isinstance(found, Comoments) and len(found.tally) == len(counted):
            return replace(found, tally=counted.copy())
        return found

    # -- their algebra

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Roots):
            return other + self
        if not isinstance(other, KeptRows):
            return self.products() + other
        return _joined([self, other], self.tally + other.tally)._in_few_numbers()

    def __radd__(self, other: Any) -> Any:
        return other + self.products()

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Roots):
            return other - self
        if not isinstance(other, KeptRows):
            raise forgotten("more rows than are known are to be forgotten")
        gone, known = other.canonical(), self.canonical()
        places = {key: i for i, key in enumerate(map(bytes, known._keys))}
        at = np.array([places.get(key, -1) for key in map(bytes, gone._keys)], np.intp)
        if (at < 0).any():
            raise forgotten("other values than are to be forgotten")
        weight = known.weight - gone.weight.scatter(at, known.weight.shape)
        noise = NEGLIGIBLE * known.row_weights
        if (weight.value < -noise).any():
            raise forgotten("fewer such rows than are to be forgotten")
        tally, cells = known.tally - gone.tally, known.cells - gone.cells
        rest = replace(known, weight=weight, tally=tally, cells=cells)
        return rest._kept(weight.value > noise)

    def __rsub__(self, other: Any) -> Any:
        return other - self.products()

    def scaled(self, factor: float) -> KeptRows:
        weight, tally = self.weight.scaled(factor), scaled_tally(self.tally, factor)
        return replace(self, weight=weight, tally=tally)._kept(weight.hi > 0)

    @property
    def one_class(self) -> KeptRows:
        code, tally = np.zeros_like(self.code), self.tally.sum(axis=0)[None]
        return replace(self, code=code, tally=tally)

    @property
    def together(self) -> KeptRows:
        return replace(self, pooled=True)

    def place(self, index: Ints, k: int) -> KeptRows:
        tally = gathered(self.tally, index, k)
        return replace(self, code=np.asarray(index)[self.code], tally=tally)

    def take(self, index: Ints) -> KeptRows:
        """Keep the classes at ``index``, in that order; −1 stands for an empty one."""
        known = index >= 0
        position = np.full(self.k, -1)
        position[index[known]] = np.flatnonzero(known)
        tally = self.tally[index] * known[:, None]
        code = position[self.code]
        return replace(self, code=code, tally=tally)._kept(code >= 0)

    def canonical(self) -> KeptRows:
        return self if "keys" in vars(self) else self._canonical

    @cached_property
    def _canonical(self) -> KeptRows:
        keys = np.column_stack([_digests(self.x, self.y), self.code.astype(np.uint64)])
        order = np.argsort(keys[:, 0])
        if (np.diff(keys[order, 0]) == 0).any():
            order = np.lexsort(keys.T[::-1])
        keys, weight = keys[order], self.weight[order][:, None]
        first = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))[: len(keys)]
        place = np.cumsum(first) - 1  # equal rows are one row of their weight
        weight = DoubleDouble.by_place(first.sum(), (weight.hi, place), (weight.lo, place))[:, 0]
        order, keys = order[first], keys[first]
        x = self.x[order]  # copied, even where they are in order: they may be the caller's
        if not is_sparse(x):
            x += 0.0  # -0.0 and 0.0 are one value
        found = replace(self, x=x, y=self.y[order], code=self.code[order], weight=weight)
        vars(found)["keys"] = keys
        return found

    @property
    def _keys(self) -> NDArray[np.uint64]:
        """Digest and class of every distinct row, (m, 3)."""
        found: NDArray[np.uint64] = vars(self.canonical())["keys"]
        return found

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Roots):
            return self.columns == other
        if not isinstance(other, KeptRows):
            return NotImplemented
        one, two = self.canonical(), other.canonical()
        weights = one.row_weights, two.row_weights
        return (
            self.k == other.k and np.array_equal(one._keys, two._keys) and np.array_equal(*weights)
        )

    def _kept(self, rows: Bools) -> KeptRows:
        """Some rows, which stand for all that count."""
        if rows.all():
            return self
        x, y, code, weight = self.x[rows], self.y[rows], self.code[rows], self.weight[rows]
        return replace(self, x=x, y=y, code=code, weight=weight)

    def _in_few_numbers(self) -> KeptRows | Products:
        """The rows, or their products where these are fewer numbers."""
        return self if self.cells <= _most_cells(self.x) else self.products()


def _most_cells(x: Any) -> int:
    """Bound the cells of kept rows: as many as products, or what sparse ones take in a GB."""
    p: int = x.shape[1]
    return max(p * p, SPARSE_CELLS if is_sparse(x) and p > LEAST_SPARSE else 0)


def product_sums(
    d: int, pooled: bool, fourths: bool, k: int = 0
) -> ComomentsAccumulator | FourthMomentsAccumulator:
    """Return a builder of the products of d columns, if there is memory for them."""
    width, matrices = (3 * d if fourths else d), 1 if pooled and not fourths else max(k, 1)
    require_memory(PRODUCTS * width * width * matrices, f"products of {d:,} columns", FEWER)
    return FourthMomentsAccumulator(d) if fourths else ComomentsAccumulator(d, pooled)


def _add_to_products(
    total: ComomentsAccumulator | FourthMomentsAccumulator,
    x: Any,
    y: Floats,
    codes: Ints,
    weights: Floats,
    k: int,
) -> None:
    """Add rows (n, p) with their targets (n, t), sparse ones laid out tile by tile."""
    n, p = x.shape
    step = max(1, TILE_CELLS // max(1, p)) if is_sparse(x) else max(1, n)
    for first in range(0, max(n, 1), step):
        part = slice(first, first + step)
        rows = RealBlock(x[part].toarray() if is_sparse(x) else x[part])
        beside = (RealBlock(y[part]),) if y.shape[1] else ()
        with from_row(first):
            total.add(rows, codes[part], weights[part], k, *beside)


def _joined(parts: Sequence[KeptRows], tally: Tally) -> KeptRows:
    """The rows of all parts, compressed if those of any are."""
    parts = [part for part in parts if not part.is_empty] or parts[:1]
    if len(parts) == 1:
        return replace(parts[0], tally=tally)
    xs = [part.x for part in parts]
    if any(map(is_sparse, xs)):
        from scipy.sparse import csr_array, vstack

        x: Any = csr_array(vstack([csr_array(one) for one in xs], format="csr"))
    else:
        x = np.concatenate(xs)
    y, code = (np.concatenate([getattr(part, name) for part in parts]) for name in ("y", "code"))
    weight = DoubleDouble.concatenate(part.weight for part in parts)
    cells = sum(part.cells for part in parts)
    return replace(parts[0], x=x, y=y, code=code, weight=weight, tally=tally, cells=cells)


def _tiny(x: Any) -> Bools:
    """Return which columns differ, or are, by so little that their squares underflow."""
    if is_sparse(x):
        largest = np.zeros(x.shape[1])
        np.fmax.at(largest, x.indices, np.abs(x.data))
        return np.asarray((largest > 0) & (largest < SMALLEST))
    if not len(x):
        return np.zeros(x.shape[1], np.bool_)
    high, low = np.fmax.reduce(x), np.fmin.reduce(x)
    spread = np.where(high > low, high - low, np.abs(high))
    return np.asarray((spread > 0) & (spread < SMALLEST))


def _digests(x: Any, y: Floats) -> NDArray[np.uint64]:
    """128 bits that tell rows of different values apart, (n, 2); cells that are 0 add nothing."""
    p, cells = x.shape[1], x.nnz if is_sparse(x) else x.size
    column = mixed(np.arange(1, p + y.shape[1] + 1, dtype=np.uint64))
    found = _digests_of_cells(y, column[p:])
    step = max(1, HASHED_CELLS * len(y) // max(1, cells))
    for first in range(0, len(y), step):
        part = x[first : first + step]
        if not is_sparse(x):
            found[first : first + step] += _digests_of_cells(part, column[:p])
            continue
        for lane, hashes in enumerate(_hashes(part.data, column[part.indices])):
            own = type(x)((hashes, part.indices, part.indptr), shape=part.shape)
            found[first : first + step, lane] += own.sum(axis=1, dtype=np.uint64)
    return found


def _digests_of_cells(values: Floats, column: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return np.column_stack([lane.sum(axis=1) for lane in _hashes(values, column)])


def _hashes(
    values: Floats, column: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Two numbers of 64 bits for every cell, of it and of its column; 0 of a cell that is 0."""
    bits = np.add(values, 0.0, order="C").view(np.uint64)  # -0.0 and 0.0 are one value
    low = mixed(bits ^ column)
    low[bits == 0] = 0
    return low, low * (low >> np.uint64(32))


@dataclass(frozen=True, eq=False, repr=False)
class Roots(ClassSums):
    """Means of k classes and roots of their scatter, one for all classes or one for each.

    ::

        S = n D (diag(ground) + Vᵀ diag(±singular²) V) D,    D = diag(sd)

    Of sparse rows, columns of which no row has two cells have products that are 0: their scatter
    is diagonal but for the means of k classes, and only products with other columns are directions.

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
        Less than 0 where a direction counts against the others.
    basis : ndarray (r, d)
        V: rows that are orthogonal within a root without a ground.
    ground : ndarray (s, d)
        0 of dense rows.
    fourth : ndarray (s,)
        Σw|z|⁴ of rows z in units of sd.
    """

    pooled: bool
    weight: Annotated[Floats, Shape("k"), NONNEGATIVE]
    mean: Annotated[Floats, Shape("k", "d"), FINITE]
    sd: Annotated[Floats, Shape("s", "d"), NONNEGATIVE]
    start: Annotated[Ints, Shape("ends"), NONNEGATIVE]
    singular: Annotated[Floats, Shape("r"), FINITE]
    basis: Annotated[Floats, Shape("r", "d"), FINITE]
    ground: Annotated[Floats, Shape("s", "d"), NONNEGATIVE]
    fourth: Annotated[Floats, Shape("s"), NONNEGATIVE]

    @rule("every scatter has a root, and roots follow each other")
    def _has_roots(self) -> bool:
        matrices = 1 if self.pooled else self.k
        ascends = bool((np.diff(self.start) >= 0).all())
        ends = len(self.start) == matrices + 1 and self.start[-1] == len(self.basis)
        return ascends and ends and len(self.sd) == matrices

    @classmethod
    def of(cls, rows: KeptRows) -> Roots:
        """Return the roots of complete rows; of dense ones by a singular value decomposition."""
        rows = rows.canonical()
        if is_sparse(rows.x):
            return cls._of_sparse(rows)
        row_weight, code = rows.row_weights, rows.code
        weight, mean = rows.class_weight, np.zeros((rows.k, rows.d))
        centred = np.empty_like(rows.x)
        for c in np.unique(code).tolist():
            own = code == c
            x, w = rows.x[own], row_weight[own, None]
            moved = x - x[0]  # so that a mean far from 0 keeps its digits
            middle = (w * moved).sum(axis=0) / weight[c]
            mean[c], centred[own] = x[0] + middle, moved - middle
        matrices = [code >= 0] if rows.pooled else [code == c for c in range(rows.k)]
        found = [_root(centred[own], row_weight[own]) for own in matrices]
        sd, singular, basis, fourth = zip(*found, strict=True)
        start = np.cumsum([0, *map(len, singular)])
        both = np.concatenate(singular), np.concatenate(basis)
        ground = np.zeros((len(sd), rows.d))
        return cls(rows.pooled, weight, mean, np.array(sd), start, *both, ground, np.array(fourth))

    @classmethod
    def _of_sparse(cls, rows: KeptRows) -> Roots:
        """Return the root of sparse rows, of which all classes have one.

        No row has cells in two of some columns a; r are the q others, all dense ones among them.
        In units of their deviations, B are the means of the classes times √Σw, and E are the
        columns r of the identity:

        ::

            R = diag(ground) − B_aᵀB_a + CEᵀ + ECᵀ
            CEᵀ + ECᵀ = ½(C + E)(C + E)ᵀ − ½(C − E)(C − E)ᵀ

        The ground is Σwx² of a, and 1 of r. C (d, q) are the correlations of a with r, and half of
        those between two of r.
        """
        from scipy.sparse import csr_array

        x, w, weight, k = rows.x, rows.row_weights, rows.class_weight, rows.k
        dense = np.bincount(x.indices, minlength=rows.d) >= DENSE * len(w)
        full, few = np.flatnonzero(dense), np.flatnonzero(~dense)
        by_class = csr_array((w, (rows.code, np.arange(len(w)))), shape=(k, len(w)))
        inverse = np.divide(1.0, weight, out=np.zeros(k), where=weight > 0)[:, None]
        mean, laid_out = np.zeros((k, rows.d)), x[:, full].toarray()
        for _ in range(2):  # so that a mean far from 0 keeps its digits
            middle = inverse * (by_class @ laid_out)
            laid_out -= middle[rows.code]
            mean[:, full] += middle
        cells = x[:, few]
        mean[:, few] = inverse * (by_class @ cells).toarray()
        weighted = cells.multiply(w[:, None]).tocsr()
        gram = (cells.T @ weighted).tocsr()
        rest = np.setdiff1d(np.arange(len(few)), _disjoint(gram))
        order, r = np.append(few, full), np.append(len(few) + np.arange(len(full)), rest)
        q, diagonal = len(r), (r, np.arange(len(r)))
        require_memory(8.0 * 6 * rows.d * (k + 2 * q), f"products of {q:,} terms", FEWER)
        b = np.sqrt(weight)[:, None] * np.hstack([mean[:, few], np.zeros((k, len(full)))])
        beside, own = weighted.T @ laid_out, (laid_out.T * w) @ laid_out
        c = np.block([[beside, gram[:, rest].toarray()], [own, beside[rest].T]]) - b.T @ b[:, r]
        squares = np.append(gram.diagonal(), np.diagonal(own))
        scatter, size = squares - (b**2).sum(axis=0), squares.copy()
        size[len(few) :] += weight @ mean[:, full] ** 2
        scatter[scatter <= CONSTANT * size] = 0.0
        unit = np.divide(1.0, np.sqrt(scatter), out=np.zeros(rows.d), where=scatter > 0)
        c *= unit[:, None] * unit[r]
        c[r] *= 0.5
        e = np.zeros_like(c)
        c[diagonal], e[diagonal] = 0.0, 1.0
        b *= unit
        b[:, r] = 0.0
        of_order = np.where(unit > 0, squares * unit**2, 1.0)
        of_order[r] = 1.0
        basis = np.empty((k + 2 * q, rows.d))
        sd, ground = np.empty((1, rows.d)), np.empty((1, rows.d))
        basis[:, order] = np.concatenate([b, (c + e).T, (c - e).T])
        sd[0, order], ground[0, order] = np.sqrt(scatter / rows.rows), of_order
        singular = np.repeat([-1.0, 0.5**0.5, -(0.5**0.5)], [k, q, q])
        v = np.divide(1.0, sd[0] ** 2, out=np.zeros(rows.d), where=sd[0] > 0)
        length = laid_out**2 @ v[full]
        row = np.repeat(np.arange(len(w)), np.diff(cells.indptr))
        own_mean = mean[:, few][rows.code[row], cells.indices]
        moved = (cells.data * (cells.data - 2.0 * own_mean)) * v[few][cells.indices]
        length += np.bincount(row, moved, len(w)) + (mean[:, few] ** 2 @ v[few])[rows.code]
        start, fourth = np.array([0, len(basis)]), np.array([w @ length**2])
        return cls(True, weight, mean, sd, start, singular, basis, ground, fourth)

    k, d = axis("k"), axis("d")

    @property
    def rows(self) -> float:
        return float(self.weight.sum())

    @property
    def total(self) -> Floats:
        return np.repeat(self.weight[:, None], self.d, axis=1)

    @property
    def columns(self) -> Roots:
        return self

    @property
    def code(self) -> Ints:
        return np.flatnonzero(self.weight > 0)

    @property
    def one_class(self) -> Roots:
        """Refuse: the scatter of all classes together does not follow from roots alone."""
        raise self._refusal

    def matrix(self, m: int) -> tuple[Floats, Floats]:
        own = slice(*self.start[m : m + 2])
        return self.singular[own], self.basis[own]

    def square(self, m: int) -> float:
        """tr R² of the correlations R of one scatter."""
        singular, basis = self.matrix(m)
        ground, weight = self.ground[m] * (self.sd[m] > 0), singular * np.abs(singular)
        beside = 2.0 * weight @ (basis**2 @ ground) + ground @ ground
        return float(weight @ (basis @ basis.T) ** 2 @ weight + beside)

    def divergences(self, other: Any) -> Divergences:
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
        return ForgetError(NOT_IN_FILES, "fit all rows again")

    def scaled(self, factor: float) -> Roots:
        return replace(self, weight=self.weight * factor, fourth=self.fourth * factor)

    def canonical(self) -> Roots:
        return self

    def place(self, index: Ints, k: int) -> Roots:
        order = np.full(k, -1)
        order[index] = np.arange(self.k)
        return self.take(order)

    def take(self, index: Ints) -> Roots:
        known = (index >= 0)[:, None]
        weight, mean = self.weight[index] * known[:, 0], self.mean[index] * known
        if self.pooled:
            return replace(self, weight=weight, mean=mean)
        ends = [self.start[c : c + 2] if c >= 0 else (0, 0) for c in index.tolist()]
        own = [np.arange(*both) for both in ends]
        start, rows = np.cumsum([0, *map(len, own)]), np.concatenate(own).astype(np.intp)
        singular, basis = self.singular[rows], self.basis[rows]
        sd, fourth = self.sd[index] * known, self.fourth[index] * known[:, 0]
        ground = self.ground[index] * known
        return Roots(False, weight, mean, sd, start, singular, basis, ground, fourth)


def _disjoint(gram: Any) -> Ints:
    """Columns whose products with each other are 0, as many as are soon found, increasing."""
    free, found = np.ones(gram.shape[0], np.bool_), []
    for j in np.argsort(np.diff(gram.indptr), kind="stable").tolist():
        if free[j]:
            free[gram.indices[gram.indptr[j] : gram.indptr[j + 1]]] = False
            found.append(j)
    return np.sort(np.array(found, np.intp))


def _root(centred: Floats, weight: Floats) -> tuple[Floats, Floats, Floats, float]:
    """Return sd (d,), singular values (r,), basis (r, d) and Σw|z|⁴ of rows about their mean."""
    n, d = weight.sum(), centred.shape[1]
    if not n:
        return np.zeros(d), np.zeros(0), np.zeros((0, d)), 0.0
    sd = np.sqrt((weight[:, None] * centred**2).sum(axis=0) / n)
    z = centred / np.where(sd > 0, sd, 1.0)
    root = np.sqrt(weight / n)[:, None] * z
    with one_thread_of_blas():
        basis, across = interruptible(np.linalg.qr, root.T)
        _, singular, axes = interruptible(np.linalg.svd, across.T, full_matrices=False)
        basis = axes @ basis.T
    return sd, singular, basis, float((weight * (z**2).sum(axis=1) ** 2).sum())


# -- builders


class RowsAccumulator:
    """Builds `KeptRows` of p columns and t targets, or their products where these are fewer.

    Parameters
    ----------
    p, t : int
    pooled, fourths : bool
        See `KeptRows`.
    gaps : bool
        Whether rows with missing cells are kept.

    Attributes
    ----------
    complete : bool
        Whether every row added so far shows every column.
    """

    def __init__(
        self,
        p: int,
        t: int = 0,
        *,
        pooled: bool = False,
        fourths: bool = False,
        gaps: bool = True,
    ) -> None:
        self.complete = True
        self._p, self._t, self._pooled, self._fourths = p, t, pooled, fourths
        self._gaps, self._k, self._cells = gaps, 0, 0
        none = np.zeros(0, np.intp), DoubleDouble.zeros(0), np.zeros((0, 3), np.int64)
        empty = KeptRows(np.empty((0, p)), np.empty((0, t)), *none, 0, pooled, fourths)
        self._parts = [empty]
        self._products: ComomentsAccumulator | FourthMomentsAccumulator | None = None

    def add(
        self,
        x: RealBlock | SparseBlock,
        codes: Ints,
        weights: Floats,
        k: int,
        beside: RealBlock | None = None,
    ) -> None:
        """Add rows of columns, with the targets beside them; rows of weight 0 are left out."""
        self._k = max(self._k, k)
        y = np.empty((len(codes), 0)) if beside is None else beside.values
        if len(weights):
            codes = np.where(weights == 0, -1, codes)
        values: Any = _csr(x, self._p) if isinstance(x, SparseBlock) else converted(x.values)
        if self._products is None:
            if self._keep(values, y, codes, weights):
                return
            self._products = product_sums(self._p + self._t, self._pooled, self._fourths, self._k)
            for part in self._parts:
                kept = part.x, part.y, part.code, part.row_weights
                _add_to_products(self._products, *kept, self._k)
            self._parts.clear()
        _add_to_products(self._products, values, y, codes, weights, self._k)
        self.complete = self.complete and self._products.complete

    def _keep(self, x: Any, y: Floats, codes: Ints, weights: Floats) -> bool:
        """Keep rows; return False, and keep none, if there are too many, or gaps not allowed."""
        require_held(y, left=self._p)
        y, counted = np.asarray(y, np.float64), codes >= 0
        counted &= _shows_any(x) | _shows_any(y)
        places = np.flatnonzero(counted)
        if not counted.all():
            weights = weights[counted] if weights.size else weights
            x, y, codes = x[counted], y[counted], codes[counted]
        stored = int(x.nnz if is_sparse(x) else x.size)
        cells = self._cells + stored
        if cells > _most_cells(x):
            return False
        if cells.bit_length() > self._cells.bit_length():  # as much again while they are joined
            require_memory(16.0 * cells, f"rows of {self._p:,} columns", FEWER)
        _require_size(x, places, 0)
        _require_size(y, places, self._p)
        if not is_sparse(x):
            x = np.asarray(x, np.float64)
        weight = DoubleDouble.of(weights if weights.size else np.ones(len(y)))
        tally = tallied(codes, weights, self._k)
        of_rows = x, y + 0.0, codes.astype(np.intp), weight
        part = KeptRows(*of_rows, tally, stored, self._pooled, self._fourths)
        if not (self._gaps or part.complete):
            return False
        self._cells = cells
        self.complete = self.complete and part.complete
        self._parts.append(part)
        return True

    def statistic(self) -> KeptRows | Products:
        if self._products is not None:
            return self._products.statistic()
        tally = np.zeros((self._k, 3), np.int64)
        for part in self._parts:
            tally[: part.k] += part.tally
        found = _joined(self._parts, tally)
        self._parts = [found]  # whose pieces are no longer held
        return found


def _csr(block: SparseBlock, p: int) -> Any:
    """Compressed rows as a CSR array of doubles, without stored zeros."""
    from scipy.sparse import csr_array

    whole = block.merged()
    data = np.array(whole.data, np.float64)
    x = csr_array((data, whole.indices.copy(), whole.indptr.copy()), shape=(whole.rows, p))
    x.sort_indices()
    x.eliminate_zeros()
    return x


def _shows_any(x: Any) -> Bools:
    """Return which rows show a column; compressed ones do."""
    if is_sparse(x) or not x.shape[1]:
        return np.full(x.shape[0], is_sparse(x))
    shown = x[:, 0] == x[:, 0]
    doubtful = np.flatnonzero(~shown)
    shown[doubtful] = (x[doubtful] == x[doubtful]).any(axis=1)
    return np.asarray(shown)


def _require_size(values: Any, places: Ints, first: int) -> None:
    """Refuse numbers that are infinite, or too large to be squared."""
    cells = values.data if is_sparse(values) else values
    ends = (reduce(cells, axis=None, initial=0.0) for reduce in (np.fmin.reduce, np.fmax.reduce))
    if max(map(abs, ends)) <= LARGEST:
        return
    row, column = next(zip(*(abs(values) > LARGEST).nonzero(), strict=True))
    value = float(values[row, column])
    rule = "a number must be finite" if np.isinf(value) else TOO_LARGE
    raise BadCell(int(places[row]), first + int(column), value, rule)
