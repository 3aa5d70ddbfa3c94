"""Separation: data for which the likelihood of a logistic regression has no maximum.

Where some direction h, of coefficients of z = (1, x − m), is never wrong,

::

    (h_y − h_c)ᵀ z ≥ 0  for every row and every class c ≠ y,  and > 0 somewhere,

the likelihood grows along h for ever. Separation is *complete* if a direction has > 0 everywhere,
and *quasi-complete* otherwise. A linear programme on some rows decides for these rows; if they
are separated, a pass over all rows collects those that the direction gets wrong, and so on.

Source: A. Albert and J. A. Anderson, On the existence of maximum likelihood estimates in logistic
regression models (1984); K. Konis, Linear programming algorithms for detecting separated data in
binary logistic regression models (2007), section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from suffice.data.source import Split, each_batch
from suffice.models.logistic.centred_design import CentredDesign
from suffice.statistics.batch import Batch
from suffice.statistics.block import IntegerBlock, RealBlock, SparseBlock
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["Sample", "Separation", "Separator", "farthest", "sampled"]

TIE = 1e-7  # share of the size of its terms up to which a margin counts as 0
WRONG_ROWS = 500  # that a pass adds to the programme, at most
LARGEST_PROGRAMME = 1_200_000  # cells of its matrix
PASSES = 50
SPARE = 2.0  # times the rows wanted that are drawn, so that chance leaves enough


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows z (n, D), with their class codes and weights."""

    z: NDArray[np.float64]
    codes: NDArray[np.intp]
    weights: NDArray[np.float64]

    @classmethod
    def joined(cls, parts: Iterable[Sample]) -> Sample:
        """All rows of all samples."""
        parts = list(parts)
        names = ("z", "codes", "weights")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def first(self, n: int) -> Sample:
        """The first n rows."""
        return Sample(self.z[:n], self.codes[:n], self.weights[:n])


@dataclass(frozen=True, eq=False)
class Separation:
    """A direction that separates the classes.

    Parameters
    ----------
    complete : bool
        Whether every row is on the right side, or some are on the border.
    terms : tuple of int
        The terms of the direction; empty where a few could not be told from the others.
    """

    complete: bool
    terms: tuple[int, ...]


# -- kernels


def sampled(
    split: Split, task: tuple[CentredDesign, Vocabulary, int, float]
) -> tuple[NDArray[Any], Sample]:
    """Kernel: rows drawn at random, at most so many, and the numbers that they drew.

    The last of ``task`` is the weight of all rows, or 0 if it is not known.
    """
    centred, classes, limit, total = task
    rng = np.random.default_rng(0)
    drawn, parts = [np.empty(0)], [_empty(centred.width)]
    bound = np.inf  # above it, a number has no chance

    def add(batch: Batch) -> None:
        nonlocal bound
        batch = centred.to_fit(batch)
        rows = np.flatnonzero(_there(batch, classes))
        number = rng.random(len(rows))
        every = np.concatenate([*drawn, number])
        if len(every) > limit:
            bound = min(bound, float(np.partition(every, limit)[limit]))
        if total and not len(batch.weights):  # then it is their number
            bound = min(bound, SPARE * limit / total)
        kept = number < bound
        drawn.append(number[kept])
        parts.append(_laid_out(centred, classes, _rows(batch, rows[kept])))

    for _ in each_batch(split, centred.layout, add):
        pass
    return _lowest(drawn, parts, limit)


def _lowest(
    drawn: Sequence[NDArray[Any]], parts: Sequence[Sample], limit: int
) -> tuple[NDArray[Any], Sample]:
    number, rows = np.concatenate(drawn), Sample.joined(parts)
    kept = np.argsort(number, kind="stable")[:limit]
    return number[kept], Sample(rows.z[kept], rows.codes[kept], rows.weights[kept])


def draw(
    map_rows: Callable[..., Any],
    centred: CentredDesign,
    classes: Vocabulary,
    n: int,
    total: float = 0.0,
) -> Sample:
    """Draw n rows of a whole table, or take all if there are fewer."""
    numbers, parts = zip(*map_rows(sampled, (centred, classes, n, total)), strict=True)
    return _lowest(numbers, parts, n)[1]


def farthest(split: Split, task: tuple[CentredDesign, Vocabulary, NDArray[np.float64]]) -> float:
    """Kernel: the largest |z/s|² of a row; the third of ``task`` is 1/s."""
    centred, classes, inverse_unit = task

    def of(batch: Batch) -> float:
        batch = centred.to_fit(batch)
        there, largest = _there(batch, classes), 0.0
        for z, part in centred.pieces(batch, False, there):
            squares = (z * z)[part] @ inverse_unit**2
            largest = max(largest, float(squares.max(initial=0.0)))
        return largest

    return max(each_batch(split, centred.layout, of))


def wrong_rows(
    split: Split, task: tuple[CentredDesign, Vocabulary, NDArray[np.float64]]
) -> tuple[float, Sample]:
    """Kernel: the least margin of a row, and the rows that a direction h (k, D) gets most wrong.

    A margin is min_c (h_y − h_c)ᵀz, as a share of the sum of its terms without their signs.
    """
    centred, classes, direction = task
    parts, least = [_empty(centred.width)], np.inf

    def of(batch: Batch) -> NDArray[np.float64]:
        batch = centred.to_fit(batch)
        codes = np.where(_there(batch, classes), _codes(batch, classes), -1)
        margins = [_margins(z, code, direction) for z, code in centred.pieces(batch, False, codes)]
        margin = np.concatenate([np.empty(0), *margins])
        wrong = np.flatnonzero(margin < -TIE)
        worst = wrong[np.argsort(margin[wrong], kind="stable")[:WRONG_ROWS]]
        if len(worst):
            parts.append(_laid_out(centred, classes, _rows(batch, worst)))
        return margin

    for margin in each_batch(split, centred.layout, of):
        least = min(least, float(margin.min(initial=np.inf)))
    return least, Sample.joined(parts)


def _margins(
    z: Any, codes: NDArray[np.intp], direction: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Margin of every row; infinite where there is no class."""
    rows, there = np.arange(len(codes)), codes >= 0
    if not isinstance(z, csr_array):
        z = np.where(there[:, None], z, 0.0)
    t, size = z @ direction.T, abs(z) @ np.abs(direction).T
    own = t[rows, codes][:, None]
    share = (own - t) / np.maximum(size + size[rows, codes][:, None], 1e-300)
    share[rows, codes] = np.inf
    return np.where(there, share.min(axis=1), np.inf)


def _empty(width: int) -> Sample:
    return Sample(np.empty((0, width)), np.empty(0, np.intp), np.empty(0))


def _codes(batch: Batch, classes: Vocabulary) -> NDArray[np.intp]:
    return np.append(classes.index(batch.classes.values, -1), -1)[batch.codes]


def _there(batch: Batch, classes: Vocabulary) -> NDArray[np.bool_]:
    """Rows that have a class and a weight."""
    there = _codes(batch, classes) >= 0
    return there & (batch.weights > 0) if len(batch.weights) else there


def _rows(batch: Batch, rows: NDArray[np.intp]) -> Batch:
    """Some rows of a batch."""
    blocks: list[Any] = []
    for block in batch.blocks:
        if isinstance(block, SparseBlock):
            table = csr_array(
                (block.data, block.indices, block.indptr),
                shape=(block.rows, len(block.vocabulary)),
            )[rows]
            cells = table.data, table.indices, table.indptr
            blocks.append(SparseBlock(*cells, block.vocabulary, block.present[rows]))
        elif isinstance(block, RealBlock | IntegerBlock):
            blocks.append(replace(block, values=block.values[rows]))
        else:
            blocks.append(replace(block, codes=block.codes[rows]))
    weights = batch.weights[rows] if len(batch.weights) else batch.weights
    return Batch(len(rows), tuple(blocks), batch.codes[rows], batch.classes, weights)


def _laid_out(centred: CentredDesign, classes: Vocabulary, batch: Batch) -> Sample:
    pieces = [
        z.toarray() if isinstance(z, csr_array) else z.copy()
        for (z,) in centred.pieces(batch, False)
    ]
    weights = batch.weights if len(batch.weights) else np.ones(batch.rows)
    z = np.concatenate([np.empty((0, centred.width)), *pieces])
    return Sample(z, _codes(batch, classes), weights)


# -- the decision


@dataclass(frozen=True, eq=False)
class Separator:
    """Decides whether the classes of a table are separated.

    Parameters
    ----------
    map_rows : callable
        Applies a kernel to every split.
    centred : CentredDesign
    classes : Vocabulary
    inverse_unit : ndarray (D,)
        1/s of every coefficient.
    used : ndarray of bool (D,)
        The coefficients that are not fixed at 0.
    """

    map_rows: Callable[..., Any]
    centred: CentredDesign
    classes: Vocabulary
    inverse_unit: NDArray[np.float64]
    used: NDArray[np.bool_]

    def find(self, coefficients: NDArray[np.float64]) -> tuple[Separation | None, bool]:
        """Look for separation, first along the given coefficients of z.

        Parameters
        ----------
        coefficients : ndarray (m, D)
            Where an optimiser has got to: if there is separation, most likely along it.

        Returns
        -------
        separation : Separation or None
        decided : bool
            False where the programme would be too large and the coefficients separate nothing.
        """
        if len(coefficients) == 1:
            coefficients = np.concatenate([0.0 * coefficients, coefficients])
        least, wrong = self._check(coefficients)
        complete = least > TIE
        size = max(1_000, 4 * (len(self.classes) - 1) * int(self.used.sum()))
        cells = size * ((len(self.classes) - 1) * int(self.used.sum())) * (len(self.classes) - 1)
        if cells > LARGEST_PROGRAMME:
            return (Separation(True, ()) if complete else None), complete
        drawn = draw(self.map_rows, self.centred, self.classes, size)
        rows = Sample.joined([drawn, wrong])
        sparse, rows = self._grow(rows, self._shortest)
        if sparse is None:
            return (Separation(True, ()) if complete else None), True
        if not complete:
            widest, _ = self._grow(rows, self._widest)
            complete = widest is not None
        apart = np.diff(self.centred.to_columns(sparse), axis=0)[:, 1:] * self.centred.spread
        size = np.abs(apart).max(axis=0)
        terms = np.flatnonzero(size > TIE * size.max(initial=0.0))
        return Separation(complete, tuple(terms.tolist())), True

    def _check(self, direction: NDArray[np.float64]) -> tuple[float, Sample]:
        """The least margin of all rows, and rows that the direction gets wrong."""
        task = self.centred, self.classes, direction
        margins, parts = zip(*self.map_rows(wrong_rows, task), strict=True)
        return min(margins), Sample.joined(parts)

    def _grow(
        self, rows: Sample, programme: Callable[[Sample], tuple[NDArray[np.float64] | None, float]]
    ) -> tuple[NDArray[np.float64] | None, Sample]:
        """Solve a programme, add the rows that its solution gets wrong, and solve it again."""
        for _ in range(PASSES):
            direction, least_allowed = programme(rows)
            if direction is None:
                return None, rows
            least, wrong = self._check(direction)
            if least >= least_allowed:
                return direction, rows
            if not len(wrong.codes):
                return None, rows
            rows = Sample.joined([rows, wrong])
        return None, rows

    def _constraints(self, rows: Sample) -> NDArray[np.float64]:
        """The matrix A with A h = (h_y − h_c)ᵀz for every row and every class c ≠ y.

        The last class has h = 0.
        """
        z = (rows.z * self.inverse_unit)[:, self.used]
        k, width = len(self.classes), z.shape[1]
        blocks = []
        for y in range(k):
            of_class = z[rows.codes == y]
            for c in range(k):
                if c != y:
                    block = np.zeros((len(of_class), k, width))
                    block[:, y], block[:, c] = of_class, -of_class
                    blocks.append(block[:, :-1].reshape(len(of_class), -1))
        return np.concatenate(blocks)

    def _direction(self, h: NDArray[np.float64]) -> NDArray[np.float64]:
        direction = np.zeros((len(self.classes), len(self.used)))
        direction[:-1, self.used] = h.reshape(len(self.classes) - 1, -1)
        return direction * self.inverse_unit

    def _shortest(self, rows: Sample) -> tuple[NDArray[np.float64] | None, float]:
        """Minimise Σ|h| subject to A h ≥ 0 and mean A h = 1: few terms, or none that separate."""
        a = self._constraints(rows)
        p = a.shape[1]
        cost = np.ones((len(self.classes) - 1, int(self.used.sum())))
        cost[:, 0] = np.where(self.used[0], 0.0, 1.0)
        bound = 1.0 / TIE
        found: Any = linprog(
            np.tile(cost.ravel(), 2),
            A_ub=np.concatenate([-a, a], axis=1),
            b_ub=np.zeros(len(a)),
            A_eq=np.concatenate([a.mean(axis=0), -a.mean(axis=0)])[None],
            b_eq=[1.0],
            bounds=(0.0, bound),
        )
        if found.status != 0:
            return None, 0.0
        h = found.x[:p] - found.x[p:]
        return self._direction(np.where(np.abs(h) > TIE * np.abs(h).max(), h, 0.0)), -TIE

    def _widest(self, rows: Sample) -> tuple[NDArray[np.float64] | None, float]:
        """Maximise the least margin δ subject to A h ≥ δ and |h| ≤ 1."""
        a = self._constraints(rows)
        p = a.shape[1]
        found: Any = linprog(
            np.append(np.zeros(p), -1.0),
            A_ub=np.concatenate([-a, np.ones((len(a), 1))], axis=1),
            b_ub=np.zeros(len(a)),
            bounds=[(-1.0, 1.0)] * p + [(0.0, None)],
        )
        if found.status != 0 or found.x[-1] <= TIE:
            return None, 0.0
        return self._direction(found.x[:p]), TIE
