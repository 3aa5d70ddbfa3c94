"""What the missing cells of a row may turn out to be: values, how probable each is, and in whom.

Numbers are integrated by Gauss's rule between 0 and 1, through the quantiles of every class:

::

    Σ_c P(c) ∫ f(x) p(x | c) dx = Σ_c P(c) ∫₀¹ f(Q_c(u)) du ≈ Σ_c P(c) Σ_i ω_i f(Q_c(u_i))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from suffice.families import Parameters
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters
from suffice.families.kinds.divided import DividedParameters
from suffice.families.multivariate.factored import FactoredGaussians
from suffice.families.multivariate.parameters import (
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
)
from suffice.families.univariate.parameters import GaussianParameters, StudentParameters
from suffice.families.univariate.piecewise import PiecewiseParameters
from suffice.numerics.interruption import interruptible
from suffice.numerics.logspace import cell_scores, safe_log
from suffice.statistics.block import RealBlock

__all__ = ["PossibleCells", "possible_cells"]

POINTS = 64  # of the integral over a number, shared by the classes
FEWEST = 4  # of each class
IMPROBABLE = 1e-9  # P(c) from which the points of a class matter
TOGETHER = 2**16  # scores of numbers that are held at a time: they stay in the cache

Array = NDArray[np.float64]


class PossibleCells(NamedTuple):
    """Values of some columns, for each of which other cells stay as they are.

    Parameters
    ----------
    columns : ndarray of int (g,)
        Places of the columns in their part.
    weight : ndarray (m, g)
        How probable each value is, of m; 0 where a column has fewer.
    log_likelihood : ndarray (m, g, k)
        log p(x_j | c), or of columns modelled together, log p(x_j | c, the cells that are known).
    """

    columns: NDArray[np.intp]
    weight: Array
    log_likelihood: Array


@singledispatch
def possible_cells(
    parameters: Parameters, asked: NDArray[np.intp], p: Array, row: Any
) -> Iterable[PossibleCells] | None:
    """What cells of one row may be.

    Parameters
    ----------
    parameters : Parameters
        Of a part.
    asked : ndarray of int (g,)
        Its columns whose cells are missing.
    p : ndarray (k,)
        P(c), given the cells that are known.
    row : Block
        The cells of the part, of one row.

    Returns
    -------
    iterable of PossibleCells
        Columns that are alike together; None where nothing is known of single cells.
    """
    return None


def _points(p: Array) -> tuple[NDArray[np.intp], Array, Array]:
    """The classes that matter, u (m,) between 0 and 1, and weights ω (m,)."""
    shown = np.flatnonzero(p > IMPROBABLE)
    u, weight = leggauss(max(FEWEST, POINTS // len(shown)))
    return shown, (u + 1) / 2, weight / 2


Numbers = GaussianParameters | StudentParameters


def _numbers(
    of: Callable[[NDArray[np.intp]], Numbers],
    asked: NDArray[np.intp],
    p: Array,
    quantiles: Callable[[Numbers, NDArray[np.intp], Array], Array],
) -> Iterator[PossibleCells]:
    """Numbers, whose parameters ``of`` gives; ``quantiles`` of some classes are (s, m, g)."""
    if not len(asked):
        return
    shown, u, weight = _points(p)
    of_point = np.repeat(p[shown], len(u)) * np.tile(weight, len(shown))
    of_point /= of_point.sum()
    few = max(TOGETHER // (len(of_point) * len(p)), 2)
    for columns in np.array_split(asked, -(-len(asked) // few)):
        parameters = of(columns)
        x = np.ascontiguousarray(quantiles(parameters, shown, u))
        x = x.reshape(-1, x.shape[2])
        cells = cell_scores(len(x), x.shape[1], len(p))
        parameters.add_contributions(RealBlock(x), cells)
        yield PossibleCells(columns, np.broadcast_to(of_point[:, None], x.shape), cells)


@possible_cells.register
def _gaussian(
    parameters: GaussianParameters, asked: NDArray[np.intp], p: Array, row: Any
) -> Iterator[PossibleCells]:
    def quantiles(some: Any, classes: NDArray[np.intp], u: Array) -> Array:
        sd = some.sd[classes][:, None]
        return np.asarray(some.mean[classes][:, None] + sd * ndtri(u)[:, None])

    return _numbers(parameters.columns, asked, p, quantiles)


@possible_cells.register
def _student(
    parameters: StudentParameters, asked: NDArray[np.intp], p: Array, row: Any
) -> Iterator[PossibleCells]:
    def quantiles(some: Any, classes: NDArray[np.intp], u: Array) -> Array:
        dof = np.broadcast_to(some.dof, some.scale2.shape)[classes][:, None]
        scale = np.sqrt(some.scale2[classes])[:, None]
        each, place = np.unique(dof, return_inverse=True)  # mostly one for each class
        t = stdtrit(each[:, None], u)[place[:, 0]].swapaxes(1, 2)
        return np.asarray(some.location[classes][:, None] + scale * t)

    return _numbers(parameters.columns, asked, p, quantiles)


@possible_cells.register
def _piecewise(
    parameters: PiecewiseParameters, asked: NDArray[np.intp], p: Array, row: Any
) -> list[PossibleCells]:
    found = []
    for j in asked.tolist():
        own = slice(*parameters.start[j : j + 2])
        likelihood = parameters.probabilities(j)
        weight = (p[:, None] * likelihood).sum(axis=0)
        logs = parameters.log_density[:, own].T
        found.append(PossibleCells(np.array([j]), weight[:, None], logs[:, None]))
    return found


@possible_cells.register
def _of_kinds(
    parameters: DividedParameters, asked: NDArray[np.intp], p: Array, row: Any
) -> Iterator[PossibleCells]:
    for columns, of_kind in parameters.kinds:
        places = np.flatnonzero(np.isin(columns, asked))
        yield from _renamed(possible_cells(of_kind, places, p, row) or [], columns)


@possible_cells.register
def _outcomes(
    parameters: BernoulliParameters, asked: NDArray[np.intp], p: Array, row: Any
) -> list[PossibleCells] | None:
    if parameters.words is not None:
        return None
    theta = parameters.theta[:, asked].transpose(2, 1, 0)
    return [PossibleCells(asked, theta @ p, safe_log(theta))]


@possible_cells.register
def _categories(
    parameters: CategoricalParameters, asked: NDArray[np.intp], p: Array, row: Any
) -> list[PossibleCells]:
    most = max((len(parameters.vocabularies[j]) for j in asked.tolist()), default=0)
    theta = np.zeros((most, len(asked), len(p)))
    for g, j in enumerate(asked.tolist()):
        of_column = parameters.probabilities(j).T
        theta[: len(of_column), g] = of_column
    weight = theta @ p
    total = weight.sum(axis=0)
    weight = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return [PossibleCells(asked, weight, safe_log(theta))] if most else []


@possible_cells.register
def _gaussians(
    parameters: MultivariateGaussianParameters, asked: NDArray[np.intp], p: Array, row: Any
) -> Iterator[PossibleCells]:
    mean, variance, _, _ = _conditional(parameters.factored, asked, row)
    alone = GaussianParameters(mean, np.zeros_like(mean), variance)
    return _renamed(_gaussian(alone, np.arange(len(asked)), p, row), asked)


@possible_cells.register
def _students(
    parameters: MultivariateStudentParameters, asked: NDArray[np.intp], p: Array, row: Any
) -> Iterator[PossibleCells]:
    mean, variance, distance, shown = _conditional(parameters.factored, asked, row)
    dof, factor = parameters.dof[:, None], parameters.factor[:, None]
    scale2 = variance * factor * (dof + distance[:, None] / factor) / (dof + shown)
    ends = mean, np.zeros_like(mean), scale2, np.broadcast_to(dof + shown, mean.shape)
    return _renamed(_student(StudentParameters(*ends), np.arange(len(asked)), p, row), asked)


def _renamed(found: Iterable[PossibleCells], asked: NDArray[np.intp]) -> Iterator[PossibleCells]:
    return (one._replace(columns=asked[one.columns]) for one in found)


def _conditional(
    factored: FactoredGaussians, asked: NDArray[np.intp], row: RealBlock
) -> tuple[Array, Array, Array, int]:
    """Means and variances of missing cells given the known ones, (k, g), one cell at a time.

    ::

        μ_j + Σ_jo Σ_oo⁻¹ (x_o − μ_o)        Σ_jj − Σ_jo Σ_oo⁻¹ Σ_oj

    Also (x_o − μ_o)ᵀ Σ_oo⁻¹ (x_o − μ_o), (k,), and the number of known cells.

    Source: K. V. Mardia, J. T. Kent, J. M. Bibby, Multivariate Analysis (1979), theorem 3.2.4; for
    Student's t, P. Ding, On the conditional distribution of the multivariate t distribution
    (The American Statistician 70, 2016), eq. 1.
    """
    k = len(factored.mean)
    x = np.asarray(row.values[0], np.float64)
    known = np.flatnonzero(~np.isnan(x))
    covariance = np.broadcast_to(factored.covariance, (k, *factored.covariance.shape[1:]))
    apart = (x[known] - factored.mean[:, known]) - factored.mean_lo[:, known]
    inner = covariance[:, known[:, None], known]
    across = covariance[:, asked[:, None], known]
    solved = (
        interruptible(np.linalg.pinv, inner, hermitian=True) if len(known) else np.zeros((k, 0, 0))
    )
    gain = across @ solved
    mean = factored.mean[:, asked] + np.einsum("kgo,ko->kg", gain, apart)
    variance = covariance[:, asked, asked] - (gain * across).sum(axis=2)
    distance = np.einsum("ko,kop,kp->k", apart, solved, apart)
    return mean, np.maximum(variance, 0.0), distance, len(known)
