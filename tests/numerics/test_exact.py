"""Double-double arithmetic against exact rationals, interpreted and compiled."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from suffice.numerics import error_free, exact
from suffice.numerics.exact import DoubleDouble

NUMBERS = st.floats(-(2.0**100), 2.0**100).filter(lambda x: x == 0 or abs(x) > 2.0**-100)
MANY = settings(max_examples=20)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[float, float]:
    return error_free.two_sum(draw(NUMBERS), draw(NUMBERS) * 2.0**-53)


def value(pair: tuple[Any, Any]) -> Fraction:
    return Fraction(float(pair[0])) + Fraction(float(pair[1]))


@MANY
@given(NUMBERS, NUMBERS)
def test_two_sum_and_two_product_lose_nothing(a: float, b: float) -> None:
    assert value(error_free.two_sum(a, b)) == Fraction(a) + Fraction(b)
    assert error_free.two_sum(a, b)[0] == a + b
    assert value(error_free.two_product(a, b)) == Fraction(a) * Fraction(b)
    assert error_free.two_product(a, b)[0] == a * b
    big, small = (a, b) if abs(a) >= abs(b) else (b, a)
    assert value(error_free.quick_two_sum(big, small)) == Fraction(a) + Fraction(b)


def within(found: tuple[Any, Any], truth: Fraction, bits: int) -> bool:
    return abs(value(found) - truth) <= abs(truth) / 2**bits


@MANY
@given(pairs(), pairs())
def test_pairs_keep_the_bits_that_they_state(
    a: tuple[float, float], b: tuple[float, float]
) -> None:
    x, y = value(a), value(b)
    assert within(error_free.add(*a, *b), x + y, 104)
    assert within(error_free.multiply(*a, *b), x * y, 102)
    assume(y != 0)
    assert within(error_free.divide(*a, *b), x / y, 98)


# -- arrays of sums


@MANY
@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=20), st.randoms()
)
def test_sums_are_exact_in_any_order(values: list[float], random: Any) -> None:
    truth = float(sum(map(Fraction, values)))
    shuffled = values.copy()
    random.shuffle(shuffled)
    total = DoubleDouble.zeros(1)
    for x in shuffled:
        total += DoubleDouble.of([x])
    assert total.value.tolist() == [truth]
    assert DoubleDouble.of(values).sum(axis=0).value == truth
    for x in values[1:]:
        total -= DoubleDouble.of([x])
    assert total == DoubleDouble.of(values[:1])


@pytest.mark.parametrize("factor", [0.5, 0.7, 2.0**-40, 1.0, 0.0])
def test_scaled_pairs_are_exact_to_104_bits(factor: float) -> None:
    rng = np.random.default_rng(3)
    hi = rng.normal(size=(4, 5)) * 10.0 ** rng.integers(-200, 300, (4, 5))
    before = np.stack([hi, rng.normal(size=(4, 5)) * np.spacing(hi) / 4], axis=1)
    after = exact.scaled(before, factor)
    error = Fraction(0) if factor in (0.5, 1.0, 2.0**-40) else Fraction(2) ** -104
    for row, out in zip(before, after, strict=True):
        for j in range(5):
            product = value(row[:, j]) * Fraction(factor)
            assert abs(value(out[:, j]) - product) <= error * abs(product)


@pytest.mark.parametrize("shapes", [[(3, 300, 200)], [(400, 1), (300,)]])
def test_large_arrays_are_divided_part_by_part(shapes: list[tuple[int, ...]]) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=shapes[0]), rng.normal(size=shapes[-1])
    arrays = a.T.copy().T, a * 2.0**-54, b, b * 2.0**-55
    parts = error_free.in_parts(error_free.divide, *arrays)
    whole = error_free.divide(*arrays)
    assert [part.tobytes() for part in parts] == [one.tobytes() for one in whole]
