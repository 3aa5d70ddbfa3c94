"""Gradient descent on sums over rows."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from suffice.numerics import kernels

from .recorded import check

SIZES = tuple(product((1, 5, 40), (0, 1, 3, 4, 7, 8, 9, 30), (1, 2, 3)))


def problem(random: np.random.Generator, n: int, p: int, m: int, of_codes: bool) -> Any:
    """Rows, targets, weights, order, centres and units; coefficients and room for a row."""
    table = random.standard_normal((n, p + 2))
    targets = random.integers(max(m, 2), size=n) if of_codes else random.standard_normal((n, m))
    given = table, targets, random.random(n) + 0.5, random.integers(n, size=2 * n)
    units = random.standard_normal(p), random.random(p) + 0.5
    return given, units, random.standard_normal((m, 1 + p)), (np.ones(1 + p), np.zeros(m))


def of_gradients() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(12)
    for (n, p, m), of_codes in product(SIZES, (False, True)):
        given, units, v, room = problem(random, n, p, m, of_codes)
        g, loss = random.standard_normal(v.shape), np.zeros(1 if of_codes else m)
        kernels.descent.add_gradient(*given, *units, v, *room, g, loss)
        yield f"add_gradient {n} {p} {m} {of_codes}", [*room, g, loss]


def of_steps() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(13)
    for (n, p, m), of_codes, size in product(SIZES, (False, True), (1, 3, 64)):
        given, units, v, room = problem(random, n, p, m, of_codes)
        penalty, nesterov = random.random(1 + p), bool(n % 2)
        velocity, path, loss = np.zeros_like(v), np.zeros_like(v), np.zeros(1 if of_codes else m)
        kernels.descent.descend(
            *(*given, size, *units, penalty, 0.01, 0.7, nesterov, *room),
            *(v, velocity, loss, path),
        )
        yield f"descend {n} {p} {m} {of_codes} {size}", [v, velocity, loss, path]


def test_as_recorded() -> None:
    check("descent", (*of_gradients(), *of_steps()))
