"""What a map of accuracies would look like if labels meant nothing: the permutation null.

The labels of blocks are exchanged within their runs. Volumes of one block are not exchangeable:
they follow each other, so they resemble each other whatever they show.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from suffice.errors import ParameterError
from suffice.images.design import Design
from suffice.images.grids import Mask
from suffice.images.neighbourhoods import Neighbourhoods
from suffice.images.scoring import LearntSums, accuracy, in_threads
from suffice.images.series import Series
from suffice.numerics import kernels
from suffice.phrases import Option, Phrase

__all__ = ["Cluster", "Null", "every_labelling", "null_maps", "random_labellings"]

FAMILYWISE_LEVEL = 0.05  # of the family-wise error
CLUSTER_LEVEL = 0.001  # of a voxel that may belong to a cluster
MOST_LABELLINGS = 100_000  # labellings that are enumerated


# -- labellings


def random_labellings(design: Design, number: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Permute the labels of the blocks of each run, (P, B)."""
    labels = np.tile(design.block_code, (number, 1))
    for run in range(len(design.runs)):
        here = design.block_run == run
        labels[:, here] = rng.permuted(labels[:, here], axis=1)
    return labels


def every_labelling(design: Design) -> NDArray[np.int32]:
    """All distinct labellings of the blocks within their runs, (P, B).

    Raises
    ------
    ParameterError
        If there are more than 100,000.
    """
    runs = [design.block_code[design.block_run == run] for run in range(len(design.runs))]
    number = math.prod(map(_arrangements, runs))
    if number > MOST_LABELLINGS:
        raise ParameterError(
            Phrase(Option.of("permutations", "all"), f" asks for {number:,} labellings"),
            f"up to {MOST_LABELLINGS:,} are enumerated",
            Phrase("draw some: ", Option("permutations", "1000")),
        )
    each = [list(_distinct(Counter(run.tolist()), len(run))) for run in runs]
    # Blocks are numbered run by run.
    return np.array([sum(chosen, ()) for chosen in itertools.product(*each)], np.int32)


def _arrangements(labels: NDArray[np.int32]) -> int:
    return math.factorial(len(labels)) // math.prod(
        map(math.factorial, np.unique(labels, return_counts=True)[1].tolist())
    )


def _distinct(left: Counter[int], length: int) -> Iterator[tuple[int, ...]]:
    if length == 0:
        yield ()
    for label in sorted(label for label, number in left.items() if number):
        left[label] -= 1
        yield from ((label, *rest) for rest in _distinct(left, length - 1))
        left[label] += 1


# -- maps


def null_maps(
    series: Series,
    learnt: LearntSums,
    near: Neighbourhoods,
    design: Design,
    labellings: NDArray[np.int32],
    workers: int,
    report: Callable[[int], object] = lambda maps: None,
) -> NDArray[np.float64]:
    """Accuracies under each labelling, (P, N), predicted in single precision.

    The sums of the blocks are relabelled; no image is read. One labelling is worked on by one
    thread, so their number changes no bit.
    """
    values = _standardised(series.values)
    blocks, voxels = len(design.first_of_block), values.shape[1]
    sums, squares = np.zeros((2, blocks, voxels), np.float32)
    pivot = np.zeros(voxels, np.float32)
    kernels.searchlight.add_volumes(values, design.block, pivot, sums, squares)
    of_blocks = replace(
        learnt,
        sums=sums,
        squares=squares,
        pivot=pivot,
        count=np.bincount(design.block).astype(np.float64),
        trained=design.trained[:, design.block_run].astype(np.uint8),
    )
    folds = np.arange(len(design.bounds))
    sizes = np.diff(design.bounds, axis=1).ravel()

    def work(label: NDArray[np.int32]) -> NDArray[np.float64]:
        correct = np.zeros((len(folds), len(near)), np.int32)
        given = replace(of_blocks, label=label).arguments()
        truth = label[design.block]
        rows: tuple[Any, ...] = (values, *given, near.indptr, near.indices)
        kernels.searchlight.count(*(*rows, folds, design.bounds, truth, correct))
        return accuracy(correct, sizes)

    maps = np.empty((len(labellings), len(near)))
    for p, found in enumerate(in_threads(work, labellings, workers)):
        maps[p] = found
        report(p + 1)
    return maps


def _standardised(values: NDArray[Any]) -> NDArray[np.float32]:
    """Every voxel with mean 0 and variance 1, or 0 throughout: no class changes by it."""
    out = np.empty(values.shape, np.float32)
    for first in range(0, values.shape[1], 1024):
        x = values[:, first : first + 1024].astype(np.float64)
        x -= x.mean(axis=0)
        sd = np.sqrt((x * x).mean(axis=0))
        out[:, first : first + 1024] = x / np.where(sd > 0, sd, np.inf)
    return out


# -- what follows from them


@dataclass(frozen=True)
class Cluster:
    """Voxels above the cluster-forming accuracy that touch each other by a face.

    Parameters
    ----------
    voxels : int
        How many.
    peak : tuple of 3 int
        The most accurate of them.
    position : tuple of 3 float
        Its place in millimetres.
    score : float
        Its accuracy.
    p : float
        Share of null maps with a cluster as large: family-wise.
    """

    voxels: int
    peak: tuple[int, int, int]
    position: tuple[float, float, float]
    score: float
    p: float


@dataclass(frozen=True, eq=False)
class Null:
    """Accuracies under permuted labels, and thresholds that follow.

    Parameters
    ----------
    every : ndarray (P, N + regions)
        Of N centres, and of regions after them.
    centres : Mask
        Of the N voxels.
    enumerated : bool
        Whether the labellings are all there are; otherwise the observed one is counted beside
        those drawn, p = (1 + #{null ≥ observed})/(1 + P).
    """

    every: NDArray[np.float64]
    centres: Mask
    enumerated: bool

    @cached_property
    def maps(self) -> NDArray[np.float64]:
        """Of the centres, (P, N)."""
        return self.every[:, : int(self.centres.inside.sum())]

    @property
    def largest(self) -> NDArray[np.float64]:
        """The largest accuracy of every map, (P,)."""
        return np.asarray(self.maps.max(axis=1))

    @cached_property
    def cluster_cut(self) -> float:
        """The accuracy that one in a thousand voxels of null maps exceeds at most."""
        everywhere = self.maps.ravel()
        allowed = int(CLUSTER_LEVEL * everywhere.size)
        return float(np.partition(everywhere, -allowed - 1)[-allowed - 1])

    @cached_property
    def largest_clusters(self) -> NDArray[np.intp]:
        """The largest number of voxels of a cluster of every map, (P,)."""
        return np.array([max(self._sizes(found), default=0) for found in self.maps], np.intp)

    def voxel_p(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """How often a null map is as accurate in the same voxel, (N,)."""
        return self._p((self.maps >= scores).sum(axis=0))

    def region_p(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """How often permuted labels are as accurate in each region."""
        regions = self.every[:, self.maps.shape[1] :]
        return self._p((regions >= scores).sum(axis=0))

    def family_wise_p(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """How often a null map is as accurate anywhere, (N,)."""
        ordered = np.sort(self.largest)
        below = np.searchsorted(ordered, scores, side="left")
        return self._p(len(ordered) - below)

    def threshold(self, of_maps: NDArray[Any]) -> float:
        """What 5 % of the null maps exceed at most; ∞ where they are too few to say."""
        total = len(of_maps) + (not self.enumerated)
        allowed = math.floor(FAMILYWISE_LEVEL * total + 1e-9) - (not self.enumerated)
        return math.inf if allowed < 0 else float(np.sort(of_maps)[::-1][allowed])

    def clusters(self, scores: NDArray[np.float64]) -> tuple[Cluster, ...]:
        """The clusters of a map, the largest first."""
        volume = self.centres.filled(scores, -np.inf)
        numbers, found = ndimage.label(volume > self.cluster_cut)
        clusters = []
        for number in range(1, found + 1):
            here = numbers == number
            peak = np.unravel_index(np.where(here, volume, -np.inf).argmax(), volume.shape)
            place = self.centres.grid.position(peak)
            size = int(here.sum())
            p = float(self._p(np.array((self.largest_clusters >= size).sum())))
            where: Sequence[Any] = [int(i) for i in peak]
            at: Sequence[Any] = place.tolist()
            clusters.append(Cluster(size, tuple(where), tuple(at), float(volume[peak]), p))
        return tuple(sorted(clusters, key=lambda cluster: (-cluster.voxels, cluster.peak)))

    def _sizes(self, found: NDArray[np.float64]) -> list[int]:
        numbers, _ = ndimage.label(self.centres.filled(found, -np.inf) > self.cluster_cut)
        sizes: list[int] = np.bincount(numbers.ravel())[1:].tolist()
        return sizes

    def _p(self, as_large: NDArray[Any]) -> NDArray[np.float64]:
        added = not self.enumerated
        return np.asarray((as_large + added) / (len(self.maps) + added))
