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

import math
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
    "scaled",
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


def scaled(pairs: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    """Multiply pairs (m, 2, ...) by a number: relative error at most 2⁻¹⁰⁴, none for powers of 2.

    Examples
    --------
    >>> scaled(np.array([[1.0, 2.0**-60]]), 0.5).tolist() == [[0.5, 2.0**-61]]
    True
    """
    flat = np.ascontiguousarray(pairs).reshape(len(pairs), 2, math.prod(pairs.shape[2:]))
    out = np.empty_like(flat)
    kernels.sums.scale(flat, float(factor), out)
    return out.reshape(pairs.shape)


@dataclass(frozen=True, eq=False, slots=True)
class DoubleDouble:
    """An array of exact sums: value = hi + lo, unevaluated.

    Sums of doubles whose exponents lie within 2⁵⁰ of each other are exact, hence independent of
    order, and subtraction undoes addition. Equality compares rounded values. Arithmetic works
    element by element, with NumPy's rules for arrays of different shapes.

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
        return cls.from_sums(table[:, 0], table[:, 1])

    @classmethod
    def from_sums(cls, hi: NDArray[np.float64], lo: NDArray[np.float64]) -> DoubleDouble:
        """The sums and errors (k, m) of a kernel, without a copy; they are handed over too."""
        kernels.sums.normalise(hi, lo)
        return cls(hi, lo)

    @property
    def value(self) -> NDArray[np.float64]:
        """The sums, rounded once to double."""
        return self.hi + self.lo

    def settled(self, scale: ArrayLike) -> NDArray[np.float64]:
        """The sums, rounded to double, and where they are small to a multiple of 2⁻⁶⁰ ``scale``.

        What cancellation leaves of large terms has bits that depend on their order; here they go.
        Nor do they decide where a sum lies half-way between two doubles: it goes to the even one.

        Examples
        --------
        >>> DoubleDouble.of([1.0, 1e-30]).settled(1.0)
        array([1., 0.])
        """
        exponent = np.frexp(scale)[1]
        fine = np.ldexp(1.5, exponent - 44)  # its last place is 2⁻⁹⁶ of the scale
        value = self.hi + ((self.lo + fine) - fine)
        grid = np.ldexp(1.5, exponent - 8)  # its last place is 2⁻⁶⁰ of the scale
        return np.asarray(np.where(np.abs(value) < grid / 2, (value + grid) - grid, value))

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
        parts: tuple[NDArray[np.float64], ...] = (self.hi, self.lo, other.hi, other.lo)
        if self.shape != other.shape:
            parts = np.broadcast_arrays(*parts)
        total = np.empty((2, *parts[0].shape))
        kernels.sums.add_pairs(*(part.ravel() for part in parts), sign, *total.reshape(2, -1))
        return DoubleDouble(*total)

    def __mul__(self, other: DoubleDouble | ArrayLike) -> DoubleDouble:
        factor = other if isinstance(other, DoubleDouble) else DoubleDouble.of(other)
        return DoubleDouble(*multiply(self.hi, self.lo, factor.hi, factor.lo))

    def __truediv__(self, other: DoubleDouble | ArrayLike) -> DoubleDouble:
        divisor = other if isinstance(other, DoubleDouble) else DoubleDouble.of(other)
        return DoubleDouble(*divide(self.hi, self.lo, divisor.hi, divisor.lo))

    def scaled(self, factor: float) -> DoubleDouble:
        """The sums times a number, as `scaled` has it."""
        return DoubleDouble(*scaled(np.stack([self.hi, self.lo])[None], factor)[0])

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
    def where(condition: NDArray[np.bool_], a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
        """a where the condition holds, b elsewhere."""
        return DoubleDouble(np.where(condition, a.hi, b.hi), np.where(condition, a.lo, b.lo))

    @staticmethod
    def stack(parts: Iterable[DoubleDouble]) -> DoubleDouble:
        """Join arrays of sums along a new first axis."""
        parts = list(parts)
        return DoubleDouble(
            np.stack([part.hi for part in parts]), np.stack([part.lo for part in parts])
        )

    @staticmethod
    def concatenate(parts: Iterable[DoubleDouble], axis: int = 0) -> DoubleDouble:
        """Join arrays of sums along one axis."""
        parts = list(parts)
        return DoubleDouble(
            np.concatenate([part.hi for part in parts], axis),
            np.concatenate([part.lo for part in parts], axis),
        )
