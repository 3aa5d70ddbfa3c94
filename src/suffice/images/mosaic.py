"""A map as a picture: its slices side by side, with a colour bar and a scale in millimetres."""

from __future__ import annotations

import math
from typing import Any, BinaryIO

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from suffice.images.grids import Grid

__all__ = ["draw_mosaic"]

MOST_SLICES = 24
INK, GROUND = "#222222", "#efefef"


def draw_mosaic(
    file: BinaryIO,
    volume: NDArray[Any],
    inside: NDArray[np.bool_],
    grid: Grid,
    title: str,
    label: str,
    threshold: float | None = None,
    centre: float | None = None,
) -> None:
    """Write a PNG of the slices along the third axis that hold voxels, up to 24 of them.

    Parameters
    ----------
    file : binary file
    volume : ndarray (x, y, z)
    inside : ndarray of bool (x, y, z)
        Voxels that have a value.
    grid : Grid
        Voxel sizes, for the scale.
    title, label : str
        Of the picture, and of its colours.
    threshold : float, optional
        Voxels above it are framed.
    centre : float, optional
        The value of the middle colour: the colours then run to both sides, equally far.
    """
    slices = _slices(inside)
    wide, high = grid.voxel_size[0] * inside.shape[0], grid.voxel_size[1] * inside.shape[1]
    columns = min(len(slices), max(1, round(math.sqrt(len(slices) * 1.6 * high / wide))))
    rows = math.ceil(len(slices) / columns)
    across = max(5.0, min(12.0, 1.8 * columns))
    figure = Figure(figsize=(across, 0.9 + rows * (across * 0.85 / columns) * high / wide + 0.3))
    FigureCanvasAgg(figure)
    grids = figure.subplots(rows, columns, squeeze=False, gridspec_kw={"wspace": 0.03})
    low, high_value = _limits(volume[inside], centre)
    colours = mpl.colormaps["viridis" if centre is None else "RdBu_r"].with_extremes(bad=GROUND)
    shown: Any = None
    for place, axes in enumerate(grids.ravel()):
        axes.axis("off")
        if place >= len(slices):
            continue
        z = slices[place]
        values = np.where(inside[:, :, z], volume[:, :, z], np.nan).T
        extent = (0.0, float(wide), 0.0, float(high))
        shown = axes.imshow(
            values, cmap=colours, vmin=low, vmax=high_value, origin="lower", extent=extent,
            interpolation="nearest",
        )  # fmt: skip
        if threshold is not None and math.isfinite(threshold):
            _frame(axes, np.nan_to_num(values, nan=-np.inf) > threshold, grid)
        axes.set_title(_place(grid, inside.shape, z), fontsize=7, color=INK, pad=2)
    _scale(grids.ravel()[0], float(wide), float(high))
    figure.suptitle(title, fontsize=10, color=INK)
    bar = figure.colorbar(shown, ax=grids, fraction=0.04, pad=0.02)
    bar.set_label(label, fontsize=8)
    bar.ax.tick_params(labelsize=7)
    figure.savefig(file, format="png", dpi=150, bbox_inches="tight", facecolor="white")


def _slices(inside: NDArray[np.bool_]) -> list[int]:
    """Slices with voxels; of many, some at equal distances."""
    held = np.flatnonzero(inside.any(axis=(0, 1)))
    if len(held) > MOST_SLICES:
        held = held[np.linspace(0, len(held) - 1, MOST_SLICES).round().astype(int)]
    found: list[int] = held.tolist()
    return found


def _limits(values: NDArray[Any], centre: float | None) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    if centre is None:
        return low, high if high > low else low + 1e-12
    reach = max(abs(high - centre), abs(low - centre), 1e-12)
    return centre - reach, centre + reach


def _place(grid: Grid, shape: tuple[int, ...], z: int) -> str:
    if grid.affine is None:
        return f"slice {z}"
    middle = [(shape[0] - 1) / 2, (shape[1] - 1) / 2, z]
    return f"slice {z}, z = {grid.position(middle)[2]:.3g} mm"


def _frame(axes: Any, above: NDArray[np.bool_], grid: Grid) -> None:
    """Draw a line around the voxels that are above the threshold."""
    w, h = grid.voxel_size[:2]
    padded = np.pad(above, 1)
    for y, x in np.argwhere(padded[1:-1, 1:] != padded[1:-1, :-1]):
        axes.plot([x * w, x * w], [y * h, (y + 1) * h], color="#d62728", linewidth=0.8)
    for y, x in np.argwhere(padded[1:, 1:-1] != padded[:-1, 1:-1]):
        axes.plot([x * w, (x + 1) * w], [y * h, y * h], color="#d62728", linewidth=0.8)


def _scale(axes: Any, wide: float, high: float) -> None:
    """Draw how long a round number of millimetres is."""
    length = max(step for step in (1, 2, 5, 10, 20, 50, 100) if step <= max(1.0, wide / 3))
    axes.plot([0.03 * wide, 0.03 * wide + length], [-0.04 * high] * 2, color=INK, linewidth=1.5,
              clip_on=False)  # fmt: skip
    axes.text(0.03 * wide + length / 2, -0.07 * high, f"{length} mm", fontsize=6, color=INK,
              ha="center", va="top")  # fmt: skip
