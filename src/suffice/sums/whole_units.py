"""Sums as vectors of whole numbers of units, which add up exactly in any order.

A pair of doubles is a whole number of some 2^e. With one unit for each element, the same at every
owner of rows, sums become whole numbers modulo 2^(64 L), and Σ of them is rounded once:

=============  ==================  =====  ====================================================
element        unit                words  range
=============  ==================  =====  ====================================================
Σw             1                   1      rows without weights, up to 2⁴⁸
Σw             2⁻²¹⁵               5      weights
Σwx            2^(s − 215)         6      abs(x) up to 2⁶⁰ scales
Σwxx'          2^(s + s' − 215)    6      products of x and x'
=============  ==================  =====  ====================================================

The scale 2^s of a column is about the size of its numbers. Numbers are summed about 0: what
`Moments` and `Comoments` have about pivots, which rows decide, is moved there in exact integers.
Of doubles above 2⁻⁵⁴ scales every bit of a square is a whole unit, so nothing is lost but what the
pairs lost before; variances of columns that are smaller are rounded, see `Elements.coarse`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError
from suffice.numerics.exact import DoubleDouble
from suffice.sums.by_class import ByClass
from suffice.sums.comoments import Comoments, FourthMoments
from suffice.sums.counts import Counts, Events
from suffice.sums.moments import Moments
from suffice.sums.vocabulary import Vocabulary

FINE = 215  # bits below the scale
WORDS = 6  # 384 bits: a sign, 48 bits of Σw, twice 60 above the scale, and FINE
WEIGHT_WORDS = 5
ENOUGH = 2**100  # units: what is larger loses less than a pair does

PLACES = 1_128  # bits after the point: every double is a whole number of 2^−PLACES

Scales = Any
"""Exponents of the columns of sums, (d,); of `ByClass` a tuple of those of every block."""


@dataclass(frozen=True, eq=False)
class Elements:
    """Some sums as exact numbers, and their units.

    Parameters
    ----------
    values : ndarray of int
        Fixed-point numbers, see `fixed`.
    degree : int
        They have ``degree`` times `PLACES` bits after the point.
    unit : ndarray of int, same shape
        Exponents e: the unit is 2^e.
    words : int
        L, of 64 bits each.
    column : ndarray of int, same shape
        The column that a value is of; −1 of none.
    block : int
        The block of columns that they are of.
    """

    values: NDArray[Any]
    degree: int
    unit: NDArray[np.intp]
    words: int
    column: NDArray[np.intp]
    block: int = 0

    @classmethod
    def of(cls, values: NDArray[Any], degree: int, unit: Any, words: int, column: Any = -1) -> Self:
        """Give every value a unit and a column, broadcast to them."""
        given = (np.broadcast_to(np.asarray(one, np.intp), values.shape) for one in (unit, column))
        units, columns = given
        return cls(values, degree, units, words, columns)

    @property
    def _shift(self) -> NDArray[Any]:
        """Bits between the last place of a value and its unit."""
        return (self.unit + self.degree * PLACES).astype(object)

    def whole(self) -> NDArray[Any]:
        """Return the values in units, rounded to whole numbers."""
        shift = self._shift
        return np.asarray((self.values + (1 << (shift - 1))) >> shift, object)

    def of_whole(self, whole: NDArray[Any]) -> NDArray[Any]:
        """Return the values of whole numbers of units."""
        return np.asarray(whole << self._shift, object)

    def coarse(self, whole: NDArray[Any]) -> NDArray[np.intp]:
        """Return the columns of values that lose bits which a pair of doubles has."""
        lost = (self.of_whole(whole) != self.values) & (abs(whole) < ENOUGH)
        return np.unique(self.column[lost.astype(bool)])


def fixed(hi: Any, lo: Any = 0.0) -> NDArray[Any]:
    """Return doubles, or pairs of them, as whole numbers of 2^−PLACES, exactly."""
    found = []
    for part in (hi, lo):
        mantissa, exponent = np.frexp(part)
        whole = np.asarray(np.ldexp(mantissa, 53).astype(np.int64), object)
        found.append(whole << (np.asarray(exponent, object) + (PLACES - 53)))
    return np.asarray(found[0] + found[1], object)


def pairs_of(values: NDArray[Any], degree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the pairs of doubles nearest to fixed-point numbers."""
    one, places = 1 << degree * PLACES, (degree - 1) * PLACES
    hi = np.asarray(values / one, np.float64)
    return hi, np.asarray((values - (fixed(hi) << places)) / one, np.float64)


def nonnegative_pairs(values: NDArray[Any]) -> DoubleDouble:
    """Return sums of weights; refuse a number below 0, which no rows have."""
    if (values < 0).any():
        raise DataError("a sum of weights is below 0", "there are no such rows")
    return DoubleDouble(*pairs_of(values, 1))


# -- scales


@singledispatch
def scales(sums: Any) -> NDArray[np.intp]:
    """Return exponents of powers of 2 near the root mean square of every column."""
    return np.zeros(0, np.intp)


@scales.register
def _(sums: Moments) -> NDArray[np.intp]:
    rows = sums.one_class
    return _exponents(rows.variance, rows.mean)


@scales.register
def _(sums: Comoments) -> NDArray[np.intp]:
    rows = sums.one_class
    squares = np.diagonal(rows.scatter.value, axis1=1, axis2=2)
    return _exponents(squares / max(rows.rows, 1.0), rows.mean.value)


@scales.register
def _(sums: FourthMoments) -> NDArray[np.intp]:
    return scales(sums.columns)


def _exponents(variance: NDArray[np.float64], mean: NDArray[np.float64]) -> NDArray[np.intp]:
    """Exponents of √(σ² + μ²) of every column, from arrays (m, d) of which m may be 0."""
    root = np.hypot(np.sqrt(variance).max(axis=0, initial=0), np.abs(mean).max(axis=0, initial=0))
    return np.where(root > 0, np.frexp(root)[1], 0).astype(np.intp)


# -- from sums, and back


@singledispatch
def elements(sums: Any, scales: Scales, weighted: bool) -> Iterator[Elements]:
    """Yield all that is added of sums, about 0.

    Parameters
    ----------
    sums : Sums
        Where products are summed, rows that lack a cell are left out.
    scales
        As `scales` returns them, of whatever rows.
    weighted : bool
        Whether weights may be other than whole numbers.
    """
    raise TypeError(f"sums of {type(sums).__name__} have no units")


@singledispatch
def rebuilt(like: Any, values: Iterator[NDArray[Any]]) -> Any:
    """Return the sums of numbers about 0, in the order of `elements`.

    Parameters
    ----------
    like : Sums
        Of the same classes, columns and values of categories, without rows.
    values : iterator of ndarray of int
        Fixed-point numbers.

    Raises
    ------
    DataError
        If no rows have such sums.
    """
    raise TypeError(f"sums of {type(like).__name__} have no units")


def _weights(pairs: DoubleDouble, fine: bool, column: Any = -1) -> Elements:
    return Elements.of(
        fixed(pairs.hi, pairs.lo), 1, -FINE if fine else 0, WEIGHT_WORDS if fine else 1, column
    )


@elements.register
def _(sums: ByClass, scales: Scales, weighted: bool) -> Iterator[Elements]:
    yield _weights(sums.weight, weighted)
    yield _weights(sums.unlabelled[None], weighted)
    for b, (block, of_block) in enumerate(zip(sums.blocks, scales, strict=True)):
        yield from (replace(one, block=b) for one in elements(block, of_block, weighted))


@rebuilt.register
def _(like: ByClass, values: Iterator[NDArray[Any]]) -> ByClass:
    weight, unlabelled = nonnegative_pairs(next(values)), nonnegative_pairs(next(values))[0]
    blocks = tuple([rebuilt(block, values) for block in like.blocks])
    return replace(like, weight=weight, unlabelled=unlabelled, blocks=blocks).pruned()


@elements.register
def _(sums: Counts, scales: Scales, weighted: bool) -> Iterator[Elements]:
    column = np.repeat(np.arange(len(sums.vocabularies)), np.diff(sums.offsets))
    yield _weights(sums.count, weighted, column)


@rebuilt.register
def _(like: Counts, values: Iterator[NDArray[Any]]) -> Counts:
    return replace(like, count=nonnegative_pairs(next(values))).pruned()


@elements.register
def _(sums: Events, scales: Scales, weighted: bool) -> Iterator[Elements]:
    yield _weights(sums.count, True, np.arange(sums.count.shape[1]))  # events may be fractions
    yield _weights(sums.documents, weighted)
    yield _weights(sums.missing.over(sums.vocabularies).count, weighted)


@rebuilt.register
def _(like: Events, values: Iterator[NDArray[Any]]) -> Events:
    count, documents, missing = (nonnegative_pairs(next(values)) for _ in range(3))
    (known,) = like.vocabularies
    absent = Counts((Vocabulary(known.values),), missing).pruned()
    return replace(like, count=count, documents=documents, missing=absent)


@elements.register
def _(sums: Moments, scales: Scales, weighted: bool) -> Iterator[Elements]:
    w, p = DoubleDouble(*sums.weight.swapaxes(0, 1)), fixed(sums.pivot)
    first, second = (fixed(sums.sums[:, i], sums.sums[:, i + 1]) for i in (0, 2))
    weight, column = fixed(w.hi, w.lo), np.arange(sums.d)
    yield _weights(w, weighted, column)
    yield Elements.of((first << PLACES) + weight * p, 2, scales - FINE, WORDS, column)
    squares = (second << 2 * PLACES) + (2 * p * first << PLACES) + weight * p**2
    yield Elements.of(squares, 3, 2 * scales - FINE, WORDS, column)


@rebuilt.register
def _(like: Moments, values: Iterator[NDArray[Any]]) -> Moments:
    w, first, squares = islice(values, 3)
    weight = nonnegative_pairs(w)
    some = np.where(w > 0, w, 1)
    pivot = pivots(first / (some << PLACES), (squares * w - first**2) / (some**2 << 2 * PLACES))
    p = fixed(pivot)
    about = np.maximum(squares - 2 * p * first + w * p**2, 0)
    sums = np.stack([*pairs_of(first - w * p, 2), *pairs_of(about, 3)], axis=1)
    return Moments(np.stack([weight.hi, weight.lo], axis=1), pivot, sums)


def pivots(mean: NDArray[Any], variance: NDArray[Any]) -> NDArray[np.float64]:
    """Return the pivots that means and variances decide: ``near`` of src/native/sums/pivots.hpp."""
    middle, spread = mean.astype(np.float64), np.sqrt(np.maximum(variance, 0).astype(np.float64))
    step = np.ldexp(1.0, np.frexp(spread)[1] - 1)
    one = (spread == 0) | (np.abs(middle) >= 2.0**52 * step)
    near = np.where(one, middle, np.floor(middle / step + 0.5) * step)
    return np.where(np.abs(middle) <= 2 * spread, 0.0, near)


@elements.register
def _(sums: Comoments, scales: Scales, weighted: bool) -> Iterator[Elements]:
    complete = sums.patterns[sums.pattern].all(axis=1)
    k, d, group = sums.k, sums.d, sums.code[complete]
    weight = DoubleDouble(*sums.weight[complete].T).scatter(group, (k,))
    tally = np.zeros((k, 3), object)
    tally[group] = sums.tally[complete]
    w, p, first = fixed(weight.hi, weight.lo)[:, None], *np.zeros((2, k, d), object)
    p[group] = fixed(sums.pivot[complete])
    first[group] = fixed(*sums.sums[complete].swapaxes(0, 1))
    yield _weights(weight, weighted)
    yield Elements.of(tally << PLACES, 1, 0, 1)
    yield Elements.of((first << PLACES) + w * p, 2, scales - FINE, WORDS, np.arange(d))
    row, column = np.triu_indices(d)
    index = sums.product_index[complete]
    stored = index >= 0
    home = (0 * group if sums.pooled else group)[stored]
    products = np.zeros((1 if sums.pooled else k, len(row)), object)
    pairs = sums.products[index[stored]][:, :, row, column]
    products[home] = fixed(*pairs.swapaxes(0, 1)) << 2 * PLACES
    moved = (_moved(first, p, row, column) << PLACES) + w * p[:, row] * p[:, column]
    products += moved.sum(axis=0) if sums.pooled else moved
    unit = scales[row] + scales[column] - FINE
    yield Elements.of(products, 3, unit, WORDS, np.where(row == column, row, -1))


def _moved(
    first: NDArray[Any], p: NDArray[Any], row: NDArray[np.intp], column: NDArray[np.intp]
) -> NDArray[Any]:
    """The elements of spᵀ + psᵀ, of every class."""
    return np.asarray(first[:, row] * p[:, column] + p[:, row] * first[:, column], object)


@rebuilt.register
def _(like: Comoments, values: Iterator[NDArray[Any]]) -> Comoments:
    w, tally, first, products = islice(values, 4)
    weight = nonnegative_pairs(w)
    k, d, shown = like.k, like.d, np.flatnonzero(weight.hi > 0)
    if not len(shown):
        return like
    row, column = np.triu_indices(d)
    w, first, products = w[shown, None], first[shown], products if like.pooled else products[shown]
    squares, total = products[:, row == column], w.sum() if like.pooled else w
    between = first**2 // w  # spreads need not be exact
    scatter = squares - (between.sum(axis=0) if like.pooled else between)
    pivot = pivots(first / (w << PLACES), scatter / (total << 2 * PLACES) + np.zeros(first.shape))
    p = fixed(pivot)
    moved = w * p[:, row] * p[:, column] - _moved(first, p, row, column)
    about = products + (moved.sum(axis=0) if like.pooled else moved)
    about = np.where(row == column, np.maximum(about, 0), about)
    filled = np.zeros((len(about), 2, d, d))
    filled[:, :, row, column] = np.stack(pairs_of(about, 3), axis=1)
    groups = np.stack([np.zeros_like(shown), shown], axis=1)
    home = np.zeros_like(shown) if like.pooled else np.arange(len(shown))
    found = Comoments.of_groups(k, like.pooled, np.ones((1, d), bool), groups, home)
    return replace(
        found,
        weight=np.stack([weight.hi, weight.lo], axis=1)[shown],
        pivot=pivot,
        sums=np.stack(pairs_of(first - w * p, 2), axis=1),
        products=filled,
        tally=(tally[shown] >> PLACES).astype(np.int64),
    )


@elements.register
def _(sums: FourthMoments, scales: Scales, weighted: bool) -> Iterator[Elements]:
    of_moments = np.concatenate([scales, 2 * scales, 2 * scales - 53])  # of x and the pair x²
    for one in elements(sums.moments, of_moments, weighted):
        yield replace(one, column=np.where(one.column < 0, -1, one.column % max(sums.d, 1)))


@rebuilt.register
def _(like: FourthMoments, values: Iterator[NDArray[Any]]) -> FourthMoments:
    return FourthMoments(rebuilt(like.moments, values))
