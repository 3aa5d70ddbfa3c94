"""Double-double arithmetic: a number kept as the unevaluated sum of two doubles.

A pair ``(hi, lo)`` stands for hi + lo with abs(lo) ≤ ulp(hi)/2, about 106 bits. Its operations are
those of `suffice.numerics.error_free`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from suffice.numerics import kernels
from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.error_free import LARGEST, divide, in_parts, multiply
from suffice.rules import FINITE, Within, rule

SQUARABLE = Within(-LARGEST, LARGEST)
WEIGHT = Within(0.0, LARGEST)  # a sum of weights, each 1e100 at most


def scaled(pairs: Floats, factor: float) -> Floats:
    """Multiply pairs (m, 2, ...) by a number, to 2⁻¹⁰⁴ of it; by powers of 2 without an error."""
    flat = np.ascontiguousarray(pairs).reshape(len(pairs), 2, math.prod(pairs.shape[2:]))
    out = np.empty_like(flat)
    kernels.sums.scale(flat, float(factor), out)
    return out.reshape(pairs.shape)


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class DoubleDouble:
    """An array of exact sums: value = hi + lo, unevaluated.

    Sums of doubles whose exponents lie within 2⁵⁰ of each other are exact, hence independent of
    order, and subtraction undoes addition. Equality compares rounded values. Arithmetic works
    element by element, with NumPy's rules for arrays of different shapes.
    """

    hi: Annotated[Floats, FINITE]  # the value rounded to a double
    lo: Annotated[Floats, FINITE]  # what the rounding left over

    def __repr__(self) -> str:
        return f"DoubleDouble({self.value!r})"

    @rule("hi is hi + lo, rounded")
    def _is_normal(self) -> bool:
        return self.hi.shape == self.lo.shape and bool(np.all(self.hi + self.lo == self.hi))

    @classmethod
    def of(cls, values: ArrayLike) -> DoubleDouble:
        """Exact pairs of the given doubles or integers below 2⁵³."""
        hi = np.array(values, dtype=np.float64)
        return cls(hi, np.zeros(hi.shape))

    @classmethod
    def zeros(cls, shape: int | tuple[int, ...]) -> DoubleDouble:
        return cls(np.zeros(shape), np.zeros(shape))

    @classmethod
    def from_table(cls, table: Floats) -> DoubleDouble:
        """The pairs of a kernel's table (k, 2, m) as sums (k, m), without a copy.

        The table is handed over: nothing may be added to it any more.
        """
        return cls.from_sums(table[:, 0], table[:, 1])

    @classmethod
    def from_sums(cls, hi: Floats, lo: Floats) -> DoubleDouble:
        """The sums and errors (k, m) of a kernel, without a copy; they are handed over too."""
        kernels.sums.normalise(hi, lo)
        return cls(hi, lo)

    @classmethod
    def by_place(cls, size: int, *numbers: tuple[Floats, Ints]) -> DoubleDouble:
        """Return exact sums (size, t) of rows of numbers (n, t) that go to the places (n,)."""
        sums = cls.zeros((size, numbers[0][0].shape[1]))
        for rows, places in numbers:
            kernels.counts.add_events(rows, places, np.zeros(0), sums.hi, sums.lo)
        return cls.from_sums(sums.hi, sums.lo)

    @property
    def value(self) -> Floats:
        """The sums, rounded once to double."""
        return self.hi + self.lo

    def settled(self, scale: ArrayLike, least: float = 2.0**-60) -> Floats:
        """The sums, rounded to double; where they are small to a multiple of ``least · scale``.

        Where large terms cancel, the last bits of the remainder depend on the order of the terms.
        They are removed here. A sum half-way between two doubles is rounded to the even one.
        """
        exponent = np.frexp(scale)[1]
        fine = np.ldexp(1.5, exponent - 44)  # its last place is 2⁻⁹⁶ of the scale
        value = self.hi + ((self.lo + fine) - fine)
        # Of this the last place is ``least``, a power of 2, of the scale.
        grid = np.ldexp(1.5, exponent + (math.frexp(least)[1] + 51))
        return np.asarray(np.where(np.abs(value) < grid / 2, (value + grid) - grid, value))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.hi.shape

    def __add__(self, other: DoubleDouble) -> DoubleDouble:
        return self._plus(other, 1.0)

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(-self.hi, -self.lo)

    def __sub__(self, other: DoubleDouble) -> DoubleDouble:
        return self._plus(other, -1.0)

    def _plus(self, other: DoubleDouble, sign: float) -> DoubleDouble:
        a, a_lo, b, b_lo = self.hi, self.lo, other.hi, other.lo
        if a.shape != b.shape:
            a, a_lo, b, b_lo = np.broadcast_arrays(a, a_lo, b, b_lo)
        total = np.empty((2, a.size))
        kernels.sums.add_pairs(a.ravel(), a_lo.ravel(), b.ravel(), b_lo.ravel(), sign, *total)
        return DoubleDouble(*(part.reshape(a.shape) for part in total))

    def __mul__(self, other: DoubleDouble | ArrayLike) -> DoubleDouble:
        factor = other if isinstance(other, DoubleDouble) else DoubleDouble.of(other)
        return DoubleDouble(*in_parts(multiply, self.hi, self.lo, factor.hi, factor.lo))

    def __truediv__(self, other: DoubleDouble | ArrayLike) -> DoubleDouble:
        divisor = other if isinstance(other, DoubleDouble) else DoubleDouble.of(other)
        return DoubleDouble(*in_parts(divide, self.hi, self.lo, divisor.hi, divisor.lo))

    def scaled(self, factor: float) -> DoubleDouble:
        return DoubleDouble(*scaled(np.stack([self.hi, self.lo])[None], factor)[0])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DoubleDouble):
            return NotImplemented
        return self.shape == other.shape and bool(np.array_equal(self.value, other.value))

    def __getitem__(self, index: Any) -> DoubleDouble:
        return DoubleDouble(self.hi[index], self.lo[index])

    def sum(self, axis: int) -> DoubleDouble:
        hi, lo = np.moveaxis(self.hi, axis, 0), np.moveaxis(self.lo, axis, 0)
        n, shape = len(hi), hi.shape[1:]
        rows = (part.reshape(n, math.prod(shape)) for part in (hi, lo))
        total = kernels.factor.product(np.ones((1, n)), np.zeros((1, n)), *rows)
        return DoubleDouble(*(part.reshape(shape) for part in total))

    @property
    def T(self) -> DoubleDouble:  # noqa: N802 - NumPy's name of it
        return DoubleDouble(self.hi.T, self.lo.T)

    def reshape(self, *shape: int) -> DoubleDouble:
        return DoubleDouble(self.hi.reshape(shape), self.lo.reshape(shape))

    def scatter(self, index: Any, shape: tuple[int, ...]) -> DoubleDouble:
        """Place these sums at ``index`` of a larger array of zeros."""
        out = DoubleDouble.zeros(shape)
        out.hi[index], out.lo[index] = self.hi, self.lo
        return out

    @staticmethod
    def where(condition: Bools, a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
        return DoubleDouble(np.where(condition, a.hi, b.hi), np.where(condition, a.lo, b.lo))

    @staticmethod
    def stack(parts: Iterable[DoubleDouble]) -> DoubleDouble:
        parts = list(parts)
        return DoubleDouble(
            np.stack([part.hi for part in parts]), np.stack([part.lo for part in parts])
        )

    @staticmethod
    def concatenate(parts: Iterable[DoubleDouble], axis: int = 0) -> DoubleDouble:
        parts = list(parts)
        return DoubleDouble(
            np.concatenate([part.hi for part in parts], axis),
            np.concatenate([part.lo for part in parts], axis),
        )
