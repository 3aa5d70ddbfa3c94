"""What each class looks like, voxel by voxel, and which voxels speak for it: functions of sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.images.design import Design
from suffice.images.scoring import LearntSums

__all__ = ["class_evidence", "class_mean", "class_sd"]


def class_mean(learnt: LearntSums, c: int) -> NDArray[np.float64]:
    """The mean of each voxel over the volumes of a class, (V,)."""
    here = learnt.label == c
    shift = learnt.sums[here].sum(axis=0) / learnt.count[here].sum()
    return np.asarray(learnt.pivot + shift, np.float64)


def class_sd(learnt: LearntSums, c: int) -> NDArray[np.float64]:
    """The standard deviation (divisor n) of each voxel over the volumes of a class, (V,)."""
    here = learnt.label == c
    n = learnt.count[here].sum()
    mean = learnt.sums[here].sum(axis=0) / n
    variance = learnt.squares[here].sum(axis=0) / n - mean * mean
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def class_evidence(learnt: LearntSums, design: Design, c: int) -> NDArray[np.float64]:
    """How much each voxel speaks for a class on its held-out volumes, (V,), in nats a volume.

    ::

        mean over held-out volumes x of class c of
            log p(x | c) − mean over the other classes b of log p(x | b)

    with the densities that were learnt without x. The evidence of a neighbourhood is the sum over
    its voxels. For n volumes with the sums S and Q about the pivot p, and μ′ = μ − p,
    Σ log p(x | b) = n a_b − h_b (Q − 2μ′S + nμ′²), so no image is read.
    """
    total, volumes = np.zeros(learnt.sums.shape[1]), 0.0
    for fold, trained in enumerate(design.trained):
        held_out = design.tested if design.tested.any() else ~trained
        cells = np.flatnonzero(np.repeat(held_out, design.k) & (learnt.label == c))
        n = learnt.count[cells].sum()
        s, q = (sums[cells].sum(axis=0)[:, None] for sums in (learnt.sums, learnt.squares))
        mean, a, h = np.moveaxis(learnt.parameters(fold), 2, 0)
        shift = mean - learnt.pivot[:, None]
        score = n * a - h * (q - 2 * shift * s + n * shift * shift)
        score[learnt.silent[fold].astype(bool)] = 0.0
        others = (score.sum(axis=1) - score[:, c]) / (design.k - 1)
        total += score[:, c] - others
        volumes += n
    return total / volumes if volumes else np.full_like(total, np.nan)
