"""The multinomial: counts of events (words of a text), p(x | c) ∝ Π_v θ_cv^x_v."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.families.dirichlet import (
    borrowed,
    by_event,
    chosen_alpha,
    dirichlet,
    event_features,
    most_telling,
    prior_weight,
    takes_events,
)
from suffice.families.family import (
    Family,
    Form,
    Parameters,
    Posterior,
    ScoreMoments,
    add_with_poles,
    complete,
    trigamma,
)
from suffice.families.options import Estimation, Smoothing, check_smoothing
from suffice.numerics import kernels
from suffice.numerics.arrays import Floats, Ints
from suffice.numerics.dirichlet_evidence import AlphaEvidence
from suffice.numerics.elementary import digamma, log
from suffice.rules import NONNEGATIVE, Shape, Within
from suffice.sums.block import Encoding, RealBlock, SparseBlock, require_held, tiles
from suffice.sums.counts import EventAccumulator, Events
from suffice.sums.vocabulary import Vocabulary


@dataclass(frozen=True)
class Multinomial(Family):
    """Counts over a group of columns, or over the words of a text whose vocabulary grows.

    The likelihood is that of the sequence of events, without the multinomial coefficient, which
    is the same for every class. θ follows from the counts under a symmetric Dirichlet(α) prior:
    ``mle`` N_v/N, ``map`` (N_v + α − 1)/(N + Mα − M), ``bayes`` (N_v + α)/(N + Mα), N = Σ_v N_v.
    A word that no training text showed is left out.

    Parameters
    ----------
    alpha : float, tuple of one float for every column, or "evidence"
        Pseudo-count of every event; or the one of greatest evidence for all
        (`suffice.numerics.dirichlet_evidence.alpha_by_evidence`).
    estimation : {"bayes", "mle", "map"}
        How probabilities follow from the counts.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    Source: Manning, Raghavan, Schütze, Introduction to Information Retrieval (2008), section 13.2.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes.textbook(Multinomial()).fit([[3, 0], [2, 1], [0, 4]], ["a", "a", "b"])
    >>> model.predict([[1, 0], [0, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    alpha: Smoothing = 1.0
    estimation: Estimation = "bayes"

    encodings: ClassVar[tuple[Encoding, ...]] = ("count", "events")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_smoothing(self.estimation, self.alpha)

    def accumulator(self, encoding: str, d: int) -> EventAccumulator:
        return EventAccumulator()

    def takes(self, statistic: Any, encoding: str, d: int) -> bool:
        return takes_events(statistic, encoding, d)

    def estimate(self, statistic: Events) -> MultinomialParameters:
        (events,), count = statistic.vocabularies, statistic.count.value
        m = len(events)
        alpha, evidence = chosen_alpha(self.alpha, m, [count], [m])
        theta = dirichlet(count, alpha, self.estimation, m)
        with np.errstate(invalid="ignore", divide="ignore"):
            length = count.sum(axis=1) / statistic.documents.value
        return MultinomialParameters(events, theta, np.nan_to_num(length, posinf=0.0), evidence)

    def posterior(self, statistic: Events) -> MultinomialPosterior:
        (events,), count = statistic.vocabularies, statistic.count.value
        alpha, _ = chosen_alpha(self.alpha, len(events), [count], [len(events)])
        return MultinomialPosterior(events, borrowed(count) + prior_weight(alpha, self.estimation))


class EventTerms:
    """Terms (k, M) of the events of a row, also in the order in which sparse rows need them."""

    def __init__(self, terms: Floats) -> None:
        self.by_class = terms

    @cached_property
    def by_event(self) -> Floats:
        return by_event(self.by_class)

    def add(self, block: RealBlock | SparseBlock, events: Vocabulary, out: Floats) -> None:
        """Add Σ_v x_v terms[c, v] of every row; what is not among ``events`` is left out."""
        if isinstance(block, SparseBlock):
            whole = block.merged()  # a row adds its events in their order
            cells = whole.data, whole.reindex(events), whole.indptr
            kernels.scores.add_sparse_linear(*cells, self.by_event, out)
            return
        for start, x in tiles(block.values, np.float64):
            kernels.scores.add_linear(x, self.by_class, out[start : start + len(x)])


@dataclass(frozen=True, eq=False)
class EventParameters(Parameters):
    """Parameters (k, M) of events, by which the score of a row x is Σ_v x_v terms[c, v]."""

    events: Annotated[Vocabulary, Shape("M")]

    @property
    @abstractmethod
    def terms(self) -> EventTerms: ...

    @property
    def n_free(self) -> int:
        """k(M − 1)."""
        return len(self.terms.by_class) * max(len(self.events) - 1, 0)

    def add_log_likelihood(self, block: RealBlock | SparseBlock, out: Floats) -> None:
        """Add Σ_v x_v terms[c, v]."""
        self.terms.add(block, self.events, out)

    def form(self) -> Form:
        terms = self.terms.by_class
        return Form(event_features(self.events), np.zeros_like(terms), terms, np.zeros(len(terms)))

    def features(self, block: RealBlock | SparseBlock) -> Any:
        """Counts (n, M); a missing one is 0, which is exact, for the form has no constant."""
        if isinstance(block, SparseBlock):
            return block.merged().counts(self.events)
        require_held(block.values)
        return complete(np.where(np.isnan(block.values), 0.0, block.values))

    def _event(self, j: int) -> Vocabulary:
        return Vocabulary((self.events.values[j],), closed=True)


@dataclass(frozen=True, eq=False)
class MultinomialParameters(EventParameters):
    """θ (k, M), and the mean number of events in a row, (k,), which only sampling needs."""

    theta: Annotated[Floats, Shape("k", "M"), Within(0, 1)]
    length: Annotated[Floats, Shape("k"), NONNEGATIVE]
    alpha_evidence: AlphaEvidence | None = None

    @cached_property
    def terms(self) -> EventTerms:
        return EventTerms(log(self.theta))

    def column(self, j: int) -> MultinomialParameters:
        if not self.events.closed:
            return self
        return MultinomialParameters(self._event(j), self.theta[:, [j]], self.length)

    def sample(self, codes: Ints, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Draw a Poisson number of events around the class's mean, then the events."""
        theta = self.theta / self.theta.sum(axis=1, keepdims=True)
        length = rng.poisson(self.length[codes])
        counts = rng.multinomial(length, theta[codes]) if theta.size else theta[codes].astype(int)
        if self.events.closed:
            return list(counts.T.astype(np.float64))
        words = np.array(self.events.values, dtype=object)
        return [np.array([" ".join(np.repeat(words, row)) for row in counts], dtype=object)]

    def describe(self, j: int) -> dict[str, list[float]]:
        if self.events.closed:
            return {"share": self.theta[:, j].tolist()}
        return most_telling(self.events.values, self.theta, self.terms.by_class)


# -- posterior


@dataclass(frozen=True, eq=False)
class MultinomialPosterior(Posterior):
    """Dirichlet(a) of every class, (k, M)."""

    events: Vocabulary
    a: Floats

    def add_moments(self, block: RealBlock | SparseBlock, moments: ScoreMoments) -> None:
        """Add the moments of Σ_v x_v log θ_v.

        ::

            E = Σ x_v ψ(a_v) − N ψ(A)    Var = Σ x_v² ψ₁(a_v) − N² ψ₁(A)    N = Σ x_v

        since Cov(log θ_u, log θ_v) = −ψ₁(A).
        """
        if isinstance(block, SparseBlock):
            block = block.merged()
            squared: Any = replace(block, data=block.data**2)
        else:
            require_held(block.values)
            squared = RealBlock(np.asarray(block.values, np.float64) ** 2)
        total = self.a.sum(axis=1)
        known = self.a > 0
        self._add(block, np.where(known, digamma(self.a), 0.0), moments.mean)
        of_row = np.zeros_like(moments.mean)
        self._add(block, np.ones_like(self.a), of_row)
        moments.mean[:] -= of_row * np.where(total > 0, digamma(total), 0.0)
        variance = np.zeros_like(moments.mean)
        add_with_poles(
            lambda terms, out: self._add(squared, terms, out), trigamma(self.a), variance
        )
        variance -= of_row**2 * np.where(total > 0, trigamma(total), 0.0)
        moments.variance[:] += np.maximum(variance, 0.0)

    def _add(self, block: Any, terms: Floats, out: Floats) -> None:
        EventTerms(terms).add(block, self.events, out)
