"""The searchlight beside nilearn's, and what its null finds in noise."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.brains import SLICE, VOXELS, labels, planted
from benchmarks.measure.memory import fresh_process
from benchmarks.measure.result import MB
from benchmarks.measure.searchlights import (
    CUBE,
    nilearn,
    our_brain,
    seconds,
    their_brain,
    write_brain,
)
from benchmarks.measure.task import Target

__all__ = ["BRAINS", "MAPS", "POWER", "Found", "Mapped", "found_in_noise", "maps"]

MAPS, POWER = ("slice", "brain"), "power"
BRAINS = 200  # small brains of a row of the table of power
SHIFTS = (0.0, 0.1, 0.15, 0.25)  # of a voxel, in standard deviations
SAMPLE = 192  # searchlights of nilearn from which those of a brain are reckoned
FEW, MANY = 20, 220  # permutations, whose difference is timed
CUBE_OF_SLICE = 6.15  # mm: on the slice a ball with the voxels of a cube
SEVERAL = 10


@dataclass(frozen=True)
class Mapped:
    """Seconds of a map and of nilearn's, by CPU unless said, or why there are none."""

    name: str
    what: str
    ours: float | None = None
    theirs: float | None = None
    memory: float | None = None
    targets: tuple[Target, ...] = ()
    absent: str = ""

    @property
    def ratio(self) -> float | None:
        return None if self.ours is None or self.theirs is None else self.theirs / self.ours

    def verdicts(self) -> list[str]:
        figures = {"ratio": self.ratio, "seconds": self.ours, "memory": self.memory}
        known = ((target, figures[target.figure]) for target in self.targets)
        return [target.verdict(value) for target, value in known if value is not None]


@dataclass(frozen=True)
class Found:
    """Of small brains with a shifted region, shares in which something is significant."""

    shift: float
    brains: int
    found: float
    region: float  # share of the voxels of the region
    false_alarms: float  # brains with a voxel that no cube joins to the region
    interval: tuple[float, float]  # of the false alarms, 95 %
    voxels: float  # share of such voxels


def maps(names: Collection[str], quick: bool) -> Iterator[Mapped]:
    """Time maps of the slice and of a brain; quick leaves out the brain's file of 475 MB."""
    for name, measure in (("slice", _of_slice), ("brain", _of_brain)):
        if name not in names:
            continue
        absent = "" if SLICE.exists() else f"there is no {SLICE.name} in SUFFICE_DATA"
        if name == "brain" and quick:
            absent = "not in quick runs"
        yield from [Mapped(name, "", absent=absent)] if absent else measure(quick)


def _of_slice(quick: bool) -> Iterator[Mapped]:
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

    def permuted(number: int) -> float:
        return seconds(lambda: in_memory(permutations=number, random_state=0))[0]

    def theirs(jobs: int) -> tuple[float | None, float | None]:
        if quick or find_spec("nilearn") is None:
            return None, None
        image = nibabel.Nifti1Image(data, bold.affine)
        return seconds(
            lambda: nilearn(image, mask, y[shown], runs[shown], jobs, radius=CUBE_OF_SLICE)
        )

    in_memory(), from_file(), theirs(1)
    (one, _), (_, two) = theirs(1), theirs(2)
    cpu, _ = seconds(in_memory, SEVERAL)
    _, wall = seconds(lambda: in_memory(n_jobs=2), SEVERAL)
    file, _ = seconds(from_file, SEVERAL)
    each = (permuted(MANY) - permuted(FEW)) / (MANY - FEW)
    yield Mapped("slice", "arrays in memory", cpu, one, None, (Target("ratio", 1_200),))
    yield Mapped("slice", "the same, wall, two threads", wall, two, None, (Target("ratio", 400),))
    yield Mapped("slice", "file", file, one, None, (Target("ratio", 500),))
    yield Mapped("slice", "a permutation", each, None, None, (Target("seconds", 1 / 60),))


def _of_brain(quick: bool) -> Iterator[Mapped]:
    del quick
    with TemporaryDirectory() as name, fresh_process() as pool:
        folder = Path(name)
        pool.submit(write_brain, folder).result()
        cpu, peak = pool.submit(our_brain, folder, 0).result()
        permuted, _ = pool.submit(our_brain, folder, FEW - 1).result()
        done = Mapped(
            "brain",
            ".nii to .nii.gz",
            cpu,
            memory=None if peak is None else peak / MB,
            targets=(Target("ratio", 800), Target("memory", 350)),
        )
        if find_spec("nilearn") is not None:
            one, many = pool.submit(their_brain, folder, SAMPLE).result()
            done = replace(done, theirs=one + (many - one) / SAMPLE * (VOXELS - 1))
        yield done
        each = (permuted - cpu) / (FEW - 1)
        yield Mapped("brain", "a permutation", each, None, None, (Target("seconds", 1 / 0.9),))


def found_in_noise(brains: int) -> Iterator[Found]:
    """Power and false alarms: a 5 x 5 x 5 region in noise, 2 classes, 10 runs of 40 volumes."""
    from scipy.stats import binomtest

    for shift in SHIFTS:
        seen = np.array([_found(shift, seed) for seed in range(brains)])
        any_in, share, any_out, out = seen.mean(axis=0).tolist()
        interval = binomtest(int(seen[:, 2].sum()), brains).proportion_ci(method="wilson")
        yield Found(
            shift, brains, any_in, share, any_out, (float(interval.low), float(interval.high)), out
        )


def _found(shift: float, seed: int) -> tuple[float, float, float, float]:
    """Whether anything in the region is found, and how much; and anything that it cannot reach."""
    from suffice.images import SearchLight

    imgs, y, runs = planted(shift, seed)
    light = SearchLight(permutations=200, random_state=seed, n_jobs=1, **CUBE).fit(imgs, y, runs)
    above = light.scores_ > light.fwe_threshold_
    region = above[5:10, 5:10, 5:10].copy()
    above[4:11, 4:11, 4:11] = False  # cubes around these voxels reach into the region
    outside = above.size - 7**3
    return float(region.any()), float(region.mean()), float(above.any()), above.sum() / outside
