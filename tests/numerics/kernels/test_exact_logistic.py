"""Sums of the logistic loss in fixed point: recorded, exact, and the same in any order."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from suffice.numerics import kernels

from .recorded import check

kernel = kernels.exact_logistic
SCALES = np.array([1 / 64, 1.0, 1 / 64])


def tables(k: int, m: int, d: int) -> tuple[Any, ...]:
    """Return empty sums of the loss, weights, checksums and gradients."""
    return np.zeros(4), np.zeros((4, k)), np.zeros((4, k)), np.zeros((4, m, 1 + d))


def of_rows(n: int, d: int, k: int) -> tuple[Any, ...]:
    random = np.random.default_rng([n, d, k])
    x, origin = random.uniform(-1, 1, (n, d)), random.uniform(-1, 1, d)
    scale = np.append(1.0, np.full(d, 0.5))
    directions = random.standard_normal(((1 if k == 2 else k) + 1, 1 + d))
    weights = random.random(n) if n % 2 else np.empty(0)
    return x, origin, scale, directions, random.integers(k, size=n), weights, random.random(k)


def of_gradients() -> Iterator[tuple[str, list[Any]]]:
    for n, d, k in product((0, 1, 8, 121, 300), (0, 1, 8, 11), (2, 3, 6)):
        sums = tables(k, 1 if k == 2 else k, d)
        kernel.add_gradient(*of_rows(n, d, k), SCALES, *sums)
        yield f"add_gradient {n} {d} {k}", [*sums]


def of_products() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(3)
    for n, d, m in product((0, 1, 9, 250), (1, 8, 13), (1, 3)):
        r, z = random.uniform(-1, 1, (n, m)), random.uniform(-1, 1, (n, d))
        gradient, hessian, columns = np.zeros((4, m, d)), np.zeros((4, d, d)), np.zeros((4, m))
        kernel.add_products(r, z, gradient)
        kernel.add_squares(np.abs(r[:, 0]), z, hessian)
        kernel.add_columns(r, columns)
        least, largest = np.full(d, np.inf), np.full(d, -np.inf)
        kernel.widen(z, np.arange(n) % 3 - 1, least, largest)
        yield f"add_products {n} {d} {m}", [gradient, hessian, columns, least, largest]


def test_recorded() -> None:
    check("exact_logistic", [*of_gradients(), *of_products()])


@pytest.mark.parametrize("k", [2, 3])
def test_order_and_parts_change_no_bit(k: int) -> None:
    x, origin, scale, directions, codes, _, f = of_rows(500, 7, k)
    random = np.random.default_rng(0)
    found = []
    for parts in (1, 1, 3, 77):
        order, sums = random.permutation(500), tables(k, 1 if k == 2 else k, 7)
        for rows in np.array_split(order, parts):
            of_some = codes[rows], np.empty(0), f
            kernel.add_gradient(x[rows], origin, scale, directions, *of_some, SCALES, *sums)
        found.append([part[::2] + part[1::2] for part in sums])
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            assert np.array_equal(one, same)


def test_products_are_rounded_to_2_to_the_minus_89_each() -> None:
    random = np.random.default_rng(1)
    r, z = random.uniform(-1, 1, (300, 1)), random.uniform(-1, 1, (300, 3))
    r[5], r[7], z[9] = 1.0, 2.0**-60, 0.0  # of which the first is whole
    gradient, hessian = np.zeros((4, 1, 3)), np.zeros((4, 3, 3))
    kernel.add_products(r, z, gradient)
    kernel.add_squares(np.abs(r[:, 0]), z, hessian)
    last_bit = sum(Fraction(2) ** -52 * abs(Fraction(c)) for c in r[:, 0])  # that is set
    for j in range(3):
        terms = [Fraction(a) * Fraction(b) for a, b in zip(r[:, 0], z[:, j], strict=True)]
        found = sum(map(Fraction, gradient[:, 0, j]))
        assert abs(found - sum(terms)) <= last_bit
        squares = [
            abs(Fraction(a)) * Fraction(b) * Fraction(c)
            for a, b, c in zip(r[:, 0], z[:, 0], z[:, j], strict=True)
        ]
        assert abs(sum(map(Fraction, hessian[:, 0, j])) - sum(squares)) <= 2 * last_bit


def test_whole_terms_at_the_border_do_not_overflow() -> None:
    n = 1_000
    gradient = np.zeros((4, 1, 2))
    kernel.add_products(np.ones((n, 1)), np.ones((n, 2)), gradient)
    assert abs(gradient.sum(axis=0) - n).max() <= n * 2.0**-51
    ties = np.full((n, 1), 2.0**-45)  # half-way between two multiples of the first unit
    sums = np.zeros((4, 1))
    for part in (ties[:333], ties[333:]):
        kernel.add_columns(part, sums)
    other = np.zeros((4, 1))
    kernel.add_columns(ties, other)
    assert np.array_equal(sums[::2] + sums[1::2], other[::2] + other[1::2])


def test_wrong_shapes() -> None:
    arguments = of_rows(9, 3, 2)
    with pytest.raises(ValueError, match="scale"):
        kernel.add_gradient(*arguments[:2], np.ones(3), *arguments[3:], SCALES, *tables(2, 1, 3))
    with pytest.raises(ValueError, match="codes"):
        kernel.add_gradient(
            *arguments[:4], arguments[4] + 5, *arguments[5:], SCALES, *tables(2, 1, 3)
        )
    with pytest.raises(ValueError, match="hessian"):
        kernel.add_squares(np.ones(2), np.ones((2, 3)), np.zeros((2, 3, 3)))
