"""Complement naive Bayes: counts scored by how little they suit the other classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.dirichlet import most_telling, pseudo_counts, takes_events
from suffice.families.family import Family
from suffice.families.multinomial import EventParameters, EventTerms
from suffice.families.options import Alpha, check_alpha
from suffice.numerics.arrays import Floats, Ints
from suffice.numerics.elementary import log
from suffice.rules import FINITE, Shape
from suffice.sums.block import Encoding
from suffice.sums.counts import EventAccumulator, Events


@dataclass(frozen=True)
class Complement(Family):
    """Weights for the words of a text, from the counts of all *other* classes.

    ::

        θ̃_cv = (α_v + Σ_{c' ≠ c} N_c'v) / Σ_v (α_v + Σ_{c' ≠ c} N_c'v)
        w_cv = −log θ̃_cv,  with ``norm``  log θ̃_cv / Σ_v log θ̃_cv

    The score of a class is Σ_v x_v w_cv: a heuristic against uneven classes, no likelihood.

    Parameters
    ----------
    alpha : float, or tuple of one float for every column
        Pseudo-count of every event, more than 0.
    norm : bool
        Divide the weights of a class by their sum.

    Raises
    ------
    ParameterError
        If α is not positive.

    Source: J. Rennie, L. Shih, J. Teevan, D. Karger, Tackling the poor assumptions of naive Bayes
    text classifiers (ICML 2003), equations 6 and 7 and table 4.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes.textbook(Complement()).fit([[3, 0], [2, 1], [0, 4]], ["a", "a", "b"])
    >>> model.predict([[1, 0], [0, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    alpha: Alpha = 1.0
    norm: bool = False

    encodings: ClassVar[tuple[Encoding, ...]] = ("count", "events")
    is_distribution: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_alpha("bayes", self.alpha)
        if min(self.alpha if isinstance(self.alpha, tuple) else (self.alpha,), default=1.0) <= 0:
            raise ParameterError(
                f"alpha={self.alpha!r}",
                "complement naive Bayes needs alpha > 0: a word of one class alone would outweigh "
                "everything",
            )

    def accumulator(self, encoding: str, d: int) -> EventAccumulator:
        return EventAccumulator()

    def takes(self, statistic: Any, encoding: str, d: int) -> bool:
        return takes_events(statistic, encoding, d)

    def estimate(self, statistic: Events) -> ComplementParameters:
        (events,) = statistic.vocabularies
        count = statistic.count.value
        others = count.sum(axis=0) - count + pseudo_counts(self.alpha, len(events))
        log_theta = log(others / others.sum(axis=1, keepdims=True))
        if not self.norm:
            return ComplementParameters(events, -log_theta)
        total = log_theta.sum(axis=1, keepdims=True)
        # The θ of a single event is 1, and its weight the limit of log θ / log θ.
        one = np.ones_like(log_theta)
        return ComplementParameters(events, np.divide(log_theta, total, out=one, where=total != 0))

    def posterior(self, statistic: Events) -> NoReturn:
        """Refuse: weights are no probabilities.

        Raises
        ------
        ParameterError
            Always.
        """
        raise ParameterError(
            f"{self} gives scores",
            "an interval needs the posterior of a distribution",
            "use the multinomial family",
        )


@dataclass(frozen=True, eq=False)
class ComplementParameters(EventParameters):
    """w (k, M), whose sums stand in for log-likelihoods."""

    weights: Annotated[Floats, Shape("k", "M"), FINITE]

    @cached_property
    def terms(self) -> EventTerms:
        return EventTerms(self.weights)

    def column(self, j: int) -> ComplementParameters:
        if not self.events.closed:
            return self
        return ComplementParameters(self._event(j), self.weights[:, [j]])

    def sample(self, codes: Ints, rng: np.random.Generator) -> list[NDArray[Any]]:
        raise ParameterError(
            "complement naive Bayes cannot be sampled from",
            "its weights are not a distribution",
            "use the multinomial family",
        )

    def describe(self, j: int) -> dict[str, list[float]]:
        if self.events.closed:
            return {"weight": self.weights[:, j].tolist()}
        return most_telling(self.events.values, self.weights, self.weights)
