"""Mahalanobis distances."""

from collections.abc import Iterator
from typing import Any

import numpy as np

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
