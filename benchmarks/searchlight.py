"""The searchlight beside nilearn's, and what its null finds: ``python -m benchmarks.searchlight``.

``slice`` is the slice of the Haxby study, ``brain`` a simulated one of 30,000 voxels, ``power``
regions that are planted in noise. CPU seconds are those of the process, so other work on the
machine is not counted; nilearn runs in one job for them and in two for the wall clock. Each figure
of the brain is taken in a process of its own. nilearn's time for a brain is reckoned from 48 of its
searchlights.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.memory import fresh_process, high_water

DATA = Path(os.environ.get("SUFFICE_DATA", Path(__file__).parents[2] / "shared" / "data"))
SLICE = DATA / "haxby_slice"
SHAPE, VOXELS = (40, 64, 64), 30_000
SAMPLE = 48  # searchlights of nilearn from which those of a brain are reckoned
CUBE: dict[str, Any] = {"shape": "cube", "radius": 1}
AFFINE = np.diag([3.1, 3.75, 3.75, 1.0])  # within 6.6 mm lie the voxels of a cube
RADIUS = 6.6
SHIFTS = (0.0, 0.1, 0.15, 0.25)  # of a voxel, in standard deviations


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.searchlight", description=__doc__)
    parser.add_argument("what", nargs="*", default=["slice", "brain", "power"])
    parser.add_argument("--brains", type=int, default=200, help="small brains of the power table")
    parser.add_argument("--without-nilearn", action="store_true")
    chosen = parser.parse_args()
    for what in chosen.what:
        lines = {"slice": of_slice, "brain": of_brain, "power": of_power}[what](chosen)
        for line in lines:
            print(line, flush=True)


def seconds(call: Callable[[], object], runs: int = 1) -> tuple[float, float]:
    """CPU and wall seconds of a call, the least of several."""
    taken = []
    for _ in range(runs):
        cpu, wall = time.process_time(), time.perf_counter()
        call()
        taken.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(one for one, _ in taken), min(other for _, other in taken)


def labels() -> tuple[NDArray[Any], NDArray[Any]]:
    from suffice.images.labels import read_attributes

    y, runs = read_attributes(SLICE / "attributes_literal.txt")
    return np.array(y), np.array(runs or [], int)


# -- the slice


def of_slice(chosen: Any) -> Iterator[str]:
    import nibabel

    from suffice.images import SearchLight

    y, runs = labels()
    bold, mask = nibabel.load(SLICE / "bold.nii.gz"), SLICE / "mask.nii.gz"
    shown = y != "rest"
    data = np.asarray(bold.dataobj)[..., shown]
    inside = np.asarray(nibabel.load(mask).dataobj) > 0

    def in_memory(**options: Any) -> Any:
        return SearchLight(inside, **CUBE, **options).fit(data, y[shown], runs[shown])

    def from_file() -> Any:
        light = SearchLight(mask, leave_out=["rest"], **CUBE)
        return light.fit(SLICE / "bold.nii.gz", y, runs)

    def permuted(number: int) -> Any:
        return in_memory(permutations=number, random_state=0)

    in_memory(), from_file()
    memory, file = seconds(in_memory, 10), seconds(from_file, 10)
    both = seconds(lambda: in_memory(n_jobs=2), 10)
    few, many = seconds(lambda: permuted(20)), seconds(lambda: permuted(220))
    yield "| slice | CPU s | wall s |"
    yield "|---|---|---|"
    yield f"| arrays in memory | {memory[0]:.4f} | {memory[1]:.4f}, two threads {both[1]:.4f} |"
    yield f"| file | {file[0]:.4f} | {file[1]:.4f} |"
    yield f"| permutations a CPU second | {200 / (many[0] - few[0]):.0f} | |"
    if chosen.without_nilearn:
        return
    image = nibabel.Nifti1Image(data, bold.affine)

    def theirs(jobs: int) -> tuple[float, float]:
        return seconds(lambda: nilearn(image, mask, y[shown], runs[shown], jobs))

    one, two = theirs(1), theirs(2)
    yield f"| nilearn | {one[0]:.2f} | {one[1]:.2f}, two jobs {two[1]:.2f} |"
    yield f"| ratio, memory | {one[0] / memory[0]:.0f} | {two[1] / both[1]:.0f} |"
    yield f"| ratio, file | {one[0] / file[0]:.0f} | |"


def nilearn(image: Any, mask: Any, y: Any, runs: Any, jobs: int, process: Any = None) -> Any:
    from nilearn.decoding import SearchLight
    from sklearn.model_selection import LeaveOneGroupOut
    from sklearn.naive_bayes import GaussianNB

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        radius = 6.15 if process is None else RADIUS
        light = SearchLight(
            mask, process, radius, estimator=GaussianNB(), n_jobs=jobs, cv=LeaveOneGroupOut()
        )
        return light.fit(image, y, runs)


# -- a brain


def ellipsoid() -> NDArray[np.bool_]:
    """The 30,000 voxels that are nearest to the middle, in units of the axes."""
    place = np.indices(SHAPE).reshape(3, -1).T
    half = np.array(SHAPE) / 2
    distance = (((place - half + 0.5) / half) ** 2).sum(axis=1)
    inside = np.zeros(len(place), bool)
    inside[np.argsort(distance, kind="stable")[:VOXELS]] = True
    return inside.reshape(SHAPE)


def write_brain(folder: Path) -> None:
    """Simulate: each voxel is a share of the course of a voxel of the slice, and AR(1) noise."""
    import nibabel

    rng = np.random.default_rng(0)
    inside = ellipsoid()
    mask = np.asarray(nibabel.load(SLICE / "mask.nii.gz").dataobj) > 0
    course = np.asarray(nibabel.load(SLICE / "bold.nii.gz").dataobj, np.float32)[mask]
    course = (course - course.mean(axis=1)[:, None]) / course.std(axis=1)[:, None]
    source, amplitude = rng.integers(0, len(course), VOXELS), rng.random(VOXELS).astype(np.float32)
    volumes = course.shape[1]
    data = np.zeros((*SHAPE, volumes), np.int16, order="F")
    noise = rng.standard_normal(VOXELS).astype(np.float32)
    for t in range(volumes):
        noise = 0.4 * noise + np.float32(0.84**0.5) * rng.standard_normal(VOXELS, np.float32)
        data[..., t][inside] = 1000 + 30 * (amplitude * course[source, t] + noise)
    nibabel.save(nibabel.Nifti1Image(data, AFFINE), folder / "bold.nii")
    nibabel.save(nibabel.Nifti1Image(inside.astype(np.uint8), AFFINE), folder / "mask.nii.gz")


def our_brain(folder: Path, permutations: int) -> tuple[float, float, int]:
    """CPU and wall seconds from file to file, and bytes at the peak above the imports."""
    import nibabel  # noqa: F401
    import scipy.ndimage  # noqa: F401

    from suffice.images import SearchLight

    y, runs = labels()
    y_small, runs_small = np.array([0, 1, 1, 0]), [0, 0, 1, 1]
    SearchLight(**CUBE).fit(np.arange(8.0).reshape(2, 1, 1, 4), y_small, runs_small)
    before = high_water() or 0

    def work() -> None:
        light = SearchLight(
            folder / "mask.nii.gz", None, leave_out=["rest"], permutations=permutations,
            random_state=0, **CUBE,
        )  # fmt: skip
        light.fit(folder / "bold.nii", y, runs)
        light.scores_img_.to_filename(folder / "accuracy.nii.gz")

    taken = seconds(work)
    return *taken, (high_water() or 0) - before


def their_brain(folder: Path) -> tuple[float, float]:
    """CPU seconds of nilearn for one searchlight, and for 48 more."""
    import nibabel

    y, runs = labels()
    shown = y != "rest"
    data = np.asarray(nibabel.load(folder / "bold.nii").dataobj)[..., shown]
    image, mask = nibabel.Nifti1Image(data, AFFINE), folder / "mask.nii.gz"
    inside = np.argwhere(ellipsoid())

    def searchlights(number: int) -> float:
        some = np.zeros(SHAPE, np.uint8)
        some[tuple(inside[:: len(inside) // number][:number].T)] = 1
        process = nibabel.Nifti1Image(some, AFFINE)
        return seconds(lambda: nilearn(image, mask, y[shown], runs[shown], 1, process))[0]

    return searchlights(1), searchlights(SAMPLE + 1)


def of_brain(chosen: Any) -> Iterator[str]:
    with TemporaryDirectory() as name, fresh_process() as pool:
        folder = Path(name)
        pool.submit(write_brain, folder).result()
        cpu, wall, peak = pool.submit(our_brain, folder, 0).result()
        few, _, _ = pool.submit(our_brain, folder, 19).result()
        each = (few - cpu) / 19
        yield "| brain | CPU s | wall s | MB |"
        yield "|---|---|---|---|"
        yield f"| .nii to .nii.gz | {cpu:.2f} | {wall:.2f} | {peak / 1e6:.0f} |"
        yield f"| permutations a CPU second | {1 / each:.2f} | | |"
        if not chosen.without_nilearn:
            one, many = pool.submit(their_brain, folder).result()
            theirs = one + (many - one) / SAMPLE * VOXELS
            yield f"| nilearn, from {SAMPLE} searchlights ({many - one:.1f} s) | {theirs:.0f} | | |"
            yield f"| ratio | {theirs / cpu:.0f} | | |"


# -- planted regions


def of_power(chosen: Any) -> Iterator[str]:
    """Power and false positives: a 5 x 5 x 5 region in noise, 2 classes, 10 runs of 40 volumes."""
    yield "| shift, in sd | brains | found | in the region | false alarms | voxels outside |"
    yield "|---|---|---|---|---|---|"
    for shift in SHIFTS:
        found = np.array([planted(shift, seed) for seed in range(chosen.brains)])
        any_in, share, any_out, out = found.mean(axis=0)
        yield (
            f"| {shift:.2f} | {len(found)} | {any_in:.1%} | {share:.1%} | {any_out:.1%} "
            f"| {out:.2%} |"
        )


def planted(shift: float, seed: int) -> tuple[float, float, float, float]:
    """Whether anything in the region is found, and how much; and anything that it cannot reach."""
    from suffice.images import SearchLight

    rng = np.random.default_rng([seed, round(1000 * shift)])
    y = np.concatenate([np.repeat(rng.permutation([0, 1] * 4), 5) for _ in range(10)])
    runs = np.repeat(np.arange(10), 40)
    imgs = rng.standard_normal((15, 15, 15, 400), np.float32)
    imgs[5:10, 5:10, 5:10] += np.float32(shift) * y.astype(np.float32)
    light = SearchLight(permutations=200, random_state=seed, n_jobs=1, **CUBE).fit(imgs, y, runs)
    above = light.scores_ > light.fwe_threshold_
    region = above[5:10, 5:10, 5:10].copy()
    above[4:11, 4:11, 4:11] = False  # cubes around these voxels reach into the region
    outside = above.size - 7**3
    return float(region.any()), float(region.mean()), float(above.any()), above.sum() / outside


if __name__ == "__main__":
    main()
