"""The loss of given coefficients, its gradient and its Hessian, as sums that no order changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from operator import add, sub
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.exact import DoubleDouble
from suffice.rules import FINITE, Shape, rule
from suffice.statistics.loss_sums import LossSums

__all__ = ["ExactLossSums"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExactLossSums:
    """What `LossSums` are, of terms that are cut at fixed places (``src/native/fixed_sums.hpp``).

    A term, at most c by a bound of its columns, is rounded to a multiple of 2⁻⁸⁹ c. Sums of such
    multiples are exact: the same rows give the same sums, in whatever order and parts they come.
    Of every sum there are four parts, which add up to it.

    Parameters
    ----------
    weight, checksum : ndarray (4, k)
    loss : ndarray (4,)
    gradient : ndarray (4, m, D)
    hessian : ndarray (4, s, s)
        With s = mD, or 0 where only the slope was asked for.

    Examples
    --------
    >>> none = ExactLossSums.empty(k=2, m=1, width=3, hessian=True)
    >>> none.rounded.gradient.shape, none.rounded.hessian.shape, (none + none) == none
    ((1, 3), (3, 3), True)
    """

    weight: Annotated[Array, Shape(4, "k"), FINITE]
    checksum: Annotated[Array, Shape(4, "k"), FINITE]
    loss: Annotated[Array, Shape(4), FINITE]
    gradient: Annotated[Array, Shape(4, "m", "D"), FINITE]
    hessian: Annotated[Array, Shape(4, "s", "s"), FINITE]

    @rule("a Hessian has a row for each element of the gradient, or none")
    def _has_hessian(self) -> bool:
        return self.hessian.shape[1] in (0, self.gradient[0].size)

    @classmethod
    def empty(cls, k: int, m: int, width: int, hessian: bool) -> Self:
        """The sums of no rows: k classes, m rows of coefficients, D = ``width``."""
        side = m * width * hessian
        shapes = (4, k), (4, k), (4,), (4, m, width), (4, side, side)
        return cls(*map(np.zeros, shapes))

    @cached_property
    def rounded(self) -> LossSums:
        """The same sums as pairs, each the nearest to its parts."""
        *slopes, hessian = vars_of(self)
        pairs = _paired(np.concatenate([parts.reshape(4, -1) for parts in slopes], axis=1))
        found, start = [], 0
        for parts in slopes:
            places = slice(start, start + parts[0].size)
            start, shape = places.stop, parts.shape[1:]
            found.append(
                DoubleDouble(pairs.hi[places].reshape(shape), pairs.lo[places].reshape(shape))
            )
        found.append(_paired(hessian))
        return LossSums(*found)

    def __add__(self, other: Self) -> Self:
        return type(self)(*map(add, vars_of(self), vars_of(other)))

    def __sub__(self, other: Self) -> Self:
        return type(self)(*map(sub, vars_of(self), vars_of(other)))

    def __eq__(self, other: object) -> bool:
        """Whether all sums are the same to the last bit, however they are divided into parts."""
        if not isinstance(other, ExactLossSums):
            return NotImplemented
        return all(map(_are_same, vars_of(self), vars_of(other)))

    __hash__ = None  # type: ignore[assignment]

    def scaled(self, factor: float) -> Self:
        """The same rows with their weights multiplied by a factor, a power of 2 for exact sums."""
        return type(self)(*(parts * factor for parts in vars_of(self)))


def vars_of(sums: ExactLossSums) -> tuple[Array, ...]:
    """The parts of all sums."""
    return sums.weight, sums.checksum, sums.loss, sums.gradient, sums.hessian


def _paired(parts: Array) -> DoubleDouble:
    """The sum of parts, of which neighbours add up exactly."""
    levels = [
        DoubleDouble.of(high) + DoubleDouble.of(low)
        for high, low in zip(parts[::2], parts[1::2], strict=True)
    ]
    return levels[0] if len(levels) == 1 else levels[0] + levels[1]


def _are_same(a: Array, b: Array) -> bool:
    pairs: tuple[Any, Any] = _paired(a), _paired(b)
    return all(np.array_equal(getattr(pairs[0], x), getattr(pairs[1], x)) for x in ("hi", "lo"))
