"""Sums over blocks of volumes, and what Gaussian naive Bayes that learnt them predicts.

For every voxel, class and fold, from sums about a pivot p:

::

    mle   μ = x̄,  σ² = Σ(x − x̄)²/n
    map   μ = (x̄ n + m₀)/(n + 1),  σ² = (Σ(x − x̄)² + 2σ₀² + n (x̄ − m₀)²/(n + 1))/(n + 5)

with the mean m₀ and the variance σ₀² of all classes together, as `suffice.families.Gaussian` has
it by default. A variance is at least ``variance_floor`` σ₀². A voxel that shows one number only in
what a fold learns from says nothing. Of equally probable classes the first is predicted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.engines.threads import threads
from suffice.images.design import Design
from suffice.images.neighbourhoods import Neighbourhoods
from suffice.images.series import Series
from suffice.numerics import kernels

__all__ = ["PRIORS", "LearntSums", "accuracy", "predict", "sums_of_classes"]

CERTAIN = 2.0**-100  # the least fraction that a variance has, as in `Gaussian`
PRIORS = {"mle": (0.0, 0.0, 0.0), "map": (5.0, 1.0, 2.0)}  # ν, κ, strength: see the kernel


@dataclass(frozen=True, eq=False)
class LearntSums:
    """Sums over blocks, and which of them each fold learns from.

    Parameters
    ----------
    sums, squares : ndarray (B, V)
        Σ(x − p), Σ(x − p)².
    pivot : ndarray (V,)
    label : ndarray of int32 (B,)
        The class of each block.
    count : ndarray (B,)
        Its number of volumes.
    trained : ndarray of uint8 (F, B)
        Whether a fold learns from it.
    silent : ndarray of uint8 (F, V)
        Whether a voxel says nothing.
    prior : ndarray (4,)
        ν, κ, strength and variance floor.
    """

    sums: NDArray[Any]
    squares: NDArray[Any]
    pivot: NDArray[Any]
    label: NDArray[np.int32]
    count: NDArray[np.float64]
    trained: NDArray[np.uint8]
    silent: NDArray[np.uint8]
    prior: NDArray[np.float64]

    def parameters(self, fold: int) -> NDArray[np.float64]:
        """μ, −½ log σ² and 1/(2σ²) of voxels and classes as a fold learns them, (V, k, 3)."""
        out = np.empty((self.sums.shape[1], int(self.label.max()) + 1, 3))
        kernels.searchlight.parameters(*(*self.arguments(), fold, out))
        return out

    def arguments(self) -> tuple[Any, ...]:
        """The fields in the order in which the kernels take them."""
        return tuple(vars(self).values())


def sums_of_classes(
    series: Series, design: Design, estimation: str, variance_floor: float
) -> LearntSums:
    """Sum the volumes of each run and class."""
    k, voxels = design.k, series.values.shape[1]
    cell = design.run * k + design.code
    cells = len(design.runs) * k
    sums, squares = np.zeros((cells, voxels)), np.zeros((cells, voxels))
    pivot = series.values[0].astype(np.float64)
    kernels.searchlight.add_volumes(series.values, cell, pivot, sums, squares)
    return LearntSums(
        sums,
        squares,
        pivot,
        np.tile(np.arange(k, dtype=np.int32), len(design.runs)),
        np.bincount(cell, minlength=cells).astype(np.float64),
        np.repeat(design.trained, k, axis=1).astype(np.uint8),
        series.silent(design.trained).astype(np.uint8),
        np.array([*PRIORS[estimation], max(variance_floor, CERTAIN)]),
    )


def predict(
    series: Series, learnt: LearntSums, near: Neighbourhoods, design: Design, workers: int
) -> NDArray[np.int16]:
    """Predict the class of every held-out volume in every neighbourhood, (T, N)."""
    fold, bounds = _pieces(design.bounds, workers)
    given = list(learnt.arguments())
    given[5], given[6] = learnt.trained[fold], learnt.silent[fold]
    classes = np.empty((len(design.run), len(near)), np.int16)
    classes[~design.predicted] = -1

    def work(some: NDArray[np.int64]) -> None:
        rows: tuple[Any, ...] = (series.values, *given, near.indptr, near.indices)
        kernels.searchlight.predict(*(*rows, some, bounds, classes))

    parts = [np.arange(w, len(fold), workers) for w in range(min(workers, len(fold)))]
    for _ in in_threads(work, parts, workers):
        pass
    return classes


def in_threads(work: Any, tasks: Any, workers: int) -> Iterator[Any]:
    """Yield the results of tasks in their order, worked on by so many threads."""
    if workers == 1:
        yield from map(work, tasks)
        return
    stop = kernels.interrupts.Stop()
    try:
        yield from threads(workers).map(lambda task: stop.call(partial(work, task)), tasks)
    finally:
        stop.set()  # what has begun and is not asked for any more


def _pieces(bounds: NDArray[np.int64], workers: int) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Cut folds into pieces, a piece for every worker at least; the fold and bounds of each."""
    number = -(-workers // len(bounds))
    pieces = [
        (fold, start, stop)
        for fold, (first, last) in enumerate(bounds.tolist())
        for start, stop in _cut(first, last, number)
    ]
    found = np.array(pieces, np.int64)
    return found[:, 0].astype(np.intp), np.ascontiguousarray(found[:, 1:])


def _cut(first: int, last: int, number: int) -> Iterator[tuple[int, int]]:
    edges = np.linspace(first, last, number + 1).astype(int).tolist()
    return pairwise(edges)


def accuracy(correct: NDArray[np.integer[Any]], sizes: NDArray[Any]) -> NDArray[np.float64]:
    """The mean over folds of the fraction of volumes that are predicted, (N,)."""
    return np.asarray((correct / sizes[:, None]).mean(axis=0))
