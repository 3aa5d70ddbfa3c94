"""Missing cells of a classifier, under a Gaussian of every class with one covariance for all.

::

    x | c ~ N(μ_c, Σ)
    x_m | x_o, c ~ N(μ_cm + Σ_mo Σ_oo⁻¹ (x_o − μ_co), Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om)

Under this model log-odds are linear in x, as a logistic regression has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Self, cast

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray

from suffice.data.source import Split, each_batch, refusal
from suffice.errors import DataError
from suffice.families import MultivariateGaussian
from suffice.families.multivariate.parameters import MultivariateGaussianParameters
from suffice.models.design.empty_columns import without_value
from suffice.models.design.matrix import TILE_ROWS
from suffice.models.logistic.centred_design import CentredDesign
from suffice.numerics.elementary import exp, log
from suffice.numerics.error_free import LARGEST
from suffice.numerics.exact import SQUARABLE, DoubleDouble
from suffice.numerics.interruption import interruptible
from suffice.numerics.linalg import ROUNDED_MATRIX, factorise
from suffice.numerics.logspace import log_normalise, log_sum_exp
from suffice.numerics.rows import affine, linear
from suffice.rules import Shape, Within, check_form, rule
from suffice.statistics.batch import Batch
from suffice.statistics.block import BadCell, RealBlock
from suffice.statistics.by_class import ByClass, ByClassAccumulator
from suffice.statistics.comoments import Comoments
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["ClassGaussians", "CompletedSplit", "exact_joint_moments", "joint_moments"]

FLAT = 1e-12  # fraction of the largest variance of a score, below which another is 0
CELLS = 2**22  # cells that rows with missing ones may become at a time
RADII = 2  # at which a point stands for rows in its direction
NODES, WEIGHTS = hermegauss(40)
JOINT = MultivariateGaussian(estimation="mle", pooling=1, variance_floor=0.0)
EXACT = replace(JOINT, precision="exact")


@dataclass(frozen=True, eq=False)
class ClassGaussians:
    """N(x; μ_c, Σ) of the F columns in every class, by expectation-maximisation.

    Parameters
    ----------
    mean : ndarray (k, F)
        μ.
    covariance : ndarray (F, F)
        Σ.
    log_prior : ndarray (k,)
        log P(c).

    Source: R. J. A. Little and D. B. Rubin, Statistical Analysis with Missing Data, 3rd ed.
    (2019), section 11.4; I. Arasaratnam and S. Haykin, Cubature Kalman filters (2009), section IV,
    for the points that stand for a row.
    """

    mean: Annotated[NDArray[np.float64], Shape("k", "F"), SQUARABLE]
    covariance: Annotated[NDArray[np.float64], Shape("F", "F"), Within(-(LARGEST**2), LARGEST**2)]
    log_prior: Annotated[NDArray[np.float64], Shape("k"), Within(-np.inf, 0)]

    def __post_init__(self) -> None:
        check_form(self)

    @rule("the covariance is a symmetric matrix without negative variances")
    def _has_covariance(self) -> bool:
        if not np.array_equal(self.covariance, self.covariance.T):
            return False
        try:
            factorise(DoubleDouble.of(self.covariance), ROUNDED_MATRIX)
        except DataError:
            return False
        return True

    @rule("the probabilities of the classes add up to 1")
    def _has_prior(self) -> bool:
        return bool(abs(exp(self.log_prior).sum() - 1) < 1e-9)

    @classmethod
    def of(
        cls, seen: ByClass, weight: NDArray[np.float64], terms: Sequence[str]
    ) -> tuple[Self, tuple[str, ...]]:
        """Fit the Gaussians to what `joint_moments` found; also say if that did not converge.

        Parameters
        ----------
        seen : ByClass
        weight : ndarray (k,)
            Weights of the classes.
        terms : sequence of str
            Names of the columns.

        Raises
        ------
        DataError
            If a column has no value.
        """
        statistic = cast(Comoments, seen.blocks[0])
        empty = np.flatnonzero(~statistic.patterns.any(axis=0))
        if len(empty):
            raise without_value(terms[int(empty[0])])
        found = cast(MultivariateGaussianParameters, JOINT.estimate(statistic))
        cells = cls(found.mean, found.covariance[0], log(weight / weight.sum()))
        return cells, tuple(found.course.remarks(terms))

    def about(self, origin: NDArray[np.float64]) -> ClassGaussians:
        """The same Gaussians of columns measured from another point, (F,)."""
        return replace(self, mean=self.mean - origin)

    def completed(
        self, x: NDArray[np.float64], codes: NDArray[np.intp]
    ) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.float64]]:
        """Replace rows x (n, F) with missing cells by weighted complete rows, given their classes.

        A row that lacks r cells becomes 4r rows with fractions of its weight, a spherical rule of
        degree 3 times a radial rule of degree 7: with SSᵀ the covariance of x_m given x_o and the
        class, x_m = E[x_m | x_o, c] ± ρ_i S_j at two radii ρ_i. Their mean and covariance are those
        of x_m. For one missing cell they are the four nodes of Gauss and Hermite.

        Returns
        -------
        x : ndarray (n', F)
        places : ndarray of int (n',)
            Which row each stands for, increasing.
        fractions : ndarray (n',)
        """
        complete = np.flatnonzero(~np.isnan(x).any(axis=1))
        rows, places, fractions = [x[complete]], [complete], [np.ones(len(complete))]
        for of, given in self._patterns(x):
            points, fraction = given.nodes()
            filled = np.repeat(x[of][:, None], len(points), axis=1)
            filled[:, :, given.missing] = given.expected(x[of], codes[of])[:, None] + points
            rows.append(filled.reshape(-1, x.shape[1]))
            places.append(np.repeat(of, len(points)))
            fractions.append(np.tile(fraction, len(of)))
        place = np.concatenate(places)
        order = np.argsort(place, kind="stable")
        return np.concatenate(rows)[order], place[order], np.concatenate(fractions)[order]

    def averaged(
        self,
        x: NDArray[np.float64],
        coefficients: NDArray[np.float64],
        log_probabilities: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Logarithms of expected class probabilities of rows x (n, F) with missing cells, (n, k).

        ::

            E[P(y | x) | x_o] = Σ_c P(c | x_o) ∫ P(y | x) N(x_m; given x_o and c) dx_m

        with P(c | x_o) ∝ P(c) N(x_o; μ_co, Σ_oo). As x_m is Gaussian, so are the scores t. Where
        they vary along one direction (two classes, or one missing cell), the integral is that of
        Gauss and Hermite with 40 nodes; else points as those of `completed`, in the space of
        scores, stand for it, and the result is off by a few thousandths.

        Parameters
        ----------
        x : ndarray (n, F)
        coefficients : ndarray (m, 1 + F)
            t = B (1, x).
        log_probabilities : callable
            log P(y | t), (..., k), of scores (..., m).
        """
        out = np.empty((len(x), len(self.mean)))
        b, w = coefficients[:, 0], coefficients[:, 1:]
        for of, given in self._patterns(x):
            log_share = given.log_posterior(x[of])
            observed = b + linear(x[of][:, ~given.missing], w[:, ~given.missing].T)
            hidden = np.stack(
                [
                    linear(given.expected(x[of], np.full(len(of), c)), w[:, given.missing].T)
                    for c in range(len(self.mean))
                ],
                axis=1,
            )
            steps, log_weights = _score_nodes(w[:, given.missing], given.covariance)
            t = (observed[:, None] + hidden)[:, :, None] + steps
            log_each = log_share[:, :, None] + log_weights
            terms = np.moveaxis(log_probabilities(t) + log_each[..., None], -1, 1)
            rows, k = terms.shape[:2]
            out[of] = log_sum_exp(terms.reshape(rows * k, -1)).reshape(rows, k)
        return out

    def _patterns(self, x: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.intp], _Given]]:
        """Rows that lack the same cells, and what is known of these."""
        missing_cells = np.isnan(x)
        rows = np.flatnonzero(missing_cells.any(axis=1))
        patterns, pattern = np.unique(missing_cells[rows], axis=0, return_inverse=True)
        for p, missing in enumerate(patterns):
            yield rows[pattern.reshape(-1) == p], _Given.of(self, missing)


@dataclass(frozen=True, eq=False)
class _Given:
    """What the observed cells of rows say of their missing ones."""

    cells: ClassGaussians
    missing: NDArray[np.bool_]
    regression: NDArray[np.float64]  # Σ_oo⁻¹ Σ_om
    linear: NDArray[np.float64]  # Σ_oo⁻¹ (μ_c − μ_0)_o of every class
    covariance: NDArray[np.float64]  # Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om

    @classmethod
    def of(cls, cells: ClassGaussians, missing: NDArray[np.bool_]) -> _Given:
        observed, sigma = ~missing, cells.covariance
        across = sigma[np.ix_(observed, missing)]
        apart = (cells.mean - cells.mean[0])[:, observed].T
        if not observed.any():
            return cls(cells, missing, across, apart, sigma)
        factor = factorise(DoubleDouble.of(sigma[np.ix_(observed, observed)]), ROUNDED_MATRIX)
        solved = factor.solve(DoubleDouble.of(np.concatenate([across, apart], axis=1))).value
        regression, linear = solved[:, : missing.sum()], solved[:, missing.sum() :]
        residual = sigma[np.ix_(missing, missing)] - across.T @ regression
        return cls(cells, missing, regression, linear, residual)

    def expected(self, x: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
        """E[x_m | x_o, c] of rows x, (n, r)."""
        mean = self.cells.mean[codes]
        observed = ~self.missing
        return mean[:, self.missing] + linear((x - mean)[:, observed], self.regression)

    def log_posterior(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """log P(c | x_o) of rows x, (n, k)."""
        observed, mean = ~self.missing, self.cells.mean
        apart = (mean - mean[0])[:, observed].T
        at_first = self.cells.log_prior - 0.5 * (apart * self.linear).sum(axis=0)
        t = affine(x[:, observed], mean[0][observed], self.linear.T, at_first)
        return log_normalise(t, self.cells.log_prior)[0]

    def nodes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """± ρ_i S_j (q, r), S the root of the correlations in standard deviations; and weights."""
        sd = np.sqrt(np.maximum(np.diagonal(self.covariance), 0.0))
        scale = np.where(sd > 0, sd, 1.0)
        values, axes = interruptible(np.linalg.eigh, self.covariance / scale / scale[:, None])
        root = (axes * np.sqrt(np.maximum(values, 0.0))) @ axes.T * sd
        steps, fractions = _spherical(len(sd))
        return steps @ root, fractions


@cache
def _spherical(r: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points (4r, r) and fractions of a rule for N(0, I): ± the axes, times two radii.

    The squares of the radii are those of Gauss's rule for χ² with r degrees of freedom.
    """
    from scipy.special import roots_genlaguerre

    halves, weights = roots_genlaguerre(RADII, 0.5 * r - 1.0)
    axes = np.concatenate([np.eye(r), -np.eye(r)])
    steps = np.sqrt(2.0 * halves)[:, None, None] * axes
    return steps.reshape(-1, r), np.repeat(weights / weights.sum() / (2 * r), 2 * r)


def _score_nodes(
    w: NDArray[np.float64], covariance: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Steps (q, m) from the expected scores, and the logarithms of their weights, (q,)."""
    values, axes = interruptible(np.linalg.eigh, w @ covariance @ w.T)
    used = values > FLAT * max(float(values[-1]), 1e-300)
    roots = (axes[:, used] * np.sqrt(values[used])).T
    r = len(roots)
    if r > 1:
        steps, fractions = _spherical(r)
        return steps @ roots, log(fractions)
    steps = NODES[:, None] * roots if r else np.zeros((len(NODES), len(w)))
    return steps, log(WEIGHTS / WEIGHTS.sum())


# -- rows of a source


def joint_moments(split: Split, centred: CentredDesign) -> ByClass:
    """Kernel: co-moments of the terms in every class, where cells may be missing."""
    return _summed(split, centred, JOINT)


def exact_joint_moments(split: Split, centred: CentredDesign) -> ByClass:
    """Kernel: the same as whole numbers."""
    return _summed(split, centred, EXACT)


def _summed(split: Split, centred: CentredDesign, family: MultivariateGaussian) -> ByClass:
    total = ByClassAccumulator([family.accumulator("real", centred.width - 1)])

    def add(batch: Batch) -> None:
        for part in _parts(batch, centred):
            total.add(part)

    for _ in each_batch(split, centred.layout, add):
        pass
    return total.statistic()


def _parts(batch: Batch, centred: CentredDesign) -> Iterator[Batch]:
    """The rows that a fit learns from, as rows of terms, some at a time."""
    batch = centred.to_fit(batch)
    width = centred.width
    rows = min(TILE_ROWS, max(CELLS // (4 * width * width), 1))
    for start in range(0, max(batch.rows, 1), rows):
        part = batch.cut(start, min(start + rows, batch.rows))
        tables = [x for _, x in centred.tables(part)]
        yield replace(part, blocks=(RealBlock(np.concatenate(tables).astype(np.float64)),))


@dataclass(frozen=True, eq=False)
class CompletedSplit:
    """A split that replaces rows with missing cells by weighted complete ones.

    Parameters
    ----------
    split : Split
        The rows.
    centred : CentredDesign
        How they become rows of terms.
    classes : Vocabulary
        The k labels.
    cells : ClassGaussians
        What to expect in missing cells.
    """

    split: Split
    centred: CentredDesign
    classes: Vocabulary
    cells: ClassGaussians

    def batches(self) -> Iterator[Batch]:
        """Yield complete rows that have a class and a weight.

        Raises
        ------
        DataError
            If a cell breaks a rule.
        """
        first = 0
        for batch in self.split.batches():
            try:
                yield from self._completed(batch)
            except BadCell as bad:
                raise refusal(self.split, self.centred.layout, first, bad) from None
            first += batch.rows

    def _completed(self, batch: Batch) -> Iterator[Batch]:
        for part in _parts(batch, self.centred):
            codes = part.learnt(self.classes)
            weights = part.weights if len(part.weights) else np.ones(part.rows)
            there = codes >= 0
            codes, weights = codes[there], weights[there]
            (block,) = cast(tuple[RealBlock], part.blocks)
            x, places, fractions = self.cells.completed(block.values[there], codes)
            weights = weights[places] * fractions
            yield Batch(len(x), (RealBlock(x),), codes[places], self.classes, weights)

    def count(self) -> int:
        """Return the number of rows, before any is replaced."""
        return self.split.count()

    def locate(self, row: int) -> str:
        """Say about where a row stands: it may stand for another."""
        return f"from {self.split.locate(0)} on"
