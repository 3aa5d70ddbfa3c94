"""Gaussians from rows with missing cells, by expectation-maximisation on sums.

A row that shows the columns o and lacks the columns m is expected to have, under N(μ, Σ),

::

    x̂_m = μ_m + B(x_o − μ_o)    B = Σ_mo Σ_oo⁻¹    C = Σ_mm − B Σ_om

where C is the covariance that is left. All that the likelihood needs of n rows of one class and
one pattern of cells is their mean x̄_o and scatter S_oo; with A = [I; B] they are expected to add

::

    n x̂    and    A S Aᵀ + n(x̂ − m)(x̂ − m)ᵀ + nC

to the sum and to the scatter about a point m. Parameters are estimated from these sums as if they
were those of complete rows, and the two steps alternate until nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from suffice.numerics import kernels
from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.elementary import log
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.linalg import eigh, factorise, product

FLOOR = 1e-9  # the least variance in any direction, as a fraction of that over all classes
TINY = 1e-6  # a variance that is small compared to this has no fraction that could be measured

STEPS_KEPT = 10  # steps that are looked back on
KEPT = 2  # of them, after they misled
DEPENDENT = 1e-20  # a change of whose square so little is its own is left out

Estimate = Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]
LogPrior = Callable[[Floats, Floats], float]


@dataclass(frozen=True, eq=False)
class IncompleteRows:
    """Weight, mean and scatter of groups of rows that share a class and a pattern of cells.

    There are k classes, d columns, p patterns, g groups and m matrices of scatter. A mean many
    standard deviations from 0 is no double: move the origin there first. ``product_index`` says
    which scatter is the group's, or is summed over it and others of its pattern; −1 where it is 0.
    """

    k: int
    patterns: Bools  # (p, d): the columns that rows show, at least one each
    pattern: Ints  # (g,)
    code: Ints  # (g,)
    weight: Floats  # (g,): n, positive
    mean: Floats  # (g, d): x̄; what stands in columns that are not shown is not read
    scatter: Floats  # (m, d, d): Σ(x − x̄)(x − x̄)ᵀ, each row about the mean of its group
    product_index: Ints  # (g,)


@dataclass(frozen=True, eq=False)
class Expected:
    """The sums of complete rows that are expected, given the rows as they are.

    Where a class has no row that shows a column and there is no prior, its mean is that of the
    column over all classes; 0 where no row at all shows it. ``log_likelihood`` is that of the
    observed cells, plus the log prior, at the start and after every iteration. If the estimate
    maximises it, it never decreases, but for rounding: where a variance is at its floor, about 10⁻⁶
    for every row. Columns of one value take no part.
    """

    weight: Floats  # (k,): rows that show something
    mean: Floats  # (k, d)
    scatter: Floats  # (s, d, d): about the class means; s = 1 of all classes together, or s = k
    log_likelihood: tuple[float, ...]
    converged: bool  # False if the iterations came to their end before the parameters did


def expectation_maximisation(
    rows: IncompleteRows,
    estimate: Estimate,
    shared: bool,
    log_prior: LogPrior | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 1_000,
) -> Expected:
    """Find the Gaussians that maximise the likelihood, or posterior density, of incomplete rows.

    It starts from the mean of each class, of the cells that it shows, and from uncorrelated
    columns that have their variance over all classes. A class without a cell of a column borrows
    mean and variance of all. Steps are extrapolated (Anderson's acceleration); where that lowers
    the likelihood, the step itself is taken.

    In no direction may a variance be less than 10⁻⁹ of what columns have over all classes, for
    without that the likelihood of a few rows, or of columns that determine each other, is
    unbounded; the floor raises eigenvalues, which maximises under this constraint. There the
    logarithm of a variance has lost digits: a step that rounding makes worse ends the search.

    ``estimate`` makes means (k, d) and covariances (s, d, d) of expected sums (k,), (k, d) and
    (s, d, d), where a class without rows has weight 0; ``log_prior`` is what it maximises besides
    the likelihood. If ``shared``, all classes have one covariance, s = 1. A change of means in
    standard deviations, and of covariances as fractions, that is at most ``tolerance`` counts as
    none; the log-likelihood may then change by its root for every row.
    """
    cells, d = _Cells.of(rows, shared), rows.patterns.shape[1]
    matrices = np.tile(np.eye(d), (1 if shared else rows.k, 1, 1))
    at = _Gaussians(np.zeros((rows.k, d)), matrices)
    sums = cells.expect(at, log_prior)
    history, path = [sums.log_likelihood], Path([], [])
    least, converged, gain = math.sqrt(tolerance) * cells.weight.sum(), False, np.inf
    for _ in range(max_iterations):
        following = cells.maximise(sums, estimate)
        still = _change(at, following) <= tolerance
        if still and gain <= least:
            converged = True
            break
        ahead, before = path.extrapolated(at, following), sums
        sums = cells.expect(ahead, log_prior)
        if ahead is not following and not sums.log_likelihood >= history[-1]:
            path.forget()
            ahead = following
            sums = cells.expect(ahead, log_prior)
        at = ahead
        gain = sums.log_likelihood - history[-1]
        if gain < -least:  # a step of EM lowers the likelihood by rounding only
            sums = before
            break
        history.append(sums.log_likelihood)
    return Expected(*cells.in_units(sums), tuple(history), converged)


class _Gaussians(NamedTuple):
    """Means (k, d) and covariances (s, d, d) of standardised columns."""

    mean: Floats
    covariance: Floats


class _Sums(NamedTuple):
    """Expected means (k, d) and scatter (s, d, d) of standardised columns."""

    mean: Floats
    scatter: Floats
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class _Cells:
    """Standardised rows by cell: those of one pattern under one covariance (`kernels.sweep`).

    A column is measured from the mean of its class, in standard deviations over all classes.
    """

    weight: Floats  # of the classes, (k,)
    origin: Floats  # (k, d)
    scale: Floats  # (d,)
    varies: Bools  # (d,)
    shown: Bools  # whether a class shows a column, (k, d)
    log_scale: float  # Σ log scale over all observed cells
    cells: tuple[Bools | Ints | Floats, ...]
    code: Ints
    group_weight: Floats
    x: Floats

    @classmethod
    def of(cls, rows: IncompleteRows, shared: bool) -> Self:
        """Standardise the rows and put their groups in the order of their cells."""
        keys = np.stack([rows.pattern, np.zeros_like(rows.code) if shared else rows.code], axis=1)
        keys, cell = np.unique(keys, axis=0, return_inverse=True)
        cell = cell.reshape(-1)
        of_matrix = np.zeros(len(rows.scatter), np.intp)
        stored = rows.product_index >= 0
        of_matrix[rows.product_index[stored]] = cell[stored]
        owners, place = np.unique(of_matrix, return_inverse=True)
        places = np.full(len(keys), -1)
        places[owners] = np.arange(len(owners))

        shown = rows.patterns[rows.pattern]
        weight = rows.weight[:, None] * shown
        x = np.where(shown, rows.mean, 0.0)
        near = x[shown.argmax(axis=0), np.arange(x.shape[1])] if len(x) else np.zeros(x.shape[1])
        offset = np.where(shown, x - near, 0.0)  # exactly 0 in a column that has one value only
        of_class = _by_class(weight, rows.code, rows.k)
        total = _by_class(weight * offset, rows.code, rows.k)
        n = np.maximum(of_class.sum(axis=0), np.finfo(float).tiny)
        middle = total.sum(axis=0) / n
        squares = (weight * (offset - middle) ** 2).sum(axis=0)
        squares += np.diagonal(rows.scatter, axis1=1, axis2=2).sum(axis=0)
        scale = np.sqrt(squares / n)
        varies = scale > 0.0
        scale = np.where(varies, scale, 1.0)
        means = np.divide(total, of_class, out=np.tile(middle, (rows.k, 1)), where=of_class > 0)
        origin = near + means

        products = np.zeros((len(owners), *rows.scatter.shape[1:]))
        np.add.at(products, place, rows.scatter / (scale[:, None] * scale))
        order = np.argsort(cell, kind="stable")
        x = np.where(shown, (x - origin[rows.code]) / scale, 0.0)
        start = np.searchsorted(cell[order], np.arange(len(keys) + 1))
        return cls(
            weight=_by_class(rows.weight[:, None], rows.code, rows.k)[:, 0],
            origin=origin,
            scale=scale,
            varies=varies,
            shown=of_class > 0,
            log_scale=float((weight * log(scale)).sum()),
            cells=(rows.patterns[keys[:, 0]] & varies, start, keys[:, 1], places, products),
            code=rows.code[order].astype(np.intp),
            group_weight=np.ascontiguousarray(rows.weight[order], np.float64),
            x=x[order],
        )

    def expect(self, at: _Gaussians, log_prior: LogPrior | None) -> _Sums:
        x, scatter = self.x.copy(), np.zeros_like(at.covariance)
        of_cells = np.empty(len(self.cells[0]))
        groups = self.code, self.group_weight
        arrays: list[Any] = [*self.cells, *groups, *at, x, scatter, of_cells]
        kernels.sweep.expect(*arrays)
        weight = self.group_weight[:, None]
        total = _by_class(weight * x, self.code, len(self.weight))
        mean = total / np.where(self.weight > 0.0, self.weight, 1.0)[:, None]
        kernels.sweep.add_scatter(x, *groups, mean, scatter)
        # Columns of one value were kept out. A mean of which the likelihood knows nothing stays.
        known = self.varies & self.shown if log_prior is None else self.varies
        log_likelihood = math.fsum(of_cells) - self.log_scale
        if log_prior is not None:
            log_likelihood += log_prior(
                self.origin + at.mean * self.scale, at.covariance * self._scales
            )
        return _Sums(np.where(known, mean, 0.0), scatter, log_likelihood)

    def in_units(self, sums: _Sums) -> tuple[Floats, Floats, Floats]:
        """Weight, mean and scatter in the units of the columns."""
        scatter = (sums.scatter + sums.scatter.transpose(0, 2, 1)) * (0.5 * self._scales)
        both = self.varies[:, None] & self.varies
        return self.weight, self.origin + sums.mean * self.scale, np.where(both, scatter, 0.0)

    def maximise(self, sums: _Sums, estimate: Estimate) -> _Gaussians:
        weight, mean, scatter = self.in_units(sums)
        estimated, covariance = estimate(weight, mean, scatter)
        # The difference is what the estimate moves; far from 0 the rest would be rounded.
        moved = sums.mean + (estimated - mean) / self.scale
        return _Gaussians(moved, _floored(covariance / self._scales))

    @property
    def _scales(self) -> Floats:
        return self.scale[:, None] * self.scale


def _by_class(values: Floats, code: Ints, k: int) -> Floats:
    """Sum values (g, d) of groups over those of each class, (k, d)."""
    return np.stack([np.bincount(code, column, k) for column in values.T], axis=1)


def _floored(covariance: Floats) -> Floats:
    """Raise eigenvalues of matrices (s, d, d) to the floor.

    Of all Σ ⪰ εI, the result maximises −log|Σ| − tr Σ⁻¹T, whose maximum without this is Σ = T.
    The floor is higher where variances are so large that it would be lost in their rounding.
    """
    variances, axes = eigh(covariance)
    spread = variances.max(axis=1, keepdims=True, initial=0.0) / variances.shape[1]
    missing = np.maximum(FLOOR * np.maximum(spread, 1.0) - variances, 0.0)
    if not missing.any():
        return covariance
    raised, origin = covariance.copy(), np.zeros((len(missing), covariance.shape[1]))
    matrix, which = np.nonzero(missing)
    kernels.sweep.add_scatter(
        axes[matrix, :, which], matrix, missing[matrix, which], origin, raised
    )
    return raised


def _change(before: _Gaussians, after: _Gaussians) -> float:
    """The largest change of a mean in standard deviations, or of a covariance as a fraction."""
    sd = np.sqrt(np.diagonal(after.covariance, axis1=1, axis2=2) + TINY)
    mean = np.abs(after.mean - before.mean) / sd
    covariance = np.abs(after.covariance - before.covariance) / (sd[:, :, None] * sd[:, None, :])
    return float(max(mean.max(initial=0.0), covariance.max(initial=0.0)))


class Path(NamedTuple):
    """Anderson's acceleration: the last points θ and steps f = M(θ) − θ tell where these lead.

    Source: D. G. Anderson, Iterative procedures for nonlinear integral equations, J. ACM 12 (1965).
    """

    points: list[Floats]
    steps: list[Floats]

    def extrapolated(self, at: _Gaussians, following: _Gaussians) -> _Gaussians:
        """M(θ) − Σ γ(Δθ + Δf) over the differences of the path, where γ minimises |f − Σ γΔf|.

        γ is found by normal equations in pairs. ``at`` and ``following`` are θ and M(θ), which join
        the path; of one point only, it leads to M(θ).
        """
        point, target = (
            np.concatenate([one.mean, one.covariance], axis=None) for one in (at, following)
        )
        self.points.append(point)
        self.steps.append(target - point)
        self.forget(STEPS_KEPT)
        if len(self.points) == 1:
            return following
        moves, turns = np.diff(self.points, axis=0), np.diff(self.steps, axis=0)
        rows, right = DoubleDouble.of(turns), DoubleDouble.of(self.steps[-1][:, None])
        normal = factorise(product(rows, rows.T), DEPENDENT)
        gammas = normal.solve(product(rows, right)).value[:, 0].tolist()
        for gamma, change in zip(gammas, moves + turns, strict=True):
            target = target - gamma * change
        mean, covariance = np.split(target, [at.mean.size])
        floored = _floored(covariance.reshape(at.covariance.shape))
        return _Gaussians(mean.reshape(at.mean.shape), floored)

    def forget(self, kept: int = KEPT) -> None:
        del self.points[: -kept - 1], self.steps[: -kept - 1]
