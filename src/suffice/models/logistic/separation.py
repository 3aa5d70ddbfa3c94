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

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.data.source import Part, each_batch
from suffice.errors import DataError
from suffice.models.logistic.first_pass import listed
from suffice.models.logistic.objective import Objective
from suffice.models.logistic.rows import Sample, TrainingRows
from suffice.sums.batch import Batch

TIE = 1e-7  # fraction of the size of its terms up to which a margin counts as 0: `linprog`'s own
FEWEST_ROWS = 1_000  # of the first programme
WRONG_ROWS = 500  # that a pass adds to the programme, at most
LARGEST_PROGRAMME = 1_200_000  # cells of its matrix: 10 MB
MOST_PROGRAMMES = 50


@dataclass(frozen=True, eq=False)
class Separation:
    """A direction that separates the classes."""

    complete: bool  # whether every row is on the right side, or some are on the border
    terms: tuple[int, ...]  # of the direction; none where they could not be told from others


def refuse_separation(of: Objective, coefficients: NDArray[np.float64]) -> bool:
    """Refuse classes that are separated; also return whether that could be decided.

    See `find_separation` for the parameters.
    """
    found, decided = find_separation(of, coefficients)
    if found is None:
        return decided
    firth = " or penalty='firth'" if of.k == 2 else ""
    how = "completely" if found.complete else "quasi-completely"
    what = listed(found.terms, of.centred.design) if found.terms else "the columns"
    verb = "separates" if len(found.terms) == 1 else "together separate"
    raise DataError(
        f"{what} {verb} the classes {how}",
        "the likelihood grows with the coefficients for ever",
        f"use a penalty (C=1.0){firth}",
    )


def find_separation(
    of: Objective, coefficients: NDArray[np.float64]
) -> tuple[Separation | None, bool]:
    """Look for a direction that separates the classes, first along given coefficients of z.

    They are where a solver has got to, (m, D): if there is separation, most likely along them.

    Returns
    -------
    separation : Separation or None
    decided : bool
        False where the programme would be too large and the coefficients separate nothing.
    """
    if len(coefficients) == 1:
        coefficients = np.concatenate([0.0 * coefficients, coefficients])
    least, wrong = _check(of, coefficients)
    complete = least > TIE
    columns = (of.k - 1) * int(of.used.sum())
    size = max(FEWEST_ROWS, 4 * columns)
    if size * columns * (of.k - 1) > LARGEST_PROGRAMME:
        return (Separation(True, ()) if complete else None), complete
    drawn = of.draw(size)
    sparse, rows = _grow(of, Sample.joined([drawn, wrong]), _shortest)
    if sparse is None:
        return (Separation(True, ()) if complete else None), True
    if not complete:
        widest, _ = _grow(of, rows, _widest)
        complete = widest is not None
    apart = np.diff(of.centred.to_columns(sparse), axis=0)[:, 1:] * of.centred.column_scale
    largest = np.abs(apart).max(axis=0)
    terms = np.flatnonzero(largest > TIE * largest.max(initial=0.0))
    return Separation(complete, tuple(terms.tolist())), True


def _check(of: Objective, direction: NDArray[np.float64]) -> tuple[float, Sample]:
    margins, parts = zip(*of.data.map(wrong_rows, (of.rows, direction)), strict=True)
    return min(margins), Sample.joined(parts)


# -- linear programmes


Found = tuple[NDArray[np.float64] | None, float]
"""A direction h (k, D), if there is one, and the least margin of any row that it allows."""


def _grow(
    of: Objective, rows: Sample, programme: Callable[[Objective, Sample], Found]
) -> tuple[NDArray[np.float64] | None, Sample]:
    """Solve a programme, add the rows that its solution gets wrong, and solve it again."""
    for _ in range(MOST_PROGRAMMES):
        direction, least_allowed = programme(of, rows)
        if direction is None:
            return None, rows
        least, wrong = _check(of, direction)
        if least >= least_allowed:
            return direction, rows
        if not len(wrong):
            return None, rows
        rows = Sample.joined([rows, wrong])
    return None, rows


def _shortest(of: Objective, rows: Sample) -> Found:
    """Minimise Σ|h| subject to A h ≥ 0 and mean A h = 1: few terms, or none that separate."""
    a = _constraints(of, rows)
    p = a.shape[1]
    cost = np.ones((of.k - 1, int(of.used.sum())))
    cost[:, 0] = np.where(of.used[0], 0.0, 1.0)
    from scipy.optimize import linprog

    found: Any = linprog(
        np.tile(cost.ravel(), 2),
        A_ub=np.concatenate([-a, a], axis=1),
        b_ub=np.zeros(len(a)),
        A_eq=np.concatenate([a.mean(axis=0), -a.mean(axis=0)])[None],
        b_eq=[1.0],
        bounds=(0.0, 1.0 / TIE),
    )
    if found.status != 0:
        return None, 0.0
    h = found.x[:p] - found.x[p:]
    return _direction(of, np.where(np.abs(h) > TIE * np.abs(h).max(), h, 0.0)), -TIE


def _widest(of: Objective, rows: Sample) -> Found:
    """Maximise the least margin δ subject to A h ≥ δ and |h| ≤ 1."""
    a = _constraints(of, rows)
    p = a.shape[1]
    from scipy.optimize import linprog

    found: Any = linprog(
        np.append(np.zeros(p), -1.0),
        A_ub=np.concatenate([-a, np.ones((len(a), 1))], axis=1),
        b_ub=np.zeros(len(a)),
        bounds=[(-1.0, 1.0)] * p + [(0.0, None)],
    )
    if found.status != 0 or found.x[-1] <= TIE:
        return None, 0.0
    return _direction(of, found.x[:p]), TIE


def _constraints(of: Objective, rows: Sample) -> NDArray[np.float64]:
    """The matrix A with A h = (h_y − h_c)ᵀz for every row and every class c ≠ y.

    The last class has h = 0.
    """
    z = (rows.z * of.inverse_scale)[:, of.used]
    blocks = []
    for y in range(of.k):
        of_class = z[rows.codes == y]
        for c in range(of.k):
            if c != y:
                block = np.zeros((len(of_class), of.k, z.shape[1]))
                block[:, y], block[:, c] = of_class, -of_class
                blocks.append(block[:, :-1].reshape(len(of_class), -1))
    return np.concatenate(blocks)


def _direction(of: Objective, h: NDArray[np.float64]) -> NDArray[np.float64]:
    direction = np.zeros((of.k, len(of.used)))
    direction[:-1, of.used] = h.reshape(of.k - 1, -1)
    return direction * of.inverse_scale


# -- kernels


def wrong_rows(
    part: Part, params: tuple[TrainingRows, NDArray[np.float64]]
) -> tuple[float, Sample]:
    """Kernel: the least margin of a row, and the rows that a direction h (k, D) gets most wrong.

    A margin is min_c (h_y − h_c)ᵀz, as a fraction of the sum of its terms without their signs.
    """
    rows, direction = params
    centred, least = rows.centred, np.inf
    parts = [Sample.empty(centred.width)]

    def of(batch: Batch) -> NDArray[np.float64]:
        batch, codes = rows.of(batch)
        margins = [_margins(z, code, direction) for z, code in centred.pieces(batch, False, codes)]
        margin = np.concatenate([np.empty(0), *margins])
        wrong = np.flatnonzero(margin < -TIE)
        worst = wrong[np.argsort(margin[wrong], kind="stable")[:WRONG_ROWS]]
        if len(worst):
            parts.append(Sample.of(batch, worst, rows))
        return margin

    for margin in each_batch(part, rows.layout, of):
        least = min(least, float(margin.min(initial=np.inf)))
    return least, Sample.joined(parts)


def _margins(
    z: Any, codes: NDArray[np.intp], direction: NDArray[np.float64]
) -> NDArray[np.float64]:
    rows, there = np.arange(len(codes)), codes >= 0
    if not isinstance(z, csr_array):
        z = np.where(there[:, None], z, 0.0)
    t, size = z @ direction.T, abs(z) @ np.abs(direction).T
    own = t[rows, codes][:, None]
    fraction = (own - t) / np.maximum(size + size[rows, codes][:, None], 1e-300)
    fraction[rows, codes] = np.inf
    return np.where(there, fraction.min(axis=1), np.inf)
