"""Sums without what they tell about fewer than m rows: suppression of small counts.

Counts below m become 0, as if these cells were missing. Where fewer than m rows of a class have no
value in a column then, the gap is closed: the counts left grow in proportion, and numbers have two
more values, at their mean less and plus their standard deviation, which keep both.

Source: A. Hundepool et al., Statistical Disclosure Control (2012), chapter 4.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.numerics.dyadic import Dyadic
from suffice.numerics.exact import DoubleDouble
from suffice.privacy.sums import NEGLIGIBLE
from suffice.statistics.binned_counts import BinnedCounts
from suffice.statistics.block import RealBlock
from suffice.statistics.counts import Counts
from suffice.statistics.events import Events
from suffice.statistics.exact_moments import ExactMoments, ExactMomentsAccumulator
from suffice.statistics.grouped_rows import GroupedRows
from suffice.statistics.indicator_comoments import IndicatorComoments
from suffice.statistics.joint_counts import JointCounts
from suffice.statistics.moments import Moments, MomentsAccumulator
from suffice.statistics.moments_and_bins import MomentsAndBins
from suffice.statistics.value_grid import CELLS

__all__ = ["suppressed"]

Table = NDArray[np.float64]
S = TypeVar("S", Moments, ExactMoments)
S_co = TypeVar("S_co", Moments, ExactMoments, covariant=True)


class MomentsBuilder(Protocol[S_co]):
    """An accumulator of moments."""

    def add(self, block: RealBlock, codes: NDArray[np.intp], weights: Table, k: int) -> None:
        """Add rows."""
        ...

    def statistic(self) -> S_co:
        """Freeze what was added."""
        ...


@singledispatch
def suppressed(block: Any, rows: Table, m: float) -> Any:
    """Return the sums of some columns without what they tell about fewer than m rows.

    Parameters
    ----------
    block : ClasswiseStatistic
        The sums.
    rows : ndarray (k,)
        Σw of the rows of each class, m or more.
    m : float

    Raises
    ------
    ParameterError
        If there is no rule for such sums.
    """
    raise ParameterError(
        f"the model keeps {type(block).__name__}",
        "no rule says how these are reduced",
        "reduce a naive Bayes or a discriminant model",
    )


def few_are_missing(total: Table, rows: Table, m: float) -> NDArray[np.bool_]:
    """Whether some, but fewer than m, of the rows (k, 1) of a class are not in a total (k, d)."""
    missing = rows - total
    return (missing > NEGLIGIBLE * rows) & (missing < m)


def _large(count: Table, rows: Table, m: float) -> Table:
    """Counts (k, M) of one column, each 0 or of m rows at least, as are those of missing cells."""
    kept = np.where(count >= m, count, 0.0)
    total = kept.sum(axis=1, keepdims=True)
    closed = few_are_missing(total, rows[:, None], m)[:, 0] & (total[:, 0] > 0)
    for c in np.flatnonzero(closed):
        kept[c] = _in_proportion(kept[c], rows[c])
    return kept


def _in_proportion(count: Table, rows: float) -> Table:
    """Counts (M,) that grow to a sum in proportion, in whole steps, the largest remainders first.

    Whole numbers do not tell by which factor they grew.
    """
    grown = count * (rows / count.sum())
    whole: Table = np.floor(grown)
    left = rows - whole.sum()
    whole[np.argsort(whole - grown, kind="stable")[: int(left)]] += 1
    whole[whole.argmax()] += left - int(left)
    return whole


@suppressed.register
def _counts(block: Counts, rows: Table, m: float) -> Counts:
    columns = [_large(block.column(j), rows, m) for j in range(block.d)]
    kept = np.concatenate([block.count.hi[:, :0], *columns], axis=1)
    return replace(block, count=DoubleDouble.of(kept)).pruned()


@suppressed.register
def _events(block: Events, rows: Table, m: float) -> Events:
    documents = block.documents.value
    documents = np.where(documents >= m, documents, 0.0)
    documents = np.where(few_are_missing(documents, rows, m), rows, documents)
    count, missing = block.count.value, block.missing
    observed = documents[:, None] > 0
    kept = np.where((count >= m) & observed, count, 0.0)
    absent = missing.count.value
    absent = np.where((absent >= m) & observed, absent, 0.0)
    return replace(
        block,
        count=DoubleDouble.of(kept),
        documents=DoubleDouble.of(documents),
        missing=replace(missing, count=DoubleDouble.of(absent)).pruned(),
    ).pruned()


@suppressed.register
def _joint(block: JointCounts, rows: Table, m: float) -> JointCounts:
    return replace(block, count=DoubleDouble.of(_large(block.count.value, rows, m))).pruned()


@suppressed.register
def _moments(block: Moments, rows: Table, m: float) -> Moments:
    seen = block.total >= m
    kept = Moments(
        np.where(seen[:, None], block.weight, 0.0),
        np.where(seen, block.pivot, 0.0),
        np.where(seen[:, None], block.sums, 0.0),
    )
    return kept + _filling(kept, rows, m, MomentsAccumulator(block.d))


@suppressed.register
def _exact_moments(block: ExactMoments, rows: Table, m: float) -> ExactMoments:
    seen = block.total >= m
    sums = (block.weight, block.sums, block.squares)
    kept = ExactMoments(
        *(Dyadic.trimmed(np.where(seen, s.limbs, np.uint64(0)), s.low) for s in sums)
    )
    return kept + _filling(kept, rows, m, ExactMomentsAccumulator(block.d))


def _filling(kept: S, rows: Table, m: float, accumulator: MomentsBuilder[S]) -> S:
    """Two values for each class and column of which fewer than m rows have none."""
    total, mean, sd = kept.total, kept.mean, np.sqrt(np.maximum(kept.variance, 0.0))
    open_cells = few_are_missing(total, rows[:, None], m) & (total > 0)
    for c in range(kept.k):
        columns = np.flatnonzero(open_cells[c])
        x = np.full((2, len(columns), kept.d), np.nan)
        at = np.arange(len(columns)), columns
        x[0][at], x[1][at] = (mean - sd)[c, columns], (mean + sd)[c, columns]
        half = (rows[c] - total[c, columns]) / 2
        n = 2 * len(columns)
        block = RealBlock(x.reshape(n, kept.d))
        accumulator.add(block, np.full(n, c, np.intp), np.tile(half, 2), kept.k)
    return accumulator.statistic()


@suppressed.register
def _bins(block: BinnedCounts, rows: Table, m: float) -> BinnedCounts:
    keys, counts = [np.zeros(0, np.int64)], [np.zeros(0)]
    for j in range(block.d):
        cells, count = _neighbours(*block.column(j), m)
        c, at = np.nonzero(kept := _large(count, rows, m))
        keys.append((c * block.d + j) * CELLS + cells[at])
        counts.append(kept[c, at])
    key, total = np.concatenate(keys), np.concatenate(counts)
    order = np.argsort(key)
    left = key[order], DoubleDouble.of(total[order])
    return BinnedCounts.of_places(block.k, block.origin, *left, block.unit)


def _neighbours(
    cells: NDArray[np.uint16], count: Table, m: float
) -> tuple[NDArray[np.int64], Table]:
    """Put neighbouring cells together until a class shows none or m rows of it.

    The same cells for all classes, or these would seem to differ more than they do.
    """
    ends, group = [0], np.zeros(len(count))
    for stop, more in enumerate(count.T, start=1):
        group += more
        if ((group == 0) | (group >= m)).all():
            ends.append(stop)
            group[:] = 0
    ends[max(1, len(ends) - 1) :] = [len(cells)] if len(cells) else []
    upto = np.concatenate([np.zeros((len(count), 1)), np.cumsum(count, axis=1)], axis=1)
    every = upto.sum(axis=0)
    middle = np.searchsorted(every, (every[ends[:-1]] + every[ends[1:]]) / 2) - 1
    return cells[middle].astype(np.int64), np.diff(upto[:, ends], axis=1)


@suppressed.register
def _moments_and_bins(block: MomentsAndBins, rows: Table, m: float) -> MomentsAndBins:
    return MomentsAndBins(suppressed(block.moments, rows, m), suppressed(block.bins, rows, m))


@suppressed.register
def _indicators(block: IndicatorComoments, rows: Table, m: float) -> Any:
    raise ParameterError(
        "the model keeps how many rows show two categories together",
        "no rule says how few of them are left out, and the sums stay those of rows",
        "fit the model to numbers alone, or reduce a naive Bayes model",
    )


@suppressed.register
def _grouped(block: GroupedRows, rows: Table, m: float) -> Any:
    return block.of_many_rows(m)
