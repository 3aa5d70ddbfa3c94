"""The posterior of the parameters of one family: moments of log p(x | c), and draws of them.

The mean and the variance of log p(x | c), as the parameters vary and the row stays, are in closed
form by the digamma function ψ and the trigamma function ψ₁. A draw of the parameters says the same
by sampling.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.family import Family

__all__ = [
    "Posterior",
    "ScoreMoments",
    "Scorer",
    "add_with_poles",
    "posterior_of",
    "trigamma",
]


@dataclass(frozen=True, eq=False)
class ScoreMoments:
    """Moments of the scores log P(x, c) of n rows, up to a term that all classes share.

    Parameters
    ----------
    mean, variance : ndarray (n, k)
        E[log P(x, c)], and its variance; infinite where the posterior is improper.
    covariance : ndarray (n, k, k)
        What classes that share parameters have besides, variances included.
    """

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    covariance: NDArray[np.float64]

    @classmethod
    def zeros(cls, n: int, k: int) -> ScoreMoments:
        """Nothing is known of the rows yet, and nothing is open."""
        return cls(np.zeros((n, k)), np.zeros((n, k)), np.zeros((n, k, k)))


class Scorer(Protocol):
    """Parameters, as far as they give scores."""

    def add_log_likelihood(self, block: Any, out: NDArray[np.float64]) -> None:
        """Add log p(x | c) of every row to ``out`` (n, k); missing cells add nothing."""


class Posterior(ABC):
    """The posterior of the parameters of d columns and k classes."""

    @abstractmethod
    def add_moments(self, block: Any, moments: ScoreMoments) -> None:
        """Add mean and variance of log p(x | c) of every row; missing cells add nothing.

        An improper posterior adds an infinite variance to the rows that need it.
        """

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Scorer:
        """Draw parameters; where the posterior is improper, they are arbitrary."""


def posterior_of(family: Family, statistic: Any) -> Posterior:
    """The posterior of the parameters of a family, from the sums that it is estimated from.

    The prior is that of the family's options; under ``mle`` it is the improper limit that weighs
    nothing: Dirichlet(0), Gamma(0, 0), 1/σ² and |Σ|^(−(d + 1)/2).

    Raises
    ------
    ParameterError
        If the family has none.

    Examples
    --------
    >>> from suffice.naive_bayes import BernoulliNB
    >>> model = BernoulliNB().fit([[0], [0], [1], [1], [1]], list("aabbb")).model_
    >>> posterior_of(model.parts[0].family, model.statistic.blocks[0]).a[:, 0]
    array([[3., 1.],
           [1., 4.]])
    """
    name = f"suffice.families.posteriors.{family.name}"
    if find_spec(name) is None:
        raise ParameterError(
            f"{family} has no posterior in closed form",
            "an interval needs one",
            "use the family 'gaussian'",
        )
    module = import_module(name)
    found: Posterior = module.posterior(family, statistic)
    return found


def trigamma(x: Any) -> NDArray[np.float64]:
    """ψ₁(x) = d²/dx² log Γ(x) = ζ(2, x); +∞ at 0."""
    from scipy.special import zeta

    x = np.asarray(x, np.float64)
    return np.where(x > 0, zeta(2.0, np.where(x > 0, x, 1.0)), np.inf)


def add_with_poles(
    add: Callable[[NDArray[np.float64], NDArray[np.float64]], None],
    terms: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Add sums of ``terms``, of which some are infinite, to ``out``; ``add`` knows finite ones.

    A term that a row does not show has the factor 0, and 0 · ∞ is to be 0.
    """
    finite = np.isfinite(terms)
    add(np.where(finite, terms, 0.0), out)
    if not finite.all():
        poles = np.zeros_like(out)
        add((~finite).astype(np.float64), poles)
        out[poles > 0.5] = np.inf
