"""The joint table: categories that depend on each other, p(x = s | c) = θ_cs, s a combination."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, prod
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.families.dirichlet import log_share_moments, prior_counts, prior_weight, refuse_unseen
from suffice.families.family import Family, JointParameters, Posterior, ScoreMoments
from suffice.families.options import Estimation, Unseen, check_alpha
from suffice.numerics.arrays import Floats, Ints
from suffice.numerics.elementary import exp, log, log_add_exp
from suffice.rules import NONNEGATIVE, Shape, Within
from suffice.sums.block import CodedBlock, Encoding, IntegerBlock
from suffice.sums.counts import (
    JointAccumulator,
    JointCounts,
    counts_by_place,
    distinct_rows,
    patterns_of,
)
from suffice.sums.vocabulary import Vocabulary


@dataclass(frozen=True)
class JointTable(Family):
    """The joint distribution of a group of categorical columns, without any independence.

    ::

        θ_cs = P(x_1, …, x_d | c),    s = (x_1, …, x_d),    M = Π mⱼ combinations

    Over all columns it is the classifier that naive Bayes approximates: with ``mle`` and the
    empirical prior, P(c | x) = N_cs / N_s, the fraction of class c among the rows equal to x. In
    place of two or three columns that depend on each other it makes naive Bayes semi-naive.

    θ follows from the counts N under a symmetric Dirichlet(α) prior over all M combinations of
    the values seen in any class, as `suffice.families.dirichlet.dirichlet` says:
    ``mle`` N_s/N, ``map`` (N_s + α − 1)/(N + Mα − M), ``bayes`` (N_s + α)/(N + Mα). Only
    combinations that a row shows are stored. With α = 0, ``mle``, or ``map`` and α = 1, a
    combination that no row shows is impossible under every class; the classifier then answers with
    the prior, and a warning. M grows fast: where it exceeds the rows, α = 1 outweighs them, and
    α = 1/M weighs as much as one row.

    A cell that is missing at prediction is summed out, exactly. A row with a missing cell in the
    group says nothing of combinations: a fit leaves it out of the table, values and all; the
    class prior counts it.

    Parameters
    ----------
    alpha : float
        Pseudo-count of every combination.
    estimation : {"bayes", "mle", "map"}
        How probabilities follow from the counts.
    unseen : {"ignore", "error", "smooth"}
        A value at prediction that its column showed in no complete training row: left out like a
        missing cell, refused, or one more, unseen category of its column.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    Source: Murphy, Machine Learning: A Probabilistic Perspective (2012), sections 3.4 and 10.1.1;
    I. Kononenko, Semi-naive Bayesian classifier (EWSL 1991), for groups of columns.

    Examples
    --------
    The exclusive or of two columns, which naive Bayes cannot learn:

    >>> from suffice import NaiveBayes
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> NaiveBayes("joint_table").fit(X, y).predict(X)
    array(['no', 'yes', 'yes', 'no'], dtype='<U3')
    """

    alpha: float = 1.0
    estimation: Estimation = "bayes"
    unseen: Unseen = "ignore"

    encodings: ClassVar[tuple[Encoding, ...]] = ("category",)
    joint: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_alpha(self.estimation, self.alpha)

    def accumulator(self, encoding: str, d: int) -> JointAccumulator:
        return JointAccumulator(d)

    def estimate(self, statistic: JointCounts) -> JointTableParameters:
        everyone = statistic.count.sum(axis=0).value
        count = np.where(statistic.total > 0, statistic.count.value, everyone)
        # Where there is no count at all, any α gives 1/M each.
        pseudo = prior_counts(self.alpha, self.estimation) if len(everyone) else 1.0
        log_pseudo = float(log(np.asarray(pseudo)))
        return JointTableParameters(
            statistic.vocabularies, statistic.cells, count, log_pseudo, self.unseen
        )

    def posterior(self, statistic: JointCounts) -> JointTablePosterior:
        estimate = self.estimate(statistic)
        pseudo: Floats = np.asarray(prior_weight(self.alpha, self.estimation))
        return JointTablePosterior(replace(estimate, log_pseudo=float(log(pseudo))))


@dataclass(frozen=True, eq=False)
class JointTableParameters(JointParameters):
    """N (k, S) of the combinations seen, and the pseudo-count a of each of the M.

    A class without any count has those of all classes together. Logarithms stand for a and M,
    which may be larger than any double.

    Parameters
    ----------
    vocabularies : tuple of d Vocabulary
        The values of each column.
    cells : ndarray of int (S, d)
        Their codes in each combination.
    count : ndarray (k, S)
        N.
    log_pseudo : float
        log a; −∞ without smoothing.
    unseen : {"ignore", "error", "smooth"}
        As in `JointTable`.
    """

    vocabularies: tuple[Vocabulary, ...]
    cells: Annotated[Ints, Shape("S", "d")]
    count: Annotated[Floats, Shape("k", "S"), NONNEGATIVE]
    log_pseudo: Annotated[float, Within(-inf, 1e3)]
    unseen: str = "ignore"

    @property
    def n_free(self) -> int:
        return len(self.count) * max(prod(map(len, self.vocabularies)) - 1, 0)

    @property
    def log_sizes(self) -> Floats:
        """Log mⱼ of the categories that share the probability in each column, (d,)."""
        sizes = [max(len(v) + (self.unseen == "smooth"), 1) for v in self.vocabularies]
        return log(sizes)

    def add_log_likelihood(self, block: CodedBlock | IntegerBlock, out: Floats) -> None:
        """Add log p(x | c), in which missing cells are summed out."""
        for rows, log_weight in self.log_weights(block):
            out[rows] += log_weight - self.log_total

    def log_weights(self, block: CodedBlock | IntegerBlock) -> Iterator[tuple[Ints, Floats]]:
        """Yield rows that show the same columns, and log (N_c(x_O) + a Π_{j ∉ O} mⱼ), (rows, k)."""
        block = block.coded()
        codes = block.recode(self.vocabularies)
        if self.unseen == "error":
            refuse_unseen(block, codes, self.vocabularies)
        elif self.unseen == "ignore":
            codes = np.where(codes == [len(v) for v in self.vocabularies], -1, codes)
        for rows, columns in patterns_of(codes >= 0):
            yield rows, self._log_weight(columns, codes[np.ix_(rows, columns)])

    def _log_weight(self, columns: Ints, codes: NDArray[Any]) -> Floats:
        """Log (N_c(x_O) + a Π_{j ∉ O} mⱼ), (n, k), of the codes (n, o) of the columns O alone.

        ::

            p(x_O | c) = (N_c(x_O) + a Π_{j ∉ O} mⱼ) / (N_c + aM)

        N_c(x_O) is the sum over the combinations that agree with x_O.
        """
        together = np.concatenate([self.cells[:, columns], codes])
        distinct, place = distinct_rows(together)
        of_cells, of_rows = np.split(place, [len(self.cells)])
        count = counts_by_place(self.count, of_cells, len(distinct))[:, of_rows]
        log_rest = self.log_pseudo + np.delete(self.log_sizes, columns).sum()
        log_weight: Floats = log_add_exp(log(count), log_rest)
        return log_weight.T

    @cached_property
    def log_total(self) -> Floats:
        """Log (N_c + aM), (k,)."""
        total = log(self.count.sum(axis=1))
        return log_add_exp(total, self.log_pseudo + self.log_sizes.sum())

    def column(self, j: int) -> JointTableParameters:
        cells, place = distinct_rows(self.cells[:, [j]])
        return JointTableParameters(
            (self.vocabularies[j],),
            cells,
            counts_by_place(self.count, place, len(cells)),
            float(self.log_pseudo + np.delete(self.log_sizes, j).sum()),
            self.unseen,
        )

    def sample(self, codes: Ints, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Draw a row that was seen with probability N/(N + aM), or else every value uniformly."""
        n, sizes = len(codes), np.array([len(v) for v in self.vocabularies])
        if not len(self.cells):
            return [np.full(n, None, dtype=object) for _ in self.vocabularies]
        log_count = log(self.count.sum(axis=1))
        log_even = self.log_pseudo + log(sizes).sum()
        even = rng.random(n) < exp(log_even - log_add_exp(log_count, log_even))[codes]
        drawn = rng.integers(0, sizes, (n, len(sizes)))
        for c in np.unique(codes):
            rows = np.flatnonzero((codes == c) & ~even)
            probability = self.count[c] / self.count[c].sum()
            drawn[rows] = self.cells[rng.choice(len(probability), len(rows), p=probability)]
        columns = zip(self.vocabularies, drawn.T, strict=True)
        return [np.array(v.values)[column] for v, column in columns]

    def describe(self, j: int) -> dict[str, list[float]]:
        """Probability of every value of column j, whatever the other columns show."""
        vocabulary = self.vocabularies[j]
        values = np.arange(len(vocabulary))[:, None]
        probabilities = exp(self._log_weight(np.array([j]), values) - self.log_total)
        return dict(zip(map(str, vocabulary.values), probabilities.tolist(), strict=True))


# -- posterior


@dataclass(frozen=True, eq=False)
class JointTablePosterior(Posterior):
    """Dirichlet(N + α) of every class, as parameters whose pseudo-count is that of the prior."""

    weights: JointTableParameters

    def add_moments(self, block: CodedBlock | IntegerBlock, moments: ScoreMoments) -> None:
        """Add E log θ of the cells shown, and its variance; missing cells are summed out.

        A sum of shares is a share: its weight is the sum of theirs.
        """
        log_a = np.zeros_like(moments.mean)
        shown = np.zeros(len(log_a), np.bool_)
        for rows, log_part in self.weights.log_weights(block):
            log_a[rows], shown[rows] = log_part, True
        total = np.broadcast_to(exp(np.minimum(self.weights.log_total, 600.0)), log_a.shape)
        part = np.where(shown[:, None], exp(np.minimum(log_a, 600.0)), total)
        mean, variance = log_share_moments(part, total)
        moments.mean[shown] += mean[shown]
        moments.variance[shown] += variance[shown]
