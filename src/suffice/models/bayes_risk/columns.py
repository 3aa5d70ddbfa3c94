"""Class-conditional distributions of one column of a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from suffice.families import Parameters
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters
from suffice.families.densities.piecewise import PiecewiseParameters
from suffice.families.gaussian import GaussianParameters, StudentParameters
from suffice.families.joint_table import JointTableParameters
from suffice.families.multivariate_gaussian import (
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
)
from suffice.families.poisson import NegativeBinomialParameters, PoissonParameters
from suffice.models.bayes_risk.densities import log_density, values_of
from suffice.numerics.arrays import Floats
from suffice.numerics.elementary import exp
from suffice.numerics.logspace import scores
from suffice.sums.block import CodedBlock

UNSEEN = 1e-12  # probability from which unseen values are a value of their own


def frozen(location: Floats, scale: Floats, dof: Floats | None) -> list[Any]:
    """Return the distributions of SciPy that a column of numbers has in each class."""
    if dof is None:
        return [stats.norm(*of_class) for of_class in np.hstack([location, scale])]
    return [stats.t(*of_class) for of_class in np.hstack([dof, location, scale])]


def discrete(parameters: Parameters) -> Floats | None:
    """Return P(v | c) of the values v of one column, (k, m), in bins or not; None of numbers.

    Values that are unseen are one value.
    """
    if isinstance(parameters, BernoulliParameters):
        return parameters.theta[:, 0] if parameters.theta.shape[1] == 1 else None
    if isinstance(parameters, PiecewiseParameters):
        return parameters.probabilities(0)
    if isinstance(parameters, CategoricalParameters):
        return _with_others(parameters.probabilities(0))
    if isinstance(parameters, JointTableParameters):
        logs = scores(len(parameters.cells), len(parameters.count), 0.0)
        parameters.add_log_likelihood(CodedBlock(parameters.cells, parameters.vocabularies), logs)
        return _with_others(exp(logs).T)
    if isinstance(parameters, PoissonParameters):
        counts = [stats.poisson(*of_class) for of_class in parameters.rate]
    elif isinstance(parameters, NegativeBinomialParameters):
        a, b = parameters.a[:, 0], parameters.b[:, 0]
        counts = list(map(stats.nbinom, a, b / (b + 1)))
    else:
        return None
    values = values_of(counts)
    return np.stack([exp(log_density(one, values)) for one in counts])


def _with_others(seen: Floats) -> Floats:
    """Append the probability of all unseen values together, (k, m) or (k, m + 1)."""
    others = np.maximum(1.0 - seen.sum(axis=1, keepdims=True), 0.0)
    return np.hstack([seen, others]) if others.max() > UNSEEN else seen


def location_scale(parameters: Parameters) -> tuple[Floats, Floats, Floats | None] | None:
    """Return location and scale (k, 1) of one column, and degrees of freedom of Student's t.

    The column is moved to the mean of the first class: only ratios of densities matter.
    """
    dof = None
    if isinstance(parameters, GaussianParameters):
        mean, low, variance = parameters.mean, parameters.mean_lo, parameters.variance
    elif isinstance(parameters, StudentParameters):
        mean, low, variance = parameters.location, parameters.location_lo, parameters.scale2
        dof = np.broadcast_to(parameters.dof, mean.shape)
    elif isinstance(parameters, MultivariateGaussianParameters | MultivariateStudentParameters):
        factored = parameters.factored
        mean, low, variance = factored.mean, factored.mean_lo, factored.covariance[:, :, 0]
        if isinstance(parameters, MultivariateStudentParameters):
            variance = variance * parameters.factor[:, None]
            dof = parameters.dof[:, None]
    else:
        return None
    scale = np.broadcast_to(np.sqrt(variance), mean.shape)
    return (mean - mean[0]) + (low - low[0]), scale, dof
