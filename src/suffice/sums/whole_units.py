"""Sums as vectors of whole numbers of units, which add up exactly in any order.

A pair of doubles is a whole number of some 2^e. With one unit for each element, the same at every
owner of rows, sums become whole numbers modulo 2^384, and Σ of them is rounded once:

========  ================
element   unit
========  ================
Σw        2^−215
Σwx       2^(s − 215)
Σwxx'     2^(s + s' − 215)
========  ================

The scale 2^s of a column is about the size of its numbers: 384 bits are a sign, 48 bits of Σw,
twice 60 above the scales, and 215 below. Numbers are summed about 0: what `Moments` and `Comoments`
have about pivots, which rows decide, is moved there in exact integers. Of doubles above 2⁻⁵⁴ scales
every bit of a square is a whole unit, so nothing is lost but what the pairs lost before; variances
of columns that are smaller are rounded, see `Elements.coarse`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.exact import DoubleDouble
from suffice.sums.by_class import ByClass
from suffice.sums.comoments import Comoments, FourthMoments
from suffice.sums.counts import Counts, Events
from suffice.sums.moments import Moments
from suffice.sums.vocabulary import Vocabulary

FINE = 215  # bits below the scale
WORDS = 6  # of 64 bits, little-endian
BYTES = 8 * WORDS
HALF = 1 << 64 * WORDS - 1  # numbers are from −HALF to HALF − 1
ENOUGH = 2**100  # units: what is larger loses less than a pair does

PLACES = 1_128  # bits after the point: every double is a whole number of 2^−PLACES


def packed(numbers: Iterable[int]) -> bytes:
    """Return whole numbers modulo 2^384."""
    return b"".join([(n % (2 * HALF)).to_bytes(BYTES, "little") for n in numbers])


def unpacked(content: bytes) -> list[int]:
    """Return whole numbers from −HALF to HALF − 1."""
    starts = range(0, len(content), BYTES)
    return [int.from_bytes(content[i : i + BYTES], "little", signed=True) for i in starts]


@dataclass(frozen=True, eq=False)
class Elements:
    """Some sums as exact numbers.

    Parameters
    ----------
    values : ndarray of int
        Fixed-point numbers with ``degree`` times `PLACES` bits after the point.
    degree : int
    scale : int or ndarray of int, broadcast to values
        Exponents s: the unit is 2^(s − FINE).
    column : int or ndarray of int, broadcast to values
        The column that a value is of; −1 of none.
    """

    values: NDArray[Any]
    degree: int
    scale: Any = 0
    column: Any = -1

    @property
    def _shift(self) -> Any:
        """Bits between the last place of a value and its unit."""
        return np.maximum(self.scale + (self.degree * PLACES - FINE), 1).astype(object)

    def whole(self) -> NDArray[Any]:
        """Return the values in units, rounded to whole numbers."""
        shift = self._shift
        return np.asarray((self.values + (1 << (shift - 1))) >> shift, object)

    def of_whole(self, whole: NDArray[Any]) -> NDArray[Any]:
        """Return the values of whole numbers of units."""
        return np.asarray(whole << self._shift, object)

    def coarse(self, whole: NDArray[Any]) -> Bools:
        """Return whether a value loses bits that a pair of doubles has."""
        return np.asarray((self.of_whole(whole) != self.values) & (abs(whole) < ENOUGH), bool)

    def at(self, places: Ints) -> Elements:
        """Return these as of columns at some places among others."""
        return replace(self, column=np.append(places, -1)[self.column])

    def columns(self, chosen: Bools) -> Ints:
        """Return the columns that some of the values are of, and −1 of none."""
        return np.unique(np.broadcast_to(self.column, chosen.shape)[chosen])


def fixed(hi: Any, lo: Any = 0.0) -> NDArray[Any]:
    """Return doubles, or pairs of them, as whole numbers of 2^−PLACES, exactly."""
    found = []
    for part in (hi, lo):
        mantissa, exponent = np.frexp(part)
        whole = np.asarray(np.ldexp(mantissa, 53).astype(np.int64), object)
        found.append(whole << (np.asarray(exponent, object) + (PLACES - 53)))
    return np.asarray(found[0] + found[1], object)


def pairs_of(values: NDArray[Any], degree: int) -> tuple[Floats, Floats]:
    """Return the pairs of doubles nearest to fixed-point numbers."""
    one, places = 1 << degree * PLACES, (degree - 1) * PLACES
    hi = np.asarray(values / one, np.float64)
    return hi, np.asarray((values - (fixed(hi) << places)) / one, np.float64)


def scales(sums: Any) -> Ints:
    """Return exponents of powers of 2 near √(Σwx²/Σw) of every column, (d,); of counts 0."""
    if isinstance(sums, ByClass):
        return np.concatenate([np.zeros(0, np.intp), *map(scales, sums.blocks)])
    if isinstance(sums, Counts):
        return np.zeros(sums.d, np.intp)
    if isinstance(sums, Moments):
        variance, mean = sums.one_class.variance, sums.one_class.mean
    else:
        rows = sums.columns.one_class
        squares = np.diagonal(rows.scatter.value, axis1=1, axis2=2)
        variance, mean = squares / max(rows.rows, 1.0), rows.mean.value
    root = np.hypot(np.sqrt(variance).max(axis=0, initial=0), np.abs(mean).max(axis=0, initial=0))
    return np.where(root > 0, np.frexp(root)[1], 0).astype(np.intp)


@singledispatch
def elements(sums: Any, scales: Ints) -> Iterator[Elements]:
    """Yield all that is added of sums, about 0; of products, without rows that lack a cell.

    The scales (d,) of the columns may be those of other rows.
    """
    raise TypeError(f"sums of {type(sums).__name__} have no units")


@singledispatch
def rebuilt(like: Any, values: Iterator[NDArray[Any]]) -> Any:
    """Return the sums of fixed-point numbers, in the order of `elements`.

    What there are sums of, classes, columns and values, is as in sums of no row. Numbers that no
    rows have break the rules of the sums.
    """
    raise TypeError(f"sums of {type(like).__name__} have no units")


def _weights(pairs: DoubleDouble, column: Any = -1) -> Elements:
    return Elements(fixed(pairs.hi, pairs.lo), 1, column=column)


@elements.register
def _(sums: ByClass, scales: Ints) -> Iterator[Elements]:
    yield _weights(sums.weight)
    yield _weights(sums.unlabelled[None])
    start = 0
    for block in sums.blocks:
        places = np.arange(start, start + block.d)
        yield from (one.at(places) for one in elements(block, scales[places]))
        start += block.d


@rebuilt.register
def _(like: ByClass, values: Iterator[NDArray[Any]]) -> ByClass:
    weight, unlabelled = (DoubleDouble(*pairs_of(next(values), 1)) for _ in range(2))
    blocks = tuple([rebuilt(block, values) for block in like.blocks])
    return replace(like, weight=weight, unlabelled=unlabelled[0], blocks=blocks).pruned()


@elements.register
def _(sums: Counts, scales: Ints) -> Iterator[Elements]:
    column = np.repeat(np.arange(len(sums.vocabularies)), np.diff(sums.offsets))
    yield _weights(sums.count, column)


@rebuilt.register
def _(like: Counts, values: Iterator[NDArray[Any]]) -> Counts:
    return replace(like, count=DoubleDouble(*pairs_of(next(values), 1))).pruned()


@elements.register
def _(sums: Events, scales: Ints) -> Iterator[Elements]:
    yield _weights(sums.count, np.arange(sums.d))
    yield _weights(sums.documents)
    yield _weights(sums.missing.over(sums.vocabularies).count)


@rebuilt.register
def _(like: Events, values: Iterator[NDArray[Any]]) -> Events:
    count, documents, missing = (DoubleDouble(*pairs_of(next(values), 1)) for _ in range(3))
    (known,) = like.vocabularies
    absent = Counts((Vocabulary(known.values),), missing).pruned()
    return replace(like, count=count, documents=documents, missing=absent)


@elements.register
def _(sums: Moments, scales: Ints) -> Iterator[Elements]:
    w, p = DoubleDouble(*sums.weight.swapaxes(0, 1)), fixed(sums.pivot)
    first, second = (fixed(sums.sums[:, i], sums.sums[:, i + 1]) for i in (0, 2))
    weight, column = fixed(w.hi, w.lo), np.arange(sums.d)
    yield _weights(w, column)
    yield Elements((first << PLACES) + weight * p, 2, scales, column)
    squares = (second << 2 * PLACES) + (2 * p * first << PLACES) + weight * p**2
    yield Elements(squares, 3, 2 * scales, column)


@rebuilt.register
def _(like: Moments, values: Iterator[NDArray[Any]]) -> Moments:
    w, first, squares = islice(values, 3)
    weight = DoubleDouble(*pairs_of(w, 1))
    pivot = means(first, w)
    p = fixed(pivot)
    about = np.maximum(squares - 2 * p * first + w * p**2, 0)
    sums = np.stack([*pairs_of(first - w * p, 2), *pairs_of(about, 3)], axis=1)
    return Moments(np.stack([weight.hi, weight.lo], axis=1), pivot, sums)


def means(first: NDArray[Any], w: NDArray[Any]) -> Floats:
    """Return Σwx/Σw rounded to doubles, which sums are about until they are canonical."""
    return np.asarray(first / (np.where(w > 0, w, 1) << PLACES), np.float64)


@elements.register
def _(sums: Comoments, scales: Ints) -> Iterator[Elements]:
    complete = sums.patterns[sums.pattern].all(axis=1)
    k, d, group = sums.k, sums.d, sums.code[complete]
    weight = DoubleDouble(*sums.weight[complete].T).scatter(group, (k,))
    tally = np.zeros((k, 3), object)
    tally[group] = sums.tally[complete]
    w, p, first = fixed(weight.hi, weight.lo)[:, None], *np.zeros((2, k, d), object)
    p[group] = fixed(sums.pivot[complete])
    first[group] = fixed(*sums.sums[complete].swapaxes(0, 1))
    yield _weights(weight)
    yield Elements(tally << PLACES, 1)
    yield Elements((first << PLACES) + w * p, 2, scales, np.arange(d))
    row, column = np.triu_indices(d)
    index = sums.product_index[complete]
    stored = index >= 0
    home = (0 * group if sums.pooled else group)[stored]
    products = np.zeros((1 if sums.pooled else k, len(row)), object)
    pairs = sums.products[index[stored]][:, :, row, column]
    products[home] = fixed(*pairs.swapaxes(0, 1)) << 2 * PLACES
    moved = (_moved(first, p, row, column) << PLACES) + w * p[:, row] * p[:, column]
    products += moved.sum(axis=0) if sums.pooled else moved
    yield Elements(products, 3, scales[row] + scales[column], np.where(row == column, row, -1))


def _moved(first: NDArray[Any], p: NDArray[Any], row: Ints, column: Ints) -> NDArray[Any]:
    """The elements of spᵀ + psᵀ, of every class."""
    return np.asarray(first[:, row] * p[:, column] + p[:, row] * first[:, column], object)


@rebuilt.register
def _(like: Comoments, values: Iterator[NDArray[Any]]) -> Comoments:
    w, tally, first, products = islice(values, 4)
    weight = DoubleDouble(*pairs_of(w, 1))
    k, d, shown = like.k, like.d, np.flatnonzero(weight.hi > 0)
    if not len(shown):
        return like
    row, column = np.triu_indices(d)
    w, first, products = w[shown, None], first[shown], products if like.pooled else products[shown]
    pivot = means(first, w)
    p = fixed(pivot)
    moved = w * p[:, row] * p[:, column] - _moved(first, p, row, column)
    about = products + (moved.sum(axis=0) if like.pooled else moved)
    about = np.where(row == column, np.maximum(about, 0), about)
    filled = np.zeros((len(about), 2, d, d))
    filled[:, :, row, column] = np.stack(pairs_of(about, 3), axis=1)
    home = np.zeros_like(shown) if like.pooled else np.arange(len(shown))
    pairs = np.stack([weight.hi, weight.lo], axis=1)[shown]
    sums = pairs, pivot, np.stack(pairs_of(first - w * p, 2), axis=1), home, filled
    rows = (tally[shown] >> PLACES).astype(np.int64)
    every = np.ones((1, d), bool)
    return Comoments(k, like.pooled, every, np.zeros_like(shown), shown, *sums, rows)


@elements.register
def _(sums: FourthMoments, scales: Ints) -> Iterator[Elements]:
    of_moments = np.concatenate([scales, 2 * scales, 2 * scales - 53])  # of x and the pair x²
    places = np.tile(np.arange(sums.d), 3)
    yield from (one.at(places) for one in elements(sums.moments, of_moments))


@rebuilt.register
def _(like: FourthMoments, values: Iterator[NDArray[Any]]) -> FourthMoments:
    return FourthMoments(rebuilt(like.moments, values))
