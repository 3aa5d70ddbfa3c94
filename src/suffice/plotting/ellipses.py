"""Gaussian classes in the plane of two columns, as ellipses."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.multivariate.parameters import MultivariateGaussianParameters
from suffice.families.univariate.parameters import GaussianParameters
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.terms import TermParameters
from suffice.numerics.elementary import log_of

__all__ = ["Gaussian", "ellipse", "gaussians_of"]

SHARE = 0.95  # of a class that its ellipse holds
Gaussian = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Mean (2,) and covariance (2, 2)."""


def gaussians_of(model: Any, columns: tuple[str, str]) -> dict[Any, Gaussian]:
    """Mean and covariance of two columns in every class; none where they are no Gaussians."""
    if not isinstance(model, GenerativeClassifier):
        return {}
    k, found = len(model.model_.classes), {}
    mean, covariance = np.zeros((k, 2)), np.zeros((k, 2, 2))
    for part, parameters in zip(model.parts_, model.model_.parameters, strict=True):
        names = list(part.layout.columns)
        here = [i for i in range(2) if columns[i] in names]
        at = [names.index(columns[i]) for i in here]
        if not here:
            continue
        if isinstance(parameters, TermParameters):
            at = [int(parameters.places[j][0]) for j in at]
            parameters = parameters.of_terms
        if isinstance(parameters, MultivariateGaussianParameters):
            block = parameters.covariance[:, at][:, :, at]
        elif isinstance(parameters, GaussianParameters):
            block = parameters.variance[:, at, None] * np.eye(len(at))
        else:
            return {}
        mean[:, here] = parameters.mean[:, at]
        covariance[np.ix_(range(k), here, here)] = np.broadcast_to(block, (k, len(at), len(at)))
    for c, label in enumerate(model.model_.classes.values):
        found[label] = mean[c], covariance[c]
    return found


def ellipse(mean: NDArray[np.float64], covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (m, 2) of the ellipse that holds 95 % of a Gaussian: d²(x, μ) = −2 log 0.05.

    Examples
    --------
    >>> points = ellipse(np.zeros(2), np.eye(2))
    >>> np.round((points**2).sum(axis=1)[[0, 50]], 3)
    array([5.991, 5.991])
    """
    turn = np.linspace(0, 2 * np.pi, 181)
    variances, axes = np.linalg.eigh(covariance)
    radii = np.sqrt(-2 * log_of(1 - SHARE) * np.maximum(variances, 0.0))
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return np.asarray(mean + (circle * radii) @ axes.T)
