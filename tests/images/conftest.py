"""The slice of the Haxby study, and small brains."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from suffice.images.labels import read_attributes


@dataclass(frozen=True)
class Study:
    """Files of a study, and what they hold."""

    bold: Path
    mask: Path
    attributes: Path
    y: NDArray[Any]
    runs: NDArray[Any]


@pytest.fixture(scope="session")
def haxby(data: Path) -> Study:
    pytest.importorskip("nibabel")
    folder = data / "haxby_slice"
    labels, runs = read_attributes(folder / "attributes_literal.txt")
    assert runs is not None
    return Study(
        folder / "bold.nii.gz",
        folder / "mask.nii.gz",
        folder / "attributes_literal.txt",
        np.array(labels),
        np.array(list(map(int, runs))),
    )


@dataclass(frozen=True)
class Brain:
    """A small brain: 5 x 4 x 3 voxels, 3 runs of 12 volumes, 3 classes in blocks of 2."""

    imgs: NDArray[np.float64]
    mask: NDArray[np.bool_]
    y: NDArray[Any]
    runs: NDArray[np.intp]


@pytest.fixture
def brain() -> Brain:
    rng = np.random.default_rng(1)
    y = np.concatenate([np.repeat(rng.permutation(["a", "b", "c", "a", "b", "c"]), 2)] * 3)
    imgs = rng.normal(100, 5, (5, 4, 3, 36))
    imgs[:2] += 4 * (y == "a") - 3 * (y == "b")
    mask = np.ones((5, 4, 3), bool)
    mask[4, :, 2] = mask[0, 0, 0] = False
    return Brain(imgs, mask, y, np.repeat([0, 1, 2], 12))
