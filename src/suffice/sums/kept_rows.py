"""Rows themselves as sufficient statistics, where they are fewer numbers than their products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ForgetError
from suffice.numerics.error_free import LARGEST, add, two_sum
from suffice.numerics.exact import scaled
from suffice.numerics.memory import require_memory
from suffice.numerics.rows import is_sparse
from suffice.sums.block import BadCell, RealBlock, SparseBlock
from suffice.sums.comoments import (
    FORGOTTEN,
    Comoments,
    ComomentsAccumulator,
    Tally,
    scaled_tally,
    tallied,
)
from suffice.sums.moments import SMALLEST, TOO_LARGE

__all__ = ["LEAST_COLUMNS", "KeptRows", "RowsAccumulator"]

LEAST_COLUMNS = 384  # with fewer, exact products are solved as fast as rows
TILE_CELLS = 2**22  # cells of sparse rows that are laid out at a time, 32 MB
DIGEST = 16  # bytes that tell one row from another
NEGLIGIBLE = 2.0**-90  # of a weight: what rounding leaves of a difference
PRODUCTS = 6 * 8.0  # bytes of a product of two columns: pairs, and copies while they are added


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Rows of p columns and t targets: each once, with its weight.

    Rows say as much as any sums over them, and are fewer numbers than the p² products of their
    columns while no more than p² of their cells are stored. Adding is joining, taking away is
    striking out.

    Parameters
    ----------
    x : ndarray (m, p) or scipy.sparse.csr_array (m, p)
        Columns; NaN is a missing cell.
    y : ndarray (m, t)
        Targets.
    weight : ndarray (m, 2)
        Pair of the weight of every row.
    tally : ndarray of int (1, 3)
        How many rows there are, repeated ones too: see `suffice.sums.comoments.Tally`.
    cells : int
        How many cells of x are stored, those of repeated rows too.

    Examples
    --------
    >>> total = RowsAccumulator(400, 1)
    >>> x, y = np.ones((3, 400)), np.ones((3, 1))
    >>> total.add(RealBlock(x), RealBlock(y), np.empty(0))
    >>> rows = total.statistic()
    >>> rows.canonical().weight[:, 0], (rows - rows).is_empty
    (array([3.]), True)
    """

    x: Any
    y: NDArray[np.float64]
    weight: NDArray[np.float64]
    tally: Tally
    cells: int

    k, pooled = 1, False

    def __repr__(self) -> str:
        return f"KeptRows({self.rows:g} rows, {self.d} columns)"

    # -- what products say too

    @property
    def d(self) -> int:
        """Number of columns and targets."""
        return int(self.x.shape[1] + self.y.shape[1])

    @property
    def rows(self) -> float:
        """Σw of the rows."""
        return float(self.row_weights.sum())

    @property
    def row_weights(self) -> NDArray[np.float64]:
        """w, (m,)."""
        return np.asarray(self.weight.sum(axis=1))

    @property
    def is_empty(self) -> bool:
        """Whether there is no row."""
        return not len(self.y)

    @cached_property
    def gaps(self) -> NDArray[np.bool_]:
        """Which rows lack a cell or a target, (m,)."""
        if not is_sparse(self.x):
            lacks = np.isnan(self.x).any(axis=1)
        else:
            before = np.concatenate([[0], np.cumsum(np.isnan(self.x.data))])
            lacks = np.diff(before[self.x.indptr]) > 0
        return np.asarray(lacks | np.isnan(self.y).any(axis=1))

    @property
    def complete(self) -> bool:
        """Whether every row shows every column."""
        return not self.gaps.any()

    @property
    def patterns(self) -> NDArray[np.bool_]:
        """Which columns some row shows, (1, d)."""
        if self.complete:
            return np.ones((min(len(self.y), 1), self.d), np.bool_)
        if is_sparse(self.x):
            missing = np.bincount(self.x.indices[np.isnan(self.x.data)], minlength=self.x.shape[1])
            shown = missing < len(self.y)
        else:
            shown = ~np.isnan(self.x).all(axis=0)
        return np.concatenate([shown, ~np.isnan(self.y).all(axis=0)])[None]

    @property
    def too_small(self) -> NDArray[np.bool_]:
        """Whether the values of a column differ by too little to be squared, (d,)."""
        return np.concatenate([_tiny(self.x), _tiny(self.y)])

    def shares_left(self, rest: KeptRows) -> NDArray[np.float64]:
        """Return the share of each variance that the rest of these rows has, (1, d): all of it."""
        return np.ones((1, self.d))

    def marginal(self, columns: NDArray[np.intp]) -> KeptRows | Comoments:
        """The same rows in some of the columns, increasing; products of few columns."""
        p = self.x.shape[1]
        kept = columns[columns < p]
        x = self.x[:, kept]
        cells = int(self.tally[0, 0]) * len(kept) if not is_sparse(x) else x.nnz
        rows = replace(self, x=x, y=self.y[:, columns[columns >= p] - p], cells=cells)
        return rows._in_few_numbers()

    def chosen(self, columns: NDArray[np.intp]) -> KeptRows:
        """The same rows in few of the columns, without targets."""
        x = self.x[:, columns]
        x = x.toarray() if is_sparse(x) else x
        return replace(self, x=x, y=self.y[:, :0], cells=x.size)

    def products(self) -> Comoments:
        """The exact products of all columns.

        Raises
        ------
        DataError
            If there is no memory for them.
        """
        total = ComomentsAccumulator(*_checked(self.d))
        w = self.row_weights
        step = max(1, TILE_CELLS // max(1, self.d)) if is_sparse(self.x) else max(1, len(self.y))
        for first in range(0, max(len(self.y), 1), step):
            part = slice(first, first + step)
            x = self.x[part]
            block = RealBlock(x.toarray() if is_sparse(x) else x)
            codes = np.zeros(len(self.y[part]), np.intp)
            total.add(block, codes, w[part], 1, RealBlock(self.y[part]))
        found = total.statistic()
        return replace(found, tally=self.tally.copy()) if len(found.tally) == 1 else found

    # -- their algebra

    def __add__(self, other: KeptRows | Comoments) -> KeptRows | Comoments:
        if isinstance(other, Comoments):
            return self.products() + other
        x, y, weight = _joined([self, other])
        tally = self.tally + other.tally
        return KeptRows(x, y, weight, tally, self.cells + other.cells)._in_few_numbers()

    def __radd__(self, other: Comoments) -> Comoments:
        return other + self.products()

    def __sub__(self, other: KeptRows | Comoments) -> KeptRows:
        if isinstance(other, Comoments):
            raise ForgetError("more rows than are known are to be forgotten", FORGOTTEN)
        gone, known = other._like(self), self._like(other)
        place = {digest: i for i, digest in enumerate(known._digests)}
        weight = known.weight.copy()
        for digest, pair in zip(gone._digests, gone.weight.tolist(), strict=True):
            i = place.get(digest, -1)
            if i < 0:
                raise ForgetError("other values than are to be forgotten", FORGOTTEN)
            before = weight[i, 0]
            weight[i] = add(*two_sum(*weight[i]), *two_sum(-pair[0], -pair[1]))
            if weight[i].sum() < -NEGLIGIBLE * before:
                raise ForgetError("fewer such rows than are to be forgotten", FORGOTTEN)
            if weight[i].sum() <= NEGLIGIBLE * before:
                weight[i] = 0.0
        rest = replace(known, weight=weight, tally=known.tally - other.tally)
        return replace(rest, cells=known.cells - other.cells)._take(weight[:, 0] > 0)

    def __rsub__(self, other: Comoments) -> Comoments:
        return other - self.products()

    def scaled(self, factor: float) -> KeptRows:
        """The same rows with their weights multiplied by a factor; weight 0 is absence."""
        weight, tally = scaled(self.weight, factor), scaled_tally(self.tally, factor)
        return replace(self, weight=weight, tally=tally)._take(weight[:, 0] > 0)

    def canonical(self) -> KeptRows:
        """The same rows, each once, in an order that their values decide."""
        return self._canonical

    @cached_property
    def _canonical(self) -> KeptRows:
        digests = [_digest(self.x, self.y, i) for i in range(len(self.y))]
        order = sorted(range(len(digests)), key=digests.__getitem__)
        first, weight = list[int](), list[tuple[float, float]]()
        for i in order:
            pair = two_sum(*self.weight[i])
            if first and digests[first[-1]] == digests[i]:
                pair = add(*weight[-1], *pair)
                weight[-1] = float(pair[0]), float(pair[1])
            else:
                first.append(i)
                weight.append((float(pair[0]), float(pair[1])))
        places = np.array(first, np.intp)
        same = len(places) == len(digests) and bool((np.diff(places) == 1).all())
        x, y = (self.x, self.y) if same else (self.x[places], self.y[places])
        found = replace(self, x=x, y=y, weight=np.array(weight).reshape(-1, 2))
        found.__dict__["_digests"] = [digests[i] for i in first]
        found.__dict__["_canonical"] = found
        return found

    @cached_property
    def _digests(self) -> list[bytes]:
        return self._canonical._digests

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeptRows):
            return NotImplemented
        one, two = self._like(other), other._like(self)
        weights = one.row_weights, two.row_weights
        return one._digests == two._digests and np.array_equal(*weights)

    __hash__ = None  # type: ignore[assignment]

    def _like(self, other: KeptRows) -> KeptRows:
        """The canonical rows, compressed if the other's are."""
        if is_sparse(other.x) and not is_sparse(self.x):
            return replace(self, x=_compressed(self.x)).canonical()
        return self.canonical()

    def _take(self, rows: NDArray[np.bool_]) -> KeptRows:
        """Some rows, which stand for all that count."""
        if rows.all():
            return self
        return replace(self, x=self.x[rows], y=self.y[rows], weight=self.weight[rows])

    def _in_few_numbers(self) -> KeptRows | Comoments:
        """The rows, or their products where these are fewer numbers."""
        return self if are_fewer(self.cells, self.x.shape[1]) else self.products()


def are_fewer(cells: int, p: int) -> bool:
    """Whether so many cells of p columns are kept as they are."""
    return p >= LEAST_COLUMNS and cells <= p * p


def _checked(d: int) -> tuple[int]:
    require_memory(
        PRODUCTS * d * d,
        f"products of {d:,} columns",
        "use fewer columns, or so few rows that their cells are fewer than the products",
    )
    return (d,)


def _compressed(x: NDArray[np.float64]) -> Any:
    """Dense rows as a CSR array; cells that are 0 are not stored."""
    from scipy.sparse import csr_array

    return csr_array(x)


def _joined(parts: Sequence[KeptRows]) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    """Rows, targets and weights of all parts; compressed if those of any are."""
    xs = [part.x for part in parts]
    if any(map(is_sparse, xs)):
        from scipy.sparse import csr_array, vstack

        x: Any = csr_array(vstack([csr_array(one) for one in xs], format="csr"))
    else:
        x = np.concatenate(xs)
    return x, *(np.concatenate([getattr(part, name) for part in parts]) for name in ("y", "weight"))


def _tiny(x: Any) -> NDArray[np.bool_]:
    """Whether cells of a column differ, or are, by so little that their squares underflow."""
    if is_sparse(x):
        largest = np.zeros(x.shape[1])
        np.fmax.at(largest, x.indices, np.abs(x.data))
        return np.asarray((largest > 0) & (largest < SMALLEST))
    if not len(x):
        return np.zeros(x.shape[1], np.bool_)
    high, low = np.fmax.reduce(x), np.fmin.reduce(x)
    spread = np.where(high > low, high - low, np.abs(high))
    return np.asarray((spread > 0) & (spread < SMALLEST))


def _digest(x: Any, y: NDArray[np.float64], i: int) -> bytes:
    """What tells row i from rows of other values."""
    found = blake2b(y[i], digest_size=DIGEST)
    if is_sparse(x):
        part = slice(x.indptr[i], x.indptr[i + 1])
        found.update(x.indices[part].astype(np.int64))
        found.update(x.data[part])
    else:
        found.update(x[i])
    return found.digest()


class RowsAccumulator:
    """Builds `KeptRows` of p columns and t targets, or `Comoments` where there are too many.

    Parameters
    ----------
    p, t : int

    Attributes
    ----------
    complete : bool
        Whether every row added so far shows every column.
    """

    def __init__(self, p: int, t: int) -> None:
        self.complete = True
        self._p, self._t, self._cells = p, t, 0
        self._parts: list[KeptRows] = []
        self._products: ComomentsAccumulator | None = None
        if p < LEAST_COLUMNS:
            self._products = ComomentsAccumulator(p + t)

    def add(self, x: RealBlock | SparseBlock, y: RealBlock, weights: NDArray[np.float64]) -> None:
        """Add rows of columns and targets; rows of weight 0 are left out.

        Raises
        ------
        BadCell
            If a number is infinite or larger than 1e150.
        """
        if self._products is None:
            cells = len(x.data) if isinstance(x, SparseBlock) else x.values.size
            if are_fewer(self._cells + cells, self._p):
                self._cells += cells
                self._keep(x, y, weights)
                return
            self._products = ComomentsAccumulator(*_checked(self._p + self._t))
            for part in self._parts:
                self._add_products(part.x, RealBlock(part.y), part.row_weights, 0)
            self._parts.clear()
        if isinstance(x, RealBlock):
            self._sum(x, y, weights, 0)
        else:
            self._add_products(_csr(x, self._p), y, weights, 0)
        self.complete = self.complete and self._products.complete

    def _add_products(self, x: Any, y: RealBlock, weights: NDArray[np.float64], start: int) -> None:
        step = max(1, TILE_CELLS // max(1, self._p)) if is_sparse(x) else max(1, x.shape[0])
        for first in range(0, x.shape[0], step):
            part = slice(first, first + step)
            rows = x[part].toarray() if is_sparse(x) else x[part]
            self._sum(RealBlock(rows), y.cut(first, first + step), weights[part], start + first)

    def _sum(self, x: RealBlock, y: RealBlock, weights: NDArray[np.float64], start: int) -> None:
        codes = np.zeros(len(x.values), np.intp)
        if weights.size:
            codes[weights == 0] = -1
        assert self._products is not None
        try:
            self._products.add(x, codes, weights, 1, y)
        except BadCell as bad:
            bad.row += start
            raise

    def _keep(self, x: RealBlock | SparseBlock, y: RealBlock, weights: NDArray[np.float64]) -> None:
        values: Any = _csr(x, self._p) if isinstance(x, SparseBlock) else x.values
        targets = np.asarray(y.values, np.float64)
        counted = weights > 0 if weights.size else np.ones(len(targets), np.bool_)
        counted &= _shows_any(values) | ~np.isnan(targets).all(axis=1)
        if not counted.all():
            places = np.flatnonzero(counted)
            weights = weights[counted] if weights.size else weights
            values, targets = values[counted], targets[counted]
        else:
            places = np.arange(len(targets))
        _require_size(values, places, 0)
        _require_size(targets, places, self._p)
        if not is_sparse(values):
            values = np.array(values, np.float64, order="C")
            values += 0.0  # -0.0 and 0.0 are one value
        w = weights if weights.size else np.ones(len(targets))
        pairs = np.stack([w, np.zeros(len(w))], axis=1)
        tally = tallied(np.zeros(len(w), np.intp), weights, 1)
        cells = values.nnz if is_sparse(values) else values.size
        part = KeptRows(values, targets + 0.0, pairs, tally, int(cells))
        self.complete = self.complete and part.complete
        self._parts.append(part)

    def statistic(self) -> KeptRows | Comoments:
        """Freeze what was added."""
        if self._products is not None:
            return self._products.statistic()
        if len(self._parts) == 1:
            return self._parts[0]
        nothing = KeptRows(
            np.empty((0, self._p)),
            np.empty((0, self._t)),
            np.empty((0, 2)),
            np.zeros((1, 3), np.int64),
            0,
        )
        if not self._parts:
            return nothing
        tally = np.sum([part.tally for part in self._parts], axis=0)
        return KeptRows(*_joined(self._parts), tally, sum(part.cells for part in self._parts))


def _csr(block: SparseBlock, p: int) -> Any:
    """Compressed rows as a CSR array of doubles, without stored zeros."""
    from scipy.sparse import csr_array

    whole = block.merged()
    data = np.array(whole.data, np.float64)
    x = csr_array((data, whole.indices.copy(), whole.indptr.copy()), shape=(whole.rows, p))
    x.sort_indices()
    x.eliminate_zeros()
    return x


def _shows_any(x: Any) -> NDArray[np.bool_]:
    """Which rows show a cell, (n,)."""
    if is_sparse(x):
        return np.ones(x.shape[0], np.bool_)
    shown = np.ones(len(x), np.bool_)
    doubtful = np.flatnonzero(x[:, 0] != x[:, 0])
    shown[doubtful] = (x[doubtful] == x[doubtful]).any(axis=1)
    return shown


def _require_size(values: Any, places: NDArray[np.intp], first: int) -> None:
    """Refuse numbers that are infinite, or too large to be squared."""
    cells = values.data if is_sparse(values) else values
    if not ((cells > LARGEST).any() or (cells < -LARGEST).any()):
        return
    whole = values.tocoo() if is_sparse(values) else None
    if whole is not None:
        at = int(np.flatnonzero(np.abs(whole.data) > LARGEST)[0])
        row, column, value = int(whole.row[at]), int(whole.col[at]), float(whole.data[at])
    else:
        row, column = map(int, np.argwhere(np.abs(values) > LARGEST)[0])
        value = float(values[row, column])
    rule = "a number must be finite" if np.isinf(value) else TOO_LARGE
    raise BadCell(int(places[row]), first + column, value, rule)
