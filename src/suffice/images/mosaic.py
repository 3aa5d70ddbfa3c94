"""A map as a picture: its slices side by side, with a colour bar."""

from __future__ import annotations

import math
from typing import Any, BinaryIO

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from suffice.errors import DataError
from suffice.images.scans import Grid

__all__ = ["draw_mosaic"]

MOST_SLICES = 24
GROUND, FRAME, NOTHING = "#efefef", "#d62728", (0.0, 0.0, 0.0, 0.0)
VEIL = 0.75  # opacity of a map over an anatomy
FAINT = 0.35  # with a threshold, that of voxels below it
DIRECTIONS = "LR", "PA", "IS"  # ends of the axes of the scanner: left, posterior, inferior first


def draw_mosaic(
    file: BinaryIO,
    volume: NDArray[Any],
    inside: NDArray[np.bool_],
    grid: Grid,
    title: str,
    label: str,
    threshold: float | None = None,
    centre: float | None = None,
    anatomy: NDArray[Any] | None = None,
) -> None:
    """Write a PNG of the slices along the third axis that hold voxels, up to 24 of them.

    Letters say which side is left (L) and right (R) in the head, or anterior (A) and so on, if the
    image tells where its voxels lie.

    Parameters
    ----------
    file : binary file
    volume : ndarray (x, y, z)
    inside : ndarray of bool (x, y, z)
        Voxels that have a value.
    grid : Grid
        Voxel sizes in millimetres.
    title, label : str
        Of the picture, and of its colour bar.
    threshold : float, optional
        Voxels above it are framed.
    centre : float, optional
        The value of the middle colour of a diverging scale.
    anatomy : ndarray (x, y, z), optional
        Drawn below the map in grey: an anatomical image, or a volume of the scan, on its grid.

    Raises
    ------
    DataError
        If the anatomy has another shape than the map.
    """
    if anatomy is not None and anatomy.shape != volume.shape:
        raise DataError(
            f"the anatomy has {anatomy.shape} voxels, the map {volume.shape}",
            "both share one grid",
            "resample one to the other, for example with nilearn.image.resample_to_img",
        )
    slices = np.flatnonzero(inside.any(axis=(0, 1)))
    if len(slices) > MOST_SLICES:
        slices = slices[np.linspace(0, len(slices) - 1, MOST_SLICES).round().astype(int)]
    width, height = (float(length) for length in (grid.voxel_size * inside.shape)[:2])
    columns = min(len(slices), max(1, round(math.sqrt(len(slices) * 1.6 * height / width))))
    rows = math.ceil(len(slices) / columns)
    across = max(5.0, min(12.0, 1.8 * columns))
    figure = Figure(figsize=(across, 1.2 + rows * (across * 0.85 / columns) * height / width))
    FigureCanvasAgg(figure)
    grids = figure.subplots(rows, columns, squeeze=False, gridspec_kw={"wspace": 0.03})
    low, high = volume[inside].min(), volume[inside].max()
    if centre is not None:
        reach = max(abs(high - centre), abs(low - centre))
        low, high = centre - reach, centre + reach
    colours = mpl.colormaps["viridis" if centre is None else "RdBu_r"]
    colours = colours.with_extremes(bad=GROUND if anatomy is None else NOTHING)
    grey = None if anatomy is None else np.nanpercentile(anatomy, [1, 99])
    sides = "" if grid.affine is None else _ends(grid.axes[:, 0])
    for axes in grids.ravel():
        axes.axis("off")
    for axes, z in zip(grids.ravel(), slices.tolist(), strict=False):
        values = np.where(inside[:, :, z], volume[:, :, z], np.nan).T
        place: dict[str, Any] = {"origin": "lower", "interpolation": "nearest"}
        place["extent"] = (0.0, width, 0.0, height)
        opacity = None
        if anatomy is not None and grey is not None:
            axes.imshow(anatomy[:, :, z].T, cmap="gray", vmin=grey[0], vmax=grey[1], **place)
            opacity = np.full(values.shape, VEIL)
            if threshold is not None:
                opacity = np.where(values > threshold, 1.0, FAINT)
        shown = axes.imshow(values, cmap=colours, vmin=low, vmax=high, alpha=opacity, **place)
        if threshold is not None:
            _frame(axes, values > threshold, grid)
        for x, side in zip((0.02, 0.98), sides, strict=False):
            align = "left" if x < 0.5 else "right"
            ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.5, "alpha": 0.7}
            axes.text(
                x, 0.97, side, transform=axes.transAxes, ha=align, va="top", fontsize=6, bbox=ground
            )
        middle = [(inside.shape[0] - 1) / 2, (inside.shape[1] - 1) / 2, z]
        where = "" if grid.affine is None else f", z = {grid.position(middle)[2]:.3g} mm"
        axes.set_title(f"slice {z}{where}", fontsize=7, pad=2)
    figure.suptitle(title, fontsize=10)
    bar = figure.colorbar(shown, ax=grids, fraction=0.04, pad=0.02)
    bar.set_label(label, fontsize=8)
    if bar.solids is not None:
        bar.solids.set_alpha(1)
    bar.ax.tick_params(labelsize=7)
    figure.savefig(file, format="png", dpi=150, bbox_inches="tight", facecolor="white")


def _ends(step: NDArray[np.float64]) -> str:
    """Return the letters of both ends of an axis of voxels, by its step in the scanner (3,)."""
    nearest = int(np.abs(step).argmax())
    return DIRECTIONS[nearest][:: 1 if step[nearest] > 0 else -1]


def _frame(axes: Any, above: NDArray[np.bool_], grid: Grid) -> None:
    """Draw the edges between voxels that are above the threshold and others."""
    w, h = grid.voxel_size[:2]
    padded = np.pad(above, 1)
    for y, x in np.argwhere(padded[1:-1, 1:] != padded[1:-1, :-1]):
        axes.plot([x * w, x * w], [y * h, (y + 1) * h], color=FRAME, linewidth=0.8)
    for y, x in np.argwhere(padded[1:, 1:-1] != padded[:-1, 1:-1]):
        axes.plot([x * w, (x + 1) * w], [y * h, y * h], color=FRAME, linewidth=0.8)
