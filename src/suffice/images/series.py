"""The volumes that have a class, at the voxels of a mask, standardised run by run where asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.images.design import Design
from suffice.images.grids import Mask
from suffice.images.scans import Scan

__all__ = ["Series", "read_series"]


@dataclass(frozen=True, eq=False)
class Series:
    """T volumes of V voxels.

    Parameters
    ----------
    values : ndarray (T, V)
        Single precision where it holds the numbers of the scans exactly, else double.
    low, high : ndarray (R, V)
        The least and the largest number of each run.
    """

    values: NDArray[np.floating[Any]]
    low: NDArray[np.float64]
    high: NDArray[np.float64]

    def silent(self, trained: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether a voxel shows one number in the runs that folds (F, R) learn from, (F, V)."""
        return np.stack(
            [self.low[runs].min(axis=0) == self.high[runs].max(axis=0) for runs in trained]
        )


def read_series(
    scans: Sequence[Scan],
    mask: Mask,
    design: Design,
    zscore: bool,
    report: Callable[[int], object] = lambda volumes: None,
) -> Series:
    """Read every scan once, volume by volume.

    With ``zscore``, a number x of run r becomes (x − mean_r)/sd_r, with the mean and the standard
    deviation (divisor n) of the voxel in all volumes of the run, whether they have a class or not.

    Parameters
    ----------
    report : callable
        Is given the number of volumes read so far.
    """
    row = np.full(len(design.run_of_all), -1, np.intp)
    row[design.volumes] = np.arange(len(design.volumes))
    needed = design.run_of_all >= 0 if zscore else row >= 0
    single = not zscore and all(scan.is_single for scan in scans)
    values = np.empty((len(design.volumes), len(mask.voxels)), np.float32 if single else np.float64)
    of_runs = _RunSums(len(design.runs), len(mask.voxels)) if zscore else None
    first = 0
    for scan in scans:
        wanted = np.flatnonzero(needed[first : first + scan.volumes])
        for volume, numbers in scan.read(mask, wanted):
            if row[first + volume] >= 0:
                values[row[first + volume]] = numbers
            if of_runs is not None:
                of_runs.add(int(design.run_of_all[first + volume]), numbers)
            report(first + volume + 1)
        first += scan.volumes
    if of_runs is not None:
        of_runs.standardise(values, design.run_bounds)
    runs = [values[start:stop] for start, stop in design.run_bounds]
    return Series(
        values,
        np.stack([run.min(axis=0) for run in runs]).astype(np.float64),
        np.stack([run.max(axis=0) for run in runs]).astype(np.float64),
    )


class _RunSums:
    """Σ(x − p) and Σ(x − p)² of the volumes of each run; p is the first volume."""

    def __init__(self, runs: int, voxels: int) -> None:
        self.count = np.zeros(runs)
        self.sums, self.squares = np.zeros((runs, voxels)), np.zeros((runs, voxels))
        self.low = np.full((runs, voxels), np.inf)
        self.high = np.full((runs, voxels), -np.inf)
        self.pivot: NDArray[np.float64] | None = None

    def add(self, run: int, volume: NDArray[Any]) -> None:
        x = volume.astype(np.float64)
        if self.pivot is None:
            self.pivot = x
        self.count[run] += 1
        np.minimum(self.low[run], x, out=self.low[run])
        np.maximum(self.high[run], x, out=self.high[run])
        x = x - self.pivot
        self.sums[run] += x
        self.squares[run] += x * x

    def standardise(self, values: NDArray[Any], bounds: NDArray[np.int64]) -> None:
        """Standardise the volumes of each run in place; a voxel without spread becomes 0."""
        for run, (start, stop) in enumerate(bounds):
            mean = self.sums[run] / self.count[run]
            variance = self.squares[run] / self.count[run] - mean * mean
            flat = (self.low[run] == self.high[run]) | ~(variance > 0)
            sd = np.sqrt(np.where(flat, np.inf, variance))
            values[start:stop] -= self.pivot
            values[start:stop] -= mean
            values[start:stop] /= sd
            values[start:stop, flat] = 0.0
