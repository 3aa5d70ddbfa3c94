"""The first pass of an iterative fit: moments and counts of every column in every class.

Where terms depend on each other, a further pass tells which, by their co-moments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.data.schema import Layout
from suffice.data.source import Part, each_batch
from suffice.models.logistic.centred_design import CentredDesign
from suffice.numerics.error_free import LARGEST
from suffice.numerics.exact import DoubleDouble
from suffice.sums.batch import Batch
from suffice.sums.block import Encoding, RealBlock, SparseBlock
from suffice.sums.by_class import ByClass, ByClassAccumulator
from suffice.sums.comoments import ComomentsAccumulator
from suffice.sums.counts import CountAccumulator
from suffice.sums.moments import TOO_LARGE, Moments, MomentsAccumulator


class SparseMomentsAccumulator:
    """Builds `Moments` of the d columns of a sparse matrix; squares are rounded to double."""

    def __init__(self, d: int) -> None:
        self._d = d
        self._sums = [DoubleDouble.zeros((0, d))] * 3

    def add(
        self, block: SparseBlock, codes: NDArray[np.intp], weights: NDArray[np.float64], k: int
    ) -> None:
        """Add the rows of a block."""
        rows = np.flatnonzero(codes >= 0)
        weight = weights[rows] if len(weights) else np.ones(len(rows))
        classes = csr_array((weight, (codes[rows], rows)), shape=(k, block.rows))
        cells = np.asarray(block.data, np.float64)
        _check_sizes(block, cells, codes)
        missing = np.isnan(cells)
        present = np.where(missing, 0.0, cells)

        def summed(values: NDArray[np.float64]) -> DoubleDouble:
            table = csr_array((values, block.indices, block.indptr), shape=(block.rows, self._d))
            return DoubleDouble.of((classes @ table).toarray())

        observed = DoubleDouble.of(np.bincount(codes[rows], weight, k)[:, None] + np.zeros(self._d))
        if missing.any():
            observed -= summed(missing.astype(np.float64))
        added = observed, summed(present), summed(present**2)
        self._sums = [_grown(a, k) + b for a, b in zip(self._sums, added, strict=True)]

    def statistic(self) -> Moments:
        """Freeze what was added."""
        weight, sums, squares = (np.stack([s.hi, s.lo], axis=1) for s in self._sums)
        both = np.concatenate([sums, squares], axis=1)
        return Moments(weight, np.zeros(self._sums[0].shape), both)


def _grown(sums: DoubleDouble, k: int) -> DoubleDouble:
    return sums.scatter(slice(0, sums.shape[0]), (k, sums.shape[1]))


def _check_sizes(block: SparseBlock, cells: NDArray[np.float64], codes: NDArray[np.intp]) -> None:
    summed = np.repeat(codes >= 0, np.diff(block.indptr))
    for q in np.flatnonzero((np.abs(cells) > LARGEST) & summed)[:1].tolist():
        rule = "a number must be finite" if np.isinf(cells[q]) else TOO_LARGE
        raise block.bad_cell(q, float(cells[q]), rule)


ACCUMULATORS: dict[Encoding, Callable[[int], Any]] = {
    "real": MomentsAccumulator,
    "category": CountAccumulator,
    "sparse": SparseMomentsAccumulator,
}


def first_pass(part: Part, plan: tuple[Layout, bool]) -> ByClass:
    """Kernel of the first pass: moments and counts of every column in every class.

    ``plan`` is the layout, and whether rows with a missing cell are left out.
    """
    layout, complete = plan
    total = ByClassAccumulator([ACCUMULATORS[b.encoding](len(b.columns)) for b in layout.blocks])
    for _ in each_batch(part, layout, lambda b: total.add(b.complete_rows() if complete else b)):
        pass
    return total.statistic()


def joint_moments(part: Part, centred: CentredDesign) -> ByClass:
    """Kernel: co-moments of the terms, of all classes together."""
    total = ByClassAccumulator([ComomentsAccumulator(centred.width - 1, pooled=True)])

    def add(batch: Batch) -> None:
        batch = centred.to_fit(batch)
        for start, x in centred.tables(batch):
            piece = batch.cut(start, start + len(x))
            total.add(replace(piece, blocks=(RealBlock(x.astype(float, copy=False)),)))

    for _ in each_batch(part, centred.layout, add):
        pass
    return total.statistic()
