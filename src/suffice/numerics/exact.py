"""Double-double arithmetic: a number kept as the unevaluated sum of two doubles.

A pair ``(hi, lo)`` stands for hi + lo with abs(lo) ≤ ulp(hi)/2, about 106 bits. The functions
below take floats or arrays alike, so the compiled kernels use these very formulas (see
``kernels/pairs.py``).

The algorithms are error-free transformations: they return the rounded result *and* the rounding
error, exactly. None of them may be compiled with reordering of floating-point operations.

References
----------
T. J. Dekker, "A floating-point technique for extending the available precision",
Numer. Math. 18 (1971). D. E. Knuth, TAOCP vol. 2, 4.2.2, theorem B. T. Ogita, S. M. Rump,
S. Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.numerics import kernels

__all__ = [
    "LARGEST",
    "DoubleDouble",
    "add",
    "divide",
    "multiply",
    "quick_two_sum",
    "two_product",
    "two_sum",
]

LARGEST = 1e150  # the square of a difference of larger numbers may overflow
SPLITTER = 134217729.0  # 2**27 + 1: cuts a double into two halves of 26 bits


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return s = fl(a + b) and e with s + e = a + b exactly (Knuth)."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


def quick_two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return s = fl(a + b) and its error, for abs(a) ≥ abs(b) (Dekker)."""
    s = a + b
    return s, b - (s - a)


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """Return p = fl(a · b) and e with p + e = a · b exactly (Veltkamp's split)."""
    p = a * b
    a1 = SPLITTER * a
    a1 = a1 - (a1 - a)
    b1 = SPLITTER * b
    b1 = b1 - (b1 - b)
    a2, b2 = a - a1, b - b1
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def add(a: Any, a_lo: Any, b: Any, b_lo: Any) -> tuple[Any, Any]:
    """Return the pair (a + a_lo) + (b + b_lo), relative error at most 2⁻¹⁰⁴."""
    s, e = two_sum(a, b)
    t, f = two_sum(a_lo, b_lo)
    s, e = quick_two_sum(s, e + t)
    return quick_two_sum(s, e + f)


def multiply(a: Any, a_lo: Any, b: Any, b_lo: Any) -> tuple[Any, Any]:
    """Return the pair (a + a_lo) · (b + b_lo), relative error at most 2⁻¹⁰²."""
    p, e = two_product(a, b)
    return quick_two_sum(p, e + (a * b_lo + a_lo * b))


def divide(a: Any, a_lo: Any, b: Any, b_lo: Any) -> tuple[Any, Any]:
    """Return the pair (a + a_lo) / (b + b_lo): long division, two quotient digits and a rest."""
    q1 = a / b
    p, p_lo = multiply(b, b_lo, q1, 0.0 * q1)
    r, r_lo = add(a, a_lo, -p, -p_lo)
    q2 = r / b
    p, p_lo = multiply(b, b_lo, q2, 0.0 * q2)
    r, r_lo = add(r, r_lo, -p, -p_lo)
    q, e = quick_two_sum(q1, q2)
    return quick_two_sum(q, e + r / b)


@dataclass(frozen=True, eq=False, slots=True)
class DoubleDouble:
    """An array of exact sums: value = hi + lo, unevaluated.

    Sums of doubles whose exponents lie within 2⁵⁰ of each other are exact, hence independent of
    order, and subtraction undoes addition. Equality compares rounded values.

    Parameters
    ----------
    hi, lo : ndarray of float64, same shape
        The value rounded to a double, and what the rounding left over.

    Examples
    --------
    >>> big = DoubleDouble.of([1e16]) + DoubleDouble.of([1.0])
    >>> (big - DoubleDouble.of([1e16])).value
    array([1.])
    """

    hi: NDArray[np.float64]
    lo: NDArray[np.float64]

    @classmethod
    def of(cls, values: ArrayLike) -> DoubleDouble:
        """Exact pairs of the given doubles or integers below 2⁵³."""
        hi = np.array(values, dtype=np.float64)
        return cls(hi, np.zeros_like(hi))

    @classmethod
    def zeros(cls, shape: int | tuple[int, ...]) -> DoubleDouble:
        """The empty sum."""
        return cls(np.zeros(shape), np.zeros(shape))

    @classmethod
    def from_table(cls, table: NDArray[np.float64]) -> DoubleDouble:
        """The pairs of a kernel's table (k, 2, m) as sums (k, m), without a copy.

        The table is handed over: nothing may be added to it any more.
        """
        kernels.sums.normalise(table)
        return cls(table[:, 0], table[:, 1])

    @property
    def value(self) -> NDArray[np.float64]:
        """The sums, rounded once to double."""
        return self.hi + self.lo

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of sums."""
        return self.hi.shape

    def __add__(self, other: DoubleDouble) -> DoubleDouble:
        return self._plus(other, 1.0)

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(-self.hi, -self.lo)

    def __sub__(self, other: DoubleDouble) -> DoubleDouble:
        return self._plus(other, -1.0)

    def _plus(self, other: DoubleDouble, sign: float) -> DoubleDouble:
        if self.shape != other.shape:
            raise ValueError(f"sums of shapes {self.shape} and {other.shape} do not add")
        parts = (self.hi, self.lo, other.hi, other.lo)
        hi, lo = kernels.sums.add_pairs(*(part.ravel() for part in parts), sign)
        return DoubleDouble(hi.reshape(self.shape), lo.reshape(self.shape))

    def __mul__(self, factor: float) -> DoubleDouble:
        return DoubleDouble(*multiply(self.hi, self.lo, np.float64(factor), np.float64(0)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DoubleDouble):
            return NotImplemented
        return self.shape == other.shape and bool(np.array_equal(self.value, other.value))

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, index: Any) -> DoubleDouble:
        return DoubleDouble(self.hi[index], self.lo[index])

    def sum(self, axis: int) -> DoubleDouble:
        """Exact sum along one axis."""
        hi, lo = np.moveaxis(self.hi, axis, 0), np.moveaxis(self.lo, axis, 0)
        total = DoubleDouble.zeros(hi.shape[1:])
        for part in zip(hi, lo, strict=True):
            total += DoubleDouble(*part)
        return total

    def scatter(self, index: Any, shape: tuple[int, ...]) -> DoubleDouble:
        """Place these sums at ``index`` of a larger array of zeros."""
        out = DoubleDouble.zeros(shape)
        out.hi[index], out.lo[index] = self.hi, self.lo
        return out

    @staticmethod
    def concatenate(parts: Iterable[DoubleDouble], axis: int = 0) -> DoubleDouble:
        """Join arrays of sums along one axis."""
        parts = list(parts)
        return DoubleDouble(
            np.concatenate([part.hi for part in parts], axis),
            np.concatenate([part.lo for part in parts], axis),
        )
