"""The slice of the Haxby study, a brain that is simulated after it, and regions in noise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RADIUS", "SLICE", "VOXELS", "labels", "planted", "write_brain"]

DATA = Path(os.environ.get("SUFFICE_DATA", Path(__file__).parents[2] / "shared" / "data"))
SLICE = DATA / "haxby_slice"
SHAPE, VOXELS = (40, 64, 64), 30_000
AFFINE = np.diag([3.1, 3.75, 3.75, 1.0])
RADIUS = 6.6  # mm: the voxels of a cube of 3 x 3 x 3
SIDE, REGION = 15, slice(5, 10)  # of a small brain, and of what is planted in it


def labels() -> tuple[NDArray[Any], NDArray[Any]]:
    """The label and the run of every volume of the slice."""
    from suffice.images.labels import read_attributes

    y, runs = read_attributes(SLICE / "attributes_literal.txt")
    return np.array(y), np.array(runs or [], int)


def write_brain(folder: Path) -> None:
    """Simulate: each voxel is a share of the course of a voxel of the slice, and AR(1) noise."""
    import nibabel

    rng = np.random.default_rng(0)
    inside = _ellipsoid()
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


def planted(shift: float, seed: int) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any]]:
    """A small brain of noise whose middle is shifted in one of two classes; labels and runs."""
    rng = np.random.default_rng([seed, round(1000 * shift)])
    y = np.concatenate([np.repeat(rng.permutation([0, 1] * 4), 5) for _ in range(10)])
    runs = np.repeat(np.arange(10), 40)
    imgs = rng.standard_normal((SIDE, SIDE, SIDE, 400), np.float32)
    imgs[REGION, REGION, REGION] += np.float32(shift) * y.astype(np.float32)
    return imgs, y, runs


def _ellipsoid() -> NDArray[np.bool_]:
    """The 30,000 voxels that are nearest to the middle, in units of the axes."""
    place = np.indices(SHAPE).reshape(3, -1).T
    half = np.array(SHAPE) / 2
    distance = (((place - half + 0.5) / half) ** 2).sum(axis=1)
    inside = np.zeros(len(place), bool)
    inside[np.argsort(distance, kind="stable")[:VOXELS]] = True
    return inside.reshape(SHAPE)
