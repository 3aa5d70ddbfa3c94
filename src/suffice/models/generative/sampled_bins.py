"""Numbers that are counted in a sample of rows, every column on a grid of its own.

The grid of `BinnedCounts` starts at 0, so that tables that were counted apart can be added. A cell
is at most 1/256 as wide as the numbers in it are large: which of them share one depends on the unit
of the column, and years, or pressures in hectopascal, lie in very few. In the calibration sample

::

    (x − median)/unit

is counted. The median is that of the distinct rows. The unit is the step between the numbers where
all are whole steps from there, 256 at most, so that each has a cell of its own. Else it is the
standard deviation, and the middle of the median and the number above it stands for the median.
These counts take the place of those of all rows

- for every column whose densities are compared, where the sample has all rows of the table, so
  that a unit changes nothing;
- else for those of them whose mean is more than 64 standard deviations from 0.

They are no sums over all rows. Like the weights of columns, they follow rows that are added and
forgotten while the sample is in memory. Where it is not, those of columns far from 0 stay, and
count rows that are added, in proportion: see `with_more`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.families.densities.cells import far_columns
from suffice.models.generative.part import FamilyColumns
from suffice.rules import rule
from suffice.sums.batch import WEIGHT_ROUNDING, Batch
from suffice.sums.bins import SNAPPED, WHOLE, BinnedCountAccumulator, BinnedCounts, MomentsAndBins
from suffice.sums.block import RealBlock, converted
from suffice.sums.by_class import ByClass
from suffice.sums.row_sample import LAST, RowSample, Sampled
from suffice.sums.vocabulary import Vocabulary

SORTED = 64  # columns at a time
EQUAL = 1e-9  # of the standard deviation: what rounding may leave between equal numbers


@dataclass(frozen=True, eq=False)
class SampledBins:
    """Counts of the rows of a sample."""

    columns: tuple[str, ...]  # those that are counted, d of them
    classes: Vocabulary  # the k labels
    bins: BinnedCounts  # of these classes and columns, each from its own origin and in its own unit

    @rule("every class and column has counts, and columns differ")
    def _has_counts(self) -> bool:
        k, d = len(self.classes), len(set(self.columns))
        return (self.bins.k, self.bins.d, len(self.columns)) == (k, d, d)

    @classmethod
    def of(cls, parts: Sequence[FamilyColumns], sums: ByClass, sample: RowSample) -> Self | None:
        """The counts of a sample of the rows of sums; None where those of all rows serve as well.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> year, warm = [1990.0, 1995.0, 2010.0, 2015.0], list("nnyy")
        >>> model = NaiveBayes().fit({"year": year}, warm).model_
        >>> model.sampled.columns, model.sampled.bins.origin.tolist()
        (('year',), [1995.0])
        """
        every = sample.cut == LAST and sample.weight >= sums.rows * (1 - WEIGHT_ROUNDING)
        chosen = _chosen(parts, sums, every)
        if not chosen:
            return None
        x = _numbers(sample.batch, chosen)
        rows = [(sums.blocks[b].moments.one_class, columns) for b, columns in chosen]
        origin = np.concatenate([one.mean[0, columns] for one, columns in rows])
        deviation = np.sqrt(np.concatenate([one.variance[0, columns] for one, columns in rows]))
        names = [parts[b].layout.columns[j] for b, columns in chosen for j in columns.tolist()]
        counts = _counted(sample, x, *_grid(x, origin, deviation), sums.classes)
        return cls(tuple(names), sums.classes, counts)

    def with_more(self, parts: Sequence[FamilyColumns], sums: ByClass, newest: Sampled) -> Self:
        """Count a sample of rows that have joined the sums, on the same grid.

        The larger sample is scaled down, so that both are in proportion to the rows they are of.
        """
        names = [[name in self.columns for name in part.layout.columns] for part in parts]
        chosen = [(b, np.flatnonzero(own)) for b, own in enumerate(names) if any(own)]
        x, grid = _numbers(newest.sample.batch, chosen), (self.bins.origin, self.bins.unit)
        old, new = self._over(sums.classes), _counted(newest.sample, x, *grid, sums.classes)
        earlier = sums.rows - newest.rows
        if earlier <= 0:
            return replace(self, classes=sums.classes, bins=new)
        counted = old.total.sum(axis=0).max(initial=0.0) / newest.sample.weight
        times = newest.rows / earlier * counted
        both = old + new.scaled(times) if times < 1 else old.scaled(1 / times) + new
        return replace(self, classes=sums.classes, bins=both)

    def _over(self, classes: Vocabulary) -> BinnedCounts:
        """Return the counts of these classes, where they are known."""
        if classes == self.classes:
            return self.bins
        index = classes.index(self.classes.values, -1)
        known = np.flatnonzero(index >= 0)
        return self.bins.take(known).place(index[known], len(classes))

    def instead(self, parts: Sequence[FamilyColumns], sums: ByClass) -> ByClass:
        """Put these counts in the place of those of the same columns."""
        bins = self._over(sums.classes)
        own = {name: i for i, name in enumerate(self.columns)}
        blocks = list(sums.blocks)
        for b, part in enumerate(parts):
            columns = [j for j, name in enumerate(part.layout.columns) if name in own]
            theirs = [own[part.layout.columns[j]] for j in columns]
            if columns == theirs == list(range(len(part.layout.columns))) == list(own.values()):
                blocks[b] = replace(blocks[b], bins=bins)
            elif columns:
                found = blocks[b].bins.with_columns(np.array(columns), bins, np.array(theirs))
                blocks[b] = replace(blocks[b], bins=found)
        return replace(sums, blocks=tuple(blocks))

    def far(self, parts: Sequence[FamilyColumns], sums: ByClass) -> Self | None:
        """The counts of columns far from 0 alone, as all rows show them; None without."""
        chosen = _chosen(parts, sums, False)
        far = {parts[b].layout.columns[j] for b, columns in chosen for j in columns.tolist()}
        left = np.array([j for j, name in enumerate(self.columns) if name in far], np.intp)
        names = tuple(self.columns[j] for j in left.tolist())
        return replace(self, columns=names, bins=self.bins.columns(left)) if names else None


def _chosen(
    parts: Sequence[FamilyColumns], sums: ByClass, every: bool
) -> list[tuple[int, NDArray[np.intp]]]:
    """The columns of each block whose densities are compared: every one, or those far from 0."""
    found = []
    for b, (part, block) in enumerate(zip(parts, sums.blocks, strict=False)):  # pairs may be last
        if isinstance(block, MomentsAndBins):
            family: Any = part.family  # the one that counts in bins
            columns = family.compared(block.moments)
            columns = columns if every else np.intersect1d(columns, far_columns(block.moments))
            found.append((b, columns))
    return [(b, columns) for b, columns in found if len(columns)]


def _counted(
    sample: RowSample,
    x: NDArray[np.float64],
    origin: NDArray[np.float64],
    unit: NDArray[np.float64],
    classes: Vocabulary,
) -> BinnedCounts:
    """Count the rows of a sample, of which these are the numbers, on a grid."""
    total, batch = BinnedCountAccumulator(origin, unit), sample.batch
    total.add(RealBlock(x), batch.learnt(classes), batch.weights, len(classes))
    counted = total.statistic()
    return counted if sample.unit == 1 else counted.scaled(1 / sample.unit)


def _numbers(batch: Batch, chosen: Sequence[tuple[int, NDArray[np.intp]]]) -> NDArray[np.float64]:
    """The columns of a batch as doubles, (n, d)."""
    blocks: Sequence[Any] = batch.blocks
    if not blocks:  # no row was kept
        return np.zeros((0, sum(len(columns) for _, columns in chosen)))
    parts = [
        np.asarray(converted(blocks[b].values[:, columns]), np.float64) for b, columns in chosen
    ]
    return parts[0] if len(parts) == 1 else np.hstack(parts)


def _grid(
    numbers: NDArray[np.float64], origin: NDArray[np.float64], unit: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the start of the grid of every column, and its unit, (d,).

    Of a column without a number they are its mean and deviation, as given.
    """
    if not len(numbers):
        return origin, unit
    for left in range(0, len(origin), SORTED):
        own = slice(left, left + SORTED)
        x = np.sort(numbers[:, own].T, axis=1)  # NaN last
        shown, column = (x == x).sum(axis=1), np.arange(len(x))
        last = np.maximum(shown - 1, 0)
        middle = last // 2
        below, above = x[column, middle], x[column, np.minimum(middle + 1, last)]
        step = _steps(x, below, x[column, last], EQUAL * unit[own])
        # Numbers that are in no steps are not told: a file has the origin in full.
        found = np.where(step > 0, below, 0.5 * below + 0.5 * above)
        origin[own] = np.where(shown > 0, found, origin[own])
        unit[own] = np.where(step > 0, step, unit[own])
    return origin, unit


def _steps(
    x: NDArray[np.float64],
    origin: NDArray[np.float64],
    last: NDArray[np.float64],
    equal: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return what ascending numbers (d, n) are whole multiples of, from an origin; 0 without."""
    with np.errstate(invalid="ignore"):
        gaps = np.diff(x, axis=1)
        steps = np.where(gaps > equal[:, None], gaps, np.inf).min(axis=1, initial=np.inf)
        reach = np.maximum(origin - x[:, 0], last - origin)
        places = (x - origin[:, None]) / steps[:, None]
        off = np.abs(places - np.rint(places))
        off = np.where(x == x, off, 0.0).max(axis=1)
        return np.where((reach < (WHOLE + 0.5) * steps) & (off <= SNAPPED), steps, 0.0)
