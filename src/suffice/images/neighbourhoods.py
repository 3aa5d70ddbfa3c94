"""Neighbourhoods of voxels: balls in millimetres and cubes in voxels, clipped to a mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError
from suffice.images.grids import Grid, Mask

__all__ = ["Neighbourhoods", "Shape", "neighbourhoods"]

Shape = Literal["ball", "cube"]
RADIUS_TOLERANCE = 1e-6  # of the radius: affines are stored in single precision


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """The voxels of N neighbourhoods, in compressed rows.

    Parameters
    ----------
    indptr : ndarray of int (N + 1,)
    indices : ndarray of int
        Row n holds ``indices[indptr[n]:indptr[n + 1]]``, increasing.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def extended(self, regions: Sequence[NDArray[np.int32]]) -> Neighbourhoods:
        """The same, and regions of voxels as further rows."""
        ends = self.indptr[-1] + np.cumsum([len(region) for region in regions], dtype=np.int64)
        return Neighbourhoods(
            np.concatenate([self.indptr, ends]), np.concatenate([self.indices, *regions])
        )


def neighbourhoods(
    mask: Mask, centres: NDArray[np.intp], shape: Shape, radius: float
) -> Neighbourhoods:
    """Find the voxels of a mask in a ball or cube around every centre.

    A ball holds the voxels whose centres are at most ``radius`` millimetres away, whatever the
    rotation of the grid; a cube those at most ``radius`` voxels away along each axis.

    Parameters
    ----------
    mask : Mask
        Of V voxels.
    centres : ndarray of int (N, 3)
    shape : {"ball", "cube"}
    radius : float

    Raises
    ------
    ParameterError
        If the shape or the radius is outside its rule.
    DataError
        If a centre has no neighbour, or the grid has no volume.

    Examples
    --------
    >>> line = Mask(Grid("a line", (4, 1, 1), None), np.array([1, 1, 0, 1], bool)[:, None, None])
    >>> found = neighbourhoods(line, line.voxels, "cube", 1)
    >>> found.indptr, found.indices
    (array([0, 2, 4, 5]), array([0, 1, 0, 1, 2], dtype=int32))
    """
    offsets = _offsets(mask.grid, shape, radius)
    widest = abs(offsets).max(axis=0)
    numbers = np.pad(mask.numbers(), [(w, w) for w in widest], constant_values=-1)
    flat = np.ravel_multi_index(tuple((centres + widest).T), numbers.shape)
    steps = offsets @ (np.array(numbers.strides) // numbers.itemsize)
    found = numbers.ravel()[flat[:, None] + steps]
    inside = found >= 0
    sizes = inside.sum(axis=1)
    if not sizes.all():
        alone = centres[sizes == 0]
        raise DataError(
            f"voxel {tuple(alone[0].tolist())} of the process mask has no neighbour in the mask",
            f"a searchlight needs a voxel at least; {len(alone)} have none",
            "use a process mask inside the mask, or a larger radius",
        )
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Neighbourhoods(indptr, np.ascontiguousarray(found[inside]))


def _offsets(grid: Grid, shape: Any, radius: Any) -> NDArray[np.intp]:
    """Steps from a centre to its neighbours, (P, 3), in the order of voxels."""
    if shape not in ("ball", "cube"):
        raise ParameterError(f"shape={shape!r}", "shape is one of 'ball', 'cube'")
    real = isinstance(radius, Real) and not isinstance(radius, bool)
    if not (real and 0 <= float(radius) < np.inf):
        raise ParameterError(f"radius={radius!r}", "it is a number, 0 or more")
    if shape == "cube":
        if not float(radius).is_integer():
            raise ParameterError(
                f"radius={radius!r} of a cube", "a cube reaches a whole number of voxels"
            )
        widest = np.full(3, int(radius))
    else:
        widest = _reach(grid, float(radius))
    widest = np.minimum(widest, np.array(grid.shape) - 1)
    offsets = np.indices(2 * widest + 1).reshape(3, -1).T - widest
    if shape == "ball":
        distance = np.sqrt(((offsets @ grid.axes.T) ** 2).sum(axis=1))
        offsets = offsets[distance <= float(radius) * (1 + RADIUS_TOLERANCE)]
    return np.asarray(offsets)


def _reach(grid: Grid, radius: float) -> NDArray[np.intp]:
    """How many voxels a ball reaches along each axis, one more than needed at most."""
    if not (np.isfinite(grid.axes).all() and abs(np.linalg.det(grid.axes)) > 0):
        raise DataError(
            f"{grid.name} has an affine that maps its voxels to a plane",
            "a ball is measured in millimetres",
            "mend the header, or use a cube",
        )
    voxels = np.sqrt((np.linalg.inv(grid.axes) ** 2).sum(axis=1))  # a millimetre, at most
    return np.asarray(radius * voxels + 1).astype(np.intp)
