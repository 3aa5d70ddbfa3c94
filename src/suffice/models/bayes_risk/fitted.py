"""Class-conditional distributions of a fitted model, as far as their columns are independent."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import stats

from suffice.errors import ParameterError
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
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.bayes_risk.densities import (
    MOST_VALUES,
    Densities,
    Density,
    log_density,
    prior_of,
    values_of,
)
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.numerics.elementary import exp
from suffice.numerics.logspace import safe_log, scores
from suffice.sums.block import CodedBlock

UNSEEN = 1e-12  # probability from which unseen values are a value of their own

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FittedDensities:
    """Prior and class-conditional distributions of a fitted generative model.

    It has the names of `Densities`; its rows are any table that the model takes.
    """

    model: GenerativeClassifier

    @classmethod
    def of(cls, model: GenerativeClassifier, priors: Any) -> FittedDensities:
        """Take the distributions of a model, under another class prior if one is given.

        Raises
        ------
        ParameterError
            If the model is not fitted, its scores are no probabilities, or priors break their rule.
        """
        check_is_fitted(model)
        for part in model.model_.parts:
            if not part.family.is_distribution:
                raise ParameterError(
                    f"{model!r}: {part.family} is no distribution",
                    "its scores are no likelihood, so there is no Bayes-optimal decision",
                    "use a model that is generative, such as NaiveBayes",
                )
        if priors is not None:
            model, prior = copy(model), prior_of(priors, tuple(model.classes_.tolist()))
            model.model_ = replace(model.model_, prior=prior)
        return cls(model)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels of the model."""
        return tuple(self.model.classes_.tolist())

    @property
    def prior(self) -> Array:
        """P(c) of the model."""
        return self.model.class_prior_

    def rows(self, X: Any) -> Any:
        """Return a table as the model takes it; rows drawn by `sample` are one, too."""
        return pa.table(X) if isinstance(X, dict) else X

    def log_joint(self, rows: Any) -> Array:
        """Return the model's log P(x, c), (n, k)."""
        return self.model.predict_joint_log_proba(self.rows(rows))

    def sample(self, codes: NDArray[np.intp], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Draw rows as the model does: one array per column."""
        drawn: dict[str, NDArray[Any]] = self.model.model_.sample(codes, rng)
        return drawn

    def known(self) -> Densities | None:
        """Return independent columns of the same likelihood ratios; None if there are none.

        A joint table is one column, of which each combination is a value.
        """
        fitted, k = self.model.model_, len(self.classes)
        if 2 ** len(fitted.layout.names) > MOST_VALUES:
            return None
        columns: list[list[Any]] = []
        for part, parameters in zip(fitted.parts, fitted.parameters, strict=True):
            alone = range(len(part.layout.columns))
            joint = isinstance(parameters, JointTableParameters)
            if part.family.joint and not joint and len(alone) > 1:
                return None
            for one in [parameters] if joint else map(parameters.column, alone):
                cells, line = discrete(one), location_scale(one)
                if cells is not None:
                    columns.append(list(map(Listed, cells)))
                elif line is not None and line[1].all():
                    columns.append(frozen(*line))
                else:
                    return None
        densities = tuple(Density(tuple(column[c] for column in columns)) for c in range(k))
        return Densities(self.classes, self.prior, densities)


@dataclass(frozen=True, eq=False)
class Listed:
    """The numbers 0, 1, ..., m − 1 and their probabilities (m,).

    As `scipy.stats.rv_discrete`, which takes a time that grows with m².
    """

    probabilities: Array

    @property
    def xk(self) -> NDArray[np.intp]:
        """The numbers."""
        return np.arange(len(self.probabilities))

    def support(self) -> tuple[int, int]:
        """Return the smallest and the largest of them."""
        return 0, len(self.probabilities) - 1

    def logpmf(self, x: Array) -> Array:
        """Return log-probabilities of some of them."""
        return safe_log(self.probabilities[x.astype(np.intp)])


# -- one column of a model


def frozen(location: Array, scale: Array, dof: Array | None) -> list[Any]:
    """Return the distributions of SciPy that a column of numbers has in each class."""
    if dof is None:
        return [stats.norm(*of_class) for of_class in np.hstack([location, scale])]
    return [stats.t(*of_class) for of_class in np.hstack([dof, location, scale])]


def discrete(parameters: Parameters) -> Array | None:
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


def _with_others(seen: Array) -> Array:
    """Append the probability of all unseen values together, (k, m) or (k, m + 1)."""
    others = np.maximum(1.0 - seen.sum(axis=1, keepdims=True), 0.0)
    return np.hstack([seen, others]) if others.max() > UNSEEN else seen


def location_scale(parameters: Parameters) -> tuple[Array, Array, Array | None] | None:
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
