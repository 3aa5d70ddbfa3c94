"""The categorical: one of m values, p(x = v | c) = θ_cv for every column on its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError
from suffice.families.dirichlet import (
    advice_on_counts,
    borrowed,
    by_event,
    chosen_alpha,
    dirichlet,
    identifiers_of,
    log_share_moments,
    prior_weight,
    pseudo_counts,
    refuse_unseen,
)
from suffice.families.family import Family, Form, Parameters, Posterior, ScoreMoments
from suffice.families.options import (
    Estimation,
    Identifiers,
    Smoothing,
    Unseen,
    check_smoothing,
)
from suffice.numerics import kernels
from suffice.numerics.arrays import Floats, Ints
from suffice.numerics.dirichlet_evidence import AlphaEvidence
from suffice.numerics.elementary import log
from suffice.rules import Shape, Within
from suffice.sums.block import BadCell, CodedBlock, Encoding, IntegerBlock, tiles
from suffice.sums.counts import WIDEST, CountAccumulator, Counts, offsets_of
from suffice.sums.vocabulary import Vocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class Categorical(Family):
    """Categories of any number and kind (strings, integers, dates, booleans).

    θ follows from the counts N under a symmetric Dirichlet(α) prior over the m values seen in any
    class (`suffice.families.dirichlet.dirichlet`): ``mle`` N_v/N,
    ``map`` (N_v + α − 1)/(N + mα − m), ``bayes`` (N_v + α)/(N + mα).

    Parameters
    ----------
    alpha : float, tuple of one float for every column, or "evidence"
        Pseudo-count of every value; 1 is Laplace's rule. 0 is allowed: an unseen pair of class
        and value is then impossible. Or the one of greatest evidence
        (`suffice.numerics.dirichlet_evidence.alpha_by_evidence`), for each column.
    estimation : {"bayes", "mle", "map"}
        How probabilities follow from the counts.
    unseen : {"ignore", "error", "smooth"}
        A value at prediction that no training row showed: left out like a missing cell, refused,
        or given the probability of one more, unseen category.
    min_categories : int, or tuple of one int for every column
        Assume at least so many values per column, seen or not.
    from_zero : bool
        Whole numbers are codes that count from 0, as an ordinal encoder gives them: all from 0 to
        the largest are values, seen or not. Numbers below 0 are refused.
    identifiers : {"keep", "ignore"}
        A column that shows another value in every row of 20 or more: with "ignore" it has one
        distribution for all classes.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rows = {"color": ["red", "red", "blue"]}
    >>> model = NaiveBayes.textbook(Categorical(alpha=0.5)).fit(rows, ["a", "a", "b"])
    >>> model.predict_proba({"color": ["red", "green"]}).round(3)
    array([[0.87 , 0.13 ],
           [0.667, 0.333]])
    """

    alpha: Smoothing = 1.0
    estimation: Estimation = "bayes"
    unseen: Unseen = "ignore"
    min_categories: int | tuple[int, ...] = 0
    from_zero: bool = False
    identifiers: Identifiers = field(  # sums do not depend on it, so models of both go together
        default="keep", compare=False
    )

    encodings: ClassVar[tuple[Encoding, ...]] = ("category",)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_smoothing(self.estimation, self.alpha)
        least = self.min_categories
        for number in least if isinstance(least, tuple) else (least,):
            if not (isinstance(number, Integral) and number >= 0):
                rule = "min_categories is a whole number, 0 or more"
                raise ParameterError(f"min_categories={number!r}", rule)

    def advice(self, statistic: Counts) -> Iterator[tuple[int, str]]:
        left_out = set(self.left_out(statistic).tolist())
        return (said for said in advice_on_counts(statistic) if said[0] not in left_out)

    def left_out(self, statistic: Counts) -> Ints:
        if self.identifiers == "keep":
            return super().left_out(statistic)
        return np.flatnonzero(identifiers_of(statistic))

    def accumulator(self, encoding: str, d: int) -> CountAccumulator:
        return CodeAccumulator(d) if self.from_zero else CountAccumulator(d)

    def takes(self, statistic: Any, encoding: str, d: int) -> bool:
        counts = super().takes(statistic, encoding, d)
        return counts and not any(v.closed for v in statistic.vocabularies)

    def estimate(self, statistic: Counts) -> CategoricalParameters:
        """Parameters from exact counts.

        Raises
        ------
        ParameterError
            If ``min_categories`` does not fit the columns.
        DataError
            If codes that count from 0 are too large.
        """
        statistic, least = self._over_range(statistic)
        sizes, quiet = self._sizes(statistic, least), self.left_out(statistic)
        asked = (statistic.column(j) * (j not in quiet) for j in range(statistic.d))
        given, evidence = chosen_alpha(self.alpha, statistic.d, asked, sizes.tolist())
        alpha = np.full(statistic.d, given, np.float64)
        places = statistic.offsets + np.arange(statistic.d + 1)
        table = np.empty((statistic.k, places[-1]))
        for columns, counts in statistic.by_size:
            if len(quiet):
                silent = np.isin(columns, quiet)[:, None]
                counts = np.where(silent, counts.sum(axis=0), counts)
            wide = np.zeros((*counts.shape[:2], counts.shape[2] + 1))  # the last: unseen
            wide[..., :-1] = counts
            found = dirichlet(wide, alpha[columns, None], self.estimation, sizes[columns, None])
            table[:, places[columns, None] + np.arange(wide.shape[2])] = found
        return CategoricalParameters(
            statistic.vocabularies, table, self.unseen, evidence, self.from_zero
        )

    def _over_range(self, statistic: Counts) -> tuple[Counts, tuple[int, ...]]:
        """The counts of all values, seen or not, and the least number of values of each column."""
        d = len(statistic.vocabularies)
        least = self.min_categories
        least = least if isinstance(least, tuple) else (least,) * d
        if len(least) != d:
            raise ParameterError(
                f"min_categories has {len(least)} numbers for {d} columns",
                "it is one number, or one for every column",
            )
        enough = (np.diff(statistic.offsets) >= least).all()
        if self.from_zero and not (enough and statistic.counts_from_zero):
            ranges = map(over_range, range(d), statistic.vocabularies, least)
            statistic = statistic.over(tuple(ranges))
        return statistic, least

    def _sizes(self, counts: Counts, least: tuple[int, ...]) -> Ints:
        """Return the number of values of each column that share the probability, (d,)."""
        sizes = np.maximum(np.diff(counts.offsets), least) + (self.unseen == "smooth")
        return np.asarray(np.maximum(sizes, 1), np.intp)

    def posterior(self, statistic: Counts) -> CategoricalPosterior:
        estimate, quiet = self.estimate(statistic), tuple(self.left_out(statistic).tolist())
        over, least = self._over_range(statistic)
        sizes, d = self._sizes(over, least), over.d
        chosen: Any = self.settled(estimate).alpha
        given = pseudo_counts(chosen, d)
        each = np.broadcast_to(prior_weight(given, self.estimation), d).tolist()
        a, total = [np.zeros((over.k, 0))], [np.zeros((over.k, 0))]
        for j, alpha in enumerate(each):
            count = borrowed(over.column(j))
            unseen = np.full((over.k, 1), alpha if self.unseen == "smooth" else 0.0)
            a.append(np.concatenate([count + alpha, unseen], axis=1))
            total.append(count.sum(axis=1, keepdims=True) + sizes[j] * alpha)
        return CategoricalPosterior(
            estimate, np.concatenate(a, axis=1), np.concatenate(total, axis=1), quiet
        )


class ScoreTable(NamedTuple):
    """Log θ by code, as `kernels.scores.add_table` reads it."""

    low: NDArray[np.int64]
    size: NDArray[np.int64]
    offsets: NDArray[np.int64]
    table: Floats


@dataclass(frozen=True, eq=False)
class CategoricalParameters(Parameters):
    """θ (k, M + d): the values of each column, then one place for its unseen values."""

    vocabularies: tuple[Vocabulary, ...]
    theta: Annotated[Floats, Shape("k", "places"), Within(0, 1)]
    unseen: str = "ignore"
    alpha_evidence: AlphaEvidence | None = None
    from_zero: bool = False

    @cached_property
    def offsets(self) -> Ints:
        """Return the offset of each column among the values, (d + 1,)."""
        return offsets_of(self.vocabularies) + np.arange(len(self.vocabularies) + 1)

    @property
    def n_free(self) -> int:
        """Return k Σⱼ (mⱼ − 1)."""
        return len(self.theta) * sum(max(len(v) - 1, 0) for v in self.vocabularies)

    def probabilities(self, j: int) -> Floats:
        """θ (k, mⱼ) of column j."""
        return self.theta[:, self.offsets[j] : self.offsets[j + 1] - 1]

    def add_log_likelihood(self, block: CodedBlock | IntegerBlock, out: Floats) -> None:
        """Add Σⱼ log θ of the observed values."""
        if self.from_zero:
            require_codes(block, self.vocabularies)
        if isinstance(block, IntegerBlock) and self.unseen != "error":
            by_integer = self._by_integer
            if by_integer is not None:
                self._add(block.values, by_integer, out)
                return
        self._add(self._codes(block), self._by_code, out)

    def add_contributions(self, block: CodedBlock | IntegerBlock, out: Floats) -> None:
        """Add log θ of every observed value to ``out`` (n, d, k)."""
        if self.from_zero:
            require_codes(block, self.vocabularies)
        codes = self._codes(block)
        found = self._log_theta[self.offsets[:-1] + np.maximum(codes, 0), : len(self.theta)]
        out += np.where((codes >= 0)[..., None], found, 0.0)

    def _codes(self, block: CodedBlock | IntegerBlock) -> NDArray[Any]:
        """Codes of the values in the vocabularies; those that are unseen may be refused."""
        block = block.coded()
        codes = block.recode(self.vocabularies)
        if self.unseen == "error":
            refuse_unseen(block, codes, self.vocabularies)
        return codes

    def _add(self, values: NDArray[Any], places: ScoreTable, out: Floats) -> None:
        for start, part in tiles(values, np.int64):
            kernels.scores.add_table(part, *places, out[start : start + len(part)])

    @cached_property
    def _log_theta(self) -> Floats:
        """Log θ (M + d, k), k rounded up to whole panels; 0 for unseen values left out."""
        log_theta = log(self.theta)
        if self.unseen == "ignore":
            log_theta[:, self.offsets[1:] - 1] = 0.0
        return by_event(log_theta)

    @cached_property
    def _by_code(self) -> ScoreTable:
        d = len(self.vocabularies)
        size = np.diff(self.offsets)
        table = np.insert(self._log_theta, self.offsets[:-1], 0.0, axis=0)
        return ScoreTable(
            np.full(d, -1), size, self.offsets[:-1] + np.arange(d), np.ascontiguousarray(table)
        )

    @cached_property
    def _by_integer(self) -> ScoreTable | None:
        """Places by value, where every vocabulary is of whole numbers within a narrow range."""
        low, size, rows = [], [], []
        for vocabulary, start in zip(self.vocabularies, self.offsets[:-1], strict=True):
            values = vocabulary.values
            if not values or not all(type(value) is int for value in values):
                return None
            if values[-1] - values[0] >= WIDEST:
                return None
            place = np.full(values[-1] - values[0] + 2, start + len(values))
            place[np.array(values) - values[0]] = start + np.arange(len(values))
            low.append(values[0])
            size.append(len(place) - 1)
            rows.append(place)
        offsets = np.concatenate([[0], np.cumsum(np.array(size) + 1)])[:-1]
        table = np.ascontiguousarray(self._log_theta[np.concatenate(rows)])
        return ScoreTable(np.array(low), np.array(size), offsets, table)

    def column(self, j: int) -> CategoricalParameters:
        theta = self.theta[:, self.offsets[j] : self.offsets[j + 1]]
        return replace(self, vocabularies=(self.vocabularies[j],), theta=theta, alpha_evidence=None)

    def sample(self, codes: Ints, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Draw a value by inverting the cumulative distribution."""
        columns = []
        for j, vocabulary in enumerate(self.vocabularies):
            if not len(vocabulary):
                columns.append(np.full(len(codes), None, dtype=object))
                continue
            cumulative = np.cumsum(self.probabilities(j), axis=1)
            u = rng.random(len(codes)) * cumulative[codes, -1]
            drawn = (u[:, None] >= cumulative[codes]).sum(axis=1)
            columns.append(np.array(vocabulary.values)[np.minimum(drawn, len(vocabulary) - 1)])
        return columns

    def values(self, j: int) -> tuple[Any, ...]:
        return self.vocabularies[j].values

    def describe(self, j: int) -> dict[str, list[float]]:
        return dict(zip(map(str, self.values(j)), self.probabilities(j).T.tolist(), strict=True))

    def form(self) -> Form:
        """Linear in the indicators of the values (one-hot)."""
        features = tuple((j, value) for j, v in enumerate(self.vocabularies) for value in v.values)
        kept = np.setdiff1d(np.arange(self.theta.shape[1]), self.offsets[1:] - 1)
        linear = log(self.theta[:, kept])
        return Form(features, np.zeros_like(linear), linear, np.zeros(len(linear)))

    def features(self, block: CodedBlock | IntegerBlock) -> csr_array:
        """Indicators (n, M), all 0 for a missing cell, which is exact: the form has no constant."""
        from scipy.sparse import csr_array

        if self.from_zero:
            require_codes(block, self.vocabularies)
        block = block.coded()
        codes = block.recode(self.vocabularies)
        if self.unseen != "ignore":
            refuse_unseen(block, codes, self.vocabularies)
        offsets = offsets_of(self.vocabularies)
        shown = (codes >= 0) & (codes < np.diff(offsets))
        indices = (codes + offsets[:-1])[shown]
        indptr = np.concatenate([[0], np.cumsum(shown.sum(axis=1))])
        return csr_array(
            (np.ones(len(indices)), indices, indptr), shape=(len(codes), int(offsets[-1]))
        )


# -- codes that count from 0


MOST_CODES = 1_000_000  # of one column; each has a probability in every class
CODE_RULE = "Negative values in data passed to CategoricalNB (input X): numbers are codes from 0 on"
CODE_STEP = "NaiveBayes takes them as categories; a missing cell is NaN, not -1"


class CodeAccumulator(CountAccumulator):
    """Counts categories; numbers among them are 0 or more."""

    def add(self, block: CodedBlock | IntegerBlock, *rows: Any) -> None:
        require_codes(block)
        super().add(block, *rows)


def require_codes(
    block: CodedBlock | IntegerBlock, known: tuple[Vocabulary, ...] | None = None
) -> None:
    """Refuse numbers below 0, except those that are ``known``."""
    if isinstance(block, IntegerBlock):
        if block.values.dtype.kind == "u" or block.values.min(initial=0) >= 0:
            return
        block = block.coded()
    for j, vocabulary in enumerate(block.vocabularies):
        taken = () if known is None else known[j].codes
        below = [
            isinstance(value, int | float) and value < 0 and value not in taken
            for value in vocabulary.values
        ]
        if any(below):
            codes = block.codes[:, j]
            rows = np.flatnonzero((codes >= 0) & np.array(below)[codes])
            for row in rows[:1].tolist():
                raise BadCell(row, j, vocabulary.values[codes[row]], CODE_RULE, CODE_STEP)


def over_range(j: int, vocabulary: Vocabulary, least: int) -> Vocabulary:
    """All whole numbers from 0 on, if the values of column j are such; else the values."""
    values = vocabulary.values
    if vocabulary.counts_from_zero and len(values) >= least:
        return vocabulary
    if not all(isinstance(v, int | float) and v >= 0 and v % 1 == 0 for v in values):
        return vocabulary
    largest = int(values[-1]) if values else -1
    places = max(largest + 1, least)
    if places > MOST_CODES:
        raise DataError(
            f"column {j}, counted from 0: {places} values from 0 to {places - 1}",
            f"whole numbers are codes that count from 0, {MOST_CODES:,} at most",
            "number the values without gaps, or give them as strings",
        )
    return vocabulary if len(values) == places else Vocabulary(tuple(range(places)))


# -- posterior


@dataclass(frozen=True, eq=False)
class CategoricalPosterior(Posterior):
    """Weights a (k, M + d) laid out as θ is, and the weight of all categories of each, (k, d).

    Unseen categories, besides the one place for them, weigh in the totals only.
    """

    estimate: CategoricalParameters
    a: Floats
    total: Floats
    quiet: tuple[int, ...]  # columns that say nothing of the class

    def add_moments(self, block: Any, moments: ScoreMoments) -> None:
        """Add Σⱼ E log θ of the values shown, and its variance."""
        vocabularies, offsets = self.estimate.vocabularies, self.estimate.offsets
        codes = block.coded().recode(vocabularies)
        for j, vocabulary in enumerate(vocabularies):
            if j in self.quiet:
                continue
            column = codes[:, j]
            last = len(vocabulary) if self.estimate.unseen == "ignore" else len(vocabulary) + 1
            shown = np.flatnonzero((column >= 0) & (column < last))
            a = self.a[:, offsets[j] : offsets[j + 1]]
            mean, variance = log_share_moments(a, self.total[:, [j]])
            moments.mean[shown] += mean.T[column[shown]]
            moments.variance[shown] += variance.T[column[shown]]
