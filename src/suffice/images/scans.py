"""Images on a voxel grid: 3-D masks, and 4-D scans that are read in batches of volumes."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ReadError, SufficeError, library
from suffice.numerics.error_free import LARGEST

BATCH = 2**24  # bytes of a scan that are read at a time, or one volume
EXACT = ("b", "i1", "u1", "i2", "u2", "f2", "f4")  # types that single precision holds exactly
CLOSE = 1e-3  # of a voxel: affines of one scanner differ by rounding to single precision


@dataclass(frozen=True, eq=False)
class Grid:
    """The voxels of an image and their positions in millimetres."""

    name: str  # of the image, for messages
    shape: tuple[int, int, int]
    affine: NDArray[np.float64] | None  # (4, 4), from indices to millimetres; None for an array

    @property
    def axes(self) -> NDArray[np.float64]:
        """The step of one voxel along each axis, in millimetres, as columns (3, 3)."""
        return np.eye(3) if self.affine is None else self.affine[:3, :3]

    @property
    def voxel_size(self) -> NDArray[np.float64]:
        """Lengths of these steps, (3,)."""
        return np.asarray(np.sqrt((self.axes**2).sum(axis=0)))

    def position(self, voxel: Any) -> NDArray[np.float64]:
        """Return the centre of a voxel in millimetres (3,); of an array, its indices."""
        origin = 0.0 if self.affine is None else self.affine[:3, 3]
        return np.asarray(self.axes @ np.asarray(voxel, np.float64) + origin)

    def image(self, volume: NDArray[Any]) -> Any:
        """Return a volume (x, y, z) as an image of nibabel."""
        from nibabel.nifti1 import Nifti1Image

        image = Nifti1Image(volume, np.eye(4) if self.affine is None else self.affine)
        image.header.set_xyzt_units(None if self.affine is None else "mm")
        return image

    def __str__(self) -> str:
        voxels = " x ".join(map(str, self.shape)) + " voxels"
        if self.affine is None:
            return voxels
        size = " x ".join(f"{length:.4g}" for length in self.voxel_size)
        origin = ", ".join(f"{place:.4g}" for place in self.affine[:3, 3])
        return f"{voxels} of {size} mm from ({origin})"


def require_same_grid(one: Grid, other: Grid) -> None:
    """Refuse two images whose voxels are not at the same positions."""
    same = one.shape == other.shape
    if same and one.affine is not None and other.affine is not None:
        same = bool((abs(one.affine - other.affine) <= CLOSE * one.voxel_size.min()).all())
    if not same:
        raise DataError(
            f"{one.name} has {one}, {other.name} has {other}",
            "all images share one grid",
            "resample one to the other, for example with nilearn.image.resample_to_img",
        )


@dataclass(frozen=True, eq=False)
class Mask:
    """V voxels of a grid, in the order of the array (last axis fastest)."""

    grid: Grid
    inside: NDArray[np.bool_]

    @cached_property
    def voxels(self) -> NDArray[np.intp]:
        """Indices of the voxels, (V, 3)."""
        return np.argwhere(self.inside)

    def filled(self, values: NDArray[Any], outside: float = 0.0) -> NDArray[Any]:
        """Return a volume (x, y, z) with a value in every voxel of the mask."""
        volume = np.full(self.inside.shape, outside, values.dtype)
        volume[self.inside] = values
        return volume


@dataclass(frozen=True, eq=False)
class Scan:
    """A 4-D image: an array, or an image of nibabel, which may stay in its file."""

    grid: Grid
    volumes: int
    data: Any  # (x, y, z, t): an array, or nibabel's proxy of one
    is_single: bool  # whether single precision holds all numbers exactly
    file: str | None = None  # name of the file that the proxy reads

    def read(self, mask: Mask, wanted: NDArray[np.intp]) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield some volumes, increasing, with their numbers at the voxels of a mask, (V,)."""
        places = np.ravel_multi_index(tuple(mask.voxels.T), self.grid.shape, order="F")
        for first, batch in self._batches():
            some = wanted[(wanted >= first) & (wanted < first + batch.shape[3])] - first
            stored = np.asfortranarray(batch).reshape(-1, batch.shape[3], order="F").T
            for i in some.tolist():
                values = stored[i][places]
                self._check(mask, first + i, values)
                yield first + i, values

    def _batches(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield the first volume of each batch, and its numbers; a file is read once, in order."""
        size = max(1, BATCH // (int(np.prod(self.grid.shape)) * np.dtype(self.data.dtype).itemsize))
        with ExitStack() as stack:
            data, file = self.data, None
            if self.file is not None:
                from nibabel.arrayproxy import ArrayProxy
                from nibabel.openers import ImageOpener

                stack.enter_context(_named(self.file))
                file = stack.enter_context(ImageOpener(self.file, "rb"))
                spec = (data.shape, data.dtype, data.offset, data.slope, data.inter)
                data = ArrayProxy(file, spec)
            for first in range(0, self.volumes, size):
                yield first, np.asanyarray(data[..., first : first + size])
            if file is not None:
                file.read(1)  # the end of a compressed file has its checksum

    def _check(self, mask: Mask, volume: int, values: NDArray[Any]) -> None:
        """Refuse a number that is not finite, or too large to be squared."""
        if values.dtype.kind != "f":
            return
        bad = ~(np.abs(values) <= min(LARGEST, float(np.finfo(values.dtype).max)))
        if bad.any():
            voxel = tuple(mask.voxels[bad.argmax()].tolist())
            raise DataError(
                f"volume {volume} of {self.grid.name} holds {values[bad][0]} at voxel {voxel}, "
                f"and {bad.sum()} such numbers in the mask",
                "every number in the mask is finite, and its square too",
                "mend the volume, leave it out, or take these voxels out of the mask",
            )


# -- opening


def open_scans(imgs: Any) -> list[Scan]:
    """Open a 4-D image, or a list of them: paths, images of nibabel, or arrays (x, y, z, t)."""
    several = isinstance(imgs, Sequence) and not isinstance(imgs, str)
    given = list(imgs) if several else [imgs]
    if not given:
        raise DataError("there is no image", "a searchlight needs one 4-D image at least")
    scans = [_scan(img, f"image {i}" if several else "the image") for i, img in enumerate(given)]
    for scan in scans[1:]:
        require_same_grid(scans[0].grid, scan.grid)
    return scans


def open_mask(img: Any, name: str, like: Grid) -> Mask:
    """Open a 3-D image on the grid of another: the voxels that are not zero; None is all."""
    if img is None:
        return Mask(like, np.ones(like.shape, np.bool_))
    data, affine, name, _ = _loaded(img, name)
    shape = data.shape[:3] if len(data.shape) == 4 and data.shape[3] == 1 else data.shape
    if len(shape) != 3:
        raise DataError(f"{name} has {_extent(shape)}", "a mask is 3-D, one value for each voxel")
    grid = Grid(name, shape, like.affine if affine is None else affine)
    with _named(name):
        values = np.asanyarray(data).reshape(shape)
    inside = (values != 0) & (values == values)
    if not inside.any():
        raise DataError(
            f"{name} has no voxel that is not zero",
            "a mask marks the voxels to be used",
            "check the mask",
        )
    require_same_grid(grid, like)
    return Mask(grid, inside)


def _scan(img: Any, name: str) -> Scan:
    data, affine, name, image = _loaded(img, name)
    if len(data.shape) != 4:
        raise DataError(
            f"{name} has {_extent(data.shape)}",
            "scans are 4-D: voxels in three directions, and volumes",
            "give the 4-D image; pictures become one-slice volumes, x by y by 1 by number",
        )
    dtype = np.dtype(data.dtype)
    if dtype.kind not in "biuf":
        raise DataError(f"{name} holds {dtype}", "voxels are real numbers")
    scaled = (getattr(data, "slope", 1.0), getattr(data, "inter", 0.0)) != (1.0, 0.0)
    single = dtype.str[1:] in EXACT and not scaled
    grid = Grid(name, data.shape[:3], affine)
    if image is None or isinstance(data, np.ndarray):
        return Scan(grid, data.shape[3], data, single)
    file = image.file_map["image"].filename if _is_plain(data) else None
    return Scan(grid, data.shape[3], data, single, file)


def _loaded(img: Any, name: str) -> tuple[Any, NDArray[np.float64] | None, str, Any]:
    """Return the numbers, the affine, the name and, of a file, the image of nibabel."""
    if isinstance(img, np.ndarray):
        return img, None, name, None
    if isinstance(img, str | os.PathLike):
        nibabel = library("nibabel", f"{img} is read", "pip install 'suffice[images]'")
        with _named(str(img)):
            img = nibabel.load(Path(img))
    if not hasattr(img, "dataobj"):
        raise DataError(
            f"{name} is a {type(img).__name__}",
            "an image is a path, an image of nibabel, or an array",
        )
    name = img.get_filename() or name
    return img.dataobj, np.asarray(img.affine, np.float64), name, img


def _is_plain(data: Any) -> bool:
    """Return whether the numbers of an image lie in one file, first axis fastest."""
    from nibabel.arrayproxy import ArrayProxy

    return type(data) is ArrayProxy and getattr(data, "order", "F") == "F"


def _extent(shape: tuple[int, ...]) -> str:
    return f"{len(shape)} dimensions, {' x '.join(map(str, shape))}"


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Say in one sentence what is wrong with the file of an image."""
    try:
        yield
    except SufficeError:
        raise
    except FileNotFoundError:
        raise ReadError(f"there is no file {name}") from None
    except (EOFError, zlib.error, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, name) from None
        fact, rule = f"{name} is damaged or incomplete", "its header promises more than it holds"
        raise ReadError(fact, rule, "get it again") from None
    except Exception as error:
        if type(error).__name__ not in ("ImageFileError", "HeaderDataError"):
            raise
        raise ReadError(
            f"{name} is no image that nibabel can read",
            "scans and masks are NIfTI images, .nii or .nii.gz",
        ) from None
