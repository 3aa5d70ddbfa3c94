"""Pairs of doubles as whole numbers, and back."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import ParameterError
from suffice.numerics.dyadic import of_pair, to_pair
from suffice.numerics.error_free import two_sum

NUMBERS = st.floats(-(2.0**60), 2.0**60, allow_subnormal=False)


@given(NUMBERS, NUMBERS)
def test_a_pair_comes_back(a: float, b: float) -> None:
    hi, lo = map(float, two_sum(a, b))
    whole = of_pair(hi, lo, -1_100)
    assert whole * Fraction(2) ** -1_100 == Fraction(a) + Fraction(b)
    assert to_pair(whole, -1_100) == (hi, lo)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_whole_numbers_add_up_without_rounding(a: float, b: float, c: float) -> None:
    total = sum(of_pair(x, 0.0, -1_100) for x in (a, b, c))
    hi, lo = to_pair(total, -1_100)
    exact = Fraction(a) + Fraction(b) + Fraction(c)
    assert hi == float(exact)
    assert abs(exact - Fraction(hi) - Fraction(lo)) <= abs(exact) * Fraction(2) ** -105


def test_a_bit_below_the_exponent_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"the pair \(1.5, 0.0\); it is a whole number of 2"):
        of_pair(1.5, 0.0, 0)
