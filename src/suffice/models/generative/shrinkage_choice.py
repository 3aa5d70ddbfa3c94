"""Chooses the shrinkage of linear and quadratic discriminants by rows taken out of the sums."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from suffice.families import MultivariateGaussian
from suffice.families.left_out.rows import LearntRows
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.regularization import Regularization
from suffice.models.generative.regularization_choice import (
    FOLDS,
    IMPOSSIBLE,
    MANY,
    few_rows,
    folds_of_sample,
    leaves_in_closed_form,
    one_by_one,
    rows_of,
)
from suffice.numerics.logspace import log_sum_exp, safe_log, scores
from suffice.statistics.block import RealBlock
from suffice.statistics.row_sample import RowSample

__all__ = ["SHRINKAGE", "chosen_shrinkage"]

SHRINKAGE = (1.0, 0.9, 0.8, 0.6, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0)

Array = NDArray[np.float64]


def chosen_shrinkage(
    model: GenerativeModel, sample: RowSample, counted: bool
) -> Regularization | None:
    """Judge every s.

    ::

        −1/Σω Σ_i ω_i log p₋ᵢ(c_i | x_i; s)    p(c | x) ∝ P(c) N(x; μ_c, (1 − s)Σ_c + s diag(Σ_c))

    Complete rows leave one by one, in closed form; diag(Σ_c) is that of all rows. Where cells are
    missing, rows leave in a few folds.

    Parameters
    ----------
    model : GenerativeModel
        Of all rows.
    sample : RowSample
        Some of these.
    counted : bool
        Whether P(c) are the relative frequencies, and not given.

    Returns
    -------
    Regularization, or None
        None where there is no row to ask about.
    """
    (part,), (block,) = model.parts, model.statistic.blocks
    family, k = cast(MultivariateGaussian, part.family), len(model.classes)
    sample = few_rows(sample, k * len(part.layout.columns))
    if k < 2 or not sample.rows:
        return None
    weight = model.statistic.weight.value
    if leaves_in_closed_form(sample, model):
        x, rows, weights = one_by_one(sample, model)
        used, left_out = family.left_out_of_diagonal(block)
        logs = left_out.log_likelihoods(x[:, used], rows, SHRINKAGE)
        left = weight - rows.by_class(k)
    else:
        rows, weights, logs, left = _in_folds(family, model, sample)
    if not len(weights):
        return None
    log_prior = safe_log(left) if counted else model.log_prior
    losses = [_log_loss(log_prior + of_one, rows.codes, weights) for of_one in logs]
    pooling = np.array([family.pooling])
    return Regularization(pooling, np.array(SHRINKAGE), np.array([losses]), float(weights.sum()))


def _in_folds(
    family: MultivariateGaussian, model: GenerativeModel, sample: RowSample
) -> tuple[LearntRows, Array, Array, Array]:
    """Rows, their weights, log p(x | c), (g, n, k), and the weights of classes, without a fold."""
    k, folds = len(model.classes), 1 if model.statistic.rows > MANY * sample.weight else FOLDS
    degrees = [replace(family, shrinkage=s) for s in SHRINKAGE]

    def each() -> Iterator[tuple[NDArray[Any], ...]]:
        for apart, rest in folds_of_sample(model, sample, folds):
            sums = family.sums_of(rest.blocks[0])
            x, rows, weights = rows_of(apart, model, rest.blocks[0])
            found = np.zeros((len(degrees), len(x), k))
            for degree, out in zip(degrees, found, strict=True):
                in_order = scores(len(x), k, 0.0)
                degree.maximum_likelihood(sums).add_log_likelihood(RealBlock(x), in_order)
                out[:] = in_order
            left = np.tile(rest.weight.value, (len(x), 1))
            yield rows.codes, rows.weights, weights, left, found.swapaxes(0, 1)

    parts = list(each())
    if not parts:
        nothing = LearntRows(np.empty(0, np.intp), np.empty(0))
        return nothing, np.empty(0), np.empty((0, 0, k)), np.empty((0, k))
    codes, own, weights, left, logs = map(np.concatenate, zip(*parts, strict=True))
    return LearntRows(codes, own), weights, logs.swapaxes(0, 1), left


def _log_loss(joint: Array, codes: NDArray[np.intp], weights: Array) -> float:
    """Mean −log p(c_i | x_i), in nats; a degree that has no density counts −log 1e-15."""
    if np.isnan(joint).any():
        return IMPOSSIBLE
    own = joint[np.arange(len(codes)), codes]
    loss = float((weights * (log_sum_exp(joint) - own)).sum() / weights.sum())
    return min(loss, IMPOSSIBLE) if loss == loss else IMPOSSIBLE
