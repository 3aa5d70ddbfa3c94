"""Maps of accuracies: CPU seconds of ours and of nilearn's, from arrays and from files."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.brains import RADIUS, labels, write_brain
from benchmarks.measure.memory import high_water

__all__ = ["CUBE", "nilearn", "our_brain", "seconds", "their_brain", "write_brain"]

CUBE: dict[str, Any] = {"shape": "cube", "radius": 1}


def seconds(call: Callable[[], object], runs: int = 1) -> tuple[float, float]:
    """CPU and wall seconds of a call, the least of several."""
    taken = []
    for _ in range(runs):
        cpu, wall = time.process_time(), time.perf_counter()
        call()
        taken.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(one for one, _ in taken), min(other for _, other in taken)


def nilearn(
    image: Any, mask: Any, y: Any, runs: Any, jobs: int, process: Any = None, radius: float = RADIUS
) -> Any:
    """The map of nilearn, with scikit-learn's GaussianNB."""
    from nilearn.decoding import SearchLight
    from sklearn.model_selection import LeaveOneGroupOut
    from sklearn.naive_bayes import GaussianNB

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        light = SearchLight(
            mask, process, radius, estimator=GaussianNB(), n_jobs=jobs, cv=LeaveOneGroupOut()
        )
        return light.fit(image, y, runs)


def our_brain(folder: Path, permutations: int) -> tuple[float, int | None]:
    """CPU seconds from file to file, and bytes at the peak above the imports."""
    import nibabel  # noqa: F401
    import scipy.ndimage  # noqa: F401

    from suffice.images import SearchLight

    y, runs = labels()
    y_small, runs_small = np.array([0, 1, 1, 0]), [0, 0, 1, 1]
    SearchLight(**CUBE).fit(np.arange(8.0).reshape(2, 1, 1, 4), y_small, runs_small)
    before = high_water()

    def work() -> None:
        light = SearchLight(
            folder / "mask.nii.gz",
            leave_out=["rest"],
            permutations=permutations,
            random_state=0,
            **CUBE,
        )
        light.fit(folder / "bold.nii", y, runs)
        light.scores_img_.to_filename(folder / "accuracy.nii.gz")

    cpu, _ = seconds(work)
    after = high_water()
    return cpu, None if before is None or after is None else after - before


def their_brain(folder: Path, sample: int) -> tuple[float, float]:
    """CPU seconds of nilearn for one searchlight, and for a sample more."""
    import nibabel

    y, runs = labels()
    shown = y != "rest"
    bold, mask = nibabel.load(folder / "bold.nii"), nibabel.load(folder / "mask.nii.gz")
    image = nibabel.Nifti1Image(np.asarray(bold.dataobj)[..., shown], bold.affine)
    inside = np.argwhere(np.asarray(mask.dataobj))

    def searchlights(number: int) -> float:
        some = np.zeros(mask.shape, np.uint8)
        some[tuple(inside[:: len(inside) // number][:number].T)] = 1
        process = nibabel.Nifti1Image(some, mask.affine)
        return seconds(lambda: nilearn(image, mask, y[shown], runs[shown], 1, process))[0]

    searchlights(1)  # imports
    return searchlights(1), searchlights(sample + 1)
