"""The expectation step for rows with missing cells."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from suffice.numerics import kernels

from .inputs import products
from .recorded import check


def problem(random: np.random.Generator, cells: int, d: int, k: int, shared: bool) -> list[Any]:
    """The arguments of `expect`."""
    s, scattered = 1 if shared else k, max(cells // 2, 1)
    start = np.concatenate([[0], np.cumsum(random.integers(0, 4, cells))])
    factor = random.standard_normal((s + scattered, d, d))
    covariance = products(factor)
    return [
        random.random((cells, d)) < 0.6,
        start,
        random.integers(s, size=cells),
        random.integers(-1, scattered, cells),
        covariance[s:],
        random.integers(k, size=start[-1]),
        random.random(start[-1]) + 0.5,
        random.standard_normal((k, d)),
        covariance[:s] + np.eye(d),
        random.standard_normal((start[-1], d)),
        random.standard_normal((s, d, d)),
        np.zeros(cells),
    ]


def cases() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(14)
    for cells, d, k, shared in product(
        (0, 1, 3, 20), (1, 2, 5, 8, 9, 17), (1, 2, 3), (True, False)
    ):
        given = problem(random, cells, d, k, shared)
        kernels.sweep.expect(*given)
        yield f"expect {cells} {d} {k} {shared}", given[-3:]


def scatters() -> Iterator[tuple[list[Any], Any]]:
    """Calls of `add_scatter`, and what was added."""
    random = np.random.default_rng(16)
    for g, d, k, shared in product((0, 1, 30), (1, 3, 8, 9), (1, 3), (True, False)):
        x, mean = random.standard_normal((g, d)), random.standard_normal((k, d))
        code, weight = random.integers(k, size=g), random.random(g)
        scatter = np.zeros((1 if shared else k, d, d))
        kernels.sweep.add_scatter(x, code, weight, mean, scatter)
        yield [x, code, weight, mean], scatter


def test_scatter_about_means() -> None:
    for (x, code, weight, mean), scatter in scatters():
        expected = np.zeros((len(mean), *scatter.shape[1:]))
        for c in range(len(mean)):
            deviation = (x - mean[code])[code == c]
            expected[c] = (deviation.T * weight[code == c]) @ deviation
        if len(scatter) == 1:
            expected = expected.sum(axis=0, keepdims=True)
        np.testing.assert_allclose(scatter, expected, rtol=1e-12, atol=1e-12)


def test_as_recorded() -> None:
    check("sweep", cases())
