"""Where two quadratic functions of a plane are equal: lines and conic sections, as points.

With log P(c | x, y) = q_c(x, y) + what all classes share, and every q_c quadratic, the boundary
between classes a and b lies on q_a = q_b, which is a conic section. Linear functions are a special
case.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Boundary", "Quadratics", "boundaries", "quadratics_of"]

EXACT = 1e-9  # of the largest log-odds: what rounding leaves of a quadratic function
FINE = 2_001  # points along either axis
LEVEL = 1 - 1e-6  # slope below which a curve runs along u; rounding leaves none at 1 itself
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Boundary:
    """Where two classes are equally probable, and no other one is more so.

    Parameters
    ----------
    classes : tuple of two int
        Their codes.
    pieces : tuple of ndarray (m, 2)
        Points of the plane, in their order along the curve.
    """

    classes: tuple[int, int]
    pieces: tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class Quadratics:
    """Functions q_c(u, v) = Σ coefficients · (1, u, v, u², uv, v²) of a plane.

    Parameters
    ----------
    coefficients : ndarray (k, 6)
    centre, half : ndarray (2,)
        (u, v) = ((x, y) − centre)/half is between −1 and 1.
    """

    coefficients: Array
    centre: Array
    half: Array


def quadratics_of(x: Array, y: Array, log_proba: Array) -> Quadratics | None:
    """The functions whose values on a grid are known up to what all classes share.

    Parameters
    ----------
    x, y : ndarray (m,)
    log_proba : ndarray (m, m, k)
        Rows along y.

    Returns
    -------
    Quadratics or None
        None where they are no quadratic functions.
    """
    odds = log_proba - log_proba[:, :, :1]
    if len(x) < 3 or not np.isfinite(odds).all():
        return None
    centre = np.array([x[0] + x[-1], y[0] + y[-1]]) / 2
    half = np.array([x[-1] - x[0], y[-1] - y[0]]) / 2
    u, v = np.meshgrid((x - centre[0]) / half[0], (y - centre[1]) / half[1])
    powers = _powers(u.ravel(), v.ravel())
    values = odds.reshape(powers.shape[0], -1)
    found = np.linalg.lstsq(powers, values, rcond=None)[0]
    off = np.abs(powers @ found - values).max()
    if off > EXACT * max(1.0, float(np.abs(values).max())):
        return None
    return Quadratics(np.ascontiguousarray(found.T), centre, half)


def boundaries(functions: Quadratics) -> Iterator[Boundary]:
    """Yield the boundary of every two classes that have one in the plane."""
    q = functions.coefficients
    for a, b in combinations(range(len(q)), 2):
        pieces = []
        for points in _zeros(q[a] - q[b]):
            values = _powers(*points.T) @ q.T
            others = np.delete(values, [a, b], axis=1)
            shown = np.asarray(~np.isnan(points).any(axis=1))
            if others.shape[1]:
                shown &= others.max(axis=1) <= np.maximum(values[:, a], values[:, b])
            pieces += [functions.centre + functions.half * run for run in _runs(points, shown)]
        if pieces:
            yield Boundary((a, b), tuple(pieces))


def _powers(u: Array, v: Array) -> Array:
    return np.stack([np.ones_like(u), u, v, u * u, u * v, v * v], axis=-1)


def _zeros(d: Array) -> Iterator[Array]:
    """Points (m, 2) with d(u, v) = 0 in the square, two branches along either axis.

    Along u where the curve runs rather along u, and along v elsewhere, so that no branch is steep.
    """
    line = np.linspace(-1, 1, FINE)
    scale = np.abs(d).max()
    if scale == 0:
        return
    for swapped in (False, True):
        one, u, v, uu, uv, vv = (d[[0, 2, 1, 5, 4, 3]] if swapped else d) / scale
        b, c = v + uv * line, one + u * line + uu * line**2
        for root in _roots(vv, b, c):
            along, across = u + 2 * uu * line + uv * root, v + uv * line + 2 * vv * root
            gentle = (
                np.abs(along) < LEVEL * np.abs(across)
                if swapped
                else np.abs(across) >= LEVEL * np.abs(along)
            )
            shown = (np.abs(root) <= 1) & gentle
            points = np.stack([line, np.where(shown, root, np.nan)], axis=1)
            points[~shown] = np.nan
            yield points[:, ::-1] if swapped else points


def _roots(a: float, b: Array, c: Array) -> tuple[Array, Array]:
    """Both solutions of a z² + b z + c = 0, without cancellation; NaN where there is none."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = np.sqrt(b * b - 4 * a * c)
        large = -(b + np.where(b < 0, -1.0, 1.0) * root) / 2
        first, second = large / a if a else np.full_like(b, np.nan), c / large
        upper = np.where(b < 0, first, second)
        lower = np.where(b < 0, second, first)
    return upper, lower


def _runs(points: Array, shown: NDArray[np.bool_]) -> Iterator[Array]:
    """The runs of two points or more that are shown."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], shown, [False]]).astype(np.int8)))
    for start, stop in edges.reshape(-1, 2).tolist():
        if stop - start > 1:
            yield points[start:stop]
