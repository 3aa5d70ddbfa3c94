"""The Bernoulli: two outcomes, p(x = 1 | c) = θ_c for every column (or word) on its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.families.dirichlet import (
    borrowed,
    by_event,
    chosen_alpha,
    dirichlet,
    event_features,
    log_share_moments,
    most_telling,
    prior_weight,
    takes_events,
)
from suffice.families.family import (
    INCOMPLETE,
    Family,
    Form,
    Parameters,
    Posterior,
    ScoreMoments,
    add_with_poles,
    complete,
)
from suffice.families.options import Estimation, Smoothing, check_smoothing
from suffice.numerics import kernels
from suffice.numerics.arrays import Floats, Ints
from suffice.numerics.dirichlet_evidence import AlphaEvidence
from suffice.numerics.elementary import log
from suffice.numerics.logspace import scores
from suffice.rules import Shape, Within
from suffice.sums.base import Accumulator
from suffice.sums.block import BadCell, CodedBlock, Encoding, SparseBlock, tiles
from suffice.sums.counts import CountAccumulator, Counts, EventAccumulator
from suffice.sums.vocabulary import FALSE_TRUE, Vocabulary


@dataclass(frozen=True)
class Bernoulli(Family):
    """Booleans, 0/1 or −1/+1; or, over a text, whether each known word occurs.

    θ follows from the counts under a Beta(α, α) prior: ``mle`` N₁/N, ``map``
    (N₁ + α − 1)/(N + 2α − 2), ``bayes`` (N₁ + α)/(N + 2α).

    Parameters
    ----------
    alpha : float, tuple of one float for every column, or "evidence"
        Pseudo-count of each outcome; or the one of greatest evidence
        (`suffice.numerics.dirichlet_evidence.alpha_by_evidence`), for each column. The
        words of a text share one.
    estimation : {"bayes", "mle", "map"}
        How probabilities follow from the counts.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    Source: Manning, Raghavan, Schütze, Introduction to Information Retrieval (2008), section 13.3.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes.textbook(Bernoulli(alpha=0.5)).fit([[1], [1], [0]], ["a", "a", "b"])
    >>> model.predict_proba([[1]]).round(3)
    array([[0.87, 0.13]])
    """

    alpha: Smoothing = 1.0
    estimation: Estimation = "bayes"

    encodings: ClassVar[tuple[Encoding, ...]] = ("binary", "events")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_smoothing(self.estimation, self.alpha)

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        return EventAccumulator(presence=True) if encoding == "events" else CountAccumulator(d)

    def takes(self, statistic: Any, encoding: str, d: int) -> bool:
        if encoding != "events":
            if not super().takes(statistic, encoding, d):
                return False
            return not statistic.k or statistic.vocabularies == (FALSE_TRUE,) * d
        if not takes_events(statistic, encoding, d):
            return False
        return bool((statistic.count.value <= statistic.total).all())

    def estimate(self, statistic: Counts) -> BernoulliParameters:
        outcomes, alpha, evidence = self._outcomes(statistic)
        theta = dirichlet(outcomes, alpha, self.estimation, 2)
        return BernoulliParameters(theta, statistic.events, evidence)

    def posterior(self, statistic: Counts) -> BernoulliPosterior:
        outcomes, alpha, _ = self._outcomes(statistic)
        a = borrowed(outcomes) + prior_weight(alpha, self.estimation)
        return BernoulliPosterior(a, statistic.events)

    def _outcomes(self, statistic: Counts) -> tuple[Floats, float | Floats, AlphaEvidence | None]:
        """Return Σw of the outcomes 0 and 1, (k, d, 2), α, and what it was chosen from."""
        ones, words = statistic.ones, statistic.events
        outcomes, d = np.stack([statistic.total - ones, ones], axis=-1), ones.shape[1]
        growing = words is not None and not words.closed
        tables = outcomes.swapaxes(0, 1)
        alpha, evidence = chosen_alpha(self.alpha, d, tables, [2] * d, growing)
        return outcomes, alpha[:, None] if isinstance(alpha, np.ndarray) else alpha, evidence


@dataclass(frozen=True, eq=False)
class BernoulliParameters(Parameters):
    """Probabilities (k, d, 2) of the outcomes 0 and 1; ``words`` names the events of a text."""

    theta: Annotated[Floats, Shape("k", "d", 2), Within(0, 1)]
    words: Annotated[Vocabulary | None, Shape("d")] = None
    alpha_evidence: AlphaEvidence | None = None

    @property
    def n_free(self) -> int:
        """Return kd."""
        return self.theta.size // 2

    def add_log_likelihood(self, block: CodedBlock | SparseBlock, out: Floats) -> None:
        """Add Σⱼ xⱼ log θⱼ + (1 − xⱼ) log(1 − θⱼ)."""
        log_theta = log(self.theta)
        impossible = np.isneginf(log_theta)
        self.add_terms(np.where(impossible, 0.0, log_theta), block, out)
        if impossible.any():
            count = scores(block.rows, len(self.theta), 0.0)
            self.add_terms(impossible.astype(np.float64), block, count)
            out[count > 0.5] = -np.inf

    def add_contributions(self, block: CodedBlock | SparseBlock, out: Floats) -> None:
        """Add xⱼ log θⱼ + (1 − xⱼ) log(1 − θⱼ) of every cell to ``out`` (n, d, k)."""
        if not isinstance(block, CodedBlock):
            super().add_contributions(block, out)
            return
        log_theta = log(self.theta)
        impossible = np.isneginf(log_theta)
        terms = np.where(impossible, 0.0, log_theta)
        terms[..., 1] = terms[..., 0] + (terms[..., 1] - terms[..., 0])  # as `add_terms` rounds it
        terms = np.where(impossible, -np.inf, terms).transpose(2, 1, 0)
        table = np.concatenate([terms, np.zeros((1, *terms.shape[1:]))])  # the last: of no cell
        out += table[block.codes, np.arange(block.codes.shape[1])]

    def add_terms(self, terms: Floats, block: CodedBlock | SparseBlock, out: Floats) -> None:
        """Add Σⱼ terms[c, j, xⱼ]: all outcomes 0, corrected where the outcome is 1."""
        absent = np.ascontiguousarray(terms[:, :, 0])
        slope = terms[:, :, 1] - absent
        if isinstance(block, CodedBlock):
            for start, values in tiles(block.codes, np.int8):
                part = out[start : start + len(values)]
                kernels.scores.add_binary(values, absent, slope, part)
            return
        assert self.words is not None
        out[block.present] += absent.sum(axis=1)
        of_one = by_event(slope)
        whole = block.merged()  # an event occurs by the sum of its parts
        occurs, cells = whole.outcomes, (whole.reindex(self.words), whole.indptr)
        kernels.scores.add_sparse_linear(occurs, *cells, of_one, out)
        if (missing := np.isnan(occurs)).any():
            taken_back = missing.astype(np.float64), *cells, by_event(-absent)
            kernels.scores.add_sparse_linear(*taken_back, out)

    def column(self, j: int) -> BernoulliParameters:
        if self.words is None:
            return BernoulliParameters(self.theta[:, [j]])
        if not self.words.closed:
            return self
        word = Vocabulary((self.words.values[j],), closed=True)
        return BernoulliParameters(self.theta[:, [j]], word)

    def sample(self, codes: Ints, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Draw booleans; for a text, the words that occur."""
        drawn = rng.random((len(codes), self.theta.shape[1])) < self.theta[codes, :, 1]
        if self.words is None or self.words.closed:
            return list(drawn.T)
        words = np.array(self.words.values, dtype=object)
        return [np.array([" ".join(words[row]) for row in drawn], dtype=object)]

    def describe(self, j: int) -> dict[str, list[float]]:
        """θ of column j, or of the words that divide the classes most."""
        if self.words is None or self.words.closed:
            return {"P(1)": self.theta[:, j, 1].tolist()}
        theta = self.theta[:, :, 1]
        return most_telling(self.words.values, theta, log(theta))

    def form(self) -> Form:
        """Linear in x: weight log θ/(1 − θ), constant Σ log(1 − θ)."""
        log_theta = log(self.theta)
        linear = log_theta[:, :, 1] - log_theta[:, :, 0]
        words = self.words
        features = tuple(range(linear.shape[1])) if words is None else event_features(words)
        return Form(features, np.zeros_like(linear), linear, log_theta[:, :, 0].sum(axis=1))

    def features(self, block: CodedBlock | SparseBlock) -> Any:
        """Outcomes (n, d), or which words occur, sparse."""
        if isinstance(block, CodedBlock):
            return complete(np.where(block.codes < 0, np.nan, block.codes))
        block = block.merged()
        absent, occurs = np.flatnonzero(~block.present), block.outcomes
        if len(absent):
            raise BadCell(int(absent[0]), 0, None, INCOMPLETE)
        for q in np.flatnonzero(np.isnan(occurs)).tolist():
            raise block.bad_cell(q, None, INCOMPLETE)
        assert self.words is not None
        return replace(block, data=occurs).counts(self.words)


# -- posterior


@dataclass(frozen=True, eq=False)
class BernoulliPosterior(Posterior):
    """Beta(a₁, a₀) of every column and class, (k, d, 2); ``words`` names the events of a text."""

    a: Floats
    words: Vocabulary | None

    def add_moments(self, block: Any, moments: ScoreMoments) -> None:
        """Add Σⱼ E log θ of the outcomes, and its variance: outcomes of one class are independent.

        See `log_share_moments`.
        """
        mean, variance = log_share_moments(self.a, self.a.sum(axis=-1, keepdims=True))
        scorer = BernoulliParameters(self.a, self.words)
        scorer.add_terms(mean, block, moments.mean)
        add_with_poles(
            lambda terms, out: scorer.add_terms(terms, block, out), variance, moments.variance
        )
