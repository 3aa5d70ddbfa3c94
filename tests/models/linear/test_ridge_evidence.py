"""The penalty of most marginal likelihood, against mpmath."""

from typing import Any

import numpy as np
import pytest
from mpmath import mp
from numpy.testing import assert_allclose

from suffice.models.design.normal_equations import NormalEquations
from suffice.models.linear.ridge import RidgeSpectrum
from suffice.sums.block import RealBlock
from suffice.sums.comoments import Comoments, ComomentsAccumulator


def summed(x: np.ndarray, y: np.ndarray) -> Comoments:
    z = np.concatenate([x, y.reshape(len(x), -1)], axis=1)
    total = ComomentsAccumulator(z.shape[1])
    total.add(RealBlock(z), np.zeros(len(z), np.intp), np.empty(0), 1)
    return total.statistic()


def log_evidence(x: np.ndarray, y: np.ndarray, alpha: Any, intercept: bool) -> Any:
    """Log density of y ~ N(0, σ²(I + XXᵀ/α)) with σ² integrated out, written out in mpmath.

    A flat prior of the intercept leaves what is orthogonal to a constant: contrasts of Helmert.
    """
    n = len(x)
    c = mp.eye(n)
    if intercept:
        c = mp.matrix(n - 1, n)
        for i in range(1, n):
            for j in range(i):
                c[i - 1, j] = 1 / mp.sqrt(i * (i + 1))
            c[i - 1, i] = -i / mp.sqrt(i * (i + 1))
    z, v = c * mp.matrix(x.tolist()), c * mp.matrix(y.tolist())
    covariance = mp.eye(c.rows) + z * z.T / alpha
    square = (v.T * mp.lu_solve(covariance, v))[0]
    return -(mp.log(mp.det(covariance)) + c.rows * mp.log(square)) / 2


@pytest.mark.parametrize("intercept", [True, False])
def test_evidence_is_the_density_of_the_targets_and_its_maximum_is_found(intercept):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(8, 3)) + 1.0
    y = x @ [0.9, -0.7, 0.4] + rng.normal(size=8) / 2 + 2.0 * intercept
    equations = NormalEquations.of(summed(x, y), 3, intercept)
    spectrum = RidgeSpectrum.of(equations, np.ones(3))

    with mp.workdps(30):
        for alpha in (0.01, 1.0, 50.0):
            density = log_evidence(x, y, mp.mpf(alpha), intercept)
            assert_allclose(spectrum.evidence(alpha)[0], float(density), rtol=1e-13)

        def slope(log_alpha: Any) -> Any:
            return mp.diff(lambda t: log_evidence(x, y, mp.exp(t), intercept), log_alpha)

        best = spectrum.best_by_evidence(None)
        start = max(range(-6, 8), key=lambda t: log_evidence(x, y, mp.exp(t), intercept))
        top = mp.exp(mp.findroot(slope, (start - 0.25, start + 0.25)))
        assert_allclose(best, float(top), rtol=1e-11)
    path = spectrum.path(np.geomspace(1e-4, 1e4, 300))
    assert spectrum.evidence(best) >= path.evidence.max()
    assert spectrum.best_by_evidence(path.alphas) == path.alphas[path.evidence[:, 0].argmax()]


def test_targets_add_their_evidence_and_constant_ones_say_nothing():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(40, 5))
    y = x @ rng.normal(size=(5, 2)) * 0.3 + rng.normal(size=(40, 2))
    y = np.column_stack([y, np.full(40, 7.0)])
    spectrum = RidgeSpectrum.of(NormalEquations.of(summed(x, y), 5), np.ones(5))
    path = spectrum.path(np.geomspace(1e-3, 1e5, 400))
    best = spectrum.best_by_evidence(None)
    assert spectrum.evidence(best)[:2].sum() >= path.evidence[:, :2].sum(axis=1).max()
    constant = RidgeSpectrum.of(NormalEquations.of(summed(x, y[:, 2:]), 5), np.ones(5))
    assert np.isfinite(constant.best_by_evidence(None))


def test_targets_that_columns_say_nothing_of_have_the_largest_penalty():
    x = np.array([[-1.0], [-1.0], [1.0], [1.0]])
    spectrum = RidgeSpectrum.of(NormalEquations.of(summed(x, x[[0, 2, 1, 3], 0]), 1), np.ones(1))
    assert spectrum.best_by_evidence(None) == spectrum.candidates(200)[-1]
