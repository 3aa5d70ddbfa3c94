"""Known distributions of two classes, which satisfy the assumptions of some methods only.

Each is as hard in 200 columns as in 2: what tells the classes apart is shared among the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import expm, toeplitz
from scipy.stats import Mixture, Normal, multivariate_normal, norm

from suffice import BayesClassifier

__all__ = ["DISTANCE", "TRUTHS", "Densities", "Truth"]

SEED = 20
DISTANCE = 2.0  # between the means, in standard deviations along the best direction

Densities = tuple[Any, Any]


@dataclass(frozen=True)
class Truth:
    """The densities of two classes of equal probability, for any number of columns."""

    name: str
    about: str
    densities: Callable[[int], Densities]

    def known(self, d: int) -> BayesClassifier:
        """The best classifier there is, which draws rows too."""
        return BayesClassifier(self.densities(d))


def _independent(d: int) -> Densities:
    """Means ∓½ and variances exp(∓1), all divided among the columns."""
    half, log_sd = 0.5 * DISTANCE / np.sqrt(d), 0.5 / np.sqrt(d)
    low, high = norm(-half, np.exp(-log_sd)), norm(half, np.exp(log_sd))
    return (low,) * d, (high,) * d


def _equal(d: int) -> Densities:
    """Correlations 0.6^|i − j|; the means differ in a random direction."""
    covariance = toeplitz(0.6 ** np.arange(d))
    direction = np.random.default_rng(SEED).standard_normal(d)
    length = np.sqrt(direction @ np.linalg.solve(covariance, direction))
    half = 0.5 * DISTANCE * direction / length
    return multivariate_normal(-half, covariance), multivariate_normal(half, covariance)


def _unequal(d: int) -> Densities:
    """Covariances exp(∓A), A symmetric with ‖A‖ = 1; the means differ by 1."""
    draw = np.random.default_rng(SEED).standard_normal((d, d))
    a = (draw + draw.T) / np.linalg.norm(draw + draw.T)
    half = np.full(d, 0.5 / np.sqrt(d))
    return multivariate_normal(-half, expm(-a)), multivariate_normal(half, expm(a))


def _copies(d: int) -> Densities:
    """One half of the columns are copies of each other, r = 0.95, and tell little together."""
    copies = d // 2
    covariance = np.eye(d)
    covariance[:copies, :copies] += 0.95 * (1 - np.eye(copies))
    half = np.full(d, 0.5 * DISTANCE / np.sqrt(d - copies))
    half[:copies] = 0.5
    return multivariate_normal(-half, covariance), multivariate_normal(half, covariance)


def _humps(d: int) -> Densities:
    """The first column alternates between the classes, at −3, −1, 1 and 3; the others are noise."""

    def two(a: float, b: float) -> Any:
        return Mixture([Normal(mu=a, sigma=0.5), Normal(mu=b, sigma=0.5)])

    noise = (norm(0, 0.5),) * (d - 1)
    return (two(-3, 1), *noise), (two(-1, 3), *noise)


TRUTHS = (
    Truth(
        "independent",
        "independent columns, unequal variances: naive Bayes and QDA are right",
        _independent,
    ),
    Truth(
        "equal",
        "correlated columns, equal covariances: LDA, QDA and logistic regression are right",
        _equal,
    ),
    Truth("unequal", "unequal covariances: QDA is right", _unequal),
    Truth(
        "copies",
        "half of the columns nearly copies of one: LDA, QDA and logistic regression are right",
        _copies,
    ),
    Truth(
        "humps",
        "two humps per class in one column, the rest noise: only nearest neighbours are right",
        _humps,
    ),
)
