"""Weights of columns, learnt from rows that were taken out of the sums.

They maximise the conditional likelihood of these rows, drawn towards one common weight t, which is
drawn towards 1:

::

    Σ_i ω_i log p(c_i | x_i; w) − λ/2 Σ_j (w_j − t)² − ½ (t − 1)²,   λ = 10

Source: N. A. Zaidi, J. Cerquides, M. J. Carman, G. I. Webb, Alleviating naive Bayes attribute
independence assumption by attribute weighting (JMLR 14, 2013), section 4, eq. 15.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import floor, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.models.generative.calibration import Calibration, Method
from suffice.models.generative.model import GenerativeModel, accumulator
from suffice.models.generative.part import FamilyColumns
from suffice.models.generative.weighted import group_sizes, grouped_scores
from suffice.numerics.elementary import exp
from suffice.numerics.logspace import log_sum_exp, safe_log
from suffice.statistics.batch import Batch
from suffice.statistics.by_class import ByClass
from suffice.statistics.row_sample import RowSample, SampledRows

__all__ = ["SAMPLE_ROWS", "calibrated"]

SAMPLE_ROWS = 4096  # distinct rows; twice as many gain less than 0.001 nats a row
FOLDS = 10  # in which the rows of the sample are taken out of the sums
MANY = 20  # times as many rows as the sample has: then all of it is taken out at once
LEAST = -700.0  # what an impossible cell counts as
DRAWN_TOGETHER = 10.0  # λ
QUANTILES = 1000  # of how doubtful the classes of rows were
MOST_SCORES = 2**25  # terms of log p(x | c) that are held at a time: 256 MB


def calibrated(
    model: GenerativeModel, sample: RowSample, method: Method, learnt: bool = True
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
    """
    groups, k = sum(group_sizes(model.parts)), len(model.classes)
    if not (groups and sample.rows and k > 1):
        return Calibration.none(model.parts)
    most = max(1, MOST_SCORES // (groups * k))
    sample = RowSample.of(min(sample.size, most), sample.pieces, sample.cut)
    factor = min(1.0, 2.0 ** floor(log2(SAMPLE_ROWS / sample.weight)))
    terms, codes, weights = [], [], []
    for held_out, pieces in _folds(model, sample, factor, learnt):
        for batch, _ in pieces:
            parts = zip(model.parts, held_out.parameters, batch.blocks, strict=True)
            terms.append(np.concatenate([grouped_scores(*part, k) for part in parts]))
            codes.append(batch.learnt(model.classes))
            weights.append(batch.weights * factor)
    if not terms:
        return Calibration.none(model.parts)
    counted = model.statistic.weight.value
    objective = _Objective(
        safe_log(counted / counted.sum()),
        np.maximum(np.concatenate(terms, axis=1), LEAST),
        np.concatenate(codes),
        np.concatenate(weights),
    )
    common = objective.common()
    found = objective.each(common) if method == "weights" else np.full(groups, common)
    rows = objective.weights.sum()
    return Calibration(
        found,
        float(rows / factor),
        float(objective.loss(np.ones(groups))[0] / rows),
        float(objective.loss(found)[0] / rows),
        objective.doubts(found),
    )


def _folds(
    model: GenerativeModel, sample: RowSample, factor: float, learnt: bool
) -> Iterator[tuple[GenerativeModel, list[SampledRows]]]:
    """Models that have not seen some rows of the sample, and these rows.

    Of rows that stand for many, as many are taken out as the sample counts.
    """
    if not learnt:
        yield model, list(sample.pieces)
        return
    parts = tuple(
        FamilyColumns(part.family.settled(parameters), part.layout)
        for part, parameters in zip(model.parts, model.parameters, strict=True)
    )
    many = model.statistic.rows > MANY * sample.weight * factor
    folds = 1 if many else FOLDS
    for fold in range(folds):
        pieces = [
            SampledRows(piece.batch.take(rows), piece.hashes[rows])
            for piece in sample.pieces
            if len(rows := np.flatnonzero(piece.hashes % np.uint64(folds) == fold))
        ]
        gone = _sums(model, [piece.batch for piece in pieces]).scaled(factor)
        rest = model.statistic - gone if pieces else model.statistic
        if pieces and rest.rows > 0:
            known = rest.over(model.classes)
            yield GenerativeModel.estimate(parts, model.layout, known, "uniform", 1.0), pieces


def _sums(model: GenerativeModel, batches: list[Batch]) -> ByClass:
    total = accumulator(model.parts)
    for batch in batches:
        total.add(batch)
    return total.statistic()


@dataclass(frozen=True, eq=False)
class _Objective:
    """The conditional likelihood of n rows as a function of g weights.

    Parameters
    ----------
    log_prior : ndarray (k,)
    terms : ndarray (g, n, k)
        log p(x_j | c).
    codes : ndarray of int (n,)
        Classes of the rows.
    weights : ndarray (n,)
    """

    log_prior: NDArray[np.float64]
    terms: NDArray[np.float64]
    codes: NDArray[np.intp]
    weights: NDArray[np.float64]

    def loss(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """−Σ_i ω_i log p(c_i | x_i; w) and its gradient (g,)."""
        n, rows = len(self.codes), np.arange(len(self.codes))
        logs = np.tensordot(w, self.terms, 1) + self.log_prior
        logs -= log_sum_exp(logs)[:, None]
        value = -(self.weights * logs[rows, self.codes]).sum()
        residual = exp(logs)
        residual[rows, self.codes] -= 1
        residual *= self.weights[:, None]
        return float(value), self.terms.reshape(len(w), -1) @ residual.reshape(n * logs.shape[1])

    def doubts(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Quantiles of 1 − p(c_i | x_i; w), from level 0 to 1."""
        logs = np.tensordot(w, self.terms, 1) + self.log_prior
        own = logs[np.arange(len(self.codes)), self.codes]
        doubts = np.maximum(1 - exp(own - log_sum_exp(logs)), 0.0)
        order = np.argsort(doubts, kind="stable")
        upto = np.cumsum(self.weights[order])
        levels = np.linspace(0, 1, QUANTILES + 1) * upto[-1] * (1 - 1e-12)
        return np.asarray(doubts[order][np.searchsorted(upto, levels)])

    def common(self) -> float:
        """One weight for all columns: an inverse temperature."""
        together = replace(self, terms=self.terms.sum(axis=0, keepdims=True))

        def penalised(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            value, slope = together.loss(w)
            return value + 0.5 * float((w[0] - 1) ** 2), slope + (w - 1)

        return float(_minimum(penalised, np.ones(1))[0])

    def each(self, common: float) -> NDArray[np.float64]:
        """A weight for every column, and the one that they are drawn towards."""

        def penalised(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            w, t = x[:-1], x[-1]
            value, slope = self.loss(w)
            apart = DRAWN_TOGETHER * (w - t)
            value += float(apart @ (w - t)) / 2 + 0.5 * float((t - 1) ** 2)
            return value, np.append(slope + apart, t - 1 - apart.sum())

        return _minimum(penalised, np.full(len(self.terms) + 1, common))[:-1]


def _minimum(function: Any, start: NDArray[np.float64]) -> NDArray[np.float64]:
    """The minimum of a convex function of numbers that are 0 or more."""
    from scipy.optimize import minimize

    found = minimize(
        function,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * len(start),
        options={"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-6},
    )
    return np.asarray(found.x)
