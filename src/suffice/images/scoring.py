"""Gaussian naive Bayes in every neighbourhood of voxels, from sums over blocks of volumes.

For every voxel, class and fold, from sums about a pivot p:

::

    log p(x | c) = −½ log σ² − (x − μ)²/(2σ²)    μ = x̄,  σ² = Σ(x − x̄)²/n

A variance is at least 10⁻⁹ of that of the same voxel over all classes. A voxel that is constant in
the training volumes of a fold has no likelihood. Of equally probable classes the first is
predicted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.engines.engine import threads
from suffice.errors import DataError, ParameterError
from suffice.images.design import Design
from suffice.images.scans import Grid, Mask, Scan
from suffice.numerics import kernels

Shape = Literal["ball", "cube"]
RADIUS_TOLERANCE = 1e-6  # of the radius: affines are stored in single precision
PRIOR = np.array([0.0, 0.0, 0.0, 1e-9])  # of maximum likelihood, with its floor: see the kernel


# -- neighbourhoods


class Neighbourhoods(NamedTuple):
    """The voxels of N neighbourhoods: row n is ``indices[indptr[n]:indptr[n + 1]]``, increasing."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    def with_all(self, voxels: int) -> Neighbourhoods:
        """Add a last row of all voxels."""
        ends = np.append(self.indptr, self.indptr[-1] + voxels)
        return Neighbourhoods(ends, np.append(self.indices, np.arange(voxels, dtype=np.int32)))


def neighbourhoods(mask: Mask, centres: Mask, shape: Shape, radius: float) -> Neighbourhoods:
    """Find the voxels of a mask in a ball or cube around every centre.

    A ball holds the voxels whose centres are at most ``radius`` millimetres away, whatever the
    rotation of the grid; a cube those at most ``radius`` voxels away along each axis.
    """
    offsets = _offsets(mask.grid, shape, radius)
    widest = abs(offsets).max(axis=0)
    inner = mask.filled(np.arange(len(mask.voxels), dtype=np.int32), -1)
    numbers = np.pad(inner, [(w, w) for w in widest], constant_values=-1)
    flat = np.ravel_multi_index(tuple((centres.voxels + widest).T), numbers.shape)
    found = numbers.ravel()[
        flat[:, None] + offsets @ (np.array(numbers.strides) // numbers.itemsize)
    ]
    sizes = (found >= 0).sum(axis=1)
    if not sizes.all():
        alone = centres.voxels[sizes == 0]
        raise DataError(
            f"voxel {tuple(alone[0].tolist())} of the process mask has no neighbour in the mask",
            f"a searchlight needs a voxel at least; {len(alone)} have none",
            "use a process mask inside the mask, or a larger radius",
        )
    return Neighbourhoods(np.cumsum([0, *sizes]).astype(np.int64), found[found >= 0])


def _offsets(grid: Grid, shape: Any, radius: Any) -> NDArray[np.intp]:
    """Steps from a centre to its neighbours, (P, 3), in the order of voxels."""
    if shape not in ("ball", "cube"):
        raise ParameterError(f"shape={shape!r}", "shape is one of 'ball', 'cube'")
    real = isinstance(radius, Real) and not isinstance(radius, bool)
    if not (real and 0 <= float(radius) < np.inf):
        raise ParameterError(f"radius={radius!r}", "it is a number, 0 or more")
    if shape == "cube" and not float(radius).is_integer():
        raise ParameterError(
            f"radius={radius!r} of a cube", "a cube reaches a whole number of voxels"
        )
    # A ball reaches one voxel more than needed at most.
    reach = np.full(3, radius) if shape == "cube" else radius * _voxels_of_a_millimetre(grid) + 1
    widest = np.minimum(reach, np.array(grid.shape) - 1).astype(np.intp)
    offsets = np.indices(2 * widest + 1).reshape(3, -1).T - widest
    if shape == "ball":
        distance = np.sqrt(((offsets @ grid.axes.T) ** 2).sum(axis=1))
        offsets = offsets[distance <= float(radius) * (1 + RADIUS_TOLERANCE)]
    return np.asarray(offsets)


def _voxels_of_a_millimetre(grid: Grid) -> NDArray[np.float64]:
    """The largest number of voxels that a step of one millimetre makes along each axis."""
    if not (np.isfinite(grid.axes).all() and abs(np.linalg.det(grid.axes)) > 0):
        raise DataError(
            f"{grid.name} has an affine that maps its voxels to a plane",
            "a ball is measured in millimetres",
            "mend the header, or use a cube",
        )
    return np.asarray(np.sqrt((np.linalg.inv(grid.axes) ** 2).sum(axis=1)))


# -- series


def read_series(
    scans: Sequence[Scan], mask: Mask, design: Design, detrend: bool, zscore: bool
) -> tuple[NDArray[np.floating[Any]], NDArray[np.bool_]]:
    """Read every scan once; return the volumes that have a class, and which voxels are constant.

    ``values`` (T, V) are in single precision where it holds the numbers of the scans exactly, else
    in double; ``constant`` (F, V) says whether a voxel has one value in the runs of a fold's
    training. A run is cleaned in all its volumes, whether they have a class or not.
    """
    clean = detrend or zscore
    has_class = np.zeros(len(design.run_of_all), np.bool_)
    has_class[design.volumes] = True
    needed = design.run_of_all >= 0 if clean else has_class
    sizes = np.bincount(design.run_of_all[needed])
    single = not clean and all(scan.is_single for scan in scans)
    values = np.empty((len(design.volumes), len(mask.voxels)), np.float32 if single else np.float64)
    unfinished: list[list[NDArray[Any]]] = [[] for _ in design.runs]
    first = 0
    for scan in scans:
        wanted = np.flatnonzero(needed[first : first + scan.volumes])
        for volume, numbers in scan.read(mask, wanted):
            run = design.run_of_all[first + volume]
            unfinished[run].append(numbers)
            if len(unfinished[run]) == sizes[run]:
                series, unfinished[run] = np.stack(unfinished[run]), []
                if clean:
                    series = _cleaned(series.astype(np.float64), detrend, zscore)
                start, stop = design.bounds[run]
                values[start:stop] = series[has_class[needed & (design.run_of_all == run)]]
        first += scan.volumes
    runs = [values[start:stop] for start, stop in design.bounds]
    low, high = (np.stack([extreme(run, axis=0) for run in runs]) for extreme in (np.min, np.max))
    constant = [low[on].min(axis=0) == high[on].max(axis=0) for on in design.trained]
    return values, np.stack(constant)


def _cleaned(x: NDArray[np.float64], detrend: bool, zscore: bool) -> NDArray[np.float64]:
    """Clean the n volumes of a run (n, V) in place, each voxel by itself.

    ``detrend`` takes out the least-squares line over time, t = 0, …, n − 1, ``zscore`` the mean,
    and divides by the standard deviation (divisor n). What lies on a line but for rounding is 0.
    """
    n = len(x)
    rounding = n * np.finfo(np.float64).eps * np.abs(x).max(axis=0)
    x -= x[0].copy()
    x -= x.mean(axis=0)
    if detrend:
        t = (np.arange(n) - (n - 1) / 2)[:, None]
        x -= t * ((t * x).sum(axis=0) / (t * t).sum())
        x[:, np.abs(x).max(axis=0) <= rounding] = 0.0
    if zscore:
        sd = np.sqrt((x * x).mean(axis=0))
        x /= np.where(sd > 0, sd, np.inf)
    return x


# -- sums and predictions


class Sums(NamedTuple):
    """Sums over B blocks, in the order in which the kernels take them."""

    sums: NDArray[Any]  # (B, V): Σ(x − p)
    squares: NDArray[Any]  # (B, V): Σ(x − p)²
    pivot: NDArray[Any]  # (V,): p
    label: NDArray[np.int32]  # (B,): class of each block
    volumes: NDArray[np.float64]  # (B,): its number of volumes
    trained: NDArray[np.uint8]  # (F, B): whether a fold trains on it
    constant: NDArray[np.uint8]  # (F, V): whether a voxel has no likelihood
    prior: NDArray[np.float64] = PRIOR

    def class_mean(self, c: int) -> NDArray[np.float64]:
        """Return the mean of each voxel over the volumes of a class, (V,)."""
        here = self.label == c
        return np.asarray(self.pivot + self.sums[here].sum(axis=0) / self.volumes[here].sum())


def sums_of_classes(values: NDArray[Any], constant: NDArray[np.bool_], design: Design) -> Sums:
    """Sum the volumes of each run and class."""
    k, cells = len(design.classes), len(design.runs) * len(design.classes)
    cell = design.run * k + design.code
    sums, squares = np.zeros((2, cells, values.shape[1]))
    pivot = values[0].astype(np.float64)
    kernels.searchlight.add_volumes(values, cell, pivot, sums, squares)
    return Sums(
        sums,
        squares,
        pivot,
        np.tile(np.arange(k, dtype=np.int32), len(design.runs)),
        np.bincount(cell, minlength=cells).astype(np.float64),
        np.repeat(design.trained, k, axis=1).astype(np.uint8),
        constant.astype(np.uint8),
    )


def predict(
    values: NDArray[Any], learnt: Sums, near: Neighbourhoods, design: Design, workers: int
) -> NDArray[np.int16]:
    """Predict the class of every held-out volume in every neighbourhood, (T, N)."""
    each = -(-workers // len(design.bounds))  # pieces of a fold
    cuts = [np.linspace(a, b, each + 1).astype(np.int64) for a, b in design.bounds.tolist()]
    bounds = np.concatenate([np.stack([cut[:-1], cut[1:]], axis=1) for cut in cuts])
    fold = np.repeat(np.arange(len(cuts)), each)
    given = learnt._replace(trained=learnt.trained[fold], constant=learnt.constant[fold])
    classes = np.empty((len(values), len(near.indptr) - 1), np.int16)

    def work(piece: int) -> None:
        some = np.array([piece])
        kernels.searchlight.predict(values, *given, *near, some, bounds, classes)

    for _ in _in_threads(work, range(len(bounds)), workers):
        pass
    return classes


def null_scores(
    values: NDArray[Any],
    learnt: Sums,
    near: Neighbourhoods,
    design: Design,
    labellings: NDArray[np.int32],
    workers: int,
) -> Iterator[NDArray[np.float64]]:
    """Yield the accuracies under each labelling of the blocks, (N,), in single precision.

    The sums of the blocks are relabelled; no image is read. One thread works on a labelling, so
    the number of threads changes no bit.
    """
    values = _standardised(values)
    voxels = values.shape[1]
    sums, squares = np.zeros((2, labellings.shape[1], voxels), np.float32)
    pivot = np.zeros(voxels, np.float32)
    kernels.searchlight.add_volumes(values, design.block, pivot, sums, squares)
    volumes = np.bincount(design.block).astype(np.float64)
    trained = design.trained[:, design.run[design.first_of_block]].astype(np.uint8)
    folds, sizes = np.arange(len(design.bounds)), np.diff(design.bounds, axis=1).ravel()

    def work(label: NDArray[np.int32]) -> NDArray[np.float64]:
        of_blocks = Sums(sums, squares, pivot, label, volumes, trained, learnt.constant)
        correct = np.zeros((len(folds), len(near.indptr) - 1), np.int32)
        held_out: tuple[Any, ...] = (folds, design.bounds, label[design.block], correct)
        kernels.searchlight.count(*(values, *of_blocks, *near, *held_out))
        return accuracy(correct, sizes)

    return _in_threads(work, labellings, workers)


def accuracy(correct: NDArray[np.integer[Any]], sizes: NDArray[Any]) -> NDArray[np.float64]:
    """Return the mean over folds of the fraction of correct predictions, (N,)."""
    return np.asarray((correct / sizes[:, None]).mean(axis=0))


def p_values(null: NDArray[np.floating[Any]], observed: NDArray[Any]) -> NDArray[np.float64]:
    """Return (1 + #{null ≥ observed})/(1 + P): the observed labelling is one of 1 + P."""
    number = len(null)
    as_large = number - np.searchsorted(np.sort(null), observed)
    return np.asarray((1 + as_large) / (1 + number))


def _standardised(values: NDArray[Any]) -> NDArray[np.float32]:
    """Every voxel with mean 0 and variance 1, or 0 throughout: no prediction changes by it."""
    out = np.empty(values.shape, np.float32)
    for first in range(0, values.shape[1], 1024):
        x = values[:, first : first + 1024].astype(np.float64)
        x -= x.mean(axis=0)
        sd = np.sqrt((x * x).mean(axis=0))
        out[:, first : first + 1024] = x / np.where(sd > 0, sd, np.inf)
    return out


def _in_threads(work: Any, tasks: Any, workers: int) -> Iterator[Any]:
    """Yield the results of tasks in their order."""
    if workers == 1:
        yield from map(work, tasks)
        return
    stop = kernels.interrupts.Stop()
    try:
        yield from threads(workers).map(lambda task: stop.call(partial(work, task)), tasks)
    finally:
        stop.set()  # what has begun and is not asked for any more
