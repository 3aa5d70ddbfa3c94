"""Rows about their means, which the passes of an iterative fit sum over, and samples of them.

::

    z = (1, x − m)

Only sums know the unit s of a column; no row is divided by it. Where columns nearly depend on each
other, z = (1, W(x − m)) with W that makes them uncorrelated: sums of products of such columns have
digits of what is their own, and those of the columns have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.data.schema import Layout
from suffice.data.source import Part, each_batch
from suffice.engines.engine import Engine
from suffice.models.design.matrix import Compressed, Design
from suffice.numerics.error_free import LARGEST
from suffice.numerics.linalg import Factor
from suffice.sums.base import Statistic
from suffice.sums.batch import Batch
from suffice.sums.block import (
    BadCell,
    CodedBlock,
    IntegerBlock,
    RealBlock,
    SparseBlock,
    converted,
)
from suffice.sums.by_class import ByClass
from suffice.sums.counts import Counts
from suffice.sums.moments import Moments
from suffice.sums.vocabulary import Vocabulary

COMPLETE = "a row needs all its cells, no NaN and no infinity among them"
CONSTANT = 2.0**-40  # fraction of its mean square that rounding may leave of a constant column
TALL = 2_048  # rows that make a matrix product worth while
FEW = 2  # times as many columns as cells of a row: then its cells take less time
TILE_CELLS = 65_536  # cells laid out at a time: 512 kB, which stays in cache

S = TypeVar("S", bound=Statistic)
R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class CentredDesign:
    """Rows z of a design matrix, and the unit of each of its columns."""

    design: Design  # the F terms
    layout: Layout  # how a table is read: numbers, dense or sparse, then categories
    mean: NDArray[np.float64]  # m; 0 of sparse rows, and without an intercept, (F,)
    scale: NDArray[np.float64]  # s, standard deviations, or roots of mean squares about 0, (F,)
    complete: bool = False  # whether a fit leaves out rows with a missing cell
    whitener: Factor | None = None  # of the scatter matrix of dense rows, with W

    @classmethod
    def of(
        cls, design: Design, layout: Layout, seen: ByClass, intercept: bool, complete: bool
    ) -> CentredDesign:
        sparse = _is_sparse(layout)

        def of_categories(block: Counts) -> tuple[NDArray[np.float64], ...]:
            p = _sums_of_terms(design, seen, block, pooled=True)[0] / _rows_of_terms(
                design, seen, block
            )
            return p, p * (1.0 - p)

        mean, variance = _by_term(design, seen, _of_numbers, of_categories)
        if sparse:
            variance = np.where(variance > CONSTANT * mean**2, variance, 0.0)
        if not intercept:
            variance = variance + mean**2
        about = np.zeros_like(mean) if sparse or not intercept else mean
        return cls(design, layout, about, np.sqrt(variance), complete)

    @cached_property
    def width(self) -> int:
        return 1 + len(self.mean)

    @cached_property
    def column_scale(self) -> NDArray[np.float64]:
        """s of the columns, whitened or not, (F,)."""
        if self.whitener is None:
            return self.scale
        return np.asarray(np.linalg.norm(self.whitener.cholesky.value * self.scale, axis=1))

    @cached_property
    def is_sparse(self) -> bool:
        return _is_sparse(self.layout)

    @cached_property
    def is_of_few_cells(self) -> bool:
        """Tell if most cells of dense rows are 0, as those of indicators are."""
        cells = 1 + len(self.design.numbers) + len(self.design.categories)
        plain = self.design.is_of_cells and self.whitener is None
        return plain and FEW * cells <= self.width

    @cached_property
    def of_indicators(self) -> NDArray[np.float64]:
        """The means of indicators, (F,); 0 for numbers."""
        mean = self.mean.copy()
        mean[self.design.places(tuple(self.design.numbers))] = 0.0
        return mean

    @cached_property
    def leaves_out(self) -> bool:
        """Tell if there may be rows, or categories of rows, that a fit leaves out."""
        return self.complete or bool(self.design.categories)

    def has_sparse(self, batch: Batch) -> bool:
        """Tell if the rows of a batch are compressed; dense ones may have the same layout."""
        return self.is_sparse and isinstance(batch.blocks[0], SparseBlock)

    def whitened(self, factor: Factor, weight: float) -> CentredDesign:
        """Return the design in uncorrelated columns, given the scatter matrix and Σw."""
        return replace(self, scale=factor.independent * weight**-0.5, whitener=factor)

    def of_columns(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coefficients of z from those of (1, x − m), (m, D)."""
        factor = self.whitener
        return coefficients if factor is None else _through(coefficients, factor.cholesky.value)

    def to_columns(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coefficients of (1, x − m) from those of z, (m, D)."""
        return coefficients if self.whitener is None else _through(coefficients, self._whitening)

    @cached_property
    def _whitening(self) -> NDArray[np.float64]:
        assert self.whitener is not None
        return self.whitener.whitening.value

    def sums(self, seen: ByClass) -> NDArray[np.float64]:
        """Σ w z of every class, (k, D)."""
        weight = seen.weight.value[:, None]

        def of_numbers(block: Moments) -> tuple[NDArray[np.float64], ...]:
            return block.total, block.mean, block.mean_lo

        def of_categories(block: Counts) -> tuple[NDArray[np.float64], ...]:
            mean = _sums_of_terms(self.design, seen, block) / weight
            return np.broadcast_to(weight, mean.shape), mean, np.zeros_like(mean)

        total, mean, low = _by_term(self.design, seen, of_numbers, of_categories)
        sums = total * ((mean - self.mean) + low)
        if self.whitener is not None:
            sums = sums @ self._whitening.T
        return np.concatenate([weight, sums], axis=1)

    # -- rows

    def to_fit(self, batch: Batch) -> Batch:
        """Return the rows; those that a fit leaves out have no class, and no categories either.

        A category that only such rows show is unknown to the design.
        """
        batch = batch.complete_rows() if self.complete else batch
        if not self.design.categories:
            return batch
        out = batch.codes < 0
        if len(batch.weights):
            out |= batch.weights == 0
        if not out.any():
            return batch
        *numbers, last = batch.blocks
        coded = cast(Any, last).coded()
        known = CodedBlock(np.where(out[:, None], -1, coded.codes), coded.vocabularies)
        return replace(batch, codes=np.where(out, -1, batch.codes), blocks=(*numbers, known))

    def pieces(
        self, batch: Batch, hessian: bool, *columns: NDArray[Any]
    ) -> Iterator[tuple[Any, ...]]:
        """Yield z, some rows at a time, with the same rows of ``columns``.

        Dense pieces fit in cache, and share their memory: use one before asking for the next.
        Sparse rows come all at once.
        """
        if self.has_sparse(batch):
            block = cast(SparseBlock, batch.blocks[0])
            yield with_ones(compressed(block, len(self.mean))), *columns
            return
        height = max(TILE_CELLS // self.width, TALL if hessian else 1)
        buffer = np.ones((min(height, batch.rows), self.width))
        for first, x in self.tables(batch):
            for start in range(0, len(x), height):
                part = x[start : start + height]
                z, rows = buffer[: len(part)], slice(first + start, first + start + len(part))
                np.subtract(part, self.mean, out=z[:, 1:])
                if self.whitener is not None:
                    z[:, 1:] = z[:, 1:] @ self._whitening.T
                yield z, *map(itemgetter(rows), columns)

    def compressed(self, batch: Batch, distinct: bool) -> Iterator[tuple[slice, Compressed]]:
        """Yield some rows in compressed form: numbers about m, and indicators.

        No row has two cells in one column where they are to be ``distinct``.
        """
        if not self.has_sparse(batch):
            yield from self.design.compressed_rows(_coded(batch), self.mean)
            return
        block = cast(SparseBlock, batch.blocks[0])
        block = block.merged() if distinct else block
        yield slice(None), (block.indptr, block.indices, block.data)

    def tables(self, batch: Batch) -> Iterator[tuple[int, NDArray[Any]]]:
        """Dense rows x, not centred, with the number of the first of them."""
        if isinstance(batch.blocks[0], RealBlock) and self.design.is_of_numbers:
            return iter(((0, converted(batch.blocks[0].values)),))
        return self.design.rows(_coded(batch))

    @cached_property
    def _with_term(self) -> list[NDArray[np.bool_]]:
        """Tell, by block, of which columns missing cells have a term, (columns,)."""
        own = self.design.missing
        return [np.array([name in own for name in b.columns]) for b in self.layout.blocks]

    def refuse_incomplete(self, batch: Batch) -> None:
        """Find the cell that leaves a row without a score."""
        for b, block in enumerate(batch.blocks):
            if isinstance(block, SparseBlock) and self.is_sparse:
                for q in np.flatnonzero(~np.isfinite(block.data))[:1].tolist():
                    raise block.bad_cell(q, float(block.data[q]), COMPLETE)
                continue
            bad = block.missing & ~self._with_term[b]
            if isinstance(block, RealBlock):
                bad = bad | (np.abs(block.values) > LARGEST)
            for row, column in np.argwhere(bad)[:1].tolist():
                value = float(block.values[row, column]) if isinstance(block, RealBlock) else None
                finding = BadCell(row, column, value, COMPLETE)
                finding.block = b
                raise finding


def _through(coefficients: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (b, w M) of coefficients (b, w), (m, D)."""
    return np.concatenate([coefficients[:, :1], coefficients[:, 1:] @ matrix], axis=1)


def _coded(batch: Batch) -> Batch:
    blocks = (b.coded() if isinstance(b, IntegerBlock) else b for b in batch.blocks)
    return replace(batch, blocks=tuple(blocks))


def _is_sparse(layout: Layout) -> bool:
    return any(block.encoding == "sparse" for block in layout.blocks)


def compressed(block: SparseBlock, width: int) -> csr_array:
    """Return sparse rows as a matrix of doubles, (n, width)."""
    data = np.asarray(block.data, np.float64)
    return csr_array((data, block.indices, block.indptr), shape=(block.rows, width))


def with_ones(x: csr_array) -> csr_array:
    """Put a column of ones in front of compressed rows.

    Examples
    --------
    >>> with_ones(csr_array([[0.0, 5.0], [7.0, 0.0]])).toarray()
    array([[1., 0., 5.],
           [1., 7., 0.]])
    """
    n, cells = x.shape[0], x.nnz
    indptr = x.indptr + np.arange(n + 1, dtype=x.indptr.dtype)
    data, indices = np.ones(cells + n), np.zeros(cells + n, x.indices.dtype)
    others = np.ones(cells + n, np.bool_)
    others[indptr[:-1]] = False
    data[others], indices[others] = x.data, x.indices + 1
    return csr_array((data, indices, indptr), shape=(n, x.shape[1] + 1))


def _by_term(
    design: Design,
    seen: ByClass,
    of_numbers: Callable[[Moments], tuple[NDArray[np.float64], ...]],
    of_categories: Callable[[Counts], tuple[NDArray[np.float64], ...]],
) -> tuple[NDArray[np.float64], ...]:
    """Put what is found of numbers, then of categories, in the order of the terms."""
    blocks: Any = seen.blocks
    if not design.categories:
        return of_numbers(blocks[0])
    parts = [*map(of_numbers, blocks[:-1]), of_categories(blocks[-1])]
    names = [design.numbers] if len(design.numbers) else []
    order = np.concatenate([design.places(n) for n in [*names, tuple(design.categories)]])
    joined = (np.concatenate(columns, axis=-1) for columns in zip(*parts, strict=True))
    return tuple(values[..., np.argsort(order)] for values in joined)


def _of_numbers(block: Moments) -> tuple[NDArray[np.float64], ...]:
    pooled = block.one_class
    return pooled.mean[0], pooled.scatter[0] / np.maximum(pooled.total[0], 1e-300)


def _sums_of_terms(
    design: Design, seen: ByClass, block: Counts, pooled: bool = False
) -> NDArray[np.float64]:
    """Σw of the rows of every class, or of all, in which an indicator is 1, (k, terms)."""
    missing = seen.weight.value[:, None] - block.total
    if pooled:
        count, missing = block.count.sum(axis=0).value[None], missing.sum(axis=0)[None]
    else:
        count = block.count.value
    return design.sums_of_terms(count, missing, block.vocabularies)


def _rows_of_terms(design: Design, seen: ByClass, block: Counts) -> NDArray[np.float64]:
    """Σw of the rows that an indicator is known of, (terms,)."""
    every, found = seen.weight.value.sum(), []
    for total, name in zip(block.total.sum(axis=0).tolist(), design.categories, strict=True):
        own = name in design.missing
        found += [every if own else total] * len(design.places([name]))
    return np.array(found)


@dataclass
class DataLoop:
    """Sends kernels over all rows, and counts how often."""

    engine: Engine
    parts: Sequence[Part]
    count: int = field(default=0, init=False)

    def run(self, kernel: Callable[[Part, Any], S], params: Any) -> S:
        self.count += 1
        return self.engine.run(kernel, params, self.parts)

    def map(self, kernel: Callable[[Part, Any], R], params: Any) -> list[R]:
        self.count += 1
        return list(self.engine.map(kernel, params, self.parts))


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows z of batches, with classes and weights."""

    centred: CentredDesign  # how rows z = (1, x − m) are made
    classes: Vocabulary  # the k labels
    class_weights: NDArray[np.float64]  # what weights of rows are multiplied by, (k,)

    @property
    def layout(self) -> Layout:
        return self.centred.layout

    def of(self, batch: Batch) -> tuple[Batch, NDArray[np.intp]]:
        """The rows of a batch, and codes of their classes; −1 for those that a fit leaves out."""
        batch = self.centred.to_fit(batch) if self.centred.leaves_out else batch
        return batch, batch.learnt(self.classes)

    def pieces(
        self, batch: Batch, codes: NDArray[np.intp], hessian: bool = False
    ) -> Iterator[tuple[Any, NDArray[np.intp], NDArray[np.float64]]]:
        """Yield z of the rows of a fit, some at a time, with codes of classes, and weights."""
        weights = batch.weights if len(batch.weights) else np.ones(batch.rows)
        for z, *parts in self.centred.pieces(batch, hessian, codes, weights):
            yield present(z, *parts)

    def labelled(
        self, batch: Batch
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]]:
        """Yield rows x − m, codes, and weights with those of the classes, for a descent."""
        batch, codes = self.of(batch)
        for z, code, weight in self.pieces(batch, codes):
            yield np.ascontiguousarray(z[:, 1:]), code, weight * self.class_weights[code]


def farthest(part: Part, params: tuple[TrainingRows, NDArray[np.float64]]) -> float:
    """Kernel: the largest |z/s|² of a row; the second of ``params`` is 1/s."""
    rows, inverse_scale = params

    def of(batch: Batch) -> float:
        batch, codes = rows.of(batch)
        largest = 0.0
        for z, _, _ in rows.pieces(batch, codes):
            squares = (z * z) @ inverse_scale**2
            largest = max(largest, float(squares.max(initial=0.0)))
        return largest

    return max(each_batch(part, rows.layout, of))


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows z (n, D), with their class codes and weights."""

    z: NDArray[np.float64]
    codes: NDArray[np.intp]
    weights: NDArray[np.float64]

    @classmethod
    def empty(cls, width: int) -> Sample:
        return cls(np.empty((0, width)), np.empty(0, np.intp), np.empty(0))

    @classmethod
    def of(cls, batch: Batch, places: NDArray[np.intp], rows: TrainingRows) -> Sample:
        batch, first = batch if len(places) == batch.rows else batch.take(places), 0
        z = np.empty((batch.rows, rows.centred.width))
        for (piece,) in rows.centred.pieces(batch, False):
            stop = first + piece.shape[0]
            z[first:stop] = piece.toarray() if isinstance(piece, csr_array) else piece
            first = stop
        weights = batch.weights if len(batch.weights) else np.ones(batch.rows)
        return cls(z, batch.learnt(rows.classes), weights)

    @classmethod
    def joined(cls, parts: Sequence[Sample]) -> Sample:
        every = [part for part in parts if len(part)] or list(parts)[:1]
        if len(every) == 1:
            return every[0]
        names = ("z", "codes", "weights")
        return cls(*(np.concatenate([getattr(part, name) for part in every]) for name in names))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> Sample:
        return Sample(self.z[rows], self.codes[rows], self.weights[rows])


def sampled(part: Part, params: tuple[TrainingRows, int]) -> tuple[NDArray[Any], Sample]:
    """Kernel: rows drawn at random, at most so many, and the numbers that they drew."""
    rows, limit = params
    rng = np.random.default_rng(0)
    drawn, parts = [np.empty(0)], [Sample.empty(rows.centred.width)]
    bound = np.inf  # above it, a number has no chance

    def add(batch: Batch) -> None:
        nonlocal bound
        batch, codes = rows.of(batch)
        places = np.flatnonzero(codes >= 0)
        number = rng.random(len(places))
        every = np.concatenate([*drawn, number])
        if len(every) > limit:
            bound = min(bound, float(np.partition(every, limit)[limit]))
        kept = number < bound
        drawn.append(number[kept])
        parts.append(Sample.of(batch, places[kept], rows))

    for _ in each_batch(part, rows.layout, add):
        pass
    return _lowest(drawn, parts, limit)


def _lowest(
    drawn: Sequence[NDArray[Any]], parts: Sequence[Sample], limit: int
) -> tuple[NDArray[Any], Sample]:
    number = np.concatenate(drawn)
    if len(number) <= limit:
        return number, Sample.joined(parts)
    kept = np.argsort(number, kind="stable")[:limit]
    return number[kept], Sample.joined(parts)[kept]


def draw(data: DataLoop, rows: TrainingRows, n: int) -> Sample:
    """Draw n rows of a whole table, or take all if there are fewer."""
    numbers, parts = zip(*data.map(sampled, (rows, n)), strict=True)
    return _lowest(numbers, parts, n)[1]


def present(
    z: Any, codes: NDArray[np.intp], weights: NDArray[np.float64]
) -> tuple[Any, NDArray[np.intp], NDArray[np.float64]]:
    there = codes >= 0
    if there.all():
        return z, codes, weights
    return z[there], codes[there], weights[there] if len(weights) else weights
