"""Mahalanobis distances."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from suffice.numerics import kernels

from .inputs import products
from .recorded import check
from .rows import KINDS, rows, scores, shapes


def of_complete() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(7)
    for n, d, k in (*shapes((1, 2, 3, 5)), (0, 5, 3), (64, 9, 2), (129, 8, 2)):
        results: list[Any] = []
        for kind in KINDS if n else KINDS[:1]:
            s = (1, k)[(n + d) % 2]
            x, origin = rows(random, n, d, kind), random.standard_normal((s, d))
            if d % 2:
                x = np.asfortranarray(x)
            whitening = np.tril(random.standard_normal((s, d, d)))
            shift, log_scale = random.standard_normal((k, d)), random.standard_normal(k)
            done, out = np.zeros(n, bool), scores(random, n, k, "CF-"[d % 3])
            stopped = kernels.distances.add_complete(
                x, origin, whitening, shift, log_scale, done, out
            )
            results += stopped, done, out
        yield f"add_complete {n} {d} {k}", results


def of_marginal() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(8)
    for n, d, k in ((0, 3, 2), (1, 1, 1), (7, 2, 2), (40, 5, 3), (100, 9, 2), (60, 20, 4)):
        for shared in (True, False):
            s = 1 if shared else k
            x = rows(random, n, d, "missing" if n else "plain")
            x = x[np.lexsort(np.isnan(x).T)]
            factor = random.standard_normal((s, d, d))
            factor[:, -1] = factor[:, 0]  # the last column is determined by the first
            covariance = products(factor)
            mean, low = random.standard_normal((k, d)), 1e-17 * random.standard_normal((k, d))
            out = np.zeros((n, k)), np.zeros((n, s)), np.zeros((n, s))
            kernels.distances.add_marginal(x, mean, low, covariance, *out)
            yield f"add_marginal {n} {d} {k} {shared}", [*out]


def test_as_recorded() -> None:
    check("distances", (*of_complete(), *of_marginal()))


def test_wrong_arrays_are_refused() -> None:
    x, w, shift, log_scale = np.ones((4, 3)), np.ones((2, 3, 3)), np.ones((2, 3)), np.ones(2)
    done, out = np.zeros(4, bool), np.zeros((4, 2))
    add = kernels.distances.add_complete
    add(x, shift, w, shift, log_scale, done, out)
    for wrong in (
        (x, shift[:1], w, shift, log_scale, done, out),
        (x, shift, w[:, :2].copy(), shift, log_scale, done, out),
        (x, shift, w, shift, log_scale[:1], done, out),
        (x, shift, w, shift, log_scale, done[:3], out),
        (x, shift, w, shift, log_scale, done, out[:, :1]),
        (x, np.ones((3, 3)), np.ones((3, 3, 3)), shift, log_scale, done, out),
        (x, shift[:0], w[:0], shift, log_scale, done, out),
    ):
        with pytest.raises(ValueError, match=r"it must be|one covariance"):
            add(*wrong)
    with pytest.raises(ValueError, match="rank"):
        kernels.distances.add_marginal(x, shift, shift, w, out, np.zeros((4, 2)), np.zeros((4, 1)))
