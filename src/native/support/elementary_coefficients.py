"""Write elementary_coefficients.hpp: the numbers that exp, log, lgamma and digamma are made of.

Each polynomial interpolates a function of mpmath at Chebyshev's points of its interval, which is
within a bit or two of the best there is; the first coefficients of some are taken out exactly and
written as pairs. Run this file to write the header again: a test holds one against the other.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mpmath import (
    cos,
    digamma,
    euler,
    exp,
    findroot,
    floor,
    log,
    loggamma,
    matrix,
    mp,
    mpf,
    pi,
    sqrt,
)

HEADER = Path(__file__).with_name("elementary_coefficients.hpp")
LGAMMA_SERIES_FROM, DIGAMMA_SERIES_FROM = mpf(17) / 2, mpf(8)
TINY = mpf(10) ** -6  # in the place of 0, where a quotient has no value
mp.dps = 100


def hexadecimal(value: mpf) -> str:
    """Return the nearest double as C++ writes it without rounding."""
    return float(value).hex().replace("p+", "p").replace("0000000000000p", "0p")


def pair(value: mpf) -> tuple[mpf, mpf]:
    """Return a double and the double next to what is missing."""
    high = mpf(float(value))
    return high, value - high


def polynomial(function: Callable[[mpf], mpf], first: mpf, last: mpf, degree: int) -> list[mpf]:
    """Return the coefficients of the interpolation at Chebyshev's points of an interval."""
    middle, half = (first + last) / 2, (last - first) / 2
    points = [middle + half * cos(pi * (2 * i + 1) / (2 * degree + 2)) for i in range(degree + 1)]
    powers = matrix([[point**j for j in range(degree + 1)] for point in points])
    return list(mp.lu_solve(powers, matrix([function(point) for point in points])))


def of_exp(r: mpf) -> mpf:
    """Return (eʳ − 1 − r) / r²."""
    return (exp(r) - 1 - r) / r**2 if abs(r) > TINY**5 else mpf(1) / 2


def of_log(z: mpf) -> mpf:
    """Return (2 artanh s − 2s) / s³ with s = √z."""
    s = sqrt(z)
    return (log((1 + s) / (1 - s)) - 2 * s) / s**3


def of_log2(f: mpf) -> mpf:
    """Return log₂(1 + f) / f."""
    return log(1 + f) / (f * log(2)) if abs(f) > TINY**5 else 1 / log(2)


LGAMMA_SLOPE, LGAMMA_BEND = 1 - euler, pi**2 / 12 - mpf(1) / 2


def of_lgamma(z: mpf) -> mpf:
    """Return (log Γ(2 + z) − az − bz²) / z³, the rest of its series at 2."""
    return (loggamma(2 + z) - LGAMMA_SLOPE * z - LGAMMA_BEND * z**2) / z**3


LGAMMA_CONSTANT = (log(2 * pi) - 1) / 2


def of_lgamma_series(u: mpf) -> mpf:
    """Return x (log Γ(x) − (x − ½)(log x − 1) − ½(log 2π − 1)) with u = 1/x²."""
    x = 1 / sqrt(u)
    return x * (loggamma(x) - (x - mpf(1) / 2) * (log(x) - 1) - LGAMMA_CONSTANT)


DIGAMMA_ROOT = findroot(lambda z: digamma(1 + z), mpf("0.4616"))


DIGAMMA_SLOPE = digamma(mpf(3) / 2) / (mpf(1) / 2 - DIGAMMA_ROOT)


def of_digamma(t: mpf) -> mpf:
    """Return (ψ(1 + z) / (z − z₀) − g) / t with z = t + ½, z₀ being the root, g that at t = 0."""
    return (digamma(mpf(3) / 2 + t) / (t + mpf(1) / 2 - DIGAMMA_ROOT) - DIGAMMA_SLOPE) / t


def of_digamma_series(u: mpf) -> mpf:
    """Return x² (log x − 1/(2x) − ψ(x)) with u = 1/x²."""
    x = 1 / sqrt(u)
    return x**2 * (log(x) - 1 / (2 * x) - digamma(x))


LOG_END = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2
POLYNOMIALS = {
    "EXP": ("(eʳ − 1 − r) / r², abs(r) ≤ ½ log 2", of_exp, -log(2) / 2, log(2) / 2, 10),
    "LOG": ("(2 artanh s − 2s) / s³ in s², s² ≤ 0.0295", of_log, TINY, LOG_END, 8),
    "LGAMMA": (
        "(log Γ(2 + z) − az − bz²) / z³, −⅝ ≤ z ≤ ½",
        of_lgamma,
        mpf(-5) / 8,
        mpf(1) / 2,
        20,
    ),
    "LGAMMA_SERIES": (
        "x (log Γ(x) − (x − ½)(log x − 1) − ½(log 2π − 1)) in 1/x², x ≥ 8.5",
        of_lgamma_series,
        TINY,
        LGAMMA_SERIES_FROM**-2,
        6,
    ),
    "DIGAMMA": (
        "(ψ(1 + z) / (z − z₀) − g) / (z − ½) in z − ½, 0 ≤ z ≤ 1",
        of_digamma,
        mpf(-1) / 2,
        mpf(1) / 2,
        23,
    ),
    "DIGAMMA_SERIES": (
        "x² (log x − 1/(2x) − ψ(x)) in 1/x², x ≥ 8",
        of_digamma_series,
        TINY,
        DIGAMMA_SERIES_FROM**-2,
        7,
    ),
    "ROUGH_LOG2": (
        "log₂(1 + f) / f, √½ ≤ 1 + f ≤ √2, off by less than 2⁻³³",
        of_log2,
        sqrt(2) / 2 - 1,
        sqrt(2) - 1,
        11,
    ),
}


def largest_lgamma() -> mpf:
    """Return the largest double whose log Γ is below the end of the doubles."""
    end = (2 - mpf(2) ** -53) * mpf(2) ** 1023
    unit = mpf(2) ** 1014
    root = findroot(lambda x: loggamma(x * unit) / end - 1, mpf("1.456"))
    return floor(root * mpf(2) ** 52) * mpf(2) ** (1014 - 52)


def header() -> str:
    """Return the text of the header."""
    ln2_high = mpf(int(log(2) * 2**41)) / 2**41  # its products with exponents are exact
    constants = {
        "PER_LN2": ("1 / log 2", 1 / log(2)),
        "LN2_HIGH": ("log 2, cut after 41 bits, and the rest", ln2_high),
        "LN2_LOW": ("", log(2) - ln2_high),
        "LGAMMA_SLOPE": ("a = 1 − γ, a pair", pair(LGAMMA_SLOPE)[0]),
        "LGAMMA_SLOPE_LOW": ("", pair(LGAMMA_SLOPE)[1]),
        "LGAMMA_BEND": ("b = π²/12 − ½, a pair", pair(LGAMMA_BEND)[0]),
        "LGAMMA_BEND_LOW": ("", pair(LGAMMA_BEND)[1]),
        "LGAMMA_CONSTANT": ("½(log 2π − 1), a pair", pair(LGAMMA_CONSTANT)[0]),
        "LGAMMA_CONSTANT_LOW": ("", pair(LGAMMA_CONSTANT)[1]),
        "LGAMMA_LAST": ("log Γ of what is larger is no double", largest_lgamma()),
        "DIGAMMA_ROOT": ("z₀ with ψ(1 + z₀) = 0, a pair", pair(DIGAMMA_ROOT)[0]),
        "DIGAMMA_ROOT_LOW": ("", pair(DIGAMMA_ROOT)[1]),
        "DIGAMMA_SLOPE": ("g = ψ(3/2) / (½ − z₀), a pair", pair(DIGAMMA_SLOPE)[0]),
        "DIGAMMA_SLOPE_LOW": ("", pair(DIGAMMA_SLOPE)[1]),
    }
    lines = ["// Written by elementary_coefficients.py, which says where each number comes from."]
    lines += ["#pragma once", "", "// clang-format off", "namespace suffice {", ""]
    for name, (said, value) in constants.items():
        comment = f"  // {said}" if said else ""
        lines.append(f"constexpr double {name} = {hexadecimal(value)};{comment}")
    for name, (said, function, first, last, degree) in POLYNOMIALS.items():
        numbers = [hexadecimal(c) for c in polynomial(function, first, last, degree)]
        lines += ["", f"// {said}, from the constant on.", f"constexpr double {name}[] = {{"]
        lines += [f"    {', '.join(numbers[i : i + 3])}," for i in range(0, len(numbers), 3)]
        lines.append("};")
    return "\n".join([*lines, "", "}  // namespace suffice", ""])


if __name__ == "__main__":
    HEADER.write_text(header(), encoding="utf-8")
