"""Separation: data for which the likelihood of a logistic regression has no maximum.

Where some direction h, of coefficients of z = (1, x − m), is never wrong,

::

    (h_y − h_c)ᵀ z ≥ 0  for every row and every class c ≠ y,  and > 0 somewhere,

the likelihood grows along h for ever. A linear programme on some rows decides for these rows; if
they are separated, a pass over all rows collects those that the direction gets wrong, and so on.

Source: A. Albert and J. A. Anderson, On the existence of maximum likelihood estimates in logistic
regression models (1984); K. Konis, Linear programming algorithms for detecting separated data in
binary logistic regression models (2007), section 4.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


def refuse_separation(of: Objective, coefficients: NDArray[np.float64]) -> bool:
    """Refuse classes that are separated; else return whether they are known not to be.

    Coefficients of z are where a solver has got to, (m, D): if there is separation, most likely
    along them. It is not known where the programme would be too large and they separate nothing.
    """
    if len(coefficients) == 1:
        coefficients = np.concatenate([0.0 * coefficients, coefficients])
    least, wrong = _check(of, coefficients)
    most = LARGEST_PROGRAMME // (max(of.freedom, 1) * (of.k - 1))
    rows = of.draw(min(max(FEWEST_ROWS, 4 * of.freedom), most + 1))
    decidable = len(rows) <= most
    found = _separating(of, Sample.joined([rows, wrong])) if decidable else None
    if found is None and least <= TIE:
        return decidable
    terms: list[int] = []
    if found is not None:
        largest = np.abs(np.diff(found, axis=0) * of.scale)[:, 1:].max(axis=0)
        terms = np.flatnonzero(largest > TIE * largest.max(initial=0.0)).tolist()
    firth = " or penalty='firth'" if of.k == 2 else ""
    what = listed(terms, of.centred.design) if terms else "the columns"
    verb = "separates" if len(terms) == 1 else "together separate"
    raise DataError(
        f"{what} {verb} the classes",
        "the likelihood grows with the coefficients for ever",
        f"use a penalty (C=1.0){firth}",
    )


def _check(of: Objective, direction: NDArray[np.float64]) -> tuple[float, Sample]:
    found = of.data.of_batches(partial(wrong_rows, of.rows, direction))
    margins, samples = zip(*found, strict=True)
    return min(margins), Sample.joined(samples)


# -- linear programmes


def _separating(of: Objective, rows: Sample) -> NDArray[np.float64] | None:
    """Return a direction h (k, D) that is never wrong, if there is one.

    A programme is solved for some rows, and again with the rows that its solution gets wrong.
    """
    for _ in range(MOST_PROGRAMMES):
        direction = _shortest(of, rows)
        if direction is None:
            return None
        least, wrong = _check(of, direction)
        if least >= -TIE:
            return direction
        rows = Sample.joined([rows, wrong])
    return None


def _shortest(of: Objective, rows: Sample) -> NDArray[np.float64] | None:
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
        return None
    h = found.x[:p] - found.x[p:]
    direction = np.zeros((of.k, len(of.used)))
    direction[:-1, of.used] = np.where(np.abs(h) > TIE * np.abs(h).max(), h, 0.0).reshape(
        of.k - 1, -1
    )
    return direction * of.inverse_scale


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


# -- margins


def wrong_rows(
    rows: TrainingRows, direction: NDArray[np.float64], batch: Batch
) -> tuple[float, Sample]:
    """Return the least margin of a row, and the rows that a direction h (k, D) gets most wrong.

    A margin is min_c (h_y − h_c)ᵀz, as a fraction of the sum of its terms without their signs.
    """
    batch, codes, _ = rows.of(batch)
    margins = [_margins(z, code, direction) for z, code in rows.centred.pieces(batch, codes)]
    margin = np.concatenate([np.empty(0), *margins])
    wrong = np.flatnonzero(margin < -TIE)
    worst = wrong[np.argsort(margin[wrong], kind="stable")[:WRONG_ROWS]]
    return float(margin.min(initial=np.inf)), Sample.of(batch, worst, rows)


def _margins(
    z: Any, codes: NDArray[np.intp], direction: NDArray[np.float64]
) -> NDArray[np.float64]:
    rows, t, size = np.arange(len(codes)), z @ direction.T, abs(z) @ np.abs(direction).T
    own = t[rows, codes][:, None]
    fraction = (own - t) / np.maximum(size + size[rows, codes][:, None], 1e-300)
    fraction[rows, codes] = np.inf
    return np.asarray(fraction.min(axis=1))
