"""A fitted model as known distributions of independent columns, where these have the same risk.

A Bayes risk is that of any rows from which the likelihood ratios of the classes follow, so
columns may be moved, scaled, rotated or, where they tell no class from another, left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from suffice.families import Parameters
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters
from suffice.families.joint_table import JointTableParameters
from suffice.families.kinds.divided import DividedParameters
from suffice.families.multivariate.factored import FactoredGaussians
from suffice.families.multivariate.parameters import (
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
)
from suffice.families.poisson import NegativeBinomialParameters, PoissonParameters
from suffice.families.univariate.parameters import GaussianParameters, StudentParameters
from suffice.families.univariate.piecewise import PiecewiseParameters
from suffice.models.bayes_risk.densities import MOST_ATOMS, IndependentColumns, OneColumn
from suffice.numerics.elementary import exp
from suffice.numerics.logspace import safe_log, scores
from suffice.statistics.block import CodedBlock

__all__ = ["Listed", "independent_columns"]

UNSEEN = 1e-12  # probability from which values that no row showed are a value of their own

Columns = list[list[Any]]  # of every column the distributions, one per class


@dataclass(frozen=True, eq=False)
class Listed:
    """The numbers 0, 1, …, m − 1 and their probabilities (m,).

    As `scipy.stats.rv_discrete`, which takes a time that grows with m².
    """

    probabilities: NDArray[np.float64]

    @property
    def xk(self) -> NDArray[np.intp]:
        """The numbers."""
        return np.arange(len(self.probabilities))

    def support(self) -> tuple[int, int]:
        """The smallest and the largest of them."""
        return 0, len(self.probabilities) - 1

    def logpmf(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log-probabilities of some of them."""
        return safe_log(self.probabilities[x.astype(np.intp)])


def independent_columns(
    parameters: Sequence[Parameters], k: int
) -> tuple[IndependentColumns, ...] | None:
    """Return the distributions of k classes; None if no exact method could be of use."""
    columns: Columns = []
    for part in parameters:
        of_part = _columns(part)
        if of_part is None:
            return None
        columns += of_part
    return tuple(IndependentColumns(tuple(OneColumn(one[c]) for one in columns)) for c in range(k))


@singledispatch
def _columns(parameters: Parameters) -> Columns | None:
    """The columns of one part, by the type of its parameters."""
    return None


@_columns.register(GaussianParameters)
def _gaussian(parameters: GaussianParameters) -> Columns | None:
    mean, low = parameters.mean, parameters.mean_lo
    if len(parameters.variance) == 1:
        return _unit_normals(_moved(mean, low) * np.sqrt(parameters.precision))
    return _line(stats.norm, mean, low, parameters.variance)


@_columns.register(StudentParameters)
def _student(parameters: StudentParameters) -> Columns | None:
    location, dof = parameters.location, np.broadcast_to(parameters.dof, parameters.scale2.shape)
    return _line(stats.t, location, parameters.location_lo, parameters.scale2, dof)


@_columns.register(MultivariateGaussianParameters)
def _multivariate_gaussian(parameters: MultivariateGaussianParameters) -> Columns | None:
    factored = parameters.factored
    if len(factored.covariance) == 1:
        return _unit_normals(factored.shift)
    return _line(stats.norm, *_used(factored, np.ones(1)))


@_columns.register(MultivariateStudentParameters)
def _multivariate_student(parameters: MultivariateStudentParameters) -> Columns | None:
    return _line(stats.t, *_used(parameters.factored, parameters.factor), parameters.dof[:, None])


@_columns.register(BernoulliParameters)
def _bernoulli(parameters: BernoulliParameters) -> Columns | None:
    return _listed(parameters.theta.transpose(1, 0, 2))


@_columns.register(CategoricalParameters)
def _categorical(parameters: CategoricalParameters) -> Columns | None:
    d = len(parameters.vocabularies)
    return _listed([_whole(parameters.probabilities(j)) for j in range(d)])


@_columns.register(JointTableParameters)
def _joint_table(parameters: JointTableParameters) -> Columns | None:
    logs = scores(len(parameters.cells), len(parameters.count), 0.0)
    cells = CodedBlock(parameters.cells, parameters.vocabularies)
    parameters.add_log_likelihood(cells, logs)
    return _listed([_whole(exp(logs).T)])


@_columns.register(PoissonParameters)
def _poisson(parameters: PoissonParameters) -> Columns | None:
    return _counts(stats.poisson, parameters.rate)


@_columns.register(NegativeBinomialParameters)
def _negative_binomial(parameters: NegativeBinomialParameters) -> Columns | None:
    a, b = parameters.a, parameters.b
    return _counts(stats.nbinom, a, b / (b + 1))


@_columns.register(PiecewiseParameters)
def _piecewise(parameters: PiecewiseParameters) -> Columns | None:
    """The bins: inside one, no number tells more than another."""
    return _listed([parameters.probabilities(j) for j in range(len(parameters.start) - 1)])


@_columns.register(DividedParameters)
def _of_kinds(parameters: DividedParameters) -> Columns | None:
    found = [_columns(of_kind) for _, of_kind in parameters.kinds]
    if any(columns is None for columns in found):
        return None
    return [column for columns in found if columns is not None for column in columns]


def _moved(mean: NDArray[np.float64], low: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means (k, d) as seen from the first one."""
    return np.asarray((mean - mean[0]) + (low - low[0]))


def _used(
    factored: FactoredGaussians, factor: NDArray[np.float64]
) -> tuple[NDArray[np.float64], ...]:
    """Means, their low parts and variances, (k, u), of the columns that others do not determine."""
    used = np.setdiff1d(np.arange(factored.mean.shape[1]), [j for j, *_ in factored.left_out])
    variance = np.diagonal(factored.covariance, axis1=1, axis2=2) * factor[:, None]
    return factored.mean[:, used], factored.mean_lo[:, used], variance[:, used]


def _unit_normals(mean: NDArray[np.float64]) -> Columns:
    """N(μ, I) of k classes: in the space of their means, which has k − 1 dimensions at most."""
    axes = np.asarray(np.linalg.qr((mean[1:] - mean[0]).T, mode="r"))
    inside = np.vstack([np.zeros(len(axes)), axes.T])
    return [[stats.norm(at, 1) for at in column] for column in inside.T]


def _line(
    kind: Any,
    mean: NDArray[np.float64],
    low: NDArray[np.float64],
    variance: NDArray[np.float64],
    *shapes: NDArray[np.float64],
) -> Columns | None:
    """A location-scale family of SciPy, if there is only one column and it varies."""
    if mean.shape[1] != 1 or not variance.all():
        return None
    sd = np.sqrt(variance)
    scale = sd.max()
    terms = *shapes, _moved(mean, low) / scale, sd / scale
    return [[kind(*of_class) for of_class in np.hstack(terms)]]


def _counts(kind: Any, *shapes: NDArray[np.float64]) -> Columns | None:
    """Counts without end, if there are few enough columns for a sum."""
    if shapes[0].shape[1] > log2(MOST_ATOMS):
        return None
    return [
        [kind(*of_class) for of_class in column]
        for column in np.stack(shapes, axis=-1).swapaxes(0, 1)
    ]


def _listed(tables: Sequence[NDArray[np.float64]] | NDArray[np.float64]) -> Columns | None:
    """Probabilities (k, m) of the values of every column, if a sum over all is not too long."""
    if sum(log2(table.shape[1]) for table in tables) > log2(MOST_ATOMS):
        return None
    return [[Listed(of_class) for of_class in table] for table in tables]


def _whole(seen: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of the values seen, and of all others together, (k, m) or (k, m + 1).

    The others are alike in every class, so that one event says all that they say.
    """
    others = np.maximum(1.0 - seen.sum(axis=1, keepdims=True), 0.0)
    return np.hstack([seen, others]) if others.max() > UNSEEN else seen
