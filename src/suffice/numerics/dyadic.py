"""A pair of doubles as a whole number times a power of two, and back."""

from __future__ import annotations

from fractions import Fraction

from suffice.errors import ParameterError


def of_pair(hi: float, lo: float, exponent: int) -> int:
    """Return (hi + lo)/2^exponent, which is whole.

    Examples
    --------
    >>> of_pair(3.0, 2.0**-60, -60)
    3458764513820540929
    """
    whole = (Fraction(hi) + Fraction(lo)) / Fraction(2) ** exponent
    if whole.denominator != 1:
        raise ParameterError(f"the pair ({hi!r}, {lo!r})", f"it is a whole number of 2^{exponent}")
    return whole.numerator


def to_pair(whole: int, exponent: int) -> tuple[float, float]:
    """Return the pair of doubles next to whole · 2^exponent.

    Examples
    --------
    >>> to_pair(3458764513820540929, -60) == (3.0, 2.0**-60)
    True
    """
    number = whole * Fraction(2) ** exponent
    hi = float(number)
    return hi, float(number - Fraction(hi))
