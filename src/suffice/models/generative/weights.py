"""Weights of columns, the second stage of a fit: fitted to rows taken out of the sums.

They maximise the conditional likelihood of these rows, drawn towards one common weight t, which is
drawn towards 1:

::

    Σ_i ω_i log p(c_i | x_i; w) − λ/2 Σ_j (w_j − t)² − ½ (t − 1)²,   λ = 10

Source: N. A. Zaidi, J. Cerquides, M. J. Carman, G. I. Webb, Alleviating naive Bayes attribute
independence assumption by attribute weighting (JMLR 14, 2013), section 4, eq. 15.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import floor, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.engines.engine import side_by_side
from suffice.errors import DataError, ForgetError
from suffice.families.family import Apply
from suffice.models.base.answers import Doubts
from suffice.models.base.evaluated_rows import require_known
from suffice.models.generative.calibration import Calibration, CalibrationName
from suffice.models.generative.model import GenerativeModel, generative
from suffice.models.generative.part import FamilyColumns
from suffice.models.optimise.nonnegative_newton import Value, nonnegative_minimum
from suffice.numerics import kernels
from suffice.numerics.elementary import exp, log
from suffice.numerics.in_print import Printed, Table
from suffice.numerics.logspace import log_sum_exp
from suffice.sums.batch import Batch
from suffice.sums.by_class import ByClass
from suffice.sums.row_sample import WHOLE, RowSample, Sampled, rank_hashes

SAMPLE_ROWS = 4096  # distinct rows; twice as many gain less than 0.001 nats a row
FOLDS = 10  # in which the rows of the sample are taken out of the sums
MANY_FOLDS = 5  # at most, of more columns than have a weight of their own,
OF_ROWS = 8  # of which each takes about an eighth of the rows, where the sample has no more
MANY = 20  # times as many rows as the sample has: then all of it is taken out at once
DRAWN_TOGETHER = 10.0  # λ
ROWS_TO_A_COLUMN = 10  # with fewer, what is learnt without a row is learnt anew for each fold
MANY_TERMS = 2**19  # that are worth a thread
WIDE = 256  # columns, whose Hessian is worth several
MANY_CLASSES = 64  # more have one weight for all columns
OWN_WEIGHTS = 128  # columns of a wide table that have a weight of their own
MOST_SCORES = 2**23  # terms of log p(x | c) of more rows than 256
TILE = 3 * 2**16  # of them, that are found at a time: 1.5 MB
MOST_DEALT = 2**25  # terms of rows that are dealt to several folds
SAMPLE_CELLS = 2**21  # 16 MB of doubles
FEWEST_ROWS = 256  # of tables of any width
LEAST = -700.0  # what an impossible cell counts as, where it is weighed


def weighted(
    model: GenerativeModel,
    sums: ByClass,
    method: CalibrationName,
    before: GenerativeModel | None = None,
    newest: ByClass | None = None,
) -> GenerativeModel:
    """Return a model with weights of its columns, fitted to the sample that goes with the sums.

    The sample is in memory only: rows that are added join it, and rows that are forgotten leave
    it. Where it is not there, as after `suffice.load`, or does not stand for all rows, the weights
    follow a sample of the newest rows; see `_followed`. Without one they stay those of earlier
    rows, and the calibration is stale.

    Parameters
    ----------
    model : GenerativeModel
        Without weights.
    sums : ByClass
        In which one row weighs 1.
    method : {"temperature", "weights"}
    before : GenerativeModel, optional
        The model so far.
    newest : ByClass, optional
        The sums of the rows that have joined it.
    """
    if isinstance(sums, Sampled) and sums.stands_for_all:
        model = model.with_sample(sums.sample)
        model.estimate_by(side_by_side)
        found = calibrated(model, sums.sample, method, apply=side_by_side)
        return model.with_calibration(found)
    if before is None:
        none = Calibration.none(model.usual_weights)
        return replace(model, calibration=replace(none, stale=True))
    sampled = before.sampled
    if sampled is not None and before.statistic != sums:
        grown = before.statistic.rows <= sums.rows
        sampled = sampled.far(model.parts, sums) if grown else None  # nothing forgotten
    known = before.calibration or Calibration.none(model.usual_weights)
    if isinstance(newest, Sampled) and newest.sample.batch.rows and known.rows:
        known = _followed(model, known, newest, method)
        if sampled is not None:
            sampled = sampled.with_more(model.parts, sums, newest)
    elif before.calibration is None or before.statistic != model.statistic:
        known = replace(known, stale=True)
    return replace(model, calibration=known, sampled=sampled)


def _followed(
    model: GenerativeModel, known: Calibration, newest: Sampled, method: CalibrationName
) -> Calibration:
    """Return weights that follow the newest rows: m of n that a model has learnt.

    The loss of the earlier rows is known near its minimum w₀ alone, and only its form is needed:

    ::

        Σ_i ω_i log p(c_i | x_i; w) − ½ (w − w₀)ᵀ (ρH + Q)(w − w₀),   ρ = (n − m)/m

    over the newest rows, each taken out of the sums, where H is the Hessian of their loss at w₀,
    and Q that of the penalty. One row hardly moves the weights; m = n rows find their own.

    Where only some columns have a weight of their own, they stay, and are stale: see `_places`.
    """
    asked = model.with_sample(newest.sample)
    asked.estimate_by(side_by_side)
    share = min(1.0, newest.rows / model.statistic.rows)
    earlier = (known.weights, (1 - share) / share)
    found = calibrated(asked, newest.sample, method, apply=side_by_side, earlier=earlier)
    return known.with_more(found, share) if found.rows else replace(known, stale=True)


def sample_rows(parts: Sequence[FamilyColumns]) -> int:
    """Return how many rows a sample has at most: fewer where they are wide."""
    dense = [part.layout for part in parts if part.layout.encoding != "sparse"]
    columns = sum(len(layout.columns) for layout in dense)
    return min(SAMPLE_ROWS, max(FEWEST_ROWS, SAMPLE_CELLS // max(1, columns)))


class ColumnWeights(Printed, dict[str, float]):
    """The weights of columns by name, in print the largest first."""

    def table(self) -> Table:
        ranked = sorted(self.items(), key=lambda item: -item[1])
        rows = [[name, f"{weight:.3f}"] for name, weight in ranked]
        return Table("", ["column", "weight"], rows, bars=[weight for _, weight in ranked])


def column_weights(classifier: Any) -> ColumnWeights:
    """Return the weight w of the log-likelihood of every column, by name.

    Examples
    --------
    >>> from suffice.naive_bayes import GaussianNB
    >>> weights = column_weights(GaussianNB().fit([[1.0], [2.0], [3.0]], [0, 0, 1]))
    >>> print(weights)
    column  weight
    x0       1.000
    >>> weights["x0"]
    1.0
    """
    return ColumnWeights(generative(classifier).column_weights)


def calibrate(
    model: GenerativeModel, sums: ByClass, found: Sampled, method: CalibrationName, learnt: bool
) -> GenerativeModel:
    """Return a model with weights fitted to a sample of rows; its sums stay.

    Parameters
    ----------
    model : GenerativeModel
    sums : ByClass
        Of all rows that it has learnt.
    found : Sampled
        The sums of the rows to learn weights from, with a sample of these.
    method : {"temperature", "weights"}
    learnt : bool
        Whether the model has learnt these rows; each is then taken out of the sums before it is
        asked about.
    """
    require_known(found.classes, model.classes)
    sample = found.sample
    if not sample.batch.rows:
        raise DataError(
            "there is no labelled row whose weight is not zero",
            "weights of columns are learnt from at least one",
            "check the label column and the weights",
        )
    terms = model.terms(sample.batch)
    if not (terms != terms[..., :1]).any():
        raise DataError(
            "no row shows a value that tells the classes apart",
            "values that are missing, or were never seen in training, say nothing of the class",
            "check how the columns are written",
        )
    sample = replace(sample, unit=model.row_weight if learnt else found.row_weight)
    try:
        if learnt:
            own = sums.blocks[: len(found.blocks)]  # others may follow those of families
            ByClass(sums.classes, sums.weight, sums.unlabelled, own) - found.plain
            model = model.with_sample(sample)
        weights = calibrated(model, sample, method, learnt)
    except ForgetError:
        raise ForgetError(
            "the model has not learnt all of these rows",
            "each is taken out of its sums before it is asked about",
            "for rows that it has not learnt, use learnt=False",
        ) from None
    return model.with_calibration(weights)


def calibrated(
    model: GenerativeModel,
    sample: RowSample,
    method: CalibrationName,
    learnt: bool = True,
    apply: Apply = map,
    earlier: tuple[NDArray[np.float64], float] | None = None,
) -> Calibration:
    """Learn the weights of a model from rows.

    Parameters
    ----------
    model : GenerativeModel
        Of the sums of all rows.
    sample : RowSample
        Some of these rows, or if not ``learnt``, rows that the sums do not contain.
    method : {"temperature", "weights"}
        One weight for all columns, or one for each.
    apply : callable
        `map`, or what does the same by several threads.
    earlier : (ndarray (g,), float), optional
        The weights that these rows change, and how many times as many rows those are of.
    """
    g, k = len(model.usual_weights), len(model.classes)
    if not (g and sample.batch.rows and k > 1):
        return Calibration.none(model.usual_weights)
    most = max(FEWEST_ROWS, MOST_SCORES // (g * k))
    if most < sample.batch.rows:
        sample = replace(sample, batch=sample.batch.cut(0, most), hashes=sample.hashes[:most])
    fewer = min(1.0, 2.0 ** floor(log2(SAMPLE_ROWS / sample.weight)))
    factor = fewer / sample.unit
    apply = apply if sample.batch.rows * g * k >= MANY_TERMS else map
    log_prior = log(model.statistic.weight.value / model.statistic.rows)
    method = "temperature" if k > MANY_CLASSES else method
    place = _places(model, sample.batch, method, log_prior)
    kept = np.flatnonzero(place >= 0)
    _, first, columns = np.unique(place[kept], return_index=True, return_counts=True)
    if earlier is not None and method == "weights" and len(first) < g:
        return Calibration.none(model.usual_weights)
    likelihood, ends = _held_out(model, sample, factor, place, log_prior, learnt, apply)
    if not ends[-1]:
        return Calibration.none(model.usual_weights)
    weights = likelihood.weights
    usual = centre = model.usual_weights[kept[first]]
    hessian = _penalty(usual, columns) if method == "weights" else np.ones((1, 1))
    if earlier is not None:
        centre = earlier[0][kept[first]]
        hessian = earlier[1] * likelihood.at(centre).hessian + hessian
    found = likelihood.maximum(centre, hessian, centre)
    logs, total = likelihood.log_own(found), float(weights.sum())
    doubted = logs.copy()
    if _is_wide(model) and len(ends) > 2:
        for out in map(slice, ends[:-1], ends[1:]):
            rest = likelihood.without(out).maximum(centre, hessian, found)
            doubted[out] = likelihood.log_own(rest)[out]
    return Calibration(
        np.where(place >= 0, found[place], 0.0),
        total / fewer,
        -float((weights * likelihood.log_own(usual)).sum()) / total,
        -float((weights * logs).sum()) / total,
        Doubts.of(exp(doubted), weights).quantiles,
    )


def _held_out(
    model: GenerativeModel,
    sample: RowSample,
    factor: float,
    place: NDArray[np.intp],
    log_prior: NDArray[np.float64],
    learnt: bool,
    apply: Apply,
) -> tuple[_Likelihood, list[int]]:
    """Return the likelihood of rows under models that have not seen them, and where folds end.

    The terms of the rows of a fold are those of the model of the sums without these rows. A fold
    without which no row is left is not in it.
    """
    folds = list(_folds(model, sample, factor)) if learnt else [sample.batch]
    n = sum(batch.rows for batch in folds)
    terms = np.empty((n, len(model.classes), int(place.max(initial=-1)) + 1))
    codes, weights, ends = np.empty(n, np.intp), np.empty(n), [0]
    asked = model.settled(anew=_is_wide(model)) if learnt else model
    for batch in folds:
        others = asked.without(batch, factor) if learnt else asked
        if others is None:
            continue
        others.estimate_by(apply)
        rows = slice(ends[-1], ends[-1] + batch.rows)
        _write_terms(others, batch, place, terms[rows], apply)
        codes[rows], weights[rows] = batch.learnt(model.classes), factor * batch.weights
        ends.append(rows.stop)
    n = ends[-1]
    return _Likelihood(log_prior, terms[:n], codes[:n], weights[:n], apply), ends


def _is_wide(model: GenerativeModel) -> bool:
    """Return whether there are few rows to a column, so that each influences all estimates."""
    return bool(model.statistic.rows < ROWS_TO_A_COLUMN * len(model.usual_weights))


def _places(
    model: GenerativeModel, rows: Batch, method: CalibrationName, log_prior: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Return which of the weights each of the g terms has, (g,); −1 of one without a weight.

    All have the same, or each has its own. Of many columns the most informative ones have their
    own, those of the largest Σ_i ω_i log p(c_i | x_ij)/P(c_i) over 256 rows, and the others one
    together. A last term that is of columns together, beside single ones, keeps its own weight.
    """
    usual, k = model.usual_weights, len(model.classes)
    g = len(usual)
    if method == "temperature":
        return np.where(usual > 0, 0, -1)
    beside = int((usual == 0).any())
    d = g - beside
    if not (_is_wide(model) or g > 2 * OWN_WEIGHTS) or d <= OWN_WEIGHTS + 1:
        return np.arange(g)
    gain = np.zeros(d)
    for part in rows.cut(0, min(rows.rows, FEWEST_ROWS)).pieces(max(1, TILE // (g * k))):
        terms = np.empty((part.rows, k, g))
        _write_terms(model, part, np.arange(g), terms, map)
        terms = terms[:, :, :d]
        logs = terms + log_prior[:, None]
        largest = logs.max(axis=1)
        evidence = largest + log(exp(logs - largest[:, None]).sum(axis=1))
        gain += part.weights @ (terms[np.arange(part.rows), part.learnt(model.classes)] - evidence)
    place = np.full(g, OWN_WEIGHTS)
    place[np.sort(np.argsort(-gain, kind="stable")[:OWN_WEIGHTS])] = np.arange(OWN_WEIGHTS)
    place[d:] += 1
    return place


def _write_terms(
    model: GenerativeModel,
    batch: Batch,
    place: NDArray[np.intp],
    out: NDArray[np.float64],
    apply: Apply,
) -> None:
    """Write finite terms of log p(x | c), (n, k, m): sums of those that share a weight."""
    g, k, m = len(place), len(model.classes), out.shape[2]
    step, kept = max(1, TILE // (g * k)), np.flatnonzero(place >= 0)
    order = kept[np.argsort(place[kept], kind="stable")]
    starts = np.searchsorted(place[order], np.arange(m))

    def write(first: int) -> None:
        found = model.terms(batch.cut(first, min(first + step, batch.rows)))
        n = found.shape[1]
        terms, by_term = np.empty((n, k, g)), np.moveaxis(found, 1, 2).reshape(g * k, n)
        kernels.gram.place_terms(by_term, np.arange(n), LEAST, terms)
        if m < g:
            terms = np.add.reduceat(terms[:, :, order], starts, axis=2)
        out[first : first + step] = terms

    deque(apply(write, range(0, batch.rows, step)), 0)


def _folds(model: GenerativeModel, sample: RowSample, factor: float) -> Iterator[Batch]:
    """Yield the rows of the sample that leave the sums together.

    Of rows that stand for many, as many are taken out as the sample counts. Where columns are
    counted in the sample alone, all of it cannot be taken out at once. Equal rows stay together if
    they are copies. Those that chance makes equal are dealt to one fold after the other: taken out
    at once, they would become one that was never seen.
    """
    gone, rows = factor * float(sample.batch.weights.sum()), model.statistic.rows
    g, n, k = len(model.usual_weights), sample.batch.rows, len(model.classes)
    folds = FOLDS if model.sampled is not None or rows <= MANY * gone else 1
    if g > OWN_WEIGHTS:
        some = model.sampled is None and OF_ROWS * gone <= MANY_FOLDS * rows
        folds = max(1, round(OF_ROWS * gone / rows)) if some else MANY_FOLDS
    dealt = n * folds * g * k <= MOST_DEALT and not sample.tells_apart
    weights, copies = sample.batch.weights, sample.batch.weights / sample.unit
    copies = np.where(np.abs(copies - np.rint(copies)) <= WHOLE * copies, np.rint(copies), copies)
    # By hashes that units do not change: which rows leave together moves weights by chance.
    first = (rank_hashes(sample.batch) % np.uint64(folds)).astype(np.intp)
    for fold in range(folds):
        before = (fold - first) % folds  # folds that get a copy of the row before this
        if dealt:
            left = np.maximum(copies - before, 0.0)
            own = sample.unit * (left // folds + np.minimum(left % folds, 1.0))
            own = np.minimum(own, weights)  # however it is rounded
        else:
            own = np.where(before == 0, weights, 0.0)
        if own.any():
            yield replace(sample.batch, weights=own).take(np.flatnonzero(own))


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """The conditional likelihood of n rows as a function of m weights.

    Parameters
    ----------
    log_prior : ndarray (k,)
    terms : ndarray (n, k, m)
        log p(x_j | c).
    codes : ndarray of int (n,)
        Classes of the rows.
    weights : ndarray (n,)
    apply : callable
        `map`, or what does the same by several threads.
    """

    log_prior: NDArray[np.float64]
    terms: NDArray[np.float64]
    codes: NDArray[np.intp]
    weights: NDArray[np.float64]
    apply: Apply

    def without(self, rows: slice) -> _Likelihood:
        return replace(
            self,
            terms=np.delete(self.terms, rows, 0),
            codes=np.delete(self.codes, rows),
            weights=np.delete(self.weights, rows),
        )

    def log_posterior(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log p(c | x_i; w), (n, k)."""
        logs = np.empty(self.terms.shape[:2])
        kernels.gram.times(self.terms.reshape(-1, len(w)), w, logs.reshape(-1))
        logs += self.log_prior
        return np.asarray(logs - log_sum_exp(logs)[:, None])

    def log_own(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log p(c_i | x_i; w), (n,), of the classes of the rows."""
        return np.asarray(self.log_posterior(w)[np.arange(len(self.codes)), self.codes])

    def at(self, w: NDArray[np.float64]) -> Value:
        """Return the loss with its gradient and Hessian.

        ::

            g = Σ_i ω_i (m_i − ℓ_i),  H = Σ_i ω_i (Σ_c p_ic ℓ_ic ℓ_icᵀ − m_i m_iᵀ),
            m_i = Σ_c p_ic ℓ_ic,  ℓ_i those of the class c_i

        Of H each thread adds rows of about the same area.
        """
        m, rows = len(w), np.arange(len(self.codes))
        logs, flat = self.log_posterior(w), self.terms.reshape(-1, len(w))
        p = exp(logs)
        residual = p.copy()
        residual[rows, self.codes] -= 1
        gradient, hessian = np.zeros(m), np.zeros((m, m))
        kernels.gram.add_transposed(flat, (self.weights[:, None] * residual).ravel(), gradient)
        parts = 1 if flat.size < MANY_TERMS else 2 if m < WIDE else 8
        apart = m * (1 - np.sqrt(1 - np.arange(parts + 1) / parts))
        bounds = np.append(4 * np.round(apart[:-1] / 4), m).astype(int).tolist()

        def add(own: tuple[int, int]) -> None:
            kernels.gram.add_covariances(flat, p, self.weights, *own, hessian)

        deque(self.apply(add, list(pairwise(bounds))), 0)
        value = -float((self.weights * logs[rows, self.codes]).sum())
        return Value(value, gradient, hessian)

    def maximum(
        self,
        centre: NDArray[np.float64],
        hessian: NDArray[np.float64],
        start: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the w ≥ 0 of least loss and ½ (w − w₀)ᵀ Q (w − w₀), w₀ the ``centre``."""

        def penalised(w: NDArray[np.float64]) -> Value:
            found, slope = self.at(w), np.empty(len(w))
            kernels.gram.times(hessian, w - centre, slope)
            half = 0.5 * float(((w - centre) * slope).sum())
            return Value(found.value + half, found.gradient + slope, found.hessian + hessian)

        return nonnegative_minimum(penalised, start)


def _penalty(usual: NDArray[np.float64], columns: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return Q (m, m) of a penalty ½ (w − w₀)ᵀ Q (w − w₀), w₀ the usual weights.

    It is that of the m weights of so many ``columns``, drawn towards the best t,
    (λ Σ_j w_j + t₀)/(λ d + 1) of d columns. A last weight may be that of columns together. Single
    columns then stand beside it: they say again what it has said, so t is drawn to 0, and the last
    weight alone to 1.
    """
    own = np.where(usual == 0, columns, 0) if (usual == 0).any() else columns
    scale = np.where(own > 0, DRAWN_TOGETHER * columns, 1.0)
    pull = DRAWN_TOGETHER**2 / (DRAWN_TOGETHER * float(own.sum()) + 1)
    return np.asarray(np.diag(scale) - pull * np.outer(own, own))
