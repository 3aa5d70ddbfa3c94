"""Chooses λ and γ of regularised Gaussians by rows that were taken out of the sums.

Complete rows leave the sums one by one, in closed form. Where cells are missing, the sums follow
from expectation-maximisation, and rows leave them in a few folds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from suffice.families import RegularizedGaussian
from suffice.families.left_out.rows import LearntRows
from suffice.families.multivariate.parameters import LOG_2PI
from suffice.families.multivariate.regularized import RegularizedSums
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.regularization import Regularization
from suffice.models.optimise.nonnegative_newton import Value, nonnegative_minimum
from suffice.numerics import kernels
from suffice.numerics.elementary import exp, log_of
from suffice.numerics.logspace import log_sum_exp, safe_log
from suffice.statistics.by_class import ByClass
from suffice.statistics.moments_left_out import ABSENT
from suffice.statistics.row_sample import RowSample

__all__ = [
    "FOLDS",
    "IMPOSSIBLE",
    "MANY",
    "POOLING",
    "SHRINKAGE",
    "chosen_regularization",
    "few_rows",
    "folds_of_sample",
    "leaves_in_closed_form",
    "one_by_one",
    "rows_of",
]

POOLING = (1.0, 0.6, 0.3, 0.1, 0.02, 0.0)
SHRINKAGE = (1.0, 0.5, 0.2, 0.05, 0.01, 0.0)
FOLDS = 5  # of incomplete rows
MANY = 20  # times as many rows as the sample has: then all of it is taken out at once
LEAST_COMPLETE = 0.5  # of the rows of a sample
MOST_CELLS = 2**24  # n k d of the rows that are asked about
IMPOSSIBLE = -log_of(1e-15)
LEAST = -1e5  # a log density below says no less

Array = NDArray[np.float64]
Grid = tuple[Sequence[float], Sequence[float]]


def chosen_regularization(
    model: GenerativeModel, sample: RowSample, pooling: Sequence[float], shrinkage: Sequence[float]
) -> Regularization | None:
    """Judge every λ with every γ.

    ::

        −1/Σω Σ_i ω_i log p(c_i | x_i; λ, γ, t)    log p(c | x) = log π_c + t log p(x | c) + const

    at the t ≥ 0 that is best, drawn towards 1 as in `suffice.models.generative.column_weights`.
    One row is left out at a time; the only row of a class is not asked about.
    Of a mixed table, nor are rows that lack a cell, where half of all lack none.

    Parameters
    ----------
    model : GenerativeModel
        Of all rows.
    sample : RowSample
        Some of these.
    pooling, shrinkage : sequence of float
        What to try.

    Returns
    -------
    Regularization, or None
        None where there is no row to ask about.
    """
    (part,) = model.parts
    (block,) = model.statistic.blocks
    k, d = len(model.classes), len(part.layout.columns)
    sample = few_rows(sample, k * d)
    if k < 2 or not sample.rows:
        return None
    family, grid = cast(RegularizedGaussian, part.family), (pooling, shrinkage)
    if leaves_in_closed_form(sample, model):
        x, rows, weights = one_by_one(sample, model)
        found = _left_out(family.regularized(block), x, rows, grid)
        codes = rows.codes
    else:
        codes, weights, found = _in_folds(model, sample, grid)
    if not len(codes):
        return None
    counted = model.statistic.weight.value
    log_prior = safe_log(counted / counted.sum())
    losses = [[_log_loss(log_prior, logs, codes, weights) for logs in of_one] for of_one in found]
    tried = np.asarray(pooling, float), np.asarray(shrinkage, float)
    return Regularization(*tried, np.array(losses), float(weights.sum()))


def few_rows(sample: RowSample, cells: int) -> RowSample:
    """A sample that is not too large for so many cells of each row."""
    return sample.first(min(sample.size, max(1, MOST_CELLS // cells)))


def leaves_in_closed_form(sample: RowSample, model: GenerativeModel) -> bool:
    """Whether rows can leave the sums one by one: no cell is missing."""
    (block,) = model.statistic.blocks
    return bool(block.complete)


def one_by_one(sample: RowSample, model: GenerativeModel) -> tuple[Array, LearntRows, Array]:
    """The complete rows that are not the only ones of their class; see `rows_of`."""
    x, rows, weights = rows_of(sample, model, model.statistic.blocks[0])
    of_class = model.statistic.weight.value[rows.codes]
    others = of_class - rows.weights > ABSENT * of_class
    asked = np.flatnonzero(others & ~np.isnan(x).any(axis=1))
    return x[asked], rows.take(asked), weights[asked]


def rows_of(
    sample: RowSample, model: GenerativeModel, block: Any
) -> tuple[Array, LearntRows, Array]:
    """Terms, the class of one row and what leaves with it, and all that equal ones weigh.

    In the order of hashes. Rows that chance makes equal leave one by one, and copies together.
    """
    pieces = sample.pieces
    order = np.argsort(np.concatenate([piece.hashes for piece in pieces]), kind="stable")
    x = np.concatenate([_cells(piece.batch.blocks[0], model) for piece in pieces])[order]
    codes = np.concatenate([piece.batch.learnt(model.classes) for piece in pieces])[order]
    weights = np.concatenate([piece.batch.weights for piece in pieces])[order] / sample.unit
    own = weights if sample.tells_apart else np.minimum(weights, 1.0)
    return x, LearntRows(codes, own), weights


def _cells(rows: Any, model: GenerativeModel) -> Array:
    """Rows as what the Gaussians are of, (n, d)."""
    return np.asarray(model.parts[0].numbers(rows), np.float64)


def _left_out(sums: RegularizedSums, x: Array, rows: LearntRows, grid: Grid) -> Iterator[Array]:
    """log p(x | c) by the sums of all other rows, (g, n, k) for every λ."""
    for pooling in grid[0]:
        yield sums.left_out(pooling).log_likelihoods(x[:, sums.used], rows, grid[1])


def _in_folds(
    model: GenerativeModel, sample: RowSample, grid: Grid
) -> tuple[NDArray[np.intp], Array, Iterator[Array]]:
    """Classes and weights of rows, and log p(x | c) by the sums of other folds.

    These are arrays (g, n, k), one for every λ.
    """
    folds = 1 if model.statistic.rows > MANY * sample.weight else FOLDS
    family = cast(RegularizedGaussian, model.parts[0].family)
    parts = []
    for apart, rest in folds_of_sample(model, sample, folds):
        (of_rest,) = rest.blocks
        parts.append((family.regularized(of_rest), *rows_of(apart, model, of_rest)))
    if not parts:
        return np.empty(0, np.intp), np.empty(0), iter(())

    def scores() -> Iterator[Array]:
        for pooling in grid[0]:
            yield np.concatenate([_of_rest(s, x, pooling, grid[1]) for s, x, *_ in parts], axis=1)

    *_, rows, weights = zip(*parts, strict=True)
    return np.concatenate([one.codes for one in rows]), np.concatenate(weights), scores()


def folds_of_sample(
    model: GenerativeModel, sample: RowSample, folds: int
) -> Iterator[tuple[RowSample, ByClass]]:
    """Yield the rows of every fold, by their hashes, and the sums of all other rows."""
    for fold in range(folds):
        pieces = []
        for piece in sample.pieces:
            here = np.flatnonzero(piece.hashes % np.uint64(folds) == np.uint64(fold))
            pieces.append(piece._replace(batch=piece.batch.take(here), hashes=piece.hashes[here]))
        apart = replace(sample, pieces=tuple(p for p in pieces if p.batch.rows))
        if not apart.pieces:
            continue
        gone = model.summed([piece.batch for piece in apart.pieces])
        rest = model.statistic - (gone if sample.unit == 1 else gone.scaled(1 / sample.unit))
        if rest.rows > 0:
            yield apart, rest.over(model.classes)


def _of_rest(rest: RegularizedSums, x: Array, pooling: float, shrinkage: Sequence[float]) -> Array:
    """log p(x | c) of rows that are not in the sums, by the cells that they show, (g, n, k)."""
    mean, k, used = rest.sums.mean, len(rest.sums.weight), rest.used
    order = np.lexsort(np.packbits(np.isnan(x[:, used]), axis=1).T)
    cells = np.ascontiguousarray(x[order][:, used])
    found = np.empty((len(shrinkage), len(x), k))
    for g, gamma in enumerate(shrinkage):
        covariance = rest.covariances(pooling, gamma).value[:, used][:, :, used]
        distance, log_determinant, rank = (np.zeros((len(x), k)) for _ in range(3))
        kernels.distances.add_marginal(
            cells,
            np.ascontiguousarray(mean.hi[:, used]),
            np.ascontiguousarray(mean.lo[:, used]),
            np.ascontiguousarray(covariance),
            distance,
            log_determinant,
            rank,
        )
        found[g, order] = -0.5 * (distance + log_determinant + rank * LOG_2PI)
    return found


def _log_loss(log_prior: Array, logs: Array, codes: NDArray[np.intp], weights: Array) -> float:
    """Mean −log p(c_i | x_i) at the best temperature, in nats."""
    if not np.isfinite(logs).all():
        return IMPOSSIBLE
    logs = np.maximum(logs - logs.max(axis=1, keepdims=True), LEAST)
    rows = np.arange(len(codes))
    own = logs[rows, codes]

    def loss(t: float) -> tuple[float, Array]:
        joint = log_prior + t * logs
        log_posterior = joint - log_sum_exp(joint)[:, None]
        return -float((weights * log_posterior[rows, codes]).sum()), exp(log_posterior)

    def penalised(w: Array) -> Value:
        value, p = loss(float(w[0]))
        mean = (p * logs).sum(axis=1)
        spread = (p * logs**2).sum(axis=1) - mean**2
        gradient = float((weights * (mean - own)).sum())
        curvature = float((weights * np.maximum(spread, 0.0)).sum())
        apart = float(w[0]) - 1.0
        return Value(
            value + 0.5 * apart**2, np.array([gradient + apart]), np.array([[curvature + 1.0]])
        )

    t = float(nonnegative_minimum(penalised, np.ones(1))[0])
    return min(loss(t)[0] / float(weights.sum()), IMPOSSIBLE)
