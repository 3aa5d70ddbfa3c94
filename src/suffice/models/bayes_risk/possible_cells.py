"""What a missing cell may turn out to be: P(v | c) of its values v in every class."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from suffice.families import Parameters
from suffice.families.kinds.divided import DividedParameters
from suffice.families.univariate.parameters import GaussianParameters, StudentParameters
from suffice.families.univariate.piecewise import PiecewiseParameters, widths
from suffice.models.bayes_risk.fitted_densities import independent_columns
from suffice.numerics.elementary import exp

__all__ = ["possible_cells"]

# Quantiles of a density in each class, which cut the line: even, and by decades in the tails.
QUANTILES = np.concatenate([np.arange(1, 48) / 48, [0.01, 0.001, 1e-4, 0.99, 0.999, 1 - 1e-4]])
MOST_NUMBERS = 2_000  # of a column of numbers, in all classes together: a page holds them
DIGITS = 8  # of a probability between quantiles, so that a page holds it in few bytes

Array = NDArray[np.float64]
OfNumbers = Callable[..., Any]


def possible_cells(parameters: Parameters, j: int, k: int) -> Array | None:
    """Return p(v | c) of the values v of column j, (k, m), or None where no sum is known.

    They add up to what the densities of the model do, of a kernel density not quite to 1.

    Values of discrete columns are themselves, those that no row showed together; of a histogram
    they are its bins; of a continuous density, the bins between `QUANTILES` of all classes. Where
    bins are too many, neighbours are taken together.
    """
    while isinstance(parameters, DividedParameters):
        kinds = [(columns == j, of_kind) for columns, of_kind in parameters.kinds]
        (own, parameters), *_ = [(mine, of_kind) for mine, of_kind in kinds if mine.any()]
        j = int(own.argmax())
    if isinstance(parameters, PiecewiseParameters):
        low, high, logs = parameters.piece(j)
        return _fewer(exp(logs) * widths(low, high))
    if isinstance(parameters, GaussianParameters):
        moved = _moved(parameters.mean[:, j], parameters.mean_lo[:, j])
        return _of_density(moved, parameters.sd[:, j], ndtri, ndtr)
    if isinstance(parameters, StudentParameters):
        moved = _moved(parameters.location[:, j], parameters.location_lo[:, j])
        scale = np.sqrt(parameters.scale2[:, j])
        dof = np.broadcast_to(parameters.dof[:, j], scale.shape)[:, None]
        return _of_density(moved, scale, partial(stdtrit, dof), partial(stdtr, dof))
    lines = independent_columns((parameters.column(j),), k)
    if lines is None or any(len(of_class.columns) != 1 for of_class in lines):
        return None
    columns = [of_class.columns[0] for of_class in lines]
    values = np.unique(np.concatenate([column.atoms() for column in columns]))
    return np.stack([exp(column.log_density(values)) for column in columns])


def _moved(mean: Array, low: Array) -> Array:
    """Means (k,) as seen from the first one."""
    return np.asarray((mean - mean[0]) + (low - low[0]))


def _of_density(location: Array, scale: Array, quantiles: OfNumbers, cdf: OfNumbers) -> Array:
    """The probabilities between quantiles of a location-scale family, whose cdf is symmetric."""
    if not scale.all():  # a column without spread says nothing
        return np.ones((len(location), 1))
    at, by = location[:, None], scale[:, None]
    edges = np.unique(at + by * quantiles(QUANTILES[None]))
    edges = edges[_even(len(edges), MOST_NUMBERS // len(location))]
    z = np.concatenate([[-np.inf], edges, [np.inf]]) - at
    z /= by
    below, above = cdf(z), cdf(-z)
    inner = np.where(z[:, 1:] < 0, np.diff(below, axis=1), -np.diff(above, axis=1))
    return np.asarray(inner.round(DIGITS))


def _fewer(cells: Array) -> Array:
    """Sums over neighbours, where there are too many values."""
    k, m = cells.shape
    starts = _even(m, MOST_NUMBERS // k)
    return cells if len(starts) == m else np.add.reduceat(cells, starts, axis=1).round(DIGITS)


def _even(m: int, most: int) -> NDArray[np.intp]:
    """Some of m places, the first among them, at most about ``most``."""
    return np.arange(0, m, max(-(-m // max(most, 8)), 1))
