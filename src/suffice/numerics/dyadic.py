"""Tables of exact dyadic numbers: fixed-point integers as wide as their bits ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.rules import Shape, check_form, rule

__all__ = ["Dyadic"]

BITS = 64
LONGEST = 40  # planes that a product keeps: more than 2,048 bits below the highest
FARTHEST = 2**10  # power of 2^64 beyond which no sum of doubles begins


@dataclass(frozen=True, eq=False)
class Dyadic:
    """A table (k, d) of numbers Σ_q limbs_q 2^(64(low + q)), in the one form that they have.

    Limbs are in two's complement: the highest says the sign. The lowest plane is not all zeros, and
    the highest is not all signs of that below it; without planes all numbers are 0, and so is
    ``low``. So equal numbers are equal arrays.

    Parameters
    ----------
    limbs : ndarray of uint64 (planes, k, d)
        The lowest plane first.
    low : int
        The power of 2⁶⁴ at which they begin.

    Examples
    --------
    >>> total = Dyadic.of([[0.1, 1e300]]) + Dyadic.of([[0.2, 1.0]])
    >>> (total - Dyadic.of([[0.1, 1e300]])).value
    array([[0.2, 1. ]])
    """

    limbs: Annotated[NDArray[np.uint64], Shape("planes", "k", "d")]
    low: int

    def __post_init__(self) -> None:
        check_form(self)
        self.limbs.setflags(write=False)

    @rule("planes are those that the numbers need, and begin within the range of doubles")
    def _has_one_form(self) -> bool:
        planes = len(self.limbs)
        filled = self.limbs.size > 0 or planes == 0  # else a file may have any number of planes
        whole = filled and kernels.dyadic.trim(self.limbs) == (0, planes)
        return whole and abs(self.low) <= FARTHEST and (planes > 0 or self.low == 0)

    @classmethod
    def trimmed(cls, limbs: NDArray[np.uint64], low: int) -> Self:
        """The numbers of any planes."""
        first, stop = kernels.dyadic.trim(limbs)
        if first == stop:
            return cls(limbs[:0], 0)
        kept = limbs[first:stop]
        return cls(kept if 2 * len(kept) > len(limbs) else kept.copy(), low + first)

    @classmethod
    def zeros(cls, k: int, d: int) -> Self:
        """Numbers that are 0."""
        return cls(np.zeros((0, k, d), np.uint64), 0)

    @classmethod
    def of_doubles(cls, numbers: NDArray[np.float64]) -> Self:
        """Finite doubles, (k, d)."""
        exponents = np.frexp(numbers[numbers != 0.0])[1]
        if not len(exponents):
            return cls.zeros(*numbers.shape)
        low, high = (int(exponents.min()) - 53) // BITS, int(exponents.max()) // BITS
        out = np.zeros((high - low + 2, *numbers.shape), np.uint64)
        kernels.dyadic.set(numbers, out, low)
        return cls.trimmed(out, low)

    @classmethod
    def of(cls, numbers: Any) -> Self:
        """Doubles, or fractions whose denominators are powers of two, (k, d)."""
        table = np.asarray(numbers, object)
        exact = [Fraction(x) for x in table.ravel()]
        low = min((1 - x.denominator.bit_length() for x in exact), default=0) // BITS
        whole = [int(x * Fraction(2) ** (-BITS * low)) for x in exact]
        return cls._of_whole(whole, low, *table.shape)

    @classmethod
    def _of_whole(cls, whole: Iterable[int], low: int, k: int, d: int) -> Self:
        numbers = list(whole)
        planes = max((x.bit_length() for x in numbers), default=0) // BITS + 1
        raw = b"".join(x.to_bytes(8 * planes, "little", signed=True) for x in numbers)
        limbs = np.frombuffer(raw, "<u8").reshape(k, d, planes).transpose(2, 0, 1)
        return cls.trimmed(np.ascontiguousarray(limbs, np.uint64), low)

    @property
    def shape(self) -> tuple[int, int]:
        """Its numbers of classes and columns, (k, d)."""
        _, k, d = self.limbs.shape
        return k, d

    @cached_property
    def value(self) -> NDArray[np.float64]:
        """The doubles next to the numbers, (k, d)."""
        out = np.empty(self.shape)
        kernels.dyadic.round(self.limbs, self.low, out)
        out.setflags(write=False)
        return out

    def fractions(self) -> list[list[Fraction]]:
        """The numbers, (k, d)."""
        unit, (_, d) = Fraction(2) ** (BITS * self.low), self.shape
        whole = [x * unit for x in self._whole()]
        return [whole[i : i + d] for i in range(0, len(whole), d or 1)]

    def _whole(self) -> list[int]:
        planes, size = len(self.limbs), int(np.prod(self.shape))
        raw = self.limbs.transpose(1, 2, 0).astype("<u8").tobytes()
        step = 8 * planes
        cells = (raw[i * step : (i + 1) * step] for i in range(size))
        return [int.from_bytes(cell, "little", signed=True) for cell in cells]

    def __add__(self, other: Dyadic) -> Dyadic:
        return self._with(other, False)

    def __sub__(self, other: Dyadic) -> Dyadic:
        return self._with(other, True)

    def _with(self, other: Dyadic, minus: bool) -> Dyadic:
        ends = self.low + len(self.limbs), other.low + len(other.limbs)
        low = min(self.low, other.low)
        out = np.empty((max(ends) - low + 1, *self.shape), np.uint64)
        kernels.dyadic.add(self.limbs, self.low, other.limbs, other.low, minus, out, low)
        return type(self).trimmed(out, low)

    def summed(self) -> Dyadic:
        """The sums over the k classes, (1, d)."""
        return self.gathered(np.zeros(self.shape[0], np.intp), 1)

    def gathered(self, place: NDArray[np.intp], k: int) -> Dyadic:
        """Add class c to position ``place[c]`` among k classes; several may go to one."""
        out = np.zeros((len(self.limbs) + 1, k, self.shape[1]), np.uint64)
        kernels.dyadic.gather(self.limbs, self.low, place, out, self.low)
        return type(self).trimmed(out, self.low)

    def columns(self, index: NDArray[np.intp]) -> Dyadic:
        """Keep the columns at ``index``, in that order."""
        return type(self).trimmed(np.ascontiguousarray(self.limbs[:, :, index]), self.low)

    def scaled(self, factor: float, up: bool = False) -> Dyadic:
        """The numbers times a factor, exactly, but for bits beyond 2,048 below the highest.

        These are dropped, or rounded up where ``up`` says so.
        """
        m, n = float(factor).as_integer_ratio()
        shift = 1 - n.bit_length()
        low, more = divmod(BITS * self.low + shift, BITS)
        whole = [(x * m) << more for x in self._whole()]
        excess = max((x.bit_length() for x in whole), default=0) // BITS + 1 - LONGEST
        if excess > 0:
            rounding = (1 << BITS * excess) - 1 if up else 0
            whole, low = [(x + rounding) >> BITS * excess for x in whole], low + excess
        return self._of_whole(whole, low, *self.shape)

    def place(self, index: NDArray[np.intp], k: int) -> Dyadic:
        """Move class c to position ``index[c]`` among k classes; the others are 0."""
        planes, _, d = self.limbs.shape
        out = np.zeros((planes, k, d), np.uint64)
        out[:, index] = self.limbs
        return type(self)(out, self.low)

    def widened(self, index: NDArray[np.intp], d: int) -> Dyadic:
        """The same columns at ``index`` among d; the others are 0."""
        planes, k, _ = self.limbs.shape
        out = np.zeros((planes, k, d), np.uint64)
        out[:, :, index] = self.limbs
        return type(self)(out, self.low)

    def take(self, index: NDArray[np.intp]) -> Dyadic:
        """Keep the classes at ``index``, in that order."""
        return type(self).trimmed(np.ascontiguousarray(self.limbs[:, index]), self.low)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dyadic):
            return NotImplemented
        return self.low == other.low and np.array_equal(self.limbs, other.limbs)

    __hash__ = None  # type: ignore[assignment]
