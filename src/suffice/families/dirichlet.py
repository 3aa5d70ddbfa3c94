"""Probabilities from counts, under a Dirichlet prior."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.family import trigamma
from suffice.families.options import Alpha, Smoothing
from suffice.numerics import kernels
from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.dirichlet_evidence import AlphaEvidence, alpha_by_evidence
from suffice.numerics.elementary import digamma
from suffice.sums.block import BadCell, CodedBlock
from suffice.sums.counts import Counts, Events
from suffice.sums.vocabulary import Vocabulary


def pseudo_counts(alpha: Alpha, events: int) -> float | Floats:
    """α as a number, or as an array (events,)."""
    if not isinstance(alpha, tuple):
        return float(alpha)
    if len(alpha) != events:
        raise ParameterError(
            f"alpha has {len(alpha)} numbers for {events} columns",
            "alpha is one number, or one for every column",
        )
    return np.array(alpha)


def prior_counts(alpha: float | Floats, estimation: str) -> float | Floats:
    """Return the pseudo-count: 0 (``mle``), α − 1 (``map``) or α (``bayes``)."""
    return {"mle": 0.0 * alpha, "map": alpha - 1.0, "bayes": alpha}[estimation]


def dirichlet(count: Floats, alpha: float | Floats, estimation: str, m: int | Ints) -> Floats:
    """Probabilities of categories from their counts N under a Dirichlet(α) prior.

    ::

        mle    N_v / N              maximum likelihood
        map    (N_v + α − 1) / (N + m(α − 1))    mode of the posterior, α ≥ 1
        bayes  (N_v + α) / (N + mα)              its mean: Laplace's rule for α = 1

    Parameters
    ----------
    count : ndarray (k, ..., v)
        N_v for every class. Categories of the m that are not among the v have count 0.
    alpha : float, or ndarray (..., 1) or (..., v)
        Pseudo-count of every category, or of each.
    estimation : {"mle", "map", "bayes"}
    m : int, or ndarray (..., 1)
        Number of categories that share the probability.

    Returns
    -------
    ndarray (k, ..., v)
        A class without any count gets the probabilities of all classes together, and where there
        is no count at all, 1/m each.

    Source: Murphy, Machine Learning: A Probabilistic Perspective (2012), eqs. 3.41 and 3.47.

    Examples
    --------
    >>> dirichlet(np.array([[3.0, 0.0]]), 1.0, "bayes", 2)
    array([[0.8, 0.2]])
    """
    pseudo = np.asarray(prior_counts(alpha, estimation))
    alike = pseudo.shape[-1:] in ((), (1,))  # then categories without a count weigh too
    weight = m * pseudo if alike else pseudo.sum(axis=-1, keepdims=True)

    def proportions(count: Floats) -> Floats:
        total = count.sum(axis=-1, keepdims=True) + weight
        fractions = np.asarray(count + pseudo)
        with np.errstate(invalid="ignore"):
            fractions /= total
        return fractions

    fractions = proportions(count)
    empty = count.sum(axis=-1, keepdims=True) == 0
    if empty.any():
        pooled = proportions(count.sum(axis=0))
        pooled = np.where(np.isnan(pooled), 1 / np.maximum(m, 1), pooled)
        np.copyto(fractions, pooled, where=empty)
    return fractions


# -- posterior of probabilities


def prior_weight(alpha: float | Floats, estimation: str) -> float | Floats:
    """α of the prior of a posterior: 0, the improper one, under ``mle``."""
    return 0.0 * alpha if estimation == "mle" else alpha


def borrowed(count: Floats) -> Floats:
    """Counts (k, ..., v); a class that has none has those of all classes."""
    empty = count.sum(axis=-1, keepdims=True) == 0
    return np.where(empty, count.sum(axis=0), count)


def log_share_moments(part: Floats, total: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of log θ_v from a_v and A; without any weight, −∞ and ∞.

    ::

        θ ~ Dirichlet(a), A = Σ a_v:    E log θ_v = ψ(a_v) − ψ(A)    Var log θ_v = ψ₁(a_v) − ψ₁(A)

    Source: T. P. Minka, Estimating a Dirichlet distribution (2000), eq. 6; the variance is the
    second derivative of the same logarithm of the normalising constant.

    Examples
    --------
    >>> log_share_moments(np.array([1.0]), np.array([2.0]))  # uniform: −log θ is exponential
    (array([-1.]), array([1.]))
    """
    known = (part > 0) & (total > 0)
    a, A = np.where(known, part, 1.0), np.where(known, total, 2.0)
    mean = np.where(known, digamma(a) - digamma(A), 0.0)
    # Σ a_v = a_v leaves nothing open.
    variance = np.where(known, np.maximum(trigamma(a) - trigamma(A), 0.0), np.inf)
    return mean, variance


# -- pseudo-counts by their evidence


def chosen_alpha(
    alpha: Smoothing,
    events: int,
    tables: Iterable[Floats],
    sizes: Sequence[int],
    alike: bool = False,
) -> tuple[float | Floats, AlphaEvidence | None]:
    """Return α as `pseudo_counts` does, and the evidence from which it was chosen, if it was.

    That is the evidence of tables of counts (k, v), in which so many values (``sizes``) share the
    probability: of each table, or of all if they are ``alike``.
    """
    found = None
    if isinstance(alpha, str):
        found = alpha_by_evidence(list(tables), sizes, alike)
        alpha = found.chosen
    return pseudo_counts(alpha, events), found


# -- unseen values


UNSEEN_RULE = "the value was never seen in training"


def refuse_unseen(
    block: CodedBlock, codes: NDArray[Any], vocabularies: tuple[Vocabulary, ...]
) -> None:
    """Refuse a block whose ``codes`` are out of range of the vocabularies in fit."""
    found = np.argwhere(codes == [len(v) for v in vocabularies])
    if len(found):
        row, column = map(int, found[0])
        value = block.vocabularies[column].values[block.codes[row, column]]
        raise BadCell(row, column, value, UNSEEN_RULE)


# -- identifiers


FEW = 20  # rows, or values: fewer show nothing


def identifiers_of(counts: Counts) -> Bools:
    """Return which columns of categories have another value in every row, (d,).

    Rows have the weight 1: what weighs more may be several rows.
    """
    every = np.zeros(len(counts.vocabularies), np.bool_)
    for j, vocabulary in enumerate(counts.vocabularies):
        if len(vocabulary) < FEW:
            continue
        rows = counts.column(j).sum(axis=0)
        every[j] = rows.sum() >= FEW and bool(((rows == 1) | (rows == 0)).all())
    return every


# -- advice


NUMERIC_FRACTION = 0.9  # of the values have to be numbers
_NUMBER = re.compile(r"[-+]?[$€£¥]?\s*[-+]?\d[\d,. ]*([eE][-+]?\d+)?\s*[%$€£¥]?")


def advice_on_counts(counts: Counts) -> Iterator[tuple[int, str]]:
    """Yield the columns (0 to d − 1) that one should look at, and what is to be said of each.

    Examples
    --------
    >>> from suffice.sums.block import CodedBlock
    >>> from suffice.sums.counts import CountAccumulator
    >>> from suffice.sums.vocabulary import Vocabulary
    >>> names = Vocabulary(tuple(f"person {i}" for i in range(30)))
    >>> total = CountAccumulator(1)
    >>> rows = np.arange(30)
    >>> total.add(CodedBlock(rows[:, None], (names,)), rows % 2, np.empty(0), 2)
    >>> list(advice_on_counts(total.statistic()))
    [(0, 'has another value in every row, as an identifier does: leave it out')]
    """
    for j, vocabulary in enumerate(counts.vocabularies):
        count = counts.column(j)
        observed: Bools = np.asarray(count.any(axis=0))
        values = [value for value, seen in zip(vocabulary.values, observed, strict=True) if seen]
        said = _advice(values, count[:, observed])
        if said:
            yield j, said


def _advice(values: Sequence[Any], count: Floats) -> str:
    """Return the warning about m values that are counted in k classes, (k, m)."""
    rows = count.sum()
    if len(values) == 1:
        return f"has one value only, {values[0]!r}: it tells nothing"
    if rows < FEW:
        return ""
    if (count.sum(axis=0) == 1).all():
        return "has another value in every row, as an identifier does: leave it out"
    if len(values) == len(count) and ((count > 0).sum(axis=0) == 1).all() and count.any(1).all():
        return "has one value for each class: if it is a copy of the label, leave it out"
    numbers = [isinstance(value, str) and bool(_NUMBER.fullmatch(value)) for value in values]
    if len(values) >= FEW and sum(numbers) >= NUMERIC_FRACTION * len(values):
        return _on_text(values, numbers)
    return ""


def _on_text(values: Sequence[str], numbers: Sequence[bool]) -> str:
    others = [value for value, number in zip(values, numbers, strict=True) if not number]
    if not others:
        return f"holds numbers that are kept as text, such as {values[0]!r}: convert them"
    named = ", ".join(map(repr, others[:3])) + (" and others" if len(others) > 3 else "")
    return f"would hold numbers if {named} stood for missing cells"


# -- events


def most_telling(
    words: tuple[Any, ...], values: Floats, terms: Floats, most: int = 20
) -> dict[Any, list[float]]:
    """The words whose terms (k, m) differ most between classes, with their values (k, m)."""
    spread = terms.max(axis=0) - terms.min(axis=0)
    order = np.lexsort((np.arange(len(spread)), -spread))[:most]
    return {words[v]: values[:, v].tolist() for v in order}


def takes_events(statistic: Any, encoding: str, d: int) -> bool:
    """Return whether a statistic counts words of a text, d numbered events, or nothing yet."""
    if type(statistic) is not Events:
        return False
    (events,) = statistic.vocabularies
    if not len(events) and not statistic.k:
        return True
    return statistic.d == d and (events.closed or encoding == "events")


def event_features(events: Vocabulary) -> tuple[Any, ...]:
    """The features of a form in events: columns of counts, or words of the column 0, a text."""
    return events.values if events.closed else tuple((0, word) for word in events.values)


def by_event(terms: Floats) -> Floats:
    """Terms (k, m) as a kernel reads them: (m, k), k rounded up to whole class tiles.

    Every class tile begins at a multiple of 64 bytes, so that it is one line of the cache.
    """
    (k, m), tile = terms.shape, kernels.scores.CLASS_TILE
    width = -(-k // tile) * tile
    memory = np.zeros(m * width + tile)
    first = -memory.ctypes.data % 64 // memory.itemsize
    table = memory[first : first + m * width].reshape(m, width)
    table[:, :k] = terms.T
    return table
