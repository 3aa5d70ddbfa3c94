"""Scans: 4-D images in files or in memory, read volume by volume at the voxels of a mask."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ReadError, SufficeError
from suffice.images.grids import Grid, Mask
from suffice.numerics.error_free import LARGEST

__all__ = ["Scan", "open_mask", "open_scans"]

BATCH = 2**24  # bytes that are read of a file at a time, or one volume
EXACT = ("b", "i1", "u1", "i2", "u2", "f2", "f4")  # what single precision holds exactly


class Volumes(Protocol):
    """Where the numbers of a scan are."""

    def at(self, places: Mask, wanted: NDArray[np.intp]) -> Iterator[NDArray[Any]]:
        """Yield each of some volumes, increasing, at the voxels of a mask, as stored, (V,)."""


@dataclass(frozen=True, eq=False)
class Scan:
    """A 4-D image.

    Parameters
    ----------
    grid : Grid
    volumes : int
    dtype : dtype
        Of the numbers as they are stored.
    slope, inter : float
        A number is slope · stored + inter.
    data : Volumes
    seconds : float, optional
        From volume to volume, as the header says.
    """

    grid: Grid
    volumes: int
    dtype: np.dtype[Any]
    slope: float
    inter: float
    data: Volumes
    seconds: float | None = None

    @property
    def is_single(self) -> bool:
        """Whether single precision holds all numbers exactly."""
        return self.dtype.str[1:] in EXACT and (self.slope, self.inter) == (1.0, 0.0)

    def read(
        self, mask: Mask, wanted: NDArray[np.intp]
    ) -> Iterator[tuple[int, NDArray[np.floating[Any]]]]:
        """Yield the numbers of some volumes, increasing, at the voxels of a mask.

        Raises
        ------
        DataError
            If one is not finite, or too large to be squared.
        ReadError
            If the file is damaged or too short.
        """
        for volume, stored in zip(wanted.tolist(), self.data.at(mask, wanted), strict=True):
            values = stored
            if (self.slope, self.inter) != (1.0, 0.0):
                values = stored.astype(np.float64) * self.slope + self.inter
            if values.dtype.kind == "f" and not _usable(values).all():
                self._refuse(mask, volume, values)
            yield volume, values

    def _refuse(self, mask: Mask, volume: int, values: NDArray[Any]) -> None:
        bad = ~_usable(values)
        voxel = tuple(mask.voxels[bad.argmax()].tolist())
        raise DataError(
            f"volume {volume} of {self.grid.name} holds {values[bad][0]} at voxel {voxel}, and "
            f"{bad.sum()} such numbers in the mask",
            "every number in the mask is finite, and its square too",
            "mend the volume, leave it out, or take these voxels out of the mask",
        )


def _usable(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which numbers are finite, and not too large to be squared."""
    largest = min(LARGEST, float(np.finfo(values.dtype).max))
    return np.asarray(np.abs(values) <= largest)


# -- opening


def open_scans(imgs: Any) -> list[Scan]:
    """Open a 4-D image, or a list of them: paths, images of nibabel, or arrays (x, y, z, t).

    Raises
    ------
    ReadError
        If a file cannot be read as an image.
    DataError
        If an image has another number of dimensions.
    """
    several = isinstance(imgs, Sequence) and not isinstance(imgs, str)
    given = list(imgs) if several else [imgs]
    if not given:
        raise DataError("there is no image", "a searchlight needs one 4-D image at least")
    return [_scan(img, f"image {i}" if several else "the image") for i, img in enumerate(given)]


def open_mask(img: Any, name: str, like: Grid | None = None) -> Mask:
    """Open a 3-D image whose voxels that are not zero are meant; None: all voxels of a grid.

    Raises
    ------
    ReadError, DataError
        If it cannot be read, is not 3-D, or has no voxel.
    """
    if img is None and like is not None:
        return Mask(like, np.ones(like.shape, np.bool_))
    if isinstance(img, np.ndarray):
        grid, values = Grid(name, _three(name, img.shape), None), img
    else:
        image, name = _loaded(img, name)
        with _Naming(name):
            values = np.asanyarray(image.dataobj)
        grid = Grid(name, _three(name, values.shape), np.asarray(image.affine, np.float64))
    values = values.reshape(grid.shape)
    return Mask(grid, (values != 0) & (values == values))


def _scan(img: Any, name: str) -> Scan:
    if isinstance(img, np.ndarray):
        shape = _four(name, img.shape)
        _require_numbers(name, img.dtype)
        return Scan(Grid(name, shape[:3], None), shape[3], img.dtype, 1.0, 0.0, _Array(img))
    image, name = _loaded(img, name)
    shape = _four(name, image.shape)
    grid = Grid(name, shape[:3], np.asarray(image.affine, np.float64))
    stored, seconds = image.dataobj, _seconds(image)
    _require_numbers(name, np.dtype(stored.dtype))
    if isinstance(stored, np.ndarray):
        return Scan(grid, shape[3], stored.dtype, 1.0, 0.0, _Array(stored), seconds)
    if _is_plain(stored, image):
        slope, inter = float(stored.slope), float(stored.inter)
        data: Volumes = _File(name, image.file_map["image"].filename, stored, shape)
        return Scan(grid, shape[3], np.dtype(stored.dtype), slope, inter, data, seconds)
    with _Naming(name):
        array = np.asanyarray(stored)
    return Scan(grid, shape[3], array.dtype, 1.0, 0.0, _Array(array), seconds)


def _loaded(img: Any, name: str) -> tuple[Any, str]:
    """An image of nibabel, and what messages call it."""
    if not isinstance(img, str | os.PathLike):
        if not hasattr(img, "dataobj"):
            raise DataError(
                f"{name} is a {type(img).__name__}",
                "an image is a path, an image of nibabel, or an array",
            )
        return img, img.get_filename() or name
    try:
        import nibabel
    except ImportError:
        raise ReadError(
            f"{img} cannot be read", "images are read by nibabel", "pip install 'suffice[images]'"
        ) from None
    path = Path(img)
    with _Naming(str(path)):
        return nibabel.load(path), str(path)


def _three(name: str, shape: tuple[int, ...]) -> tuple[int, int, int]:
    if len(shape) == 4 and shape[3] == 1:
        shape = shape[:3]
    if len(shape) != 3:
        raise DataError(f"{name} has {_extent(shape)}", "a mask is 3-D, one value for each voxel")
    return shape[0], shape[1], shape[2]


def _four(name: str, shape: tuple[int, ...]) -> tuple[int, int, int, int]:
    if len(shape) != 4:
        raise DataError(
            f"{name} has {_extent(shape)}",
            "scans are 4-D: voxels in three directions, and volumes",
            "give the 4-D image; pictures become one-slice volumes, x by y by 1 by number",
        )
    return shape[0], shape[1], shape[2], shape[3]


def _extent(shape: tuple[int, ...]) -> str:
    return f"{len(shape)} dimensions, {' x '.join(map(str, shape))}"


def _require_numbers(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biuf":
        raise DataError(f"{name} holds {dtype}", "voxels are real numbers")


def _seconds(image: Any) -> float | None:
    """From volume to volume, as the header says; None where it does not."""
    try:
        unit = {"sec": 1.0, "msec": 1e-3, "usec": 1e-6, "unknown": 1.0}[
            image.header.get_xyzt_units()[1]
        ]
        seconds = float(image.header.get_zooms()[3]) * unit
    except (AttributeError, KeyError, IndexError):
        return None
    return seconds if 0 < seconds < np.inf else None


class _Naming:
    """Say in one sentence what is wrong with the file of an image."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, SufficeError | KeyboardInterrupt | MemoryError):
            return
        if isinstance(error, FileNotFoundError):
            raise ReadError(f"there is no file {self.name}") from None
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror, self.name) from None
        if isinstance(error, EOFError | zlib.error | OSError | ValueError):
            raise _damaged(self.name) from None
        if type(error).__name__ in ("ImageFileError", "HeaderDataError"):
            if _is_cut_off(self.name):
                raise _damaged(self.name) from None
            raise ReadError(
                f"{self.name} is no image that nibabel can read",
                "scans and masks are NIfTI images, .nii or .nii.gz",
            ) from None


def _is_cut_off(path: str) -> bool:
    """Whether a file is compressed and ends too early; a short one hides its header by that."""
    try:
        with gzip.open(path) as file:
            while file.read(BATCH):
                pass
    except (EOFError, zlib.error):
        return True
    except OSError:  # it is not compressed
        return False
    return False


def _damaged(name: str) -> ReadError:
    return ReadError(
        f"{name} is damaged or incomplete", "its header promises more than it holds", "get it again"
    )


# -- where the numbers are


@dataclass(frozen=True, eq=False)
class _Array:
    """Numbers in memory, (x, y, z, t)."""

    data: NDArray[Any]

    def at(self, places: Mask, wanted: NDArray[np.intp]) -> Iterator[NDArray[Any]]:
        if self.data.flags.c_contiguous and self.data.shape[3] > 1:
            series = self.data[places.inside]  # (V, t): volumes lie across
            yield from np.ascontiguousarray(series[:, wanted].T)
            return
        for volume in wanted.tolist():
            yield self.data[..., volume].reshape(-1, order="F")[places.places]


@dataclass(frozen=True, eq=False)
class _File:
    """Numbers in a file, compressed or not, volume after volume; it is read once, in order."""

    name: str
    path: Any
    stored: Any
    shape: tuple[int, int, int, int]

    def at(self, places: Mask, wanted: NDArray[np.intp]) -> Iterator[NDArray[Any]]:
        from nibabel.openers import ImageOpener

        voxels = int(np.prod(self.shape[:3]))
        dtype = np.dtype(self.stored.dtype)
        native = dtype.newbyteorder("=")
        batch = max(1, BATCH // (voxels * dtype.itemsize))
        asked = iter(wanted.tolist())
        volume = next(asked, None)
        with _Naming(self.name), ImageOpener(self.path, "rb") as file:
            file.seek(self.stored.offset)
            for first in range(0, self.shape[3], batch):
                number = min(batch, self.shape[3] - first)
                data = file.read(number * voxels * dtype.itemsize)
                if len(data) < number * voxels * dtype.itemsize:
                    raise _damaged(self.name)
                read = np.frombuffer(data, dtype).reshape(number, voxels)
                while volume is not None and volume < first + number:
                    yield read[volume - first][places.places].astype(native, copy=False)
                    volume = next(asked, None)
            file.read(1)  # the end of a compressed file tells whether it was whole


def _is_plain(stored: Any, image: Any) -> bool:
    """Whether the numbers of an image lie in one file, first axis fastest."""
    from nibabel.arrayproxy import ArrayProxy

    file = image.file_map.get("image") if image.file_map else None
    return (
        type(stored) is ArrayProxy
        and getattr(stored, "order", "F") == "F"
        and file is not None
        and file.filename is not None
    )
