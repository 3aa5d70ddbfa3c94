"""Voxel grids: where the voxels of an image are, and which of them a mask holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError

__all__ = ["Grid", "Mask", "require_same_grid"]

CLOSE = 1e-3  # of a voxel: affines of one scanner differ by rounding to single precision


@dataclass(frozen=True, eq=False)
class Grid:
    """The voxels of an image and their places in millimetres.

    Parameters
    ----------
    name : str
        Of the image, for messages.
    shape : tuple of 3 int
    affine : ndarray (4, 4), optional
        From voxel indices to millimetres; None for an array, whose places are not known.
    """

    name: str
    shape: tuple[int, int, int]
    affine: NDArray[np.float64] | None

    @property
    def axes(self) -> NDArray[np.float64]:
        """The step of one voxel along each axis, in millimetres, as columns (3, 3)."""
        return np.eye(3) if self.affine is None else self.affine[:3, :3]

    @property
    def voxel_size(self) -> NDArray[np.float64]:
        """Lengths of the steps, (3,)."""
        return np.asarray(np.sqrt((self.axes**2).sum(axis=0)))

    def position(self, voxel: Any) -> NDArray[np.float64]:
        """Millimetres of the centre of a voxel (3,); of an array, its indices."""
        origin = 0.0 if self.affine is None else self.affine[:3, 3]
        return np.asarray(self.axes @ np.asarray(voxel, np.float64) + origin)

    def __str__(self) -> str:
        voxels = " x ".join(map(str, self.shape)) + " voxels"
        if self.affine is None:
            return voxels
        size = " x ".join(f"{length:.4g}" for length in self.voxel_size)
        origin = ", ".join(f"{place:.4g}" for place in self.affine[:3, 3])
        return f"{voxels} of {size} mm from ({origin})"


@dataclass(frozen=True, eq=False)
class Mask:
    """Some voxels of a grid, in the order of the array (last axis fastest)."""

    grid: Grid
    inside: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if not self.inside.any():
            raise DataError(
                f"{self.grid.name} has no voxel that is not zero",
                "a mask marks the voxels to be used",
                "check the mask",
            )

    @cached_property
    def voxels(self) -> NDArray[np.intp]:
        """Indices of the voxels, (V, 3)."""
        return np.argwhere(self.inside)

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """Where the voxels stand in a volume as a file stores it, first axis fastest, (V,)."""
        return np.asarray(np.ravel_multi_index(tuple(self.voxels.T), self.grid.shape, order="F"))

    def numbers(self) -> NDArray[np.int32]:
        """The number of each voxel of the grid, −1 outside."""
        found = np.full(self.inside.shape, -1, np.int32)
        found[self.inside] = np.arange(len(self.voxels), dtype=np.int32)
        return found

    def filled(self, values: NDArray[Any], outside: float = 0.0) -> NDArray[Any]:
        """A volume with a value in every voxel of the mask."""
        volume = np.full(self.inside.shape, outside, values.dtype)
        volume[self.inside] = values
        return volume


def require_same_grid(one: Grid, other: Grid) -> None:
    """Refuse two images whose voxels are not at the same places.

    Raises
    ------
    DataError
        Naming both grids.
    """
    if one.shape == other.shape and _same_places(one, other):
        return
    raise DataError(
        f"{one.name} has {one}, {other.name} has {other}",
        "all images share one grid",
        "resample one to the other, for example with nilearn.image.resample_to_img",
    )


def _same_places(one: Grid, other: Grid) -> bool:
    if one.affine is None or other.affine is None:
        return True
    return bool((abs(one.affine - other.affine) <= CLOSE * one.voxel_size.min()).all())
