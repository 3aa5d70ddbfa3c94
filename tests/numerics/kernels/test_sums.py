"""Arrays of pairs."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from suffice.numerics import kernels

from .inputs import powers_of_ten
from .recorded import check

SIZES = (0, 1, 2, 7, 8, 9, 15, 64, 1_000)


def some(random: np.random.Generator, *shape: int) -> Any:
    """Numbers of many magnitudes, with zeros, infinities and no numbers."""
    values = random.standard_normal(shape) * powers_of_ten(random.integers(-9, 9, shape))
    values[random.random(shape) < 0.05] = 0.0
    strange = random.random(shape) < 0.01
    values[strange] = random.choice([np.inf, -np.inf, np.nan, -0.0, 1e300], strange.sum())
    return values


def cases() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(0)
    for n in SIZES:
        a, b = some(random, 2, n), some(random, 2, n)
        for lo in (a[1], b[1]):
            lo *= 1e-17
        for sign in (1.0, -1.0):
            out = np.zeros((2, n))
            kernels.sums.add_pairs(*a, *b, sign, *out)
            yield f"add_pairs {n} {sign}", [out]
        alone = np.zeros((2, n))
        for row in ((*a, 1.0), (*b, 1.0), (*b, -1.0)):
            kernels.sums.add_pairs(alone[0].copy(), alone[1].copy(), *row, *alone)
        parts = np.stack([np.stack([a, b, -b])[:, i] for i in range(2)])
        together = np.zeros((2, n))
        kernels.sums.sum_pairs(*parts, *together)
        np.testing.assert_array_equal(together, alone)
        pairs = some(random, 3, 2, n)
        for factor in (3.0, 0.1, np.inf):
            out = np.zeros_like(pairs)
            kernels.sums.scale(pairs, factor, out)
            yield f"scale {n} {factor}", [out]
        hi, lo = some(random, 4, n), some(random, 4, n)
        lo[1] = 0.0
        kernels.sums.normalise(hi, lo)
        yield f"normalise {n}", [hi, lo]


def test_as_recorded() -> None:
    check("sums", cases())
