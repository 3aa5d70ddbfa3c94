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
from typing import Any, NamedTuple, TypeVar, cast

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
    IntegerBlock,
    RealBlock,
    SparseBlock,
    tiles,
)
from suffice.sums.by_class import ByClass
from suffice.sums.vocabulary import Vocabulary

COMPLETE = "a row needs all its cells, no NaN and no infinity among them"
CONSTANT = 2.0**-40  # fraction of its mean square that rounding may leave of a constant column
TALL = 2_048  # rows that make a matrix product worth while
FEW = 2  # times as many columns as cells of a row: then its cells take less time
TILE_CELLS = 65_536  # cells laid out at a time: 512 kB, which stays in cache
LARGEST_HESSIAN = 2_000  # its side, where there may be one: 32 MB

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
        sparse = layout.blocks[0].encoding == "sparse"
        pooled = [block.one_class for block in seen.blocks]
        found = _moments_of_terms(design, pooled, seen.weight.value.sum(keepdims=True))
        mean, variance = found.mean[0], found.variance[0]
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
    def is_sparse(self) -> bool:
        return self.layout.blocks[0].encoding == "sparse"

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

    def sparse_rows(self, batch: Batch) -> Any:
        """Rows x as a CSR array, if they come so; None of dense ones, of the same layout maybe."""
        block = batch.blocks[0]
        if not (self.is_sparse and isinstance(block, SparseBlock)):
            return self.design.sparse_rows(batch)
        data = np.asarray(block.data, np.float64)
        return csr_array((data, block.indices, block.indptr), shape=(block.rows, len(self.mean)))

    def of_columns(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coefficients of z from those of (1, x − m), (m, D)."""
        factor = self.whitener
        return coefficients if factor is None else _through(coefficients, factor.cholesky.value)

    def to_columns(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coefficients of (1, x − m) from those of z, (m, D)."""
        factor = self.whitener
        return coefficients if factor is None else _through(coefficients, factor.whitening.value)

    def sums(self, seen: ByClass) -> NDArray[np.float64]:
        """Σ w z of every class, (k, D)."""
        weight = seen.weight.value
        of = _moments_of_terms(self.design, seen.blocks, weight)
        return np.column_stack([weight, of.total * ((of.mean - self.mean) + of.mean_lo)])

    # -- rows

    def pieces(self, batch: Batch, *columns: NDArray[Any]) -> Iterator[tuple[Any, ...]]:
        """Yield z, some rows at a time, with the same rows of ``columns``.

        Dense pieces share their memory: use one before asking for the next. Sparse rows come all
        at once.
        """
        if self.is_sparse and isinstance(batch.blocks[0], SparseBlock):
            yield with_ones(self.sparse_rows(batch)), *columns
            return
        height = max(TILE_CELLS // self.width, TALL if self.width <= LARGEST_HESSIAN else 1)
        buffer = np.ones((min(height, batch.rows), self.width))
        whitening = None if self.whitener is None else self.whitener.whitening.value.T
        for first, x in self.tables(batch):
            for start in range(0, len(x), height):
                part = x[start : start + height]
                z, rows = buffer[: len(part)], slice(first + start, first + start + len(part))
                np.subtract(part, self.mean, out=z[:, 1:])
                if whitening is not None:
                    z[:, 1:] = z[:, 1:] @ whitening
                yield z, *map(itemgetter(rows), columns)

    def compressed(self, batch: Batch, distinct: bool) -> Iterator[tuple[slice, Compressed]]:
        """Yield some rows in compressed form: numbers about m, and indicators.

        No row has two cells in one column where they are to be ``distinct``.
        """
        if not self.is_sparse:
            yield from self.design.compressed_rows(_coded(batch), self.mean)
            return
        block = cast(SparseBlock, batch.blocks[0])
        block = block.merged() if distinct else block
        yield slice(None), (block.indptr, block.indices, block.data)

    def tables(self, batch: Batch) -> Iterator[tuple[int, NDArray[Any]]]:
        """Dense rows x, not centred, some at a time, with the number of the first of them."""
        block = batch.blocks[0]
        if isinstance(block, RealBlock) and self.design.is_of_numbers and block.rows:
            return tiles(block.values, np.float64)
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


def _through(coefficients: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (b, w M) of coefficients (b, w), (m, D)."""
    return np.concatenate([coefficients[:, :1], coefficients[:, 1:] @ matrix], axis=1)


def _coded(batch: Batch) -> Batch:
    blocks = (b.coded() if isinstance(b, IntegerBlock) else b for b in batch.blocks)
    return replace(batch, blocks=tuple(blocks))


class MomentsOfTerms(NamedTuple):
    """Σw of each of k classes in which F terms are known, their means, and variances, (k, F)."""

    total: NDArray[np.float64]
    mean: NDArray[np.float64]
    mean_lo: NDArray[np.float64]  # what a double cannot hold of a mean
    variance: NDArray[np.float64]


def _moments_of_terms(
    design: Design, blocks: Sequence[Any], weight: NDArray[np.float64]
) -> MomentsOfTerms:
    """Read the sums of numbers and categories in the order of the terms.

    The ``weight`` (k,) is that of all rows of each class.
    """
    parts = []
    for block in blocks[: len(blocks) - bool(design.categories)]:
        variance = block.scatter / np.maximum(block.total, 1e-300)
        parts.append(MomentsOfTerms(block.total, block.mean, block.mean_lo, variance))
    if not design.categories:
        return parts[0]
    counts, total = blocks[-1], weight[:, None]
    missing = total - counts.total
    p = design.sums_of_terms(counts.count.value, missing, counts.vocabularies) / total
    nothing = np.zeros_like(p)
    parts.append(MomentsOfTerms(total + nothing, p, nothing, p * (1.0 - p)))
    names = [design.numbers] if len(design.numbers) else []
    order = np.concatenate([design.places(n) for n in [*names, tuple(design.categories)]])
    joined = (np.concatenate(columns, axis=-1) for columns in zip(*parts, strict=True))
    return MomentsOfTerms(*(values[..., np.argsort(order)] for values in joined))


@dataclass
class DataLoop:
    """Sends kernels over all rows, and counts how often."""

    engine: Engine
    parts: Sequence[Part]
    layout: Layout  # how they are read
    count: int = field(default=0, init=False)

    def run(self, kernel: Callable[[Part, Any], S], params: Any) -> S:
        self.count += 1
        return self.engine.run(kernel, params, self.parts)

    def map(self, kernel: Callable[[Part, Any], R], params: Any) -> list[R]:
        self.count += 1
        return list(self.engine.map(kernel, params, self.parts))

    def of_batches(self, function: Callable[[Batch], R]) -> list[R]:
        """Return what a function gives of every batch, in order."""
        found = self.map(_of_batches, (self.layout, function))
        return [of_batch for of_part in found for of_batch in of_part]


def _of_batches(part: Part, task: tuple[Layout, Callable[[Batch], R]]) -> list[R]:
    return list(each_batch(part, *task))


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows z of batches, with classes and weights."""

    centred: CentredDesign  # how rows z = (1, x − m) are made
    classes: Vocabulary  # the k labels
    class_weights: NDArray[np.float64]  # what weights of rows are multiplied by, (k,)

    @property
    def layout(self) -> Layout:
        return self.centred.layout

    def of(self, batch: Batch) -> tuple[Batch, NDArray[np.intp], NDArray[np.float64]]:
        """The rows of a batch that a fit does not leave out, their classes and weights.

        What only the others show, such as a category, is unknown to the design.
        """
        batch = batch.complete_rows() if self.centred.complete else batch
        codes = batch.learnt(self.classes)
        if not (there := codes >= 0).all():
            batch, codes = batch.take(np.flatnonzero(there)), codes[there]
        return batch, codes, batch.weights if len(batch.weights) else np.ones(batch.rows)

    def count(self, batch: Batch) -> int:
        return self.of(batch)[0].rows

    def labelled(
        self, batch: Batch
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]]:
        """Yield rows x − m, codes, and weights with those of the classes, for a descent."""
        for z, code, weight in self.centred.pieces(*self.of(batch)):
            yield np.ascontiguousarray(z[:, 1:]), code, weight * self.class_weights[code]


def farthest(rows: TrainingRows, inverse_scale: NDArray[np.float64], batch: Batch) -> float:
    """Return the largest |z/s|² of a row."""
    largest = 0.0
    for (z,) in rows.centred.pieces(rows.of(batch)[0]):
        squares = (z * z) @ inverse_scale**2
        largest = max(largest, float(squares.max(initial=0.0)))
    return largest


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
        some = batch if len(places) == batch.rows else batch.take(places)
        batch, codes, weights = rows.of(some)
        z, first = np.empty((batch.rows, rows.centred.width)), 0
        for (piece,) in rows.centred.pieces(batch):
            stop = first + piece.shape[0]
            z[first:stop] = piece.toarray() if isinstance(piece, csr_array) else piece
            first = stop
        return cls(z, codes, weights)

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
        batch, *_ = rows.of(batch)
        number = rng.random(batch.rows)
        every = np.concatenate([*drawn, number])
        if len(every) > limit:
            bound = min(bound, float(np.partition(every, limit)[limit]))
        kept = number < bound
        drawn.append(number[kept])
        parts.append(Sample.of(batch, np.flatnonzero(kept), rows))

    for _ in each_batch(part, rows.layout, add):
        pass
    return lowest(drawn, parts, limit)


def lowest(
    drawn: Sequence[NDArray[Any]], parts: Sequence[Sample], limit: int
) -> tuple[NDArray[Any], Sample]:
    number = np.concatenate(drawn)
    if len(number) <= limit:
        return number, Sample.joined(parts)
    kept = np.argsort(number, kind="stable")[:limit]
    return number[kept], Sample.joined(parts)[kept]
