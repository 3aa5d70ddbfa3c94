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
from functools import cached_property, partial
from itertools import pairwise
from math import floor, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.engines.engine import engine_for, side_by_side
from suffice.errors import DataError, ForgetError
from suffice.families.family import Apply
from suffice.models.base.answers import Doubts
from suffice.models.base.evaluated_rows import require_known
from suffice.models.estimator import fitted
from suffice.models.generative.calibration import Calibration, CalibrationName
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.part import FamilyColumns
from suffice.models.optimise.nonnegative_newton import Value, nonnegative_minimum
from suffice.numerics import kernels
from suffice.numerics.elementary import exp, log
from suffice.numerics.in_print import Printed, Table
from suffice.numerics.logspace import log_sum_exp, scores
from suffice.sums.batch import Batch
from suffice.sums.by_class import ByClass
from suffice.sums.row_sample import RowSample, Sampled, SampledRows, rank_hashes

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
    apply = partial(side_by_side, engine_for(None))
    if isinstance(sums, Sampled) and stands_for(sums):
        model = model.with_sample(sums.sample)
        model.estimate_by(apply)
        found = calibrated(model, sums.sample, method, apply=apply)
        return model.with_calibration(found)
    if before is None:
        none = Calibration.none(model.usual_weights)
        return replace(model, calibration=replace(none, stale=True))
    sampled = before.sampled
    if sampled is not None and before.statistic != sums:
        grown = before.statistic.rows <= sums.rows
        sampled = sampled.far(model.parts, sums) if grown else None  # nothing forgotten
    known = before.calibration or Calibration.none(model.usual_weights)
    if isinstance(newest, Sampled) and newest.sample.rows and known.rows:
        known = _followed(model, known, newest, method, apply)
        if sampled is not None:
            sampled = sampled.with_more(model.parts, sums, newest)
    elif before.calibration is None or before.statistic != model.statistic:
        known = replace(known, stale=True)
    return replace(model, calibration=known, sampled=sampled)


def _followed(
    model: GenerativeModel,
    known: Calibration,
    newest: Sampled,
    method: CalibrationName,
    apply: Apply,
) -> Calibration:
    """Return weights that follow the newest rows: m of n that a model has learnt.

    The loss of the earlier rows is known near its minimum w₀ alone, and only its form is needed:

    ::

        Σ_i ω_i log p(c_i | x_i; w) − ½ (w − w₀)ᵀ (ρH + Q)(w − w₀),   ρ = (n − m)/m

    over the newest rows, each taken out of the sums, where H is the Hessian of their loss at w₀,
    and Q that of the penalty. One row hardly moves the weights; m = n rows find their own.

    Where only some columns have a weight of their own, they stay, and are stale: see `tied`.
    """
    asked = model.with_sample(newest.sample)
    asked.estimate_by(apply)
    share = min(1.0, newest.rows / model.statistic.rows)
    earlier = (known.weights, (1 - share) / share)
    found = calibrated(asked, newest.sample, method, apply=apply, earlier=earlier)
    return known.with_more(found, share) if found.rows else replace(known, stale=True)


def stands_for(rows: Sampled) -> bool:
    """Return whether a sample is still one of all rows: forgetting may have emptied it."""
    sample = rows.sample
    return sample.rows >= sample.size / 2 or sample.weight >= rows.rows * (1 - 1e-9)


def row_weight_of(sums: ByClass, before: GenerativeModel | None) -> float:
    """Return what one row weighs in sums; that of earlier rows without a sample of these."""
    if isinstance(sums, Sampled) and stands_for(sums):
        return sums.row_weight
    return 1.0 if before is None else before.row_weight


def in_rows(sums: ByClass, row_weight: float) -> ByClass:
    """Return the same sums, in which one row weighs 1."""
    if row_weight == 1:
        return sums
    if not isinstance(sums, Sampled):
        return sums.scaled(1 / row_weight)
    sample = replace(sums.sample, unit=row_weight)
    return Sampled.with_sample(sums.plain.scaled(1 / row_weight), sample)


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
    model: GenerativeModel = fitted(classifier)
    return ColumnWeights(model.column_weights)


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
    if not sample.rows:
        raise DataError(
            "there is no labelled row whose weight is not zero",
            "weights of columns are learnt from at least one",
            "check the label column and the weights",
        )
    terms = (model.terms(piece.batch) for piece in sample.pieces)
    if not any((some != some[..., :1]).any() for some in terms):
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
    groups, k = model.groups, len(model.classes)
    if not (model.parts and groups and sample.rows and k > 1):
        return Calibration.none(model.usual_weights)
    most = max(FEWEST_ROWS, MOST_SCORES // (groups * k))
    if most < sample.rows:
        sample = sample.first(most)
    fewer = min(1.0, 2.0 ** floor(log2(SAMPLE_ROWS / sample.weight)))
    factor = fewer / sample.unit
    apply = apply if sample.rows * groups * k >= MANY_TERMS else map
    log_prior = log(model.statistic.weight.value / model.statistic.rows)
    method = "temperature" if k > MANY_CLASSES else method
    kept = _Kept.of(model, sample, method, log_prior, apply)
    if earlier is not None and kept.tied > 1:
        return Calibration.none(model.usual_weights)
    dealt = _dealt(model, sample, factor) if learnt else [list(sample.pieces)]
    hashes = [piece.hashes for pieces in dealt for piece in pieces]
    order = np.argsort(np.concatenate(hashes), kind="stable")  # in whatever order rows came
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    terms = np.empty((len(order), k, len(kept.usual)))
    codes, weights, folds = np.empty_like(order), np.zeros(len(order)), np.empty_like(order)
    done = 0
    for fold, (held_out, pieces) in enumerate(_folds(model, dealt, factor, learnt)):
        if held_out is not None:
            held_out.estimate_by(apply)
        for batch, _ in pieces:
            own = place[done : done + batch.rows]
            done += batch.rows
            if held_out is not None:
                kept.write(held_out, batch, own, terms, apply)
                weights[own], codes[own] = batch.weights * factor, batch.learnt(model.classes)
                folds[own] = fold
    known = weights > 0
    if not known.any():
        return Calibration.none(model.usual_weights)
    objective = _Objective(log_prior, terms, codes, weights, kept.usual, apply, kept.tied)
    if not known.all():
        objective, folds = objective.of(known), folds[known]
    if earlier is not None:
        start = earlier[0] if method == "weights" else earlier[0][model.usual_weights > 0][:1]
        found = objective.following(method, start, earlier[1])
    else:
        found = objective.found(method)
    rows, logs = float(objective.weights.sum()), objective.log_own(found)
    doubted = objective.log_left_out(method, folds, found) if _is_wide(model) else logs
    return Calibration(
        np.where(kept.place >= 0, found[kept.place], 0.0),
        rows / fewer,
        -float((objective.weights * objective.together.log_own(np.ones(1))).sum()) / rows,
        -float((objective.weights * logs).sum()) / rows,
        Doubts.of(exp(doubted), objective.weights).quantiles,
    )


def _is_wide(model: GenerativeModel) -> bool:
    """Return whether there are few rows to a column, so that each influences all estimates."""
    return bool(model.statistic.rows < ROWS_TO_A_COLUMN * model.groups)


@dataclass(frozen=True, eq=False)
class _Kept:
    """The g terms of a model that an objective keeps one by one, and those of which only the sum.

    Parameters
    ----------
    own : ndarray of int (m,)
        The terms that are kept.
    place : ndarray of int (g,)
        The place of every term among those of the objective; −1 of one without a weight.
    summed : ndarray (g,), or (0,) where all are kept
        How often each counts in a sum.
    usual : ndarray
        Weights of the kept terms and the sum without any calibration.
    tied : float
        How many columns are in the sum.
    """

    own: NDArray[np.intp]
    place: NDArray[np.intp]
    summed: NDArray[np.float64]
    usual: NDArray[np.float64]
    tied: float = 1.0

    @classmethod
    def of(
        cls,
        model: GenerativeModel,
        sample: RowSample,
        method: CalibrationName,
        log_prior: NDArray[np.float64],
        apply: Apply,
    ) -> _Kept:
        """Keep all; the sum of all for one weight; of many columns the most informative ones.

        They are those of the largest Σ_i ω_i log p(c_i | x_ij)/P(c_i) over 256 rows of the sample.
        A last term that is of columns together, beside single ones, keeps its own weight.
        """
        usual, groups = model.usual_weights, model.groups
        if method == "temperature":
            return cls(np.zeros(0, np.intp), np.where(usual > 0, 0, -1), usual, np.ones(1))
        beside = int((usual == 0).any())
        d, many = groups - beside, _is_wide(model) or groups > 2 * OWN_WEIGHTS
        if not many or d <= OWN_WEIGHTS + 1:
            every = np.arange(groups)
            return cls(every, every, np.zeros(0), usual)
        gain = np.zeros(d)
        looked_at = sample.first(FEWEST_ROWS) if sample.rows > FEWEST_ROWS else sample
        step = max(1, TILE // (groups * len(model.classes)))
        parts = [part for batch, _ in looked_at.pieces for part in batch.pieces(step)]

        def told(part: Batch) -> NDArray[np.float64]:
            terms = _terms(model, part)[:, :, :d]
            logs = terms + log_prior[:, None]
            largest = logs.max(axis=1)
            evidence = largest + log(exp(logs - largest[:, None]).sum(axis=1))
            own_class = terms[np.arange(len(terms)), part.learnt(model.classes)]
            return np.asarray(part.weights @ (own_class - evidence))

        for some in apply(told, parts):
            gain += some
        own = np.sort(np.argsort(-gain, kind="stable")[:OWN_WEIGHTS])
        m = len(own)
        place = np.append(np.full(d, m), np.full(beside, m + 1))
        place[own] = np.arange(m)
        kept = np.append(own, np.arange(d, groups))
        usual_kept = np.append(np.full(m + 1, usual[0]), usual[d:])
        return cls(kept, place, (place == m).astype(np.float64), usual_kept, float(d - m))

    def write(
        self,
        model: GenerativeModel,
        batch: Batch,
        at: NDArray[np.intp],
        out: NDArray[np.float64],
        apply: Apply,
    ) -> None:
        """Write what a model says of rows to ``out`` (n, k, ·), of the ith row to that ``at`` i."""
        k = len(model.classes)
        together = not len(self.own) and (self.summed == 1).all()
        step = max(1, TILE // (k if together else k * model.groups))

        def write(first: int) -> None:
            rows = at[first : first + step]
            part = batch.cut(first, first + len(rows))
            if together:
                sums = scores(part.rows, k, 0.0)
                parts = zip(model.parameters, part.blocks, strict=True)
                for parameters, block in parts:
                    parameters.add_log_likelihood(block, sums)
                out[rows, :, 0] = np.where(sums == -np.inf, LEAST, sums)
                return
            if not len(self.summed):
                _place(model.terms(part), rows, out)
                return
            terms = _terms(model, part)
            found, to = np.empty((*terms.shape[:2], len(self.usual))), self.place[self.own]
            found[:, :, to] = terms[:, :, self.own]
            sums = np.empty(terms.shape[0] * terms.shape[1])
            kernels.gram.times(terms.reshape(len(sums), -1), self.summed, sums)
            found[:, :, self.place[self.summed > 0][0]] = sums.reshape(terms.shape[:2])
            out[rows] = found

        deque(apply(write, range(0, batch.rows, step)), 0)


def _terms(model: GenerativeModel, batch: Batch) -> NDArray[np.float64]:
    """The terms of log p(x | c), finite, (n, k, g)."""
    found = np.empty((batch.rows, len(model.classes), model.groups))
    _place(model.terms(batch), np.arange(batch.rows), found)
    return found


def _place(terms: NDArray[np.float64], place: NDArray[np.intp], out: NDArray[np.float64]) -> None:
    """Write terms (g, n, k), finite, to some rows of ``out`` (·, k, g)."""
    groups, rows, k = terms.shape
    some = np.moveaxis(terms, 1, 2).reshape(groups * k, rows)
    kernels.gram.place_terms(some, place, LEAST, out)


def _dealt(model: GenerativeModel, sample: RowSample, factor: float) -> list[list[SampledRows]]:
    """The rows of the sample that leave the sums together.

    Of rows that stand for many, as many are taken out as the sample counts. Where columns are
    counted in the sample alone, all of it cannot be taken out at once.
    """
    gone, rows = sample.weight * factor * sample.unit, model.statistic.rows
    folds = FOLDS if model.sampled is not None or rows <= MANY * gone else 1
    if model.groups > OWN_WEIGHTS:
        some = model.sampled is None and OF_ROWS * gone <= MANY_FOLDS * rows
        folds = max(1, round(OF_ROWS * gone / rows)) if some else MANY_FOLDS
    few = sample.rows * folds * model.groups * len(model.classes) <= MOST_DEALT
    copy = sample.unit if few and not sample.tells_apart else None
    # By hashes that units do not change: which rows leave together moves weights by chance.
    batches = [piece.batch for piece in sample.pieces]
    hashes = rank_hashes(batches) if folds > 1 else [np.zeros(b.rows, np.uint64) for b in batches]
    first = [(own % np.uint64(folds)).astype(np.intp) for own in hashes]
    dealt = []
    for fold in range(folds):
        shares = (
            _share(piece, (fold - begun) % folds, folds, copy)
            for piece, begun in zip(sample.pieces, first, strict=True)
        )
        dealt.append([share for share in shares if share.batch.rows])
    return dealt


def _folds(
    model: GenerativeModel, dealt: list[list[SampledRows]], factor: float, learnt: bool
) -> Iterator[tuple[GenerativeModel | None, list[SampledRows]]]:
    """Models that have not seen some rows, and these rows; None where no other row is left."""
    if not learnt:
        yield model, dealt[0]
        return
    asked = model.settled(anew=_is_wide(model))
    blocks = list(model.sums.blocks)
    for b, part in enumerate(asked.parts):  # pairs may follow theirs
        blocks[b] = part.read_from(blocks[b])
    sums = replace(model.sums, blocks=tuple(blocks))
    for pieces in filter(None, dealt):
        gone = asked.summed([piece.batch for piece in pieces], settled=True)
        rest = sums - (gone if factor == 1 else gone.scaled(factor))
        del gone  # as large as the sample, or larger
        yield asked.of_sums(rest.over(model.classes)) if rest.rows > 0 else None, pieces


def _share(
    piece: SampledRows, before: NDArray[np.intp], folds: int, copy: float | None
) -> SampledRows:
    """The rows of one fold; equal ones are dealt to one fold after the other, or stay together.

    Rows that chance makes equal are dealt: taken out at once, they would become one that was never
    seen. ``copy`` is what each of them weighs, and ``before`` how many folds get one before this.
    """
    weights = piece.batch.weights
    if copy is not None:
        left = np.maximum(weights - before * copy, 0.0)
        rounds = np.floor(left / (folds * copy))
        own = rounds * copy + np.minimum(left - rounds * (folds * copy), copy)
    else:
        own = np.where(before == 0, weights, 0.0)
    rows = np.flatnonzero(own > 0)
    batch = replace(piece.batch, weights=own).take(rows)
    return SampledRows(batch, piece.hashes[rows])


@dataclass(frozen=True, eq=False)
class _Objective:
    """The conditional likelihood of n rows as a function of g weights.

    Parameters
    ----------
    log_prior : ndarray (k,)
    terms : ndarray (n, k, g)
        log p(x_j | c).
    codes : ndarray of int (n,)
        Classes of the rows.
    weights : ndarray (n,)
    usual : ndarray (g,)
        Weights without any calibration: 1 of the terms that make up a model, 0 of those beside it.
    apply : callable
        `map`, or what does the same by several threads.
    tied_terms : float
        How many columns have the last weight of columns together.
    """

    log_prior: NDArray[np.float64]
    terms: NDArray[np.float64]
    codes: NDArray[np.intp]
    weights: NDArray[np.float64]
    usual: NDArray[np.float64]
    apply: Apply = map
    tied_terms: float = 1.0

    def log_posterior(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log p(c | x_i; w), (n, k)."""
        logs = self._times(w) + self.log_prior
        return np.asarray(logs - log_sum_exp(logs)[:, None])

    def _times(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Σ_j w_j log p(x_j | c), (n, k)."""
        flat = self.terms.reshape(-1, len(w))
        sums, step = np.empty(len(flat)), max(1, MANY_TERMS // max(1, len(w)))

        def multiply(first: int) -> None:
            rows = slice(first, first + step)
            kernels.gram.times(flat[rows], w, sums[rows])

        deque(self.apply(multiply, range(0, len(sums), step)), 0)
        return sums.reshape(self.terms.shape[:2])

    def _covariances(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the Hessian, (g, g), of which each thread adds rows of about the same area."""
        g = self.terms.shape[2]
        flat = self.terms.reshape(-1, g)
        parts = 1 if flat.size < MANY_TERMS else 2 if g < WIDE else 8
        apart = g * (1 - np.sqrt(1 - np.arange(parts + 1) / parts))
        bounds = np.append(4 * np.round(apart[:-1] / 4), g).astype(int).tolist()
        found = np.zeros((g, g))

        def add(rows: tuple[int, int]) -> None:
            kernels.gram.add_covariances(flat, p, self.weights, *rows, found)

        deque(self.apply(add, list(pairwise(bounds))), 0)
        return found

    def log_own(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log p(c_i | x_i; w), (n,), of the classes of the rows."""
        return np.asarray(self.log_posterior(w)[np.arange(len(self.codes)), self.codes])

    def log_left_out(
        self, method: CalibrationName, folds: NDArray[np.intp], start: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the log loss of the rows of each fold, by weights fitted to the others, (n,)."""
        logs = np.zeros(len(self.codes))
        for out in (folds == fold for fold in np.unique(folds)):
            kept = self.of(~out) if not out.all() else self
            logs[out] = self.of(out).log_own(kept.found(method, start))
        return logs

    def of(self, rows: NDArray[np.bool_]) -> _Objective:
        terms, codes, weights = self.terms[rows], self.codes[rows], self.weights[rows]
        return replace(self, terms=terms, codes=codes, weights=weights)

    def found(
        self, method: CalibrationName, start: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """The weights of least penalised loss."""
        return self.weighted(start) if method == "weights" else self.tempered()

    def at(self, w: NDArray[np.float64]) -> Value:
        """The loss with its gradient and Hessian.

        ::

            g = Σ_i ω_i (m_i − ℓ_i),  H = Σ_i ω_i (Σ_c p_ic ℓ_ic ℓ_icᵀ − m_i m_iᵀ),
            m_i = Σ_c p_ic ℓ_ic,  ℓ_i those of the class c_i
        """
        g, rows = len(w), np.arange(len(self.codes))
        logs = self.log_posterior(w)
        p = exp(logs)
        residual = p.copy()
        residual[rows, self.codes] -= 1
        gradient = np.zeros(g)
        flat = self.terms.reshape(-1, g)
        kernels.gram.add_transposed(flat, (self.weights[:, None] * residual).ravel(), gradient)
        value = -float((self.weights * logs[rows, self.codes]).sum())
        return Value(value, gradient, self._covariances(p))

    @cached_property
    def together(self) -> _Objective:
        """Return the objective of one weight for all terms of the model."""
        sums = self._times(self.usual)[:, :, None]
        return replace(self, terms=sums, usual=np.ones(1), tied_terms=1.0)

    def tempered(self) -> NDArray[np.float64]:
        """One weight for all terms of the model, an inverse temperature."""

        def penalised(w: NDArray[np.float64]) -> Value:
            found = self.together.at(w)
            square = 0.5 * float((w[0] - 1) ** 2)
            return Value(found.value + square, found.gradient + (w - 1), found.hessian + 1)

        return np.where(self.usual > 0, nonnegative_minimum(penalised, np.ones(1))[0], 0.0)

    def weighted(self, start: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """A weight for every term; those of columns are drawn towards one."""
        own, scale, usual, curvature = self._penalty
        strength, m = DRAWN_TOGETHER, float(own.sum())

        def penalised(w: NDArray[np.float64]) -> Value:
            found = self.at(w)
            t = (strength * float((own * w).sum()) + usual) / (strength * m + 1)
            apart = w - np.where(own > 0, t, 1.0)
            squares = 0.5 * float((scale * apart**2).sum() + (t - usual) ** 2)
            gradient = found.gradient + scale * apart
            return Value(found.value + squares, gradient, found.hessian + curvature)

        return nonnegative_minimum(penalised, self.tempered() if start is None else start)

    @cached_property
    def _penalty(self) -> tuple[NDArray[np.float64], NDArray[np.float64], float, Any]:
        """Return the columns of each weight, their number (g,); λ (g,); the usual t; the Hessian.

        A last term may be that of columns together. Single columns then stand beside it: they say
        again what it has said, so the weight that they are drawn towards is drawn to 0. Its own is
        drawn to 1.

        The best t for given weights of m columns is (λ Σ_j w_j + usual)/(λ m + 1).
        """
        together = bool((self.usual == 0).any())
        times = np.ones(len(self.usual))
        times[-1 - together] = self.tied_terms
        own = times.copy()
        if together:
            own[-1] = 0.0
        strength, m = DRAWN_TOGETHER, float(own.sum())
        scale = np.where(own > 0, strength * times, 1.0)
        curvature = np.diag(scale) - strength**2 / (strength * m + 1) * np.outer(own, own)
        return own, scale, 0.0 if together else 1.0, curvature

    def following(
        self, method: CalibrationName, start: NDArray[np.float64], times: float
    ) -> NDArray[np.float64]:
        """The weights of least loss, of these rows and ``times`` as many earlier; see `_followed`.

        Parameters
        ----------
        method : {"temperature", "weights"}
        start : ndarray (g,)
            The weights of the earlier rows.
        times : float
        """
        rows, curvature = self, self._penalty[-1]
        if method == "temperature":
            rows, curvature, start = self.together, np.ones((1, 1)), start[self.usual > 0][:1]
        hessian = times * rows.at(start).hessian + curvature

        def penalised(w: NDArray[np.float64]) -> Value:
            found, slope = rows.at(w), hessian @ (w - start)
            half = 0.5 * float((w - start) @ slope)
            return Value(found.value + half, found.gradient + slope, found.hessian + hessian)

        found = nonnegative_minimum(penalised, start)
        return found if method == "weights" else np.where(self.usual > 0, found[0], 0.0)
