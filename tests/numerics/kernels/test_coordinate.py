"""Coordinate descent: a sweep is that of a loop in Python."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from suffice.numerics import kernels


def cases() -> Iterator[tuple[Any, ...]]:
    random = np.random.default_rng(6)
    for p in (0, 1, 2, 7, 33):
        for nonnegative in (False, True):
            root = random.standard_normal((p, p))
            hessian, cost = root @ root.T, random.random(p)
            if p > 1:
                hessian[1], hessian[:, 1] = 0.0, 0.0
            x = np.abs(random.standard_normal(p)) * (random.random(p) < 0.5)
            given = hessian, cost, nonnegative, x.copy(), hessian @ x - random.standard_normal(p)
            before = given[4].copy()
            kernels.coordinate.sweep(*given)
            yield hessian, cost, nonnegative, x, before, given[3], given[4]


def test_a_sweep_is_that_of_a_loop() -> None:
    for hessian, cost, nonnegative, x, gradient, swept, left in cases():
        for j in np.flatnonzero(np.diagonal(hessian) > 0):
            middle = hessian[j, j] * x[j] - gradient[j]
            reached = np.sign(middle) * max(abs(middle) - cost[j], 0.0) / hessian[j, j]
            step = (max(reached, 0.0) if nonnegative else reached) - x[j]
            x[j] += step
            gradient += step * hessian[j]
        np.testing.assert_allclose(swept, x, rtol=0, atol=1e-13)
        np.testing.assert_allclose(left, gradient, rtol=0, atol=1e-11)
